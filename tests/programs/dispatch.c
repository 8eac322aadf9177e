/* SPDX-License-Identifier: MIT
 *
 * Has its system calls become SIGSYS while a byte says so, as Wine does with
 * those of Windows programs, computes meanwhile, and makes one, having computed
 * for 0.1 s before:
 *     dispatch [ROUNDS=100] [WORD...]
 * raw: by syscall().  signals: a child sends it SIGPROF all the time.  fork: a
 * child that it has then computes for 0.3 s.  library: all but the C library's
 * own calls become SIGSYS, all the time, and functions of the C library are
 * called in each round.  programs: executes some at the end, without
 * LD_PRELOAD, which print what signals they ignore.  refused: asks for it in a
 * way that the kernel refuses, and computes for 0.3 s.  Prints how many of its
 * calls came as SIGSYS; status 1 when another did, 77 when the kernel has no
 * such thing.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define NONE 499 /* no system call has this number */

static volatile char selector;
static volatile int right, wrong, usual;
static int whole;

static void handle(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    if (!whole)
        selector = PR_SYS_DISPATCH_OFF;
    if (info->si_syscall == NONE)
        right++;
    else
        wrong++;
}

static void count(int signal)
{
    (void)signal;
    usual++;
}

/* A system call by an instruction of the program's own. */
static void bare(long number)
{
#ifdef __x86_64__
    __asm__ volatile("syscall" : "+a"(number) : : "rcx", "r11", "memory");
#else
    syscall(number);
#endif
}

static int has(int argc, char **argv, const char *word)
{
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], word) == 0)
            return 1;
    }
    return 0;
}

static void compute(double seconds)
{
    const double end = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) + seconds;
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < end)
        turn(100000);
}

struct range {
    unsigned long start, size;
};

/* Finds where the C library's code is. */
static int find_library(struct dl_phdr_info *info, size_t size, void *data)
{
    struct range *range = data;
    (void)size;
    if (strstr(info->dlpi_name, "libc.so") == NULL)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & PF_X) != 0)
            *range =
                (struct range){info->dlpi_addr + part->p_vaddr, part->p_memsz};
    }
    return 1;
}

static int begin(int raw, struct range pass, int how)
{
    return raw ? (int)syscall(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, how,
                              pass.start, pass.size, &selector)
               : prctl(PR_SET_SYSCALL_USER_DISPATCH, how, pass.start, pass.size,
                       &selector);
}

static void *nothing(void *data)
{
    return data;
}

/* Calls functions that jprof hooks. */
static void call_library(void)
{
    const struct timespec moment = {0, 20000};
    struct sigaction action;
    char stack[65536], byte = 0;
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)},
                  none = {.ss_flags = SS_DISABLE};
    sigset_t set;
    pthread_t thread;
    int ends[2], status;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR2);
    sigaction(SIGUSR2, NULL, &action);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    sigaction(SIGUSR2, &action, NULL);
    sigaltstack(&other, NULL);
    sigaltstack(&none, NULL);
    nanosleep(&moment, NULL);
    poll(NULL, 0, 0);
    if (pipe(ends) != 0 || write(ends[1], &byte, 1) != 1 ||
        read(ends[0], &byte, 1) != 1)
        die("pipe");
    close(ends[0]);
    close(ends[1]);
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(memory, 4096, PROT_READ);
    munmap(memory, 4096);
    if (pthread_create(&thread, NULL, nothing, NULL) != 0)
        die("pthread_create");
    pthread_join(thread, NULL);
    const pid_t child = fork();
    if (child == 0)
        _exit(3);
    if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 3)
        die("waitpid");
}

/* A child that computes; the kernel has it make system calls as usual. */
static void fork_one(void)
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        selector = PR_SYS_DISPATCH_ON;
        compute(0.3);
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        die("child");
}

static pid_t send_signals(void)
{
    const pid_t parent = getpid(), child = fork();
    const struct timespec pause = {0, 200000};
    while (child == 0 && getppid() == parent) {
        kill(parent, SIGPROF);
        nanosleep(&pause, NULL);
    }
    if (child == 0)
        _exit(0);
    return child;
}

/* By each way that the C library has. */
static void execute(void)
{
    char *arguments[] = {"grep", "SigIgn", "/proc/self/status", NULL};
    int status;
    pid_t child;
    char line[80];
    unsetenv("LD_PRELOAD");
    fflush(stdout);
    if (system("grep SigIgn /proc/self/status") != 0 ||
        posix_spawnp(&child, "grep", NULL, NULL, arguments, environ) != 0 ||
        waitpid(child, &status, 0) != child)
        die("grep");
    FILE *stream = popen("grep SigIgn /proc/self/status", "r");
    if (stream == NULL || fgets(line, sizeof(line), stream) == NULL)
        die("popen");
    printf("%s", line);
    pclose(stream);
    child = vfork();
    if (child == 0) {
        execvp("grep", arguments);
        _exit(1);
    }
    waitpid(child, &status, 0);
    execvp("no-such-program", arguments);
    fflush(stdout);
    execvp("grep", arguments);
    die("execvp");
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    const int rounds = (int)argument(argc, argv, 1, 100);
    const int raw = has(argc, argv, "raw");
    struct range pass = {0, 0};
    pid_t sender = 0;
    sigaction(SIGSYS, &action, NULL);
    signal(SIGUSR2, count);
    whole = has(argc, argv, "library");
    if (whole)
        dl_iterate_phdr(find_library, &pass);
    compute(0.1);
    if (has(argc, argv, "refused")) {
        if (begin(raw, (struct range){1, ~0UL}, PR_SYS_DISPATCH_ON) == 0)
            return 1;
        compute(0.3);
        return 0;
    }
    if (begin(raw, pass, PR_SYS_DISPATCH_ON) != 0)
        return 77;
    if (has(argc, argv, "signals"))
        sender = send_signals();
    if (has(argc, argv, "fork"))
        fork_one();
    for (int i = 0; i < rounds; i++) {
        selector = PR_SYS_DISPATCH_ON;
        turn(1000000);
        if (whole) {
            call_library();
            bare(NONE);
            continue;
        }
        syscall(NONE);
        selector = PR_SYS_DISPATCH_OFF;
    }
    if (sender != 0) {
        kill(sender, SIGKILL);
        waitpid(sender, NULL, 0);
    }
    printf("%d of %d, %d\n", right, rounds, usual);
    if (has(argc, argv, "programs"))
        execute();
    return wrong != 0;
}
