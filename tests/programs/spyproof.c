/* SPDX-License-Identifier: MIT
 *
 * Proves that mallocspy catches what it is there for: a handler of SIGPROF
 * that calls the function named by the argument (malloc, calloc, realloc,
 * free, pthread_mutex_lock, dl_iterate_phdr, or none).
 * Runs in: tests, under mallocspy.so. */
#define _GNU_SOURCE
#include "common.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

static const char *what;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *volatile memory;

static int each(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)info;
    (void)size;
    (void)data;
    return 0;
}

static void handler(int number)
{
    (void)number;
    if (strcmp(what, "malloc") == 0)
        memory = malloc(1);
    else if (strcmp(what, "calloc") == 0)
        memory = calloc(1, 1);
    else if (strcmp(what, "realloc") == 0)
        memory = realloc(memory, 2);
    else if (strcmp(what, "free") == 0)
        free(memory);
    else if (strcmp(what, "pthread_mutex_lock") == 0)
        pthread_mutex_lock(&mutex);
    else if (strcmp(what, "dl_iterate_phdr") == 0)
        dl_iterate_phdr(each, NULL);
}

int main(int argc, char **argv)
{
    void (*wrap)(void);
    what = argc > 1 ? argv[1] : "none";
    signal(SIGPROF, handler);
    *(void **)&wrap = dlsym(RTLD_DEFAULT, "mallocspy_wrap");
    if (wrap == NULL)
        return 2;
    wrap();
    raise(SIGPROF);
    return 0;
}
