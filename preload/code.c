/* SPDX-License-Identifier: MIT
 *
 * mmap and mprotect, for memory that becomes code: behind a sandbox nobody can
 * look up any more where a JIT compiler's is.
 * Runs in: any thread, the program's handlers. */
#include "code.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include "real.h"
#include "sig/arch/arch.h"
#include "sig/logfile.h"
#include "sig/maps.h"
#include "sig/process.h"
#include "sig/share.h"
#include "sig/sys.h"

typedef int mprotect_function(void *, size_t, int);
typedef int pkey_mprotect_function(void *, size_t, int, int);

/* The thread may be a vfork child's, which only borrows this memory: what it
 * says holds all the same. */
long jp_code_protected(uint64_t start, uint64_t size, int rights, long result)
{
    if (result != 0 || (rights & PROT_EXEC) == 0 || !jp_owned_sig() ||
        !jp_share_is_there_sig())
        return result;
    const uint64_t page = jp_process.page_size;
    uint64_t mask = jp_sys_block_sig();
    /* Who makes code will use it: there will be samples. */
    if (atomic_load(&jp_process.running))
        jp_logfile_ready_sig();
    jp_maps_note_sig(start & ~(page - 1),
                     (start + size + page - 1) & ~(page - 1));
    jp_sys_unblock_sig(mask);
    return result;
}

JP_EXPORT int mprotect(void *start, size_t size, int rights)
{
    JP_REAL(mprotect_function, mprotect)
    return (int)jp_code_protected((uint64_t)start, size, rights,
                                  real(start, size, rights));
}

JP_EXPORT int pkey_mprotect(void *start, size_t size, int rights, int key)
{
    JP_REAL(pkey_mprotect_function, pkey_mprotect)
    return (int)jp_code_protected((uint64_t)start, size, rights,
                                  real(start, size, rights, key));
}

/* The call itself: allocators make it before any function can be looked up. */
static void *map(const long all[6])
{
    const long result = jp_arch_syscall_sig(SYS_mmap, all);
    if (result < 0 && result > -4096) {
        errno = (int)-result;
        return MAP_FAILED;
    }
    if ((all[3] & MAP_ANONYMOUS) != 0)
        jp_code_protected((uint64_t)result, (uint64_t)all[1], (int)all[2], 0);
    return (void *)result;
}

JP_EXPORT void *mmap(void *start, size_t size, int rights, int flags, int fd,
                     off_t offset)
{
    const long all[6] = {(long)start, (long)size, rights,
                         flags,       fd,         offset};
    return map(all);
}

JP_EXPORT void *mmap64(void *start, size_t size, int rights, int flags, int fd,
                       off64_t offset)
{
    const long all[6] = {(long)start, (long)size, rights,
                         flags,       fd,         offset};
    return map(all);
}
