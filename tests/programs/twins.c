/* SPDX-License-Identifier: MIT
 *
 * Loads two libraries in turn, the second coming to the addresses that the
 * first has left, and takes a sample in each:
 *     twins PATH_A PATH_B [TIMES=10000]
 * The libraries have the same shape and functions of other names (twin_a.c,
 * twin_b.c); in_a calls only the first's, in_b only the second's.  Prints
 * `same N`: how often a library came to the place of the one before.
 * With `gconv` and names of character sets in place of paths, converts text
 * by the C library's modules, which it loads and unloads by itself:
 *     twins gconv TIMES SET...
 * Prints `FROM UNTIL SET` of each conversion, in ns of CLOCK_MONOTONIC.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <dlfcn.h>
#include <iconv.h>
#include <string.h>

typedef int twin_function(int);

NOINLINE int in_a(twin_function *function, int number);
NOINLINE int in_b(twin_function *function, int number);

int in_a(twin_function *function, int number)
{
    int result = function(number) + 1;
    BARRIER();
    return result;
}

int in_b(twin_function *function, int number)
{
    int result = function(number) + 2;
    BARRIER();
    return result;
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void convert(const char *set, char *text, size_t size)
{
    static char out[1 << 18];
    char *from = text, *into = out;
    size_t left = size, room = sizeof(out);
    iconv_t to = iconv_open(set, "UTF-8");
    if (to == (iconv_t)-1)
        die("iconv_open");
    uint64_t start = now();
    if (iconv(to, &from, &left, &into, &room) == (size_t)-1)
        die("iconv");
    printf("%llu %llu %s\n", (unsigned long long)start,
           (unsigned long long)now(), set);
    iconv_close(to);
}

static int sets(int times, char **names, int count)
{
    static char text[1 << 15];
    memset(text, 'a', sizeof(text));
    for (int i = 0; i < times; i++)
        convert(names[i % count], text, sizeof(text));
    return 0;
}

int main(int argc, char **argv)
{
    int times = (int)argument(argc, argv, 3, 10000), same = 0, sum = 0;
    void *last = NULL;
    if (argc > 3 && strcmp(argv[1], "gconv") == 0)
        return sets(atoi(argv[2]), argv + 3, argc - 3);
    if (argc < 3)
        return 64;
    for (int i = 0; i < times; i++) {
        twin_function *function;
        void *library = dlopen(argv[1 + i % 2], RTLD_NOW);
        if (library == NULL) {
            fprintf(stderr, "twins: %s\n", dlerror());
            return 2;
        }
        *(void **)&function = dlsym(library, "twin");
        same += (void *)function == last;
        last = (void *)function;
        sum += i % 2 ? in_b(function, i) : in_a(function, i);
        dlclose(library);
    }
    printf("same %d\n", same);
    return sum == 0;
}
