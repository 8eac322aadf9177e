/* SPDX-License-Identifier: MIT
 *
 * Separate debug files by build-id and by .gnu_debuglink.
 * Runs in: analyzer. */
#include "debugfile.h"

#include <elfutils/libdwelf.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/table.h"
#include "fetch.h"
#include "packed.h"

#define DEBUG_ROOT "/usr/lib/debug"
#define ID_MAX 64 /* bytes of a build-id; usual ones have 20 */

int jr_debugfile_has_id(int fd, const uint8_t *id, size_t size)
{
    const void *bits;
    Elf *elf;
    int same;

    /* libelf wants this once before its first call (elf_version(3)). */
    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    same = elf && dwelf_elf_gnu_build_id(elf, &bits) == (ssize_t)size &&
           !memcmp(bits, id, size);
    elf_end(elf);
    return same;
}

int jr_debugfile_is_bearable(int fd, const char *path, int is_common)
{
    uint64_t excess;
    Elf *elf;

    if (!is_common && !jr_packed_is_plain(fd))
        return 0;
    elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    excess = elf ? jr_packed_dwarf_excess(elf) : 0;
    elf_end(elf);
    if (excess)
        jr_say("%s: not read, for its DWARF would unpack to %" PRIu64 " bytes",
               path, excess);
    return excess == 0;
}

/* Says once of a debug file that it is not the one that is looked for, and
 * why.  `file` is what it would be of. */
static void say_other(const struct jr_debug_folders *folders,
                      const struct stat *info, const char *path,
                      const char *file, const char *why)
{
    const uint32_t fresh = folders->told ? (uint32_t)folders->told->used : 0;

    if (folders->told &&
        jr_table_put(folders->told, info->st_dev, info->st_ino, fresh) == fresh)
        jr_say("%s: not used for %s, for %s; debug information is looked for "
               "elsewhere",
               path, file ? file : "what has this build-id", why);
}

/* A build-id that is looked for, in binary and as file names have it. */
struct wanted {
    const struct jr_debug_folders *folders;
    const uint8_t *id;
    size_t size;
    int is_common;    /* of a file that dwz made */
    const char *name; /* of the file that it is the debug file of; NULL */
    char digits[2 * ID_MAX + 1];
};

static int want(struct wanted *wanted, const struct jr_debug_folders *folders,
                const uint8_t *id, size_t size)
{
    if (size < 2 || size > ID_MAX)
        return -1;
    *wanted = (struct wanted){.folders = folders, .id = id, .size = size};
    for (size_t i = 0; i < size; i++) {
        wanted->digits[2 * i] = "0123456789abcdef"[id[i] >> 4];
        wanted->digits[2 * i + 1] = "0123456789abcdef"[id[i] & 15];
    }
    return 0;
}

/* Opens `path`, which it frees or returns in *found, when it is the file that
 * is looked for. */
static int try_id(const struct wanted *wanted, char *path, char **found)
{
    struct stat info;
    const char *why;
    int fd = jr_file_open(path, &info, &why);

    int is_right = fd >= 0 && jr_debugfile_has_id(fd, wanted->id, wanted->size);

    if (is_right && jr_debugfile_is_bearable(fd, path, wanted->is_common)) {
        *found = path;
        return fd;
    }
    if (fd >= 0 && !is_right)
        say_other(wanted->folders, &info, path, wanted->name,
                  "its build-id is another");
    if (fd >= 0)
        close(fd);
    free(path);
    return -1;
}

static int try_folder(const struct wanted *wanted, const char *folder,
                      const char *below, char **found)
{
    return try_id(wanted,
                  jr_printf("%s%s/.build-id/%.2s/%s.debug", folder, below,
                            wanted->digits, wanted->digits + 2),
                  found);
}

/* Where the client of debuginfod keeps `name` of what it fetched: the place of
 * one number after the other, from 0 on (debuginfod-client-config(7),
 * DEBUGINFOD_CACHE_PATH).  NULL: there are no more. */
static char *cache_place(unsigned number, const char *digits, const char *name)
{
    static const char *const below[] = {"/debuginfod_client",
                                        "/.cache/debuginfod_client",
                                        "/.debuginfod_client_cache"};
    const char *given = getenv("DEBUGINFOD_CACHE_PATH");
    const char *folder = getenv(number == 0 ? "XDG_CACHE_HOME" : "HOME");

    if (given && *given)
        return number == 0 ? jr_printf("%s/%s/%s", given, digits, name) : NULL;
    if (number >= sizeof below / sizeof *below)
        return NULL;
    return folder && *folder
               ? jr_printf("%s%s/%s/%s", folder, below[number], digits, name)
               : jr_strdup("");
}

