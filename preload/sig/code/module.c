/* SPDX-License-Identifier: MIT
 *
 * The map's lines about executable ranges.  Memory that another thread may be
 * unmapping is read by process_vm_readv, which fails instead of faulting.
 * Runs in: handler, any thread. */
#include "module.h"

#include <elf.h>
#include <string.h>

#include "jp_map.h"
#include "sig/files/mapfile.h"
#include "sig/os/own.h"
#include "sig/os/sys.h"

#define HEADERS_MAX 64U /* program headers looked at */
#define NOTES_MAX                                                              \
    8U /* notes of a segment; the build-id is the first or second */

static const char deleted_suffix[] = " (deleted)";

long jp_module_read_sig(uint64_t address, void *to, size_t size)
{
    return jp_self_read_sig(address, to, size);
}

/* Copies the build-id (NT_GNU_BUILD_ID, elf.h) from the `size` bytes of notes
 * at `at`.  Returns its size, 0 when there is none.  Each note is read by
 * itself, as the handler's stack is deepest here. */
static unsigned note_build_id_sig(uint64_t at, uint64_t size, uint8_t *build_id)
{
    struct {
        Elf64_Nhdr header;
        char name[4];
    } note;
    const uint64_t end = at + size;
    for (unsigned i = 0; i < NOTES_MAX && end - at >= sizeof(note); i++) {
        if (jp_self_read_sig(at, &note, sizeof(note)) != sizeof(note))
            return 0;
        const unsigned length = note.header.n_descsz;
        const uint64_t text = at + sizeof(note.header) +
                              (((uint64_t)note.header.n_namesz + 3) & ~3ULL);
        if (text - at > end - at || length > end - text)
            return 0;
        if (note.header.n_type == NT_GNU_BUILD_ID &&
            note.header.n_namesz == sizeof(note.name) &&
            memcmp(note.name, "GNU", 4) == 0 && length <= JP_BUILD_ID_MAX)
            return jp_self_read_sig(text, build_id, length) == length ? length
                                                                      : 0;
        const uint64_t next = text + (((uint64_t)length + 3) & ~3ULL);
        if (next - at > end - at)
            return 0;
        at = next;
    }
    return 0;
}

unsigned jp_module_build_id_sig(uint64_t headers, unsigned count, uint64_t bias,
                                uint8_t *build_id)
{
    for (unsigned i = 0; i < count && i < HEADERS_MAX; i++) {
        Elf64_Phdr header;
        if (jp_self_read_sig(headers + i * sizeof(header), &header,
                             sizeof(header)) != sizeof(header))
            return 0;
        if (header.p_type != PT_NOTE)
            continue;
        unsigned found =
            note_build_id_sig(bias + header.p_vaddr, header.p_filesz, build_id);
        if (found != 0)
            return found;
    }
    return 0;
}

/* Finds what to add to the file's addresses in this mapping (*bias), from the
 * load segment that contains the mapping's file offset, and in the image at
 * `base` (*first).  Returns whether *bias was found. */
static int bias_sig(const Elf64_Ehdr *elf, const struct jp_vma *vma,
                    uint64_t base, uint64_t *bias, uint64_t *first)
{
    int found = 0, owned = 0;
    for (unsigned i = 0; i < elf->e_phnum && i < HEADERS_MAX; i++) {
        Elf64_Phdr header;
        if (jp_self_read_sig(base + elf->e_phoff + i * sizeof(header), &header,
                             sizeof(header)) != sizeof(header))
            return 0;
        if (header.p_type != PT_LOAD)
            continue;
        uint64_t page = header.p_offset & ~4095ULL;
        /* Data may begin in the file's first page, too, behind the code. */
        if (page == 0 && !owned) {
            *first = base - header.p_vaddr + header.p_offset;
            owned = 1;
        }
        if (vma->offset >= page &&
            vma->offset < header.p_offset + header.p_filesz &&
            (header.p_flags & PF_X) != 0) {
            *bias = vma->start - vma->offset + header.p_offset - header.p_vaddr;
            found = 1;
        }
    }
    return found;
}

__attribute__((noinline)) static void
put_image_sig(const struct jp_vma *vma, uint64_t base, struct jp_text *text)
{
    static Elf64_Ehdr elf; /* one scan at a time: the stack is deepest here */
    static uint8_t build_id[JP_BUILD_ID_MAX];
    uint64_t bias = 0, first = base;
    if (base == 0 || jp_self_read_sig(base, &elf, sizeof(elf)) != sizeof(elf) ||
        memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 ||
        elf.e_ident[EI_CLASS] != ELFCLASS64 ||
        elf.e_phentsize != sizeof(Elf64_Phdr))
        return;
    if (bias_sig(&elf, vma, base, &bias, &first))
        jp_mapfile_hex_sig(text, "bias", bias);
    unsigned size = jp_module_build_id_sig(base + elf.e_phoff, elf.e_phnum,
                                           first, build_id);
    if (size == 0)
        return;
    jp_mapfile_key_sig(text, "build_id");
    for (unsigned i = 0; i < size; i++) {
        jp_text_char_sig(text, "0123456789abcdef"[build_id[i] >> 4]);
        jp_text_char_sig(text, "0123456789abcdef"[build_id[i] & 15]);
    }
}

