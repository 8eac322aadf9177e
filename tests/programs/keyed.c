/* SPDX-License-Identifier: MIT
 *
 * A program with run-time generated code that handlers of signals may not read:
 *     keyed key|execute [CPU_SECONDS=0.5]
 * As `key` says, its page has a protection key of the program's, which the
 * kernel takes away from each handler (pkeys(7)); or it may be executed and
 * nothing else (execute).  Faults go to a handler of the program's, so that
 * nobody else survives them; another, without SA_RESTART, interrupts the code
 * each 3 ms.  Ends with 77 where there are no keys.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

/* void code(uint64_t turns): counts down, with a frame pointer. */
#if defined(__x86_64__)
static const uint8_t code[] = {0x55, 0x48, 0x89,
                               0xe5,             /* push %rbp; mov %rsp,%rbp */
                               0x48, 0xff, 0xcf, /* dec %rdi */
                               0x75, 0xfb,       /* jne to the dec */
                               0x5d, 0xc3};      /* pop %rbp; ret */
#elif defined(__aarch64__)
static const uint32_t code[] = {
    0xa9bf7bfd, 0x910003fd,  /* stp x29,x30,[sp,#-16]!; mov x29,sp */
    0xf1000400, 0x54ffffe1,  /* subs x0,x0,#1; b.ne to the subs */
    0xa8c17bfd, 0xd65f03c0}; /* ldp x29,x30,[sp],#16; ret */
#endif

static volatile sig_atomic_t ticks;

static void on_alarm(int signal)
{
    (void)signal;
    ticks++;
}

/* What the program does about a fault of its own. */
static void on_fault(int signal)
{
    (void)signal;
    _exit(3);
}

static void handle(int signal, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    if (sigaction(signal, &action, NULL) != 0)
        die("sigaction");
}

static void *make_code(int with_key)
{
    char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        die("mmap");
    memcpy(memory, code, sizeof(code));
    __builtin___clear_cache(memory, memory + sizeof(code));
    const int key = with_key ? pkey_alloc(0, 0) : -1;
    if (with_key && key < 0)
        exit(77);
    if ((with_key ? pkey_mprotect(memory, 4096, PROT_READ | PROT_EXEC, key)
                  : mprotect(memory, 4096, PROT_EXEC)) != 0)
        die("mprotect");
    return memory;
}

NOINLINE void run_keyed(void (*run)(uint64_t), double seconds);

void run_keyed(void (*run)(uint64_t), double seconds)
{
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < seconds)
        run(100000);
    BARRIER();
}

int main(int argc, char **argv)
{
    const struct itimerval often = {{0, 3000}, {0, 3000}};
    if (argc < 2)
        return 2;
    handle(SIGALRM, on_alarm);
    handle(SIGSEGV, on_fault);
    void (*run)(uint64_t);
    *(void **)&run = make_code(strcmp(argv[1], "key") == 0);
    setitimer(ITIMER_REAL, &often, NULL);
    run_keyed(run, argument(argc, argv, 2, 0.5));
    printf("%s\n", ticks > 5 ? "interrupted" : "left alone");
    return 0;
}
