/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: call-frame information, from the header's table to the rule.
 * An input is struct head, then the bytes from .eh_frame_hdr on
 * (tests/tools/cfiseeds.py makes some of real libraries).
 * Runs in: fuzz tests. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../preload/sig/unwind/cfi/cfi_run.h"
#include "../../preload/sig/unwind/cfi/cfi_expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ADDRESS 0x10000000ULL /* of the image; cfiseeds.py has it too */
#define PCS 6U

struct head {
    uint32_t header;     /* offset of .eh_frame_hdr in the image */
    uint8_t pair[PCS];   /* which entries of the table are looked up... */
    uint8_t offset[PCS]; /* ...and how far behind their begin */
};

static void check_rule(const struct jp_cfi_rule *rule)
{
    const int usable =
        rule->kind == JP_CFI_REGISTER || rule->kind == JP_CFI_MEMORY;
    if (rule->kind > JP_CFI_BAD)
        abort();
    if (usable && rule->base >= JP_ARCH_REGISTERS)
        abort();
    if (usable && (rule->flags & JP_CFI_RA_REGISTER) != 0 &&
        (rule->ra < 0 || rule->ra >= (int)JP_ARCH_REGISTERS))
        abort();
    if (rule->kind == JP_CFI_JUMP &&
        (rule->base >= JP_ARCH_REGISTERS || rule->ra < 0 || rule->fp < 0 ||
         rule->ra >= (int)JP_ARCH_REGISTERS ||
         rule->fp >= (int)JP_ARCH_REGISTERS))
        abort();
}

/* Where the table, if it is one of pairs, says that an entry begins. */
static uint64_t begin_of(const struct jp_cfi_image *image, unsigned pair)
{
    const uint64_t at = image->header + 12 + pair * 8ULL;
    int32_t distance = 0;
    if (at + 4 <= image->size)
        memcpy(&distance, image->data + at, 4);
    return ADDRESS + image->header + (uint64_t)(int64_t)distance;
}

static void try_pc(const struct jp_cfi_image *image, uint64_t pc)
{
    struct jp_cfi_rule rule, again;
    uint64_t rows[JP_CFI_ROWS];
    struct jp_cfi_fde fde;
    int error = jp_cfi_find_sig(image, pc, &fde);
    if (error == 0 && (pc < fde.begin || pc >= fde.end))
        abort();
    /* Nothing is to be waited for: all bytes are there. */
    if (jp_cfi_rule_sig(image, pc, rows, &rule) != 0)
        return;
    check_rule(&rule);
    if (jp_cfi_rule_sig(image, pc, rows, &again) != 0 ||
        memcmp(&rule, &again, sizeof(rule)) != 0)
        abort();
}

/* Memory says its own address; some of it is not there. */
static int read_word(void *data, uint64_t address, uint64_t *word)
{
    *word = address ^ *(const uint64_t *)data;
    return address % 16 != 3;
}

/* The bytes as an expression, without registers and with. */
static void try_expression(const uint8_t *bytes, size_t size)
{
    static uint64_t registers[JP_ARCH_REGISTERS] = {1, ADDRESS, 3, UINT64_MAX};
    struct jp_expr_value value;
    for (uint32_t way = 0; way < 4; way++) {
        struct jp_expr_input input = {.pc = ADDRESS,
                                      .with_cfa = way % 2,
                                      .registers = way / 2 ? registers : NULL,
                                      .read_sig = read_word,
                                      .data = registers};
        if (jp_expr_sig(bytes, size, &input, &value) == 0 &&
            value.kind > (way / 2 ? JP_EXPR_CONSTANT : JP_EXPR_MEMORY))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct head head;
    if (size <= sizeof(head))
        return 0;
    memcpy(&head, data, sizeof(head));
    size -= sizeof(head);
    uint8_t *bytes = malloc(size); /* read-only to the parser, by contract */
    if (bytes == NULL)
        abort();
    memcpy(bytes, data + sizeof(head), size);
    const struct jp_cfi_image image = {
        .address = ADDRESS, .size = size, .header = head.header, .data = bytes};
    for (unsigned i = 0; i < PCS; i++)
        try_pc(&image, begin_of(&image, head.pair[i]) + head.offset[i]);
    if (head.header < size)
        try_expression(bytes + head.header, size - head.header);
    free(bytes);
    return 0;
}
