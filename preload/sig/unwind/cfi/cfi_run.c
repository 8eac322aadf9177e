/* SPDX-License-Identifier: MIT
 *
 * Running the instructions of a CIE and an FDE up to a pc, and making a rule of
 * the row of the table that they describe there.  Only the registers that walks
 * need are followed.
 * Runs in: handler, any thread. */
#include "cfi_run.h"

#include <errno.h>
#include <string.h>

#include "cfi_expr.h"
#include "cursor.h"

#define REMEMBER_MAX 3U

/* DW_CFA_* (DWARF 5, 7.24, and the extensions of GNU and Arm).  The first
 * three have their operand in the low six bits. */
enum {
    CFA_ADVANCE_LOC = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
    CFA_NOP = 0x00,
    CFA_SET_LOC = 0x01,
    CFA_ADVANCE_LOC1 = 0x02,
    CFA_ADVANCE_LOC2 = 0x03,
    CFA_ADVANCE_LOC4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER_STATE = 0x0a,
    CFA_RESTORE_STATE = 0x0b,
    CFA_DEF_CFA = 0x0c,
    CFA_DEF_CFA_REGISTER = 0x0d,
    CFA_DEF_CFA_OFFSET = 0x0e,
    CFA_DEF_CFA_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_EXTENDED_SF = 0x11,
    CFA_DEF_CFA_SF = 0x12,
    CFA_DEF_CFA_OFFSET_SF = 0x13,
    CFA_VAL_OFFSET = 0x14,
    CFA_VAL_OFFSET_SF = 0x15,
    CFA_VAL_EXPRESSION = 0x16,
    CFA_AARCH64_SIGNED_WITH_PC = 0x2c,
    CFA_AARCH64_SIGNED = 0x2d,
    CFA_GNU_ARGS_SIZE = 0x2e,
    CFA_GNU_NEGATIVE_OFFSET = 0x2f
};

enum how {
    SAME = 0,
    UNDEFINED,
    OFFSET,     /* saved at CFA + value bytes */
    REGISTER,   /* in register `value` */
    EXPRESSION, /* saved where the expression at image offset `value` is */
    VALUE,      /* CFA + value bytes itself */
    COMPUTED    /* the value of the expression at image offset `value` */
};

/* Where a register is found.  Packed: each thread has memory for five rows. */
struct place {
    int32_t value;
    uint8_t how; /* enum how */
} __attribute__((packed));

/* Indices of the registers that are followed: the return address, the frame and
 * stack pointers, then JP_ARCH_SAVED. */
#define RA 0U
#define FP 1U
#define SP 2U
#define SAVED 3U
#define FOLLOWED (SAVED + JP_ARCH_SAVED_COUNT)

struct row {
    int64_t offset;      /* the CFA is register `base` + offset, */
    uint32_t base;       /* or */
    uint32_t expression; /* if not 0, the expression at this image offset */
    struct place places[FOLLOWED];
};

struct machine {
    const struct jp_cfi_image *image;
    const struct jp_cfi_fde *fde;
    struct jp_cursor cursor;
    const uint8_t *start; /* of the instructions, at image offset `origin` */
    uint64_t origin;
    uint64_t location; /* the row holds from this code address on */
    uint32_t remembered;
    struct row row, initial, kept[REMEMBER_MAX];
    struct jp_cfi_fde found; /* where `fde` is, if it was looked for */
};

_Static_assert(sizeof(struct machine) <= JP_CFI_ROWS * 8, "callers have room");

static const uint8_t saved[JP_ARCH_SAVED_COUNT] = JP_ARCH_SAVED;

/* A register's index in a row; FOLLOWED: it is not followed. */
static uint32_t index_sig(uint64_t number)
{
    if (number == JP_ARCH_RA)
        return RA;
    if (number == JP_ARCH_FP)
        return FP;
    if (number == JP_ARCH_SP)
        return SP;
    for (uint32_t i = 0; i < JP_ARCH_SAVED_COUNT; i++) {
        if (saved[i] == number)
            return SAVED + i;
    }
    return FOLLOWED;
}

