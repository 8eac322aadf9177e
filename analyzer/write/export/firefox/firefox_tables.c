/* SPDX-License-Identifier: MIT
 *
 * Libraries, sources, functions, frames and stacks of a profile for the Firefox
 * Profiler.  Behind frames and stacks come those of idle threads.
 * Runs in: analyzer. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "firefox.h"
#include "symbol/listing.h"
#include "write/facts.h"

#define RESOURCE_LIBRARY "1"
#define SOURCE_MOST (1U << 20)  /* bytes of one file that are shown, */
#define SOURCES_MOST (8U << 20) /* and of all */
#define DEPTH_MOST 255

static const struct jr_place *place_of(const struct jr_model *model,
                                       size_t node)
{
    return &model->places.items[model->nodes.items[node].key];
}

/* Sources are told apart by their names' pointers. */
static void number_sources(struct jr_firefox *firefox)
{
    const struct jr_model *model = firefox->model;
    struct jr_table known = {0};

    firefox->sources = jr_alloc(model->nfunctions + 1, sizeof(uint32_t));
    for (size_t i = 0; i < model->nfunctions; i++) {
        const uint32_t fresh = (uint32_t)firefox->nsources;
        uint32_t source;

        if (!firefox->files[i])
            continue;
        source = jr_table_put(&known, (uintptr_t)firefox->files[i], 0, fresh);
        if (source == fresh)
            *JR_PUSH(firefox->filenames, firefox->nsources,
                     firefox->sources_room) = firefox->files[i];
        firefox->sources[i] = source + 1;
    }
    jr_table_free(&known);
}

static void number_libs(struct jr_firefox *firefox)
{
    const struct jr_model *model = firefox->model;
    const struct jr_places *places = &model->places;

    firefox->libs = jr_alloc(places->nobjects + 1, sizeof(uint32_t));
    for (size_t i = 0; i < places->nobjects; i++)
        if (places->objects[i].mapping)
            firefox->libs[i] = (uint32_t)++firefox->nlibs;
    firefox->objects = jr_alloc(model->nfunctions + 1, sizeof(uint32_t));
    for (size_t i = 0; i < places->count; i++) {
        const struct jr_place *place = &places->items[i];
        uint32_t *object =
            &firefox->objects[model->tiers[place->tier].function];

        if (*object == 0)
            *object = place->object + 1;
    }
}

static void number_tiers(struct jr_firefox *firefox)
{
    const struct jr_model *model = firefox->model;
    struct jr_table known = {0};

    firefox->words = jr_alloc(model->ntiers + 1, sizeof(uint32_t));
    for (size_t i = 0; i < model->ntiers; i++) {
        const char *word = model->tiers[i].word;
        const uint32_t fresh = (uint32_t)firefox->nsubcategories + 1;
        const uint8_t kind = model->functions[model->tiers[i].function].kind;

        /* (A part of native code is no kind of JIT code.) */
        if (!word || (kind != JR_FRAME_JIT && kind != JR_FRAME_JIT_UNNAMED))
            continue;
        firefox->words[i] = jr_table_put(&known, (uintptr_t)word, 0, fresh);
        if (firefox->words[i] == fresh)
            *JR_PUSH(firefox->subcategories, firefox->nsubcategories,
                     firefox->subcategories_room) = word;
    }
    jr_table_free(&known);
}

void jr_firefox_number(struct jr_firefox *firefox)
{
    const struct jr_model *model = firefox->model;

    firefox->files = jr_export_files(model);
    number_sources(firefox);
    number_libs(firefox);
    number_tiers(firefox);
    firefox->depths = jr_alloc(model->places.count + 1, 1);
    for (size_t i = 1; i < model->nodes.count; i++) {
        const struct jr_path *node = &model->nodes.items[i];
        const uint8_t outer =
            node->parent == 0
                ? 0
                : firefox->depths[model->nodes.items[node->parent].key];

        if (place_of(model, i)->inlined && node->parent)
            firefox->depths[node->key] = outer < DEPTH_MOST ? outer + 1 : outer;
    }
    jr_firefox_number_rows(firefox);
}

void jr_firefox_free(struct jr_firefox *firefox)
{
    free(firefox->files);
    free(firefox->sources);
    free(firefox->filenames);
    free(firefox->libs);
    free(firefox->objects);
    free(firefox->words);
    free(firefox->subcategories);
    free(firefox->depths);
    free(firefox->marks);
    free(firefox->first_mark);
    jr_firefox_free_rows(firefox);
}

