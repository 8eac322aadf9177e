/* SPDX-License-Identifier: MIT
 *
 * Looks at a program's file: what kind of machine it is for, whether it has a
 * loader that preloads, and whether the kernel will start it in secure mode.
 * Runs in: launcher. */
#include "check.h"

#include <elf.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "launcher/base/say.h"
#include "place.h"

#define LINE_MAX_SIZE 4096
#define HEADERS_MAX 4096U /* program headers that are looked at */

size_t jl_read_start(const char *path, char *text, size_t size)
{
    struct stat info;
    const char *why;
    int fd = jr_file_open(path, &info, &why);
    size_t got = 0;

    if (fd >= 0) {
        got = jr_file_pread(fd, text, size - 1, 0);
        close(fd);
    }
    text[got] = '\0';
    return got;
}

/* The loader that the program headers ask for: 1 and its path in `loader`, 0
 * if they ask for none, -1 if they cannot be read. */
static int find_loader(int fd, const Elf64_Ehdr *header, char *loader,
                       size_t size)
{
    if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum == 0)
        return -1;
    for (unsigned i = 0; i < header->e_phnum && i < HEADERS_MAX; i++) {
        Elf64_Phdr part;
        size_t length;

        if (jr_file_pread(fd, &part, sizeof part,
                          header->e_phoff + i * sizeof part) != sizeof part)
            return -1;
        if (part.p_type != PT_INTERP || part.p_filesz > size - 1)
            continue;
        length = jr_file_pread(fd, loader, part.p_filesz, part.p_offset);
        loader[length] = '\0';
        return 1;
    }
    return 0;
}

/* Whether both are for the same kind of machine. */
static int same_machine(const Elf64_Ehdr *one, const Elf64_Ehdr *other)
{
    return one->e_ident[EI_CLASS] == other->e_ident[EI_CLASS] &&
           one->e_ident[EI_DATA] == other->e_ident[EI_DATA] &&
           one->e_machine == other->e_machine;
}

static int is_loader(const char *path)
{
    const char *name = jr_base_name(path);

    return strcmp(name, "ld.so") == 0 || fnmatch("ld-*.so*", name, 0) == 0;
}

static void check_elf(struct jl_check *check, int fd, const char *path,
                      const char *library)
{
    Elf64_Ehdr header = {.e_phnum = 0}, ours = {.e_phnum = 0};
    char loader[LINE_MAX_SIZE], start[sizeof ours + 1];
    int found;

    jr_file_pread(fd, &header, sizeof header, 0);
    jl_read_start(library, start, sizeof start);
    memcpy(&ours, start, sizeof ours);
    if (!same_machine(&header, &ours)) {
        check->why = "it is built for another kind of machine than libjprof.so";
        check->no_preload = 1;
        return;
    }
    found = find_loader(fd, &header, loader, sizeof loader);
    if (found == 1 && strstr(loader, "ld-musl")) {
        check->why = "it uses the C library musl, and libjprof.so needs glibc";
        check->no_preload = 1;
    } else if (found == 0 && !is_loader(path)) {
        check->why = "it is statically linked, so no library can be preloaded";
    }
}

/* Whether the kernel will start the file in secure mode (AT_SECURE), in which
 * the loader drops LD_PRELOAD. */
static void check_secure(struct jl_check *check, const char *path)
{
    struct stat info;

    if (stat(path, &info) != 0)
        return;
    if ((info.st_mode & S_ISUID) && info.st_uid != getuid())
        check->why = "it is set-uid, and the loader then ignores LD_PRELOAD";
    else if ((info.st_mode & S_ISGID) && info.st_gid != getgid())
        check->why = "it is set-gid, and the loader then ignores LD_PRELOAD";
    else if (getuid() != 0 &&
             getxattr(path, "security.capability", NULL, 0) > 0)
        check->why = "it has file capabilities, and the loader then ignores "
                     "LD_PRELOAD";
}

void jl_check_program(struct jl_check *check, const char *path,
                      const char *library)
{
    char line[LINE_MAX_SIZE], *file = line;
    struct stat info;
    const char *wrong;
    int fd;

    *check = (struct jl_check){0};
    jl_read_start(path, line, sizeof line);
    if (strncmp(line, "#!", 2) == 0) { /* the interpreter is what runs and is
                                          profiled */
        file += 2;
        file += strspn(file, " \t");
        file[strcspn(file, " \t\r\n")] = '\0';
        check->shown = jr_printf("%s (the interpreter of %s)", file, path);
        path = file;
    } else {
        check->shown = jr_strdup(path);
        check_secure(check, path);
    }
    fd = check->why ? -1 : jr_file_open(path, &info, &wrong);
    if (fd >= 0) {
        char magic[SELFMAG];

        if (jr_file_pread(fd, magic, sizeof magic, 0) == sizeof magic &&
            memcmp(magic, ELFMAG, SELFMAG) == 0)
            check_elf(check, fd, path, library);
        close(fd);
    }
    if (check->why)
        jr_say("%s cannot be profiled: %s", check->shown, check->why);
}
