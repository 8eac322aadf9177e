/* SPDX-License-Identifier: MIT
 *
 * Loads a shared object while it is being profiled, uses the CPU in it and
 * unloads it, again and again:
 *     dlopener PATH_OF_SPINLIB [CPU_SECONDS=1] [TIMES=5]
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <dlfcn.h>

int main(int argc, char **argv)
{
    double seconds = argument(argc, argv, 2, 1);
    int times = (int)argument(argc, argv, 3, 5);
    for (int i = 0; i < times; i++) {
        void *handle = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
        void (*spin)(double) = NULL;
        if (handle != NULL)
            *(void **)&spin = dlsym(handle, "plugin_spin");
        if (spin == NULL) {
            fprintf(stderr, "dlopener: %s\n", dlerror());
            return 2;
        }
        spin(seconds / times);
        dlclose(handle);
    }
    printf("cpu %.6f\n", cpu_seconds(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
