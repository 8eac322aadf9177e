/* SPDX-License-Identifier: MIT
 *
 * The table of threads' records.
 * Runs in: handler, any thread. */
#include "thread.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "sig/os/freelist.h"
#include "sig/os/sys.h"
#include "process.h"

uint64_t jp_thread_start_low, jp_thread_start_high;

#define HINTS 4096U

/* Tells our values from a program's: never a user-space address, whose bits
 * from 47 on are zero, and the generation takes 32 of them. */
#define VALUE_TAG 0x6a700000ULL
#define VALUE_TAG_MASK 0xfff00000ULL
#define VALUE_INDEX_MASK 0x000fffffULL

static struct jp_thread *threads;
static _Atomic uint32_t threads_used;
static _Atomic uint32_t threads_taken;
static _Atomic uint32_t adoptions;

static struct jp_freelist free_threads;

static _Thread_local struct jp_thread *mine;

/* Where a thread id was last seen; a wrong hint costs a search. */
static _Atomic uint32_t hints[HINTS];

/* Ids of threads that gave their records back, and their CPU time then: such a
 * thread goes on for a moment, and is not to be adopted as a new one. */
static _Atomic uint32_t ended[HINTS];
static _Atomic uint64_t ended_ns[HINTS];
/* CPU time of threads: before their clocks began; of those that have ended, in
 * all until then. */
static _Atomic uint64_t before_ns, until_ns;
static _Atomic uint64_t gone_ns; /* jp_threads_since_sig */

int jp_threads_init_sig(void)
{
    if (threads != NULL)
        return 0;
    void *memory =
        jp_sys_memory_sig(sizeof(*threads) * JP_THREADS_MAX, JP_FORK_WIPE);
    if (memory == NULL)
        return -ENOMEM;
    threads = memory;
    return 0;
}

/* Other threads that loop over all records look at the state first, or hold
 * the record.  One of them may read a field here while it is being cleared,
 * but then does nothing with it that the new thread could notice.
 * (ThreadSanitizer would have each field be atomic.) */
__attribute__((no_sanitize("thread"))) static void
clear_sig(struct jp_thread *thread)
{
    thread->adoptions = atomic_load(&adoptions);
    thread->adopted = 0;
    thread->buffer = NULL;
    thread->clock = (struct jp_thread_clock){
        .timer = -1, .cpu_wakeup = -1, .descriptor = -1};
    jp_budget_begin_sig(&thread->clock.budget);
    thread->stack =
        (struct jp_thread_stack){.low = UINT64_MAX, .floor = UINT64_MAX};
    thread->hooks = (struct jp_thread_hooks){0};
    thread->name = (struct jp_thread_name){.unwritten = 1};
    thread->last = (struct jp_thread_last){0};
}

struct jp_thread *jp_thread_new_sig(void)
{
    uint32_t index = jp_freelist_pop_sig(&free_threads);
    if (index == JP_FREELIST_NONE)
        index = jp_freelist_extend_sig(&threads_used);
    if (index == JP_FREELIST_NONE)
        return NULL;
    struct jp_thread *thread = &threads[index];
    atomic_fetch_add(&threads_taken, 1);
    thread->generation++;
    thread->tid = 0;
    clear_sig(thread);
    atomic_store(&thread->busy, 0);
    atomic_store(&thread->state, JP_THREAD_NEW);
    return thread;
}

static int live_sig(const struct jp_thread *thread)
{
    return atomic_load(&thread->state) >= JP_THREAD_IDLE;
}

void jp_thread_begin_sig(struct jp_thread *thread, uint32_t tid)
{
    atomic_compare_exchange_strong(&ended[tid % HINTS], &(uint32_t){tid}, 0);
    thread->tid = tid;
    atomic_store(&hints[tid % HINTS], (uint32_t)(thread - threads));
    atomic_store(&thread->state, JP_THREAD_IDLE);
}

void jp_thread_end_sig(struct jp_thread *thread, uint64_t cpu_ns)
{
    const uint32_t hint = thread->tid % HINTS;
    atomic_store(&ended[hint], 0);
    atomic_store(&ended_ns[hint], cpu_ns);
    atomic_store(&ended[hint], thread->tid);
    atomic_fetch_add(&until_ns, cpu_ns);
    jp_thread_free_sig(thread);
}

/* ~tid in the upper bits, then "per thread" (4) and "scheduler time" (2); Linux
 * posix-timers_types.h. */
clockid_t jp_thread_clock_of_sig(uint32_t tid)
{
    return (clockid_t)(~tid << 3 | 6U);
}

void jp_thread_armed_sig(uint64_t cpu_ns)
{
    atomic_fetch_add(&before_ns, cpu_ns);
}

uint64_t jp_threads_ended_sig(void)
{
    return atomic_load(&until_ns);
}

/* Takes off *cpu_ns, of the process, what the clocks of its threads show.
 * Returns 0 where one cannot be read, behind a filter of the program's. */
static int unclaimed_sig(uint64_t *cpu_ns)
{
    const uint32_t used = atomic_load(&threads_used);
    uint64_t known = atomic_load(&until_ns);
    for (uint32_t i = 0; i < used; i++) {
        const uint32_t tid = threads[i].tid;
        if (atomic_load(&threads[i].state) < JP_THREAD_IDLE || tid == 0)
            continue;
        const uint64_t own = jp_sys_clock_sig(jp_thread_clock_of_sig(tid));
        if (own == 0)
            return 0;
        known += own;
    }
    *cpu_ns = *cpu_ns > known ? *cpu_ns - known : 0;
    return 1;
}

