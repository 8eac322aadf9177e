/* SPDX-License-Identifier: MIT
 *
 * Writes and reads lines of the tree's file.
 * Runs in: launcher. */
#include "treefile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "jp_limits.h"
#include "jp_map.h"
#include "launcher/base/say.h"
#include "launcher/folder/copy.h"
#include "read/tree.h"

#define ARGS_MAX 2000       /* bytes of the arguments that are written */
#define FILE_MAX (64 << 20) /* bytes that are read */
#define SHOWN_MAX 3

/* A value of a line, each byte as %XX; allocated. */
static char *encode(const char *bytes, size_t size)
{
    char *text = jr_alloc(3 * size + 1, 1);

    for (size_t i = 0; i < size; i++)
        snprintf(text + 3 * i, 4, "%%%02x", (unsigned char)bytes[i]);
    return text;
}

/* Appends ` KEY=VALUE` to *line. */
static void add(char **line, const char *key, const char *bytes, size_t size)
{
    char *value = encode(bytes, size);
    char *longer = jr_printf("%s %s=%s", *line, key, value);

    free(*line);
    free(value);
    *line = longer;
}

/* The arguments, each with a NUL behind it, cut; *size: how many bytes. */
static char *join(char *const *argv, size_t *size)
{
    char *all = jr_alloc(ARGS_MAX, 1);

    *size = 0;
    for (; *argv && *size < ARGS_MAX; argv++) {
        size_t length = strlen(*argv) + 1;

        if (length > ARGS_MAX - *size)
            length = ARGS_MAX - *size;
        memcpy(all + *size, *argv, length);
        *size += length;
    }
    return all;
}

void jl_tree_write(const struct jl_folder *folder, const struct jl_whole *whole)
{
    const struct jl_program *program = whole->program;
    struct stat info;
    size_t size;
    char *line, *args = join(program->argv, &size);
    int fd = jl_folder_open(folder, JP_TREE_NAME, O_WRONLY | O_APPEND | O_CREAT,
                            1, &info);

    line = jr_printf("%" PRIu64 " " JP_TREE_RUN " root=%ld pid=%ld cpu=%" PRIu64
                     " wall=%" PRIu64 " status=%d",
                     jr_now_ns(CLOCK_BOOTTIME), (long)program->pid,
                     (long)program->pid, program->cpu_ns, program->wall_ns,
                     program->status);
    add(&line, "path", program->path, strlen(program->path));
    if (whole->no_args)
        size = strlen(program->argv[0]) + 1;
    add(&line, "args", args, size < ARGS_MAX ? size : ARGS_MAX);
    if (whole->why)
        add(&line, "why", whole->why, strlen(whole->why));
    if (whole->note)
        add(&line, "jit", whole->note, strlen(whole->note));
    if (whole->no_result)
        add(&line, "asked", whole->no_result, strlen(whole->no_result));
    if (fd < 0 || dprintf(fd, "%s\n", line) < 0)
        jr_say("%s/" JP_TREE_NAME ": %s; the report will not tell of the whole "
               "run",
               folder->shown, strerror(errno));
    if (fd >= 0)
        close(fd);
    free(line);
    free(args);
}

static int compare(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

/* The first few different texts of a list, blanks between. */
static char *first_few(char **texts, size_t count)
{
    char *all = NULL;
    size_t shown = 0;

    if (count)
        qsort(texts, count, sizeof *texts, compare);
    for (size_t i = 0; i < count && shown < SHOWN_MAX; i++) {
        char *longer;

        if (i > 0 && strcmp(texts[i], texts[i - 1]) == 0)
            continue;
        longer = jr_printf("%s%s%s", all ? all : "", all ? " " : "", texts[i]);
        free(all);
        all = longer;
        shown++;
    }
    return all;
}

char *jl_tree_unprofiled(const struct jl_folder *folder)
{
    struct jr_tree tree = {.path = jr_strdup(folder->shown)};
    struct jr_diag diag = {.warnings = 1000}; /* jprof-report says it */
    char **texts = NULL, *all, *data;
    size_t count = 0, room = 0, size = 0;
    struct stat info;
    int fd = jl_folder_open(folder, JP_TREE_NAME, O_RDONLY, 1, &info);

    if (fd >= 0 && info.st_size <= FILE_MAX)
        size = (size_t)info.st_size;
    data = jr_alloc(size + 1, 1);
    if (fd >= 0) {
        size = jr_file_pread(fd, data, size, 0);
        close(fd);
    }
    jr_tree_file_parse((const uint8_t *)data, size, &tree, &diag);
    for (size_t i = 0; i < tree.nlines; i++)
        if (tree.lines[i].kind == JR_TREE_EXEC && *tree.lines[i].path)
            *JR_PUSH(texts, count, room) =
                jr_printf("%s (%s)", tree.lines[i].path, tree.lines[i].why);
    all = first_few(texts, count);
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
    free(data);
    jr_tree_file_free(&tree);
    return all;
}
