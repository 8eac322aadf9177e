/* SPDX-License-Identifier: MIT
 *
 * Runs the programs of line tables.  What they are in is untrusted: each read
 * looks at the end, and a row is at least one byte of the program.
 * Runs in: analyzer. */
#include "line_rows.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/search.h"
#include "bytes.h"

#define NEAR_MAX 64 /* sequences that may overlap one place */

/* The state of a program that runs, and the sequence that it is in. */
struct run {
    const struct jr_line_program *program;
    const struct jr_live *live;
    struct jr_line_rows *rows;
    uint64_t address;
    uint32_t file, line, column;
    uint8_t is_open;      /* a row of a sequence was met; */
    uint8_t is_dead;      /* its code is not in the file; */
    uint8_t is_moved;     /* the program gave an address since the last row */
    uint64_t start, last; /* addresses of its first and its last row */
    size_t first;         /* its first row that is kept */
};

static void reset(struct run *run)
{
    run->address = 0;
    run->file = run->line = 1;
    run->column = 0;
    run->is_open = run->is_moved = 0;
}

static void begin(struct run *run)
{
    run->is_open = 1;
    run->is_dead = !jr_live_has(run->live, run->address);
    run->start = run->address;
    run->first = run->rows->count;
}

/* Ends the sequence at `end`. */
static void finish(struct run *run, uint64_t end)
{
    struct jr_line_rows *rows = run->rows;

    if (run->is_open && !run->is_dead && end > run->start)
        *JR_PUSH(rows->sequences, rows->nsequences, rows->sequences_room) =
            (struct jr_line_sequence){run->start, end, run->first,
                                      rows->count - run->first};
    else
        rows->count = run->is_open ? run->first : rows->count;
    run->is_open = 0;
}

/* Begins a sequence where the next row does not belong to the last one's. */
static void follow(struct run *run)
{
    const int is_back = run->is_open && run->address < run->last;
    const int is_far =
        run->is_open && !run->is_dead && run->address - run->start > UINT32_MAX;

    if (is_back || is_far)
        finish(run, run->last);
    if (!run->is_open)
        begin(run);
    /* Beyond the highest address is no code. */
    if (is_back && !run->is_moved)
        run->is_dead = 1;
    run->is_moved = 0;
    run->last = run->address;
}

static void add_row(struct run *run)
{
    struct jr_line_rows *rows = run->rows;
    struct jr_line_row row = {0, run->file, run->line, run->column}, *last;

    follow(run);
    if (run->is_dead)
        return;
    row.offset = (uint32_t)(run->address - run->start);
    last = rows->count > run->first ? &rows->items[rows->count - 1] : NULL;
    /* Of rows of one address the last one counts. */
    if (last && last->offset == row.offset)
        *last = row;
    else if (!last || last->file != row.file || last->line != row.line ||
             last->column != row.column)
        *JR_PUSH(rows->items, rows->count, rows->room) = row;
}

static void advance(struct run *run, uint64_t steps)
{
    run->address += steps * run->program->step;
}

static void run_special(struct run *run, uint8_t opcode)
{
    const struct jr_line_program *program = run->program;
    const unsigned number = opcode - program->first_special;

    advance(run, number / program->line_range);
    run->line +=
        (uint32_t)(program->line_base + (int)(number % program->line_range));
    add_row(run);
}

/* An opcode of the second kind, at the length behind its zero.  Returns where
 * it ends, or NULL. */
static const uint8_t *run_extended(struct run *run, const uint8_t *at)
{
    const uint8_t *end = run->program->end;
    uint64_t size;

    at = jr_bytes_leb(at, end, &size);
    if (!at || size == 0 || size > (uint64_t)(end - at))
        return NULL;
    switch (*at) {
    case DW_LNE_end_sequence:
        finish(run, run->address);
        reset(run);
        break;
    case DW_LNE_set_address:
        if (size - 1 != 4 && size - 1 != 8)
            return NULL;
        run->address = jr_bytes_number(at + 1, size - 1);
        run->is_moved = 1;
        break;
    case DW_LNE_define_file:
        return NULL;
    default:
        break;
    }
    return at + size;
}

/* An LEB128 number's bits as those of a signed one (DWARF 5, 7.6), as far as a
 * line has them. */
