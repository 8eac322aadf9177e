/* SPDX-License-Identifier: MIT
 *
 * What a program may do with signals, one case a run:
 *     sigcases CASE [SIGNAL]
 * It prints what it sees: a run under the library must print the same as a
 * run without.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

static int number = SIGPROF;
static volatile int count, codes[8], sum, nested, deepest, on_stack;
static char small_stack[2048] __attribute__((aligned(16)));

static void burn(double seconds)
{
    const double until = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < until)
        turn(20000);
}

static void plain(int signal)
{
    count += signal == number;
}

static void with_info(int signal, siginfo_t *info, void *context)
{
    count += signal == number && context != NULL;
    codes[info->si_code == SI_QUEUE   ? 0
          : info->si_code == SI_TKILL ? 1
          : info->si_code == SI_USER  ? 2
                                      : 3]++;
    if (info->si_code == SI_QUEUE)
        sum += info->si_value.sival_int;
    if (info->si_pid != getpid())
        codes[4]++;
}

static void print_action(const char *what, const struct sigaction *action)
{
    unsigned bits = 0;
    for (int i = 1; i < 32; i++)
        bits |= sigismember(&action->sa_mask, i) > 0 ? 1U << i : 0;
    printf("%s: %s flags %#x mask %#x rt %d\n", what,
           action->sa_handler == SIG_DFL       ? "default"
           : action->sa_handler == SIG_IGN     ? "ignored"
           : action->sa_handler == plain       ? "plain"
           : action->sa_sigaction == with_info ? "info"
                                               : "other",
           (unsigned)action->sa_flags & ~0x04000000U, bits,
           sigismember(&action->sa_mask, 64));
}

/* Old actions are what was set before; every signal comes, with its info. */
static void actions(void)
{
    struct sigaction old,
        action = {.sa_sigaction = with_info, .sa_flags = SA_SIGINFO};
    sigaction(number, NULL, &old);
    print_action("first", &old);
    sigfillset(&action.sa_mask);
    sigaction(number, &action, &old);
    print_action("second", &old);
    sigaction(number, NULL, &old);
    print_action("third", &old);
    for (int i = 1; i <= 100; i++) {
        raise(number);
        sigqueue(getpid(), number, (union sigval){.sival_int = i});
        kill(getpid(), number);
        burn(0.001);
    }
    printf("%d: queue %d tkill %d user %d else %d others %d sum %d\n", count,
           codes[0], codes[1], codes[2], codes[3], codes[4], sum);
    printf("signal: %d\n",
           signal(number, plain) == (void (*)(int))(void *)with_info);
    sigaction(number, NULL, &old);
    print_action("fourth", &old);
    raise(number);
    printf("%d\n", count);
    printf("signal: %d\n", signal(number, SIG_IGN) == plain);
    raise(number);
    printf("signal: %d\n", signal(number, SIG_DFL) == SIG_IGN);
    fflush(stdout);
    /* A control signal that nobody handles is jprof's again. */
    if (number == SIGUSR1 || number == SIGUSR2)
        return;
    raise(number);
    printf("alive\n");
}

static void once(void)
{
    struct sigaction old,
        action = {.sa_handler = plain, .sa_flags = (int)SA_RESETHAND};
    sigaction(number, &action, NULL);
    raise(number);
    sigaction(number, NULL, &old);
    printf("%d default %d\n", count, old.sa_handler == SIG_DFL);
    fflush(stdout);
    raise(number);
    printf("alive\n");
}

static void nest(int signal)
{
    nested++;
    if (nested > deepest)
        deepest = nested;
    if (count++ < 3)
        raise(signal);
    nested--;
}

static void no_defer(void)
{
    struct sigaction action = {.sa_handler = nest, .sa_flags = SA_NODEFER};
    sigaction(number, &action, NULL);
    raise(number);
    printf("%d deepest %d\n", count, deepest);
    action.sa_flags = 0;
    count = deepest = 0;
    sigaction(number, &action, NULL);
    raise(number);
    printf("%d deepest %d\n", count, deepest);
}