/* A breakpad id: the first 16 bytes of the build-id as a GUID, whose first
 * three fields are little-endian there, and an age of 0. */
static void put_ids(struct jr_json *json, const struct jr_mapping *mapping)
{
    static const uint8_t order[16] = {3, 2, 1,  0,  5,  4,  7,  6,
                                      8, 9, 10, 11, 12, 13, 14, 15};
    char code[2 * sizeof(mapping->build_id) + 1] = "", pad[34] = "";

    for (size_t i = 0; i < mapping->build_id_size; i++)
        snprintf(code + 2 * i, 3, "%02x", mapping->build_id[i]);
    for (size_t i = 0; i < sizeof(order); i++)
        snprintf(pad + 2 * i, 3, "%02X", mapping->build_id[order[i]]);
    pad[32] = '0';
    pad[33] = '\0';
    jr_json_key_string(json, "breakpadId", mapping->build_id_size ? pad : "");
    jr_json_key_string(json, "codeId", mapping->build_id_size ? code : NULL);
}

void jr_firefox_libs(struct jr_firefox *firefox)
{
    const struct jr_places *places = &firefox->model->places;
    struct jr_json *json = &firefox->json;

    jr_json_key(json, "libs");
    jr_json_open(json, '[');
    for (size_t i = 0; i < places->nobjects; i++) {
        const struct jr_object *object = &places->objects[i];

        if (!object->mapping)
            continue;
        jr_json_open(json, '{');
        jr_json_key_string(json, "arch", "");
        jr_json_key_string(json, "name", jr_base_name(object->path));
        jr_json_key_string(json, "path", object->path);
        jr_json_key_string(json, "debugName", jr_base_name(object->path));
        jr_json_key_string(json, "debugPath", object->path);
        put_ids(json, object->mapping);
        jr_json_close(json, '}');
    }
    jr_json_close(json, ']');
}

/* A column of a table: open_column, a value a row, close_column. */
static void open_column(struct jr_json *json, const char *name)
{
    jr_json_key(json, name);
    jr_json_open(json, '[');
}

static void close_column(struct jr_json *json)
{
    jr_json_close(json, ']');
}

/* A column of `count` equal values. */
static void put_column(struct jr_json *json, const char *name, const char *word,
                       size_t count)
{
    open_column(json, name);
    while (count-- > 0)
        jr_json_word(json, word);
    close_column(json);
}

static void open_table(struct jr_json *json, const char *name, size_t length)
{
    jr_json_key(json, name);
    jr_json_open(json, '{');
    jr_json_key_uint(json, "length", length);
}

static void put_or(struct jr_json *json, int there, uint64_t number,
                   const char *otherwise)
{
    if (there)
        jr_json_uint(json, number);
    else
        jr_json_word(json, otherwise);
}

/* How far the row of a node's caller is before `row`; 0: it has none. */
static size_t caller_offset(const struct jr_firefox *firefox, uint32_t node,
                            size_t row)
{
    const uint32_t parent = firefox->model->nodes.items[node].parent;

    return parent ? row - firefox->stacks[parent] : 0;
}

static void put_stacks(struct jr_firefox *firefox)
{
    const struct jr_path *nodes = firefox->model->nodes.items;
    const size_t count = firefox->nstacks;
    struct jr_json *json = &firefox->json;

    open_table(json, "stackTable", count + firefox->nidles);
    open_column(json, "frame");
    for (size_t i = 0; i < count; i++)
        jr_json_uint(json, firefox->frames[nodes[firefox->stack_nodes[i]].key]);
    for (size_t i = 0; i < firefox->nidles; i++)
        jr_json_uint(json, firefox->nframes + i);
    close_column(json);
    open_column(json, "prefixOffset");
    for (size_t i = 0; i < count; i++)
        jr_json_uint(json, caller_offset(firefox, firefox->stack_nodes[i], i));
    for (size_t i = 0; i < firefox->nidles; i++)
        jr_json_uint(json,
                     caller_offset(firefox, firefox->idles[i].node, count + i));
    close_column(json);
    jr_json_close(json, '}');
}

