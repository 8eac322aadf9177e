/* SPDX-License-Identifier: MIT
 *
 * The runtimes.  doc/jit.md says what each gives, and where that is from.
 * Runs in: launcher. */
#include "runtimes.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#define NATIVE_STACK "--interpreted-frames-native-stack"

const struct jl_runtime jl_runtimes[] = {
    {.name = "node",
     .programs = "node nodejs npm npx yarn yarnpkg pnpm corepack",
     .map = {JL_PERFMAP,
             {10, 0},
             {{"NODE_OPTIONS", ' ', {"--perf-basic-prof", NATIVE_STACK}}}},
     .dump = {JL_PERFMAP | JL_JITDUMP,
              {10, 0},
              {{"NODE_OPTIONS",
                ' ',
                {"--perf-prof", "--perf-basic-prof", NATIVE_STACK}}}},
     .refusal = JL_ENDS,
     .trial = {"node", "--version"},
     .litter = "isolate-0x*-%P-v8.log"},
    {.name = "java",
     .programs = "java javac javadoc jshell kotlin kotlinc scala scalac sbt "
                 "mvn gradle ant",
     .map = {JL_PERFMAP,
             {17, 0},
             {{"JAVA_TOOL_OPTIONS",
               ' ',
               {"-XX:+IgnoreUnrecognizedVMOptions",
                "-XX:+UnlockDiagnosticVMOptions", "-XX:+PreserveFramePointer",
                "-XX:+DumpPerfMapAtExit"}}}},
     .dump = {JL_JITDUMP,
              {17, 0},
              {{"JAVA_TOOL_OPTIONS",
                ' ',
                {"-agentpath:%A", "-XX:+PreserveFramePointer"}},
               {"JITDUMPDIR", 0, {"%D"}}}},
     .agents = {"/usr/lib/libperf-jvmti.so", "/usr/lib64/libperf-jvmti.so",
                "/usr/lib/*/libperf-jvmti.so",
                "/usr/lib/linux-tools*/*/libperf-jvmti.so"}},
    {.name = "python",
     .programs = "python python[0-9]*",
     .map = {JL_PERFMAP, {3, 12}, {{"PYTHONPERFSUPPORT", 0, {"1"}}}},
     .dump = {JL_JITDUMP, {3, 13}, {{"PYTHON_PERF_JIT_SUPPORT", 0, {"1"}}}},
     .refusal = JL_TELLS_VERSION,
     .nameless = "Python functions",
     .version = {"python", "--version", "Python "}},
    {.name = "spidermonkey",
     .programs = "js js-* js[0-9]* jsshell firefox firefox-*",
     .map = {JL_JITDUMP,
             {0, 0},
             {{"PERF_SPEW_DIR", 0, {"%D"}}, {"IONPERF", 0, {"%L"}}}},
     .dump = {JL_JITDUMP,
              {0, 0},
              {{"PERF_SPEW_DIR", 0, {"%D"}}, {"IONPERF", 0, {"%L"}}}},
     .refusal = JL_LACKS_WORD,
     .mark = "PERF_SPEW_DIR",
     .marked = {"libxul.so", "/usr/lib/libmozjs-*.so",
                "/usr/lib/*/libmozjs-*.so"}},
    {.name = "dotnet",
     .programs = "dotnet",
     /* Before .NET 6 its variables began with COMPlus_. */
     .map = {JL_PERFMAP | JL_PERFINFO,
             {3, 1},
             {{"DOTNET_PerfMapEnabled", 0, {"3"}},
              {"COMPlus_PerfMapEnabled", 0, {"3"}}}},
     .dump = {JL_PERFMAP | JL_JITDUMP | JL_PERFINFO,
              {3, 1},
              {{"DOTNET_PerfMapEnabled", 0, {"1"}},
               {"COMPlus_PerfMapEnabled", 0, {"1"}}}},
     .litter = "/tmp/perfinfo-%P.map"},
    /* Its man page, "--jitmap", MONO_ENV_OPTIONS, and its mini.c for the word
     * that keeps frame pointers. */
    {.name = "mono",
     .programs = "mono mono-sgen mcs csharp xbuild nuget",
     .map = {JL_PERFMAP,
             {4, 0},
             {{"MONO_ENV_OPTIONS", ' ', {"--jitmap"}},
              {"MONO_DEBUG", ',', {"disable_omit_fp"}}}},
     .dump = {JL_PERFMAP,
              {4, 0},
              {{"MONO_ENV_OPTIONS", ' ', {"--jitmap"}},
               {"MONO_DEBUG", ',', {"disable_omit_fp"}}}},
     .refusal = JL_ENDS,
     .trial = {"mono", "--version"}},
    {.name = "erlang",
     .programs = "erl erlexec beam.smp elixir iex mix rebar3 escript",
     /* All of map, dump and frame pointers, of which OTP 25 has no flag of
      * their own (erts/emulator/beam/jit/beam_asm.h). */
     .map = {JL_PERFMAP | JL_JITDUMP,
             {24, 0},
             {{"ERL_FLAGS", ' ', {"+JPperf true"}}}},
     .dump = {JL_PERFMAP | JL_JITDUMP,
              {24, 0},
              {{"ERL_FLAGS", ' ', {"+JPperf true"}}}},
     .refusal = JL_ENDS,
     .trial = {"erl", "-noshell", "-eval", "halt()."}},
    {.name = "deno",
     .programs = "deno",
     .map = {JL_PERFMAP,
             {1, 41},
             {{"DENO_V8_FLAGS", ',', {"--perf-basic-prof", NATIVE_STACK}}}},
     .dump = {JL_PERFMAP | JL_JITDUMP,
              {1, 41},
              {{"DENO_V8_FLAGS",
                ',',
                {"--perf-prof", "--perf-basic-prof", NATIVE_STACK}}}},
     .refusal = JL_ENDS,
     .trial = {"deno", "--version"},
     .litter = "isolate-0x*-%P-v8.log"},
    {.name = "bun",
     .programs = "bun bunx",
     .map = {JL_JITDUMP,
             {1, 1},
             {{"BUN_JSC_useJITDump", 0, {"1"}},
              {"BUN_JSC_jitDumpDirectory", 0, {"%D"}}}},
     .dump = {JL_JITDUMP,
              {1, 1},
              {{"BUN_JSC_useJITDump", 0, {"1"}},
               {"BUN_JSC_jitDumpDirectory", 0, {"%D"}}}}},
    {.name = "jsc",
     .programs = "jsc jsc-*",
     .map = {JL_JITDUMP,
             {2, 42},
             {{"JSC_useJITDump", 0, {"1"}},
              {"JSC_jitDumpDirectory", 0, {"%D"}}}},
     .dump = {JL_JITDUMP,
              {2, 42},
              {{"JSC_useJITDump", 0, {"1"}},
               {"JSC_jitDumpDirectory", 0, {"%D"}}}}},
    {.name = "llvm",
     .programs = "lli lli-*",
     .map = {JL_JITDUMP, {0, 0}, {{"JITDUMPDIR", 0, {"%D"}}}},
     .dump = {JL_JITDUMP, {0, 0}, {{"JITDUMPDIR", 0, {"%D"}}}}},
    {.name = "julia",
     .programs = "julia",
     .map = {JL_JITDUMP,
             {0, 0},
             {{"ENABLE_JITPROFILING", 0, {"1"}}, {"JITDUMPDIR", 0, {"%D"}}}},
     .dump = {JL_JITDUMP,
              {0, 0},
              {{"ENABLE_JITPROFILING", 0, {"1"}}, {"JITDUMPDIR", 0, {"%D"}}}}},
};

const size_t jl_runtimes_count = sizeof jl_runtimes / sizeof *jl_runtimes;

const struct jl_runtime *jl_runtime_named(const char *name)
{
    for (size_t i = 0; i < jl_runtimes_count; i++) {
        const char *at = jl_runtimes[i].programs;

        while (*at) {
            char pattern[64];
            size_t length = strcspn(at, " ");

            snprintf(pattern, sizeof pattern, "%.*s", (int)length, at);
            if (fnmatch(pattern, name, 0) == 0)
                return &jl_runtimes[i];
            at += length;
            at += strspn(at, " ");
        }
    }
    return NULL;
}
