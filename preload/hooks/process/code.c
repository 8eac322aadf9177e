/* SPDX-License-Identifier: MIT
 *
 * Hooks of mmap, mprotect and their kin.  Memory that becomes executable is
 * noted, since behind a sandbox the mappings cannot be read; and handlers are
 * told of memory that is unmapped while they may be reading a stack in it.
 * Runs in: any thread, the program's handlers. */
#include "code.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include "hooks/base/local.h"
#include "hooks/base/real.h"
#include "sig/code/maps.h"
#include "sig/critical.h"
#include "sig/log/share.h"
#include "sig/logfile.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"
#include "sig/unwind/shake.h"

/* Notes memory [start, start + size) that a call has made executable.  Returns
 * `result`, what the call returned. */
static long protected(uint64_t start, uint64_t size, int rights, long result)
{
    if (result != 0 || (rights & PROT_EXEC) == 0 || !jp_process_ready_sig() ||
        !jp_share_is_there_sig() || jp_local_is_vfork_child())
        return result;
    const uint64_t page = jp_process.page_size;
    uint64_t mask = jp_critical_begin_sig();
    /* Code will run, and samples of it need the log. */
    if (atomic_load(&jp_process.running))
        jp_logfile_ensure_sig();
    jp_maps_note_sig(start & ~(page - 1),
                     (start + size + page - 1) & ~(page - 1));
    jp_critical_end_sig(mask);
    return result;
}

/* Called before memory is changed; also in a vfork child, whose memory is its
 * parent's.  Returns what `changed` is to be given. */
static int change(uint64_t start, uint64_t size, int keyed)
{
    if (!jp_process_ready_sig() || size == 0)
        return 0;
    const uint64_t page = jp_process.page_size;
    jp_stack_change_begin_sig(start & ~(page - 1),
                              (size + page - 1) & ~(page - 1), keyed);
    return 1;
}

static void changed(int begun)
{
    if (begun)
        jp_stack_change_end_sig();
}

JP_HOOK(int, mprotect, (void *start, size_t size, int rights))
{
    JP_REAL(mprotect)
    const int begun = change((uint64_t)start, size, 0);
    const int result = real(start, size, rights);
    changed(begun);
    return (int)protected((uint64_t)start, size, rights, result);
}

JP_HOOK(int, pkey_mprotect, (void *start, size_t size, int rights, int key))
{
    JP_REAL(pkey_mprotect)
    const int begun = change((uint64_t)start, size, key > 0);
    const int result = real(start, size, rights, key);
    changed(begun);
    return (int)protected((uint64_t)start, size, rights, result);
}

JP_HOOK(int, munmap, (void *start, size_t size))
{
    JP_REAL(munmap)
    const int begun = change((uint64_t)start, size, 0);
    const int result = real(start, size);
    changed(begun);
    return result;
}

/* `new` is an argument with MREMAP_FIXED only, and handed on in any case. */
JP_HOOK(void *, mremap,
        (void *old, size_t old_size, size_t size, int flags, void *new))
{
    JP_REAL(mremap)
    const int begun = change((uint64_t)old, old_size, 0);
    const int there =
        (flags & MREMAP_FIXED) != 0 ? change((uint64_t) new, size, 0) : 0;
    void *memory = real(old, old_size, size, flags, new);
    changed(there);
    changed(begun);
    return memory;
}

/* Notes new memory that is executable.  Returns `memory`. */
static void *mapped(void *memory, size_t size, int rights, int flags)
{
    if (memory != MAP_FAILED && (flags & MAP_ANONYMOUS) != 0)
    protected((uint64_t)memory, size, rights, 0);
    else if (memory != MAP_FAILED && (rights & PROT_EXEC) != 0)
        jp_maps_expect_sig();
    return memory;
}

/* Called before a mapping that may take another one's place, as `change`. */
static int over(const void *start, size_t size, int flags)
{
    return (flags & MAP_FIXED) != 0 && (flags & MAP_FIXED_NOREPLACE) == 0
               ? change((uint64_t)start, size, 0)
               : 0;
}

JP_HOOK(void *, mmap,
        (void *start, size_t size, int rights, int flags, int fd, off_t offset))
{
    JP_REAL(mmap)
    const int begun = over(start, size, flags);
    void *memory = real(start, size, rights, flags, fd, offset);
    changed(begun);
    return mapped(memory, size, rights, flags);
}

JP_HOOK(void *, mmap64,
        (void *start, size_t size, int rights, int flags, int fd,
         off64_t offset))
{
    JP_REAL(mmap64)
    const int begun = over(start, size, flags);
    void *memory = real(start, size, rights, flags, fd, offset);
    changed(begun);
    return mapped(memory, size, rights, flags);
}

int jp_code_is_change(const long a[7])
{
    return a[0] == SYS_mprotect || a[0] == SYS_pkey_mprotect ||
           a[0] == SYS_munmap || a[0] == SYS_mremap ||
           (a[0] == SYS_mmap && (a[4] & MAP_FIXED) != 0);
}

long jp_code_syscall(jp_syscall_function *real, const long a[7])
{
    const int begun = change((uint64_t)a[1], (uint64_t)a[2],
                             a[0] == SYS_pkey_mprotect && a[4] > 0);
    const int there = a[0] == SYS_mremap && (a[4] & MREMAP_FIXED) != 0
                          ? change((uint64_t)a[5], (uint64_t)a[3], 0)
                          : 0;
    const long result = real(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
    changed(there);
    changed(begun);
    return a[0] == SYS_mprotect || a[0] == SYS_pkey_mprotect
               ? protected((uint64_t)a[1], (uint64_t)a[2], (int)a[3], result)
               : result;
}