static void set_sig(struct machine *m, uint64_t number, enum how how,
                    int64_t value)
{
    uint32_t index = index_sig(number);
    if (index == FOLLOWED)
        return;
    if (value < INT32_MIN || value > INT32_MAX)
        m->cursor.bad = 1;
    m->row.places[index] = (struct place){(int32_t)value, (uint8_t)how};
}

/* Converts an offset in units of the CIE's factor to bytes. */
static int64_t factored_sig(struct machine *m, int64_t value)
{
    if (value < -(1 << 30) || value > 1 << 30)
        m->cursor.bad = 1;
    return m->cursor.bad ? 0 : value * m->fde->data_factor;
}

static int64_t unsigned_sig(struct machine *m)
{
    uint64_t value = jp_cursor_uleb_sig(&m->cursor);
    if (value > INT32_MAX)
        m->cursor.bad = 1;
    return (int64_t)(value & INT32_MAX);
}

static void restore_sig(struct machine *m, uint64_t number)
{
    uint32_t index = index_sig(number);
    if (index != FOLLOWED)
        m->row.places[index] = m->initial.places[index];
}

/* Skips a block.  Returns the image offset of its length, with which it
 * begins. */
static int64_t block_sig(struct machine *m)
{
    uint64_t offset = m->origin + (uint64_t)(m->cursor.at - m->start);
    jp_cursor_skip_sig(&m->cursor, jp_cursor_uleb_sig(&m->cursor));
    if (offset > INT32_MAX)
        m->cursor.bad = 1;
    return (int64_t)(offset & INT32_MAX);
}

static void define_sig(struct machine *m, uint64_t base, int64_t offset)
{
    /* An offset may be set before a register is, if an expression follows. */
    if (base >= JP_ARCH_REGISTERS && base != m->row.base)
        m->cursor.bad = 1;
    m->row.base = (uint32_t)base;
    m->row.offset = offset;
    m->row.expression = 0;
}

/* Carries out `op` if it says where the CFA is.  Returns whether it does. */
static int cfa_sig(struct machine *m, uint8_t op)
{
    struct jp_cursor *c = &m->cursor;
    uint64_t base;
    switch (op) {
    case CFA_DEF_CFA:
        base = jp_cursor_uleb_sig(c);
        define_sig(m, base, unsigned_sig(m));
        return 1;
    case CFA_DEF_CFA_SF:
        base = jp_cursor_uleb_sig(c);
        define_sig(m, base, factored_sig(m, jp_cursor_sleb_sig(c)));
        return 1;
    case CFA_DEF_CFA_REGISTER:
        define_sig(m, jp_cursor_uleb_sig(c), m->row.offset);
        return 1;
    case CFA_DEF_CFA_OFFSET:
        define_sig(m, m->row.base, unsigned_sig(m));
        return 1;
    case CFA_DEF_CFA_OFFSET_SF:
        define_sig(m, m->row.base, factored_sig(m, jp_cursor_sleb_sig(c)));
        return 1;
    case CFA_DEF_CFA_EXPRESSION:
        m->row.expression = (uint32_t)block_sig(m);
        return 1;
    default:
        return 0;
    }
}

/* Carries out `op` if it says where a register is.  Returns whether it does. */
static int register_sig(struct machine *m, uint8_t op)
{
    struct jp_cursor *c = &m->cursor;
    if (op < CFA_OFFSET_EXTENDED ||
        (op > CFA_REGISTER && op != CFA_EXPRESSION &&
         op != CFA_OFFSET_EXTENDED_SF && op != CFA_VAL_OFFSET &&
         op != CFA_VAL_OFFSET_SF && op != CFA_VAL_EXPRESSION &&
         op != CFA_GNU_NEGATIVE_OFFSET))
        return 0;
    uint64_t number = jp_cursor_uleb_sig(c);
    if (op == CFA_OFFSET_EXTENDED)
        set_sig(m, number, OFFSET, factored_sig(m, unsigned_sig(m)));
    else if (op == CFA_OFFSET_EXTENDED_SF)
        set_sig(m, number, OFFSET, factored_sig(m, jp_cursor_sleb_sig(c)));
    else if (op == CFA_GNU_NEGATIVE_OFFSET)
        set_sig(m, number, OFFSET, -factored_sig(m, unsigned_sig(m)));
    else if (op == CFA_RESTORE_EXTENDED)
        restore_sig(m, number);
    else if (op == CFA_UNDEFINED)
        set_sig(m, number, UNDEFINED, 0);
    else if (op == CFA_SAME_VALUE)
        set_sig(m, number, SAME, 0);
    else if (op == CFA_REGISTER)
        set_sig(m, number, REGISTER, unsigned_sig(m));
    else if (op == CFA_EXPRESSION)
        set_sig(m, number, EXPRESSION, block_sig(m));
    else if (op == CFA_VAL_EXPRESSION)
        set_sig(m, number, COMPUTED, block_sig(m));
    else if (op == CFA_VAL_OFFSET)
        set_sig(m, number, VALUE, factored_sig(m, unsigned_sig(m)));
    else
        set_sig(m, number, VALUE, factored_sig(m, jp_cursor_sleb_sig(c)));
    return 1;
}

