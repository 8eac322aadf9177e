/* SPDX-License-Identifier: MIT
 *
 * Bytes, lines and hits of a piece of code, brought together by address.
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
    size_t next_hit;   /* that the sink was not told of */
    uint8_t *shown;
    const struct jr_asm_job *job;
    const struct jr_asm_sink *sink;
    struct jr_frame last;   /* whose line was listed last */
    struct jr_frames chain; /* whose names were */
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

char *jr_asm_clean(const char *text, size_t length)
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

/* Whether the code at these frames is of the function that is listed: code that
 * was inlined is listed without what is around it. */
static int is_asked_for(const struct reading *reading,
                        const struct jr_frames *frames)
{
    return !reading->job->function->inlined ||
           jr_code_depth(reading->job->function, frames) > 0;
}

static int same_functions(const struct jr_frames *one,
                          const struct jr_frames *other)
{
    if (one->count != other->count)
        return 0;
    for (size_t i = 0; i < one->count; i++)
        if (one->items[i].name != other->items[i].name)
            return 0;
    return 1;
}

/* Tells the sink of functions that were inlined, where they are others than
 * before.  JIT code has none. */
static void put_functions(struct reading *reading,
                          const struct jr_frames *frames)
{
    const struct jr_asm_sink *sink = reading->sink;
    const int is_begin = reading->chain.count == 0;

    if (!reading->version->code.module ||
        same_functions(&reading->chain, frames))
        return;
    reading->chain = *frames;
    reading->last.line = 0;
    if (!is_begin || frames->count > 1)
        sink->function(sink->data, frames);
}

/* Tells the sink of which line the code at these frames is, where that is
 * another than of the code before. */
static void put_context(struct reading *reading, const struct jr_frames *frames)
{
    const struct jr_asm_sink *sink = reading->sink;
    const struct jr_frame *frame = frames->items;
    const struct jr_frame last = reading->last;
    const char *text;
    char *copy = NULL;
    int length;

    if (frames->count == 0)
        return;
    put_functions(reading, frames);
    if (!frame->file || frame->line == 0 ||
        (reading->last.line == frame->line &&
         strcmp(last.file, frame->file) == 0))
        return;
    reading->last = *frame;
    length = jr_listings_line(reading->job->listings, frame->file, frame->line,
                              &text);
    if (length >= 0)
        copy = jr_asm_clean(text, (size_t)length);
    sink->source(sink->data, frame->file, frame->line, frame->column, copy);
    free(copy);
}

/* Makes the target of a jump within the code, the last operand, an offset. */
static void show_offset(const struct jr_code_piece *code,
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

/* Tells the sink which hits instruction `at` has; those of earlier ones, which
 * were not listed, are passed over. */
static void put_hits(struct reading *reading, size_t at)
{
    const struct jr_code_version *version = reading->version;
    const struct jr_asm_sink *sink = reading->sink;

    for (; sink->hit && reading->next_hit < version->nhits;
         reading->next_hit++) {
        const uint64_t offset =
            version->hits[reading->next_hit].address - version->code.start;
        const size_t of = covering(reading, offset);

        if (of > at)
            return;
        if (of == at)
            sink->hit(sink->data, reading->next_hit);
    }
}

static void put_instructions(struct reading *reading, int offsets)
{
    const struct jr_asm_sink *sink = reading->sink;
    size_t gap = 0;

    for (size_t i = 0; i < reading->count; i++) {
        size_t offset = reading->offsets[i];
        uint64_t address = reading->version->code.start + offset;
        struct jr_instruction instruction = {.size = 0};
        struct jr_frames frames = {NULL, 0};
        struct jr_frame room;

        if (reading->shown[i])
            frames = jr_code_frames(&reading->version->code, address, &room);
        if (!reading->shown[i] || !is_asked_for(reading, &frames)) {
            gap++;
            continue;
        }
        if (gap)
            sink->gap(sink->data, gap);
        gap = 0;
        put_context(reading, &frames);
        jr_disasm_read(reading->disasm, reading->bytes + offset,
                       reading->nbytes - offset, address, &instruction);
        if (offsets)
            show_offset(&reading->version->code, &instruction);
        sink->instruction(sink->data, address, instruction.text,
                          reading->weights[i]);
        put_hits(reading, i);
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
        struct jr_frames frames;
        struct jr_frame room;

        if (hit->address - version->code.start < reading->nbytes)
            continue;
        frames = jr_code_frames(&version->code, hit->address, &room);
        put_context(reading, &frames);
        sink->instruction(sink->data, hit->address,
                          reading->nbytes >= BYTES_MAX
                              ? "(too far into the code to be shown)"
                          : jr_code_is_script(&version->code) ? "(bytecode)"
                          : version->code.module ? "(code not here)"
                                                 : "(code not kept)",
                          hit->weight_ns);
        if (sink->hit)
            sink->hit(sink->data, i);
    }
}

/* Why there are no bytes. */
static enum jr_asm_result find_lack(const struct jr_code_piece *code)
{
    if (jr_code_is_script(code))
        return JR_ASM_SCRIPT;
    if (!code->module)
        return JR_ASM_NO_BYTES;
    if (!jr_code_has_file(code))
        return JR_ASM_NO_FILE;
    return code->start < code->end ? JR_ASM_NO_TEXT : JR_ASM_NO_EXTENT;
}

static enum jr_asm_result read_code(struct reading *reading)
{
    const struct jr_code_piece *code = &reading->version->code;
    const uint16_t machine =
        code->machine ? code->machine : reading->job->machine;
    uint64_t size = code->end - code->start;

    if (size > BYTES_MAX)
        size = BYTES_MAX;
    reading->disasm = jr_disasm_new(machine);
    if (!reading->disasm)
        return JR_ASM_NO_MACHINE;
    reading->bytes = jr_alloc((size_t)size + 1, 1);
    reading->nbytes = jr_code_bytes(code, reading->bytes, (size_t)size);
    return reading->nbytes ? JR_ASM_WHOLE : find_lack(code);
}

enum jr_asm_result jr_asm_list(const struct jr_asm_job *job,
                               const struct jr_asm_limits *limits,
                               const struct jr_asm_sink *sink)
{
    struct reading reading = {
        .version = job->version, .job = job, .sink = sink};
    enum jr_asm_result result = read_code(&reading);

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
