/* SPDX-License-Identifier: MIT
 *
 * Where the handler remembers that a thread goes on: at the call that one of
 * the program's signals may have to cut off, however many of jprof's signals
 * come while that one's handler is on its way (program.c).
 * Runs in: tests. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dlfcn.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../preload/hooks/signals/program.h"
#include "../../preload/sig/adopt.h"
#include "../../preload/sig/handler.h"
#include "../../preload/sig/state/process.h"
#include "../../preload/sig/state/thread.h"

static struct jp_owner owner;

static void at(uint64_t pc, uint64_t sp)
{
    siginfo_t info;
    ucontext_t context;
    memset(&info, 0, sizeof(info));
    memset(&context, 0, sizeof(context));
#ifdef __x86_64__
    context.uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
    context.uc_mcontext.gregs[REG_RSP] = (greg_t)sp;
#else
    context.uc_mcontext.pc = pc;
    context.uc_mcontext.sp = sp;
#endif
    /* A command that does nothing without a ring. */
    info.si_code = SI_QUEUE;
    info.si_value.sival_int = 0x6a700c03;
    jp_owner = &owner;
    jp_handler_sig(SIGPROF, &info, &context);
    jp_owner = NULL;
}

static int is_known(const struct jp_thread *thread, uint64_t pc, uint64_t sp)
{
    return (thread->hooks.resumed[0].pc == pc &&
            thread->hooks.resumed[0].sp == sp) ||
           (thread->hooks.resumed[1].pc == pc &&
            thread->hooks.resumed[1].sp == sp);
}

static void test_many_come(void **state)
{
    const uint64_t call = (uint64_t)dlsym(RTLD_DEFAULT, "getppid");
    const uint64_t ours = (uint64_t)jp_program_handler;
    (void)state;
    owner.pid = (uint32_t)getpid();
    assert_int_equal(jp_threads_init_sig(), 0);
    struct jp_thread *thread = jp_adopt_self_sig(0);
    assert_non_null(thread);
    const uint32_t runs = thread->hooks.runs;
    at(call, 4096);
    assert_true(is_known(thread, call, 4096));
    for (unsigned i = 0; i < 5; i++)
        at(ours + i, 2048 - 16 * i);
    assert_true(is_known(thread, call, 4096));
    /* Elsewhere in the program: it is another call now. */
    at(call + 8, 4096);
    at(call + 16, 4096);
    assert_false(is_known(thread, call, 4096));
    assert_int_equal(thread->hooks.runs - runs, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