static void save_or_restore_row_sig(struct machine *m, uint8_t op)
{
    if (op == CFA_REMEMBER_STATE && m->remembered < REMEMBER_MAX)
        m->kept[m->remembered++] = m->row;
    else if (op == CFA_RESTORE_STATE && m->remembered > 0)
        m->row = m->kept[--m->remembered];
    else
        m->cursor.bad = 1;
}

static void other_sig(struct machine *m, uint8_t op)
{
    if (op == CFA_REMEMBER_STATE || op == CFA_RESTORE_STATE)
        save_or_restore_row_sig(m, op);
    else if (op == CFA_GNU_ARGS_SIZE)
        jp_cursor_uleb_sig(&m->cursor);
    else if (op != CFA_NOP && op != CFA_AARCH64_SIGNED &&
             op != CFA_AARCH64_SIGNED_WITH_PC)
        m->cursor.bad = 1;
}

/* Moves the location if `op` begins a new row.  Returns whether it does. */
static int advance_sig(struct machine *m, uint8_t op)
{
    struct jp_cursor *c = &m->cursor;
    const struct jp_cfi_image *image = m->image;
    uint64_t by;
    if ((op & 0xc0) == CFA_ADVANCE_LOC) {
        by = op & 0x3f;
    } else if (op >= CFA_ADVANCE_LOC1 && op <= CFA_ADVANCE_LOC4) {
        by = jp_cursor_fixed_sig(c, 1U << (op - CFA_ADVANCE_LOC1));
    } else if (op == CFA_SET_LOC) {
        uint64_t offset = m->origin + (uint64_t)(c->at - m->start);
        m->location =
            jp_cursor_encoded_sig(c, m->fde->encoding, image->address + offset,
                                  image->address + image->header);
        return 1;
    } else {
        return 0;
    }
    m->location += by * m->fde->code_factor;
    return 1;
}

/* Runs the instructions at an offset of the image until the row for pc is
 * complete.  Returns 0, -EAGAIN or -EINVAL. */
static int execute_sig(struct machine *m, uint64_t offset, uint64_t size,
                       uint64_t pc)
{
    m->start = jp_cfi_bytes_sig(m->image, offset, size);
    if (m->start == NULL)
        return -EAGAIN;
    m->origin = offset;
    m->cursor = (struct jp_cursor){m->start, m->start + size, 0};
    struct jp_cursor *c = &m->cursor;
    while (c->at < c->end && !c->bad) {
        uint8_t op = (uint8_t)jp_cursor_fixed_sig(c, 1);
        if (advance_sig(m, op)) {
            if (m->location > pc)
                break;
        } else if ((op & 0xc0) == CFA_OFFSET) {
            set_sig(m, op & 0x3f, OFFSET, factored_sig(m, unsigned_sig(m)));
        } else if ((op & 0xc0) == CFA_RESTORE) {
            restore_sig(m, op & 0x3f);
        } else if (!cfa_sig(m, op) && !register_sig(m, op)) {
            other_sig(m, op);
        }
    }
    return c->bad ? -EINVAL : 0;
}

/* Evaluates the expression whose length is at an offset of the image.  Returns
 * 0, -EAGAIN or -EINVAL. */
