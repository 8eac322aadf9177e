/* SPDX-License-Identifier: MIT
 *
 * What one program hands on to the next: signals that are ignored, blocked and
 * pending.
 *     handson STATE[,STATE]... WAY [STATE...]
 *     handson kernel|calls
 * Sets up the states in a forked child, uses some CPU time, and runs itself
 * with the rest of the arguments by the WAY; `all` is one after the other.
 * The last one prints what it was handed, as the kernel says it (kernel: for
 * one without the library) or by calls (calls).
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char **environ;

static const int numbers[] = {SIGPROF, SIGALRM, SIGIO, SIGUSR1, SIGUSR2};
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))
static char self[4096], command[8192], **rest;

static void burn(double seconds)
{
    const double until = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < until)
        turn(20000);
}

/* ---- what was handed on */

static void print_set(const char *what, uint64_t set)
{
    printf(" %s", what);
    for (size_t i = 0; i < NUMBERS; i++)
        if ((set >> (numbers[i] - 1) & 1) != 0)
            printf(" %d", numbers[i]);
}

static int show_kernel(void)
{
    static const char *const keys[] = {
        "SigIgn:", "SigBlk:", "SigPnd:", "ShdPnd:"};
    char line[4096];
    FILE *status = fopen("/proc/self/status", "r");
    if (status == NULL)
        die("status");
    while (fgets(line, sizeof(line), status) != NULL)
        for (size_t i = 0; i < 4; i++)
            if (strncmp(line, keys[i], 7) == 0)
                print_set(keys[i], strtoull(line + 7, NULL, 16));
    printf("\n");
    return 0;
}

static uint64_t bits(const sigset_t *set)
{
    uint64_t value = 0;
    for (size_t i = 0; i < NUMBERS; i++)
        if (sigismember(set, numbers[i]) > 0)
            value |= 1ULL << (numbers[i] - 1);
    return value;
}

static int show_calls(void)
{
    sigset_t set;
    uint64_t ignored = 0;
    struct sigaction action;
    burn(0.01);
    for (size_t i = 0; i < NUMBERS; i++) {
        sigaction(numbers[i], NULL, &action);
        if (action.sa_handler == SIG_IGN)
            ignored |= 1ULL << (numbers[i] - 1);
        else if (action.sa_handler != SIG_DFL)
            printf("handler of %d\n", numbers[i]);
    }
    print_set("ignored", ignored);
    sigprocmask(SIG_BLOCK, NULL, &set);
    print_set("blocked", bits(&set));
    sigpending(&set);
    print_set("pending", bits(&set));
    printf("\n");
    return 0;
}

/* ---- states */

static void handler(int number)
{
    (void)number;
}

static void each(void (*what)(int))
{
    for (size_t i = 0; i < NUMBERS; i++)
        what(numbers[i]);
}

static void ignore(int number)
{
    signal(number, SIG_IGN);
}

static void handle(int number)
{
    signal(number, handler);
}

static void by_default(int number)
{
    signal(number, SIG_DFL);
}