/* Not one function with put_image_sig, so that the handler's stack holds only
 * one of the two frames. */
__attribute__((noinline)) static void put_time_sig(const struct jp_vma *vma,
                                                   struct jp_text *text)
{
    struct stat info;
    const size_t length = text->length;
    /* The path ends with a NUL for a moment behind the line: the handler's
     * stack has no room for it. */
    if (vma->path_length >= text->size - length)
        return;
    jp_text_bytes_sig(text, vma->path, vma->path_length);
    const int result = jp_sys_stat_sig(text->data + length, 1, &info);
    jp_text_trim_sig(text, length);
    if (result != 0 || info.st_ino != vma->inode)
        return;
    jp_mapfile_decimal_sig(text, "mtime",
                           (uint64_t)info.st_mtim.tv_sec * JP_NS +
                               (uint64_t)info.st_mtim.tv_nsec);
}

static void put_file_sig(const struct jp_vma *vma, uint64_t base,
                         struct jp_text *text)
{
    const size_t suffix = sizeof(deleted_suffix) - 1;
    size_t length = vma->path_length;
    jp_mapfile_hex_sig(text, "offset", vma->offset);
    jp_mapfile_key_sig(text, "dev");
    jp_text_decimal_sig(text, vma->major);
    jp_text_char_sig(text, ':');
    jp_text_decimal_sig(text, vma->minor);
    jp_mapfile_decimal_sig(text, "inode", vma->inode);
    if (length > suffix &&
        memcmp(vma->path + length - suffix, deleted_suffix, suffix) == 0) {
        length -= suffix;
        jp_mapfile_decimal_sig(text, "deleted", 1);
    } else {
        put_time_sig(vma, text);
    }
    put_image_sig(vma, base, text);
    jp_mapfile_key_sig(text, "path");
    jp_text_value_sig(text, vma->path, length);
}

static int begins_sig(const struct jp_vma *vma, const char *text, size_t length)
{
    return vma->path_length >= length && memcmp(vma->path, text, length) == 0;
}

int jp_module_is_nameless_sig(const struct jp_vma *vma, uint64_t base)
{
    static const char *const always[] = {"/dev/zero", "/memfd:", "/SYSV"};
    const size_t suffix = sizeof(deleted_suffix) - 1;
    char magic[SELFMAG];
    if (vma->path_length <= suffix ||
        memcmp(vma->path + vma->path_length - suffix, deleted_suffix, suffix) !=
            0)
        return 0;
    if (base != 0)
        return jp_self_read_sig(base, magic, sizeof(magic)) != sizeof(magic) ||
               memcmp(magic, ELFMAG, SELFMAG) != 0;
    for (unsigned i = 0; i < sizeof(always) / sizeof(always[0]); i++) {
        if (begins_sig(vma, always[i], jp_text_length_sig(always[i])))
            return 1;
    }
    return 0;
}

int jp_module_is_vdso_sig(const struct jp_vma *vma)
{
    return vma->path_length == 6 && memcmp(vma->path, "[vdso]", 6) == 0;
}

static int has_file_sig(const struct jp_vma *vma)
{
    return vma->inode != 0 || jp_module_is_vdso_sig(vma);
}

const char *jp_module_event_sig(const struct jp_vma *vma)
{
    return has_file_sig(vma) ? JP_MAP_MODULE : JP_MAP_ANON;
}

void jp_module_put_sig(int fd, const struct jp_vma *vma, uint64_t base,
                       struct jp_text *text)
{
    jp_mapfile_hex_sig(text, "start", vma->start);
    jp_mapfile_hex_sig(text, "end", vma->end);
    if (has_file_sig(vma)) {
        put_file_sig(vma, base, text);
    } else if (vma->path_length > 0) {
        jp_mapfile_key_sig(text, "name");
        jp_text_value_sig(text, vma->path, vma->path_length);
    }
    jp_mapfile_put_sig(fd, text);
}

void jp_module_gone_sig(int fd, uint64_t time_ns, uint64_t start, uint64_t end)
{
    char buffer[JP_MAPFILE_SHORT];
    struct jp_text text;
    jp_text_init_sig(&text, buffer, sizeof(buffer));
    jp_mapfile_line_sig(&text, time_ns, JP_MAP_UNMAP);
    jp_mapfile_hex_sig(&text, "start", start);
    jp_mapfile_hex_sig(&text, "end", end);
    jp_mapfile_put_sig(fd, &text);
}
