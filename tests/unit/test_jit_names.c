/* SPDX-License-Identifier: MIT
 *
 * The rules for names of JIT code, on names that runtimes wrote (tests/data/
 * jit; for runtimes that are not there, on their documented form).
 * Runs in: tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "symbol/jit/jit_names.h"

struct example {
    const char *raw, *name; /* name NULL: no rule knows it */
    const char *tier;
    int is_kind;
};

static const struct example examples[] = {
    /* V8 */
    {"JS:*fib /srv/zoo/src/fib.js:3:13", "fib (/srv/zoo/src/fib.js:3:13)",
     "TurboFan", 0},
    {"JS:~fib /srv/zoo/src/fib.js:3:13", "fib (/srv/zoo/src/fib.js:3:13)",
     "Ignition", 0},
    {"JS:^fib /srv/zoo/src/fib.js:3:13", "fib (/srv/zoo/src/fib.js:3:13)",
     "Sparkplug", 0},
    {"JS:+fib /srv/zoo/src/fib.js:3:13", "fib (/srv/zoo/src/fib.js:3:13)",
     "Maglev", 0},
    {"JS:o+fib /srv/zoo/src/fib.js:3:13", "fib (/srv/zoo/src/fib.js:3:13)",
     "Maglev", 0},
    {"JS:o*fib /srv/zoo/src/fib.js:3:13", "fib (/srv/zoo/src/fib.js:3:13)",
     "TurboFan", 0},
    {"JS:o*'fib /srv/zoo/src/fib.js:3:13", "fib (/srv/zoo/src/fib.js:3:13)",
     "TurboFan", 0},
    {"JS:*'fib /srv/zoo/src/fib.js:3:13", "fib (/srv/zoo/src/fib.js:3:13)",
     "TurboFan", 0},
    {"LazyCompile:*fib /srv/zoo/src/fib.js:3:13",
     "fib (/srv/zoo/src/fib.js:3:13)", "TurboFan", 0},
    {"JS:* /srv/zoo/src/wasm.js:1:1", "(anonymous) (/srv/zoo/src/wasm.js:1:1)",
     "TurboFan", 0},
    {"Eval:~ node:internal/main/run_main_module:1:1",
     "(anonymous) (node:internal/main/run_main_module:1:1)", "Ignition", 0},
    {"JS:^isPosixPathSeparator node:path:71:30",
     "isPosixPathSeparator (node:path:71:30)", "Sparkplug", 0},
    {"JS:* :1:20", "(anonymous) (:1:20)", "TurboFan", 0},
    {"Script:~ v8/gc:1:1", "(anonymous) (v8/gc:1:1)", "Ignition", 0},
    {"JS:*a b /x y/z w.js:1:2", "a b (/x y/z w.js:1:2)", "TurboFan", 0},
    {"JS:*</script>&\"hot\" loop.js:1", "</script>&\"hot\" (loop.js:1)",
     "TurboFan", 0},
    {"LazyCompile:*a b /x y/w.js:3", "a b (/x y/w.js:3)", "TurboFan", 0},
    {"Function:^ :1", "(anonymous) (:1)", "Sparkplug", 0},
    {"JS:*a:1", "a:1", "TurboFan", 0},
    {"JS:*", "(anonymous)", "TurboFan", 0},
    {"JS:wasm_fib-0-liftoff", "wasm_fib (wasm-function[0])", "Liftoff", 0},
    {"JS:wasm loop fn-1-turbofan", "wasm loop fn (wasm-function[1])",
     "TurboFan", 0},
    {"JS:wasm-function[7]-7-liftoff", "wasm-function[7]", "Liftoff", 0},
    {"Builtin:ArrayMap", "ArrayMap", "builtin", 1},
    {"BytecodeHandler:Wide", "Wide", "bytecode handler", 1},
    {"RegExp:a(b|c):d", "a(b|c):d", "regexp", 1},
    {"Stub:CEntryStub", "CEntryStub", "stub", 1},
    {"JS:", NULL, NULL, 0},
    {"Builtin:", NULL, NULL, 0},
    {"JS:-liftoff", NULL, NULL, 0},
    /* SpiderMonkey */
    {"Ion: fib (prog.js:4:13)", "fib (prog.js:4:13)", "Ion", 0},
    {"Baseline: fib (prog.js:4:13)", "fib (prog.js:4:13)", "Baseline", 0},
    {"BaselineInterpreter: fib (prog.js:4:13)", "fib (prog.js:4:13)",
     "BaselineInterpreter", 0},
    {"Interpreter: fib (prog.js:4:13)", "fib (prog.js:4:13)", "Interpreter", 0},
    {"IonIC: GetName : phase (prog.js:51:15)", "phase (prog.js:51:15)", "IonIC",
     0},
    {"Baseline: anonymous (prog.js line 46 > Function:1:1)",
     "anonymous (prog.js line 46 > Function:1:1)", "Baseline", 0},
    {"Ion: * (inl.js:26:11)", "(anonymous) (inl.js:26:11)", "Ion", 0},
    {"Baseline: gr\\xF6\\xDFe\\u65E5\\u672C (prog.js:38:17)",
     "gr\xc3\xb6\xc3\x9f"
     "e\xe6\x97\xa5\xe6\x9c\xac (prog.js:38:17)",
     "Baseline", 0},
    {"Ion: \\uD83D\\uDE00 (a.js:1:1)", "\xf0\x9f\x98\x80 (a.js:1:1)", "Ion", 0},
    {"Ion: a\\x0A\\xZZ\\u00\\uD83D\\\\xF6 (a.js:1:1)",
     "a\\x0A\\xZZ\\u00\\uD83D\\\\xF6 (a.js:1:1)", "Ion", 0},
    {"Ion: x\\\\\"y (inl.js:25:89)", "x\\\\\"y (inl.js:25:89)", "Ion", 0},
    {"BaselineIC: Call.CallScripted", "Call.CallScripted", "BaselineIC", 1},
    {"BaselineICFallback: NewArray", "NewArray", "BaselineIC fallback", 1},
    {"BlinterpOp: Undefined", "Undefined", "BlinterpOp", 1},
    {"VMWrapper: AddSlotAndCallAddPropHook", "AddSlotAndCallAddPropHook",
     "VMWrapper", 1},
    {"Trampoline: Arguments Rectifier", "Arguments Rectifier", "trampoline", 1},
    {"Wasm: wasm.js line 2 > WebAssembly.Module: Function zoomod.wasm_fib "
     "[optimized] (WASM:0)",
     "zoomod.wasm_fib (wasm.js line 2 > WebAssembly.Module)", "wasm optimized",
     0},
    {"Wasm: wasm.js line 2 > WebAssembly.Module: Function zoomod.wasm_fib "
     "[baseline] (WASM:0)",
     "zoomod.wasm_fib (wasm.js line 2 > WebAssembly.Module)", "wasm baseline",
     0},
    {"WasmTrampoline: wasm.js line 2 > WebAssembly.Module: Function "
     "zoomod.wasm_fib slow entry (WASM:0)",
     "zoomod.wasm_fib slow entry (wasm.js line 2 > WebAssembly.Module)",
     "wasm trampoline", 1},
    {"RegExp", "RegExp", "regexp", 1},
    {"RegExpOfMine", NULL, NULL, 0},
    {"StringConcatStub", "StringConcatStub", "stub", 1},
    {"DebugTrapHandler", "DebugTrapHandler", "stub", 1},
    {"zoo:fib/1-CodeInfoPrologue", "zoo:fib/1", NULL, 0},
    {"zoo:fib/1", NULL, NULL, 0},
    /* JavaScriptCore */
    {"JSC-Baseline: fib#Boc50f", "fib#Boc50f", "Baseline", 0},
    {"JSC-DFG: fib#Boc50f", "fib#Boc50f", "DFG", 0},
    {"JSC-FTL: fib#Boc50f", "fib#Boc50f", "FTL", 0},
    {"FTL: fib#Boc50f", "fib#Boc50f", "FTL", 0},
    {"Baseline: fib#Boc50f", "fib#Boc50f", "Baseline", 0},
    {"JSC-FTL: #CvZGe4", "(anonymous)#CvZGe4", "FTL", 0},
    {"JSC-Baseline: method with space#ApLp3J", "method with space#ApLp3J",
     "Baseline", 0},
    {"JSC-InlineCache: GetById Load handler", "GetById Load handler",
     "inline cache", 1},
    {"JSC-FTLOSRExit: unspecified", NULL, NULL, 0},
    /* Java */
    {"LGen;run(I)J", "Gen.run(int)", NULL, 0},
    {"Ljava/lang/String;isLatin1()Z", "java.lang.String.isLatin1()", NULL, 0},
    {"Ljava/lang/invoke/LambdaForm$MH.0x00007f03b0003c00;invoke"
     "(Ljava/lang/Object;JLjava/lang/Object;I)J",
     "java.lang.invoke.LambdaForm$MH.0x00007f03b0003c00.invoke"
     "(java.lang.Object, long, java.lang.Object, int)",
     NULL, 0},
    {"Lpkg/Cls;::method([[ILjava/lang/String;)V",
     "pkg.Cls.method(int[][], java.lang.String)", NULL, 0},
    {"Lpkg/Cls;::method", "pkg.Cls.method", NULL, 0},
    {"Lpkg/Cls;<init>()V", "pkg.Cls.<init>()", NULL, 0},
    {"pkg.Cls::method(ZBCSIJFD[V)V",
     "pkg.Cls.method(boolean, byte, char, short, int, long, float, double, "
     "void[])",
     NULL, 0},
    {"pkg.Cls::method(int, a.B[])", "pkg.Cls.method(int, a.B[])", NULL, 0},
    {"pkg.Cls::method", "pkg.Cls.method", NULL, 0},
    {"void java.lang.System.arraycopy(java.lang.Object, int, "
     "java.lang.Object, int, int)",
     "java.lang.System.arraycopy(java.lang.Object, int, java.lang.Object, "
     "int, int)",
     NULL, 0},
    {"java.lang.Class[] java.lang.invoke.MethodType.ptypes()",
     "java.lang.invoke.MethodType.ptypes()", NULL, 0},
    {"double Zoo.shapes(Zoo$Shape[])", "Zoo.shapes(Zoo$Shape[])", NULL, 0},
    {"void java.lang.Object.<init>()", "java.lang.Object.<init>()", NULL, 0},
    {"I2C/C2I adapters(0xbbbbaabaab)", NULL, NULL, 0},
    {"StackOverflowError throw_exception", NULL, NULL, 0},
    {"LGen;run(I", NULL, NULL, 0},
    {"LGen;run(Q)V", NULL, NULL, 0},
    {"LGen;run(Ljava)V", NULL, NULL, 0},
    {"LGen;run()VV", NULL, NULL, 0},
    {"std::sort(int*)", NULL, NULL, 0},
    {"void foo(int)", NULL, NULL, 0},
    /* .NET */
    {"void [System.Private.CoreLib] System.AppContext::Setup(char**,char**,"
     "int32)[PreJIT]",
     "System.AppContext::Setup(char**,char**,int32)", "PreJIT", 0},
    {"int32 [app] Ns.Cls::Fib(int32)[OptimizedTier1]", "Ns.Cls::Fib(int32)",
     "OptimizedTier1", 0},
    {"int32 [app] Ns.Cls::Fib(int32)[Tier0]", "Ns.Cls::Fib(int32)", "Tier0", 0},
    {"a[b]", NULL, NULL, 0},
    /* Python, PHP, Erlang, WebAssembly, LLVM */
    {"py::_find_and_load:<frozen importlib._bootstrap>",
     "_find_and_load (<frozen importlib._bootstrap>)", NULL, 0},
    {"py::<module>:/srv/zoo/out/py/fib.py", "<module> (/srv/zoo/out/py/fib.py)",
     NULL, 0},
    {"py::f", NULL, NULL, 0},
    {"JIT$Foo::bar", "Foo::bar", "JIT", 0},
    {"JIT$$hybrid_runtime_jit", "hybrid_runtime_jit", "stub", 1},
    {"TRACE-12$Foo::bar$34", "Foo::bar", "trace", 0},
    {"TRACE-x$Foo", NULL, NULL, 0},
    {"$lists:map/2", "lists:map/2", NULL, 0},
    {"$lists:map/2-CodeInfoPrologue", "lists:map/2", NULL, 0},
    {"$global::swap", NULL, NULL, 0},
    {"wasm[0]::function[12]::fib", "fib (wasm[0]::function[12])", NULL, 0},
    {"wasm[0]::function[12]", NULL, NULL, 0},
    {"wasm::trampoline[0]", NULL, NULL, 0},
    {"wasm loop fn", NULL, NULL, 0},
    {"_ZN3foo3barEv", "foo::bar()", NULL, 0},
    {"fib", NULL, NULL, 0},
    {"", NULL, NULL, 0},
};