static void where(int signal)
{
    char here;
    stack_t now;
    (void)signal;
    sigaltstack(NULL, &now);
    count++;
    on_stack = (now.ss_flags & SS_ONSTACK) != 0;
    printf("own %d size %zu flags %d\n", now.ss_sp == small_stack, now.ss_size,
           now.ss_flags);
    (void)here;
    burn(0.1);
}

/* A small alternate stack. */
static void alternate(void)
{
    stack_t mine = {.ss_sp = small_stack, .ss_size = sizeof(small_stack)}, old;
    printf("%d\n", sigaltstack(&mine, &old));
    printf("old flags %d\n", old.ss_flags);
    burn(0.3);
    mine.ss_size = 100;
    printf("%d %d\n", sigaltstack(&mine, &old), errno == ENOMEM);
    sigaltstack(NULL, &old);
    printf("own %d size %zu flags %d\n", old.ss_sp == small_stack, old.ss_size,
           old.ss_flags);
    mine.ss_flags = SS_DISABLE;
    printf("%d\n", sigaltstack(&mine, &old));
    printf("own %d size %zu flags %d\n", old.ss_sp == small_stack, old.ss_size,
           old.ss_flags);
    sigaltstack(NULL, &old);
    printf("flags %d\n", old.ss_flags);
    burn(0.1);
}

/* Whether any of it is not zero. */
static int is_used(const char *stack, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (stack[i] != 0)
            return 1;
    }
    return 0;
}

/* With a handler of its own there: 16 KiB, which the kernel's frame, the
 * handler, a second frame and jprof's handler just do not fit into.  It can be
 * seen to have been used. */
static void on_alternate(void)
{
    static char larger[8192];
    struct sigaction action = {.sa_handler = where, .sa_flags = SA_ONSTACK};
    stack_t mine = {.ss_sp = larger, .ss_size = sizeof(larger)};
    for (int i = 0; i < 2; i++) {
        sigaltstack(&mine, NULL);
        sigaction(SIGUSR2, &action, NULL);
        memset(larger, 0, sizeof(larger));
        raise(SIGUSR2);
        printf("on stack %d used %d\n", on_stack,
               is_used(larger, sizeof(larger)));
        mine.ss_flags = (int)(1U << 31); /* SS_AUTODISARM */
    }
    sigaltstack(NULL, &mine);
    printf("own %d flags %#x\n", mine.ss_sp == larger, (unsigned)mine.ss_flags);
}

/* Eight threads have the same alternate stack, and handlers of their own run
 * there one at a time: others' frames are theirs.  The threads pass the word
 * on, so that timers run out in all of them. */
#define SHARERS 8
static char shared_stack[1 << 18];
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static int believed, handled;

static void on_shared(int signal)
{
    (void)signal;
    handled++;
}

static void use_shared(void)
{
    stack_t mine;
    sigaltstack(NULL, &mine);
    for (int i = 0; i < 400; i++) {
        turn(20000);
        pthread_mutex_lock(&one_at_a_time);
        believed +=
            mine.ss_sp == shared_stack && mine.ss_size == sizeof(shared_stack);
        raise(SIGUSR2);
        pthread_mutex_unlock(&one_at_a_time);
        sched_yield();
    }
}

static void *share(void *unused)
{
    const stack_t mine = {.ss_sp = shared_stack,
                          .ss_size = sizeof(shared_stack)};
    sigaltstack(&mine, NULL);
    use_shared();
    return unused;
}

/* In two processes: the first thread of a forked child has it already. */
static void shared(void)
{
    struct sigaction action = {.sa_handler = on_shared, .sa_flags = SA_ONSTACK};
    pthread_t threads[SHARERS];
    sigaction(SIGUSR2, &action, NULL);
    share(NULL);
    const pid_t child = fork();
    for (int i = 0; i < SHARERS; i++)
        pthread_create(&threads[i], NULL, share, NULL);
    use_shared();
    for (int i = 0; i < SHARERS; i++)
        pthread_join(threads[i], NULL);
    printf("believed %d handled %d\n", believed, handled);
    if (child == 0)
        return;
    int status = 0;
    waitpid(child, &status, 0);
    printf("child %d\n", status);
}

