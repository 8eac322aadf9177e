/* SPDX-License-Identifier: MIT
 *
 * A thread asks for the rule of code in a library which another thread loads
 * and unloads meanwhile, by turns with a second one that is alike but for the
 * size of a frame and comes to the same address.  No fault; and while a
 * library is there, the rule is that library's.  JP_RACE_TURNS says how often
 * (20,000; `make check-churn` 100,000).
 * Runs in: tests. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../preload/sig/unwind/cfi/cfi_run.h"
#include "../../preload/sig/unwind/cfi/cfi_cache.h"
#include "../../preload/sig/state/buffer.h"
#include "../../preload/sig/code/maps.h"
#include "../../preload/sig/state/thread.h"
#include "../../preload/sig/os/sys.h"

static char paths[2][4096];
static long turns = 20000;

/* What the loader says: odd while a library is there, its number in bit 1. */
static _Atomic uint64_t state;
static _Atomic uint64_t place;      /* of the return address in swap_hold */
static _Atomic unsigned long asked; /* how often the other thread looked */
static _Atomic int over, failed;
static int32_t sizes[2]; /* CFA - sp at the call in each */
static uint64_t returned;

static void note_return(void *data)
{
    (void)data;
    returned = (uint64_t)__builtin_return_address(0);
}

static uint64_t load(int which, void **library)
{
    void (*hold)(void (*)(void *), void *);
    *library = dlopen(paths[which], RTLD_NOW);
    if (*library == NULL)
        return 0;
    *(void **)&hold = dlsym(*library, "swap_hold");
    hold(note_return, NULL);
    return returned;
}

/* Every eighth turn lasts until the other thread looked twice, one of these
 * wholly within it, however slow a look is (AddressSanitizer) and whoever else
 * has the CPU.  The others end at any moment of a look. */
static void stay(long turn)
{
    if (turn % 8 == 0) {
        const unsigned long since = atomic_load(&asked);
        while (atomic_load(&asked) < since + 3 && !atomic_load(&failed))
            sched_yield();
    }
    for (long spin = turn * 37 % 3000; spin > 0; spin--)
        atomic_signal_fence(memory_order_seq_cst);
    if (turn % 16 == 1)
        sched_yield();
}

static void *swap(void *data)
{
    for (long i = 0; i < turns && !failed; i++) {
        const int which = (int)(i * 7 / 3 % 2);
        void *library;
        uint64_t at = load(which, &library);
        if (at == 0) {
            atomic_store(&failed, 1);
            break;
        }
        atomic_store(&place, at);
        atomic_store(&state, (uint64_t)i << 2 | (uint64_t)which << 1 | 1);
        stay(i);
        atomic_store(&state, (uint64_t)i << 2);
        dlclose(library);
    }
    atomic_store(&over, 1);
    return data;
}

static int rule_now(struct jp_buffer *buffer, uint64_t pc,
                    struct jp_cfi_rule *rule)
{
    jp_maps_refresh_sig(jp_sys_clock_sig(CLOCK_MONOTONIC));
    jp_maps_check_buffer_sig(buffer);
    return jp_cfi_lookup_sig(pc - 1, buffer->maps_epoch, buffer->rows, rule);
}

static struct jp_buffer *begin(void)
{
    raise(SIGPROF); /* makes the log, the map, the buffer */
    struct jp_thread *thread =
        jp_thread_by_tid_sig((uint32_t)syscall(SYS_gettid));
    assert_non_null(thread);
    assert_non_null(thread->buffer);
    return thread->buffer;
}

static void test_race(void **unused)
{
    struct jp_buffer *buffer = begin();
    struct jp_cfi_rule rule;
    pthread_t thread;
    unsigned long held = 0, found[2] = {0, 0};
    (void)unused;
    for (int which = 0; which < 2; which++) {
        void *library;
        uint64_t at = load(which, &library);
        assert_int_not_equal(at, 0);
        jp_maps_dirty_sig();
        assert_int_equal(rule_now(buffer, at, &rule), 0);
        assert_int_equal(rule.kind, JP_CFI_REGISTER);
        sizes[which] = rule.offset;
        dlclose(library);
    }
    assert_int_not_equal(sizes[0], sizes[1]);
    assert_int_equal(pthread_create(&thread, NULL, swap, NULL), 0);
    while (!atomic_load(&over)) {
        const uint64_t before = atomic_load(&state);
        const uint64_t at = atomic_load(&place);
        atomic_fetch_add(&asked, 1);
        int error = rule_now(buffer, at, &rule);
        if ((before & 1) == 0 || atomic_load(&state) != before)
            continue;
        held++;
        if (error != 0 || rule.kind != JP_CFI_REGISTER)
            continue; /* not to be had just then */
        const int which = (int)(before >> 1 & 1);
        found[which]++;
        if (rule.offset != sizes[which]) {
            atomic_store(&failed, 1);
            print_error("turn %lu: the other library's rule, %d\n",
                        (unsigned long)(before >> 2), rule.offset);
            break;
        }
    }
    pthread_join(thread, NULL);
    print_message("asked %lu times, %lu while one library stayed, found %lu "
                  "and %lu\n",
                  atomic_load(&asked), held, found[0], found[1]);
    assert_int_equal(failed, 0);
    assert_true(found[0] > (unsigned long)turns / 50);
    assert_true(found[1] > (unsigned long)turns / 50);
}

/* The libraries are built beside this program's folder. */
static int find_libraries(void)
{
    char self[3800];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length <= 0)
        return 0;
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    snprintf(paths[0], sizeof(paths[0]), "%s/../programs/swap_a.so", self);
    snprintf(paths[1], sizeof(paths[1]), "%s/../programs/swap_b.so", self);
    return 1;
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/jprof-race-XXXXXX", flags[128], path[128];
    (void)argc;
    if (getenv("RACE_FOLDER") == NULL) {
        if (mkdtemp(folder) == NULL)
            return 99;
        snprintf(flags, sizeof(flags),
                 "JP_START JP_PERIOD=3600 JP_FILENAME=%s/log", folder);
        setenv("JPROF_FLAGS", flags, 1);
        setenv("RACE_FOLDER", folder, 1);
        execv("/proc/self/exe", argv);
        return 99;
    }
    if (getenv("JP_RACE_TURNS") != NULL)
        turns = atol(getenv("JP_RACE_TURNS"));
    if (!find_libraries())
        return 99;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_race)};
    int result = cmocka_run_group_tests(tests, NULL, NULL);
    static const char *const made[] = {"log", "map"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%s/%s", getenv("RACE_FOLDER"), made[i]);
        unlink(path);
    }
    rmdir(getenv("RACE_FOLDER"));
    return result;
}
