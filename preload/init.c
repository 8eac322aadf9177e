/* SPDX-License-Identifier: MIT
 *
 * Constructor and destructor, the only file that knows in which order the parts
 * are set up; and the public API (include/jprof.h).
 * Runs in: constructor, destructor. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include "flags.h"
#include "hooks/base/glibc.h"
#include "hooks/base/local.h"
#include "hooks/base/real.h"
#include "hooks/process/fork.h"
#include "hooks/process/handover.h"
#include "hooks/process/sandbox.h"
#include "hooks/process/target.h"
#include "hooks/signals/altstack.h"
#include "hooks/signals/claims.h"
#include "hooks/threads/threads.h"
#include "jprof.h"
#include "sig/adopt.h"
#include "sig/arch/arch.h"
#include "sig/clock/clock.h"
#include "sig/clock/first.h"
#include "sig/clock/rtc.h"
#include "sig/code/maps.h"
#include "sig/control.h"
#include "sig/critical.h"
#include "sig/files/command.h"
#include "sig/files/logname.h"
#include "sig/files/logowner.h"
#include "sig/files/notes.h"
#include "sig/files/tree.h"
#include "sig/files/usage.h"
#include "sig/handler.h"
#include "sig/jit/jit.h"
#include "sig/log/log.h"
#include "sig/mark.h"
#include "sig/os/sys.h"
#include "sig/os/text.h"
#include "sig/script/script.h"
#include "sig/state/gate.h"
#include "sig/state/process.h"
#include "sig/state/thread.h"
#include "sig/unwind/walk_libunwind.h"

/* Says on stderr what is wrong with a flag. */
static void complain(void *data, const char *flag, size_t length,
                     const char *text)
{
    char line[160];
    const size_t most = 60;
    (void)data;
    struct jp_text words;
    jp_text_init_sig(&words, line, sizeof(line));
    jp_text_add_sig(&words, JP_ENV_FLAGS ": ");
    jp_text_bytes_sig(&words, flag, length < most ? length : most);
    jp_text_add_sig(&words, length > most ? "... " : " ");
    jp_complain_sig(line, text, 0);
}

/* Takes what the tree's first process hands down in JPROF_ISCHILD: its pid, a
 * dot, its pid namespace's inode, a dot, its start time, room for a descriptor
 * (hooks/process/handover.h), a colon, and the folder that relative names start
 * from.  A process with that pid in that namespace is still the first one,
 * after an exec; any other is a child.  Returns 0 when no folder is given. */
static int take_folder(const char *handed, uint32_t space)
{
    const char *folder = strchr(handed, '/');
    const char *digits = handed, *end = handed + strlen(handed);
    uint64_t pid = jp_text_number_sig(&digits, end, 10);
    jp_process.root = (uint32_t)pid;
    jp_process.root_space = 0;
    jp_process.root_ticks = 0;
    if (*digits == '.') {
        digits++;
        jp_process.root_space = (uint32_t)jp_text_number_sig(&digits, end, 10);
    }
    if (*digits == '.') {
        digits++;
        jp_process.root_ticks = jp_text_number_sig(&digits, end, 10);
    }
    jp_process.is_child =
        pid != jp_owner->pid || (jp_process.root_space != space &&
                                 jp_process.root_space != 0 && space != 0);
    if (folder == NULL || strlen(folder) >= sizeof(jp_process.folder))
        return 0;
    memcpy(jp_process.folder, folder, strlen(folder) + 1);
    return 1;
}

static void find_folder(void)
{
    char value[JP_PATH_MAX + 48 + sizeof(JP_HANDOVER_NONE)];
    struct jp_text text;
    const char *handed = getenv(JP_ENV_CHILD);
    const uint32_t space = jp_logowner_space_sig();
    jp_process.root = jp_owner->pid;
    jp_process.root_space = space;
    if (handed == NULL)
        jp_process.root_ticks = jp_logowner_ticks_sig();
    if (handed != NULL && take_folder(handed, space))
        return;
    /* The working directory may have been deleted. */
    if (getcwd(jp_process.folder, sizeof(jp_process.folder)) == NULL ||
        jp_process.folder[0] != '/')
        jp_process.folder[0] = '\0';
    jp_text_init_sig(&text, value, sizeof(value));
    jp_text_decimal_sig(&text, jp_owner->pid);
    jp_text_char_sig(&text, '.');
    jp_text_decimal_sig(&text, space);
    jp_text_char_sig(&text, '.');
    jp_text_decimal_sig(&text, jp_process.root_ticks);
    jp_text_add_sig(&text, JP_HANDOVER_NONE ":");
    jp_text_add_sig(&text, jp_process.folder);
    if (handed == NULL)
        setenv(JP_ENV_CHILD, value, 1);
}