static void print_mask(const char *what, const sigset_t *set)
{
    printf("%s", what);
    for (int i = 1; i <= 64; i++) {
        if (sigismember(set, i) > 0)
            printf(" %d", i);
    }
    printf("\n");
}

static void masks(void)
{
    sigset_t all, set, old;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, NULL, &old);
    print_mask("first", &old);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    print_mask("old", &old);
    burn(0.3);
    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_UNBLOCK, &set, &old);
    print_mask("old", &old);
    sigprocmask(SIG_BLOCK, &set, &old);
    print_mask("old", &old);
    sigdelset(&set, SIGHUP);
    sigprocmask(SIG_SETMASK, &set, &old);
    print_mask("old", &old);
    printf("%d %d\n", sigprocmask(17, &set, NULL), errno == EINVAL);
    sigprocmask(SIG_BLOCK, NULL, &old);
    print_mask("last", &old);
    /* SIGPROF is the program's, and blocked: it waits. */
    signal(SIGPROF, plain);
    raise(SIGPROF);
    printf("%d\n", count);
    burn(0.05);
    sigemptyset(&set);
    sigprocmask(SIG_SETMASK, &set, NULL);
    printf("%d\n", count);
    /* A signal of the clock's that waited here would swallow the program's. */
    sigaddset(&set, SIGPROF);
    sigprocmask(SIG_BLOCK, &set, NULL);
    burn(0.05);
    raise(SIGPROF);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    printf("%d\n", count);
}

static void *blocked_thread(void *data)
{
    sigset_t old;
    pthread_sigmask(SIG_BLOCK, NULL, &old);
    print_mask("thread", &old);
    burn(0.5);
    return data;
}

/* Threads that block everything. */
static void block_all(void)
{
    sigset_t all;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pthread_create(&thread, NULL, blocked_thread, NULL);
    pthread_join(thread, NULL);
    burn(0.5);
}

/* Another thread has it blocked, as one of all, when it becomes the
 * program's. */
static void *waiting_thread(void *data)
{
    int got = 0;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    int error = sigwait(&set, &got);
    printf("%d waited for %d\n", error, got == number);
    return data;
}

static void waited(void)
{
    sigset_t all;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pthread_create(&thread, NULL, waiting_thread, NULL);
    burn(0.05);
    usleep(100000);
    kill(getpid(), number);
    pthread_join(thread, NULL);
    struct timespec none = {0, 0};
    sigset_t set;
    siginfo_t info;
    sigemptyset(&set);
    sigaddset(&set, number);
    printf("%d %d\n", sigtimedwait(&set, &info, &none), errno == EAGAIN);
    sigqueue(getpid(), number, (union sigval){.sival_int = 42});
    burn(0.05);
    printf("%d\n", sigwaitinfo(&set, &info) == number);
    printf("%d %d\n", info.si_value.sival_int, info.si_code);
    int fd = signalfd(-1, &set, 0);
    sigqueue(getpid(), number, (union sigval){.sival_int = 43});
    struct signalfd_siginfo read_info;
    printf("%zd\n", read(fd, &read_info, sizeof(read_info)));
    printf("%d %d\n", read_info.ssi_int, (int)read_info.ssi_signo == number);
}

/* A timer of its own, whose handler ends the program at anything else. */
static void only_own(int signal, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code != SI_KERNEL)
        _exit(9);
    plain(signal);
}

static void profiled(void)
{
    const struct itimerval every = {{0, 10000}, {0, 10000}};
    struct itimerval now;
    const struct sigaction action = {.sa_sigaction = only_own,
                                     .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &every, NULL);
    burn(1);
    getitimer(ITIMER_PROF, &now);
    /* It goes by ticks, and may be off by a third. */
    printf("%ld %d\n", (long)now.it_interval.tv_usec,
           count >= 5 && count <= 220);
}

