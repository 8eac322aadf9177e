/* SPDX-License-Identifier: MIT
 *
 * What wait and its kin return, in every form: to be the same with the library
 * and without.
 *     waits
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* A child that uses some CPU time and ends with a status. */
static pid_t child(int status)
{
    const pid_t pid = fork();
    if (pid == 0) {
        while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < 0.08)
            turn(100000);
        _exit(status);
    }
    return pid;
}

/* The status is read when the call before it has been made. */
#define say(what, call, status)                                                \
    do {                                                                       \
        const int right_ = (call);                                             \
        printf("%s %s %d\n", what, right_ ? "right" : "WRONG", status);        \
    } while (0)

static void fails(const char *what, int result)
{
    printf("%s %d %s\n", what, result, strerror(errno));
}

static int has_times(const struct rusage *usage)
{
    return usage->ru_utime.tv_sec + usage->ru_utime.tv_usec +
               usage->ru_stime.tv_sec + usage->ru_stime.tv_usec >
           0;
}

static void by_status(void)
{
    struct rusage usage;
    siginfo_t info;
    int status = -1;
    pid_t pid = child(3);
    say("wait", wait(&status) == pid, status);
    pid = child(4);
    say("wait null", wait(NULL) == pid, 0);
    pid = child(5);
    say("waitpid", waitpid(pid, &status, 0) == pid, status);
    pid = child(6);
    say("waitpid null", waitpid(-1, NULL, 0) == pid, 0);
    pid = child(7);
    memset(&usage, 0, sizeof(usage));
    say("wait3", wait3(&status, 0, &usage) == pid && has_times(&usage), status);
    pid = child(8);
    memset(&usage, 0, sizeof(usage));
    say("wait4", wait4(pid, &status, 0, &usage) == pid && has_times(&usage),
        status);
    pid = child(9);
    say("waitid peek",
        waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0 &&
            info.si_pid == pid,
        info.si_status);
    say("waitid",
        waitid(P_PID, (id_t)pid, &info, WEXITED) == 0 && info.si_pid == pid &&
            info.si_code == CLD_EXITED,
        info.si_status);
    pid = child(10);
    say("waitid null", waitid(P_PID, (id_t)pid, NULL, WEXITED) == 0, 0);
}

static void stopped(void)
{
    int status = -1;
    const pid_t pid = fork();
    if (pid == 0) {
        raise(SIGSTOP);
        raise(SIGTERM);
    }
    say("nohang", waitpid(pid, &status, WNOHANG | WEXITED) == -1, errno);
    say("stopped", waitpid(pid, &status, WUNTRACED) == pid, status);
    kill(pid, SIGCONT);
    say("killed", waitpid(pid, &status, 0) == pid, status);
}

static void failing(void)
{
    siginfo_t info;
    fails("no child", waitpid(-1, NULL, 0));
    fails("no child", wait(NULL));
    fails("wrong options", waitpid(-1, NULL, 0x40000));
    fails("no such", waitid(P_PID, 1, &info, WEXITED));
    fails("nothing asked", waitid(P_ALL, 0, &info, 0));
    const pid_t pid = child(0);
    fails("bad address", waitpid(pid, (int *)8, 0));
}

static void on_alarm(int number)
{
    (void)number;
}

static void interrupted(void)
{
    const struct sigaction action = {.sa_handler = on_alarm};
    const pid_t pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    sigaction(SIGALRM, &action, NULL);
    alarm(1);
    fails("interrupted", waitpid(pid, NULL, 0));
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void *wait_long(void *pid)
{
    waitpid(*(pid_t *)pid, NULL, 0);
    return NULL;
}

static void cancelled(void)
{
    pthread_t thread;
    void *result;
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    if (pthread_create(&thread, NULL, wait_long, &pid) != 0)
        die("pthread_create");
    pthread_cancel(thread);
    pthread_join(thread, &result);
    printf("cancelled %d\n", result == PTHREAD_CANCELED);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

int main(void)
{
    by_status();
    stopped();
    failing();
    interrupted();
    cancelled();
    return 0;
}
