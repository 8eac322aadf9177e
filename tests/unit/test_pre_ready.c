/* SPDX-License-Identifier: MIT
 *
 * Call-frame information made ready: once a child had to do it for itself, its
 * parent does it, and the next child has it.  What the kernel does not hand on
 * to children is made anew there.
 * Runs in: unit tests. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sig/unwind/cfi/cfi.h"
#include "sig/unwind/cfi/cfi_module.h"
#include "sig/unwind/cfi/cfi_ready.h"
#include "sig/code/maps.h"
#include "sig/os/filter.h"
#include "sig/state/process.h"

/* Whether this process has the C library's information in memory that a child
 * has as well. */
static int is_ready(void)
{
    struct jp_cfi_module *module;
    const struct jp_cfi_image *image;
    uint64_t pc = (uint64_t)printf;
    if (jp_cfi_module_take_sig(&pc, jp_maps_epoch_sig(), &module, &image) != 0)
        return -1;
    const uint64_t block = image->header / JP_CFI_BLOCK;
    const int filled =
        image->filled != NULL && atomic_load(&image->filled[block]) != 0;
    jp_cfi_module_give_sig(module);
    return filled;
}

/* Forks a child; with `braces` it makes its information ready, as before a
 * sandbox.  Returns whether it had the C library's before. */
static int fork_one(int braces)
{
    int status;
    jp_cfi_forking_sig();
    const pid_t pid = fork();
    if (pid == 0) {
        jp_cfi_modules_reset_sig();
        jp_cfi_forked_sig();
        const int ready = is_ready();
        if (braces)
            jp_cfi_copy_all_sig();
        _exit(braces && is_ready() != 1 ? 2 : ready);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void is_made_by_the_parent_once_a_child_had_to(void **state)
{
    (void)state;
    atomic_store(&jp_process.running, 1);
    jp_maps_before_log_sig();
    assert_int_equal(fork_one(0), 0);
    assert_int_equal(fork_one(0), 0); /* nobody has asked */
    assert_int_equal(is_ready(), 0);
    assert_int_equal(fork_one(1), 0); /* makes it for itself */
    assert_int_equal(fork_one(1), 1); /* has its parent's */
    assert_int_equal(is_ready(), 1);
    assert_int_equal(fork_one(0), 1);
}

/* As before, where the memory cannot be handed on: returns whether a child of
 * this process's ended in order, without a copy of its parent's. */
static int child_goes_on_alone(void)
{
    static struct sock_filter forbids[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), /* the call's number */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    int status;
    jp_maps_before_log_sig();
    if (is_ready() != 0 || jp_filter_add_sig((uintptr_t)forbids, 4) == NULL)
        return 0;
    jp_cfi_copy_all_sig();
    const pid_t pid = is_ready() == 1 ? fork() : -1;
    if (pid == 0) {
        jp_cfi_modules_reset_sig();
        _exit(is_ready());
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static void is_not_kept_where_children_do_not_get_it(void **state)
{
    (void)state;
    int status;
    const pid_t pid = fork();
    if (pid == 0)
        _exit(child_goes_on_alone());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_not_kept_where_children_do_not_get_it),
        cmocka_unit_test(is_made_by_the_parent_once_a_child_had_to)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
