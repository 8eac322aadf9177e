/* SPDX-License-Identifier: MIT
 *
 * Shuts itself in and forks children there, as browsers' zygotes do:
 *     zygote HOW [CPU_SECONDS=0.4] [CHILDREN=2] [THREADS=0]
 * HOW is a word of these, joined by `+`, in this order: chroot (into an empty
 * folder); userns (the same in a user namespace of its own); pidns (each child
 * is process 1 of a pid namespace); filter (each child installs a filter that
 * ends it on all but what an allocator, threads and output need); kill (each
 * child ends itself by SIGKILL); exec (each child executes /bin/true, which is
 * not there); title (each child writes a title over its arguments).
 * The parent works CPU_SECONDS in `parent_work`, then each child, one after
 * the other, in `child_work`, and so does each of its threads in
 * `thread_work`, for THREADS of them.  A child prints `child CPU_SECONDS`, the
 * parent `parent CPU_SECONDS`, its exit status is 5.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

NOINLINE uint64_t parent_work(double seconds);
NOINLINE uint64_t child_work(double seconds);
NOINLINE void *thread_work(void *data);

static uint64_t work(double seconds)
{
    uint64_t sum = 0;
    const double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
        sum += turn(200000);
    return sum;
}

uint64_t parent_work(double seconds)
{
    return work(seconds) + 1;
}

uint64_t child_work(double seconds)
{
    return work(seconds) + 2;
}

void *thread_work(void *data)
{
    work(*(double *)data);
    return data;
}

static int filter(void)
{
    static const int allowed[] = {
        SYS_read,       SYS_write,          SYS_exit,
        SYS_exit_group, SYS_rt_sigreturn,   SYS_mmap,
        SYS_munmap,     SYS_mprotect,       SYS_madvise,
        SYS_brk,        SYS_clone,          SYS_clone3,
        SYS_futex,      SYS_rt_sigprocmask, SYS_set_robust_list,
        SYS_rseq,       SYS_sched_yield,    SYS_clock_gettime,
        SYS_getpid,     SYS_gettid,         SYS_kill,
        SYS_execve,     SYS_rt_sigaction,   SYS_getrandom};
    struct sock_filter code[sizeof(allowed) / sizeof(allowed[0]) + 3];
    unsigned count = sizeof(allowed) / sizeof(allowed[0]), at = 0;
    code[at++] = (struct sock_filter)BPF_STMT(
        BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < count; i++)
        code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                  (uint32_t)allowed[i],
                                                  (uint8_t)(count - i), 0);
    code[at++] =
        (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    code[at++] =
        (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {(unsigned short)at, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
                   prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0
               ? -1
               : 0;
}

static int into_folder(void)
{
    char folder[] = "zygote-XXXXXX";
    return mkdtemp(folder) == NULL || chroot(folder) != 0 ? -1 : chdir("/");
}

static int has(const char *how, const char *word)
{
    return strstr(how, word) != NULL;
}

static void say(const char *who)
{
    char text[64];
    int length = snprintf(text, sizeof(text), "%s %.3f\n", who,
                          cpu_seconds(CLOCK_PROCESS_CPUTIME_ID));
    if (write(1, text, (size_t)length) != length)
        _exit(2);
}

static void child(const char *how, char **argv, double seconds, int threads)
{
    pthread_t thread[16];
    if (has(how, "title"))
        snprintf(argv[0], strlen(argv[0]), "zygote: at work");
    if (has(how, "filter") && filter() != 0)
        die("filter");
    for (int i = 0; i < threads && i < 16; i++) {
        if (pthread_create(&thread[i], NULL, thread_work, &seconds) != 0)
            die("pthread_create");
    }
    child_work(seconds);
    for (int i = 0; i < threads && i < 16; i++)
        pthread_join(thread[i], NULL);
    if (has(how, "exec"))
        execl("/bin/true", "true", (char *)NULL);
    say("child");
    if (has(how, "kill"))
        kill(getpid(), SIGKILL);
    exit(0);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "chroot";
    double seconds = argument(argc, argv, 2, 0.4);
    int children = (int)argument(argc, argv, 3, 2);
    int threads = (int)argument(argc, argv, 4, 0);
    parent_work(seconds);
    if (has(how, "userns") && unshare(CLONE_NEWUSER) != 0)
        die("unshare");
    if (has(how, "userns") || has(how, "chroot")) {
        if (into_folder() != 0)
            die("chroot");
    }
    for (int i = 0; i < children; i++) {
        int status;
        const pid_t pid =
            has(how, "pidns")
                ? (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0)
                : fork();
        if (pid < 0)
            die("fork");
        if (pid == 0)
            child(how, argv, seconds, threads);
        if (waitpid(pid, &status, 0) != pid)
            die("waitpid");
        if (WIFEXITED(status) ? WEXITSTATUS(status) != 0 : !has(how, "kill"))
            return 3;
    }
    parent_work(seconds / 4);
    say("parent");
    return 5;
}
