/* SPDX-License-Identifier: MIT
 *
 * Functions of the C library by their oldest versions, as a program calls them
 * that was linked before 2004 (timers) or 2012 (posix_spawn); then timers by
 * references without a version (unversioned.so), and by dlsym.  Says what came
 * of each.  SCRIPT is a file without "#!" that the old posix_spawn has the
 * shell execute:
 *     oldversions SCRIPT
 *     oldversions aio
 * aio: calls io_getevents of libaio's first version, in which the caller does
 * not say how many events are the least; without that library it is jprof's.
 * Exit status 77: this machine's C library has no older versions.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "unversioned.h"

#ifdef __x86_64__

#define OLD(name) __asm__(".symver old_" #name "," #name "@GLIBC_2.2.5")
OLD(timer_create);
OLD(timer_settime);
OLD(timer_delete);
OLD(posix_spawn);
OLD(posix_spawnp);
extern int old_timer_create(clockid_t, struct sigevent *, int *);
extern int old_timer_settime(int, int, const struct itimerspec *, void *);
extern int old_timer_delete(int);
extern __typeof__(posix_spawn) old_posix_spawn, old_posix_spawnp;
extern char **environ;

static volatile sig_atomic_t ticks;

static void tick(int signal)
{
    (void)signal;
    ticks++;
}

static int say(const char *what, int result)
{
    printf("%s: %s\n", what, result == 0 ? "done" : strerror(errno));
    fflush(stdout);
    return result;
}

/* Waits for a signal of the timer, for ten seconds of CPU time. */
static void await_tick(void)
{
    const double end = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) + 10;
    ticks = 0;
    while (ticks == 0 && cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < end)
        BARRIER();
    printf("%s\n", ticks != 0 ? "a tick" : "no tick");
}

static const struct itimerspec often = {{0, 10000000}, {0, 10000000}};

static struct sigevent event(void)
{
    struct sigevent wanted;
    memset(&wanted, 0, sizeof(wanted));
    wanted.sigev_notify = SIGEV_SIGNAL;
    wanted.sigev_signo = SIGUSR2;
    return wanted;
}

/* timer: an int, and what is behind it. */
static void say_neighbour(const int timer[2])
{
    printf("behind the timer: %s\n", timer[1] == -1 ? "as it was" : "changed");
}

static void by_version(void)
{
    int timer[2] = {-1, -1};
    struct sigevent wanted = event();
    if (say("timer_create",
            old_timer_create(CLOCK_MONOTONIC, &wanted, timer)) != 0)
        return;
    say_neighbour(timer);
    if (say("timer_settime", old_timer_settime(timer[0], 0, &often, NULL)) == 0)
        await_tick();
    say("timer_delete", old_timer_delete(timer[0]));
}

static void without_version(void)
{
    int timer[2] = {-1, -1};
    struct sigevent wanted = event();
    if (say("without a version", unversioned_timer(&wanted, &often, timer)) !=
        0)
        return;
    say_neighbour(timer);
    await_tick();
    say("timer_delete", old_timer_delete(timer[0]));
}

static void by_name(void)
{
    int (*create)(clockid_t, struct sigevent *, timer_t *);
    struct sigevent wanted = event();
    timer_t timer;
    *(void **)&create = dlsym(RTLD_DEFAULT, "timer_create");
    if (say("dlsym", create(CLOCK_MONOTONIC, &wanted, &timer)) != 0)
        return;
    if (say("timer_settime", timer_settime(timer, 0, &often, NULL)) == 0)
        await_tick();
    say("timer_delete", timer_delete(timer));
}

static void spawn(const char *what, __typeof__(posix_spawn) *start,
                  char *script)
{
    char *argv[] = {script, NULL};
    pid_t child;
    errno = start(&child, script, NULL, NULL, argv, environ);
    if (errno == 0)
        waitpid(child, NULL, 0);
    say(what, errno);
}

static int by_libaio(void)
{
    int (*get)(unsigned long, long, void *, struct timespec *);
    unsigned long context = 0;
    char event[32];
    struct timespec time = {0, 1000000};
    *(void **)&get = dlvsym(RTLD_DEFAULT, "io_getevents", "LIBAIO_0.1");
    if (get == NULL || syscall(SYS_io_setup, 1, &context) != 0)
        return 3;
    printf("events %d\n", get(context, 1, event, &time));
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 64;
    if (strcmp(argv[1], "aio") == 0)
        return by_libaio();
    signal(SIGUSR2, tick);
    by_version();
    without_version();
    by_name();
    spawn("posix_spawn of before 2.15", old_posix_spawn, argv[1]);
    spawn("posix_spawnp of before 2.15", old_posix_spawnp, argv[1]);
    spawn("posix_spawn", posix_spawn, argv[1]);
    return 0;
}

#else

int main(void)
{
    return 77;
}

#endif
