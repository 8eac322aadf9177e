/* SPDX-License-Identifier: MIT
 *
 * Runs code of its own making, as a JIT compiler's, that uses the frame
 * pointer as it likes and has no call-frame information: `zero` holds zero in
 * it, `words` the address of zeros on the stack.  Further words: `shared`
 * puts the code into shared memory, `thread` runs it in a thread; with
 * `followed` its end says where its caller is, else that is in a register.
 * Runs in: tests (x86-64). */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "common.h"

/* push rbp; mov rdx,rsp; sub rsp,64; six words of zeros; lea rbp,[rsp+8] or
 * xor ebp,ebp; mov ecx,N; 1: dec ecx; jnz 1b; mov rsp,rdx or add rsp,64;
 * pop rbp; ret */
static unsigned char code[] = {
    0x55, 0x48, 0x89, 0xe2, 0x48, 0x83, 0xec, 0x40, 0x31, 0xc0, 0x48, 0x89,
    0x44, 0x24, 0x08, 0x48, 0x89, 0x44, 0x24, 0x10, 0x48, 0x89, 0x44, 0x24,
    0x18, 0x48, 0x8d, 0x6c, 0x24, 0x08, 0xb9, 0x00, 0x2d, 0x31, 0x01, 0xff,
    0xc9, 0x75, 0xfc, 0x48, 0x89, 0xd4, 0x90, 0x5d, 0xc3};
static const unsigned char zero[] = {0x31, 0xed, 0x90, 0x90, 0x90};
static const unsigned char added[] = {0x48, 0x83, 0xc4, 0x40};

static int has(int argc, char **argv, const char *word)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], word) == 0)
            return 1;
    }
    return 0;
}

static void *run(void *memory)
{
    void (*function)(void);

    memcpy(&function, &memory, sizeof(function));
    for (double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + 0.6;
         cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end;)
        function();
    return NULL;
}

int main(int argc, char **argv)
{
    int flags = has(argc, argv, "shared") ? MAP_SHARED : MAP_PRIVATE;
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                        flags | MAP_ANONYMOUS, -1, 0);
    pthread_t thread;

    if (memory == MAP_FAILED)
        return 1;
    if (has(argc, argv, "zero"))
        memcpy(code + 25, zero, sizeof(zero));
    if (has(argc, argv, "followed"))
        memcpy(code + 39, added, sizeof(added));
    memcpy(memory, code, sizeof(code));
    if (!has(argc, argv, "thread"))
        return run(memory) != NULL;
    return pthread_create(&thread, NULL, run, memory) != 0 ||
           pthread_join(thread, NULL) != 0;
}
