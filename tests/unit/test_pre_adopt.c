/* SPDX-License-Identifier: MIT
 *
 * Threads that nobody announced: found once, freed when they are gone, not
 * found again on their way out, and never with two slots for long.  The
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
#include "../../preload/sig/clock/clock_real.h"
#include "../../preload/sig/clock/clock_timer.h"
#include "../../preload/sig/clock/process_timer.h"
#include "../../preload/sig/state/kit.h"
#include "../../preload/sig/state/process.h"
#include "../../preload/sig/state/slot.h"

#define MS 1000000ULL
#define THREADS 300
#define ENTRY 32 /* bytes of an entry of the folder */
#define STEP 64U /* threads that a step sees, and slots */

static struct jp_owner owner;
static struct thread {
    uint32_t tid;
    int alive;
    uint64_t cpu_ns;
} threads[THREADS];
static unsigned thread_count;
static long at;        /* in the folder */
static unsigned reads; /* of the folder */
static uint32_t lists; /* a thread that is of another process */
/* What happens in the middle: at the first such call for that thread. */
static struct {
    long number;
    uint32_t tid;
    void (*event)(uint32_t tid);
} meanwhile;

static struct thread *thread_of(uint32_t tid)
{
    for (unsigned i = 0; i < thread_count; i++) {
        if (threads[i].tid == tid)
            return &threads[i];
    }
    return NULL;
}

static uint64_t cpu_of(uint32_t tid)
{
    const struct thread *thread = thread_of(tid);
    return thread != NULL ? thread->cpu_ns : 0;
}

