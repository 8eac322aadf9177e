/* SPDX-License-Identifier: MIT
 *
 * Finding out whether a program will be profiled when it is executed.
 * Runs in: any thread, vfork children (whose stack may be small). */
#include "target.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "jp_limits.h"
#include "jp_map.h"
#include "sig/arch/arch.h"
#include "sig/files/mapfile.h"
#include "sig/files/tree.h"
#include "sig/os/own.h"
#include "sig/os/sys.h"
#include "sig/os/text.h"
#include "sig/state/process.h"

#define PATH_ROOM 1024
#define LINE_ROOM 1536
#define ARGS_MOST 240  /* bytes of the arguments that are written */
#define SCRIPTS_MOST 4 /* scripts whose interpreter is a script */
#define HEADERS_MOST 64
#define ENV_MOST 4096 /* variables */
#define BATCH 32
#define START 16 /* bytes of a variable that are looked at first */
#define PRELOAD "LD_PRELOAD="
#define VALUE_ROOM 1024 /* of a variable that is read whole */
#define ADDED_MOST 1000 /* variables of an environment that is changed */

/* This library's path, if LD_PRELOAD can have it; else NULL. */
static const char *library;

void jp_target_begin(void)
{
    Dl_info info;
    if (dladdr(&library, &info) != 0 && info.dli_fname[0] == '/' &&
        strpbrk(info.dli_fname, " :") == NULL &&
        strstr(info.dli_fname, "libjprof") != NULL)
        library = info.dli_fname;
}

/* Why a program will not be profiled, in the words of doc/FORMAT.md. */
static const char why_static[] = "static", why_musl[] = "musl",
                  why_machine[] = "machine", why_secure[] = "setuid",
                  why_capable[] = "caps", why_preload[] = "preload",
                  why_flags[] = "flags", why_filter[] = "filter";

/* Why a program that gains rights will not be profiled, since the loader
 * ignores LD_PRELOAD in it; NULL: it gains none. */
static const char *secure(int fd, const struct stat *info)
{
    char value[64];
    if ((info->st_mode & S_ISUID) != 0 && info->st_uid != getuid())
        return why_secure;
    if ((info->st_mode & S_ISGID) != 0 && (info->st_mode & S_IXGRP) != 0 &&
        info->st_gid != getgid())
        return why_secure;
    if (getuid() != 0 &&
        jp_sys_sig(SYS_fgetxattr, fd, (long)"security.capability", (long)value,
                   sizeof(value), 0) > 0)
        return why_capable;
    return NULL;
}

/* Whether a path is the loader's, which has no interpreter but preloads. */
static int is_loader(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    return strncmp(name, "ld", 2) == 0 && strstr(name, ".so") != NULL;
}

/* Why an ELF file will not be profiled, or NULL. */
static const char *elf(int fd, const Elf64_Ehdr *header, const char *path)
{
    char loader[64];
    Elf64_Phdr part;
    if (header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_ident[EI_DATA] != ELFDATA2LSB ||
        header->e_machine != JP_ARCH_MACHINE)
        return why_machine;
    for (unsigned i = 0; i < header->e_phnum && i < HEADERS_MOST; i++) {
        if (jp_sys_pread_sig(fd, &part, sizeof(part),
                             header->e_phoff + i * sizeof(part)) !=
            (long)sizeof(part))
            return NULL;
        if (part.p_type != PT_INTERP)
            continue;
        const long got =
            jp_sys_pread_sig(fd, loader, sizeof(loader) - 1, part.p_offset);
        loader[got > 0 ? got : 0] = '\0';
        return strstr(loader, "ld-musl") != NULL ? why_musl : NULL;
    }
    return is_loader(path) ? NULL : why_static;
}

/* Sets `path` to the interpreter that a script's first line names.  Returns 0
 * when it names none. */
static int interpreter(char *path, const char *line)
{
    size_t length = 0;
    while (*line == ' ' || *line == '\t')
        line++;
    while ((unsigned char)line[length] > ' ')
        length++;
    if (length == 0 || length >= PATH_ROOM)
        return 0;
    memcpy(path, line, length);
    path[length] = '\0';
    return 1;
}

