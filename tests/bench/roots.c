/* SPDX-License-Identifier: MIT
 *
 * Prints the places in the C library (offsets in its file) that every stack
 * leads through at its root: the return addresses in what calls main and in
 * what calls a thread's function.  They are told by where main and a thread
 * are called from, so that a stripped library has them too.
 * Runs in: `make bench`. */
#include <execinfo.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void print_offset(uint64_t address)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4400];
    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
        unsigned long start, end, offset;
        if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
            address >= start && address < end &&
            strstr(line, "/libc.so") != NULL)
            printf("%lx\n", (unsigned long)address - start + offset);
    }
    if (maps != NULL)
        fclose(maps);
}

static void *print_all(void *unused)
{
    void *frames[16];
    int count = backtrace(frames, 16);
    (void)unused;
    for (int i = 0; i < count; i++)
        print_offset((uint64_t)frames[i]);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    print_all(NULL);
    pthread_create(&thread, NULL, print_all, NULL);
    pthread_join(thread, NULL);
    return 0;
}