static uint32_t signed_bits(const uint8_t *from, const uint8_t *end,
                            uint64_t value)
{
    const size_t bits = 7 * (size_t)(end - from);

    if (bits < 64 && (end[-1] & 0x40))
        value |= ~(uint64_t)0 << bits;
    return (uint32_t)value;
}

/* An opcode of the first kind, behind it.  Returns where it ends, or NULL. */
static const uint8_t *run_standard(struct run *run, uint8_t opcode,
                                   const uint8_t *at)
{
    const struct jr_line_program *program = run->program;
    const uint8_t *from = at;
    uint64_t value = 0;

    if (opcode == DW_LNS_fixed_advance_pc) {
        if (program->end - at < 2)
            return NULL;
        run->address += jr_bytes_number(at, 2);
        return at + 2;
    }
    for (unsigned i = 0; at && i < program->lengths[opcode - 1]; i++)
        at = jr_bytes_leb(at, program->end, &value);
    if (!at)
        return NULL;
    switch (opcode) {
    case DW_LNS_copy:
        add_row(run);
        break;
    case DW_LNS_advance_pc:
        advance(run, value);
        break;
    case DW_LNS_advance_line:
        run->line += signed_bits(from, at, value);
        break;
    case DW_LNS_set_file:
        run->file = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
        break;
    case DW_LNS_set_column:
        run->column = value > UINT32_MAX ? 0 : (uint32_t)value;
        break;
    case DW_LNS_const_add_pc:
        advance(run,
                (uint64_t)(255 - program->first_special) / program->line_range);
        break;
    default:
        break;
    }
    return at;
}

/* Whether the opcodes that are known have as many numbers as is known. */
static int is_usual(const struct jr_line_program *program)
{
    static const uint8_t usual[] = {
        [DW_LNS_advance_pc] = 1,       [DW_LNS_advance_line] = 1,
        [DW_LNS_set_file] = 1,         [DW_LNS_set_column] = 1,
        [DW_LNS_fixed_advance_pc] = 1, [DW_LNS_set_isa] = 1};

    for (unsigned i = 1; i < sizeof usual && i < program->first_special; i++)
        if (program->lengths[i - 1] != usual[i])
            return 0;
    return program->first_special > 0 && program->line_range > 0;
}

static int by_start(const void *one, const void *other)
{
    const struct jr_line_sequence *a = one, *b = other;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    /* The first one is found first, as lookups go backwards: of functions that
     * a linker made one (--icf), it keeps the first one's code and name. */
    return a->first > b->first ? -1 : a->first < b->first;
}

int jr_line_rows_read(struct jr_line_rows *rows,
                      const struct jr_line_program *program,
                      const struct jr_live *live)
{
    struct run run = {.program = program, .live = live, .rows = rows};
    const uint8_t *at = program->at;

    if (!is_usual(program))
        return -1;
    reset(&run);
    while (at && at < program->end) {
        const uint8_t opcode = *at++;

        if (opcode >= program->first_special)
            run_special(&run, opcode);
        else if (opcode == 0)
            at = run_extended(&run, at);
        else
            at = run_standard(&run, opcode, at);
    }
    finish(&run, run.last);
    if (rows->nsequences)
        qsort(rows->sequences, rows->nsequences, sizeof *rows->sequences,
              by_start);
    return at ? 0 : -1;
}

void jr_line_rows_free(struct jr_line_rows *rows)
{
    free(rows->items);
    free(rows->sequences);
    *rows = (struct jr_line_rows){0};
}

/* The row of a place within a sequence. */
static const struct jr_line_row *
find_in(const struct jr_line_rows *rows,
        const struct jr_line_sequence *sequence, uint32_t offset)
{
    const size_t from = JR_FIRST_NOT(
        sequence->count, i, rows->items[sequence->first + i].offset <= offset);

    return from ? &rows->items[sequence->first + from - 1] : NULL;
}

const struct jr_line_row *jr_line_rows_find(const struct jr_line_rows *rows,
                                            uint64_t address)
{
    size_t from =
        JR_FIRST_NOT(rows->nsequences, i, rows->sequences[i].start <= address);

    for (size_t i = 0; i < NEAR_MAX && from > 0; i++) {
        const struct jr_line_sequence *sequence = &rows->sequences[--from];

        if (sequence->end > address && address - sequence->start <= UINT32_MAX)
            return find_in(rows, sequence,
                           (uint32_t)(address - sequence->start));
    }
    return NULL;
}
