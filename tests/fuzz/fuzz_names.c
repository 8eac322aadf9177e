/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: the file of names of an archive.  Input starts behind its first
 * line.
 * Runs in: fuzz tests. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "symbol/archived/archived.h"

static const char begin[] = JR_ARCHIVED_HEAD "\ns k\ns /p\nm 1 1 2 0 62\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_up(struct jr_archived *archived,
                    const struct jr_archived_module *module)
{
    uint64_t start, end;
    uint8_t bytes[16];

    for (uint64_t at = 0; at < 64; at++) {
        const struct jr_frame *frames;
        size_t count = jr_archived_place(archived, module, at, &frames);

        for (size_t i = 0; i < count; i++)
            if (!frames[i].name || !*frames[i].name || frames[i].module ||
                frames[i].kind > JR_FRAME_UNNAMED)
                abort();
        jr_archived_extent(archived, module, at, &start, &end);
        if (start != end && (at < start || at >= end))
            abort();
        if (jr_archived_bytes(module, at, bytes, sizeof bytes) > sizeof bytes)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jr_diag diag = {.warnings = 1000}; /* printed are the first 20 */
    struct jr_strings *strings = jr_strings_new();
    struct jr_archived *archived = jr_archived_new(strings);
    const struct jr_archived_module *module;
    const char *names;
    size_t head = sizeof begin - 1;
    char *text = jr_alloc(head + size, 1);

    memcpy(text, begin, head);
    if (size)
        memcpy(text + head, data, size);
    /* Twice, as of two archives. */
    jr_archived_parse(archived, text, head + size, "fuzz", &diag);
    jr_archived_parse(archived, text, head + size, "fuzz", &diag);
    module = jr_archived_module(archived, jr_strings_add(strings, "k", 1));
    if (!module || strcmp(module->path, "/p") != 0)
        abort();
    look_up(archived, module);
    (void)jr_archived_source(archived, "a.c", &names);
    (void)jr_archived_package(archived, "/p");
    jr_archived_free(archived);
    jr_strings_free(strings);
    free(text);
    return 0;
}
