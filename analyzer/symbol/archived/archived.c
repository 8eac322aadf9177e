/* SPDX-License-Identifier: MIT
 *
 * Reads the file of names of an archive.  It is untrusted: each number is
 * checked where it is read, nothing is larger than the text that it came from.
 * Runs in: analyzer. */
#include "archived.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/table.h"
#include "read/line.h"

#define FILE_MAX (512U << 20)

/* A place of a module: some of the numbers in `chains`. */
struct place {
    size_t first;
    uint32_t count;
};

/* A function's range. */
struct range {
    uint64_t start, end;
};

/* The text of a source file. */
struct source {
    const char *file;
    const char *names; /* path of the file of names that says so */
    uint32_t number;
};

struct jr_archived {
    struct jr_strings *strings;
    struct jr_archived_module *modules;
    size_t nmodules, modules_room;
    struct jr_table by_key; /* pointers of keys to modules */
    struct jr_frame *frames;
    size_t nframes, frames_room;
    uint32_t *chains; /* numbers of frames */
    size_t nchains, chains_room;
    struct place *places;
    size_t nplaces, places_room;
    struct jr_table by_place; /* (address, module) to places */
    struct range *ranges;
    size_t nranges, ranges_room;
    struct jr_table by_extent; /* likewise, to ranges */
    struct source *sources;
    size_t nsources, sources_room;
    struct jr_frame answer[JR_ARCHIVED_FRAMES];
};

/* What one file is read with: its numbers are its own. */
struct reading {
    struct jr_archived *archived;
    const char **texts;
    size_t ntexts, texts_room;
    const char *path;
    size_t first_frame;                /* number 1 of the file */
    struct jr_archived_module *module; /* the last one; NULL: none */
    int has_segments;                  /* of that: an earlier file told them */
    const char *at, *end;              /* of the line, what is unread */
    const char *wrong;                 /* what is wrong with it */
};

struct jr_archived *jr_archived_new(struct jr_strings *strings)
{
    struct jr_archived *archived = jr_alloc(1, sizeof *archived);

    archived->strings = strings;
    return archived;
}

void jr_archived_free(struct jr_archived *archived)
{
    if (!archived)
        return;
    for (size_t i = 0; i < archived->nmodules; i++) {
        struct jr_archived_module *module = &archived->modules[i];

        for (size_t j = 0; j < module->ncodes; j++)
            free(module->codes[j].bytes);
        free(module->codes);
        free(module->segments.items);
    }
    jr_table_free(&archived->by_key);
    jr_table_free(&archived->by_place);
    free(archived->modules);
    free(archived->frames);
    free(archived->chains);
    jr_table_free(&archived->by_extent);
    free(archived->places);
    free(archived->ranges);
    free(archived->sources);
    free(archived);
}

static int fail(struct reading *reading, const char *wrong)
{
    reading->wrong = wrong;
    return -1;
}

/* The next word of the line, which a blank ends. */
static int take_word(struct reading *reading, const char **word, size_t *length)
{
    const char *blank;

    if (reading->at == reading->end)
        return fail(reading, "a field is missing");
    blank = memchr(reading->at, ' ', (size_t)(reading->end - reading->at));
    *word = reading->at;
    *length = (size_t)((blank ? blank : reading->end) - reading->at);
    reading->at = blank ? blank + 1 : reading->end;
    return 0;
}

/* The next number, at most `most`. */
static int take_number(struct reading *reading, unsigned base, uint64_t most,
                       uint64_t *number)
{
    const char *word;
    size_t length;

    if (take_word(reading, &word, &length) != 0)
        return -1;
    if (jr_parse_number(word, length, base, number) != 0 || *number > most)
        return fail(reading, "a number is none, or too large");
    return 0;
}

/* The text of the next number; NULL for 0. */
static int take_text(struct reading *reading, const char **text)
{
    uint64_t number;

    if (take_number(reading, 10, reading->ntexts, &number) != 0)
        return -1;
    *text = number ? reading->texts[number - 1] : NULL;
    return 0;
}

