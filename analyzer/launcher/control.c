/* SPDX-License-Identifier: MIT
 *
 * Queues a signal with a value of jprof's to a process that listens.
 * Runs in: launcher. */
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jp_limits.h"
#include "launcher/base/say.h"
#include "launcher/os/proc.h"
#include "launcher/program/jvm.h"

#define DIGITS_MAX 10

#ifndef SYS_pidfd_open
/* system call number, the same on all architectures */
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

/* The process that the command is about. Its descriptors refer to this process
 * for good: another one that gets the same pid later is not taken for it. */
struct target {
    const char *name; /* the pid as the user wrote it */
    pid_t pid;
    int pidfd; /* its pidfd; -1: the kernel has no pidfd (before 5.3) */
    int dir;   /* /proc/PID */
    struct jl_status status;
    char *maps;
    size_t maps_size;
};

static const struct {
    const char *command;
    enum jp_control value;
} commands[] = {
    {"start", JP_CONTROL_START},
    {"pause", JP_CONTROL_PAUSE},
    {"clear", JP_CONTROL_CLEAR},
    {"save", JP_CONTROL_SAVE},
};

const struct jl_help jl_control_help = {
    .usage = "jprof start|pause|clear|save PID\n",
    .text = "start, pause, clear and save steer the profile of a running "
            "program.\n",
};

static pid_t parse_pid(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    long pid = 0;

    if (digits > 0 && digits <= DIGITS_MAX && text[digits] == '\0' &&
        text[0] != '0')
        pid = strtol(text, NULL, 10);
    if (pid <= 0 || pid > INT32_MAX)
        jl_usage("%s is not a process id", text);
    return (pid_t)pid;
}

static void find_target(struct target *target, const char *text)
{
    char path[32], *status;
    size_t size;

    *target = (struct target){.name = text, .pid = parse_pid(text)};
    target->pidfd = (int)syscall(SYS_pidfd_open, target->pid, 0);
    snprintf(path, sizeof path, "/proc/%ld", (long)target->pid);
    target->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (target->dir < 0)
        jl_fail(JR_FAILED, "no process %s", text);
    target->maps = jl_proc_read(target->dir, "maps", &target->maps_size);
    status = jl_proc_read(target->dir, "status", &size);
    if (!target->maps || !status)
        jl_fail(JR_FAILED, "process %s cannot be looked at (another user's?)",
                text);
    jl_status_read(&target->status, status, size);
    free(status);
}

/* Returns the signal by which the process takes commands; a signal without a
 * handler would kill it. */
static int find_signal(const struct target *target)
{
    if (!jl_maps_have(target->maps, target->maps_size, "libjprof.so"))
        jl_fail(JR_FAILED, "process %s was not started with libjprof.so",
                target->name);
    /* SIGRTMAX, the highest of 64, is jprof's own and never blocked; where the
     * program took it, SIGPROF has a handler that knows the values. */
    if (target->status.caught >> 63 & 1)
        return 64;
    if (!(target->status.caught >> (SIGPROF - 1) & 1))
        jl_fail(JR_FAILED,
                "process %s does not listen: it was started without JP_START "
                "and JP_DEFER, or has ended profiling",
                target->name);
    return SIGPROF;
}

static int send_value(const struct target *target, int number, int value)
{
    siginfo_t info;

    if (target->pidfd < 0)
        return sigqueue(target->pid, number,
                        (union sigval){.sival_int = value});
    memset(&info, 0, sizeof info);
    info.si_signo = number;
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_int = value;
    return (int)syscall(SYS_pidfd_send_signal, target->pidfd, number, &info, 0);
}

int jl_control(char **words)
{
    struct target target;
    size_t command = 0;
    int number;

    if (jl_help_is(words[1]))
        jl_help_show(&jl_control_help);
    if (!words[1] || words[2])
        jl_usage("%s needs one process id", words[0]);
    while (strcmp(commands[command].command, words[0]) != 0)
        command++;
    find_target(&target, words[1]);
    number = find_signal(&target);
    if (commands[command].value == JP_CONTROL_PAUSE &&
        jl_maps_have(target.maps, target.maps_size, "libjvm.so"))
        jl_jvm_ask(target.name, target.dir, &target.status);
    if (send_value(&target, number,
                   JP_CONTROL_MAGIC | (int)commands[command].value) != 0)
        jl_fail(JR_FAILED, "process %s could not be signalled: %s", target.name,
                strerror(errno));
    free(target.maps);
    return JR_COMPLETE;
}
