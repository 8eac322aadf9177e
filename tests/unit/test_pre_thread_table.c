/* SPDX-License-Identifier: MIT
 *
 * Thread records: found by value and by thread id while live, and only then.
 * Runs in: tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <pthread.h>

#include <cmocka.h>

#include "jp_limits.h"

#include "../../preload/sig/state/thread.h"

static int set_up(void **state)
{
    (void)state;
    return jp_threads_init_sig();
}

static void test_found_while_live(void **state)
{
    (void)state;
    struct jp_thread *thread = jp_thread_new_sig();
    assert_non_null(thread);
    uint64_t value = jp_thread_value_sig(thread);
    assert_true(jp_thread_is_value_sig(value));
    assert_null(jp_thread_by_value_sig(value)); /* its thread has not begun */
    jp_thread_begin_sig(thread, 4242);
    assert_ptr_equal(jp_thread_by_value_sig(value), thread);
    assert_ptr_equal(jp_thread_by_tid_sig(4242), thread);
    jp_thread_free_sig(thread);
    assert_null(jp_thread_by_value_sig(value));
    assert_null(jp_thread_by_tid_sig(4242));
}

static void test_next_user_is_another(void **state)
{
    (void)state;
    struct jp_thread *first = jp_thread_new_sig();
    jp_thread_begin_sig(first, 7);
    uint64_t value = jp_thread_value_sig(first);
    jp_thread_free_sig(first);
    struct jp_thread *second = jp_thread_new_sig();
    jp_thread_begin_sig(second, 8);
    assert_ptr_equal(first, second);
    assert_null(jp_thread_by_value_sig(value));
    assert_ptr_equal(jp_thread_by_value_sig(jp_thread_value_sig(second)),
                     second);
    jp_thread_free_sig(second);
}

/* The hint of one thread id is overwritten by another with the same hash. */
static void test_same_hint(void **state)
{
    (void)state;
    struct jp_thread *a = jp_thread_new_sig(), *b = jp_thread_new_sig();
    jp_thread_begin_sig(a, 100);
    jp_thread_begin_sig(b, 100 + 4096);
    assert_ptr_equal(jp_thread_by_tid_sig(100), a);
    assert_ptr_equal(jp_thread_by_tid_sig(100 + 4096), b);
    assert_null(jp_thread_by_tid_sig(100 + 2 * 4096));
    jp_thread_free_sig(a);
    jp_thread_free_sig(b);
}

static void *look_here(void *data)
{
    return jp_thread_here_sig((uint64_t)data);
}

/* By what the thread remembers, and only on its stack. */
static void test_here(void **state)
{
    (void)state;
    void *elsewhere;
    pthread_t other;
    struct jp_thread *thread = jp_thread_new_sig();
    jp_thread_begin_sig(thread, 9);
    jp_thread_remember_sig(thread);
    assert_null(jp_thread_here_sig(0x5000)); /* its stack is not known yet */
    thread->stack.low = 0x5000;
    thread->stack.high = 0x9000;
    assert_ptr_equal(jp_thread_here_sig(0x5000), thread);
    assert_ptr_equal(jp_thread_here_sig(0x8fff), thread);
    assert_null(jp_thread_here_sig(0x4fff));
    assert_null(jp_thread_here_sig(0x9000));
    assert_int_equal(pthread_create(&other, NULL, look_here, (void *)0x6000),
                     0);
    assert_int_equal(pthread_join(other, &elsewhere), 0);
    assert_null(elsewhere);
    jp_thread_free_sig(thread);
    assert_null(jp_thread_here_sig(0x6000));
    jp_thread_remember_sig(NULL);
}

static void test_foreign_values(void **state)
{
    (void)state;
    assert_null(jp_thread_by_value_sig(0));
    assert_null(jp_thread_by_value_sig(UINT64_MAX));
    assert_null(jp_thread_by_value_sig((uint64_t)&state));
    assert_false(jp_thread_is_value_sig((uint64_t)&state & ~0xfff00000ULL));
    /* That of the process's slow timer, and a command's. */
    assert_false(jp_thread_is_value_sig(JP_CONTROL_MAGIC | 0xf0));
    assert_false(jp_thread_is_value_sig(JP_CONTROL_MAGIC | JP_CONTROL_START));
}

static void test_the_table_has_an_end(void **state)
{
    static struct jp_thread *all[JP_THREADS_MAX];
    unsigned count = 0;
    (void)state;
    while (count < JP_THREADS_MAX && (all[count] = jp_thread_new_sig()) != NULL)
        count++;
    assert_int_equal(count, JP_THREADS_MAX);
    assert_null(jp_thread_new_sig());
    jp_thread_free_sig(all[5]);
    assert_ptr_equal(jp_thread_new_sig(), all[5]);
    jp_threads_reset_sig();
    assert_int_equal(jp_threads_used_sig(), 0);
}

static void *churn(void *data)
{
    uint32_t tid = *(uint32_t *)data;
    for (int i = 0; i < 20000; i++) {
        struct jp_thread *thread = jp_thread_new_sig();
        jp_thread_begin_sig(thread, tid);
        if (jp_thread_by_value_sig(jp_thread_value_sig(thread)) != thread ||
            thread->tid != tid)
            return "another thread has this record";
        jp_thread_free_sig(thread);
    }
    return NULL;
}

static void test_many_at_once(void **state)
{
    pthread_t others[4];
    uint32_t tids[4] = {11, 12, 13, 14};
    (void)state;
    for (int i = 0; i < 4; i++)
        pthread_create(&others[i], NULL, churn, &tids[i]);
    for (int i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(others[i], &wrong);
        assert_null(wrong);
    }
    assert_true(jp_threads_used_sig() <= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found_while_live),
        cmocka_unit_test(test_next_user_is_another),
        cmocka_unit_test(test_same_hint),
        cmocka_unit_test(test_here),
        cmocka_unit_test(test_foreign_values),
        cmocka_unit_test(test_the_table_has_an_end),
        cmocka_unit_test(test_many_at_once),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
