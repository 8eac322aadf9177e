/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: log, map, perf map and jitdumps of one run together, through the
 * loader of jprof-report into models that must agree: all of it, thread by
 * thread, and in two slices of time.  The input is six times a size (u32,
 * little endian) and so many bytes, which become files of these names
 * (tests/tools/profileseed.py).
 * Runs in: fuzz tests. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"jprof-log",  "jprof-map", "perf-7.map",
                                    "perf-1.map", "one",       "two"};

/* In memory where that can be: on a disk, nearly all of a run is waiting for
 * files that are written over, and 10^7 inputs take a day instead of hours. */
static char in_memory[] = "/dev/shm/jprof-fuzz-XXXXXX";
static char on_disk[] = "/tmp/jprof-fuzz-XXXXXX";
static const char *folder;

/* What the files hold; of a file that is not there yet, NULL. */
static struct {
    uint8_t *bytes;
    size_t size;
} written[sizeof names / sizeof *names];

/* The path of a file of the profile, until the next call. */
static const char *path_of(const char *name)
{
    static char path[64];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void clean_up(void)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path_of(names[i]));
    rmdir(folder);
}

/* Makes a folder, once, which is taken away at the end. */
static void make_folder(void)
{
    if (folder)
        return;
    folder = mkdtemp(in_memory);
    if (!folder)
        folder = mkdtemp(on_disk);
    if (!folder)
        abort();
    atexit(clean_up);
}

/* Writes the file with this index of `names`, unless it holds that already. */
static void put_file(size_t which, const uint8_t *data, size_t size)
{
    int fd;

    if (written[which].bytes && written[which].size == size &&
        memcmp(written[which].bytes, data, size) == 0)
        return;
    fd = open(path_of(names[which]), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
              0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd) != 0)
        abort();
    written[which].bytes = jr_realloc(written[which].bytes, size, 1);
    memcpy(written[which].bytes, data, size);
    written[which].size = size;
}

static void put_files(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t wanted = 0;

        if (size >= sizeof wanted) {
            memcpy(&wanted, data, sizeof wanted);
            data += sizeof wanted;
            size -= sizeof wanted;
        }
        if (wanted > size)
            wanted = (uint32_t)size;
        put_file(i, data, wanted);
        data += wanted;
        size -= wanted;
    }
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

/* What a report with this filter counts. */
static struct jr_stats model(struct jr_filter filter)
{
    /* Nothing is printed: the first warnings are taken as said. */
    struct jr_diag diag = {.warnings = 1000};
    struct jr_load load;
    struct jr_stats total = {0};

    filter.end = UINT64_MAX;
    jr_load_init(&load, "app", &filter, &(struct jr_symbols_options){0}, &diag);
    if (jr_load_log(&load, path_of(names[0])) == 0) {
        jr_model_finish(&load.model);
        sums_of(&load.model);
        total = load.model.total;
    }
    jr_load_free(&load);
    return total;
}

/* Slices of time, each sample being in one. */
static void check_slices(const struct jr_stats *all, uint64_t at_ns)
{
    const struct jr_stats first = model((struct jr_filter){
        .by_clock = 1, .to_ns = at_ns, .has_to = 1, .keep_samples = 1});
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
    make_folder();
    put_files(data, size);
    all = model((struct jr_filter){0});
    threads = model((struct jr_filter){.by_thread = 1, .keep_places = 1});
    /* By sums of stacks and sample by sample: all that is counted. */
    if (memcmp(&all, &threads, sizeof all) != 0)
        abort();
    check_slices(&all, 450);
    return 0;
}
