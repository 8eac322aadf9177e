/* SPDX-License-Identifier: MIT
 *
 * A program with run-time generated code that handlers of signals may not read:
 *     keyed key|execute|stack|own|alternate [CPU_SECONDS=0.5]
 * As `key` says, its page has a protection key of the program's, which the
 * kernel takes away from each handler (pkeys(7)); or it may be executed and
 * nothing else (execute).  Faults go to a handler of the program's, so that
 * nobody else survives them; another, without SA_RESTART, interrupts the code
 * each 3 ms.  Or the thread goes over to a stack under such a key (stack),
 * where a handler that opens the key itself interrupts it (own), or that
 * handler has such a stack for its own (alternate).  (The variables have no
 * key: the kernel ends a thread that it moves to another processor while its
 * area for restartable sequences may not be written, as in a handler.)  Ends
 * with 77 where there are no keys.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

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
static double seconds;

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

NOINLINE void run_keyed(void (*run)(uint64_t));

void run_keyed(void (*run)(uint64_t))
{
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < seconds)
        run(100000);
    BARRIER();
}

static ucontext_t first;

NOINLINE void run_guarded(void);

void run_guarded(void)
{
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < seconds)
        ;
    BARRIER();
}

/* void opens(int signal): a handler that keeps the rights it begins with, opens
 * all keys before it touches its stack, and counts. */
extern volatile uint32_t begun_with, opened;
volatile uint32_t begun_with, opened;
void opens(int signal);
#if defined(__x86_64__)
__asm__(".text\n.type opens,@function\nopens:\n"
        "xorl %ecx, %ecx\nrdpkru\nmovl %eax, begun_with(%rip)\n"
        "xorl %eax, %eax\nwrpkru\nincl opened(%rip)\nret\n"
        ".size opens,.-opens\n");
#else
void opens(int signal)
{
    (void)signal;
    opened++;
}
#endif

static void *guarded_stack(size_t size)
{
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const int key = pkey_alloc(0, 0);
    if (key < 0)
        exit(77);
    if (memory == MAP_FAILED ||
        pkey_mprotect(memory, size, PROT_READ | PROT_WRITE, key) != 0)
        die("pkey_mprotect");
    return memory;
}

static void open_often(int flags)
{
    const struct itimerval often = {{0, 3000}, {0, 3000}};
    const struct sigaction action = {.sa_handler = opens, .sa_flags = flags};
    if (sigaction(SIGALRM, &action, NULL) != 0 ||
        setitimer(ITIMER_REAL, &often, NULL) != 0)
        die("setitimer");
}

static int go_guarded(const char *how)
{
    ucontext_t other;
    const stack_t stack = {.ss_sp = guarded_stack(1U << 20),
                           .ss_size = 1U << 20};
    if (strcmp(how, "stack") != 0)
        open_often(SA_ONSTACK);
    if (strcmp(how, "alternate") == 0) {
        if (sigaltstack(&stack, NULL) != 0)
            die("sigaltstack");
        run_guarded();
    } else {
        if (getcontext(&other) != 0)
            die("getcontext");
        other.uc_stack = stack;
        other.uc_link = &first;
        makecontext(&other, run_guarded, 0);
        if (swapcontext(&first, &other) != 0)
            die("swapcontext");
    }
    printf("done %d rights %x\n", opened > 5, begun_with);
    return 0;
}

int main(int argc, char **argv)
{
    const struct itimerval often = {{0, 3000}, {0, 3000}};
    if (argc < 2)
        return 2;
    seconds = argument(argc, argv, 2, 0.5);
    if (strcmp(argv[1], "key") != 0 && strcmp(argv[1], "execute") != 0)
        return go_guarded(argv[1]);
    handle(SIGALRM, on_alarm);
    handle(SIGSEGV, on_fault);
    void (*run)(uint64_t);
    *(void **)&run = make_code(strcmp(argv[1], "key") == 0);
    setitimer(ITIMER_REAL, &often, NULL);
    run_keyed(run);
    printf("%s\n", ticks > 5 ? "interrupted" : "left alone");
    return 0;
}