/* getdents64(2), of the living. */
static long list(uint8_t *out, size_t size)
{
    uint8_t *begin = out;
    reads++;
    for (; at < (long)thread_count + 2; at++) {
        const struct thread *thread = at < 2 ? NULL : &threads[at - 2];
        const uint64_t next = (uint64_t)at + 1;
        const uint16_t length = ENTRY;
        if (thread != NULL && !thread->alive)
            continue;
        if ((size_t)(out - begin) + ENTRY > size)
            break;
        memset(out, 0, ENTRY);
        memcpy(out + 8, &next, sizeof(next));
        memcpy(out + 16, &length, sizeof(length));
        if (thread == NULL)
            out[19] = '.';
        else
            snprintf((char *)out + 19, 12, "%u", thread->tid);
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
    const struct thread *thread;
    switch (number) {
    case SYS_getdents64:
        *result = list((uint8_t *)a[1], (size_t)a[2]);
        let_happen(number, 0);
        return 1;
    case SYS_lseek:
        *result = at = a[1];
        return 1;
    case SYS_tgkill:
        thread = thread_of((uint32_t)a[1]);
        *result = a[0] != (long)owner.pid || thread == NULL || !thread->alive ||
                          thread->tid == lists
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
    thread_count = reads = 0;
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
    if (jp_slots_init_sig() != 0)
        return -1;
    jp_slots_reset_sig();
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

static struct thread *add(uint32_t tid, uint64_t cpu_ns)
{
    struct thread *thread = &threads[thread_count++];
    *thread = (struct thread){tid, 1, cpu_ns};
    return thread;
}

/* The live slots of a thread. */
static unsigned slots_of(uint32_t tid)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < jp_slots_count_sig(); i++) {
        const struct jp_slot *slot = jp_slot_at_sig(i);
        count += atomic_load(&slot->state) >= JP_SLOT_IDLE && slot->tid == tid;
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
static struct jp_slot *announce(uint32_t tid)
{
    struct jp_slot *slot = jp_slot_new_sig();
    jp_adopt_begin_sig(slot, tid);
    return slot;
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
        assert_int_equal(slots_of(tid), 1);
        const struct jp_slot *slot = jp_slot_by_tid_sig(tid);
        assert_int_equal(slot->adopted, tid != 1100);
        assert_int_equal(atomic_load(&slot->state),
                         tid != 1100 ? JP_SLOT_ARMED : JP_SLOT_IDLE);
    }
    assert_int_equal(jp_slots_taken_sig(), 150);
    assert_int_equal(timers(), 149);
}

/* Without a running profile nothing is armed. */
static void test_not_armed(void **state)
{
    (void)state;
    atomic_store(&jp_process.running, 0);
    add(1001, 0);
    as_ours(jp_adopt_all_sig);
    assert_int_equal(slots_of(1001), 1);
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
    assert_int_equal(slots_of(1001), 0);
    assert_int_equal(slots_of(1002), 1);
    assert_int_equal(jp_slots_taken_sig(), 1);
}

/* A step sees a part; where one ends the next begins, and after the last the
 * first. */
static void test_slices(void **state)
{
    (void)state;
    for (uint32_t tid = 1001; tid <= 1150; tid++)
        add(tid, 0);
    step();
    assert_int_equal(jp_slots_taken_sig(), STEP - 2); /* "." and ".." */
    assert_int_equal(slots_of(1001), 1);
    step();
    assert_int_equal(jp_slots_taken_sig(), 2 * STEP - 2);
    step();
    assert_int_equal(jp_slots_taken_sig(), 150);
    threads[0].tid = 900;
    step();
    assert_int_equal(slots_of(900), 1);
    /* A start begins at the first, wherever a step was. */
    threads[0].tid = 901;
    as_ours(jp_adopt_all_sig);
    assert_int_equal(slots_of(901), 1);
}

static void test_gone(void **state)
{
    (void)state;
    struct thread *one = add(1001, 0);
    add(1002, 0);
    as_ours(jp_adopt_all_sig);
    struct jp_slot *slot = jp_slot_by_tid_sig(1001);
    const uint64_t value = jp_slot_value_sig(slot);
    struct jp_kit *kit = jp_kit_take_sig();
    slot->kit = kit;
    one->alive = 0;
    step();
    assert_int_equal(slots_of(1001), 0);
    assert_int_equal(slots_of(1002), 1);
    assert_null(jp_slot_by_value_sig(value));
    assert_int_equal(atomic_load(&slot->state), JP_SLOT_FREE);
    assert_int_equal(timers(), 1);
    /* The next thread goes on with its kit. */
    assert_ptr_equal(jp_kit_take_sig(), kit);
    jp_kit_return_sig(kit);
}

/* Slots are looked at by turns as well; all of them at a start. */
static void test_many_gone(void **state)
{
    (void)state;
    for (uint32_t tid = 1001; tid <= 1250; tid++)
        add(tid, 0);
    as_ours(jp_adopt_all_sig);
    for (unsigned i = 0; i < 250; i++)
        threads[i].alive = 0;
    step();
    assert_int_equal(jp_slots_taken_sig(), 250 - STEP);
    step();
    assert_int_equal(jp_slots_taken_sig(), 250 - 2 * STEP);
    as_ours(jp_adopt_all_sig);
    assert_int_equal(jp_slots_taken_sig(), 0);
    assert_int_equal(timers(), 0);
}

/* Whose thread has not begun, or gives its slot back itself. */
static void test_not_freed(void **state)
{
    (void)state;
    add(1001, 0);
    struct jp_slot *fresh = jp_slot_new_sig();
    struct jp_slot *ending = announce(1001);
    jp_clock_end_sig(ending);
    threads[0].alive = 0;
    step();
    assert_int_equal(atomic_load(&fresh->state), JP_SLOT_NEW);
    assert_int_equal(atomic_load(&ending->state), JP_SLOT_ENDING);
    assert_int_equal(jp_slots_taken_sig(), 2);
}

static void test_leaving(void **state)
{
    (void)state;
    struct thread *thread = add(1001, 50 * MS);
    struct jp_slot *slot = announce(1001);
    jp_clock_end_sig(slot);
    jp_slot_end_sig(slot, 50 * MS);
    thread->cpu_ns += MS - 1;
    step();
    as_ours(jp_adopt_all_sig);
    assert_int_equal(slots_of(1001), 0);
    assert_false(jp_adopt_has_run_sig(1001));
    assert_true(jp_adopt_has_run_sig(1002));
    /* It goes on: what its samples stand for is not counted again. */
    thread->cpu_ns += 1;
    step();
    assert_int_equal(slots_of(1001), 1);
    assert_int_equal(jp_slot_by_tid_sig(1001)->clock.carried_ns, MS);
}

/* A new thread with the number of one that ended. */
static void test_number_again(void **state)
{
    (void)state;
    struct thread *thread = add(1001, 50 * MS);
    struct jp_slot *slot = announce(1001);
    jp_clock_end_sig(slot);
    jp_slot_end_sig(slot, 50 * MS);
    thread->cpu_ns = MS / 2;
    announce(1001);
    assert_true(jp_adopt_has_run_sig(1001));
    assert_int_equal(jp_slot_ended_sig(1001), 0);
    assert_int_equal(slots_of(1001), 1);
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
    assert_int_equal(jp_slot_by_tid_sig(1001)->clock.carried_ns, 0);
    assert_int_equal(jp_slot_by_tid_sig(1002)->clock.carried_ns, 9 * MS);
    assert_int_equal(jp_clock_take_carried_sig(jp_slot_by_tid_sig(1002)),
                     9 * MS);
    /* In real time a thread's CPU time is no weight. */
    jp_process.clock = &jp_clock_real;
    add(1003, 9 * MS);
    step();
    assert_int_equal(jp_slot_by_tid_sig(1003)->clock.carried_ns, 0);
}

static void test_self(void **state)
{
    (void)state;
    const uint32_t tid = jp_sys_gettid_sig();
    add(tid, 5 * MS);
    struct jp_slot *slot = jp_adopt_self_sig(0);
    assert_int_equal(slot->tid, tid);
    assert_true(slot->adopted);
    assert_int_equal(slot->clock.carried_ns, 5 * MS);
    jp_slot_free_sig(slot);
    /* Its root is known where a hook asks for it. */
    slot = jp_adopt_self_sig(0x7000);
    assert_false(slot->adopted);
    assert_int_equal(slot->stack.high, 0x7000);
    jp_slot_free_sig(slot);
    atomic_store(&jp_process.running, 0);
    slot = jp_adopt_self_sig(0);
    assert_int_equal(slot->clock.carried_ns, 0);
    jp_slot_free_sig(slot);
}

static struct jp_slot *of_hook;

static void announce_it(uint32_t tid)
{
    jp_adopt_begin_sig(of_hook, tid);
}

/* Whichever comes first, the hook's slot is the one that stays, and the other
 * is freed with its timer. */
static void check_only_of_hook(void)
{
    const unsigned others = thread_count - 1;
    assert_int_equal(slots_of(1001), 1);
    assert_ptr_equal(jp_slot_by_tid_sig(1001), of_hook);
    assert_false(of_hook->adopted);
    assert_int_equal(timers(), 0);
    as_ours(jp_adopt_all_sig);
    assert_int_equal(jp_slots_taken_sig(), 1 + others);
    assert_ptr_equal(jp_slot_by_tid_sig(1001), of_hook);
}

static void test_found_before_begun(void **state)
{
    (void)state;
    add(1001, 0);
    of_hook = jp_slot_new_sig();
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
    of_hook = jp_slot_new_sig();
    announce_it(1001);
    check_only_of_hook();
}

/* Another thread's number hides where the other slot is. */
static void test_found_without_hint(void **state)
{
    (void)state;
    add(1001, 0);
    of_hook = jp_slot_new_sig();
    step();
    struct jp_slot *other = announce(1001 + 4096);
    announce_it(1001);
    jp_slot_free_sig(other);
    check_only_of_hook();
}

/* It begins while the search is between its look and its slot, */
static void test_begun_while_found(void **state)
{
    (void)state;
    add(1001, 0);
    of_hook = jp_slot_new_sig();
    meanwhile.number = SYS_tgkill;
    meanwhile.tid = 1001;
    meanwhile.event = announce_it;
    step();
    assert_null(meanwhile.event);
    check_only_of_hook();
}

/* or when that is live and its timer is being made; dead slots are looked for
 * elsewhere, among many. */
static void test_begun_while_armed(void **state)
{
    (void)state;
    add(1001, 0);
    for (uint32_t tid = 2000; tid < 2000 + STEP; tid++) {
        add(tid, 0);
        announce(tid);
    }
    of_hook = jp_slot_new_sig();
    meanwhile.number = SYS_timer_create;
    meanwhile.tid = 1001;
    meanwhile.event = announce_it;
    step();
    assert_null(meanwhile.event);
    check_only_of_hook();
}

/* A slot that was left behind by a thread of the hook's is no adopted one, and
 * is not taken away. */
static void test_both_of_hook(void **state)
{
    (void)state;
    add(1001, 0);
    struct jp_slot *first = announce(1001);
    struct jp_slot *second = announce(1001);
    assert_int_equal(first->tid, 1001);
    assert_int_equal(second->tid, 1001);
    assert_int_equal(slots_of(1001), 2);
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
