/* SPDX-License-Identifier: MIT
 *
 * A process's JIT code from files in a temporary folder, for tests.
 * Runs in: unit tests. */
#ifndef JIT_WORLD_H
#define JIT_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "jitdump_fixture.h"
#include "read/map.h"
#include "symbol/find_code.h"
#include "symbol/jit/jit.h"
#include "symbol/symbol.h"

#define BEGIN                                                                  \
    "100 jprof-map version=1 pid=7 start=99 log=jprof-log\n"                   \
    "1 anon start=1000 end=9000\n"
#define DUMP "10 jitdump path=/nonexistent/d inode=5 size=1 saved=dump\n"

struct world {
    struct jr_diag diag;
    struct jr_map map;
    struct jr_symbols *symbols;
    struct jr_space *space;
};

static char folder[] = "/tmp/jprof-test-XXXXXX";

static inline int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static inline int tear_down(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? 0 : -1;
}

static inline void put_file(const char *name, const void *data, size_t size)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline struct world *build(const char *text)
{
    struct world *world = calloc(1, sizeof *world);

    world->map.path = strdup("map");
    world->map.pid = 7;
    world->map.start_ticks = 99;
    assert_int_equal(jr_map_parse((const uint8_t *)text, strlen(text),
                                  &world->map, &world->diag),
                     0);
    world->symbols =
        jr_symbols_new(&world->diag, &(struct jr_symbols_options){0});
    world->space = jr_space_new(world->symbols, &world->map, folder);
    return world;
}

/* A world with one dump; takes its bytes. */
static inline struct world *build_with(struct bytes *dump, const char *text)
{
    put_file("dump", dump->data, dump->size);
    free(dump->data);
    return build(text);
}

static inline void drop(struct world *world)
{
    jr_space_free(world->space);
    jr_symbols_free(world->symbols);
    jr_map_free(&world->map);
    free(world);
}

static inline const struct jr_frame *find(struct world *world, uint64_t address,
                                          uint64_t time_ns)
{
    struct jr_hit hit, again;

    jr_space_find(world->space, address, time_ns, 0, &hit);
    assert_true(hit.from_ns <= time_ns && time_ns < hit.until_ns);
    /* The answer holds to both ends of its time. */
    jr_space_find(world->space, address, hit.from_ns, 0, &again);
    assert_ptr_equal(again.frames, hit.frames);
    jr_space_find(world->space, address, hit.until_ns - 1, 0, &again);
    assert_ptr_equal(again.frames, hit.frames);
    return hit.frames;
}

/* `name` at the address and time; with a `?` before it, known only later. */
static inline void expect(struct world *world, uint64_t address,
                          uint64_t time_ns, const char *name)
{
    const struct jr_frame *frame = find(world, address, time_ns);
    int late = *name == '?';

    assert_string_equal(frame->name, name + late);
    assert_int_equal(frame->late, late);
}

#endif
