/* SPDX-License-Identifier: MIT
 *
 * Runs the program and passes signals on.  All signals that matter are blocked
 * and taken one by one: none comes between two steps here.
 * Runs in: launcher. */
#include "program.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launcher/base/say.h"
#include "launcher/os/check.h"
#include "launcher/os/spawn.h"
#include "launcher/os/claim.h"

#define FIRST_LOOK_MS 50
#define START_SIZE 512 /* of a file that the kernel does not execute */

static const struct {
    const char *name;
    uint8_t number;
    uint8_t is_passed_on;
    uint8_t of_terminal; /* which sends it to all of its foreground group:
                               the program then has it already */
} signals[] = {
    {"HUP", SIGHUP, 1, 1},   {"INT", SIGINT, 1, 1},
    {"QUIT", SIGQUIT, 1, 1}, {"ILL", SIGILL, 0, 0},
    {"TRAP", SIGTRAP, 0, 0}, {"ABRT", SIGABRT, 0, 0},
    {"BUS", SIGBUS, 0, 0},   {"FPE", SIGFPE, 0, 0},
    {"KILL", SIGKILL, 0, 0}, {"USR1", SIGUSR1, 1, 0},
    {"SEGV", SIGSEGV, 0, 0}, {"USR2", SIGUSR2, 1, 0},
    {"PIPE", SIGPIPE, 0, 0}, {"ALRM", SIGALRM, 0, 0},
    {"TERM", SIGTERM, 1, 0}, {"XCPU", SIGXCPU, 0, 0},
    {"XFSZ", SIGXFSZ, 0, 0}, {"VTALRM", SIGVTALRM, 0, 0},
    {"PROF", SIGPROF, 0, 0}, {"IO", SIGIO, 0, 0},
    {"PWR", SIGPWR, 0, 0},   {"SYS", SIGSYS, 0, 0},
    {"CHLD", SIGCHLD, 0, 0},
};
#define SIGNALS (sizeof signals / sizeof *signals)

const char *jl_signal_name(int number)
{
    static char text[16];

    for (size_t i = 0; i < SIGNALS; i++)
        if (signals[i].number == number)
            return signals[i].name;
    snprintf(text, sizeof text, "%d", number);
    return text;
}

/* The signals that are taken: those passed on, unless they are ignored, and
 * the one of the program's end. */
static void find_set(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    for (size_t i = 0; i < SIGNALS; i++)
        if (signals[i].is_passed_on &&
            !jl_signal_was_ignored(signals[i].number))
            sigaddset(set, signals[i].number);
}

/* Whether the program had the signal too: from the terminal, or from a shell
 * that hangs up and tells all of its jobs. */
static int had_it(const siginfo_t *info)
{
    for (size_t i = 0; i < SIGNALS; i++)
        if (signals[i].number == info->si_signo && signals[i].of_terminal)
            return info->si_code == SI_KERNEL ||
                   (info->si_signo == SIGHUP && info->si_code == SI_USER &&
                    info->si_pid == getsid(0));
    return 0;
}

/* A file without #! that is no program either is a shell's, as for execvp. */
static int is_script(const char *path)
{
    char start[START_SIZE];
    size_t got = jl_read_start(path, start, sizeof start);

    return got > 0 && memchr(start, '\0', got) == NULL;
}

static _Noreturn void run_child(const struct jl_program *program)
{
    const char *path = program->path;
    char *const *env = program->env;
    size_t count = 0;
    char **argv;
    int error;

    if (jl_claim(program->jit_files) != 0)
        env = program->bare;
    jl_signals_restore();
    execve(path, program->argv, env);
    error = errno;
    if (error == ENOEXEC && is_script(path)) {
        while (program->argv[count])
            count++;
        argv = jr_alloc(count + 2, sizeof *argv);
        argv[0] = (char *)"sh";
        argv[1] = (char *)path;
        memcpy(argv + 2, program->argv + 1, count * sizeof *argv);
        execve("/bin/sh", argv, env);
    }
    jr_say("%s: %s", program->argv[0], strerror(error));
    _exit(error == ENOENT ? JL_NOT_FOUND : JL_NOT_EXECUTABLE);
}

static uint64_t nano(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000000000U +
           (uint64_t)time->tv_usec * 1000U;
}

/* Takes the program's end, if it has come. */
static int reap(struct jl_program *program)
{
    struct rusage usage;
    int status;
    pid_t got = wait4(program->pid, &status, WNOHANG, &usage);

    if (got != program->pid)
        return got < 0 && errno == ECHILD;
    program->status =
        WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    program->cpu_ns = nano(&usage.ru_utime) + nano(&usage.ru_stime);
    return 1;
}

/* Looks after the program until a signal comes. */
static int await_signal(const struct jl_program *program, const sigset_t *set,
                        siginfo_t *info, int *look_ms)
{
    const int64_t next = jr_now_ms() + *look_ms;
    const struct timespec wait = {*look_ms / 1000, *look_ms % 1000 * 1000000L};
    const int got =
        program->look ? sigtimedwait(set, info, &wait) : sigwaitinfo(set, info);

    if (program->look && (got < 0 || jr_now_ms() >= next))
        *look_ms = program->look(program->data);
    return got;
}

void jl_program_run(struct jl_program *program)
{
    uint64_t start = jr_now_ns(CLOCK_BOOTTIME);
    const struct timespec none = {0};
    sigset_t set, before;
    siginfo_t info;
    int look_ms = FIRST_LOOK_MS;

    find_set(&set);
    sigprocmask(SIG_BLOCK, &set, &before);
    program->pid = fork();
    if (program->pid == 0)
        run_child(program);
    if (program->pid < 0)
        jl_fail(JR_FAILED, "no process can be made: %s", strerror(errno));
    while (!reap(program)) {
        if (await_signal(program, &set, &info, &look_ms) > 0 &&
            info.si_signo != SIGCHLD && !had_it(&info))
            kill(program->pid, info.si_signo);
    }
    program->wall_ns = jr_now_ns(CLOCK_BOOTTIME) - start;
    /* Signals that came after the program's end must not end the launcher. */
    while (sigtimedwait(&set, &info, &none) > 0)
        ;
    sigprocmask(SIG_SETMASK, &before, NULL);
}
