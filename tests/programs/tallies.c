/* SPDX-License-Identifier: MIT
 *
 * Counts its own samples in a file that outlives it: each thread raises the
 * clock's signal again and again, and adds one to its counter in the file
 * when raise has returned, the sample being taken by then.
 *     tallies FILE THREADS HOW [TIMES=1000]
 * HOW it ends, when the main thread has raised it TIMES times: loop (never),
 * exit, _exit, quick_exit, exit_group, abort, crash (in another thread), exec
 * (of /bin/true).
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define THREADS_MAX 64

static _Atomic uint64_t *counters;
static const char *how;
static uint64_t times;
static _Atomic int crash;

static void leave(void)
{
    if (strcmp(how, "exit") == 0)
        exit(3);
    if (strcmp(how, "_exit") == 0)
        _exit(3);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(3);
    if (strcmp(how, "exit_group") == 0)
        syscall(SYS_exit_group, 3);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "exec") == 0)
        execl("/bin/true", "true", (char *)NULL);
    crash = 1;
    while (strcmp(how, "crash") == 0)
        pause();
}

static void *work(void *data)
{
    _Atomic uint64_t *counter = data;
    const int is_main = counter == counters;
    for (uint64_t i = 1;; i++) {
        if (raise(SIGPROF) != 0)
            die("raise");
        atomic_fetch_add(counter, 1);
        if (is_main && i == times)
            leave();
        if (!is_main && atomic_load(&crash))
            *(volatile int *)8 = 1;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = (int)argument(argc, argv, 2, 1);
    if (argc < 4 || threads < 1 || threads > THREADS_MAX)
        return 64;
    int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 4096) != 0)
        die(argv[1]);
    counters = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (counters == MAP_FAILED)
        die("mmap");
    close(fd);
    how = argv[3];
    times = (uint64_t)argument(argc, argv, 4, 1000);
    if (strcmp(how, "loop") == 0)
        times = 0;
    for (int i = 1; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, (void *)(counters + i)) != 0)
            die("pthread_create");
    }
    work((void *)counters);
    return 0;
}
