/* SPDX-License-Identifier: MIT
 *
 * All files that symbols are read from: their life, and questions to them.
 * Runs in: analyzer. */
#include "symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "debugfile.h"
#include "modules.h"

struct jr_symbols *jr_symbols_new(struct jr_diag *diag,
                                  const struct jr_symbols_options *options)
{
    struct jr_symbols *symbols = jr_alloc(1, sizeof *symbols);

    symbols->options = *options;
    symbols->options.folders.told = &symbols->told;
    symbols->diag = diag;
    symbols->strings = jr_strings_new();
    if (options->narchived)
        symbols->archived = jr_archived_new(symbols->strings);
    for (size_t i = 0; i < options->narchived; i++)
        jr_archived_read(symbols->archived, options->archived[i], diag);
    return symbols;
}

void jr_symbols_free(struct jr_symbols *symbols)
{
    struct jr_module *module, *next;

    if (!symbols)
        return;
    for (module = symbols->modules; module; module = next) {
        next = module->next;
        jr_elf_free(module->elf);
        for (size_t i = 0; i < module->nknown; i++) {
            if (module->known[i].frames.count)
                free((void *)module->known[i].frames.items);
        }
        free(module->known);
        jr_table_free(&module->by_place);
        for (size_t i = 0; i < module->ncodes; i++)
            free(module->codes[i].bytes);
        free(module->codes);
        free(module->extents);
        jr_table_free(&module->by_extent);
        free(module);
    }
    jr_table_free(&symbols->told);
    jr_archived_free(symbols->archived);
    jr_strings_free(symbols->strings);
    free(symbols);
}

size_t jr_symbols_changed(const struct jr_symbols *symbols)
{
    return symbols->changed;
}

const char *jr_symbols_package(const struct jr_symbols *symbols,
                               const char *path)
{
    return symbols->archived ? jr_archived_package(symbols->archived, path)
                             : NULL;
}

uint32_t jr_symbols_source(const struct jr_symbols *symbols, const char *file,
                           const char **names)
{
    return symbols->archived
               ? jr_archived_source(symbols->archived, file, names)
               : 0;
}

int jr_symbols_are_archived(const struct jr_symbols *symbols)
{
    return symbols->archived != NULL;
}

/* Whether a place of the module that was asked for has a line of the file. */
static int has_file(const struct jr_module *module, const char *file)
{
    for (size_t i = 0; i < module->nknown; i++) {
        const struct jr_frames *frames = &module->known[i].frames;

        for (size_t j = 0; j < frames->count; j++)
            if (frames->items[j].file == file)
                return 1;
    }
    return 0;
}

char *jr_symbols_fetched_source(const struct jr_symbols *symbols,
                                const char *file)
{
    const char *kept = jr_strings_add(symbols->strings, file, strlen(file));
    char *path = NULL;

    for (const struct jr_module *module = symbols->modules; module && !path;
         module = module->next)
        if (module->id_size && has_file(module, kept))
            path = jr_debugfile_source(&symbols->options.folders, module->id,
                                       module->id_size, file);
    return path;
}
