/* SPDX-License-Identifier: MIT
 *
 * Threads that nobody announced: found once, freed when they are gone, not
 * found again on their way out, and never with two records for long.  The
 * threads are a list of the test's, which the kernel's folder and its answers
 * about threads are made of.
 * Runs in: tests. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_kernel.h"
#include "../../preload/sig/adopt.h"
#include "../../preload/sig/clock/clock.h"
#include "../../preload/sig/wall/clock_real.h"
#include "../../preload/sig/clock/clock_timer.h"
#include "../../preload/sig/clock/process_timer.h"
#include "../../preload/sig/state/buffer.h"
#include "../../preload/sig/state/process.h"
#include "../../preload/sig/state/thread.h"

#define MS 1000000ULL
#define THREADS 300
#define ENTRY 32 /* bytes of an entry of the folder */
#define STEP 64U /* threads that a step sees, and records */

static struct jp_owner owner;
static struct task {
    uint32_t tid;
    int alive;
    uint64_t cpu_ns;
} tasks[THREADS];
static unsigned task_count;
static long at;        /* in the folder */
static unsigned reads; /* of the folder */
static uint32_t lists; /* a thread that is of another process */
/* What happens in the middle: at the first such call for that thread. */
static struct {
    long number;
    uint32_t tid;
    void (*event)(uint32_t tid);
} meanwhile;

static struct task *task_of(uint32_t tid)
{
    for (unsigned i = 0; i < task_count; i++) {
        if (tasks[i].tid == tid)
            return &tasks[i];
    }
    return NULL;
}

static uint64_t cpu_of(uint32_t tid)
{
    const struct task *task = task_of(tid);
    return task != NULL ? task->cpu_ns : 0;
}

/* getdents64(2), of the living. */
static long list(uint8_t *out, size_t size)
{
    uint8_t *begin = out;
    reads++;
    for (; at < (long)task_count + 2; at++) {
        const struct task *task = at < 2 ? NULL : &tasks[at - 2];
        const uint64_t next = (uint64_t)at + 1;
        const uint16_t length = ENTRY;
        if (task != NULL && !task->alive)
            continue;
        if ((size_t)(out - begin) + ENTRY > size)
            break;
        memset(out, 0, ENTRY);
        memcpy(out + 8, &next, sizeof(next));
        memcpy(out + 16, &length, sizeof(length));
        if (task == NULL)
            out[19] = '.';
        else
            snprintf((char *)out + 19, 12, "%u", task->tid);
        out += ENTRY;
    }
    return out - begin;
}

static void let_happen(long number, uint32_t tid)
{
    void (*event)(uint32_t) = meanwhile.event;
    if (event == NULL || meanwhile.number != number || meanwhile.tid != tid)
        return;
    meanwhile.event = NULL;
    event(tid);
}

static int answers(long number, const long a[5], long *result)
{
    const struct task *task;
    switch (number) {
    case SYS_getdents64:
        *result = list((uint8_t *)a[1], (size_t)a[2]);
        let_happen(number, 0);
        return 1;
    case SYS_lseek:
        *result = at = a[1];
        return 1;
    case SYS_tgkill:
        task = task_of((uint32_t)a[1]);
        *result = a[0] != (long)owner.pid || task == NULL || !task->alive ||
                          task->tid == lists
                      ? -ESRCH
                      : 0;
        if (a[1] == 0)
            *result = -EINVAL;
        let_happen(number, (uint32_t)a[1]);
        return 1;
    case SYS_timer_create:
        let_happen(number, ~((uint32_t)a[0] >> 3) & 0x1fffffffU);
        return 0;
    default:
        return 0;
    }
}

static int set_up(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof(fake));
    memset(&meanwhile, 0, sizeof(meanwhile));
    task_count = reads = 0;
    lists = 0;
    fake.answers = answers;
    fake.cpu_of = cpu_of;
    fake.now_ns = 1000 * JP_NS;
    owner.pid = (uint32_t)getpid();
    jp_process.page_size = 4096;
    jp_process.tick_ns = 4 * MS;
    jp_process.clock = &jp_clock_timer;
    jp_process.signal = SIGPROF;
    jp_config.period_ns = 10 * MS;
    jp_config.depth = 64;
    atomic_store(&jp_process.running, 1);
    if (jp_threads_init_sig() != 0)
        return -1;
    jp_threads_reset_sig();
    jp_adopt_reset_sig();
    jp_process_timer_reset_sig();
    return 0;
}

/* Calls it as in a process of jprof's; no longer, as this test's own calls
 * lead to the hooks then. */
