/* SPDX-License-Identifier: MIT
 *
 * mmap and mprotect, for memory that becomes code: behind a sandbox nobody can
 * look up any more where a JIT compiler's is.
 * Runs in: any thread, the program's handlers. */
#include "code.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/types.h>

#include "local.h"
#include "real.h"
#include "sig/logfile.h"
#include "sig/maps.h"
#include "sig/process.h"
#include "sig/share.h"
#include "sig/sys.h"

typedef int mprotect_function(void *, size_t, int);
typedef int pkey_mprotect_function(void *, size_t, int, int);
typedef void *mmap_function(void *, size_t, int, int, int, off_t);

long jp_code_protected(uint64_t start, uint64_t size, int rights, long result)
{
    if (result != 0 || (rights & PROT_EXEC) == 0 || !jp_owned_sig() ||
        !jp_share_is_there_sig() || jp_local_is_borrowed())
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

JP_HOOK(int, mprotect, (void *start, size_t size, int rights))
{
    JP_REAL(mprotect_function, mprotect)
    return (int)jp_code_protected((uint64_t)start, size, rights,
                                  real(start, size, rights));
}

JP_HOOK(int, pkey_mprotect, (void *start, size_t size, int rights, int key))
{
    JP_REAL(pkey_mprotect_function, pkey_mprotect)
    return (int)jp_code_protected((uint64_t)start, size, rights,
                                  real(start, size, rights, key));
}

static void *mapped(void *memory, size_t size, int rights, int flags)
{
    if (memory != MAP_FAILED && (flags & MAP_ANONYMOUS) != 0)
        jp_code_protected((uint64_t)memory, size, rights, 0);
    return memory;
}

JP_HOOK(void *, mmap,
        (void *start, size_t size, int rights, int flags, int fd,
         off_t offset))
{
    JP_REAL(mmap_function, mmap)
    return mapped(real(start, size, rights, flags, fd, offset), size, rights,
                  flags);
}

JP_HOOK(void *, mmap64,
        (void *start, size_t size, int rights, int flags, int fd,
         off64_t offset))
{
    JP_REAL(mmap_function, mmap64)
    return mapped(real(start, size, rights, flags, fd, offset), size, rights,
                  flags);
}