static void block(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

static void unblock(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void block_all(void)
{
    sigset_t set;
    sigfillset(&set);
    sigprocmask(SIG_SETMASK, &set, NULL);
}

static void send_thread(int number)
{
    raise(number);
}

static void send_process(int number)
{
    kill(getpid(), number);
}

static void set_up(const char *state)
{
    const int number =
        atoi(strchr(state, '=') != NULL ? strchr(state, '=') + 1 : "0");
    if (strcmp(state, "ignored") == 0)
        each(ignore);
    else if (strncmp(state, "ignored=", 8) == 0)
        ignore(number);
    else if (strcmp(state, "handled") == 0)
        each(handle);
    else if (strcmp(state, "again") == 0)
        each(ignore), each(by_default);
    else if (strcmp(state, "blocked") == 0)
        each(block);
    else if (strncmp(state, "blocked=", 8) == 0)
        block(number);
    else if (strncmp(state, "unblocked=", 10) == 0)
        unblock(number);
    else if (strcmp(state, "all") == 0)
        block_all();
    else if (strcmp(state, "raised") == 0)
        each(send_thread);
    else if (strcmp(state, "killed") == 0)
        each(send_process);
    else if (strcmp(state, "alone") == 0)
        unsetenv("LD_PRELOAD");
    else if (strcmp(state, "none") != 0)
        exit(64);
}

/* ---- ways */

static void by_execve(void)
{
    execve(self, rest, environ);
}

static void by_execv(void)
{
    execv(self, rest);
}

static void by_execl(void)
{
    execl(self, rest[0], rest[1], rest[1] != NULL ? rest[2] : NULL,
          rest[1] != NULL && rest[2] != NULL ? rest[3] : NULL, NULL);
}

static void by_execvp(void)
{
    execvp(self, rest);
}

static void by_fexecve(void)
{
    fexecve(open(self, O_RDONLY | O_CLOEXEC), rest, environ);
}

static void by_syscall(void)
{
    syscall(SYS_execve, self, rest, environ);
}

static void after_failure(void)
{
    execl("/nonexistent", "x", NULL);
    burn(0.002);
    by_execve();
}

static int await(pid_t child)
{
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 1;
    return status;
}

static void by_spawn(void)
{
    pid_t child = -1;
    posix_spawn(&child, self, NULL, NULL, rest, environ);
    _exit(await(child));
}

static void by_spawnp(void)
{
    pid_t child = -1;
    posix_spawnp(&child, self, NULL, NULL, rest, environ);
    _exit(await(child));
}

static void by_system(void)
{
    _exit(system(command));
}

static void by_popen(void)
{
    char line[1024];
    FILE *out = popen(command, "r");
    while (fgets(line, sizeof(line), out) != NULL)
        fputs(line, stdout);
    fflush(stdout);
    _exit(pclose(out));
}

static void by_vfork(void)
{
    const pid_t child = vfork();
    if (child == 0) {
        execve(self, rest, environ);
        _exit(9);
    }
    _exit(await(child));
}

/* The child changes its mask, as Python's subprocess does. */
static void by_vfork_unblocking(void)
{
    const pid_t child = vfork();
    if (child == 0) {
        unblock(SIGPROF);
        block(SIGALRM);
        execve(self, rest, environ);
        _exit(9);
    }
    sigset_t now;
    const int status = await(child);
    sigprocmask(SIG_BLOCK, NULL, &now);
    print_set("parent", bits(&now));
    printf("\n");
    fflush(stdout);
    _exit(status);
}

static void by_fork(void)
{
    const pid_t child = fork();
    if (child == 0) {
        by_execve();
        _exit(9);
    }
    _exit(await(child));
}

static void *in_thread(void *data)
{
    burn(0.01);
    by_execve();
    return data;
}

static void by_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, in_thread, NULL) == 0)
        pthread_join(thread, NULL);
}

static const struct {
    const char *name;
    void (*go)(void);
} ways[] = {
    {"execve", by_execve},
    {"execv", by_execv},
    {"execl", by_execl},
    {"execvp", by_execvp},
    {"fexecve", by_fexecve},
    {"syscall", by_syscall},
    {"failure", after_failure},
    {"posix_spawn", by_spawn},
    {"posix_spawnp", by_spawnp},
    {"system", by_system},
    {"popen", by_popen},
    {"vfork", by_vfork},
    {"unblocking", by_vfork_unblocking},
    {"fork", by_fork},
    {"thread", by_thread},
};

static void go(char *states, void (*way)(void))
{
    char *more = NULL;
    for (char *state = strtok_r(states, ",", &more); state != NULL;
         state = strtok_r(NULL, ",", &more))
        set_up(state);
    burn(0.01);
    way();
    _exit(9);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "kernel") == 0)
        return show_kernel();
    if (argc == 2 && strcmp(argv[1], "calls") == 0)
        return show_calls();
    if (argc < 4 || readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
        return 64;
    rest = argv + 2;
    const char *way = argv[2];
    rest[0] = self;
    strcpy(command, "exec");
    for (char **word = rest; *word != NULL; word++)
        strcat(strcat(command, " "), *word);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (strcmp(way, "all") != 0 && strcmp(way, ways[i].name) != 0)
            continue;
        printf("%s:", ways[i].name);
        fflush(stdout);
        const pid_t child = fork();
        if (child == 0)
            go(argv[1], ways[i].go);
        const int status = await(child);
        if (status != 0)
            printf("status %#x\n", status);
    }
    return 0;
}
