/* SPDX-License-Identifier: MIT
 *
 * What handlers in several threads do at once, without signals: the handler is
 * called as a function, beside threads that take and give back records, change
 * the map of memory, look rules up and give commands.  The build with
 * ThreadSanitizer (make tsan-collector) says where two of them meet without
 * order; every build checks that the log has each sample once.
 * Runs in: tests. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "in_range.h"
#include "../../preload/sig/adopt.h"
#include "../../preload/sig/unwind/cfi/cfi_cache.h"
#include "../../preload/sig/clock/clock.h"
#include "../../preload/sig/clock/clock_timer.h"
#include "../../preload/sig/control.h"
#include "../../preload/sig/handler.h"
#include "../../preload/sig/sampling.h"
#include "../../preload/sig/jit/jit.h"
#include "../../preload/sig/state/buffer.h"
#include "../../preload/sig/log/log.h"
#include "../../preload/sig/logfile.h"
#include "../../preload/sig/code/maps.h"
#include "../../preload/sig/files/names.h"
#include "../../preload/sig/state/process.h"
#include "../../preload/sig/state/thread.h"
#include "../../preload/sig/os/sys.h"
#include "../../preload/sig/files/notes.h"

#define SAMPLERS 4
#define LIVES 30   /* records that a sampler has, one by one */
#define SAMPLES 40 /* in each */
#define KEPT 16    /* rounds of commands after which a ring stays */
#define PERIOD_NS 100000000000ULL /* its timers never run out */

#ifdef __SANITIZE_THREAD__
/* thread.c says why clear_sig is none.  gcc 16 makes a call of memset there,
 * which the runtime looks at whatever the function's attribute says. */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:^clear_sig$\n";
}

/* See tests/sanitize.mk. */
void __wrap_jp_sys_unmap_sig(void *address, size_t size);
void __wrap_jp_sys_unmap_sig(void *address, size_t size)
{
    munmap(address, size);
}
#endif

static struct jp_owner owner;
static pthread_barrier_t ready;
static _Atomic int done;
static _Atomic uint64_t taken; /* samples, each of PERIOD_NS */
static _Atomic uint64_t values[SAMPLERS];

static unsigned rounds(void)
{
    const char *text = getenv("JPROF_RACE_ROUNDS");
    return text != NULL ? (unsigned)atoi(text) : 1;
}

/* A name for the profile's folder; everything in it goes in the end. */
static int set_up(void **state)
{
    const char *base = getenv("TMPDIR");
    (void)state;
    snprintf(jp_process.folder, 96, "%.60s/jprof-race-XXXXXX",
             base != NULL ? base : "/tmp");
    if (mkdtemp(jp_process.folder) == NULL || jp_threads_init_sig() != 0)
        return -1;
    signal(SIGPROF, SIG_IGN);
    jp_process.page_size = 4096;
    jp_process.tick_ns = 4000000;
    jp_process.clock = &jp_clock_timer;
    jp_process.signal = SIGPROF;
    jp_config.wanted = 1;
    jp_config.depth = 64;
    jp_config.walker = JP_WALKER_AUTO;
    jp_config.period_ns = PERIOD_NS;
    return 0;
}

static int tear_down(void **state)
{
    char path[512];
    struct dirent *entry;
    DIR *folder = opendir(jp_process.folder);
    (void)state;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        snprintf(path, sizeof(path), "%.96s/%.255s", jp_process.folder,
                 entry->d_name);
        unlink(path);
    }
    closedir(folder);
    return rmdir(jp_process.folder);
}

/* Calls the handler as the kernel does when the record's timer has run out. */
__attribute__((noinline)) static void sample(uint64_t value, int depth)
{
    siginfo_t info;
    ucontext_t context;
    if (depth > 0) {
        sample(value, depth - 1);
        __asm__ volatile("" ::: "memory"); /* no tail call */
        return;
    }
    memset(&info, 0, sizeof(info));
    getcontext(&context);
    info.si_code = SI_TIMER;
    info.si_value.sival_ptr = (void *)value;
    jp_handler_sig(SIGPROF, &info, &context);
    atomic_fetch_add(&taken, 1);
}

/* What preload/hooks/threads/threads.c does when a thread ends. */
static void end_life(struct jp_thread *thread)
{
    jp_clock_end_sig(thread);
    jp_sampling_flush_time_sig(thread);
    if (thread->buffer != NULL) {
        jp_sampling_flush_sig(thread->buffer);
        jp_names_update_sig(thread);
        jp_buffer_return_sig(thread->buffer);
    }
    jp_thread_end_sig(thread, jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID));
}

