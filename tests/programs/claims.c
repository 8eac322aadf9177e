/* SPDX-License-Identifier: MIT
 *
 * Signals that a program uses without a hook being called: it blocks one by
 * name, as one of twelve (nss_systemd does that around each look-up), or sets a
 * handler and a timer by bare system calls.  One case a run:
 *     claims CASE SIGNAL
 * It prints what it sees: a run under the library must print the same as a
 * run without.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

static int number;
static volatile int count;

static void burn(double seconds)
{
    const double until = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < until)
        turn(20000);
}

static sigset_t twelve(void)
{
    static const int others[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1,
                                 SIGUSR2, SIGPIPE, SIGTERM, SIGTSTP,
                                 SIGTTIN, SIGTTOU, SIGWINCH};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        sigaddset(&set, others[i]);
    return set;
}

static void print_state(const char *what)
{
    sigset_t mask, pending;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    sigpending(&pending);
    printf("%s: blocked %d %d pending %d\n", what, sigismember(&mask, number),
           sigismember(&mask, SIGHUP), sigismember(&pending, number));
}

/* Blocked for a call. */
static void passing(void)
{
    const sigset_t set = twelve();
    sigset_t before;
    pthread_sigmask(SIG_BLOCK, &set, &before);
    print_state("inside");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    print_state("outside");
    burn(0.6);
}

/* Blocked for good. */
static void lasting(void)
{
    const sigset_t set = twelve();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    burn(0.6);
    print_state("lasting");
}

static void plain(int signal)
{
    count += signal == number;
}

/* Sent while it is blocked, to the thread and to the process: it waits, for a
 * handler that is set later, too. */
static void sent(void)
{
    const sigset_t set = twelve();
    const struct timespec none = {0, 0};
    siginfo_t info;
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    burn(0.1);
    raise(number);
    print_state("raised");
    printf("%d\n", sigtimedwait(&set, &info, &none) == number);
    print_state("taken");
    kill(getpid(), number);
    print_state("sent");
    burn(0.1);
    signal(number, plain);
    printf("handled %d\n", count);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    printf("handled %d\n", count);
    burn(0.4);
}

static void *waits(void *data)
{
    const sigset_t set = twelve();
    int got = 0;
    print_state("thread");
    while (__atomic_load_n((int *)data, __ATOMIC_ACQUIRE) == 0)
        usleep(1000);
    const int error = sigwait(&set, &got);
    printf("%d %d\n", error, got == number);
    return NULL;
}

/* Sent to a process all of whose threads block it, before one waits for it. */
static void awaited(void)
{
    const sigset_t set = twelve();
    pthread_t thread;
    int go = 0;
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&thread, NULL, waits, &go);
    burn(0.1);
    kill(getpid(), number);
    __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    burn(0.4);
}

/* Handed on by exec; and the same program, executed. */
static void handed(void)
{
    const sigset_t set = twelve();
    char text[16];
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    snprintf(text, sizeof(text), "%d", number);
    execl("/proc/self/exe", "claims", "executed", text, (char *)NULL);
}

static void executed(void)
{
    print_state("executed");
    burn(0.6);
    raise(number);
    print_state("raised");
}

/* A profiler of its own that no hook sees.  It gets its 100 signals a second,
 * and at the most two tenths of a second's of another's. */
static void past(void)
{
    const struct itimerval every = {{0, 10000}, {0, 10000}},
                           never = {{0, 0}, {0, 0}};
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        unsigned long mask;
    } action = {0};
    const struct sigaction other = {.sa_handler = plain,
                                    .sa_flags = SA_RESTART};
    sigaction(SIGWINCH, &other, NULL);
    raw_sigaction(SIGWINCH, NULL, &action); /* for the restorer */
    action.handler = plain;
    raw_sigaction(number, &action, NULL);
    raw_call(SYS_setitimer, ITIMER_PROF, &every, NULL, 0);
    burn(1);
    raw_call(SYS_setitimer, ITIMER_PROF, &never, NULL, 0);
    printf("signals: %s\n", count < 10 ? "few" : count < 200 ? "its" : "more");
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"passing", passing}, {"lasting", lasting}, {"sent", sent},
    {"awaited", awaited}, {"handed", handed},   {"executed", executed},
    {"past", past},
};

int main(int argc, char **argv)
{
    number = (int)argument(argc, argv, 2, SIGPROF);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            return 0;
        }
    }
    return 64;
}