/* s TEXT: the rest of the line, with %XX for bytes that are not shown. */
static int take_string(struct reading *reading)
{
    size_t length = (size_t)(reading->end - reading->at), used = 0;
    char *text = jr_alloc(length + 1, 1);
    int result = 0;

    for (size_t i = 0; i < length && result == 0; i++) {
        uint64_t byte = (unsigned char)reading->at[i];

        if (byte == '%') {
            if (length - i < 3 ||
                jr_parse_number(reading->at + i + 1, 2, 16, &byte) != 0)
                result = fail(reading, "a % has no two digits");
            i += 2;
        }
        text[used++] = (char)byte;
    }
    if (result == 0)
        *JR_PUSH(reading->texts, reading->ntexts, reading->texts_room) =
            jr_strings_add(reading->archived->strings, text, used);
    free(text);
    return result;
}

/* f KIND INLINED NAME RAW FILE LINE COLUMN START */
static int take_frame(struct reading *reading)
{
    struct jr_archived *archived = reading->archived;
    struct jr_frame frame = {0};
    uint64_t kind, inlined, line, column, start;

    if (take_number(reading, 10, JR_FRAME_UNNAMED, &kind) != 0 ||
        take_number(reading, 10, 1, &inlined) != 0 ||
        take_text(reading, &frame.name) != 0 ||
        take_text(reading, &frame.raw) != 0 ||
        take_text(reading, &frame.file) != 0 ||
        take_number(reading, 10, UINT32_MAX, &line) != 0 ||
        take_number(reading, 10, UINT32_MAX, &column) != 0 ||
        take_number(reading, 10, UINT32_MAX, &start) != 0)
        return -1;
    if (!frame.name || !*frame.name)
        return fail(reading, "a function has no name");
    frame.kind = (uint8_t)kind;
    if (frame.raw && kind == JR_FRAME_NATIVE)
        frame.tier =
            jr_strings_part(archived->strings, frame.raw, strlen(frame.raw));
    frame.inlined = (uint8_t)inlined;
    frame.line = (uint32_t)line;
    frame.column = (uint32_t)column;
    frame.first_line = (uint32_t)start;
    *JR_PUSH(archived->frames, archived->nframes, archived->frames_room) =
        frame;
    return 0;
}

/* m FLAGS KEY PATH PACKAGE MACHINE */
static int take_module(struct reading *reading)
{
    struct jr_archived *archived = reading->archived;
    const uint32_t fresh = (uint32_t)archived->nmodules;
    struct jr_archived_module module = {.number = fresh};
    uint64_t flags, machine;
    uint32_t known;

    if (take_number(reading, 10, UINT32_MAX, &flags) != 0 ||
        take_text(reading, &module.key) != 0 ||
        take_text(reading, &module.path) != 0 ||
        take_text(reading, &module.package) != 0 ||
        take_number(reading, 10, UINT16_MAX, &machine) != 0)
        return -1;
    if (!module.key || !module.path)
        return fail(reading, "a file has no path");
    module.usable = (flags & JR_ARCHIVED_USABLE) != 0;
    module.machine = (uint16_t)machine;
    module.changed = (flags & JR_ARCHIVED_CHANGED) != 0;
    known = jr_table_put(&archived->by_key, (uintptr_t)module.key, 0, fresh);
    if (known == fresh) {
        reading->module = JR_PUSH(archived->modules, archived->nmodules,
                                  archived->modules_room);
        *reading->module = module;
        reading->has_segments = 0;
        return 0;
    }
    /* Another archive has the module, too: it was asked for other places. */
    reading->module = &archived->modules[known];
    reading->has_segments = reading->module->segments.count > 0;
    reading->module->usable |= module.usable;
    reading->module->changed |= module.changed;
    if (!reading->module->package)
        reading->module->package = module.package;
    return 0;
}

/* g OFFSET SIZE ADDRESS CODE, of the last module */
static int take_segment(struct reading *reading)
{
    struct jr_segments *segments;
    struct jr_segment segment = {0};
    uint64_t code;

    if (take_number(reading, 16, UINT64_MAX, &segment.offset) != 0 ||
        take_number(reading, 16, UINT64_MAX, &segment.size) != 0 ||
        take_number(reading, 16, UINT64_MAX, &segment.address) != 0 ||
        take_number(reading, 10, 1, &code) != 0)
        return -1;
    segment.code = (uint8_t)code;
    if (!reading->module || reading->has_segments)
        return 0;
    segments = &reading->module->segments;
    *JR_PUSH(segments->items, segments->count, segments->room) = segment;
    return 0;
}

