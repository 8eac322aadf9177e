/* SPDX-License-Identifier: MIT
 *
 * A small profile for the tests of model and writers: stacks are words, a
 * letter a function, root first; letter X is the function "fX".  Names come
 * from a perf map in a temporary folder, as in a real profile.
 * Runs in: tests. */
#ifndef PROFILE_FIXTURE_H
#define PROFILE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/diag.h"
#include "base/mem.h"
#include "log_fixture.h"
#include "model/build.h"
#include "model/collect.h"
#include "model/part.h"

#define PERIOD 1000
#define BASE 0x10000

struct profile {
    struct jr_diag diag;
    struct built built;
    struct jr_log log;
    struct jp_log_header *header; /* to be changed before profile_model */
    uint16_t stack;               /* the last one's place */
    uint16_t gap;                 /* of the next stacks, */
    uint8_t event, reason;        /* and of the next samples */
    struct jr_map map;
    struct jr_symbols *symbols;
    struct jr_space *space;
    struct jr_model model;
    struct jr_neighbours neighbours;
    char folder[64];
};

static inline void profile_init(struct profile *profile)
{
    memset(profile, 0, sizeof(*profile));
    profile->header = put_header(&profile->built);
    profile->header->period_ns = PERIOD;
    profile->header->clock = JP_CLOCK_THREAD_CPU;
    strcpy(profile->header->exe, "/x/app");
    put_chunk(&profile->built, JP_CHUNK_MAX);
}

/* Where the frame of a letter is: inside its function, for a capital letter at
 * the function's start, which is the end of the one before; '.' is an address
 * without a name. */
static inline uint64_t profile_address(char letter)
{
    if (letter == '.')
        return 0x900010;
    if (letter >= 'A' && letter <= 'Z')
        return BASE + (uint64_t)(letter - 'A') * 0x100;
    return BASE + (uint64_t)(letter - 'a') * 0x100 + 0x10;
}

/* Takes another sample of the stack of the last one. */
static inline void profile_repeat(struct profile *profile, uint64_t time,
                                  uint64_t weight, uint32_t tid)
{
    const struct jr_sample sample = {.time_ns = time,
                                     .weight_ns = weight,
                                     .tid = tid,
                                     .event = profile->event,
                                     .reason = profile->reason};

    put_sample_of(&profile->built, &sample, profile->stack);
}

/* Takes a sample of the stack `word`. */
static inline void profile_sample(struct profile *profile, const char *word,
                                  uint64_t time, uint64_t weight, uint32_t tid)
{
    struct built *built = &profile->built;
    const uint16_t depth = (uint16_t)strlen(word);
    uint64_t frames[64];

    for (uint16_t i = 0; i < depth; i++)
        frames[i] = profile_address(word[depth - 1 - i]);
    if (built->at + sizeof frames + 64 > built->size)
        put_chunk(built, JP_CHUNK_MAX);
    profile->stack = 0;
    if (depth > 0) {
        profile->stack = put_stack(built, frames, depth, 0, 0);
        ((struct jp_stack_record *)(built->data + built->chunk +
                                    profile->stack * 8))
            ->gap = profile->gap;
    }
    profile_repeat(profile, time, weight, tid);
}

/* Reads `events` (lines of a map) and models the samples with `filter`.
 * `names` are those of a, b, c... where they are not "fa", "fb", "fc"... */
static inline void profile_model(struct profile *profile, const char *events,
                                 const struct jr_filter *filter,
                                 const char *const *names)
{
    char *text = jr_printf("1 jprof-map version=1 pid=7 start=0 log=l\n"
                           "1 process pid=7 ppid=1 exe=/x/app comm=app "
                           "cmdline=app%%00-q%%00\n"
                           "1 anon start=10000 end=20000\n"
                           "1 perfmap path=/tmp/perf-7.map dev=0:1 inode=1 "
                           "size=1 saved=perf-7.map\n%s",
                           events);
    char path[128];
    FILE *file;

    strcpy(profile->folder, "/tmp/jprof-unit-XXXXXX");
    assert_non_null(mkdtemp(profile->folder));
    snprintf(path, sizeof(path), "%s/perf-7.map", profile->folder);
    file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 26; i++)
        if (names && i < 3 && names[i])
            fprintf(file, "%x 100 %s\n", BASE + i * 0x100, names[i]);
        else
            fprintf(file, "%x 100 f%c\n", BASE + i * 0x100, 'a' + i);
    fclose(file);
    strcat(profile->folder, "/");
    profile->map.pid = 7;
    profile->map.path = jr_strdup("map");
    assert_int_equal(jr_map_parse((const uint8_t *)text, strlen(text),
                                  &profile->map, &profile->diag),
                     0);
    free(text);
    profile->symbols =
        jr_symbols_new(&profile->diag, &(struct jr_symbols_options){0});
    profile->space =
        jr_space_new(profile->symbols, &profile->map, profile->folder);
    jr_model_init(&profile->model, filter);
    assert_int_equal(jr_log_parse(profile->built.data, profile->built.size,
                                  "log", &profile->log, &profile->diag),
                     0);
    jr_model_add(&profile->model, &profile->log, &profile->log.runs[0],
                 &(struct jr_code){&profile->map, profile->space},
                 profile->neighbours);
    jr_model_finish(&profile->model);
    assert_int_equal(profile->diag.warnings, 0);
    unlink(path);
}

static inline void profile_free(struct profile *profile)
{
    jr_model_free(&profile->model);
    jr_space_free(profile->space);
    jr_symbols_free(profile->symbols);
    jr_map_free(&profile->map);
    jr_log_free(&profile->log);
    profile->folder[strlen(profile->folder) - 1] = '\0';
    rmdir(profile->folder);
}

/* All sections, all threads, whole stacks. */
static inline struct jr_filter everything(void)
{
    return (struct jr_filter){.end = UINT64_MAX,
                              .needs = JR_NEEDS_PATHS | JR_NEEDS_CALLS |
                                       JR_NEEDS_CODE};
}

#endif