static void test_examples(void **state)
{
    struct jr_jit_name name = {0};

    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const struct example *wanted = &examples[i];
        int known = jr_jit_name_read(wanted->raw, strlen(wanted->raw), &name);

        if (known != (wanted->name != NULL))
            fail_msg("%s: %s", wanted->raw, known ? name.text : "not known");
        if (!known)
            continue;
        if (strcmp(name.text, wanted->name) != 0 ||
            strcmp(name.tier ? name.tier : "none",
                   wanted->tier ? wanted->tier : "none") != 0)
            fail_msg("%s: %s [%s]", wanted->raw, name.text,
                     name.tier ? name.tier : "none");
        assert_int_equal(name.length, strlen(name.text));
        assert_int_equal(name.is_kind, wanted->is_kind);
    }
    free(name.text);
}

/* Names of any length and bytes: bounded work, no NUL inside. */
static void test_hostile(void **state)
{
    static const size_t sizes[] = {1, 255, JR_JIT_NAME_MAX, JR_JIT_NAME_MAX + 1,
                                   200000};
    static const char *const heads[] = {"JS:*",
                                        "LGen;run([[[[",
                                        "La/b;f(IIII",
                                        "void a.b(",
                                        "py::",
                                        "wasm[1]::function[2]::",
                                        "Ion: f (",
                                        "IonIC: a : ",
                                        "$a:",
                                        "JIT$",
                                        "Wasm: : Function ",
                                        "JSC-DFG: ",
                                        "_ZN",
                                        "TRACE-1$"};
    static const char fills[] = "[I(/:;\\. \xff\x01>";
    struct jr_jit_name name = {0};

    (void)state;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++)
            for (size_t k = 0; fills[k]; k++) {
                size_t head = strlen(heads[i]), length = sizes[j];
                char *raw = jr_alloc(length + 1, 1);

                memset(raw, fills[k], length);
                memcpy(raw, heads[i], head < length ? head : length);
                if (jr_jit_name_read(raw, length, &name)) {
                    assert_true(length <= JR_JIT_NAME_MAX);
                    assert_int_equal(name.length, strlen(name.text));
                    assert_true(name.length > 0 &&
                                name.length < 9 * length + 64);
                }
                free(raw);
            }
    free(name.text);
}

