/* SPDX-License-Identifier: MIT
 *
 * Copies the kernel's vdso image out of the memory of this process.
 * Runs in: analyzer. */
#include "vdso.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define VDSO_SIZE_MAX (1U << 20) /* bytes; real ones have two pages */

/* The bytes of the image: the kernel's own headers tell, all of it is mapped.
 * 0: not understood. */
static size_t size_of(const uint8_t *image)
{
    Elf64_Ehdr head;
    size_t size;

    memcpy(&head, image, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64)
        return 0;
    size = head.e_shoff + (size_t)head.e_shnum * head.e_shentsize;
    for (size_t i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr segment;

        memcpy(&segment, image + head.e_phoff + i * sizeof segment,
               sizeof segment);
        if (segment.p_type == PT_LOAD &&
            segment.p_offset + segment.p_filesz > size)
            size = segment.p_offset + segment.p_filesz;
    }
    return size <= VDSO_SIZE_MAX ? size : 0;
}

int jr_vdso_open(void)
{
    uintptr_t address = getauxval(AT_SYSINFO_EHDR);
    const uint8_t *image = (const uint8_t *)address;
    size_t size, done = 0;
    int fd;

    if (!address)
        return -1;
    size = size_of(image);
    fd = size ? memfd_create("vdso", MFD_CLOEXEC) : -1;
    while (fd >= 0 && done < size) {
        ssize_t put = write(fd, image + done, size - done);

        if (put <= 0) {
            close(fd);
            return -1;
        }
        done += (size_t)put;
    }
    return fd;
}
