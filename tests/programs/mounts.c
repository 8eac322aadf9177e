/* SPDX-License-Identifier: MIT
 *
 * A program that is executed where the profile's folder is out of sight:
 *     mounts unshare|syscall|clone|again|exec|bare FOLDER SECONDS
 * The process gets mounts of its own, hides the folder with an empty file
 * system, and executes itself as `mounts work . SECONDS`, which prints its
 * descriptors (`fds 0 1 2`), its JPROF_ISCHILD's room for one (`room 0`: none)
 * and whether the folder is in sight (`seen 0`), and computes.  `clone`: a
 * child made by the system call does, and its parent waits.  `again`: the first
 * exec fails.  `exec`: nothing is hidden.  `bare`:
 * without LD_PRELOAD.  `work` ends with status 5; 77: no
 * such mounts are allowed here.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int work(double seconds)
{
    const char *value = getenv("JPROF_ISCHILD");
    const double end = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) + seconds;
    char buffer[16] = "";
    DIR *folder = opendir("/proc/self/fd");
    printf("fds");
    for (int fd = 0; fd < 1024; fd++) {
        if (fd != dirfd(folder) && fcntl(fd, F_GETFD) != -1)
            printf(" %d", fd);
    }
    closedir(folder);
    for (int dots = 0; value != NULL && *value != '\0' && *value != ':';
         value++) {
        dots += *value == '.';
        if (dots == 3 && *value != '.' && strlen(buffer) < 15)
            strncat(buffer, value, 1);
    }
    printf("\nroom %d\nseen %d\n", atoi(buffer),
           access("jprof.here", F_OK) == 0);
    fflush(stdout);
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < end)
        turn(10000);
    return 5;
}

/* Mounts of its own, in a user namespace of its own where that is needed. */
static int own_mounts(const char *how)
{
    const int flags = CLONE_NEWNS;
    const int bare = strcmp(how, "syscall") == 0;
    const long first = bare ? syscall(SYS_unshare, flags) : unshare(flags);
    return first == 0 || unshare(flags | CLONE_NEWUSER) == 0;
}

static int hide_and_execute(char **argv)
{
    char *const next[] = {argv[0], "work", ".", argv[3], NULL};
    char *const none[] = {argv[0], NULL};
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        (strcmp(argv[1], "exec") != 0 &&
         mount("none", argv[2], "tmpfs", 0, NULL) != 0))
        return 77;
    if (strcmp(argv[1], "again") == 0)
        execv("/nowhere", none);
    if (strcmp(argv[1], "bare") == 0)
        unsetenv("LD_PRELOAD");
    if (chdir(argv[2]) != 0)
        return 77;
    execv("/proc/self/exe", next);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    if (strcmp(argv[1], "work") == 0)
        return work(atof(argv[3]));
    if (strcmp(argv[1], "clone") != 0)
        return own_mounts(argv[1]) ? hide_and_execute(argv) : 77;
    const unsigned long flags = CLONE_NEWNS | SIGCHLD;
    long pid = syscall(SYS_clone, flags, 0, 0, 0, 0);
    if (pid < 0)
        pid = syscall(SYS_clone, flags | CLONE_NEWUSER, 0, 0, 0, 0);
    if (pid == 0)
        _exit(hide_and_execute(argv));
    int status = 0;
    if (pid < 0 || waitpid((pid_t)pid, &status, 0) != pid)
        return 77;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}