/* Why the file will not be profiled; NULL when it will, or that is not known.
 * For a script, sets `path` to its interpreter, which counts. */
static const char *file_reason(char *path)
{
    union {
        Elf64_Ehdr header;
        char text[256];
    } start;
    for (unsigned depth = 0; depth < SCRIPTS_MOST; depth++) {
        struct stat info;
        const char *why = NULL;
        const int fd = jp_sys_open_sig(path, O_RDONLY, 0);
        if (fd < 0)
            return NULL;
        long got = 0;
        if (jp_sys_fstat_sig(fd, &info) == 0 && S_ISREG(info.st_mode))
            got = jp_sys_pread_sig(fd, &start, sizeof(start) - 1, 0);
        start.text[got > 0 ? got : 0] = '\0';
        const int script = got > 2 && memcmp(start.text, "#!", 2) == 0;
        if (got >= (long)sizeof(start.header) &&
            memcmp(start.text, ELFMAG, SELFMAG) == 0) {
            why = secure(fd, &info);
            if (why == NULL)
                why = elf(fd, &start.header, path);
        }
        jp_sys_close_sig(fd);
        if (!script || !interpreter(path, start.text + 2))
            return why;
    }
    return NULL;
}

/* Reads a string of the program's memory, cut at `size`.  Returns its length,
 * -1 when it cannot be read. */
static long string(const char *from, char *to, size_t size)
{
    const long got = jp_self_read_sig((uint64_t)from, to, size - 1);
    if (got <= 0)
        return -1;
    to[got] = '\0';
    return (long)strlen(to);
}

/* Whether a variable contains a text, or may. */
static int holds(const char *variable, const char *what)
{
    char value[VALUE_ROOM];
    const long length = string(variable, value, sizeof(value));
    /* One that is too long to be read may contain it. */
    return length < 0 || length == (long)sizeof(value) - 1 ||
           strstr(value, what) != NULL;
}

/* Looks at a variable, whose first bytes are `start`.  Returns bits: it
 * preloads the library, it has its flags. */
#define HAS_PRELOAD 1
#define HAS_FLAGS 2
#define HAS_EMPTY 4 /* flags that hand_down in sandbox.c has emptied */
#define HAS_OTHER 8 /* it preloads others */
#define HAS_ALL (HAS_PRELOAD | HAS_FLAGS)
static int variable(const char *at, const char *start)
{
    if (strncmp(start, PRELOAD, sizeof(PRELOAD) - 1) == 0)
        return holds(at, "libjprof")             ? HAS_PRELOAD
               : start[sizeof(PRELOAD) - 1] != 0 ? HAS_OTHER
                                                 : 0;
    if (memcmp(start, JP_ENV_FLAGS "=", sizeof(JP_ENV_FLAGS) + 1) == 0)
        return HAS_EMPTY;
    if (strncmp(start, JP_ENV_FLAGS "=", sizeof(JP_ENV_FLAGS)) == 0)
        return holds(at, "JP_START") || holds(at, "JP_DEFER") ? HAS_FLAGS : 0;
    return 0;
}

/* Reads the first bytes of some variables in one system call.  Returns of how
 * many it could. */
static long starts(const char *const *at, long count, char start[][START])
{
    struct iovec remote[BATCH];
    const struct iovec local = {start, (size_t)count * START};
    for (long i = 0; i < count; i++)
        remote[i] = (struct iovec){(void *)(uintptr_t)at[i], START};
    const long got = jp_sys_sig(SYS_process_vm_readv, (long)jp_sys_gettid_sig(),
                                (long)&local, 1, (long)remote, count);
    return got < 0 ? 0 : got / START;
}

/* Looks at `count` variables and adds to *found.  Returns 0 if one cannot be
 * read. */