/* A place of a row of the table of frames. */
static uint32_t frame_place(const struct jr_firefox *firefox, size_t row)
{
    if (row < firefox->nframes)
        return firefox->frame_places[row];
    return firefox->model->nodes
        .items[firefox->idles[row - firefox->nframes].node]
        .key;
}

static void put_categories(struct jr_firefox *firefox, size_t count)
{
    const struct jr_model *model = firefox->model;
    struct jr_json *json = &firefox->json;

    open_column(json, "category");
    for (size_t i = 0; i < count; i++) {
        const struct jr_place *place =
            &model->places.items[frame_place(firefox, i)];
        const uint8_t kind =
            model->functions[model->tiers[place->tier].function].kind;

        jr_json_uint(json,
                     i >= firefox->nframes ? JR_CATEGORY_IDLE
                     : kind == JR_FRAME_JIT || kind == JR_FRAME_JIT_UNNAMED
                         ? JR_CATEGORY_JIT
                     : kind == JR_FRAME_UNKNOWN ? JR_CATEGORY_OTHER
                                                : JR_CATEGORY_NATIVE);
    }
    close_column(json);
    open_column(json, "subcategory");
    for (size_t i = 0; i < firefox->nframes; i++)
        jr_json_uint(
            json,
            firefox->words[model->places.items[frame_place(firefox, i)].tier]);
    for (size_t i = 0; i < firefox->nidles; i++)
        jr_json_uint(json, firefox->idles[i].kind);
    close_column(json);
}

/* Addresses are of 32 bits there; others are left out. */
static void put_frames(struct jr_firefox *firefox)
{
    const struct jr_model *model = firefox->model;
    const struct jr_place *places = model->places.items;
    const size_t count = firefox->nframes + firefox->nidles;
    struct jr_json *json = &firefox->json;

    open_table(json, "frameTable", count);
    open_column(json, "address");
    for (size_t i = 0; i < count; i++) {
        uint32_t address;
        const int has_any = jr_firefox_address(
            firefox, &places[frame_place(firefox, i)], &address);

        put_or(json, has_any, address, "-1");
    }
    close_column(json);
    open_column(json, "inlineDepth");
    for (size_t i = 0; i < count; i++)
        jr_json_uint(json, firefox->depths[frame_place(firefox, i)]);
    close_column(json);
    put_categories(firefox, count);
    open_column(json, "func");
    for (size_t i = 0; i < count; i++)
        jr_json_uint(
            json, model->tiers[places[frame_place(firefox, i)].tier].function);
    close_column(json);
    open_column(json, "line");
    for (size_t i = 0; i < count; i++) {
        const uint32_t line = jr_export_line(
            model, &places[frame_place(firefox, i)], firefox->files);

        put_or(json, line != 0, line, "null");
    }
    close_column(json);
    put_column(json, "nativeSymbol", "null", count);
    put_column(json, "innerWindowID", "0", count);
    put_column(json, "column", "null", count);
    put_column(json, "originalLocation", "null", count);
    jr_json_close(json, '}');
}

/* Whether it is a function of the language that a runtime compiles, and no
 * builtin or stub. */
static int is_script(const struct jr_function *function)
{
    return function->kind == JR_FRAME_JIT && !function->tier;
}

static void put_functions(struct jr_firefox *firefox)
{
    const struct jr_model *model = firefox->model;
    const size_t count = model->nfunctions;
    struct jr_json *json = &firefox->json;

    open_table(json, "funcTable", count);
    open_column(json, "name");
    for (size_t i = 0; i < count; i++)
        jr_json_uint(json, i);
    close_column(json);
    open_column(json, "isJS");
    for (size_t i = 0; i < count; i++)
        jr_json_word(json, is_script(&model->functions[i]) ? "true" : "false");
    close_column(json);
    open_column(json, "resource");
    for (size_t i = 0; i < count; i++) {
        const uint32_t object = firefox->objects[i];
        const uint32_t lib = object ? firefox->libs[object - 1] : 0;

        put_or(json, lib != 0, lib - 1ULL, "-1");
    }
    close_column(json);
    open_column(json, "source");
    for (size_t i = 0; i < count; i++)
        put_or(json, firefox->sources[i] != 0, firefox->sources[i] - 1ULL,
               "null");
    close_column(json);
    put_column(json, "relevantForJS", "false", count);
    open_column(json, "lineNumber");
    for (size_t i = 0; i < count; i++)
        put_or(json, model->functions[i].first_line != 0,
               model->functions[i].first_line, "null");
    close_column(json);
    put_column(json, "columnNumber", "null", count);
    put_column(json, "originalLocation", "null", count);
    jr_json_close(json, '}');
}