static int try_cache(const struct wanted *wanted, const char *kind,
                     char **found)
{
    char *place;
    int fd = -1;

    for (unsigned i = 0;
         fd < 0 && (place = cache_place(i, wanted->digits, kind)); i++)
        fd = try_id(wanted, place, found);
    return fd;
}

/* Asks the debuginfod servers, if the user wants that. */
static int try_servers(const struct wanted *wanted, char **path)
{
    const struct jr_debug_folders *folders = wanted->folders;
    char *fetched =
        folders->fetch
            ? jr_fetch_debug(folders->fetch, wanted->digits,
                             wanted->name ? wanted->name : wanted->digits)
            : NULL;

    return fetched ? try_id(wanted, fetched, path) : -1;
}

static int find_id(const struct wanted *wanted, char **path)
{
    const struct jr_debug_folders *folders = wanted->folders;
    int fd = -1;

    for (size_t i = 0; i < folders->count && fd < 0; i++) {
        fd = try_folder(wanted, folders->items[i], "", path);
        if (fd < 0)
            fd = try_folder(wanted, folders->items[i], DEBUG_ROOT, path);
    }
    if (fd < 0)
        fd = try_folder(wanted, DEBUG_ROOT, "", path);
    if (fd < 0)
        fd = try_cache(wanted, "debuginfo", path);
    return fd < 0 ? try_servers(wanted, path) : fd;
}

int jr_debugfile_by_id(const struct jr_debug_folders *folders, const char *file,
                       const uint8_t *id, size_t size, char **path)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    struct wanted wanted;

    *path = NULL;
    if (want(&wanted, folders, id, size) != 0)
        return -1;
    wanted.name = slash ? slash + 1 : file;
    return find_id(&wanted, path);
}

int jr_debugfile_common(const struct jr_debug_folders *folders,
                        const uint8_t *id, size_t size)
{
    struct wanted wanted;
    char *path = NULL;
    int fd;

    if (want(&wanted, folders, id, size) != 0)
        return -1;
    wanted.is_common = 1;
    fd = find_id(&wanted, &path);
    free(path);
    return fd;
}

int jr_debugfile_binary(const struct jr_debug_folders *folders,
                        const char *file, const uint8_t *id, size_t size,
                        char **path)
{
    struct wanted wanted;
    int fd = -1;

    *path = NULL;
    if (want(&wanted, folders, id, size) != 0)
        return -1;
    wanted.name = file;
    for (size_t i = 0; i < folders->count && fd < 0; i++)
        fd = try_id(&wanted, jr_printf("%s%s", folders->items[i], file), path);
    return fd < 0 ? try_cache(&wanted, "executable", path) : fd;
}

/* What the client calls a source in its cache (debuginfod-client.c of elfutils
 * 0.188, path_escape): slashes become "##", "#" becomes "#_". */
static char *escaped_name(const char *file)
{
    static const char kind[] = "source";
    char *name = jr_alloc(sizeof kind + 2 * strlen(file), 1);
    char *to = name + sizeof kind - 1;

    memcpy(name, kind, sizeof kind - 1);
    for (; *file; file++) {
        *to++ = *file == '/' ? '#' : *file;
        if (*file == '/' || *file == '#')
            *to++ = *file == '/' ? '#' : '_';
    }
    return name;
}

/* The same since elfutils 0.192: a hash of the whole name, that of djb2, and of
 * its end what half a file name has room for behind the hash, with "#" for what
 * is no letter, digit, dot, dash or underscore. */
static char *hashed_name(const char *file)
{
    static const size_t room = NAME_MAX / 2 - sizeof "01234567-";
    const size_t length = strlen(file);
    uint32_t hash = 5381;
    char *name, *end;

    for (const char *at = file; *at; at++)
        hash = hash * 33 + (uint32_t)*at;
    name = jr_printf("source-%08" PRIx32 "-%s", hash,
                     length > room ? file + length - room : file);
    for (end = name + sizeof "source-01234567-" - 1; *end; end++)
        if (!((*end | 0x20) >= 'a' && (*end | 0x20) <= 'z') &&
            !(*end >= '0' && *end <= '9') && !strchr(".-_", *end))
            *end = '#';
    return name;
}

/* An empty file there says that no server has it. */
static int is_source(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
}

/* The source's path in the cache, NULL: it is not there.  Frees its name. */
static char *find_source(const struct wanted *wanted, char *name)
{
    char *place = NULL;

    for (unsigned i = 0; (place = cache_place(i, wanted->digits, name)); i++) {
        if (is_source(place))
            break;
        free(place);
    }
    free(name);
    return place;
}