/* Lives of a thread, one after the other, by turns with a root that is known
 * and without. */
static void *sampler(void *data)
{
    const unsigned number = (unsigned)(uintptr_t)data;
    const uint64_t root = (uint64_t)__builtin_frame_address(0);
    pthread_barrier_wait(&ready);
    for (unsigned life = 0; life < LIVES * rounds(); life++) {
        struct jp_thread *thread =
            jp_adopt_self_sig((life & 1) != 0 ? root : 0);
        if (thread == NULL)
            return "no record";
        const uint64_t value = jp_thread_value_sig(thread);
        atomic_store(&values[number], value);
        if (jp_thread_by_value_sig(value) != thread)
            return "another has the record";
        for (int i = 0; i < SAMPLES; i++) {
            sample(value, i % 7);
            /* No timer of the thread's has run out by its CPU clock, so its
             * overrun count is to be believed behind the first sample, too. */
            thread->clock.skipped = 0;
        }
        end_life(thread);
        if (jp_thread_by_value_sig(value) != NULL)
            return "a record outlives its thread";
    }
    return NULL;
}

/* Looks the others' records up, as a signal that comes late does. */
static void *finder(void *data)
{
    uint64_t found = 0;
    (void)data;
    pthread_barrier_wait(&ready);
    while (!atomic_load(&done)) {
        for (unsigned i = 0; i < SAMPLERS; i++)
            found += jp_thread_by_value_sig(atomic_load(&values[i])) != NULL;
        found += jp_thread_by_tid_sig(jp_sys_gettid_sig()) != NULL;
        found += jp_thread_by_tid_sig(1U << 30) != NULL;
    }
    return found > UINT64_MAX / 2 ? "too many" : NULL;
}