void jp_threads_since_sig(uint64_t cpu_ns)
{
    atomic_store(&gone_ns, unclaimed_sig(&cpu_ns) ? cpu_ns : 0);
}

void jp_threads_add_gone_sig(uint64_t cpu_ns)
{
    atomic_fetch_add(&gone_ns, cpu_ns);
}

uint64_t jp_threads_gone_sig(void)
{
    return atomic_load(&gone_ns);
}

uint64_t jp_threads_edges_sig(uint64_t cpu_ns)
{
    const uint64_t before = atomic_load(&before_ns);
    const uint64_t gone = atomic_load(&gone_ns);
    return unclaimed_sig(&cpu_ns) && cpu_ns > gone ? before + cpu_ns - gone
                                                   : before;
}

void jp_thread_free_sig(struct jp_thread *thread)
{
    thread->generation++;
    thread->tid = 0;
    atomic_store(&thread->state, JP_THREAD_FREE);
    atomic_fetch_sub(&threads_taken, 1);
    jp_freelist_push_sig(&free_threads, (uint32_t)(thread - threads));
}

uint64_t jp_thread_value_sig(const struct jp_thread *thread)
{
    return (uint64_t)thread->generation << 32 | VALUE_TAG |
           (uint64_t)(thread - threads);
}

int jp_thread_is_value_sig(uint64_t value)
{
    return (value & VALUE_TAG_MASK) == VALUE_TAG && value >> 32 != 0;
}

struct jp_thread *jp_thread_by_value_sig(uint64_t value)
{
    uint32_t index = value & VALUE_INDEX_MASK;
    if (!jp_thread_is_value_sig(value) || index >= atomic_load(&threads_used))
        return NULL;
    struct jp_thread *thread = &threads[index];
    return thread->generation == value >> 32 && live_sig(thread) ? thread
                                                                 : NULL;
}

struct jp_thread *jp_thread_hinted_sig(uint32_t tid)
{
    const uint32_t hint = atomic_load(&hints[tid % HINTS]);
    return hint < atomic_load(&threads_used) && threads[hint].tid == tid &&
                   live_sig(&threads[hint])
               ? &threads[hint]
               : NULL;
}

struct jp_thread *jp_thread_by_tid_sig(uint32_t tid)
{
    struct jp_thread *hinted = jp_thread_hinted_sig(tid);
    const uint32_t used = atomic_load(&threads_used);
    if (hinted != NULL)
        return hinted;
    for (uint32_t i = 0; i < used; i++) {
        if (threads[i].tid == tid && live_sig(&threads[i])) {
            atomic_store(&hints[tid % HINTS], i);
            return &threads[i];
        }
    }
    return NULL;
}

struct jp_thread *jp_thread_here_sig(uint64_t sp)
{
    struct jp_thread *thread = mine;
    return thread != NULL && live_sig(thread) && sp >= thread->stack.low &&
                   sp < thread->stack.high
               ? thread
               : NULL;
}

void jp_thread_remember_sig(struct jp_thread *thread)
{
    mine = thread;
}

uint32_t jp_thread_count_adoptions_sig(uint32_t more)
{
    return atomic_fetch_add(&adoptions, more) + more;
}

uint64_t jp_thread_ended_cpu_sig(uint32_t tid)
{
    const uint64_t cpu_ns = atomic_load(&ended_ns[tid % HINTS]);
    return atomic_load(&ended[tid % HINTS]) == tid ? cpu_ns : 0;
}

struct jp_thread *jp_thread_other_sig(const struct jp_thread *thread)
{
    const uint32_t used = atomic_load(&threads_used);
    for (uint32_t i = 0; i < used; i++) {
        if (&threads[i] != thread && threads[i].tid == thread->tid &&
            live_sig(&threads[i]))
            return &threads[i];
    }
    return NULL;
}

int jp_thread_is_gone_sig(uint32_t tid)
{
    return tid == 0 ||
           jp_sys_sig(SYS_tgkill, jp_owner->pid, tid, 0, 0, 0) == -ESRCH;
}

void jp_thread_retire_sig(struct jp_thread *thread)
{
    thread->adopted = 1;
    thread->tid = 0;
}

uint32_t jp_thread_index_sig(const struct jp_thread *thread)
{
    return (uint32_t)(thread - threads);
}

uint32_t jp_threads_taken_sig(void)
{
    return atomic_load(&threads_taken);
}

uint32_t jp_threads_used_sig(void)
{
    return atomic_load(&threads_used);
}

struct jp_thread *jp_thread_at_sig(uint32_t index)
{
    return &threads[index];
}

void jp_threads_reset_sig(void)
{
    uint32_t used = atomic_load(&threads_used);
    /* They are zeros already, unless the kernel knows no MADV_WIPEONFORK. */
    for (uint32_t i = 0; i < used; i++) {
        if (atomic_load(&threads[i].state) != JP_THREAD_FREE)
            memset(&threads[i], 0, sizeof(threads[i]));
    }
    atomic_store(&before_ns, 0);
    atomic_store(&until_ns, 0);
    atomic_store(&gone_ns, 0);
    atomic_store(&threads_used, 0);
    atomic_store(&threads_taken, 0);
    atomic_store(&free_threads.head, 0);
}
