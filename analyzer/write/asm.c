/* SPDX-License-Identifier: MIT
 *
 * Bytes, line table and hits of a piece of code, brought together by address.
 * Runs in: analyzer. */
#include "asm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "symbol/disasm.h"

#define BYTES_MAX (1U << 20)

/* The code of one version, read once to find where its instructions begin. */
struct reading {
    const struct jr_code_version *version;
    struct jr_disasm *disasm;
    uint8_t *bytes;
    size_t nbytes;
    uint32_t *offsets; /* of the instructions */
    size_t count, room;
    uint64_t *weights; /* by instruction */
    uint8_t *shown;
    struct jr_listings *listings;
    const struct jr_asm_sink *sink;
    const struct jr_jit_source_line *last; /* the source line last listed */
};

static void find_instructions(struct reading *reading)
{
    struct jr_instruction instruction = {.size = 0};
    size_t at = 0;

    while (at < reading->nbytes &&
           jr_disasm_read(
               reading->disasm, reading->bytes + at, reading->nbytes - at,
               reading->version->code.start + at, &instruction) == 0) {
        *JR_PUSH(reading->offsets, reading->count, reading->room) =
            (uint32_t)at;
        at += instruction.size;
    }
}

/* The instruction that covers an offset; count: none does. */
static size_t covering(const struct reading *reading, uint64_t offset)
{
    size_t from = 0, to = reading->count;

    if (offset >= reading->nbytes)
        return reading->count;
    while (to - from > 1) {
        size_t middle = from + (to - from) / 2;

        if (reading->offsets[middle] <= offset)
            from = middle;
        else
            to = middle;
    }
    return reading->count ? from : 0;
}

static void add_weights(struct reading *reading)
{
    const struct jr_code_version *version = reading->version;

    reading->weights = jr_alloc(reading->count + 1, sizeof(uint64_t));
    for (size_t i = 0; i < version->nhits; i++) {
        const struct jr_code_hit *hit = &version->hits[i];
        size_t at = covering(reading, hit->address - version->code.start);

        if (at < reading->count)
            reading->weights[at] = jr_add(reading->weights[at], hit->weight_ns);
    }
}

/* Marks the sampled instructions and those around them. */
static void choose(struct reading *reading, const struct jr_asm_limits *limits)
{
    size_t marked = 0;

    reading->shown = jr_alloc(reading->count + 1, 1);
    if (reading->count <= limits->whole) {
        memset(reading->shown, 1, reading->count);
        return;
    }
    for (size_t i = 0; i < reading->count; i++) {
        size_t from = i > limits->around ? i - limits->around : 0;

        if (reading->weights[i] == 0)
            continue;
        for (size_t j = from; j < reading->count && j <= i + limits->around;
             j++) {
            if (!reading->shown[j] && marked >= limits->most)
                return;
            marked += !reading->shown[j];
            reading->shown[j] = 1;
        }
    }
}

/* The entry of the line table that an address is under, or NULL. */
static const struct jr_jit_source_line *line_at(const struct jr_jit_code *code,
                                                uint64_t address)
{
    size_t from = 0, to = code->nlines;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (code->lines[middle].address <= address)
            from = middle + 1;
        else
            to = middle;
    }
    return from > 0 ? &code->lines[from - 1] : NULL;
}

/* A copy of a line: blanks in place of tabs, no NULs.  The caller frees it. */
static char *clean_copy(const char *text, size_t length)
{
    char *copy = jr_alloc(length * 4 + 1, 1);
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        copy[used++] = (char)(text[i] ? text[i] : '?');
        if (text[i] != '\t')
            continue;
        copy[used - 1] = ' ';
        while (used % 4)
            copy[used++] = ' ';
    }
    return copy;
}