/* Memory with code comes and goes, of files and without. */
static void *mapper(void *data)
{
    const int prot = PROT_READ | PROT_EXEC;
    const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct jp_maps_range range;
    uint64_t start, end;
    (void)data;
    pthread_barrier_wait(&ready);
    while (!atomic_load(&done)) {
        void *file = mmap(NULL, 1 << 20, prot, MAP_PRIVATE, fd, 0);
        void *code = mmap(NULL, 8192, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        jp_maps_dirty_sig();
        jp_maps_refresh_sig(jp_sys_clock_sig(CLOCK_MONOTONIC));
        jp_maps_find_sig((uint64_t)file, &range);
        jp_maps_anonymous_sig((uint64_t)code);
        jp_maps_region_sig((uint64_t)code, &start, &end);
        munmap(file, 1 << 20);
        munmap(code, 8192);
        jp_maps_scan_sig();
    }
    close(fd);
    return NULL;
}

/* Rules for many pcs, in the C library and in memory that comes and goes. */
static void *unwinder(void *data)
{
    struct jp_cfi_rule rule;
    struct jp_maps_range range;
    uint64_t rows[JP_CFI_ROWS];
    uint64_t pc = (uint64_t)printf + (uintptr_t)data * 64;
    (void)data;
    pthread_barrier_wait(&ready);
    while (!atomic_load(&done)) {
        void *code = mmap(NULL, 65536, PROT_READ | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        struct jp_buffer *buffer = jp_buffer_take_sig();
        for (unsigned i = 0; i < 200; i++) {
            jp_cfi_lookup_sig(pc + i * 16, jp_maps_epoch_sig(), rows, &rule);
            jp_maps_find_sig(pc + i * 4096, &range);
        }
        if (buffer != NULL) {
            jp_maps_check_buffer_sig(buffer);
            jp_maps_executable_sig(buffer, (uint64_t)code + 100);
            jp_maps_executable_sig(buffer, pc);
            jp_buffer_return_sig(buffer);
        }
        munmap(code, 65536);
    }
    return NULL;
}

static void *commander(void *data)
{
    (void)data;
    pthread_barrier_wait(&ready);
    for (unsigned round = 0; !atomic_load(&done); round++) {
        const int is_kept = round < KEPT;
        jp_control_sig(JP_CONTROL_START);
        if (is_kept)
            jp_control_sig(JP_CONTROL_SAVE);
        jp_note_sig(JP_NOTE_CLOCK_SHARED);
        jp_control_sig(JP_CONTROL_CLEAR);
        if (is_kept)
            jp_control_sig(JP_CONTROL_PAUSE);
    }
    return NULL;
}

/* The weight of the samples in a chunk, by the words of doc/FORMAT.md. */
static uint64_t chunk_weight(const uint8_t *chunk, uint32_t size)
{
    uint64_t weight = 0;
    for (uint32_t at = JP_CHUNK_HEADER_SIZE; at + 8 <= size;) {
        struct jp_record head;
        struct jp_sample_record record;
        memcpy(&head, chunk + at, sizeof(head));
        if (head.type == 0)
            break;
        assert_true(head.words > 0 && at + head.words * 8U <= size);
        if (head.type == JP_RECORD_SAMPLE) {
            memcpy(&record, chunk + at, sizeof(record));
            weight += JP_SAMPLE_WEIGHT(record.weight_stack);
        }
        at += head.words * 8U;
    }
    return weight;
}

/* The weight of all samples in the log, and of those that it counts as lost. */
static uint64_t log_weight(uint64_t *lost)
{
    struct stat info;
    const int fd = open(jp_log.path, O_RDONLY);
    assert_int_equal(fstat(fd, &info), 0);
    const size_t size = (size_t)info.st_size;
    const uint8_t *log = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    const struct jp_log_header *header = (const struct jp_log_header *)log;
    uint64_t weight = 0;
    close(fd);
    assert_true(log != MAP_FAILED);
    assert_memory_equal(header->magic, JP_LOG_MAGIC, 8);
    *lost = header->counters[JP_COUNT_LOST_NS];
    for (size_t at = JP_LOG_HEADER_SIZE; at < size;) {
        struct jp_chunk_header chunk;
        memcpy(&chunk, log + at, sizeof(chunk));
        if (chunk.magic != JP_CHUNK_MAGIC) {
            at += JP_LOG_ALIGN; /* taken and not used */
            continue;
        }
        assert_true(chunk.size <= size - at);
        weight += chunk_weight(log + at, chunk.size);
        at += chunk.size;
    }
    munmap((void *)(uintptr_t)log, size);
    return weight;
}

/* All at once, on a profile of their own. */
static void run(void)
{
    static void *(*const others[])(void *) = {finder, mapper, unwinder,
                                              unwinder, commander};
    enum { OTHERS = sizeof(others) / sizeof(others[0]) };
    pthread_t threads[SAMPLERS + OTHERS];
    void *wrong;
    atomic_store(&done, 0);
    atomic_store(&taken, 0);
    atomic_store(&jp_process.sections, 0);
    pthread_barrier_init(&ready, NULL, SAMPLERS + OTHERS + 1);
    for (uintptr_t i = 0; i < SAMPLERS + OTHERS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL,
                           i < SAMPLERS ? sampler : others[i - SAMPLERS],
                           (void *)i),
            0);
    /* The hook on pthread_create has seen no profile. */
    owner.pid = (uint32_t)getpid();
    jp_owner = &owner;
    pthread_barrier_wait(&ready);
    for (unsigned i = 0; i < SAMPLERS + OTHERS; i++) {
        if (i == SAMPLERS)
            atomic_store(&done, 1);
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    jp_control_sig(JP_CONTROL_PAUSE);
    jp_jit_save_sig(1);
    pthread_barrier_destroy(&ready);
    assert_int_equal(atomic_load(&jp_log.state), JP_LOG_READY);
}

static void forget(void)
{
    jp_owner = NULL;
    jp_logfile_reset_sig();
    jp_jit_reset_sig();
    jp_buffers_reset_sig();
    jp_threads_reset_sig();
}

static void test_each_sample_once(void **state)
{
    uint64_t lost;
    (void)state;
    run();
    const uint64_t weight = log_weight(&lost);
    assert_int_equal(lost, 0);
    /* Each thread's first sample has its CPU time so far as well. */
    assert_int_equal(weight / PERIOD_NS, atomic_load(&taken));
    forget();
}

/* Chunks change hands all the time: more threads than there are chunks. */
static void test_ring(void **state)
{
    uint64_t lost;
    (void)state;
    jp_config.ring_bytes = 3 * JP_CHUNK_MIN;
    run();
    const uint64_t weight = log_weight(&lost);
    assert_uint_in_range((weight + lost) / PERIOD_NS, 1, atomic_load(&taken));
    assert_true(jp_log.header->counters[JP_COUNT_RING_REUSED] > 0);
    forget();
    jp_config.ring_bytes = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_sample_once),
        cmocka_unit_test(test_ring),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
