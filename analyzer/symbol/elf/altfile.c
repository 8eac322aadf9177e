/* SPDX-License-Identifier: MIT
 *
 * .gnu_debugaltlink: a path and a build-id.
 * Runs in: analyzer. */
#include "altfile.h"

#include <elfutils/libdwelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/mem.h"
#include "debugfile.h"

struct link {
    const char *name;
    const void *id;
    size_t size;
};

/* Opens `path`, which it frees, when it is the file of the link. */
static int try_path(const struct link *link, char *path)
{
    struct stat info;
    const char *why;
    int fd = jr_file_open(path, &info, &why);

    if (fd >= 0 && (!jr_debugfile_has_id(fd, link->id, link->size) ||
                    !jr_debugfile_is_bearable(fd, path, 1))) {
        close(fd);
        fd = -1;
    }
    free(path);
    return fd;
}

/* Where the link leads, from the file that has it on. */
static char *target_of(const struct link *link, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (link->name[0] == '/' || !slash)
        return jr_strdup(link->name);
    return jr_printf("%.*s/%s", (int)(slash - path), path, link->name);
}

static int find(const struct jr_debug_folders *folders, const struct link *link,
                const char *path)
{
    int fd = try_path(link, target_of(link, path));

    if (fd < 0)
        fd = jr_debugfile_common(folders, link->id, link->size);
    for (size_t i = 0; i < folders->count && fd < 0; i++)
        fd = try_path(link, jr_printf("%s/%s", folders->items[i], link->name));
    return fd;
}

/* Whether libdw, which will look by itself, finds a file or nothing there. */
static int is_harmless(const struct link *link, const char *path)
{
    char *target = target_of(link, path);
    struct stat info;
    int harmless = stat(target, &info) != 0 || S_ISREG(info.st_mode);

    free(target);
    return harmless;
}

int jr_altfile_open(const struct jr_debug_folders *folders, Dwarf *debug,
                    const char *path, struct jr_altfile *alternate)
{
    struct link link;
    ssize_t size = dwelf_dwarf_gnu_debugaltlink(debug, &link.name, &link.id);

    *alternate = (struct jr_altfile){.fd = -1};
    if (size <= 0)
        return 0;
    link.size = (size_t)size;
    alternate->fd = find(folders, &link, path);
    if (alternate->fd >= 0)
        alternate->elf = elf_begin(alternate->fd, ELF_C_READ_MMAP, NULL);
    if (alternate->elf) {
        jr_sections_unpack(alternate->elf, link.name, &alternate->unpacked);
        alternate->dwarf = dwarf_begin_elf(alternate->elf, DWARF_C_READ, NULL);
    }
    if (alternate->dwarf) {
        jr_texts_end(&alternate->texts, alternate->dwarf,
                     alternate->unpacked.items, alternate->unpacked.count);
        dwarf_setalt(debug, alternate->dwarf);
        return 0;
    }
    jr_say("%s: %s, which has a part of its DWARF, is missing; some inlined "
           "functions have no name, and their callers stand for them",
           path, link.name);
    return is_harmless(&link, path) ? 0 : -1;
}

void jr_altfile_close(struct jr_altfile *alternate)
{
    if (alternate->dwarf)
        dwarf_end(alternate->dwarf);
    elf_end(alternate->elf);
    jr_sections_free(&alternate->unpacked);
    jr_texts_free(&alternate->texts);
    if (alternate->fd >= 0)
        close(alternate->fd);
    *alternate = (struct jr_altfile){.fd = -1};
}