static void killed_by_timer(void)
{
    const struct itimerval once_only = {{0, 0}, {0, 100000}};
    setitimer(number == SIGALRM ? ITIMER_REAL : ITIMER_PROF, &once_only, NULL);
    burn(5);
    printf("alive\n");
}

static void alarmed(void)
{
    signal(SIGALRM, plain);
    number = SIGALRM;
    alarm(1);
    while (count == 0)
        pause();
    printf("%d\n", count);
    timer_t timer;
    const struct itimerspec soon = {{0, 0}, {0, 1000000}};
    timer_create(CLOCK_MONOTONIC, NULL, &timer);
    timer_settime(timer, 0, &soon, NULL);
    while (count == 1)
        usleep(1000);
    printf("%d\n", count);
    alarm(1);
    printf("%u\n", alarm(0));
}

static long set_past(const void *action, void *old)
{
    return raw_sigaction(number, action, old);
}

static long set_by_syscall(const void *action, void *old)
{
    return syscall(SYS_rt_sigaction, number, action, old, 8);
}

/* The raw system call, without a word. */
static void set_raw(long (*set)(const void *, void *))
{
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        unsigned long mask;
    } action = {0}, old = {0};
    struct sigaction with_restorer = {.sa_handler = plain};
    burn(0.1);
    sigaction(SIGWINCH, &with_restorer, NULL);
    syscall(SYS_rt_sigaction, SIGWINCH, NULL, &old, 8);
    action = old;
    action.handler = plain;
    printf("%ld\n", set(&action, &old));
    burn(0.5);
    count = 0;
    raise(number);
    printf("%d\n", count);
}

static void raw(void)
{
    set_raw(set_past);
}

static void by_syscall(void)
{
    set_raw(set_by_syscall);
}

static sigjmp_buf back;
static void leave(int signal)
{
    (void)signal;
    siglongjmp(back, 1);
}

static void jumped(void)
{
    sigset_t before, after;
    sigprocmask(SIG_BLOCK, NULL, &before);
    signal(number, leave);
    for (volatile int i = 0; i < 100; i++) {
        if (sigsetjmp(back, 1) == 0)
            raise(number);
        burn(0.001);
    }
    sigprocmask(SIG_BLOCK, NULL, &after);
    print_mask("after", &after);
}

#define OFTEN 10 /* of some 5,000 */
static volatile int more;
static void look_at_mask(int signal)
{
    sigset_t mask;
    (void)signal;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    more += sigismember(&mask, SIGHUP);
}

/* A handler comes where the program was, and not in jprof's own handler, in
 * which more is blocked. */
static void interrupted(void)
{
    const struct itimerval often = {{0, 100}, {0, 100}},
                           never = {{0, 0}, {0, 0}};
    signal(SIGALRM, look_at_mask);
    setitimer(ITIMER_REAL, &often, NULL);
    burn(0.5);
    setitimer(ITIMER_REAL, &never, NULL);
    printf("more was blocked %s\n", more > OFTEN ? "often" : "hardly ever");
}

/* The mask, and what is ignored, go on to the next program. */
static void handed_on(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    signal(SIGPROF, SIG_IGN);
    unsetenv("LD_PRELOAD");
    execlp("no-such-program", "grep", NULL);
    burn(0.2);
    execlp("grep", "grep", "Sig[BI]", "/proc/self/status", NULL);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"actions", actions},         {"once", once},
    {"nodefer", no_defer},        {"altstack", alternate},
    {"onaltstack", on_alternate}, {"masks", masks},
    {"blockall", block_all},      {"waited", waited},
    {"profiled", profiled},       {"killed", killed_by_timer},
    {"alarmed", alarmed},         {"raw", raw},
    {"jumped", jumped},           {"syscall", by_syscall},
    {"exec", handed_on},          {"sharedstack", shared},
    {"interrupted", interrupted},
};

int main(int argc, char **argv)
{
    if (argc > 2)
        number = atoi(argv[2]);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            return 0;
        }
    }
    return 64;
}
