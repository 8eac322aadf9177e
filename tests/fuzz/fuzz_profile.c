/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: log, map, perf map and jitdumps of one run together, through the
 * loader of jprof-report into models that must agree: all of it, thread by
 * thread, and in two slices of time.  The input is six times a size (u32,
 * little endian) and so many bytes, which become files of these names
 * (tests/tools/profileseed.py).
 * Runs in: fuzz tests. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "held.h"
#include "load.h"
#include "model/again/again.h"
#include "model/build.h"
#include "parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"jprof-log",  "jprof-map", "perf-7.map",
                                    "perf-1.map", "one",       "two"};
#define FILES (sizeof names / sizeof *names)
#define LOG HELD_FOLDER "jprof-log"

static void put_files(const uint8_t *data, size_t size)
{
    struct part parts[FILES];

    parts_find(data, size, FILES, parts);
    for (size_t i = 0; i < FILES; i++)
        held_put(names[i], data + parts[i].at, parts[i].size);
}

static size_t change(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    (void)seed;
    return LLVMFuzzerMutate(data, size, most);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most,
                               unsigned seed)
{
    return parts_mutate(data, size, most, seed, FILES, change);
}

struct sums {
    uint64_t samples, weight_ns;
};

static void same(struct sums a, struct sums b)
{
    if (a.samples != b.samples || a.weight_ns != b.weight_ns)
        abort();
}

static struct sums sums_of(const struct jr_model *model)
{
    struct sums total = {model->total.samples, model->total.weight_ns};
    struct sums leaves = {0, 0}, buckets = {0, 0};

    for (size_t i = 0; i < model->nleaves; i++) {
        const struct jr_leaf *leaf = &model->leaves[i];

        if (leaf->node >= model->nodes.count || leaf->bucket >= model->nbuckets)
            abort();
        leaves.samples += leaf->samples;
        leaves.weight_ns = jr_add(leaves.weight_ns, leaf->weight_ns);
    }
    for (size_t i = 0; i < model->nbuckets; i++) {
        buckets.samples += model->buckets[i].samples;
        buckets.weight_ns =
            jr_add(buckets.weight_ns, model->buckets[i].weight_ns);
    }
    same(leaves, total);
    same(buckets, total);
    return total;
}

/* A second pass over the samples finds those of the first one. */
static void go_again(const struct jr_model *model)
{
    struct jr_again *again = jr_again_begin(model, NULL, 100);

    for (uint32_t i = 0; i < model->nprocesses; i++) {
        jr_again_process(again, i);
        while (jr_again_next(again) != NULL)
            continue;
    }
    for (uint32_t i = 0; i < model->nthreads; i++) {
        jr_again_thread(again, i);
        while (jr_again_next(again) != NULL)
            continue;
    }
    if (jr_again_end(again) != 0)
        abort();
}

/* What a report with this filter counts. */
static struct jr_stats model(struct jr_filter filter)
{
    /* Nothing is printed: the first warnings are taken as said. */
    struct jr_diag diag = {.warnings = 1000};
    struct jr_load load;
    struct jr_stats total = {0};

    filter.end = UINT64_MAX;
    filter.needs |= JR_NEEDS_PATHS | JR_NEEDS_CALLS | JR_NEEDS_CODE;
    jr_load_init(&load, "app", &filter, &(struct jr_symbols_options){0}, &diag);
    if (jr_load_log(&load, LOG) == 0) {
        jr_model_finish(&load.model);
        sums_of(&load.model);
        if (jr_filter_needs(&filter, JR_NEEDS_REPLAY))
            go_again(&load.model);
        total = load.model.total;
    }
    jr_load_free(&load);
    return total;
}

/* Slices of time, each sample being in one. */
static void check_slices(const struct jr_stats *all, uint64_t at_ns)
{
    const struct jr_stats first = model(
        (struct jr_filter){.by_clock = 1,
                           .to_ns = at_ns,
                           .has_to = 1,
                           .needs = JR_NEEDS_SAMPLE_LIST | JR_NEEDS_REPLAY});
    const struct jr_stats second =
        model((struct jr_filter){.by_clock = 1, .from_ns = at_ns});

    same((struct sums){all->samples, all->weight_ns},
         (struct sums){first.samples + second.samples,
                       jr_add(first.weight_ns, second.weight_ns)});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jr_stats all, threads;

    /* Nothing comes of what is no log. */
    if (size < 4 + 8 || memcmp(data + 4, JP_LOG_MAGIC, 8) != 0)
        return 0;
    held_keep_memory();
    put_files(data, size);
    held_alone(1);
    all = model((struct jr_filter){0});
    threads =
        model((struct jr_filter){.by_thread = 1, .needs = JR_NEEDS_PLACES});
    /* By sums of stacks and sample by sample: all that is counted. */
    if (memcmp(&all, &threads, sizeof all) != 0)
        abort();
    check_slices(&all, 450);
    held_alone(0);
    return 0;
}
