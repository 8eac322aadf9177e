/* SPDX-License-Identifier: MIT
 *
 * The maps of modellog's processes, and the file of their tree.
 * Runs in: tests, bench. */
#include "modellog.h"

#include <inttypes.h>
#include <string.h>

#include "jp_map.h"

uint64_t slide_of(const struct maker *maker)
{
    return maker->process * SLIDE;
}

uint32_t pid_of(const struct maker *maker)
{
    return PID + maker->process;
}

void path_of(const struct maker *maker, const char *name, char *path,
             size_t size)
{
    if (maker->process == 0)
        snprintf(path, size, "%s/%s", maker->folder, name);
    else
        snprintf(path, size, "%s/%s-%" PRIu32, maker->folder, name,
                 pid_of(maker));
}

/* As in a build: who did what. */
static const struct {
    const char *exe, *comm, *args;
} programs[] = {{"/usr/bin/make", "make", "-j2%00"},
                {"/usr/lib/gcc/cc1", "cc1", "-quiet%00-o%00"},
                {"/usr/bin/as", "as", "--64%00-o%00"},
                {"/usr/bin/ld", "ld", "-o%00"},
                {"/bin/sh", "sh", "-c%00"}};

/* The first one began the others. */
static size_t program_of(const struct maker *maker)
{
    const size_t others = sizeof programs / sizeof *programs - 1;

    return maker->process ? 1 + maker->process % others : 0;
}

const char *exe_of(const struct maker *maker)
{
    return programs[program_of(maker)].exe;
}

static void put_module(const struct maker *maker, const struct mapping *module,
                       uint64_t time_ns, FILE *map)
{
    const uint64_t slide = slide_of(maker);

    fprintf(map,
            "%" PRIu64 " " JP_MAP_MODULE " start=%" PRIx64 " end=%" PRIx64
            " offset=%" PRIx64 " bias=%" PRIx64 " %s\n",
            time_ns, module->start + slide, module->end + slide, module->offset,
            module->bias + slide, module->keys);
}

/* One after the other in the same range, over the whole time. */
static void put_swaps(const struct maker *maker, FILE *map)
{
    const uint64_t each = maker->keys.samples * PERIOD_NS /
                          maker->keys.threads / (maker->keys.swaps + 1);

    if (maker->swaps.count == 0)
        return;
    put_module(maker, maker->swaps.items, BEGIN_NS, map);
    for (uint64_t i = 1; i <= maker->keys.swaps; i++) {
        const struct mapping *old =
            &maker->swaps.items[(i - 1) % maker->swaps.count];

        fprintf(map,
                "%" PRIu64 " " JP_MAP_UNMAP " start=%" PRIx64 " end=%" PRIx64
                "\n",
                BEGIN_NS + i * each, old->start + slide_of(maker),
                old->end + slide_of(maker));
        put_module(maker, &maker->swaps.items[i % maker->swaps.count],
                   BEGIN_NS + i * each, map);
    }
}

void put_map(const struct maker *maker)
{
    const size_t program = program_of(maker);
    char path[4096], log[4096];
    FILE *map;

    path_of(maker, "jprof-log", log, sizeof log);
    path_of(maker, "jprof-map", path, sizeof path);
    map = fopen(path, "wb");
    if (!map)
        fail(path);
    fprintf(map,
            "%" PRIu64 " " JP_MAP_BEGIN " version=%d pid=%" PRIu32
            " start=%u log=%s real=%" PRIu64 "\n"
            "%" PRIu64 " " JP_MAP_PROCESS " pid=%" PRIu32
            " ppid=%u exe=%s cwd=/src "
            "comm=%s cmdline=%s%%00%sunit%u.o%%00\n",
            BEGIN_NS, JP_MAP_VERSION, pid_of(maker), 100 + maker->process,
            strrchr(log, '/') + 1, REAL_NS, BEGIN_NS, pid_of(maker),
            maker->process ? PID : 1, programs[program].exe,
            programs[program].comm, programs[program].comm,
            programs[program].args, maker->process);
    for (size_t i = 0; i < maker->modules.count; i++)
        put_module(maker, &maker->modules.items[i], BEGIN_NS, map);
    for (size_t i = 0; i < maker->anon.count; i++)
        fprintf(map,
                "%" PRIu64 " " JP_MAP_ANON " start=%" PRIx64 " end=%" PRIx64
                "\n",
                BEGIN_NS, maker->anon.items[i].start + slide_of(maker),
                maker->anon.items[i].end + slide_of(maker));
    for (uint32_t i = 0; i < maker->keys.threads; i++)
        fprintf(map,
                "%" PRIu64 " " JP_MAP_THREAD " tid=%" PRIu32 " name=%s%u\n",
                BEGIN_NS, pid_of(maker) + i, i ? "worker" : "main", i);
    for (size_t i = 0; i < maker->lines.count; i++)
        fprintf(map, "%" PRIu64 " %s\n", BEGIN_NS, maker->lines.items[i].keys);
    fprintf(map, "%" PRIu64 " " JP_MAP_SECTION " n=0 cpu=0\n", BEGIN_NS);
    put_swaps(maker, map);
    fprintf(map, "%" PRIu64 " " JP_MAP_EXIT " cpu=%" PRIu64 "\n",
            maker->now_ns + 1, maker->cpu_ns);
    if (fclose(map))
        fail("cannot write a map");
}

void put_child(const struct maker *maker, FILE *tree)
{
    if (maker->process && maker->cpu_ns >= JP_TREE_CPU_MIN_NS)
        fprintf(tree,
                "%" PRIu64 " " JP_TREE_CHILD " root=%u space=1 pid=%" PRIu32
                " ppid=%u cpu=%" PRIu64 "\n",
                maker->now_ns, PID, pid_of(maker), PID, maker->cpu_ns);
}

void put_run(const struct maker *maker, uint64_t cpu_ns, FILE *tree)
{
    fprintf(tree,
            "%" PRIu64 " " JP_TREE_RUN " root=%u pid=%u cpu=%" PRIu64
            " wall=%" PRIu64 " status=0 path=%s args=make%%00-j2%%00\n",
            maker->now_ns, PID, PID, cpu_ns, maker->now_ns - BEGIN_NS,
            programs[0].exe);
}