static void as_ours(void (*function)(void))
{
    jp_owner = &owner;
    function();
    jp_owner = NULL;
}

static void step(void)
{
    as_ours(jp_adopt_step_sig);
}

static struct task *add(uint32_t tid, uint64_t cpu_ns)
{
    struct task *task = &tasks[task_count++];
    *task = (struct task){tid, 1, cpu_ns};
    return task;
}

/* The live records of a thread. */
static unsigned records_of(uint32_t tid)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < jp_threads_used_sig(); i++) {
        const struct jp_thread *thread = jp_thread_at_sig(i);
        count +=
            atomic_load(&thread->state) >= JP_THREAD_IDLE && thread->tid == tid;
    }
    return count;
}

static unsigned timers(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < FAKE_TIMERS; i++)
        count += fake.timers[i].made != 0;
    return count;
}

/* What the hook on pthread_create does for a thread. */
static struct jp_thread *announce(uint32_t tid)
{
    struct jp_thread *thread = jp_thread_new_sig();
    jp_adopt_begin_sig(thread, tid);
    return thread;
}

static void test_found_once(void **state)
{
    (void)state;
    for (uint32_t tid = 1001; tid <= 1150; tid++)
        add(tid, 0);
    announce(1100);
    as_ours(jp_adopt_all_sig);
    as_ours(jp_adopt_all_sig);
    step();
    for (uint32_t tid = 1001; tid <= 1150; tid++) {
        assert_int_equal(records_of(tid), 1);
        const struct jp_thread *thread = jp_thread_by_tid_sig(tid);
        assert_int_equal(thread->adopted, tid != 1100);
        assert_int_equal(atomic_load(&thread->state),
                         tid != 1100 ? JP_THREAD_ARMED : JP_THREAD_IDLE);
    }
    assert_int_equal(jp_threads_taken_sig(), 150);
    assert_int_equal(timers(), 149);
}

/* Without a running profile nothing is armed. */
static void test_not_armed(void **state)
{
    (void)state;
    atomic_store(&jp_process.running, 0);
    add(1001, 0);
    as_ours(jp_adopt_all_sig);
    assert_int_equal(records_of(1001), 1);
    assert_int_equal(timers(), 0);
}

/* Of an outer pid namespace, or of a thread that ended just now. */
static void test_number_of_nobody(void **state)
{
    (void)state;
    add(1001, 0);
    add(1002, 0);
    lists = 1001;
    as_ours(jp_adopt_all_sig);
    assert_int_equal(records_of(1001), 0);
    assert_int_equal(records_of(1002), 1);
    assert_int_equal(jp_threads_taken_sig(), 1);
}

/* A step sees a part; where one ends the next begins, and after the last the
 * first. */
static void test_slices(void **state)
{
    (void)state;
    for (uint32_t tid = 1001; tid <= 1150; tid++)
        add(tid, 0);
    step();
    assert_int_equal(jp_threads_taken_sig(), STEP - 2); /* "." and ".." */
    assert_int_equal(records_of(1001), 1);
    step();
    assert_int_equal(jp_threads_taken_sig(), 2 * STEP - 2);
    step();
    assert_int_equal(jp_threads_taken_sig(), 150);
    tasks[0].tid = 900;
    step();
    assert_int_equal(records_of(900), 1);
    /* A start begins at the first, wherever a step was. */
    tasks[0].tid = 901;
    as_ours(jp_adopt_all_sig);
    assert_int_equal(records_of(901), 1);
}

static void test_gone(void **state)
{
    (void)state;
    struct task *one = add(1001, 0);
    add(1002, 0);
    as_ours(jp_adopt_all_sig);
    struct jp_thread *thread = jp_thread_by_tid_sig(1001);
    const uint64_t value = jp_thread_value_sig(thread);
    struct jp_buffer *buffer = jp_buffer_take_sig();
    thread->buffer = buffer;
    one->alive = 0;
    step();
    assert_int_equal(records_of(1001), 0);
    assert_int_equal(records_of(1002), 1);
    assert_null(jp_thread_by_value_sig(value));
    assert_int_equal(atomic_load(&thread->state), JP_THREAD_FREE);
    assert_int_equal(timers(), 1);
    /* The next thread goes on with its buffer. */
    assert_ptr_equal(jp_buffer_take_sig(), buffer);
    jp_buffer_return_sig(buffer);
}

