/* SPDX-License-Identifier: MIT
 *
 * Writes the archive of a profile: the names of its functions, and its files
 * as they are.
 * Runs in: analyzer. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive.h"
#include "base/file.h"
#include "base/mem.h"
#include "jp_limits.h"
#include "member.h"
#include "missing/package.h"
#include "read/names.h"
#include "symbol/elf/archive_names.h"
#include "tar.h"
#include "write/annotate.h"
#include "zst.h"

#define BUFFER 65536U
#define FUNCTIONS_PACKED 256 /* of the hottest, with their code: the page has */
#define VERSIONS_PACKED 16   /* 64 of them, and 6 pieces of each */
#define SOURCES_MOST (8U << 20) /* as the Firefox format has */
#define CHUNK_MAX 65536U        /* doc/FORMAT.md, "Chunk" */

struct packing {
    const struct jr_report *report;
    FILE *out;
    struct jr_listings *listings; /* sources that a report shows */
    struct jr_archive_sources sources;
    uint8_t buffer[BUFFER];
};

static void put_padding(FILE *out, uint64_t size)
{
    static const uint8_t zeros[JR_TAR_BLOCK];

    fwrite(zeros, 1,
           (size_t)((JR_TAR_BLOCK - size % JR_TAR_BLOCK) % JR_TAR_BLOCK), out);
}

static void put_head(FILE *out, const char *name, uint64_t size, time_t mtime)
{
    struct jr_tar_file file = {.size = size,
                               .mtime = mtime > 0 ? (uint64_t)mtime : 0};
    uint8_t block[JR_TAR_BLOCK];

    memcpy(file.name, name, strnlen(name, JR_TAR_NAME_MAX));
    jr_tar_put(&file, block);
    fwrite(block, 1, sizeof block, out);
}

static void ignore_functions(void *data, const struct jr_frames *frames)
{
    (void)data, (void)frames;
}

static void ignore_source(void *data, const char *file, uint32_t line,
                          uint32_t column, const char *text)
{
    (void)data, (void)file, (void)line, (void)column, (void)text;
}

static void ignore_instruction(void *data, uint64_t address, const char *text,
                               uint64_t weight_ns)
{
    (void)data, (void)address, (void)text, (void)weight_ns;
}

static void ignore_gap(void *data, size_t count)
{
    (void)data, (void)count;
}

/* Lists the code of a function, as a report would: what that asks for is kept
 * by the symbols and the listings. */
static void list_code(struct packing *packing, const struct jr_codes *codes,
                      uint32_t function)
{
    static const struct jr_asm_limits limits = {4096, 16, 4096, 4096, 0};
    static const struct jr_asm_sink sink = {.function = ignore_functions,
                                            .source = ignore_source,
                                            .instruction = ignore_instruction,
                                            .gap = ignore_gap};
    const struct jr_report *report = packing->report;
    struct jr_code_view view;

    jr_code_build(codes, function, &view);
    for (size_t i = 0; i < view.nversions && i < VERSIONS_PACKED; i++) {
        const struct jr_asm_job job = {
            &view.versions[i], &report->model->functions[function],
            jr_annotate_machine(report, &view.versions[i]), packing->listings};

        jr_asm_list(&job, &limits, &sink);
    }
    jr_code_free(&view);
}

/* How many bytes of sources were read from number `first` on. */
static size_t sources_size(const struct packing *packing, size_t *first)
{
    size_t sum = 0, size;
    const char *text;

    for (; jr_listings_read(packing->listings, *first, &text, &size); ++*first)
        sum += text ? size : 0;
    return sum;
}