static int batch(const char *const *at, long count, int *found)
{
    char start[BATCH][START];
    const long good = starts(at, count, start);
    for (long i = 0; i < count; i++) {
        /* It may end less than START bytes before memory that is not mapped. */
        if (i >= good && string(at[i], start[i], START) < 0)
            return 0;
        *found |= variable(at[i], start[i]);
    }
    return 1;
}

/* Looks at an environment.  Returns HAS_* bits, -1 when it cannot be read. */
static int environment(char *const *envp)
{
    const char *at[BATCH];
    int found = 0;
    for (unsigned i = 0; i < ENV_MOST; i += BATCH) {
        const long got = jp_self_read_sig((uint64_t)(envp + i), at, sizeof(at));
        const long most = got < 0 ? 0 : got / (long)sizeof(at[0]);
        long count = 0;
        while (count < most && at[count] != NULL)
            count++;
        if (!batch(at, count, &found))
            return -1;
        if (count < most || (found & HAS_ALL) == HAS_ALL)
            return found;
        if (most < BATCH)
            return -1;
    }
    return -1;
}

/* Whether it is the program's own environment, unchanged, as most often. */
static int is_unchanged(char *const *envp)
{
    const char *preload = getenv("LD_PRELOAD"), *flags = getenv(JP_ENV_FLAGS);
    return envp == environ && preload != NULL && flags != NULL &&
           strstr(preload, "libjprof") != NULL && strstr(flags, "JP_") != NULL;
}

/* Why a program with this environment will not be profiled, or NULL. */
static const char *environment_reason(char *const *envp)
{
    if (is_unchanged(envp))
        return NULL;
    const int found = environment(envp);
    if (found < 0 || (found & HAS_ALL) == HAS_ALL)
        return NULL;
    if ((found & HAS_PRELOAD) == 0)
        return why_preload;
    return (found & HAS_EMPTY) != 0 ? why_filter : why_flags;
}

/* Sets `path` to the first executable file of that name in PATH.  Returns 0
 * when there is none. */
static int search(const char *file, char *path)
{
    const char *at = getenv("PATH");
    struct stat info;
    if (at == NULL)
        at = "/bin:/usr/bin";
    for (;;) {
        struct jp_text text;
        const char *end = strchrnul(at, ':');
        jp_text_init_sig(&text, path, PATH_ROOM);
        jp_text_bytes_sig(&text, at, (size_t)(end - at));
        if (end != at)
            jp_text_char_sig(&text, '/');
        jp_text_add_sig(&text, file);
        if (!text.cut && jp_sys_stat_sig(path, 1, &info) == 0 &&
            S_ISREG(info.st_mode) && (info.st_mode & 0111) != 0)
            return 1;
        if (*end == '\0')
            return 0;
        at = end + 1;
    }
}

/* Sets `path` to the program's path.  Returns 0 when it cannot be known. */
static int find(const struct jp_target *target, char *path)
{
    char given[PATH_ROOM];
    struct jp_text text;
    long length = 0;
    given[0] = '\0';
    if (target->path != NULL) {
        length = string(target->path, given, sizeof(given));
        if (length < 0 || length == PATH_ROOM - 1)
            return 0;
    }
    if (target->search && length > 0 && strchr(given, '/') == NULL)
        return search(given, path);
    jp_text_init_sig(&text, path, PATH_ROOM);
    if (target->fd != AT_FDCWD && given[0] != '/') {
        jp_text_add_sig(&text, "/proc/self/fd/");
        jp_text_decimal_sig(&text, (uint64_t)target->fd);
        if (length > 0)
            jp_text_char_sig(&text, '/');
    }
    jp_text_add_sig(&text, given);
    return !text.cut && text.length > 0;
}

static void put_arguments(struct jp_text *text, char *const *argv)
{
    char argument[ARGS_MOST];
    size_t used = 0;
    jp_mapfile_key_sig(text, "args");
    for (unsigned i = 0; used < ARGS_MOST; i++) {
        const char *at = NULL;
        if (i > 0 && jp_config.no_args)
            return;
        if (jp_self_read_sig((uint64_t)(argv + i), &at, sizeof(at)) !=
                (long)sizeof(at) ||
            at == NULL)
            return;
        const long length = string(at, argument, sizeof(argument) - used);
        if (length < 0)
            return;
        if (i > 0)
            jp_text_add_sig(text, "%00");
        jp_text_value_sig(text, argument, (size_t)length);
        used += (size_t)length + 1;
    }
}

