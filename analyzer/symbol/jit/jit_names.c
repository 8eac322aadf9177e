/* SPDX-License-Identifier: MIT
 *
 * The table of rules for names of JIT code, and what the rules share.
 * Runs in: analyzer. */
#include "jit_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "jit_name_js.h"
#include "jit_name_rules.h"
#include "jit_name_vm.h"

struct rule {
    const char *prefix;    /* what the raw name begins with */
    const char *tier;      /* unless the reader finds one */
    jr_take_name_fn *take; /* reads what follows */
    int is_kind;
};

/* The first rule whose prefix and reader fit counts.  Sources: V8's
 * src/logging/log.cc and src/objects/code-kind.cc; SpiderMonkey's
 * js/src/jit/PerfSpewer.cpp; JavaScriptCore's assembler/PerfLog and
 * LinkBuffer; perf's tools/perf/jvmti; perf-map-agent; HotSpot's
 * CodeCache::write_perf_map; php-src's ext/opcache/jit; OTP's beam_asm;
 * CPython's Python/perf_trampoline.c; CoreCLR's vm/perfmap.cpp; and real
 * files of most of them (tests/data/jit). */
static const struct rule rules[] = {
    /* V8: a tag, a mark for the tier, the function and its place. */
    {"JS:", NULL, jr_name_v8, 0},
    {"Eval:", NULL, jr_name_v8, 0},
    {"Script:", NULL, jr_name_v8, 0},
    {"Function:", NULL, jr_name_v8, 0},
    {"LazyCompile:", NULL, jr_name_v8, 0},
    {"NativeFunction:", NULL, jr_name_v8, 0},
    {"NativeLazyCompile:", NULL, jr_name_v8, 0},
    {"NativeScript:", NULL, jr_name_v8, 0},
    {"JS:", NULL, jr_name_v8_wasm, 0},
    {"Function:", NULL, jr_name_v8_wasm, 0},
    {"Builtin:", "builtin", jr_name_plain, 1},
    {"BytecodeHandler:", "bytecode handler", jr_name_plain, 1},
    {"Handler:", "IC handler", jr_name_plain, 1},
    {"Stub:", "stub", jr_name_plain, 1},
    {"RegExp:", "regexp", jr_name_plain, 1},
    {"Callback:", "callback", jr_name_plain, 1},

    /* SpiderMonkey. */
    {"Interpreter: ", "Interpreter", jr_name_spidermonkey, 0},
    {"BaselineInterpreter: ", "BaselineInterpreter", jr_name_spidermonkey, 0},
    {"Baseline: ", "Baseline", jr_name_spidermonkey, 0},
    {"Ion: ", "Ion", jr_name_spidermonkey, 0},
    {"IonIC: ", "IonIC", jr_name_ion_ic, 0},
    {"BaselineIC: ", "BaselineIC", jr_name_plain, 1},
    {"BaselineICFallback: ", "BaselineIC fallback", jr_name_plain, 1},
    {"BlinterpOp: ", "BlinterpOp", jr_name_plain, 1},
    {"VMWrapper: ", "VMWrapper", jr_name_plain, 1},
    {"Trampoline: ", "trampoline", jr_name_plain, 1},
    {"Wasm: ", NULL, jr_name_spidermonkey_wasm, 0},
    {"WasmTrampoline: ", "wasm trampoline", jr_name_spidermonkey_wasm, 1},
    {"", "stub", jr_name_spidermonkey_stub, 1},
    {"", "regexp", jr_name_spidermonkey_regexp, 1},

    /* JavaScriptCore. */
    {"JSC-LLInt: ", "LLInt", jr_name_jsc, 0},
    {"JSC-Baseline: ", "Baseline", jr_name_jsc, 0},
    {"JSC-DFG: ", "DFG", jr_name_jsc, 0},
    {"JSC-FTL: ", "FTL", jr_name_jsc, 0},
    {"LLInt: ", "LLInt", jr_name_jsc, 0},
    {"Baseline: ", "Baseline", jr_name_jsc, 0},
    {"DFG: ", "DFG", jr_name_jsc, 0},
    {"FTL: ", "FTL", jr_name_jsc, 0},
    {"JSC-Thunk: ", "thunk", jr_name_plain, 1},
    {"JSC-LLIntThunk: ", "LLInt thunk", jr_name_plain, 1},
    {"JSC-ExtraCTIThunk: ", "CTI thunk", jr_name_plain, 1},
    {"JSC-DFGThunk: ", "DFG thunk", jr_name_plain, 1},
    {"JSC-FTLThunk: ", "FTL thunk", jr_name_plain, 1},
    {"JSC-InlineCache: ", "inline cache", jr_name_plain, 1},

    /* WebAssembly: Wasmtime. */
    {"wasm[", NULL, jr_name_wasmtime, 0},

    /* CPython, PHP, Erlang. */
    {"py::", NULL, jr_name_python, 0},
    {"JIT$$", "stub", jr_name_plain, 1},
    {"JIT$", "JIT", jr_name_plain, 0},
    {"TRACE-", "trace", jr_name_php_trace, 0},
    {"$", NULL, jr_name_erlang, 0},
    {"", NULL, jr_name_erlang_part, 0},

    /* LLVM: C++ and Rust. */
    {"", NULL, jr_name_mangled, 0},

    /* .NET, Java. */
    {"", NULL, jr_name_dotnet, 0},
    {"", NULL, jr_name_java_class, 0},
    {"", NULL, jr_name_java_type, 0},
};

int jr_jit_name_read(const char *raw, size_t length, struct jr_jit_name *name)
{
    struct jr_slice whole = {raw, length};

    if (length > JR_JIT_NAME_MAX)
        return 0;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct rule *rule = &rules[i];

        if (!jr_slice_starts(whole, rule->prefix))
            continue;
        name->length = 0;
        name->tier = rule->tier;
        name->is_kind = rule->is_kind;
        if (rule->take(jr_slice_skip(whole, strlen(rule->prefix)), name) &&
            name->length > 0)
            return 1;
    }
    return 0;
}

void jr_jit_name_frame(struct jr_strings *strings, const char *raw,
                       size_t length, struct jr_frame *frame)
{
    struct jr_jit_name name = {0};

    *frame = (struct jr_frame){.kind = JR_FRAME_JIT,
                               .module = jr_strings_add(strings, "[jit]", 5),
                               .raw = jr_strings_add(strings, raw, length)};
    frame->name = frame->raw;
    if (jr_jit_name_read(frame->raw, length, &name)) {
        frame->name = jr_strings_add(strings, name.text, name.length);
        frame->tier = name.tier;
        frame->is_kind = (uint8_t)name.is_kind;
    }
    free(name.text);
}
