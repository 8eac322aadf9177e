/* SPDX-License-Identifier: MIT
 *
 * The storm: children of every kind.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "storm.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void forks(struct storm_activity *self)
{
    const int code = (int)(self->rounds % 100);
    const pid_t pid = fork();
    STORM_CHECK(self, pid >= 0);
    if (pid == 0) {
        char *memory = malloc(10000);
        memset(memory, code, 10000);
        storm_work(500);
        _exit(memory[9999] == code && getppid() != 0 ? code : 101);
    }
    STORM_CHECK(self, storm_status_of(pid) == code);
}

static void vforks(struct storm_activity *self)
{
    volatile int seen = 0;
    pid_t pid = vfork();
    if (pid == 0) {
        seen = 1;
        _exit(3);
    }
    STORM_CHECK(self, pid > 0 && seen == 1 && storm_status_of(pid) == 3);
    pid = vfork();
    if (pid == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(127);
    }
    STORM_CHECK(self, pid > 0 && storm_status_of(pid) == 0);
}

static void spawns(struct storm_activity *self)
{
    char *const argv[] = {(char *)"storm", (char *)"child", (char *)"2000",
                          NULL};
    pid_t pid = -1;
    const int error = posix_spawn(&pid, storm_self, NULL, NULL, argv, environ);
    STORM_CHECK(self, error == 0);
    STORM_CHECK(self, error != 0 || storm_status_of(pid) == 5);
}

static void execs(struct storm_activity *self)
{
    const pid_t pid = fork();
    STORM_CHECK(self, pid >= 0);
    if (pid == 0) {
        execl("/nonexistent", "x", (char *)NULL);
        if (errno != ENOENT)
            _exit(126);
        storm_work(300);
        execl(storm_self, "storm", "child", "1000", (char *)NULL);
        _exit(127);
    }
    STORM_CHECK(self, storm_status_of(pid) == 5);
}

static void shells(struct storm_activity *self)
{
    char line[64] = "";
    const int status = system("exit 3");
    STORM_CHECK(self, WIFEXITED(status) && WEXITSTATUS(status) == 3);
    FILE *pipe = popen("echo storm; exit 4", "re");
    STORM_CHECK(self, pipe != NULL);
    if (pipe == NULL)
        return;
    STORM_CHECK(self, fgets(line, sizeof(line), pipe) != NULL &&
                          strcmp(line, "storm\n") == 0);
    const int closed = pclose(pipe);
    STORM_CHECK(self, WIFEXITED(closed) && WEXITSTATUS(closed) == 4);
}

struct storm_activity storm_processes[] = {
    {"forks", forks, 100000, 0, 0},   {"vforks", vforks, 100000, 0, 0},
    {"spawns", spawns, 200000, 0, 0}, {"execs", execs, 200000, 0, 0},
    {"shells", shells, 300000, 0, 0}, {NULL, NULL, 0, 0, 0},
};