/* a ADDRESS FRAME...: innermost first, of the last module */
static int take_place(struct reading *reading)
{
    struct jr_archived *archived = reading->archived;
    const uint32_t fresh = (uint32_t)archived->nplaces;
    struct place place = {.first = archived->nchains};
    uint64_t address, number;

    if (take_number(reading, 16, UINT64_MAX, &address) != 0)
        return -1;
    do {
        if (take_number(reading, 10, archived->nframes - reading->first_frame,
                        &number) != 0)
            return -1;
        if (number == 0)
            return fail(reading, "a function has the number 0");
        if (place.count++ == JR_ARCHIVED_FRAMES)
            return fail(reading, "too many functions at one address");
        *JR_PUSH(archived->chains, archived->nchains, archived->chains_room) =
            (uint32_t)(reading->first_frame + number - 1);
    } while (reading->at < reading->end);
    if (reading->module &&
        jr_table_put(&archived->by_place, address, reading->module->number,
                     fresh) == fresh)
        *JR_PUSH(archived->places, archived->nplaces, archived->places_room) =
            place;
    return 0;
}

/* e ADDRESS START END, of the last module */
static int take_extent(struct reading *reading)
{
    struct jr_archived *archived = reading->archived;
    const uint32_t fresh = (uint32_t)archived->nranges;
    struct range range;
    uint64_t at;

    if (take_number(reading, 16, UINT64_MAX, &at) != 0 ||
        take_number(reading, 16, at, &range.start) != 0 ||
        take_number(reading, 16, UINT64_MAX, &range.end) != 0)
        return -1;
    if (range.end <= at)
        return fail(reading, "a function ends before its address");
    if (reading->module &&
        jr_table_put(&archived->by_extent, at, reading->module->number,
                     fresh) == fresh)
        *JR_PUSH(archived->ranges, archived->nranges, archived->ranges_room) =
            range;
    return 0;
}

/* b ADDRESS HEX: machine code of the last module */
static int take_bytes(struct reading *reading)
{
    struct jr_archived_module *module = reading->module;
    struct jr_archived_code code;
    const char *word;
    uint64_t byte;
    size_t length;

    if (take_number(reading, 16, UINT64_MAX, &code.start) != 0 ||
        take_word(reading, &word, &length) != 0)
        return -1;
    code.size = length / 2;
    if (length % 2 != 0 || length == 0 || code.start > UINT64_MAX - code.size)
        return fail(reading, "code has half a byte, or none");
    code.bytes = jr_alloc(code.size, 1);
    for (size_t i = 0; i < code.size; i++) {
        if (jr_parse_number(word + 2 * i, 2, 16, &byte) != 0) {
            free(code.bytes);
            return fail(reading, "a byte of code has no two digits");
        }
        code.bytes[i] = (uint8_t)byte;
    }
    if (module)
        *JR_PUSH(module->codes, module->ncodes, module->codes_room) = code;
    else
        free(code.bytes);
    return 0;
}

/* t FILE NUMBER: the text of a source is in the archive */
static int take_source(struct reading *reading)
{
    struct jr_archived *archived = reading->archived;
    struct source source;
    uint64_t number;

    if (take_text(reading, &source.file) != 0 ||
        take_number(reading, 10, UINT32_MAX, &number) != 0)
        return -1;
    if (!source.file || number == 0)
        return fail(reading, "a source has no name");
    source.number = (uint32_t)number;
    source.names = reading->path;
    *JR_PUSH(archived->sources, archived->nsources, archived->sources_room) =
        source;
    return 0;
}

/* Reads a line without its newline; lines of unknown kinds are from later
 * versions and skipped. */
static int take_line(struct reading *reading)
{
    static const struct {
        char kind;
        int (*take)(struct reading *reading);
    } kinds[] = {{'s', take_string},  {'f', take_frame}, {'m', take_module},
                 {'g', take_segment}, {'a', take_place}, {'e', take_extent},
                 {'b', take_bytes},   {'t', take_source}};

    if (reading->end - reading->at < 2 || reading->at[1] != ' ')
        return fail(reading, "the line has no kind");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].kind == reading->at[0]) {
            reading->at += 2;
            return kinds[i].take(reading);
        }
    return 0;
}

