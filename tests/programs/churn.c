/* SPDX-License-Identifier: MIT
 *
 * Threads that load, use and unload a shared object as fast as they can,
 * beside threads that allocate and map:
 *     churn PATH_OF_SPINLIB [SECONDS=2] [PAIRS=2]
 * Prints how many times the object was loaded.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define PAIRS_MAX 16

static double seconds;
static const char *path;
static _Atomic unsigned long loaded;

static int more(void)
{
    return cpu_seconds(CLOCK_MONOTONIC) < seconds;
}

static void *load(void *data)
{
    while (more()) {
        void *handle = dlopen(path, RTLD_NOW);
        void (*spin)(double);
        if (handle == NULL)
            die("dlopen");
        *(void **)&spin = dlsym(handle, "plugin_spin");
        spin(0);
        dlclose(handle);
        atomic_fetch_add(&loaded, 1);
    }
    return data;
}

static void *allocate(void *data)
{
    void *pieces[64] = {NULL};
    for (unsigned i = 0; more(); i++) {
        free(pieces[i % 64]);
        pieces[i % 64] = malloc(16 + i * 37 % 5000);
        if (i % 64 == 0) {
            void *code = mmap(NULL, 8192, PROT_READ | PROT_EXEC,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            munmap(code, 8192);
        }
    }
    for (unsigned i = 0; i < 64; i++)
        free(pieces[i]);
    return data;
}

int main(int argc, char **argv)
{
    pthread_t threads[2 * PAIRS_MAX];
    int pairs = (int)argument(argc, argv, 3, 2);
    if (argc < 2 || pairs < 1 || pairs > PAIRS_MAX)
        return 2;
    path = argv[1];
    seconds = cpu_seconds(CLOCK_MONOTONIC) + argument(argc, argv, 2, 2);
    for (int i = 0; i < 2 * pairs; i++)
        if (pthread_create(&threads[i], NULL, i % 2 ? load : allocate, NULL) !=
            0)
            die("pthread_create");
    for (int i = 0; i < 2 * pairs; i++)
        pthread_join(threads[i], NULL);
    printf("loaded %lu\n", atomic_load(&loaded));
    return 0;
}
