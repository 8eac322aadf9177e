/* SPDX-License-Identifier: MIT
 *
 * The code of a process over time: which mapping, then which function.
 * Runs in: analyzer. */
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "base/ranges.h"
#include "copied.h"
#include "jp_script.h"
#include "script.h"
#include "symbol.h"
#include "symbol/elf/modules.h"
#include "symbol/jit/jit.h"
#include "symbol/jit/jit_names.h"

#define FILED 16384U /* answers that are kept; a power of two */

/* What an address in a file is: files are mapped again at the same place. */
struct filed {
    uint64_t address, bias;
    const struct jr_module *module; /* NULL: the place is free */
    struct jr_frames frames;
};

struct jr_space {
    struct jr_symbols *symbols;
    const struct jr_map *map;
    char *log_dir;
    struct jr_ranges mappings;
    struct jr_module **modules; /* by mapping, once looked up */
    struct jr_jit jit;
    int jit_read;
    /* Addresses without a name for what memory says; some of them twice. */
    struct doubted {
        uint64_t *items;
        size_t count, room;
    } doubted[JR_MEMORIES];
    struct jr_copied copied;
    struct filed *filed;    /* by hash, once one is asked for */
    struct jr_given *given; /* all there is, if there is any */
    size_t ngiven;
};

struct jr_space *jr_space_new(struct jr_symbols *symbols,
                              const struct jr_map *map, const char *log_dir)
{
    struct jr_space *space = jr_alloc(1, sizeof *space);

    space->symbols = symbols;
    space->map = map;
    space->log_dir = jr_strdup(log_dir);
    space->modules = jr_alloc(map->mappings.count, sizeof *space->modules);
    for (size_t i = 0; i < map->mappings.count; i++) {
        const struct jr_mapping *mapping = &map->mappings.items[i];

        *JR_PUSH(space->mappings.items, space->mappings.count,
                 space->mappings.room) =
            (struct jr_range){mapping->start, mapping->end, mapping->from_ns,
                              mapping->until_ns, (uint32_t)i};
    }
    jr_ranges_build(&space->mappings);
    return space;
}

struct jr_space *jr_space_given(struct jr_symbols *symbols,
                                const struct jr_map *map,
                                struct jr_given *places, size_t count)
{
    struct jr_space *space = jr_space_new(symbols, map, "");

    space->given = places;
    space->ngiven = count;
    return space;
}

const char *jr_space_text(struct jr_symbols *symbols, const char *text,
                          size_t size)
{
    return jr_strings_add(symbols->strings, text, size);
}

const char *jr_space_name(struct jr_space *space, const char *text)
{
    return jr_space_text(space->symbols, text, strlen(text));
}

void jr_space_free(struct jr_space *space)
{
    if (!space)
        return;
    for (size_t i = 0; i < space->ngiven; i++)
        free((void *)(uintptr_t)space->given[i].frames.items);
    free(space->given);
    jr_ranges_free(&space->mappings);
    jr_jit_free(&space->jit);
    jr_copied_free(&space->copied);
    free(space->modules);
    free(space->log_dir);
    for (size_t i = 0; i < JR_MEMORIES; i++)
        free(space->doubted[i].items);
    free(space->filed);
    free(space);
}

/* The mapping live at `time_ns`, else the first later one; NULL: none. */
static const struct jr_mapping *find_mapping(struct jr_space *space,
                                             uint64_t address, uint64_t time_ns,
                                             struct jr_jit_span *span)
{
    struct jr_range_answer answer;

    jr_ranges_find(&space->mappings, address, time_ns, &answer);
    span->from_ns = answer.from_ns;
    span->until_ns = answer.until_ns;
    if (answer.live == JR_NO_RANGE)
        answer.live = answer.later;
    return answer.live == JR_NO_RANGE
               ? NULL
               : &space->map->mappings.items[answer.live];
}

#define LIVES 64U /* mappings looked at, one after the other */

/* When the memory at an address that is mapped at `time_ns`, or first after
 * that, was given back, without anything in its place; UINT64_MAX: never. */
static uint64_t find_end(const struct jr_space *space, uint64_t address,
                         uint64_t time_ns)
{
    const struct jr_mapping *items = space->map->mappings.items;
    struct jr_range_answer answer;

    jr_ranges_find(&space->mappings, address, time_ns, &answer);
    if (answer.live == JR_NO_RANGE)
        answer.live = answer.later;
    if (answer.live == JR_NO_RANGE)
        return UINT64_MAX;
    for (size_t i = 0; i < LIVES; i++) {
        time_ns = items[answer.live].until_ns;
        if (time_ns == UINT64_MAX)
            return time_ns;
        jr_ranges_find(&space->mappings, address, time_ns, &answer);
        if (answer.live == JR_NO_RANGE)
            return time_ns;
    }
    return UINT64_MAX;
}

/* Whether memory speaks against a jitdump's piece, and no perf map for it. */
static int is_doubted(struct jr_space *space, const struct jr_jit_text *text,
                      uint64_t address, uint64_t time_ns,
                      struct jr_jit_span *span)
{
    struct jr_strings *strings = space->symbols->strings;
    const enum jr_jit_memory memory =
        jr_jit_memory(&space->jit, text, address, time_ns,
                      find_end(space, address, time_ns), span);
    struct doubted *doubted = &space->doubted[memory];