void jr_archived_parse(struct jr_archived *archived, const char *text,
                       size_t size, const char *path, struct jr_diag *diag)
{
    static const char head[] = JR_ARCHIVED_HEAD "\n";
    struct reading reading = {
        .archived = archived, .path = path, .first_frame = archived->nframes};
    size_t at = sizeof head - 1;

    if (size < at || memcmp(text, head, at) != 0) {
        jr_warn(diag, path, 0,
                "no file of names of this version; its functions stay unnamed");
        return;
    }
    while (at < size) {
        const char *end = memchr(text + at, '\n', size - at);

        reading.at = text + at;
        reading.end = end;
        if (end && take_line(&reading) == 0) {
            at = (size_t)(end - text) + 1;
            continue;
        }
        jr_warn(diag, path, at,
                "%s; what follows is left out, and functions "
                "stay unnamed",
                end ? reading.wrong : "the last line is cut short");
        break;
    }
    free(reading.texts);
}

void jr_archived_read(struct jr_archived *archived, const char *path,
                      struct jr_diag *diag)
{
    struct jr_bytes bytes;
    const char *why;

    if (jr_file_read(path, FILE_MAX, &bytes, &why) != 0) {
        jr_warn(diag, path, JR_NO_OFFSET, "%s; functions stay unnamed", why);
        return;
    }
    jr_archived_parse(archived, (const char *)bytes.data, bytes.size, path,
                      diag);
    free(bytes.data);
}

const struct jr_archived_module *
jr_archived_module(const struct jr_archived *archived, const char *key)
{
    for (size_t i = 0; i < archived->nmodules; i++)
        if (archived->modules[i].key == key)
            return &archived->modules[i];
    return NULL;
}

const char *jr_archived_package(const struct jr_archived *archived,
                                const char *path)
{
    for (size_t i = 0; i < archived->nmodules; i++)
        if (archived->modules[i].package &&
            strcmp(archived->modules[i].path, path) == 0)
            return archived->modules[i].package;
    return NULL;
}

size_t jr_archived_place(struct jr_archived *archived,
                         const struct jr_archived_module *module,
                         uint64_t elf_address, const struct jr_frame **frames)
{
    const uint32_t fresh = (uint32_t)archived->nplaces;
    const uint32_t index =
        jr_table_put(&archived->by_place, elf_address, module->number, fresh);
    const struct place *place;

    if (index == fresh) {
        *JR_PUSH(archived->places, archived->nplaces, archived->places_room) =
            (struct place){0};
        return 0;
    }
    place = &archived->places[index];
    for (uint32_t i = 0; i < place->count; i++)
        archived->answer[i] =
            archived->frames[archived->chains[place->first + i]];
    *frames = archived->answer;
    return place->count;
}

void jr_archived_extent(struct jr_archived *archived,
                        const struct jr_archived_module *module, uint64_t at,
                        uint64_t *start, uint64_t *end)
{
    const uint32_t fresh = (uint32_t)archived->nranges;
    const uint32_t index =
        jr_table_put(&archived->by_extent, at, module->number, fresh);

    if (index == fresh)
        *JR_PUSH(archived->ranges, archived->nranges, archived->ranges_room) =
            (struct range){0, 0};
    *start = archived->ranges[index].start;
    *end = archived->ranges[index].end;
}

size_t jr_archived_bytes(const struct jr_archived_module *module,
                         uint64_t elf_address, uint8_t *into, size_t room)
{
    size_t best = 0;

    for (size_t i = 0; i < module->ncodes; i++) {
        const struct jr_archived_code *code = &module->codes[i];
        size_t left;

        if (elf_address < code->start ||
            elf_address - code->start >= code->size)
            continue;
        left = code->size - (size_t)(elf_address - code->start);
        left = left < room ? left : room;
        if (left > best) {
            memcpy(into, code->bytes + (elf_address - code->start), left);
            best = left;
        }
    }
    return best;
}

uint32_t jr_archived_source(const struct jr_archived *archived,
                            const char *file, const char **names)
{
    for (size_t i = 0; i < archived->nsources; i++)
        if (strcmp(archived->sources[i].file, file) == 0) {
            *names = archived->sources[i].names;
            return archived->sources[i].number;
        }
    return 0;
}
