/* SPDX-License-Identifier: MIT
 *
 * Finds the kind of a file from its content.
 * Runs in: analyzer. */
#include <string.h>

#include "foreign.h"

#define SAMPLE_TYPE_TAG 0x0a /* field 1, bytes: pprof begins with it, */
#define MAPPING_TAG 0x1a     /* or with field 3, */
#define TIME_TAG 0x48        /* or with field 9, a number */

/* The beginning of a file, or all of it. */
struct start {
    const uint8_t *data;
    size_t size;
    int is_whole;
};

static int begins(const struct start *start, const char *text)
{
    return start->size >= strlen(text) &&
           memcmp(start->data, text, strlen(text)) == 0;
}

static int has(const struct start *start, const char *text)
{
    return memmem(start->data, start->size, text, strlen(text)) != NULL;
}

/* Protobuf's first field: a ValueType of two small numbers; as jprof-report
 * writes it, a Mapping whose id comes first; as Go does, a time in nanoseconds,
 * which takes nine bytes, none of them but the last a letter. */
static int is_pprof(const struct start *start)
{
    const uint8_t *data = start->data;

    if (start->size > 4 && data[0] == MAPPING_TAG)
        return data[1] < 128 && data[2] == 0x08;
    if (start->size > 10 && data[0] == TIME_TAG)
        return data[1] & data[2] & data[3] & data[4] & data[5] & data[6] &
               data[7] & data[8] & 0x80;
    return start->size > 4 && data[0] == SAMPLE_TYPE_TAG && data[1] <= 22 &&
           (data[2] == 0x08 || data[2] == 0x10);
}

/* Linux, tools/perf/util/header.c: the magic numbers of both versions, and the
 * second one as a machine of the other byte order writes it. */
static int is_perf_data(const struct start *start)
{
    return begins(start, "PERFFILE") || begins(start, "PERFILE2") ||
           begins(start, "2ELIFREP");
}

/* Go, runtime/pprof/pprof.go: the heads of the profiles with debug=1 and
 * debug=2; gperftools writes its heaps as text with the first one. */
static int is_go_text(const struct start *start)
{
    static const char *const heads[] = {"heap profile: ",
                                        "goroutine profile: total ",
                                        "threadcreate profile: ",
                                        "--- contention:",
                                        "--- mutex:",
                                        "goroutine 1 ["};

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (begins(start, heads[i]))
            return 1;
    return 0;
}

static int is_json(const struct start *start)
{
    for (size_t i = 0; i < start->size; i++)
        if (!strchr(" \t\r\n", start->data[i]) || start->data[i] == '\0')
            return start->data[i] == '{' || start->data[i] == '[';
    return 0;
}

static int is_speedscope(const struct start *start)
{
    return is_json(start) &&
           (has(start, "speedscope.app/file-format-schema") ||
            (has(start, "\"shared\"") && has(start, "\"profiles\"")));
}

static int is_firefox(const struct start *start)
{
    return is_json(start) &&
           (has(start, "\"preprocessedProfileVersion\"") ||
            (has(start, "\"meta\"") && has(start, "\"stackwalk\"")));
}

static int is_v8_profile(const struct start *start)
{
    return is_json(start) && has(start, "\"nodes\"") &&
           has(start, "\"callFrame\"");
}

static int is_trace(const struct start *start)
{
    return is_json(start) && (has(start, "\"traceEvents\"") ||
                              (has(start, "\"ph\"") && has(start, "\"ts\"")));
}

static int is_callgrind(const struct start *start)
{
    return begins(start, "# callgrind format") ||
           (begins(start, "version: 1\n") && has(start, "\nevents: "));
}

/* OpenJDK, jfrChunkWriter.cpp: a chunk begins with "FLR" and a zero. */
static int is_jfr(const struct start *start)
{
    return start->size > 4 && memcmp(start->data, "FLR", 4) == 0;
}

static int is_cpuprofile(const struct start *start)
{
    return jr_foreign_is_cpuprofile(start->data, start->size);
}

/* Text without zeros that is no script. */
static int is_text(const struct start *start)
{
    return start->size > 0 && !begins(start, "#!") &&
           memchr(start->data, '\0', start->size) == NULL;
}

