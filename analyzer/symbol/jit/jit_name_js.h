/* SPDX-License-Identifier: MIT
 *
 * Rules for names of JIT code in JavaScript engines.
 * Runs in: analyzer. */
#ifndef JR_JIT_NAME_JS_H
#define JR_JIT_NAME_JS_H

#include "jit_name_rules.h"

/* V8, SpiderMonkey, JavaScriptCore. */
jr_take_name_fn jr_name_v8, jr_name_v8_wasm, jr_name_spidermonkey,
    jr_name_ion_ic, jr_name_spidermonkey_wasm, jr_name_spidermonkey_stub,
    jr_name_spidermonkey_regexp, jr_name_jsc;

#endif
