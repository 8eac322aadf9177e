/* SPDX-License-Identifier: MIT
 *
 * Runs code of its own making, as a JIT compiler's, without call-frame
 * information, that stays where it has no frame of its own:
 *     windows WHICH [thread]
 * WHICH is one of the names below; `thread` runs it in a thread.  The caller is
 * run, in any case.
 * Runs in: tests (x86-64). */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "common.h"

#ifdef __x86_64__
#define LOOP "mov $9000000, %ecx\n 1: dec %ecx\n jnz 1b\n"
/* A piece of code, from NAME_begin to NAME_end. */
#define PIECE(name, text)                                                      \
    extern const unsigned char name##_begin[], name##_end[];                   \
    __asm__(".pushsection .rodata\n" #name "_begin:\n" text "ret\n" #name      \
            "_end:\n.popsection\n")

PIECE(entered, LOOP "push %rbp\n mov %rsp, %rbp\n pop %rbp\n");
PIECE(pushed, "push %rbp\n" LOOP "mov %rsp, %rbp\n pop %rbp\n");
/* sp is kept in a register: from the loop on nothing tells where it was. */
PIECE(reserved, "push %rbp\n mov %rsp, %rdx\n push %rbx\n sub $64, %rsp\n" LOOP
                "mov -8(%rdx), %rbx\n mov %rdx, %rsp\n pop %rbp\n");
PIECE(unframed, "mov %rsp, %rdx\n sub $64, %rsp\n" LOOP "mov %rdx, %rsp\n");
PIECE(framed,
      "push %rbp\n mov %rsp, %rbp\n mov %rsp, %rdx\n sub $64, %rsp\n" LOOP
      "mov %rdx, %rsp\n pop %rbp\n");
PIECE(popped, "push %rbp\n mov %rsp, %rbp\n pop %rbp\n" LOOP);

static const struct {
    const char *name;
    const unsigned char *begin, *end;
} pieces[] = {
#define ROW(name)                                                              \
    {                                                                          \
#name, name##_begin, name##_end                                        \
    }
    ROW(entered),  ROW(pushed), ROW(reserved),
    ROW(unframed), ROW(framed), ROW(popped),
};

NOINLINE void *run(void *memory);

void *run(void *memory)
{
    void (*function)(void);

    memcpy(&function, &memory, sizeof(function));
    for (double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + 0.4;
         cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end;)
        function();
    return NULL;
}

int main(int argc, char **argv)
{
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t thread;
    size_t which = 0;

    if (memory == MAP_FAILED || argc < 2)
        return 1;
    while (which < sizeof(pieces) / sizeof(pieces[0]) &&
           strcmp(pieces[which].name, argv[1]) != 0)
        which++;
    if (which == sizeof(pieces) / sizeof(pieces[0]))
        return 1;
    memcpy(memory, pieces[which].begin,
           (size_t)(pieces[which].end - pieces[which].begin));
    if (argc == 2)
        return run(memory) != NULL;
    return pthread_create(&thread, NULL, run, memory) != 0 ||
           pthread_join(thread, NULL) != 0;
}

#else

int main(void)
{
    return 1;
}

#endif
