/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: what the launcher reads and did not write itself.  The input is
 * taken for each of it in turn: a log's header, a map, a tree's file, what a
 * runtime prints of its version, /proc/PID/status and maps, a command line.
 * Runs in: tests. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "jp_limits.h"
#include "launcher/base/options.h"
#include "launcher/folder/jit_map.h"
#include "launcher/folder/keep.h"
#include "launcher/os/proc.h"
#include "launcher/program/ask.h"
#include "launcher/program/version.h"
#include "read/names.h"
#include "read/secret.h"
#include "read/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A sentence that must hold of every input. */
static void must(int holds)
{
    if (!holds)
        abort();
}

static void try_header(const uint8_t *data, size_t size)
{
    struct jp_log_header *header = jr_alloc(1, sizeof *header);

    memcpy(header, data, size < sizeof *header ? size : sizeof *header);
    (void)jr_header_refuse(header);
    jr_header_close(header);
    must(strlen(header->exe) < sizeof header->exe);
    must(strlen(header->map_name) < sizeof header->map_name);
    must(header->build_id_size <= sizeof header->build_id);
    free(header);
}

static void try_map(const char *text, size_t size)
{
    struct jl_jit_map map;

    jl_jit_map_read(&map, text, size);
    must(map.pid <= INT32_MAX);
    for (size_t i = 0; i < map.nlines; i++) {
        const struct jl_jit_line *line = &map.lines[i];

        must(line->path != NULL);
        must(line->start <= size && line->length <= size - line->start);
        must(memchr(text + line->start, '\n', line->length) == NULL);
        must(line->kind == JL_PERFMAP || line->kind == JL_JITDUMP);
        if (line->saved && jr_is_kept_name(line->saved))
            must(strchr(line->saved, '/') == NULL &&
                 !jr_is_numbered(line->saved, JP_LOG_NAME));
        for (size_t j = 0; j < i; j++)
            must(map.lines[j].inode != line->inode);
    }
    jl_jit_map_free(&map);
}

static void try_tree(const uint8_t *data, size_t size)
{
    struct jr_tree tree = {.path = jr_strdup("tree")};
    struct jr_diag diag = {.warnings = 1000};

    jr_tree_file_parse(data, size, &tree, &diag);
    jr_tree_file_free(&tree);
}

static void try_proc(const char *text, size_t size)
{
    struct jl_status status;

    jl_status_read(&status, text, size);
    must(status.has_caught || status.caught == 0 ||
         memmem(text, size, "SigCgt:", 7) != NULL);
    (void)jl_maps_have(text, size, "libjprof.so");
}

/* Text with a NUL behind it. */
static void try_text(const char *text)
{
    const struct jl_setting setting = {"X", ' ', {"--a", "--b c"}};
    struct jl_version version = {0};
    char *words = jl_append_words(text, &setting, 0, 2);

    must(strstr(words, "--a") && strstr(words, "--b c"));
    must(strncmp(words, text, strlen(text)) == 0);
    free(words);
    (void)jl_version_read(text, "Python ", &version);
    must(version.major < 1000000 && version.minor < 1000000);
    must(jl_decimal(text, 9) < 1000000000000000000ULL);
    (void)jl_runtime_named(text);
}

static void try_args(const char *text, size_t size)
{
    char *shown = jr_join_args(text, size);

    must(strlen(shown) <= 4 * (size + 1));
    free(shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = jr_strndup((const char *)data, size);

    try_header(data, size);
    try_map((const char *)data, size);
    try_tree(data, size);
    try_proc((const char *)data, size);
    try_text(text);
    try_args((const char *)data, size);
    free(text);
    return 0;
}
