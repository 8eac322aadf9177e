/* SPDX-License-Identifier: MIT
 *
 * The oracle: linked with all of libjprof's objects and preloaded instead of
 * it, steps through a program now and then, one instruction at a time by the
 * processor's trap flag, and at each walks the stack twice: with jprof's
 * walker and with libunwind's unw_step, from the same context.  What differs
 * is written to a file, for tests/run/test_oracle.py.
 *
 *     ORACLE_OUT    the file; a dot and the pid are added
 *     ORACLE_MOST   comparisons after which it ends the program
 *     ORACLE_GDB    when set, gdb does the stepping (gdb_walk.py): it waits
 *                   in oracle_stop, steps from where the signal came, has
 *                   oracle_at called at each, and compares its own walk
 *
 * It is no handler of jprof's and keeps none of its rules: it calls libunwind
 * and dladdr, which take locks.
 * Runs in: tests (a preloaded library; x86-64). */
#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../../preload/sig/adopt.h"
#include "../../preload/sig/state/config.h"
#include "../../preload/sig/handler.h"
#include "../../preload/sig/state/buffer.h"
#include "../../preload/sig/logfile.h"
#include "../../preload/sig/code/maps.h"
#include "../../preload/sig/state/thread.h"
#include "../../preload/sig/os/sys.h"
#include "../../preload/sig/unwind/unwind.h"
#include "risky.h"

#define FRAMES_MAX 2048
#define TRAP_FLAG 0x100 /* of EFLAGS (Intel SDM, volume 1, 3.4.3.3) */
#define BURST 20000     /* instructions that are stepped through */
#define DULL 300        /* fewer, when all of these are known */
#define SEEN_MOST 3     /* comparisons at one pc */
#define SEEN_BITS 18
#define HEAD 128 /* bytes of the file for the totals */
#define LINES_MAX 4000
#define PATIENCE 50 /* ticks that an idle owner keeps the turn */

#define TEXT_OF(symbol) #symbol
#define NAME_OF(symbol) TEXT_OF(symbol)

struct chain {
    unsigned depth;
    int reason; /* jp_reason, or what unw_step returned */
    uint64_t frames[FRAMES_MAX];
};

/* What gdb reads, writes and calls. */
struct chain oracle_ours, oracle_theirs;
ucontext_t oracle_context;
void oracle_stop(void);
int oracle_at(void);
void oracle_arm(void);
int oracle_has_cfi(uint64_t address);

static int (*init_local2)(unw_cursor_t *, unw_context_t *, int);
static int (*step)(unw_cursor_t *);
static int (*get_reg)(unw_cursor_t *, int, unw_word_t *);
/* libgcc's; the second argument is a struct dwarf_eh_bases, three pointers. */
static const void *(*find_fde)(void *, void **);

static int out = -1;
static unsigned long most;
static int by_gdb;
static unsigned long compared, distinct, same, rooted, lines;
static uint8_t seen[1 << SEEN_BITS];
static struct jp_buffer *buffer;
static timer_t timer;
static int tick;

/* One thread at a time is stepped through. */
static _Atomic int owner;
static _Atomic unsigned idle;
static unsigned left, dull; /* instructions of its turn */

static int self(void)
{
    return (int)syscall(SYS_gettid);
}

__attribute__((noinline)) void oracle_stop(void)
{
    __asm__ volatile("" ::: "memory");
}

/* After jprof's thread start a chain is of no interest. */
static void cut(struct chain *chain)
{
    for (unsigned i = 1; i < chain->depth; i++) {
        if (jp_thread_is_start_sig(chain->frames[i]))
            chain->depth = i;
    }
}

static int walk_ours(struct jp_thread *thread, const ucontext_t *context)
{
    if (jp_logfile_ensure_sig() != 0)
        return 0;
    jp_maps_refresh_sig(jp_sys_clock_sig(CLOCK_MONOTONIC));
    jp_maps_check_buffer_sig(buffer);
    oracle_ours.reason = (int)jp_walk_sig(thread, buffer, context);
    if (buffer->gap != 0 || buffer->depth > FRAMES_MAX)
        return 0;
    oracle_ours.depth = buffer->depth;
    memcpy(oracle_ours.frames, buffer->frames,
           buffer->depth * sizeof(uint64_t));
    return 1;
}

