/* SPDX-License-Identifier: MIT
 *
 * A program that is executed where the profile's folder is out of sight:
 *     mounts unshare|syscall|clone|again|exec|bare FOLDER SECONDS [NEXT]
 * The process gets mounts of its own, hides the folder with an empty file
 * system, and executes itself as `mounts work . SECONDS NEXT`, which prints its
 * descriptors (`fds 0 1 2`), those from KEPT on as whether they are a folder's
 * (`file` or `folder`), its JPROF_ISCHILD's room for one (`room 0`: none) and
 * whether the folder is in sight (`seen 0`), and computes.  `clone`: a child
 * made by the system call does, and its parent waits.  `again`: the first exec
 * fails.  `exec`: nothing is hidden.  `bare`: without LD_PRELOAD.
 * Then it executes itself once more, as NEXT says: `same`: in the process;
 * `fork`, `vfork`, `spawn`, `system`, `popen`; `closed`: in a child that has
 * closed all but its standard descriptors; `naked`: in one without LD_PRELOAD;
 * `many`: in eight at once; `mounts`: behind mounts of its own once more;
 * `locked`: in a child, while it holds a lock on the file that jprof keeps
 * open, at first; `cut`: in eight, while another child cuts that file short and
 * lengthens it again.  `shells`: shells without LD_PRELOAD print descriptors.
 * `work` ends with status 5; 77: no such mounts are allowed here.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT 32 /* less than the numbers of descriptors that jprof keeps */
#define MANY 8
#define HELD 0.05 /* s of CPU time */

extern char **environ;

static void print_descriptors(void)
{
    struct stat info;
    DIR *folder = opendir("/proc/self/fd");
    printf("fds");
    for (int fd = 0; fd < 1024; fd++) {
        if (fd == dirfd(folder) || fstat(fd, &info) != 0)
            continue;
        if (fd < KEPT)
            printf(" %d", fd);
        else
            printf(" %s", S_ISDIR(info.st_mode) ? "folder" : "file");
    }
    closedir(folder);
}

static pid_t start(const char *how, char **next)
{
    pid_t pid = 0;
    if (strcmp(how, "spawn") == 0)
        return posix_spawn(&pid, next[0], NULL, NULL, next, environ) ? -1 : pid;
    pid = strcmp(how, "vfork") == 0 ? vfork() : fork();
    if (pid != 0)
        return pid;
    if (strcmp(how, "closed") == 0)
        close_range(3, ~0U, 0);
    if (strcmp(how, "naked") == 0)
        unsetenv("LD_PRELOAD");
    execv(next[0], next);
    _exit(1);
}

/* Mounts of its own, in a user namespace of its own where that is needed. */
static int own_mounts(const char *how)
{
    const int flags = CLONE_NEWNS;
    const int bare = strcmp(how, "syscall") == 0;
    const long first = bare ? syscall(SYS_unshare, flags) : unshare(flags);
    return first == 0 || unshare(flags | CLONE_NEWUSER) == 0;
}

/* The descriptor that jprof keeps; -1: none. */
static int kept(void)
{
    struct stat info;
    for (int fd = KEPT; fd < 1024; fd++) {
        if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
            return fd;
    }
    return -1;
}

static void lock(short how)
{
    const struct flock all = {.l_type = how, .l_whence = SEEK_SET};
    (void)fcntl(kept(), F_SETLK, &all);
}

/* Waits until a process has used so much CPU time. */
static void await(pid_t pid, double seconds)
{
    const struct timespec nap = {0, 1000000};
    clockid_t clock;
    while (clock_getcpuclockid(pid, &clock) == 0 &&
           cpu_seconds(clock) < seconds)
        nanosleep(&nap, NULL);
}

/* A process that cuts what jprof keeps open short, until it is killed. */
static pid_t cutter(void)
{
    const pid_t pid = fork();
    const int fd = kept();
    while (pid == 0) {
        if (ftruncate(fd, 0) != 0 || ftruncate(fd, 9L << 20) != 0)
            _exit(0);
    }
    return pid;
}

static int shells(void)
{
    static const char command[] = "ls /proc/self/fd";
    char line[80];
    unsetenv("LD_PRELOAD");
    fflush(stdout);
    if (system(command) != 0)
        return 1;
    FILE *pipe = popen(command, "r");
    while (fgets(line, sizeof(line), pipe) != NULL)
        fputs(line, stdout);
    return pclose(pipe) == 0 ? 5 : 1;
}

/* Executes itself in another way, and waits.  Returns what the status must
 * be. */
static int go_on(const char *how, char **argv)
{
    char self[4096] = "", line[5000];
    char *next[] = {self, argv[1], argv[2], argv[3], NULL};
    const int is_cut = strcmp(how, "cut") == 0;
    const int count = strcmp(how, "many") == 0 || is_cut ? MANY : 1;
    int status = 0, all = 5 << 8;
    if (readlink("/proc/self/exe", self, sizeof(self) - 1) <= 0)
        return 1;
    snprintf(line, sizeof(line), "%s work . %s", self, argv[3]);
    if (strcmp(how, "shells") == 0)
        return shells();
    if (strcmp(how, "same") == 0 ||
        (strcmp(how, "mounts") == 0 && own_mounts("unshare")))
        execv(self, next);
    if (strcmp(how, "system") == 0)
        return WEXITSTATUS(system(line));
    if (strcmp(how, "popen") == 0) {
        FILE *pipe = popen(line, "r");
        while (fgets(line, sizeof(line), pipe) != NULL)
            fputs(line, stdout);
        return WEXITSTATUS(pclose(pipe));
    }
    if (strcmp(how, "locked") == 0)
        lock(F_WRLCK);
    const pid_t other = is_cut ? cutter() : 0;
    pid_t pid = 0;
    for (int i = 0; i < count; i++) {
        pid = start(how, next);
        if (pid < 0)
            return 1;
    }
    if (strcmp(how, "locked") == 0) {
        await(pid, HELD);
        lock(F_UNLCK);
    }
    for (int i = 0; i < count; i++) {
        const pid_t ended = wait(&status);
        if (ended == other)
            i--;
        else if (ended < 0 || status != 5 << 8)
            all = status;
    }
    if (other > 0) {
        kill(other, SIGKILL);
        waitpid(other, &status, 0);
    }
    return WIFEXITED(all) ? WEXITSTATUS(all) : 3;
}

static int work(char **argv)
{
    const double seconds = atof(argv[3]);
    const char *value = getenv("JPROF_ISCHILD");
    const double end = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) + seconds;
    char buffer[16] = "";
    print_descriptors();
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
    return argv[4] != NULL ? go_on(argv[4], argv) : 5;
}

static int hide_and_execute(char **argv)
{
    char *const next[] = {argv[0], "work", ".", argv[3], argv[4], NULL};
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
    if (argc != 4 && argc != 5)
        return 2;
    if (strcmp(argv[1], "work") == 0)
        return work(argv);
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