static int evaluate_sig(const struct machine *m, uint32_t offset,
                        struct jp_expr_input *input,
                        struct jp_expr_value *value)
{
    const struct jp_cfi_image *image = m->image;
    uint64_t room = image->size - offset;
    const uint8_t *bytes =
        jp_cfi_bytes_sig(image, offset, room < 10 ? room : 10);
    if (bytes == NULL)
        return -EAGAIN;
    struct jp_cursor c = {bytes, bytes + (room < 10 ? room : 10), 0};
    uint64_t size = jp_cursor_uleb_sig(&c);
    offset += (uint32_t)(c.at - bytes);
    bytes = jp_cfi_bytes_sig(image, offset, size);
    if (c.bad || bytes == NULL)
        return -EINVAL;
    input->place = image->address + offset;
    return jp_expr_sig(bytes, size, input, value);
}

static int fits_sig(int64_t value, int64_t limit)
{
    return value >= -limit && value < limit;
}

/* Sets the rule's CFA.  Returns 0 when a rule cannot say it. */
static int rule_cfa_sig(const struct machine *m, uint64_t pc,
                        struct jp_cfi_rule *rule)
{
    struct jp_expr_value value = {m->row.offset, 0, JP_EXPR_REGISTER,
                                  (uint8_t)m->row.base};
    struct jp_expr_input input = {.pc = pc};
    if (m->row.expression != 0 &&
        evaluate_sig(m, m->row.expression, &input, &value) != 0)
        return 0;
    rule->base = value.base;
    if (value.kind == JP_EXPR_REGISTER) {
        rule->kind = JP_CFI_REGISTER;
        rule->offset = (int32_t)value.offset;
        return fits_sig(value.offset, INT32_MAX);
    }
    rule->kind = JP_CFI_MEMORY;
    rule->offset = JP_CFI_PACK(value.offset, value.add);
    return value.kind == JP_EXPR_MEMORY && fits_sig(value.offset, 32768) &&
           fits_sig(value.add, 32768);
}

/* Where a register is saved, in words from the CFA or (`based`) from the frame
 * pointer.  Returns 1, 0 when it is unchanged, -1 when that cannot be said. */
static int saved_at_sig(const struct machine *m, uint32_t index, uint64_t pc,
                        int64_t *words, int *based)
{
    const struct place *place = &m->row.places[index];
    struct jp_expr_value value = {place->value, 0, JP_EXPR_REGISTER,
                                  JP_EXPR_CFA};
    if (place->how == SAME || place->how == UNDEFINED)
        return 0;
    struct jp_expr_input input = {.pc = pc, .with_cfa = 1};
    if (place->how == EXPRESSION &&
        evaluate_sig(m, (uint32_t)place->value, &input, &value) != 0)
        return -1;
    if ((place->how != EXPRESSION && place->how != OFFSET) ||
        value.kind != JP_EXPR_REGISTER || value.offset % 8 != 0 ||
        (value.base != JP_EXPR_CFA && value.base != JP_ARCH_FP))
        return -1;
    *words = value.offset / 8;
    *based = value.base == JP_ARCH_FP;
    return 1;
}

/* Sets the rule's return address.  Returns 0 when a rule cannot say it. */
static int rule_ra_sig(const struct machine *m, uint64_t pc,
                       struct jp_cfi_rule *rule)
{
    const struct place *place = &m->row.places[RA];
    int64_t words;
    int based;
    if (place->how == UNDEFINED) {
        rule->kind = JP_CFI_ROOT;
        return 1;
    }
    if (place->how == REGISTER || place->how == SAME) {
        int32_t number =
            place->how == SAME ? (int32_t)JP_ARCH_RA : place->value;
        rule->flags |= JP_CFI_RA_REGISTER;
        rule->ra = (int16_t)number;
        return number >= 0 && number < (int32_t)JP_ARCH_REGISTERS &&
               number != (int32_t)JP_ARCH_PC;
    }
    if (saved_at_sig(m, RA, pc, &words, &based) != 1 || based ||
        !fits_sig(words, 32768))
        return 0;
    rule->ra = (int16_t)words;
    return 1;
}

/* Makes a rule of kind JUMP, for code whose caller's sp, fp and return address
 * are all in registers.  Returns whether the row is such. */
