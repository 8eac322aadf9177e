/* SPDX-License-Identifier: MIT
 *
 * Loads one of two libraries, raises SIGPROF within it, closes it, loads the
 * other:
 *     swapper SWAP_A SWAP_B COPY files|one TURNS
 * With `one`, both are copied by turns into the file COPY, which keeps its
 * inode.  Prints `same N`: how often the code was where the last one's was.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

NOINLINE void called_back(void *data);

void called_back(void *data)
{
    (void)data;
    raise(SIGPROF);
    BARRIER();
}

static void copy(const char *from, const char *to)
{
    static char bytes[1 << 20];
    int in = open(from, O_RDONLY);
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
    ssize_t size = read(in, bytes, sizeof(bytes));
    if (size <= 0 || write(out, bytes, (size_t)size) != size)
        die(to);
    close(in);
    close(out);
}

int main(int argc, char **argv)
{
    if (argc < 6)
        return 2;
    const int one = strcmp(argv[4], "one") == 0;
    const long turns = strtol(argv[5], NULL, 10);
    void *last = NULL;
    long same = 0;
    for (long i = 0; i < turns; i++) {
        const char *path = argv[1 + i % 2];
        if (one)
            copy(path, argv[3]);
        void *library = dlopen(one ? argv[3] : path, RTLD_NOW);
        void (*hold)(void (*)(void *), void *);
        if (library == NULL)
            die(dlerror());
        *(void **)&hold = dlsym(library, "swap_hold");
        same += *(void **)&hold == last;
        last = *(void **)&hold;
        hold(called_back, NULL);
        dlclose(library);
    }
    printf("same %ld\n", same);
    return 0;
}