/* A resource for each lib.  Names follow those of functions and sources. */
static void put_resources(struct jr_firefox *firefox)
{
    struct jr_json *json = &firefox->json;

    open_table(json, "resourceTable", firefox->nlibs);
    open_column(json, "name");
    for (size_t i = 0; i < firefox->nlibs; i++)
        jr_json_uint(json, firefox->model->nfunctions + firefox->nsources + i);
    close_column(json);
    open_column(json, "lib");
    for (size_t i = 0; i < firefox->nlibs; i++)
        jr_json_uint(json, i);
    close_column(json);
    put_column(json, "host", "null", firefox->nlibs);
    put_column(json, "type", RESOURCE_LIBRARY, firefox->nlibs);
    jr_json_close(json, '}');
}

/* The text of a source that may be read, as far as all are not too long; else
 * null. */
static void put_content(struct jr_json *json, struct jr_listings *listings,
                        const char *path, size_t *left)
{
    const char *text;
    size_t size;

    if (jr_listings_text(listings, path, &text, &size) != 0 ||
        size > SOURCE_MOST || size > *left || memchr(text, '\0', size)) {
        jr_json_word(json, "null");
        return;
    }
    *left -= size;
    jr_json_lines(json, text);
}

static void put_sources(struct jr_firefox *firefox)
{
    const size_t count = firefox->nsources;
    struct jr_json *json = &firefox->json;
    struct jr_listings *listings = jr_listings_new(&firefox->report->places);
    size_t left = SOURCES_MOST;

    open_table(json, "sources", count);
    put_column(json, "id", "null", count);
    open_column(json, "filename");
    for (size_t i = 0; i < count; i++)
        jr_json_uint(json, firefox->model->nfunctions + i);
    close_column(json);
    put_column(json, "startLine", "1", count);
    put_column(json, "startColumn", "1", count);
    put_column(json, "sourceMapURL", "null", count);
    open_column(json, "content");
    for (size_t i = 0; i < count; i++)
        put_content(json, listings, firefox->filenames[i], &left);
    close_column(json);
    jr_listings_free(listings);
    jr_json_close(json, '}');
}

/* Functions, sources, libs, then the names of markers: "Section". */
static void put_strings(struct jr_firefox *firefox)
{
    const struct jr_model *model = firefox->model;
    const struct jr_places *places = &model->places;
    struct jr_json *json = &firefox->json;

    open_column(json, "stringArray");
    for (size_t i = 0; i < model->nfunctions; i++) {
        char *name = jr_export_name(&model->functions[i]);

        jr_json_string(json, name);
        free(name);
    }
    for (size_t i = 0; i < firefox->nsources; i++)
        jr_json_string(json, firefox->filenames[i]);
    for (size_t i = 0; i < places->nobjects; i++)
        if (places->objects[i].mapping)
            jr_json_string(json, jr_base_name(places->objects[i].path));
    jr_json_string(json, "Section");
    for (size_t i = 0; i < model->marks.nnames; i++)
        jr_json_string(json, model->marks.names[i]);
    close_column(json);
}

static void put_empty(struct jr_json *json, const char *name,
                      const char *const *columns)
{
    open_table(json, name, 0);
    for (; *columns; columns++)
        put_column(json, *columns, "", 0);
    jr_json_close(json, '}');
}

void jr_firefox_shared(struct jr_firefox *firefox)
{
    static const char *const symbols[] = {"libIndex", "address", "name",
                                          "functionSize", NULL};
    static const char *const locations[] = {"source", "line", "column", NULL};
    struct jr_json *json = &firefox->json;

    jr_json_key(json, "shared");
    jr_json_open(json, '{');
    put_stacks(firefox);
    put_frames(firefox);
    put_functions(firefox);
    put_resources(firefox);
    put_empty(json, "nativeSymbols", symbols);
    put_sources(firefox);
    put_empty(json, "sourceLocationTable", locations);
    put_strings(firefox);
    jr_json_close(json, '}');
}