/* Records are looked at by turns as well; all of them at a start. */
static void test_many_gone(void **state)
{
    (void)state;
    for (uint32_t tid = 1001; tid <= 1250; tid++)
        add(tid, 0);
    as_ours(jp_adopt_all_sig);
    for (unsigned i = 0; i < 250; i++)
        tasks[i].alive = 0;
    step();
    assert_int_equal(jp_threads_taken_sig(), 250 - STEP);
    step();
    assert_int_equal(jp_threads_taken_sig(), 250 - 2 * STEP);
    as_ours(jp_adopt_all_sig);
    assert_int_equal(jp_threads_taken_sig(), 0);
    assert_int_equal(timers(), 0);
}

/* Whose thread has not begun, or gives its record back itself. */
static void test_not_freed(void **state)
{
    (void)state;
    add(1001, 0);
    struct jp_thread *fresh = jp_thread_new_sig();
    struct jp_thread *ending = announce(1001);
    jp_clock_end_sig(ending);
    tasks[0].alive = 0;
    step();
    assert_int_equal(atomic_load(&fresh->state), JP_THREAD_NEW);
    assert_int_equal(atomic_load(&ending->state), JP_THREAD_ENDING);
    assert_int_equal(jp_threads_taken_sig(), 2);
}

static void test_leaving(void **state)
{
    (void)state;
    struct task *task = add(1001, 50 * MS);
    struct jp_thread *thread = announce(1001);
    jp_clock_end_sig(thread);
    jp_thread_end_sig(thread, 50 * MS);
    task->cpu_ns += MS - 1;
    step();
    as_ours(jp_adopt_all_sig);
    assert_int_equal(records_of(1001), 0);
    assert_false(jp_adopt_has_run_sig(1001));
    assert_true(jp_adopt_has_run_sig(1002));
    /* It goes on: what its samples stand for is not counted again. */
    task->cpu_ns += 1;
    step();
    assert_int_equal(records_of(1001), 1);
    assert_int_equal(jp_thread_by_tid_sig(1001)->clock.carried_ns, MS);
}

/* A new thread with the number of one that ended. */
static void test_number_again(void **state)
{
    (void)state;
    struct task *task = add(1001, 50 * MS);
    struct jp_thread *thread = announce(1001);
    jp_clock_end_sig(thread);
    jp_thread_end_sig(thread, 50 * MS);
    task->cpu_ns = MS / 2;
    announce(1001);
    assert_true(jp_adopt_has_run_sig(1001));
    assert_int_equal(jp_thread_ended_cpu_sig(1001), 0);
    assert_int_equal(records_of(1001), 1);
}

/* Begun while the profile ran: the first sample has all until then.  Before a
 * start nothing was missed. */
static void test_late(void **state)
{
    (void)state;
    add(1001, 7 * MS);
    as_ours(jp_adopt_all_sig);
    add(1002, 9 * MS);
    step();
    assert_int_equal(jp_thread_by_tid_sig(1001)->clock.carried_ns, 0);
    assert_int_equal(jp_thread_by_tid_sig(1002)->clock.carried_ns, 9 * MS);
    assert_int_equal(jp_clock_take_carried_sig(jp_thread_by_tid_sig(1002)),
                     9 * MS);
    /* In real time a thread's CPU time is no weight. */
    jp_process.clock = &jp_clock_real;
    add(1003, 9 * MS);
    step();
    assert_int_equal(jp_thread_by_tid_sig(1003)->clock.carried_ns, 0);
}

static void test_self(void **state)
{
    (void)state;
    const uint32_t tid = jp_sys_gettid_sig();
    add(tid, 5 * MS);
    struct jp_thread *thread = jp_adopt_self_sig(0);
    assert_int_equal(thread->tid, tid);
    assert_true(thread->adopted);
    assert_int_equal(thread->clock.carried_ns, 5 * MS);
    jp_thread_free_sig(thread);
    /* Its root is known where a hook asks for it. */
    thread = jp_adopt_self_sig(0x7000);
    assert_false(thread->adopted);
    assert_int_equal(thread->stack.high, 0x7000);
    jp_thread_free_sig(thread);
    atomic_store(&jp_process.running, 0);
    thread = jp_adopt_self_sig(0);
    assert_int_equal(thread->clock.carried_ns, 0);
    jp_thread_free_sig(thread);
}

static struct jp_thread *of_hook;

static void announce_it(uint32_t tid)
{
    jp_adopt_begin_sig(of_hook, tid);
}

/* Whichever comes first, the hook's record is the one that stays, and the other
 * is freed with its timer. */
static void check_only_of_hook(void)
{
    const unsigned others = task_count - 1;
    assert_int_equal(records_of(1001), 1);
    assert_ptr_equal(jp_thread_by_tid_sig(1001), of_hook);
    assert_false(of_hook->adopted);
    assert_int_equal(timers(), 0);
    as_ours(jp_adopt_all_sig);
    assert_int_equal(jp_threads_taken_sig(), 1 + others);
    assert_ptr_equal(jp_thread_by_tid_sig(1001), of_hook);
}