static int walk_theirs(ucontext_t *context)
{
    unw_cursor_t cursor;
    unw_word_t address;
    int result = 1;
    oracle_theirs.depth = 0;
    if (init_local2(&cursor, context, UNW_INIT_SIGNAL_FRAME) != 0)
        return 0;
    while (result > 0) {
        if (oracle_theirs.depth == FRAMES_MAX)
            return 0;
        if (get_reg(&cursor, UNW_REG_IP, &address) != 0 || address == 0)
            break;
        oracle_theirs.frames[oracle_theirs.depth++] = address;
        result = step(&cursor);
    }
    oracle_theirs.reason = result;
    cut(&oracle_theirs);
    return 1;
}

static void write_frame(uint64_t address, int is_pc)
{
    Dl_info info = {0};
    const uint64_t at = address - !is_pc;
    if (dladdr((void *)at, &info) == 0) {
        dprintf(out, " ?+%lx", (unsigned long)address);
        return;
    }
    const char *slash = strrchr(info.dli_fname, '/');
    dprintf(out, " %s:%s+%lx", slash ? slash + 1 : info.dli_fname,
            info.dli_sname ? info.dli_sname : "",
            (unsigned long)(address - (uint64_t)info.dli_fbase));
}

static void write_chain(const struct chain *chain, unsigned from)
{
    unsigned end = from + 4 < chain->depth ? from + 4 : chain->depth;
    for (unsigned i = from; i < end; i++)
        write_frame(chain->frames[i], i == 0);
    if (end < chain->depth)
        dprintf(out, " ...");
}

static void write_totals(void)
{
    char text[HEAD + 1];
    memset(text, ' ', HEAD);
    int size = snprintf(text, HEAD,
                        "compared %lu distinct %lu same %lu "
                        "rooted %lu",
                        compared, distinct, same, rooted);
    text[size] = ' ';
    text[HEAD - 1] = '\n';
    if (pwrite(out, text, HEAD, 0) != HEAD)
        abort();
}

/* The line of a difference: what kind, how deep, how both ended, the leaf,
 * the last frame they agree on, and what either has above it. */
static void write_line(const char *kind, unsigned agreed)
{
    if (lines++ >= LINES_MAX)
        return;
    dprintf(out, "%s %u %d %d | ", kind, agreed, oracle_ours.reason,
            oracle_theirs.reason);
    write_frame(oracle_ours.frames[0], 1);
    dprintf(out, " |");
    if (agreed > 0)
        write_frame(oracle_ours.frames[agreed - 1], agreed == 1);
    dprintf(out, " | ours");
    write_chain(&oracle_ours, agreed);
    dprintf(out, " | theirs");
    write_chain(&oracle_theirs, agreed);
    dprintf(out, "\n");
}

/* A frame of ours that is no return address is stored plus one. */
static int agree(unsigned i)
{
    const uint64_t a = oracle_ours.frames[i], b = oracle_theirs.frames[i];
    return a == b || (i > 0 && a == b + 1);
}

static void compare(void)
{
    const struct chain *a = &oracle_ours, *b = &oracle_theirs;
    unsigned i = 0;
    while (i < a->depth && i < b->depth && agree(i))
        i++;
    compared++;
    rooted += a->reason == JP_REASON_ROOT;
    if (i == a->depth && i == b->depth && a->reason == JP_REASON_ROOT)
        same++;
    else if (i == a->depth && i == b->depth)
        write_line("unrooted", i);
    else if (i == a->depth)
        write_line("short", i);
    else if (i == b->depth)
        write_line("long", i);
    else
        write_line("differ", i);
}

/* Whether this pc has been compared often enough; counts. */
static int known(uint64_t pc)
{
    uint8_t *count = &seen[pc * 0x9e3779b97f4a7c15ULL >> (64 - SEEN_BITS)];
    if (*count >= SEEN_MOST)
        return 1;
    distinct += *count == 0;
    ++*count;
    return 0;
}

/* errno stays the program's, here and where it is armed: libuv aborts node when
 * it is another than what a call that was interrupted has set. */
