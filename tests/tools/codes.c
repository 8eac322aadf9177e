/* SPDX-License-Identifier: MIT
 *
 * Prints the JIT code that was at the top of a log's stacks, a line for each
 * sample that has a name: `TIME ADDRESS START END UNTIL SOURCE BYTES NAME`,
 * numbers in hex but for times (ns); SOURCE is `dump` or `map`, BYTES the code
 * from START on in hex as an annotation takes it, or `-`.  Each piece's bytes
 * are printed once, `=` stands for them afterwards.
 * Runs in: tests. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "read/walk.h"
#include "runs.h"
#include "symbol/find_code.h"

#define PIECE_MAX (1U << 20)

struct shown {
    const struct jr_jit_text **items;
    size_t count, room;
};

/* Was the piece there before?  It is from now on. */
static int is_shown(struct shown *shown, const struct jr_jit_text *text)
{
    for (size_t i = 0; i < shown->count; i++) {
        if (shown->items[i] == text)
            return 1;
    }
    *JR_PUSH(shown->items, shown->count, shown->room) = text;
    return 0;
}

static void put_bytes(const struct jr_jit_code *code)
{
    static uint8_t bytes[PIECE_MAX];
    size_t got = jr_jit_code_bytes(code, bytes, sizeof bytes);

    if (got == 0)
        putchar('-');
    for (size_t i = 0; i < got; i++)
        printf("%02x", bytes[i]);
}

static void put_sample(struct jr_space *space, const struct jr_run *run,
                       const struct jr_sample *sample, struct shown *shown)
{
    const uint64_t address =
        run->stacks.places[run->stacks.items[sample->stack].place];
    struct jr_jit_code code;
    struct jr_hit hit;

    if (sample->stack == 0)
        return;
    jr_space_find(space, address, sample->time_ns, 0, &hit);
    if (hit.frames[0].kind != JR_FRAME_JIT ||
        jr_jit_code_find(space, address, sample->time_ns, &code) < 0)
        return;
    printf("%" PRIu64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIu64 " %s ",
           sample->time_ns, address, code.start, code.end, code.until_ns,
           code.source == JR_JIT_DUMP ? "dump" : "map");
    if (is_shown(shown, code.text))
        putchar('=');
    else
        put_bytes(&code);
    printf(" %s\n", code.name);
}

/* The pieces are the space's: the next run's are others. */
static void put_run(struct jr_space *space, const struct jr_log *log,
                    const struct jr_run *run)
{
    struct jr_walk *walk = jr_walk_begin(log, run, JR_WALK_BY_TIME);
    struct shown shown = {0};
    const struct jr_sample *samples;
    size_t count;

    while ((count = jr_walk_next(walk, &samples)) > 0) {
        for (size_t i = 0; i < count; i++)
            put_sample(space, run, &samples[i], &shown);
    }
    jr_walk_end(walk);
    free(shown.items);
}

int main(int argc, char **argv)
{
    return argc == 2 ? each_run(argv[1], put_run) : 2;
}
