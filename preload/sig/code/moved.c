/* SPDX-License-Identifier: MIT
 *
 * Text that the program has moved to memory without a file.  The file is read,
 * not mapped, and memory by copies that fail instead of faulting.
 * Runs in: handler, any thread. */
#include "moved.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>

#include "module.h"
#include "sig/os/own.h"
#include "sig/os/sys.h"
#include "sig/state/config.h"

#define HEADERS_MAX 64U    /* program headers looked at */
#define REACH (1ULL << 32) /* bytes from a file's beginning to its text */
#define WINDOWS 8U         /* pieces compared of a mapping, */
#define WINDOW 64U         /* of so many bytes */

/* The last file whose beginning is mapped. */
static struct {
    uint64_t base; /* where that is; 0: no file can be opened */
    uint64_t inode;
    uint32_t major, minor;
    size_t length; /* of the path, which ends with a NUL */
    char path[JP_PATH_MAX];
} file;

void jp_moved_begins_sig(const struct jp_vma *vma)
{
    file.base = 0;
    if (vma->path_length >= sizeof(file.path))
        return;
    memcpy(file.path, vma->path, vma->path_length);
    file.path[vma->path_length] = '\0';
    file.length = vma->path_length;
    file.base = vma->start;
    file.inode = vma->inode;
    file.major = vma->major;
    file.minor = vma->minor;
}

/* Finds the offset in the file that its text has at the mapping's place.
 * Returns 0 when the mapping is not inside of an executable segment, or would
 * have the file's beginning.  Its stack is small, as the handler's is deepest
 * here. */
__attribute__((noinline)) static uint64_t offset_sig(const struct jp_vma *vma)
{
    static Elf64_Ehdr elf;
    static Elf64_Phdr header;
    uint64_t bias = 0;
    int owned = 0;
    if (jp_self_read_sig(file.base, &elf, sizeof(elf)) != sizeof(elf) ||
        memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 ||
        elf.e_ident[EI_CLASS] != ELFCLASS64 ||
        elf.e_phentsize != sizeof(header))
        return 0;
    for (unsigned i = 0; i < elf.e_phnum && i < HEADERS_MAX; i++) {
        if (jp_self_read_sig(file.base + elf.e_phoff + i * sizeof(header),
                             &header, sizeof(header)) != sizeof(header))
            return 0;
        if (header.p_type != PT_LOAD)
            continue;
        if (!owned)
            bias = file.base - (header.p_vaddr - header.p_offset);
        owned = 1;
        const uint64_t start = (bias + header.p_vaddr) & ~4095ULL;
        const uint64_t end =
            (bias + header.p_vaddr + header.p_filesz + 4095) & ~4095ULL;
        if ((header.p_flags & PF_X) != 0 && vma->start >= start &&
            vma->end <= end)
            return (header.p_offset & ~4095ULL) + vma->start - start;
    }
    return 0;
}

/* Whether a piece of memory is as it is in the file. */
__attribute__((noinline)) static int same_sig(int fd, uint64_t address,
                                              uint64_t offset)
{
    uint8_t here[WINDOW], there[WINDOW];
    const long size = jp_sys_pread_sig(fd, there, sizeof(there), offset);
    return size > 0 && jp_self_read_sig(address, here, (size_t)size) == size &&
           memcmp(here, there, (size_t)size) == 0;
}

/* Whether the mapping's pieces are as they are in the file from `offset` on. */
static int is_text_sig(const struct jp_vma *vma, uint64_t offset)
{
    static struct stat info;
    const uint64_t step = (vma->end - vma->start) / WINDOWS;
    const int fd = jp_sys_open_sig(file.path, O_RDONLY, 0);
    if (fd < 0)
        return 0;
    int same = jp_sys_fstat_sig(fd, &info) == 0 && S_ISREG(info.st_mode) &&
               info.st_ino == file.inode;
    for (uint64_t i = 0; same && i < WINDOWS; i++)
        same = same_sig(fd, vma->start + i * step, offset + i * step);
    jp_sys_close_sig(fd);
    return same;
}

void jp_moved_adopt_sig(struct jp_vma *vma)
{
    if (vma->inode != 0 || (vma->prot & JP_PROT_EXEC) == 0 || file.base == 0 ||
        vma->start < file.base || vma->start - file.base > REACH ||
        jp_module_is_vdso_sig(vma))
        return;
    const uint64_t offset = offset_sig(vma);
    if (offset == 0 || !is_text_sig(vma, offset))
        return;
    vma->offset = offset;
    vma->inode = file.inode;
    vma->major = file.major;
    vma->minor = file.minor;
    vma->path = file.path;
    vma->path_length = file.length;
}