/* Tiers of a function have one name; a frame keeps what the runtime wrote. */
static void test_frames(void **state)
{
    static const char nul[] = "JS:*a\0b /x.js:1:2";
    struct jr_strings *strings = jr_strings_new();
    struct jr_frame one, two, plain, odd;

    (void)state;
    jr_jit_name_frame(strings, "JS:*f /x.js:1:2", 15, &one);
    jr_jit_name_frame(strings, "JS:^f /x.js:1:2", 15, &two);
    jr_jit_name_frame(strings, "plain", 5, &plain);
    jr_jit_name_frame(strings, nul, sizeof nul - 1, &odd);
    assert_ptr_equal(one.name, two.name);
    assert_string_equal(one.raw, "JS:*f /x.js:1:2");
    assert_string_equal(two.raw, "JS:^f /x.js:1:2");
    assert_ptr_equal(plain.name, plain.raw);
    assert_null(plain.tier);
    assert_string_equal(odd.name, "a?b (/x.js:1:2)");
    assert_ptr_not_equal(jr_strings_frame_of(strings, &one),
                         jr_strings_frame_of(strings, &two));
    assert_ptr_equal(jr_strings_frame_of(strings, &one),
                     jr_strings_frame_of(strings, &one));
    jr_strings_free(strings);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_frames),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