/* Takes a complete line of the text that is neither empty nor a comment; the
 * last one of a beginning is cut off, unless it is the only one. */
static int next_line(const struct start *start, struct jr_slice *text,
                     struct jr_slice *line)
{
    while (jr_foreign_line(text, line)) {
        if (!start->is_whole && text->length == 0 &&
            start->data[start->size - 1] != '\n' &&
            line->text != (const char *)start->data)
            return 0;
        if (jr_foreign_trim(*line).length > 0 && *line->text != '#')
            return 1;
    }
    return 0;
}

static struct jr_slice text_of(const struct start *start)
{
    return (struct jr_slice){(const char *)start->data, start->size};
}

/* The head of a sample that has a call chain has a frame in the next line; one
 * without has its only frame behind the event. */
static int is_perf_script(const struct start *start)
{
    struct jr_slice text = text_of(start), line;
    size_t heads = 0, frames = 0, others = 0;

    if (!is_text(start))
        return 0;
    while (next_line(start, &text, &line))
        if (jr_foreign_is_perf_head(line, NULL))
            heads++;
        else if (jr_foreign_is_perf_frame(line))
            frames++;
        else
            others++;
    return heads > 0 && frames + heads > others;
}

/* A line with a name in front of a number.  Where the first one is no stack,
 * there must be more that are than others. */
static int is_collapsed(const struct start *start)
{
    struct jr_slice text = text_of(start), line, word;
    struct jr_foreign_number number;
    size_t stacks = 0, others = 0;

    if (!is_text(start))
        return 0;
    while (next_line(start, &text, &line)) {
        if (jr_foreign_last_word(&line, &word) &&
            jr_foreign_number(word, JR_COMMAS_LIST, &number) == 0)
            stacks++;
        else
            others++;
        if (stacks == 1 && others == 0)
            return 1;
    }
    return stacks > others;
}

static const struct {
    int (*is)(const struct start *start);
    struct jr_foreign_kind kind;
} kinds[] = {
    {is_pprof, {"a pprof profile", jr_foreign_pprof, NULL}},
    {is_perf_data,
     {"perf's perf.data", NULL,
      "make text of it: perf script -i FILE > FILE.txt"}},
    {is_jfr,
     {"a recording of Java's Flight Recorder", NULL,
      "make collapsed stacks of it: jfrconv -o collapsed FILE FILE.txt, of "
      "async-profiler"}},
    {is_go_text,
     {"a profile as text, of Go with debug=1 or of a heap by gperftools", NULL,
      "take the binary one, without debug=1, or make it of this file: "
      "pprof -proto PROGRAM FILE > FILE.pb.gz"}},
    {is_callgrind,
     {"callgrind's costs", NULL,
      "it has no stacks of samples; callgrind_annotate and KCachegrind show "
      "it"}},
    {is_speedscope,
     {"a speedscope profile", NULL,
      "speedscope.app shows it; from the tool that wrote it, ask for collapsed "
      "stacks or pprof"}},
    {is_firefox,
     {"a profile of the Firefox Profiler", NULL,
      "profiler.firefox.com shows it; from the tool that wrote it, ask for "
      "collapsed stacks or pprof"}},
    {is_v8_profile,
     {"a .cpuprofile of V8", NULL,
      "speedscope.app and Chrome's developer tools show it; jprof node PROGRAM "
      "profiles Node itself"}},
    {is_trace,
     {"a trace of events in Chrome's format", NULL,
      "ui.perfetto.dev shows it; it has no samples of stacks"}},
    {is_cpuprofile,
     {"a CPU profile of gperftools", jr_foreign_cpuprofile, NULL}},
    {is_perf_script, {"text of perf script", jr_foreign_perf_script, NULL}},
    {is_collapsed, {"collapsed stacks", jr_foreign_collapsed, NULL}},
};

const struct jr_foreign_kind *jr_foreign_kind_of(const uint8_t *data,
                                                 size_t size, int is_whole)
{
    const struct start start = {data, size, is_whole};

    for (size_t i = 0; size > 0 && i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].is(&start))
            return &kinds[i].kind;
    return NULL;
}