/* Looks at the code of the hottest functions, then at the sources of all. */
static void gather(struct packing *packing)
{
    const struct jr_report *report = packing->report;
    struct jr_codes *codes = jr_codes_new(report->model);
    const char *text, *name, **files;
    size_t count, size, first = 0, sum;
    uint32_t *functions = jr_annotate_functions(
        report, codes, (struct jr_annotate_choice){FUNCTIONS_PACKED, 0},
        &count);

    for (size_t i = 0; i < count; i++)
        list_code(packing, codes, functions[i]);
    free(functions);
    jr_codes_free(codes);
    sum = sources_size(packing, &first);
    files = jr_archive_files(report->symbols, &count);
    for (size_t i = 0; i < count && sum < SOURCES_MOST; i++) {
        (void)jr_listings_text(packing->listings, files[i], &text, &size);
        sum += sources_size(packing, &first);
    }
    free(files);
    for (size_t i = 0;
         (name = jr_listings_read(packing->listings, i, &text, &size)); i++)
        if (text)
            *JR_PUSH(packing->sources.files, packing->sources.count,
                     packing->sources.room) = name;
}

static void put_sources(struct packing *packing)
{
    const char *text;
    size_t size;

    for (size_t i = 0; i < packing->sources.count; i++) {
        char *name = jr_printf(JR_MEMBER_SOURCE "%zu", i + 1);

        if (jr_listings_text(packing->listings, packing->sources.files[i],
                             &text, &size) != 0)
            size = 0;
        put_head(packing->out, name, size, 0);
        fwrite(text, 1, size, packing->out);
        put_padding(packing->out, size);
        free(name);
    }
}

/* Files whose code has no name are asked the packages of, all at once. */
static void put_names(struct packing *packing)
{
    struct jr_symbols *symbols = packing->report->symbols;
    char *text = NULL, **packages;
    const char **paths;
    size_t size = 0, count;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        jr_no_memory();
    paths = jr_archive_nameless(symbols, &count);
    packages = jr_alloc(count + 1, sizeof *packages);
    if (jr_symbols_are_archived(symbols))
        for (size_t i = 0; i < count; i++) {
            const char *package = jr_symbols_package(symbols, paths[i]);

            packages[i] = package ? jr_strdup(package) : NULL;
        }
    else
        jr_package_debug(paths, count, packages);
    jr_archive_names(symbols, paths, packages, count, &packing->sources, out);
    if (fclose(out) != 0)
        jr_no_memory();
    put_head(packing->out, JR_MEMBER_NAMES, size, 0);
    fwrite(text, 1, size, packing->out);
    put_padding(packing->out, size);
    for (size_t i = 0; i < count; i++)
        free(packages[i]);
    free(packages);
    free(paths);
    free(text);
}

/* The size of a log without the zeros at its end, which it had room for and did
 * not use; its last chunk stays whole. */
static uint64_t used_size(struct packing *packing, int fd, uint64_t size)
{
    uint64_t end = size;

    while (end > 0) {
        const uint64_t start = (end - 1) / BUFFER * BUFFER;
        size_t got =
            jr_file_pread(fd, packing->buffer, (size_t)(end - start), start);

        if (got < end - start)
            return size;
        while (got > 0 && packing->buffer[got - 1] == 0)
            got--;
        if (got > 0)
            return start + got + CHUNK_MAX < size ? start + got + CHUNK_MAX
                                                  : size;
        end = start;
    }
    return 0;
}

/* What another process cuts off meanwhile is zeros. */
static void put_bytes(struct packing *packing, int fd, uint64_t size)
{
    for (uint64_t at = 0; at < size && !ferror(packing->out);) {
        size_t piece = size - at < BUFFER ? (size_t)(size - at) : BUFFER;
        size_t got = jr_file_pread(fd, packing->buffer, piece, at);

        memset(packing->buffer + got, 0, piece - got);
        fwrite(packing->buffer, 1, piece, packing->out);
        at += piece;
    }
    put_padding(packing->out, size);
}

static void put_file(struct packing *packing, const char *folder,
                     const char *name)
{
    char *path = jr_printf("%s%s", folder, name);
    struct stat info;
    const char *why;
    int fd = jr_file_open(path, &info, &why);
    uint64_t size = 0;

    if (fd >= 0) {
        size = (uint64_t)info.st_size;
        if (jr_is_numbered(name, JP_LOG_NAME))
            size = used_size(packing, fd, size);
        if (size > JR_TAR_SIZE_MAX)
            why = "it has more than 8 GiB";
        else if (strlen(name) > JR_TAR_NAME_MAX)
            why = "its name has more than 100 bytes";
        else
            why = NULL;
    }
    if (why) {
        jr_warn(packing->report->diag, path, JR_NO_OFFSET,
                "%s; it is not in the archive", why);
    } else {
        put_head(packing->out, name, size, info.st_mtim.tv_sec);
        put_bytes(packing, fd, size);
    }
    if (fd >= 0)
        close(fd);
    free(path);
}

