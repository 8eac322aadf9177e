/* SPDX-License-Identifier: MIT
 *
 * The functions behind the stubs are those that the loader's search finds; and
 * the gate's answers, where the processor tells the thread pointer and where
 * the kernel is asked for it.
 * Runs in: tests. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../preload/hooks/base/real.h"
#include "../../preload/sig/state/gate.h"
#include "../../preload/sig/state/process.h"

extern struct jp_entry_stub __start_jp_entry_stubs[] JP_HIDDEN;
extern struct jp_entry_stub __stop_jp_entry_stubs[] JP_HIDDEN;

/* What the loader finds behind this executable for NAME or NAME@VERSION.  A
 * relocation with a version is satisfied by a symbol that has none, as those of
 * the sanitizers' libraries; dlvsym passes them over (glibc, check_match in
 * elf/dl-lookup.c). */
static void *by_loader(const char *wanted)
{
    char name[64];
    Dl_info info;
    const char *at = strchr(wanted, '@');
    if (at == NULL)
        return dlsym(RTLD_NEXT, wanted);
    assert_true((size_t)(at - wanted) < sizeof(name));
    memcpy(name, wanted, (size_t)(at - wanted));
    name[at - wanted] = '\0';
    void *newest = dlsym(RTLD_NEXT, name);
    if (newest != NULL && dladdr(newest, &info) != 0 &&
        strstr(info.dli_fname, "san.so") != NULL)
        return newest;
    return dlvsym(RTLD_NEXT, name, at + 1);
}

static void test_as_the_loader(void **state)
{
    (void)state;
    for (struct jp_entry_stub *stub = __start_jp_entry_stubs;
         stub != __stop_jp_entry_stubs; stub++) {
        void *found = by_loader(stub->name);
        if (found == NULL)
            found = stub->instead;
        if (jp_real(stub) != found)
            fail_msg("%s is not the loader's", stub->name);
    }
    assert_int_not_equal(__stop_jp_entry_stubs - __start_jp_entry_stubs, 0);
}

/* Asks as in a process of this owner; no longer, as the stubs of this test's
 * own calls lead to hooks then. */
static int ask(struct jp_owner *owner)
{
    jp_owner = owner;
    const int answer = jp_gate_ask_sig();
    jp_owner = NULL;
    return answer;
}

static struct jp_owner mine, other = {1};

static void *ask_mine(void *answer)
{
    *(int *)answer = ask(&mine);
    return NULL;
}

static int in_thread(void)
{
    int answer = -1;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, ask_mine, &answer), 0);
    pthread_join(thread, NULL);
    return answer;
}

static void gate(void)
{
    memset(jp_gate_known, 0, sizeof(jp_gate_known));
    assert_int_equal(ask(&other), 0);
    assert_true(jp_gate_sound_sig());
    assert_int_equal(ask(&mine), 1);
    assert_int_equal(in_thread(), 1);
    /* As a vfork child: known already, whatever the pid. */
    assert_int_equal(ask(&other), 1);
    jp_gate_leave_sig();
    assert_int_equal(ask(&other), 0);
    jp_gate_enter_sig();
    assert_int_equal(ask(&other), 1);
}

static void test_gate(void **state)
{
    (void)state;
    jp_gate_init_sig(getauxval(AT_HWCAP2));
    gate();
}

static void test_gate_by_the_kernel(void **state)
{
    (void)state;
#ifdef __x86_64__
    jp_gate_init_sig(0);
    assert_int_equal(jp_gate_direct, 0);
    gate();
    jp_gate_init_sig(getauxval(AT_HWCAP2));
#endif
}

/* More threads than there are places for the value of their pointers. */
static void test_gate_forgets(void **state)
{
    (void)state;
    memset(jp_gate_known, 0xff, sizeof(jp_gate_known));
    assert_int_equal(ask(&mine), 1);
    assert_int_equal(in_thread(), 1);
    assert_int_equal(ask(&mine), 1);
}

int main(void)
{
    mine.pid = (uint32_t)getpid();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_the_loader),
        cmocka_unit_test(test_gate),
        cmocka_unit_test(test_gate_by_the_kernel),
        cmocka_unit_test(test_gate_forgets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
