/* SPDX-License-Identifier: MIT
 *
 * The runtimes.  doc/jit.md says what each gives, and where that is from.
 * Runs in: launcher. */
#include "runtimes.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#define NATIVE_STACK "--interpreted-frames-native-stack"

/* With the option, V8's SIGPROF handler looks the code of an interpreter's
 * frame up by CodeLargeObjectSpace::FindPage, which takes a mutex: it hangs
 * where the signal interrupted the mutex's owner.  An inspector session of the
 * program's own (monitoring agents) has the same handler and no option of the
 * command line.  Tried with Node 12 to 26, tests/run/test_left_alone.py. */
#define HANGS                                                                  \
    {                                                                          \
        .word = NATIVE_STACK, .from = {18, 0}, .until = {21, 0},               \
        .why = "before version 21 V8's own profilers (--cpu-prof, --prof, an " \
               "inspector session) can hang with it; functions that V8 "       \
               "interprets stay without names"                                 \
    }

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
     .version = {"node", "--version", "v"},
     .trial = {"node", "--version"},
     /* A snapshot has V8's options in it: Node up to 22.0 ends where others
      * are set, and one that is built with them serves only with them. */
     .excluded = {{.options = "--snapshot[-_]blob* "
                              "--build[-_]snapshot* "
                              "--experimental[-_]sea[-_]config*",
                   .until = {24, 0},
                   .why = "before version 24 a snapshot may serve only with "
                          "the V8 options that it was built with"},
                  HANGS},
     .litter = "isolate-0x*-%P-v8.log",
     .own_litter = "--prof --log --log[-_]* --logfile*"},
    {.name = "java",
     .programs = "java javac javadoc jshell kotlin kotlinc scala scalac sbt "
                 "mvn mvnw gradle gradlew ant groovy clojure clj lein "
                 "catalina.sh kafka-*.sh",
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
     .read = {{3, 8}, {3, 14}}, /* preload/sig/script/python_layouts.h */
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
     .trial = {"mono", "--version"},
     .excluded = {{.word = "disable_omit_fp",
                   .options = "--aot --aot=*",
                   .why = "the file that Mono compiles ahead would have other "
                          "code"}}},
    {.name = "erlang",
     .programs = "erl erlexec beam.smp elixir elixirc iex mix rebar3 escript "
                 "rabbitmq-server rabbitmqctl rabbitmq-plugins "
                 "rabbitmq-diagnostics rabbitmq-queues rabbitmq-streams "
                 "rabbitmq-upgrade ejabberdctl",
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

int jl_is_one_of(const char *patterns, const char *word)
{
    for (const char *at = patterns; *at; at += strspn(at, " ")) {
        char pattern[64];
        size_t length = strcspn(at, " ");

        snprintf(pattern, sizeof pattern, "%.*s", (int)length, at);
        if (fnmatch(pattern, word, 0) == 0)
            return 1;
        at += length;
    }
    return 0;
}

const struct jl_runtime *jl_runtime_named(const char *name)
{
    for (size_t i = 0; i < jl_runtimes_count; i++)
        if (jl_is_one_of(jl_runtimes[i].programs, name))
            return &jl_runtimes[i];
    return NULL;
}