/* Finds the executable's program headers, for its build-id.  AT_PHDR is their
 * address and PT_PHDR the ELF address of the same, which gives the bias. */
static void find_program(void)
{
    const Elf64_Phdr *headers = (const Elf64_Phdr *)getauxval(AT_PHDR);
    unsigned count = (unsigned)getauxval(AT_PHNUM);
    jp_process.page_size = getauxval(AT_PAGESZ);
    if (headers == NULL)
        return;
    jp_process.program_headers = (uint64_t)headers;
    jp_process.program_header_count = count;
    for (unsigned i = 0; i < count; i++) {
        if (headers[i].p_type == PT_PHDR)
            jp_process.program_bias = (uint64_t)headers - headers[i].p_vaddr;
    }
}

/* Finds where the kernel has put the arguments' texts, one behind the other,
 * and behind them those of the environment.  Pointers that lead elsewhere by
 * now end them. */
static void find_arguments(char **argv)
{
    const char *start = argv[0], *end = start;
    char **at = argv;
    for (; *at != NULL && *at == end; at++)
        end += strlen(*at) + 1;
    const char *limit = end;
    if (*at == NULL) {
        for (at++; *at != NULL && *at == limit; at++)
            limit += strlen(*at) + 1;
    }
    jp_command_init_sig((uint64_t)start, (uint64_t)end, (uint64_t)limit);
}

static void *load_library(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

/* Chooses walker and clock, by the flags and by what this system has. */
static void choose_means(void)
{
    if (jp_config.walker == JP_WALKER_LIBUNWIND &&
        jp_walk_libunwind_load(load_library, dlsym) != 0) {
        jp_config.walker = JP_WALKER_AUTO;
        jp_note_sig(JP_NOTE_NO_LIBUNWIND);
    }
    if (jp_config.rtc_hz != 0 && jp_rtc_open_sig() != 0)
        jp_note_sig(JP_NOTE_NO_RTC);
    /* The coarse clocks advance with the tick (clock_getres(2)). */
    struct timespec tick = {0, 0};
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    jp_process.tick_ns = (uint64_t)tick.tv_nsec;
    jp_clock_choose_sig();
    jp_log_fit_depth_sig();
}

/* Carries out a command that the program's own code gives, in a critical
 * section. */
static void command(enum jp_control what)
{
    uint64_t mask = jp_critical_begin_sig();
    jp_control_sig(what);
    jp_critical_end_sig(mask);
}

/* The lowest address that surely belongs to the main thread's stack: the
 * kernel maps nothing else where that may grow to, but within 8 MiB at least
 * (mmap_base in Linux mm/util.c).  UINT64_MAX: unknown. */
static uint64_t main_floor(uint64_t high)
{
    const uint64_t most = 8U << 20;
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0)
        return UINT64_MAX;
    return high - (limit.rlim_cur < most ? limit.rlim_cur : most);
}

/* Looks at a new mapping of a file, which may be a jitdump or an
 * interpreter. */
static void mapped_sig(const struct jp_vma *vma, uint64_t base)
{
    jp_jit_mapped_sig(vma);
    jp_script_mapped_sig(vma, base);
}

/* Has scans tell of new mappings of files. */
static void listen_to_maps(void)
{
    const struct jp_maps_listener listener = {mapped_sig, jp_jit_look_sig};
    jp_maps_listen_sig(&listener);
}

/* Has the times of samples and lines come from the C library itself, whatever
 * clock_gettime the program's other libraries (libfaketime) define. */
static void find_time(void)
{
    void *function = jp_real_of_libc("clock_gettime");
    if (function != NULL)
        *(void **)&jp_sys_time = function;
}

static int handed_over; /* 1: the profile's folder, by a descriptor */

