/* SPDX-License-Identifier: MIT
 *
 * The rules for names of JIT code: a new runtime needs a row in the table of
 * jit_names.c and, if no rule fits, one more of these.
 * Runs in: analyzer. */
#ifndef JR_JIT_NAME_RULES_H
#define JR_JIT_NAME_RULES_H

#include "jit_slice.h"

/* Writes what `rest`, the raw name behind the rule's prefix, calls the
 * function to the empty *name, and may set name->tier.  Returns 0 when it is
 * not of the rule's form: the next rule is tried. */
typedef int jr_take_name_fn(struct jr_slice rest, struct jr_jit_name *name);

/* jit_name_js.c: V8, SpiderMonkey, JavaScriptCore. */
jr_take_name_fn jr_name_v8, jr_name_v8_wasm, jr_name_spidermonkey,
    jr_name_ion_ic, jr_name_spidermonkey_wasm, jr_name_spidermonkey_stub,
    jr_name_spidermonkey_regexp, jr_name_jsc;
/* jit_name_vm.c: Java, .NET, Python, PHP, Erlang, WebAssembly,
 * mangled symbols. */
jr_take_name_fn jr_name_java_class, jr_name_java_type, jr_name_dotnet,
    jr_name_python, jr_name_php_trace, jr_name_erlang, jr_name_erlang_part,
    jr_name_wasmtime, jr_name_mangled;

#endif