char *jr_debugfile_source(const struct jr_debug_folders *folders,
                          const uint8_t *id, size_t size, const char *file)
{
    struct wanted wanted;
    char *place;

    if (file[0] != '/' || want(&wanted, folders, id, size) != 0)
        return NULL;
    place = find_source(&wanted, hashed_name(file));
    if (!place)
        place = find_source(&wanted, escaped_name(file));
    if (!place && folders->fetch)
        place = jr_fetch_source(folders->fetch, wanted.digits, file);
    return place;
}

/* The checksum of .gnu_debuglink is zlib's crc32. */
static int has_checksum(int fd, uint64_t size, GElf_Word checksum)
{
    uint8_t buffer[16384];
    uLong sum = crc32(0, NULL, 0);
    uint64_t at = 0;

    while (at < size) {
        size_t got = jr_file_pread(fd, buffer, sizeof buffer, at);

        if (got == 0)
            return 0;
        sum = crc32(sum, buffer, (uInt)got);
        at += got;
    }
    return sum == checksum;
}

/* A file that a .gnu_debuglink names. */
struct linked {
    const struct jr_debug_folders *folders;
    const char *file; /* that has the link */
    const char *name;
    GElf_Word checksum;
    const uint8_t *id; /* of the file with the link */
    size_t id_size;    /* 0: it has none */
};

static int has_other_id(int fd, const struct linked *linked)
{
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    const void *bits;
    ssize_t size = elf ? dwelf_elf_gnu_build_id(elf, &bits) : 0;
    int other = linked->id_size > 0 && size > 0 &&
                ((size_t)size != linked->id_size ||
                 memcmp(bits, linked->id, linked->id_size) != 0);

    elf_end(elf);
    return other;
}

static int try_link(const struct linked *linked, char *path, char **found)
{
    struct stat info;
    const char *why;
    int fd = jr_file_open(path, &info, &why);
    const char *other = NULL;

    if (fd >= 0 && has_other_id(fd, linked))
        other = "its build-id is another";
    else if (fd >= 0 &&
             !has_checksum(fd, (uint64_t)info.st_size, linked->checksum))
        other = "its checksum is another than the one asked for";
    else if (fd >= 0 && jr_debugfile_is_bearable(fd, path, 0)) {
        *found = path;
        return fd;
    }
    /* A link may lead to the file that has it.  For what dwz moved libdwfl asks
     * here as well, with no checksum; altfile.c looks for that. */
    if (other && linked->checksum != 0 && strcmp(path, linked->file) != 0)
        say_other(linked->folders, &info, path, linked->file, other);
    if (fd >= 0)
        close(fd);
    free(path);
    return -1;
}

static int find_link(const struct linked *linked, char **found)
{
    const struct jr_debug_folders *folders = linked->folders;
    const char *file = linked->file;
    const char *slash = strrchr(file, '/');
    int length = slash ? (int)(slash - file) : 1;
    const char *folder = slash ? file : ".";
    int fd;

    /* The link is a file name; a path would lead anywhere. */
    if (strchr(linked->name, '/') || !*linked->name)
        return -1;
    fd = try_link(linked, jr_printf("%.*s/%s", length, folder, linked->name),
                  found);
    if (fd < 0)
        fd = try_link(linked,
                      jr_printf("%.*s/.debug/%s", length, folder, linked->name),
                      found);
    for (size_t i = 0; i < folders->count && fd < 0 && slash; i++) {
        fd = try_link(linked,
                      jr_printf("%s%.*s/%s", folders->items[i], length, folder,
                                linked->name),
                      found);
        if (fd < 0)
            fd =
                try_link(linked,
                         jr_printf("%s" DEBUG_ROOT "%.*s/%s", folders->items[i],
                                   length, folder, linked->name),
                         found);
        if (fd < 0)
            fd = try_link(linked,
                          jr_printf("%s/%s", folders->items[i], linked->name),
                          found);
    }
    if (fd < 0 && slash)
        fd = try_link(
            linked,
            jr_printf(DEBUG_ROOT "%.*s/%s", length, folder, linked->name),
            found);
    return fd;
}

int jr_debugfile_find(Dwfl_Module *module, void **userdata, const char *name,
                      Dwarf_Addr base, const char *file, const char *link,
                      GElf_Word checksum, char **found)
{
    const struct jr_debug_folders *folders = *userdata;
    const unsigned char *id;
    GElf_Addr where;
    int size = dwfl_module_build_id(module, &id, &where);
    struct linked linked = {folders,  file, link,
                            checksum, id,   size > 0 ? (size_t)size : 0};
    int fd = -1;

    (void)name;
    (void)base;
    if (size > 0)
        fd = jr_debugfile_by_id(folders, file, id, (size_t)size, found);
    if (fd < 0 && file && link)
        fd = find_link(&linked, found);
    return fd;
}
