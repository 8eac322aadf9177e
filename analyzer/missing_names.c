/* SPDX-License-Identifier: MIT
 *
 * What the report says of frames without a name, by the program: some runtimes
 * describe their code only when asked to, others never.  doc/jit.md has the
 * same in its table.
 * Runs in: analyzer. */
#include "missing_names.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const struct {
    const char *programs[4]; /* shell patterns of an executable's name */
    uint8_t has_image;       /* code in a file that is none of the loader's */
    uint8_t is_library;      /* JIT code can only be a library's */
    const char *text;
    const char *described; /* instead of it, where the process has described
                              some of its code; NULL: text */
} runtimes[] = {
    {{"ruby*"},
     0,
     0,
     "ruby: YJIT writes no map before 3.3; --yjit-perf from there",
     NULL},
    {{"luajit*"}, 0, 0, "LuaJIT writes no map of its traces", NULL},
    {{"pypy*"}, 0, 0, "PyPy writes no map of its code", NULL},
    {{"guile*"}, 0, 0, "Guile writes no map of its code", NULL},
    {{"racket*", "chezscheme*", "scheme", "petite"},
     0,
     0,
     "Chez Scheme and Racket write no map of their code",
     NULL},
    {{"qemu-*"},
     0,
     0,
     "QEMU describes the code that it makes with -perfmap, from version 8.0",
     NULL},
    {{"sbcl*"},
     1,
     0,
     "SBCL writes no map of its code, which is in its core",
     NULL},
    {{"java"},
     0,
     0,
     "of a JVM's code its map has what was alive at the end; jprof pause PID "
     "now and then has it written before, perf's agent (--jit=dump) at once",
     NULL},
    {{"node", "nodejs"},
     0,
     0,
     "node describes its code with --perf-basic-prof (jprof node asks for it)",
     "node described its code, but not these"},
    {{"deno"},
     0,
     0,
     "deno describes its code with --perf-basic-prof (jprof deno asks for it)",
     "deno described its code, but not these"},
    {{"bun"},
     0,
     0,
     "Bun's jitdump (jprof bun asks for it) lacks some code that ran",
     NULL},
    {{"chromium", "chrome", "electron"},
     0,
     0,
     "Chromium describes its code with --no-sandbox "
     "--js-flags=--perf-basic-prof",
     NULL},
    {{"QtWebEngineProcess"},
     0,
     0,
     "Qt WebEngine describes its code with QTWEBENGINE_CHROMIUM_FLAGS="
     "'--no-sandbox --js-flags=--perf-basic-prof'",
     NULL},
    {{"WebKitWebProcess"},
     0,
     0,
     "WebKit describes its code with JSC_useJITDump=1 and "
     "JSC_jitDumpDirectory=FOLDER, without its sandbox; Mesa's shaders are "
     "not described",
     NULL},
    {{"mono", "mono-sgen"},
     0,
     0,
     "Mono describes its code with --jitmap (jprof mono asks for it)",
     "Mono described its code, but not these"},
    {{"php*"},
     0,
     0,
     "PHP describes its code with -d opcache.jit_debug=0x10; PCRE2 compiles "
     "patterns and does not describe them",
     NULL},
    {{"python3.12", "python3.1[3-9]"},
     0,
     0,
     "functions of CPython need no description, and libraries such as Numba do "
     "not describe their code",
     "CPython described its code; of libraries that make code, Wasmtime "
     "describes it if its Config.profiler asks for it, PythonMonkey if "
     "PERF_SPEW_DIR and IONPERF do, Numba does not"},
    /* whatsnew/3.12.rst: "support for the perf profiler". */
    {{"python[23]", "python2.[0-9]", "python3.[0-9]", "python3.1[01]"},
     0,
     1,
     "CPython before 3.12 makes no code; libraries such as Numba, which do, "
     "do not describe it",
     NULL},
    {{"beam.smp"},
     0,
     0,
     "Erlang describes its code with +JPperf true (jprof erl asks for it)",
     "Erlang described its code, but not these"},
};

static int is_of(size_t runtime, const char *name)
{
    for (size_t i = 0; i < 4 && runtimes[runtime].programs[i]; i++) {
        if (fnmatch(runtimes[runtime].programs[i], name, 0) == 0)
            return 1;
    }
    return 0;
}

/* Tells of the process's frames without names.  Returns the runtime, or -1
 * where there was nothing to say; *said: what was said of it. */
static int note_process(struct jr_notes *notes,
                        const struct jr_process *process, const char **said)
{
    const struct jr_stats *stats = &process->stats;
    const char *exe = process->run->header.exe, *slash = strrchr(exe, '/');
    uint64_t bare = stats->jit_frames - stats->jit_named;
    char *text;

    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++) {
        uint64_t count =
            runtimes[i].has_image ? bare + stats->unnamed_frames : bare;

        if (count == 0 || !is_of(i, slash ? slash + 1 : exe))
            continue;
        *said = stats->jit_named && runtimes[i].described
                    ? runtimes[i].described
                    : runtimes[i].text;
        text = jr_printf("frames have no name: %s", *said);
        jr_notes_add_of(notes, process->run->header.pid, count, text);
        free(text);
        return (int)i;
    }
    return -1;
}

/* Tells how names that files gave, or should have given, were lost. */
static void note_lost(struct jr_notes *notes, const struct jr_process *process)
{
    const struct jr_stats *stats = &process->stats;
    const struct {
        uint64_t count;
        const char *text;
    } lost[] = {
        {stats->jit_mismatched,
         "addresses of JIT code have no name: memory had other code there than "
         "the jitdump says"},
        {stats->jit_wiped,
         "addresses of JIT code have no name: the code there was freed and "
         "wiped before the sample"},
        {stats->jit_unread,
         "files with names of JIT code are gone or cannot be read"},
    };

    if (stats->jit_frames == stats->jit_named)
        return;
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
        if (lost[i].count)
            jr_notes_add_of(notes, process->run->header.pid, lost[i].count,
                            lost[i].text);
    }
}

const char *jr_note_missing_names(const struct jr_model *model,
                                  struct jr_notes *notes, int *is_library)
{
    const char *said = NULL, *other;
    int first = -1;

    *is_library = 0;
    for (size_t i = 0; i < model->nprocesses; i++) {
        int runtime = note_process(notes, &model->processes[i],
                                   first < 0 ? &said : &other);

        note_lost(notes, &model->processes[i]);
        if (first < 0)
            first = runtime;
    }
    if (first < 0)
        return NULL;
    *is_library = runtimes[first].is_library;
    return said;
}
