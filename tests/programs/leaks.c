/* SPDX-License-Identifier: MIT
 *
 * Forks while other threads are sampled, and has each child look for
 * descriptors that nobody here has opened:
 *     leaks [FORKS=2000] [THREADS=3]
 * Prints `leaks N`, the children that found one.  The threads keep the
 * collector reading the memory map, by closing a library that stays.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#define FIRST 3
#define LAST 40

static _Atomic int stop;

static void *work(void *data)
{
    while (!atomic_load(&stop)) {
        void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
        if (libc != NULL)
            dlclose(libc);
        turn(2000);
    }
    return data;
}

static int look(void)
{
    for (int fd = FIRST; fd < LAST; fd++) {
        if (fcntl(fd, F_GETFD) != -1)
            return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int forks = (int)argument(argc, argv, 1, 2000), leaks = 0;
    int count = (int)argument(argc, argv, 2, 3);
    pthread_t threads[16];
    for (int fd = FIRST; fd < LAST; fd++)
        close(fd);
    for (int i = 0; i < count && i < 16; i++) {
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            die("pthread_create");
    }
    for (int i = 0; i < forks; i++) {
        int status = 0;
        pid_t pid = fork();
        if (pid == 0)
            _exit(look());
        if (pid < 0 || waitpid(pid, &status, 0) != pid)
            die("fork");
        leaks += status != 0;
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < count && i < 16; i++)
        pthread_join(threads[i], NULL);
    printf("leaks %d\n", leaks);
    return 0;
}