static int rule_jump_sig(const struct machine *m, struct jp_cfi_rule *rule)
{
    const struct place *sp = &m->row.places[SP], *fp = &m->row.places[FP];
    const struct place *ra = &m->row.places[RA];
    const int32_t limit = (int32_t)JP_ARCH_REGISTERS;
    if (sp->how != REGISTER || fp->how != REGISTER || ra->how != REGISTER ||
        sp->value >= limit || fp->value >= limit || ra->value >= limit)
        return 0;
    rule->kind = JP_CFI_JUMP;
    rule->flags = 0;
    rule->base = (uint8_t)sp->value;
    rule->fp = (int16_t)fp->value;
    rule->ra = (int16_t)ra->value;
    return 1;
}

/* Sets the rule's preserved registers.  A rule has one base for all of them,
 * and leaves out those with another; for registers other than the frame
 * pointer, that matters only to the few frames whose CFA depends on them.
 * Returns 0 when a rule cannot say where the frame pointer is. */
static int rule_saved_sig(const struct machine *m, uint64_t pc,
                          struct jp_cfi_rule *rule)
{
    int64_t words = 0;
    int based = 0, base = -1;
    int found = saved_at_sig(m, FP, pc, &words, &based);
    if (found < 0 || !fits_sig(words, 32768))
        return 0;
    if (found) {
        rule->flags |= JP_CFI_FP_SAVED;
        rule->fp = (int16_t)words;
        base = based;
    }
    for (uint32_t i = 0; i < JP_ARCH_SAVED_COUNT; i++) {
        if (saved_at_sig(m, SAVED + i, pc, &words, &based) != 1 ||
            !fits_sig(words, 128))
            continue;
        if (base < 0)
            base = based;
        if (based != base || words == 0)
            continue;
        rule->saved[i] = (int8_t)words;
        rule->flags |= JP_CFI_HAS_SAVED;
    }
    if (base == 1)
        rule->flags |= JP_CFI_FP_BASED;
    return 1;
}

/* On machines where calls push nothing: if a linker's stub has put the return
 * address above the CFA, the caller's stack begins above that, and the CFA is
 * raised to there. */
static void raise_cfa_sig(struct jp_cfi_rule *rule)
{
    const int16_t words = JP_ARCH_STUB_WORDS;
    if (rule->kind != JP_CFI_REGISTER || rule->ra != words - 1 ||
        (rule->flags & (JP_CFI_RA_REGISTER | JP_CFI_FP_BASED)) != 0)
        return;
    rule->offset += words * 8;
    rule->ra = (int16_t)(rule->ra - words);
    rule->fp = (int16_t)(rule->fp - words);
    for (uint32_t i = 0; i < JP_ARCH_SAVED_COUNT; i++) {
        if (rule->saved[i] != 0)
            rule->saved[i] = (int8_t)(rule->saved[i] - words);
    }
}

/* Runs the instructions of a CIE and its FDE.  Returns 0, -EAGAIN or
 * -EINVAL. */
static int start_sig(struct machine *m, const struct jp_cfi_image *image,
                     const struct jp_cfi_fde *fde, uint64_t pc)
{
    m->image = image;
    m->fde = fde;
    m->location = fde->begin;
    m->remembered = 0;
    memset(&m->row, 0, sizeof(m->row));
    m->row.base = JP_ARCH_REGISTERS;
    m->initial = m->row;
    int error = execute_sig(m, fde->initial, fde->initial_size, UINT64_MAX);
    m->initial = m->row;
    return error == 0 ? execute_sig(m, fde->program, fde->program_size, pc)
                      : error;
}

int jp_cfi_run_sig(const struct jp_cfi_image *image,
                   const struct jp_cfi_fde *fde, uint64_t pc, uint64_t *rows,
                   struct jp_cfi_rule *rule)
{
    struct machine *m = (struct machine *)rows;
    memset(rule, 0, sizeof(*rule));
    int error = start_sig(m, image, fde, pc);
    if (error == -EAGAIN)
        return error;
    if (error == 0 && rule_jump_sig(m, rule))
        return 0;
    if (error != 0 || !rule_ra_sig(m, pc, rule) ||
        (rule->kind != JP_CFI_ROOT &&
         (!rule_cfa_sig(m, pc, rule) || rule->base >= JP_ARCH_REGISTERS ||
          !rule_saved_sig(m, pc, rule)))) {
        memset(rule, 0, sizeof(*rule));
        rule->kind = error == 0 ? JP_CFI_COMPUTED : JP_CFI_BAD;
    } else if (m->row.places[SP].how >= EXPRESSION) {
        rule->kind = JP_CFI_COMPUTED; /* sp is not the CFA */
    } else if (JP_ARCH_STUB_WORDS != 0) {
        raise_cfa_sig(rule);
    }
    if (fde->is_signal)
        rule->flags |= JP_CFI_EXACT;
    return 0;
}

