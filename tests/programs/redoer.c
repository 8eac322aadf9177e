/* SPDX-License-Identifier: MIT
 *
 * Keeps what is registered by pthread_atfork, as Firefox does, and forks in a
 * way of its own, calling these handlers in one order or another:
 *     redoer ORDER CPU_SECONDS
 * ORDER: words of letters, one a fork: B, P and C call the handlers before a
 * fork, in the parent and in the child, as often as they are there; `(` and
 * `)` stand around the call of clone, which runs them as well, `[` and `]`
 * around a bare system call, past the C library.  What stands behind it runs
 * on both sides.  The child works, the parent waits and goes on to the next
 * word.  Prints `handlers N`, and of each child its pid and status.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define MOST 16

static struct handlers {
    void (*call[MOST])(void);
    int count;
} before, parent, child;

int __register_atfork(void (*first)(void), void (*second)(void),
                      void (*third)(void), void *object);

static void keep(struct handlers *handlers, void (*call)(void))
{
    if (call != NULL && handlers->count < MOST)
        handlers->call[handlers->count++] = call;
}

int __register_atfork(void (*first)(void), void (*second)(void),
                      void (*third)(void), void *object)
{
    (void)object;
    keep(&before, first);
    keep(&parent, second);
    keep(&child, third);
    return 0;
}

static void run(char letter)
{
    const struct handlers *handlers = letter == 'B'   ? &before
                                      : letter == 'P' ? &parent
                                      : letter == 'C' ? &child
                                                      : NULL;
    for (int i = 0; handlers != NULL && i < handlers->count; i++)
        handlers->call[i]();
}

static double seconds;
static const char *rest;

NOINLINE uint64_t child_work(uint64_t turns);

uint64_t child_work(uint64_t turns)
{
    return turn(turns);
}

/* A child's: what is left of the word, and the work. */
static int go_on(void *data)
{
    for (const char *at = rest; *at != '\0'; at++) {
        if (*at != 'P')
            run(*at);
    }
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < seconds)
        child_work(200000);
    _exit(data == NULL ? 0 : 1);
}

static long bare_fork(void)
{
#ifdef __x86_64__
    long result = SYS_fork;
    __asm__ volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
    return result;
#else
    register long call __asm__("x8") = SYS_clone;
    register long result __asm__("x0") = SIGCHLD;
    register long stack __asm__("x1") = 0;
    __asm__ volatile("svc 0"
                     : "+r"(result)
                     : "r"(call), "r"(stack)
                     : "x2", "x3", "x4", "memory");
    return result;
#endif
}

static void fork_by(const char *word)
{
    static char stack[65536] __attribute__((aligned(16)));
    long pid = -1;
    int status = -1;
    for (const char *at = word; *at != '\0'; at++) {
        rest = at + 1;
        if (*at == '(')
            pid = clone(go_on, stack + sizeof(stack), SIGCHLD, NULL);
        else if (*at == '[' && (pid = bare_fork()) == 0)
            go_on(NULL);
        else if (pid < 0 || *at != 'C')
            run(*at);
    }
    if (pid < 0 || waitpid((pid_t)pid, &status, 0) != pid)
        die("fork");
    printf("child %ld %x\n", pid, (unsigned)status);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 64;
    seconds = strtod(argv[2], NULL);
    printf("handlers %d\n", child.count);
    fflush(stdout);
    for (char *word = strtok(argv[1], " "); word != NULL;
         word = strtok(NULL, " "))
        fork_by(word);
    /* The clock is not held for ever: the parent works, too. */
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < seconds)
        child_work(200000);
    return 0;
}
