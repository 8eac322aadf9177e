/* SPDX-License-Identifier: MIT
 *
 * The file of names of an archive (doc/FORMAT.md, "The archive").
 * Runs in: analyzer. */
#include "archive_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "module_code.h"
#include "modules.h"

/* Texts and frames have the numbers of the lines that they stand in. */
struct writing {
    FILE *out;
    struct jr_symbols *symbols;
    struct jr_table texts; /* by pointer: they are unique */
    uint32_t ntexts;
    struct jr_table frames; /* by number and what the file has of them */
    uint32_t nframes;
};

static void put_text(FILE *out, const char *text)
{
    fputs("s ", out);
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;

        if (byte < ' ' || byte == '%' || byte == 0x7f)
            fprintf(out, "%%%02X", byte);
        else
            putc(byte, out);
    }
    putc('\n', out);
}

/* The number of a text of the strings; 0 for NULL. */
static uint32_t text_of(struct writing *writing, const char *text)
{
    const uint32_t fresh = writing->ntexts + 1;
    uint32_t number;

    if (!text)
        return 0;
    number = jr_table_put(&writing->texts, (uintptr_t)text, 0, fresh);
    if (number == fresh) {
        put_text(writing->out, text);
        writing->ntexts++;
    }
    return number;
}

static uint32_t frame_of(struct writing *writing, const struct jr_frame *frame)
{
    const uint32_t fresh = writing->nframes + 1;
    uint32_t number = jr_table_put(&writing->frames, frame->number, 0, fresh);
    uint32_t name, raw, file;

    if (number != fresh)
        return number;
    name = text_of(writing, frame->name);
    raw = text_of(writing, frame->raw);
    file = text_of(writing, frame->file);
    fprintf(writing->out,
            "f %u %u %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32
            " %" PRIu32 "\n",
            frame->kind, frame->inlined, name, raw, file, frame->line,
            frame->column, frame->first_line);
    writing->nframes++;
    return number;
}

static void put_place(struct writing *writing, struct jr_module *module,
                      size_t index)
{
    struct jr_frames frames = jr_module_known(module, index);
    uint32_t *numbers = jr_alloc(frames.count, sizeof *numbers);

    for (size_t i = 0; i < frames.count; i++)
        numbers[i] = frame_of(writing, &frames.items[i]);
    fprintf(writing->out, "a %" PRIx64, module->known[index].place);
    for (size_t i = 0; i < frames.count; i++)
        fprintf(writing->out, " %" PRIu32, numbers[i]);
    putc('\n', writing->out);
    free(numbers);
}

static void put_code(FILE *out, const struct jr_module *module)
{
    for (size_t i = 0; i < module->nextents; i++)
        fprintf(out, "e %" PRIx64 " %" PRIx64 " %" PRIx64 "\n",
                module->extents[i].at, module->extents[i].start,
                module->extents[i].end);
    for (size_t i = 0; i < module->ncodes; i++) {
        fprintf(out, "b %" PRIx64 " ", module->codes[i].start);
        for (size_t j = 0; j < module->codes[i].size; j++)
            fprintf(out, "%02x", module->codes[i].bytes[j]);
        putc('\n', out);
    }
}

static void put_module(struct writing *writing, struct jr_module *module,
                       const char *package)
{
    const struct jr_segments *segments = jr_module_segments(module);
    unsigned flags = (segments ? JR_ARCHIVED_USABLE : 0) |
                     (module->changed ? JR_ARCHIVED_CHANGED : 0);
    uint32_t key = text_of(writing, module->key);
    uint32_t path = text_of(writing, module->path);
    uint32_t whose = 0;

    if (package)
        whose = text_of(writing, jr_strings_add(writing->symbols->strings,
                                                package, strlen(package)));
    fprintf(writing->out,
            "m %u %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu16 "\n", flags,
            key, path, whose, jr_module_machine(module));
    for (size_t i = 0; segments && i < segments->count; i++)
        fprintf(writing->out, "g %" PRIx64 " %" PRIx64 " %" PRIx64 " %d\n",
                segments->items[i].offset, segments->items[i].size,
                segments->items[i].address, segments->items[i].code);
    for (size_t i = 0; i < module->nknown; i++)
        put_place(writing, module, i);
    put_code(writing->out, module);
}

static int has_nameless(const struct jr_module *module)
{
    if (!jr_module_segments(module))
        return 1;
    for (size_t i = 0; i < module->nknown; i++)
        if (jr_module_known(module, i).items[0].kind == JR_FRAME_UNNAMED)
            return 1;
    return 0;
}

const char **jr_archive_nameless(struct jr_symbols *symbols, size_t *count)
{
    const char **paths = NULL;
    size_t room = 0;

    *count = 0;
    for (struct jr_module *module = symbols->modules; module;
         module = module->next) {
        size_t at = 0;

        if (!has_nameless(module))
            continue;
        while (at < *count && paths[at] != module->path)
            at++;
        if (at == *count)
            *JR_PUSH(paths, *count, room) = module->path;
    }
    return paths;
}

static void add_files(const struct jr_module *module, const char ***files,
                      size_t *count, size_t *room)
{
    const char *last = NULL;

    for (size_t i = 0; i < module->nknown; i++)
        for (size_t j = 0; j < module->known[i].frames.count; j++) {
            const char *file = module->known[i].frames.items[j].file;

            if (file && file != last)
                *JR_PUSH(*files, *count, *room) = file;
            last = file;
        }
}

const char **jr_archive_files(struct jr_symbols *symbols, size_t *count)
{
    const char **files = NULL;
    size_t room = 0;

    *count = 0;
    for (struct jr_module *module = symbols->modules; module;
         module = module->next)
        add_files(module, &files, count, &room);
    return files;
}

void jr_archive_names(struct jr_symbols *symbols, const char *const *paths,
                      char *const *packages, size_t count,
                      const struct jr_archive_sources *sources, FILE *out)
{
    struct writing writing = {.out = out, .symbols = symbols};

    fputs(JR_ARCHIVED_HEAD "\n", out);
    for (struct jr_module *module = symbols->modules; module;
         module = module->next) {
        const char *package = NULL;

        for (size_t i = 0; i < count; i++)
            if (paths[i] == module->path)
                package = packages[i];
        put_module(&writing, module, package);
    }
    for (size_t i = 0; i < sources->count; i++) {
        const char *file = sources->files[i];
        uint32_t text = text_of(
            &writing, jr_strings_add(symbols->strings, file, strlen(file)));

        fprintf(out, "t %" PRIu32 " %zu\n", text, i + 1);
    }
    jr_table_free(&writing.texts);
    jr_table_free(&writing.frames);
}