/* Finds the caller's value of a register; `own`, the frame's value, when the
 * row does not mention it.  Returns 0 when it cannot. */
static int value_sig(const struct machine *m, uint32_t index, uint64_t own,
                     struct jp_expr_input *input, uint64_t *result)
{
    const struct place *place = &m->row.places[index];
    struct jp_expr_value value = {.offset = 0};
    const uint64_t offset = (uint64_t)(int64_t)place->value;
    *result = own;
    switch (place->how) {
    case OFFSET:
        return input->read_sig(input->data, input->cfa + offset, result);
    case VALUE:
        *result = input->cfa + offset;
        return 1;
    case REGISTER:
        if (place->value < 0 || place->value >= (int32_t)JP_ARCH_REGISTERS)
            return 0;
        *result = input->registers[place->value];
        return 1;
    case EXPRESSION:
    case COMPUTED:
        if (evaluate_sig(m, (uint32_t)place->value, input, &value) != 0)
            return 0;
        *result = (uint64_t)value.offset;
        return place->how == COMPUTED ||
               input->read_sig(input->data, (uint64_t)value.offset, result);
    default: /* SAME, UNDEFINED */
        return 1;
    }
}

int jp_cfi_compute_sig(const struct jp_cfi_image *image, uint64_t pc,
                       uint64_t *rows, struct jp_cfi_values *values)
{
    struct machine *m = (struct machine *)rows;
    struct jp_cfi_fde *fde = &m->found;
    const uint64_t *registers = values->registers;
    struct jp_expr_value cfa = {.offset = 0};
    struct jp_expr_input input = {.pc = pc,
                                  .registers = registers,
                                  .read_sig = values->read_sig,
                                  .data = values->data};
    int error = jp_cfi_find_sig(image, pc, fde);
    if (error == 0)
        error = start_sig(m, image, fde, pc);
    if (error != 0)
        return error == -EAGAIN ? error : -EINVAL;
    if (m->row.expression == 0 && m->row.base < JP_ARCH_REGISTERS)
        cfa.offset = (int64_t)registers[m->row.base] + m->row.offset;
    else if (m->row.expression == 0 ||
             evaluate_sig(m, m->row.expression, &input, &cfa) != 0)
        return -EINVAL;
    input.cfa = (uint64_t)cfa.offset;
    input.with_cfa = 1;
    values->is_root = m->row.places[RA].how == UNDEFINED;
    values->exact = fde->is_signal;
    int good = value_sig(m, RA, registers[JP_ARCH_RA], &input, &values->ra) &&
               value_sig(m, FP, registers[JP_ARCH_FP], &input, &values->fp) &&
               value_sig(m, SP, input.cfa, &input, &values->sp);
    for (uint32_t i = 0; good && i < JP_ARCH_SAVED_COUNT; i++)
        good = value_sig(m, SAVED + i, registers[saved[i]], &input,
                         &values->saved[i]);
    return good ? 0 : -EINVAL;
}

int jp_cfi_rule_sig(const struct jp_cfi_image *image, uint64_t pc,
                    uint64_t *rows, struct jp_cfi_rule *rule)
{
    struct jp_cfi_fde *fde = &((struct machine *)rows)->found;
    memset(rule, 0, sizeof(*rule));
    int error = jp_cfi_find_sig(image, pc, fde);
    if (error == -EAGAIN)
        return error;
    if (error == 0)
        return jp_cfi_run_sig(image, fde, pc, rows, rule);
    rule->kind = error == -EINVAL ? JP_CFI_BAD : JP_CFI_NONE;
    return 0;
}