/* All logs that were asked for, and of the others nothing. */
static int is_wanted(const struct jr_report *report, size_t length,
                     const char *name)
{
    if (!jr_member_is_file(name))
        return 0;
    if (!jr_is_numbered(name, JP_LOG_NAME))
        return 1;
    for (size_t i = 0; i < report->nlogs; i++)
        if (strcmp(report->logs[i] + length, name) == 0)
            return 1;
    return 0;
}

static int by_name(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

static void put_folder(struct packing *packing, const char *folder,
                       size_t length)
{
    DIR *entries = opendir(length ? folder : ".");
    const struct dirent *entry;
    char **names = NULL;
    size_t count = 0, room = 0;

    while (entries && (entry = readdir(entries)))
        if (is_wanted(packing->report, length, entry->d_name))
            *JR_PUSH(names, count, room) = jr_strdup(entry->d_name);
    if (entries)
        closedir(entries);
    if (count > 0)
        qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        put_file(packing, folder, names[i]);
        free(names[i]);
    }
    free(names);
}

/* The length of the folder's name that all logs begin with; -1 after saying
 * that they are no profile's folder. */
static ssize_t folder_length(const struct jr_report *report)
{
    for (size_t i = 0; i < report->nlogs; i++) {
        const char *log = report->logs[i], *slash = strrchr(log, '/');
        size_t length = slash ? (size_t)(slash - log) + 1 : 0;

        if (!jr_is_numbered(log + length, JP_LOG_NAME)) {
            jr_warn(report->diag, log, JR_NO_OFFSET,
                    "an archive is of logs called " JP_LOG_NAME
                    "; it is empty");
            return -1;
        }
        if (strncmp(log, report->logs[0], length) != 0 ||
            strchr(report->logs[0] + length, '/')) {
            jr_warn(report->diag, log, JR_NO_OFFSET,
                    "an archive is of the logs of one folder, and %s is in "
                    "another; it is empty",
                    report->logs[0]);
            return -1;
        }
        if (i + 1 == report->nlogs)
            return (ssize_t)length;
    }
    return -1;
}

/* Says which files of JIT code's names stay behind. */
static void say_left(const struct jr_report *report)
{
    for (size_t i = 0; i < report->model->nprocesses; i++) {
        const struct jr_process *process = &report->model->processes[i];

        for (size_t j = 0; j < process->map->njit; j++) {
            const struct jr_jit_file *file = &process->map->jit[j];
            size_t later = j;

            while (later < process->map->njit &&
                   (strcmp(process->map->jit[later].path, file->path) != 0 ||
                    !process->map->jit[later].saved))
                later++;
            if (later == process->map->njit)
                jr_say("%s: pid %u had it, and it is not in the profile's "
                       "folder: its names are not in the archive",
                       file->path, process->run->header.pid);
            break;
        }
    }
}

void jr_write_archive(const struct jr_report *report, FILE *out)
{
    static const uint8_t zeros[2 * JR_TAR_BLOCK];
    struct packing *packing = jr_alloc(1, sizeof *packing);
    ssize_t length = folder_length(report);
    char *folder;

    packing->report = report;
    packing->out = jr_zst_open(out);
    if (length >= 0) {
        folder = jr_strndup(report->logs[0], (size_t)length);
        say_left(report);
        packing->listings = jr_listings_new(&report->places);
        gather(packing);
        put_names(packing);
        put_sources(packing);
        jr_listings_free(packing->listings);
        free(packing->sources.files);
        put_folder(packing, folder, (size_t)length);
        free(folder);
    }
    fwrite(zeros, 1, sizeof zeros, packing->out);
    (void)fclose(packing->out);
    free(packing);
}