static void test_found_before_begun(void **state)
{
    (void)state;
    add(1001, 0);
    of_hook = jp_thread_new_sig();
    step();
    assert_int_equal(timers(), 1);
    announce_it(1001);
    check_only_of_hook();
}

/* Left of another thread with its number, and not yet freed. */
static void test_left_of_another(void **state)
{
    (void)state;
    add(1001, 0);
    step();
    of_hook = jp_thread_new_sig();
    announce_it(1001);
    check_only_of_hook();
}

/* Another thread's number hides where the other record is. */
static void test_found_without_hint(void **state)
{
    (void)state;
    add(1001, 0);
    of_hook = jp_thread_new_sig();
    step();
    struct jp_thread *other = announce(1001 + 4096);
    announce_it(1001);
    jp_thread_free_sig(other);
    check_only_of_hook();
}

/* It begins while the search is between its look and its record, */
static void test_begun_while_found(void **state)
{
    (void)state;
    add(1001, 0);
    of_hook = jp_thread_new_sig();
    meanwhile.number = SYS_tgkill;
    meanwhile.tid = 1001;
    meanwhile.event = announce_it;
    step();
    assert_null(meanwhile.event);
    check_only_of_hook();
}

/* or when that is live and its timer is being made; dead records are looked for
 * elsewhere, among many. */
static void test_begun_while_armed(void **state)
{
    (void)state;
    add(1001, 0);
    for (uint32_t tid = 2000; tid < 2000 + STEP; tid++) {
        add(tid, 0);
        announce(tid);
    }
    of_hook = jp_thread_new_sig();
    meanwhile.number = SYS_timer_create;
    meanwhile.tid = 1001;
    meanwhile.event = announce_it;
    step();
    assert_null(meanwhile.event);
    check_only_of_hook();
}

/* A record that was left behind by a thread of the hook's is no adopted one,
 * and is not taken away. */
static void test_both_of_hook(void **state)
{
    (void)state;
    add(1001, 0);
    struct jp_thread *first = announce(1001);
    struct jp_thread *second = announce(1001);
    assert_int_equal(first->tid, 1001);
    assert_int_equal(second->tid, 1001);
    assert_int_equal(records_of(1001), 2);
}

static void search_again(uint32_t tid)
{
    (void)tid;
    jp_adopt_step_sig();
}

/* One search at a time. */
static void test_one_search(void **state)
{
    (void)state;
    add(1001, 0);
    meanwhile.number = SYS_getdents64;
    meanwhile.event = search_again;
    as_ours(jp_adopt_all_sig);
    assert_null(meanwhile.event);
    assert_int_equal(reads, 2); /* and the folder's end */
    step();
    assert_int_equal(reads, 4);
}

static void instead(void)
{
    jp_adopt_poll_without_timer_sig(fake.now_ns);
}

/* Where the slow timer has the sampling period, and where another clock's
 * signals stand in for it: ten times a second at most. */
static void test_how_often(void **state)
{
    (void)state;
    add(1001, 0);
    as_ours(instead);
    const unsigned once = reads;
    assert_true(once > 0);
    fake.now_ns += JP_PROCESS_TIMER_NS - 1;
    as_ours(instead);
    assert_int_equal(reads, once);
    fake.now_ns += 1;
    as_ours(instead);
    assert_true(reads > once);
    /* Not while the timer runs. */
    const unsigned twice = reads;
    assert_int_equal(jp_process_timer_run_sig(1), 0);
    fake.now_ns += JP_NS;
    as_ours(instead);
    assert_int_equal(reads, twice);
    jp_process_timer_hasten_sig();
    step();
    const unsigned thrice = reads;
    assert_true(thrice > twice);
    fake.now_ns += JP_PROCESS_TIMER_NS - 1;
    step();
    assert_int_equal(reads, thrice);
    fake.now_ns += 1;
    step();
    assert_true(reads > thrice);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_found_once),
        TEST(test_not_armed),
        TEST(test_number_of_nobody),
        TEST(test_slices),
        TEST(test_gone),
        TEST(test_many_gone),
        TEST(test_not_freed),
        TEST(test_leaving),
        TEST(test_number_again),
        TEST(test_late),
        TEST(test_self),
        TEST(test_found_before_begun),
        TEST(test_left_of_another),
        TEST(test_found_without_hint),
        TEST(test_begun_while_found),
        TEST(test_begun_while_armed),
        TEST(test_both_of_hook),
        TEST(test_one_search),
        TEST(test_how_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
