/* SPDX-License-Identifier: MIT
 *
 * Masks that are brought back by others than the calls that change them:
 *     restored handler    at the end of a handler that blocked everything
 *     restored inside     a handler's own mask, as it sees it
 *     restored jump       by siglongjmp, to one that blocked nothing
 *     restored back       by siglongjmp, to one that blocked everything
 *     restored cancel     in the clean-up of a thread cancelled in a call
 * Prints what is blocked then, and whether SIGPROF and SIGALRM come to handlers
 * of the program's; in the end a child made by exec prints its mask.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>

#define ROUNDS 600

static sigset_t all, none;
static sigjmp_buf place;
static volatile sig_atomic_t came;

static void tell(const char *when)
{
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    printf("%s:", when);
    for (int i = 1; i <= 64; i++)
        if (sigismember(&now, i) == 1)
            printf(" %d", i);
    putchar('\n');
}

static void block_all(int signal)
{
    (void)signal;
    sigprocmask(SIG_BLOCK, &all, NULL);
}

static void look(int signal)
{
    (void)signal;
    tell("inside");
}

static void note(int signal)
{
    (void)signal;
    came++;
}

static void by_handler(void)
{
    signal(SIGUSR2, block_all);
    raise(SIGUSR2);
}

static void inside(void)
{
    struct sigaction action = {.sa_handler = look};
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR2);
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR2);
}

static void by_jump(void)
{
    if (sigsetjmp(place, 1) == 0) {
        sigprocmask(SIG_BLOCK, &all, NULL);
        siglongjmp(place, 1);
    }
}

static void by_jump_back(void)
{
    sigprocmask(SIG_BLOCK, &all, NULL);
    if (sigsetjmp(place, 1) == 0) {
        sigprocmask(SIG_SETMASK, &none, NULL);
        siglongjmp(place, 1);
    }
    tell("back");
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* glibc itself blocks its signal for cancellation (32, nptl(7)). */
static void look_again(void *data)
{
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    for (int i = 1; i <= 64; i++)
        *(int *)data += i != 32 && i != 33 && sigismember(&now, i) == 1;
}

static void *wait_long(void *data)
{
    pthread_cleanup_push(look_again, data);
    for (;;) {
        turn(20000);
        poll(NULL, 0, 1);
    }
    pthread_cleanup_pop(0);
    return NULL;
}

static void by_cancel(void)
{
    int blocked = 0;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, wait_long, &blocked) != 0)
            die("pthread_create");
        usleep((unsigned)(i * 37 % 100) * 30);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    printf("blocked in clean-up: %d\n", blocked);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"handler", by_handler},
                {"inside", inside},
                {"jump", by_jump},
                {"back", by_jump_back},
                {"cancel", by_cancel}};
    sigfillset(&all);
    sigemptyset(&none);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        if (argc > 1 && strcmp(argv[1], ways[i].name) == 0)
            ways[i].run();
    tell("after");
    signal(SIGPROF, note);
    signal(SIGALRM, note);
    raise(SIGPROF);
    kill(getpid(), SIGALRM);
    printf("came %d\n", (int)came);
    signal(SIGPROF, SIG_DFL);
    signal(SIGALRM, SIG_DFL);
    fflush(stdout);
    execl("/bin/grep", "grep", "SigBlk", "/proc/self/status", (char *)NULL);
    return 1;
}