static void tell(const struct jp_target *target, uint32_t pid, const char *why,
                 const char *path)
{
    char line[LINE_ROOM];
    struct jp_text text;
    jp_text_init_sig(&text, line, sizeof(line));
    jp_tree_line_sig(&text, JP_TREE_EXEC, pid);
    jp_mapfile_string_sig(&text, "why", why);
    jp_mapfile_string_sig(&text, "path", path);
    if (text.length + 3 * ARGS_MOST + 32 < sizeof(line))
        put_arguments(&text, target->argv);
    jp_tree_append_sig(&text);
}

/* Why a program will not be profiled; NULL when it will, or that is not
 * known. */
static const char *reason(const struct jp_target *target, char *path)
{
    const char *why = file_reason(path);
    return why != NULL ? why : environment_reason(target->envp);
}

void jp_target_tell_of(const struct jp_target *target, uint32_t pid)
{
    char path[PATH_ROOM];
    if (!jp_process_ready_sig() || !jp_tree_wanted_sig() || !find(target, path))
        return;
    const char *why = reason(target, path);
    if (why != NULL)
        tell(target, pid, why, path);
}

/* Whether the library is in sight, as it may not be behind other mounts. */
static int library_in_sight(void)
{
    struct stat info;
    return library != NULL && jp_sys_stat_sig(library, 1, &info) == 0 &&
           S_ISREG(info.st_mode);
}

int jp_target_loads(const struct jp_target *target)
{
    char path[PATH_ROOM];
    struct stat info;
    return jp_process_ready_sig() && find(target, path) &&
           jp_sys_stat_sig(path, 1, &info) == 0 &&
           reason(target, path) == NULL && library_in_sight();
}

size_t jp_target_room(const struct jp_target *target)
{
    char path[PATH_ROOM];
    const char *at = NULL;
    size_t count = 0;
    if (!jp_process_ready_sig() || is_unchanged(target->envp))
        return 0;
    const int found = environment(target->envp);
    if (found < 0 || (found & (HAS_ALL | HAS_OTHER)) != (HAS_FLAGS | HAS_OTHER))
        return 0;
    if (!library_in_sight() || !find(target, path) || file_reason(path) != NULL)
        return 0;
    do
        if (jp_self_read_sig((uint64_t)(target->envp + count++), &at,
                             sizeof(at)) != (long)sizeof(at) ||
            count > ADDED_MOST)
            return 0;
    while (at != NULL);
    return count * sizeof(at) + VALUE_ROOM + strlen(library) + 2;
}

void jp_target_add(struct jp_target *target, char **room, size_t size)
{
    const size_t value = VALUE_ROOM + strlen(library) + 2,
                 most = (size - value) / sizeof(*room) - 1;
    char *const text = (char *)(room + most + 1);
    struct jp_text added;
    size_t i = 0;
    for (; i < most; i++) {
        if (jp_self_read_sig((uint64_t)(target->envp + i), room + i,
                             sizeof(*room)) != (long)sizeof(*room) ||
            room[i] == NULL)
            break;
        char start[sizeof(PRELOAD)];
        if (string(room[i], start, sizeof(start)) < 0 ||
            strcmp(start, PRELOAD) != 0 ||
            string(room[i], text, VALUE_ROOM) < 0)
            continue;
        const size_t length = strlen(text);
        jp_text_init_sig(&added, text + length, value - length);
        jp_text_char_sig(&added, ':');
        jp_text_add_sig(&added, library);
        room[i] = text;
    }
    room[i] = NULL;
    target->envp = room;
}

void jp_target_tell(const struct jp_target *target)
{
    if (jp_process_ready_sig() && jp_tree_wanted_sig())
        jp_target_tell_of(target, jp_sys_getpid_sig());
}