static int walk_both(ucontext_t *context)
{
    const int saved = errno;
    struct jp_thread *thread = jp_thread_by_tid_sig((uint32_t)self());
    if (thread == NULL)
        thread = jp_adopt_self_sig(0);
    const int walked =
        thread != NULL && walk_ours(thread, context) && walk_theirs(context);
    errno = saved;
    return walked;
}

static void look(ucontext_t *context)
{
    dull++;
    if (known((uint64_t)context->uc_mcontext.gregs[REG_RIP]))
        return;
    dull = 0;
    if (!walk_both(context))
        return;
    const int saved = errno;
    compare();
    if (compared % 256 == 0 || compared == most)
        write_totals();
    errno = saved;
}

static void end_turn(ucontext_t *context)
{
    context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    atomic_store(&owner, 0);
}

static void on_trap(int number, siginfo_t *info, void *data)
{
    ucontext_t *context = data;
    (void)number;
    (void)info;
    if (atomic_load(&owner) != self()) {
        context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
        return;
    }
    atomic_store(&idle, 0);
    look(context);
    if (compared >= most)
        _exit(0);
    if (--left == 0 || dull == DULL || is_risky(context))
        end_turn(context);
}

/* The next turn begins after 1 to 8 ms of CPU time, at no special place. */
static void set_timer(void)
{
    static uint64_t random = 88172645463325252ULL;
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    struct itimerspec at = {{0, 0}, {0, 1000000 + (long)(random % 7000000)}};
    const int saved = errno;
    timer_settime(timer, 0, &at, NULL);
    errno = saved;
}

__attribute__((noinline)) void oracle_arm(void)
{
    set_timer();
}

int oracle_at(void)
{
    return walk_both(&oracle_context);
}

/* For gdb: whether the code at an address has call-frame information. */
int oracle_has_cfi(uint64_t address)
{
    void *bases[3];
    return find_fde((void *)address, bases) != NULL;
}

static void on_tick(int number, siginfo_t *info, void *data)
{
    ucontext_t *context = data;
    int nobody = 0;
    (void)number;
    (void)info;
    if (by_gdb) {
        if (walk_both(context))
            oracle_stop();
        return;
    }
    set_timer();
    if (atomic_fetch_add(&idle, 1) > PATIENCE)
        atomic_store(&owner, 0);
    if (is_risky(context) ||
        !atomic_compare_exchange_strong(&owner, &nobody, self()))
        return;
    left = BURST;
    dull = 0;
    context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
    look(context);
}

static int load(void)
{
    void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    void *libgcc = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL || libgcc == NULL)
        return 0;
    *(void **)&find_fde = dlsym(libgcc, "_Unwind_Find_FDE");
    *(void **)&init_local2 = dlsym(library, NAME_OF(unw_init_local2));
    *(void **)&step = dlsym(library, NAME_OF(unw_step));
    *(void **)&get_reg = dlsym(library, NAME_OF(unw_get_reg));
    return init_local2 && step && get_reg && find_fde;
}

static unsigned long number_of(const char *name)
{
    const char *text = getenv(name);
    return text != NULL ? strtoul(text, NULL, 10) : 0;
}

/* After libjprof's constructor, whose object comes first at linking. */
__attribute__((constructor)) static void construct(void)
{
    const char *name = getenv("ORACLE_OUT");
    char path[4096];
    if (name == NULL || !jp_config.wanted || !load())
        return;
    most = number_of("ORACLE_MOST");
    by_gdb = getenv("ORACLE_GDB") != NULL;
    snprintf(path, sizeof(path), "%s.%d", name, (int)getpid());
    out = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    buffer = jp_buffer_take_sig();
    if (out < 0 || buffer == NULL)
        return;
    write_totals();
    lseek(out, HEAD, SEEK_SET);
    tick = SIGRTMAX - 2;
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};
    sigfillset(&action.sa_mask);
    action.sa_sigaction = on_trap;
    sigaction(SIGTRAP, &action, NULL);
    action.sa_sigaction = on_tick;
    sigaction(tick, &action, NULL);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = tick};
    if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) == 0)
        oracle_arm();
}

__attribute__((destructor)) static void destruct(void)
{
    if (out >= 0)
        write_totals();
}