/* Sets this process up for profiling.  Returns 0 or -errno. */
static int set_up(char **argv)
{
    int error = jp_threads_init_sig();
    if (error != 0)
        return error;
    jp_owner = jp_sys_memory_sig(sizeof(*jp_owner), JP_FORK_WIPE);
    if (jp_owner == NULL)
        return -ENOMEM;
    jp_owner->pid = jp_sys_getpid_sig();
    if (jp_owner->pid == 0)
        return -EPERM; /* a filter forbids to ask */
    jp_gate_init_sig(getauxval(AT_HWCAP2));
    jp_process.tells_again = (uint8_t)jp_arch_tells_again();
    jp_process.has_keys = (uint8_t)jp_arch_has_keys();
    jp_process.in_valgrind = (uint8_t)jp_arch_in_valgrind();
    jp_gate_enter_sig();
    jp_real_all();
    find_time();
    jp_target_begin();
    listen_to_maps();
    jp_script_init((uint64_t)pthread_self());
    find_folder();
    jp_logname_guard();
    handed_over = jp_handover_take();
    jp_tree_init();
    find_program();
    find_arguments(argv);
    choose_means();
    jp_thread_start_init();
    /* argc, just below argv, is the root of the main thread's stack.  The
     * program's entry begins with sp there, and may take argc off. */
    struct jp_thread *thread = jp_adopt_self_sig((uint64_t)(argv + 1));
    if (thread == NULL)
        return -ENOMEM;
    thread->stack.is_main = 1;
    thread->stack.floor = main_floor(thread->stack.high);
    error = -jp_fork_init();
    if (error != 0)
        return error;
    /* Without the handler, the clock's signals would end the program. */
    error = -jp_claims_install();
    if (error != 0)
        return error;
    /* The program may have inherited a mask that blocks the clock's signal. */
    jp_local_begin(thread);
    jp_altstack_known();
    jp_usage_begin_sig();
    return 0;
}

/* Whether the process is to be profiled. */
static int is_wanted(void)
{
    const char *flags = getenv(JP_ENV_FLAGS);
    if (flags == NULL || getauxval(AT_SECURE) != 0)
        return 0;
    jp_flags_parse(flags, &jp_config, complain, NULL);
    if (!jp_config.wanted)
        return 0;
    if (jp_glibc())
        return 1;
    /* The children of a profiled program stay silent: the report has a note of
     * it. */
    if (getenv(JP_ENV_CHILD) == NULL)
        jp_complain_sig("profiling is off: the program uses another C library "
                        "than glibc",
                        NULL, 0);
    return 0;
}

__attribute__((constructor)) static void construct(int argc, char **argv)
{
    (void)argc;
    const int wanted = is_wanted(), before = errno;
    const int error = wanted ? set_up(argv) : 0;
    errno = before;
    if (error != 0)
        jp_owner = NULL;
    jp_altstack_constructed();
    if (error != 0)
        jp_complain_sig("profiling is off", NULL, -error);
    if (!wanted || error != 0) {
        if (getauxval(AT_SECURE) == 0)
            jp_handover_end();
        return;
    }
    if (!jp_config.deferred) {
        if (jp_config.first_ns != 0)
            jp_clock_first_sig();
        else
            command(JP_CONTROL_START);
    }
    if (handed_over) {
        jp_sandbox_before();
        jp_handover_end();
    }
}

__attribute__((destructor)) static void destruct(void)
{
    if (!jp_process_ready_sig())
        return;
    uint64_t mask = jp_critical_begin_sig();
    jp_control_exit_sig();
    jp_critical_end_sig(mask);
}

/* Whether the caller is the profiled process: a vfork child has no profile. */
static int is_ours(void)
{
    return jp_process_ready_sig() && jp_sys_getpid_sig() == jp_owner->pid;
}

JP_EXPORT int jprof_start(void)
{
    if (!is_ours())
        return -ENOSYS;
    if (atomic_load(&jp_process.running))
        return -EALREADY;
    if (!jp_control_may_start_sig())
        return -EPERM;
    command(JP_CONTROL_START);
    return 0;
}

JP_EXPORT int jprof_pause(void)
{
    if (!is_ours())
        return -ENOSYS;
    if (!atomic_load(&jp_process.running))
        return -EALREADY;
    command(JP_CONTROL_PAUSE);
    return 0;
}

JP_EXPORT int jprof_clear(void)
{
    if (!is_ours())
        return -ENOSYS;
    if (jp_config.ring_bytes == 0)
        return -EINVAL;
    command(JP_CONTROL_CLEAR);
    return 0;
}

JP_EXPORT int jprof_save(void)
{
    if (!is_ours())
        return -ENOSYS;
    command(JP_CONTROL_SAVE);
    return 0;
}

static int mark(enum jp_mark_kind kind, const char *name)
{
    if (!is_ours())
        return -ENOSYS;
    const uint64_t mask = jp_critical_begin_sig();
    const int error = jp_mark_sig(kind, name);
    jp_critical_end_sig(mask);
    return error;
}

JP_EXPORT int jprof_mark(const char *name)
{
    return mark(JP_MARK_POINT, name);
}

JP_EXPORT int jprof_span_begin(const char *name)
{
    return mark(JP_MARK_SPAN_BEGIN, name);
}

JP_EXPORT int jprof_span_end(const char *name)
{
    return mark(JP_MARK_SPAN_END, name);
}