/* Lists the source of an address when it is another than the last one. */
static void put_source(struct reading *reading, uint64_t address)
{
    const struct jr_jit_source_line *line =
        line_at(&reading->version->code, address);
    const struct jr_jit_source_line *last = reading->last;
    const char *text;
    char *copy = NULL;
    int length;

    if (!line || line == last)
        return;
    reading->last = line;
    if (line->line == 0 || (last && last->line == line->line &&
                            strcmp(last->file, line->file) == 0))
        return;
    length = jr_listings_line(reading->listings, line->file, line->line, &text);
    if (length >= 0)
        copy = clean_copy(text, (size_t)length);
    reading->sink->source(
        reading->sink->data, line->file, line->line,
        line->discriminator <= INT32_MAX ? line->discriminator : 0, copy);
    free(copy);
}

/* Makes the target of a jump within the code, the last operand, an offset. */
static void show_offset(const struct jr_jit_code *code,
                        struct jr_instruction *instruction)
{
    char *text = strrchr(instruction->text, ' '), *end;
    unsigned long long target;

    text = text ? text + 1 : instruction->text;
    text += *text == '#';
    if (strncmp(text, "0x", 2) != 0)
        return;
    target = strtoull(text, &end, 16);
    if (*end == '\0' && target >= code->start && target < code->end)
        snprintf(text, (size_t)(end - text) + 1, "+%llx", target - code->start);
}

static void put_instructions(struct reading *reading, int offsets)
{
    const struct jr_asm_sink *sink = reading->sink;
    size_t gap = 0;

    for (size_t i = 0; i < reading->count; i++) {
        size_t offset = reading->offsets[i];
        uint64_t address = reading->version->code.start + offset;
        struct jr_instruction instruction = {.size = 0};

        if (!reading->shown[i]) {
            gap++;
            continue;
        }
        if (gap)
            sink->gap(sink->data, gap);
        gap = 0;
        put_source(reading, address);
        jr_disasm_read(reading->disasm, reading->bytes + offset,
                       reading->nbytes - offset, address, &instruction);
        if (offsets)
            show_offset(&reading->version->code, &instruction);
        sink->instruction(sink->data, address, instruction.text,
                          reading->weights[i]);
    }
    if (gap)
        sink->gap(sink->data, gap);
}

/* Sampled addresses whose code was not kept, or not read. */
static void put_addresses(struct reading *reading,
                          const struct jr_asm_limits *limits)
{
    const struct jr_code_version *version = reading->version;
    const struct jr_asm_sink *sink = reading->sink;

    for (size_t i = 0; i < version->nhits && i < limits->addresses; i++) {
        const struct jr_code_hit *hit = &version->hits[i];

        if (hit->address - version->code.start < reading->nbytes)
            continue;
        put_source(reading, hit->address);
        sink->instruction(sink->data, hit->address,
                          reading->nbytes < BYTES_MAX
                              ? "(code not kept)"
                              : "(too far into the code to be shown)",
                          hit->weight_ns);
    }
}

static enum jr_asm_result read_code(struct reading *reading, uint16_t machine)
{
    const struct jr_jit_code *code = &reading->version->code;
    uint64_t size = code->end - code->start;

    if (size > BYTES_MAX)
        size = BYTES_MAX;
    reading->disasm = jr_disasm_new(code->machine ? code->machine : machine);
    if (!reading->disasm)
        return JR_ASM_NO_MACHINE;
    reading->bytes = jr_alloc((size_t)size + 1, 1);
    reading->nbytes = jr_jit_code_bytes(code, reading->bytes, (size_t)size);
    return reading->nbytes ? JR_ASM_WHOLE : JR_ASM_NO_BYTES;
}

enum jr_asm_result jr_asm_list(const struct jr_code_version *version,
                               uint16_t machine, struct jr_listings *listings,
                               const struct jr_asm_limits *limits,
                               const struct jr_asm_sink *sink)
{
    struct reading reading = {
        .version = version, .listings = listings, .sink = sink};
    enum jr_asm_result result = read_code(&reading, machine);

    if (result == JR_ASM_WHOLE) {
        find_instructions(&reading);
        add_weights(&reading);
        choose(&reading, limits);
        put_instructions(&reading, limits->offsets);
    }
    put_addresses(&reading, limits);
    jr_disasm_free(reading.disasm);
    free(reading.bytes);
    free(reading.offsets);
    free(reading.weights);
    free(reading.shown);
    return result;
}
