/* SPDX-License-Identifier: MIT
 *
 * Capstone, for the machines that the collector knows.
 * Runs in: analyzer. */
#include "disasm.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

struct jr_disasm {
    csh handle;
    cs_insn *room;
    size_t data_size; /* how far to go on where no instruction begins */
};

static const struct {
    uint16_t machine;
    cs_arch arch;
    cs_mode mode;
    size_t data_size;
} machines[] = {
    {EM_X86_64, CS_ARCH_X86, CS_MODE_64, 1},
    {EM_AARCH64, CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, 4},
};

struct jr_disasm *jr_disasm_new(uint16_t machine)
{
    struct jr_disasm *disasm;

    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        if (machines[i].machine != machine)
            continue;
        disasm = jr_alloc(1, sizeof *disasm);
        disasm->data_size = machines[i].data_size;
        if (cs_open(machines[i].arch, machines[i].mode, &disasm->handle) !=
            CS_ERR_OK) {
            free(disasm);
            return NULL;
        }
        disasm->room = cs_malloc(disasm->handle);
        if (disasm->room)
            return disasm;
        jr_disasm_free(disasm);
        return NULL;
    }
    return NULL;
}

void jr_disasm_free(struct jr_disasm *disasm)
{
    if (!disasm)
        return;
    if (disasm->room)
        cs_free(disasm->room, 1);
    cs_close(&disasm->handle);
    free(disasm);
}

static void read_data(const struct jr_disasm *disasm, const uint8_t *bytes,
                      size_t size, struct jr_instruction *instruction)
{
    size_t count = disasm->data_size < size ? disasm->data_size : size;
    int used = snprintf(instruction->text, sizeof instruction->text, ".byte");

    for (size_t i = 0; i < count; i++)
        used += snprintf(instruction->text + used,
                         sizeof instruction->text - (size_t)used, "%s0x%02x",
                         i ? ", " : " ", bytes[i]);
    instruction->size = count;
}

int jr_disasm_read(struct jr_disasm *disasm, const uint8_t *bytes, size_t size,
                   uint64_t address, struct jr_instruction *instruction)
{
    const uint8_t *at = bytes;
    size_t left = size;

    if (size == 0)
        return -1;
    if (!cs_disasm_iter(disasm->handle, &at, &left, &address, disasm->room) ||
        disasm->room->size == 0 || disasm->room->size > size) {
        read_data(disasm, bytes, size, instruction);
        return 0;
    }
    instruction->size = disasm->room->size;
    snprintf(instruction->text, sizeof instruction->text, "%s%s%s",
             disasm->room->mnemonic, disasm->room->op_str[0] ? " " : "",
             disasm->room->op_str);
    return 0;
}