    if (memory == JR_MEMORY_SAME ||
        jr_jit_agrees(&space->jit, strings, text->piece, address, time_ns,
                      span))
        return 0;
    *JR_PUSH(doubted->items, doubted->count, doubted->room) = address;
    return 1;
}

/* The JIT code at an address, NULL when no file describes it. */
static struct jr_jit_text *find_code(struct jr_space *space, uint64_t address,
                                     uint64_t time_ns, struct jr_jit_span *span,
                                     int *late)
{
    struct jr_strings *strings = space->symbols->strings;
    const struct jr_jit_piece *piece, *newer;
    struct jr_jit_text *text;

    if (!space->jit_read) {
        space->jit_read = 1;
        jr_jit_read(&space->jit, space->map, space->log_dir,
                    space->symbols->diag);
    }
    piece = jr_jit_find(&space->jit, address, time_ns, span, late);
    if (!piece)
        return NULL;
    newer = *late ? NULL
                  : jr_jit_newer(&space->jit, strings, piece, address, time_ns,
                                 span);
    if (newer)
        piece = newer;
    text = jr_jit_text(&space->jit, strings, piece);
    if (text && !*late && piece->layer == JR_LAYER_EXACT &&
        is_doubted(space, text, address, time_ns, span))
        return NULL;
    return text;
}

static const struct jr_frame *find_jit(struct jr_space *space, uint64_t address,
                                       uint64_t time_ns,
                                       struct jr_jit_span *span)
{
    struct jr_strings *strings = space->symbols->strings;
    const struct jr_jit_source_line *line;
    struct jr_jit_text *text;
    struct jr_frame frame;
    int late;

    text = find_code(space, address, time_ns, span, &late);
    /* A name may be empty, which says as little as none. */
    if (!text || !*text->name)
        return NULL;
    if (!text->frame) {
        jr_jit_name_frame(strings, text->name, text->length, &frame);
        text->frame = jr_strings_frame_of(strings, &frame);
    }
    line = jr_jit_line(text, address);
    if (!late && !line)
        return text->frame;
    frame = *text->frame;
    frame.late = (uint8_t)late;
    if (line) {
        frame.file = *line->file ? line->file : NULL;
        frame.line = line->line;
    }
    return jr_strings_frame_of(strings, &frame);
}

int jr_jit_code_find(struct jr_space *space, uint64_t address, uint64_t time_ns,
                     struct jr_jit_code *code)
{
    struct jr_jit_span span = {0, UINT64_MAX};
    const struct jr_jit_origin *origin;
    const struct jr_jit_text *text;
    int late;

    text = find_code(space, address, time_ns, &span, &late);
    if (!text || !*text->name)
        return -1;
    origin = space->jit.files[text->piece->file];
    *code = (struct jr_jit_code){
        .start = text->piece->start,
        .end = jr_jit_end(text->piece),
        .loaded_ns = text->piece->always ? 0 : text->piece->from_ns,
        .until_ns = text->piece->until_ns,
        .name = text->name,
        .length = text->length,
        .machine = (uint16_t)origin->dump.machine,
        .source = origin->is_dump ? JR_JIT_DUMP : JR_JIT_PERFMAP,
        .late = (uint8_t)late,
        .lines = text->lines,
        .nlines = text->nlines,
        .jit = &space->jit,
        .text = text};
    return 0;
}

size_t jr_jit_code_bytes(const struct jr_jit_code *code, uint8_t *into,
                         size_t room)
{
    return jr_jit_bytes(code->jit, code->text, into, room);
}

static int by_number(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

    return a < b ? -1 : a > b;
}

/* Keeps each address once.  Returns how many there are. */
static size_t count_once(struct doubted *doubted)
{
    size_t kept = 0;

    if (doubted->count)
        qsort(doubted->items, doubted->count, sizeof *doubted->items,
              by_number);
    for (size_t i = 0; i < doubted->count; i++) {
        if (kept == 0 || doubted->items[kept - 1] != doubted->items[i])
            doubted->items[kept++] = doubted->items[i];
    }
    doubted->count = kept;
    return kept;
}

struct jr_space_jit jr_space_jit(struct jr_space *space)
{
    return (struct jr_space_jit){
        .files = space->jit.nfiles,
        .unread = space->jit.unread,
        .bad_lines = space->jit.garbage,
        .mismatched = count_once(&space->doubted[JR_MEMORY_OTHER]),
        .wiped = count_once(&space->doubted[JR_MEMORY_WIPED])};
}

/* The frame of code that neither a file nor a perf map describes. */
static const struct jr_frame *bare_frame(struct jr_space *space, uint8_t kind,
                                         const char *name, const char *module)
{
    struct jr_strings *strings = space->symbols->strings;

    return jr_strings_frame(strings, kind,
                            jr_strings_add(strings, name, strlen(name)),
                            jr_strings_add(strings, module, strlen(module)));
}

/* Where the answer for an address in a file is kept, if it is. */
static struct filed *filed_of(struct jr_space *space, uint64_t address,
                              const struct jr_module *module)
{
    const uint32_t hash = jr_hash(address, (uintptr_t)module);

    if (!space->filed)
        space->filed = jr_alloc(FILED, sizeof *space->filed);
    return &space->filed[hash & (FILED - 1)];
}

struct jr_module *jr_space_module(struct jr_space *space,
                                  const struct jr_mapping *mapping,
                                  struct jr_symbols **symbols)
{
    const size_t index = (size_t)(mapping - space->map->mappings.items);

    if (!space->modules[index])
        space->modules[index] =
            jr_modules_get(space->symbols, mapping, space->map);
    *symbols = space->symbols;
    return space->modules[index];
}

static struct jr_frames file_frames(struct jr_space *space,
                                    const struct jr_mapping *mapping,
                                    uint64_t address)
{
    const uint64_t bias = mapping->offset - mapping->start;
    struct jr_symbols *symbols;
    struct jr_module *module = jr_space_module(space, mapping, &symbols);
    struct filed *filed;

    /* An address comes here again only if its file was unmapped at some
     * time. */
    if (mapping->until_ns == UINT64_MAX)
        return jr_module_frames(space->symbols, module, mapping, address);
    filed = filed_of(space, address, module);
    if (filed->address != address || filed->module != module ||
        filed->bias != bias)
        *filed = (struct filed){
            address, bias, module,
            jr_module_frames(space->symbols, module, mapping, address)};
    return filed->frames;
}

/* The frames of memory without a file that is a copy of a file's text.  None
 * has items NULL. */
static struct jr_frames copied_frames(struct jr_space *space,
                                      const struct jr_mapping *mapping,
                                      uint64_t address)
{
    const struct jr_mapping *source;
    struct jr_frames frames = {NULL, 1};
    struct jr_symbols *symbols;
    struct jr_module *module;

    source = jr_copied_find(&space->copied, space->map, space->log_dir, mapping,
                            address, &address);
    if (!source)
        return frames;
    module = jr_space_module(space, source, &symbols);
    return jr_module_frames(symbols, module, source, address);
}

/* Finds the function of a frame of a script, which holds at all times. */
static void find_script(struct jr_space *space, uint64_t frame,
                        struct jr_hit *hit)
{
    *hit = (struct jr_hit){.frames =
                               jr_script_frame(&space->map->scripts,
                                               space->symbols->strings, frame),
                           .nframes = 1,
                           .until_ns = UINT64_MAX,
                           .address = frame};
}

static int is_of_file(const struct jr_frame *frame)
{
    return frame->kind == JR_FRAME_NATIVE || frame->kind == JR_FRAME_UNNAMED;
}

void jr_space_find(struct jr_space *space, uint64_t address, uint64_t time_ns,
                   int is_return, struct jr_hit *hit)
{
    const struct jr_mapping *mapping;
    struct jr_frames frames = {NULL, 1};
    const struct jr_frame *jit;
    int is_copy = 0;
    struct jr_jit_span span;

    if (space->given && address - 1 < space->ngiven) {
        const struct jr_given *place = &space->given[address - 1];

        *hit = (struct jr_hit){.frames = place->frames.items,
                               .nframes = place->frames.count,
                               .until_ns = UINT64_MAX,
                               .address = place->address,
                               .is_final = 1};
        return;
    }
    if (is_return && address)
        address--;
    if (JP_SCRIPT_TAG_OF(address) == JP_SCRIPT_TAG) {
        find_script(space, address, hit);
        return;
    }
    const int is_runner = JP_SCRIPT_TAG_OF(address) == JP_SCRIPT_RUNNER;
    if (is_runner)
        address = JP_SCRIPT_ADDRESS(address);
    /* Every answer ends before UINT64_MAX, so this time would be in none. */
    if (time_ns == UINT64_MAX)
        time_ns--;
    mapping = find_mapping(space, address, time_ns, &span);
    if (mapping && !mapping->anonymous)
        frames = file_frames(space, mapping, address);
    if (!frames.items || frames.items[0].kind != JR_FRAME_NATIVE) {
        /* A runtime may keep compiled code in its own file (V8's builtins) or
         * in a file without symbols (a memfd). */
        jit = find_jit(space, address, time_ns, &span);
        if (jit)
            frames = (struct jr_frames){jit, 1};
    }
    if (!frames.items && mapping) {
        frames = copied_frames(space, mapping, address);
        is_copy = frames.items != NULL;
    }
    if (!frames.items && mapping)
        frames.items =
            bare_frame(space, JR_FRAME_JIT_UNNAMED, "[jit]", "[jit]");
    if (!frames.items)
        frames.items = bare_frame(space, JR_FRAME_UNKNOWN, "[unknown]", "");
    *hit = (struct jr_hit){
        .frames = frames.items,
        .nframes = frames.count,
        .from_ns = span.from_ns,
        .until_ns = span.until_ns,
        .address = address,
        .is_runner = (uint8_t)is_runner,
        .mapping = is_of_file(frames.items) && !is_copy ? mapping : NULL};
}
