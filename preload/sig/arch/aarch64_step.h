/* SPDX-License-Identifier: MIT
 *
 * aarch64: what an instruction does to the stack pointer, the frame pointer
 * x29 and the link register x30.  (Arm ARM, C4.1: the tables of encodings that
 * each part names.)
 * Runs in: handler. */
#ifndef JP_ARCH_AARCH64_STEP_H
#define JP_ARCH_AARCH64_STEP_H

#include <stdint.h>

#include "step.h"

/* How many bytes the decoder reads. */
#define JP_ARCH_STEP_BYTES 4U

/* The fields that most encodings share: the register that is written or
 * moved, the register that an address begins with, and the second one of a
 * pair.  As an address, 31 stands for the stack pointer. */
#define JP_STEP_RD(word) ((word) & 31)
#define JP_STEP_RN(word) ((word) >> 5 & 31)
#define JP_STEP_RT2(word) ((word) >> 10 & 31)

/* The signed number of `bits` bits that begins at bit `from`. */
static inline int32_t jp_arch_number_sig(uint32_t word, unsigned from,
                                         unsigned bits)
{
    const uint32_t mask = (1U << bits) - 1, sign = 1U << (bits - 1);
    return (int32_t)((word >> from & mask) ^ sign) - (int32_t)sign;
}

/* Branches (C4.1.93): how far one leads behind its own end, by the number of
 * `bits` bits at bit `from`. */
static inline void jp_arch_lead_sig(uint32_t word, uint8_t kind, unsigned from,
                                    unsigned bits, struct jp_arch_step *step)
{
    step->kind = kind;
    step->value = jp_arch_number_sig(word, from, bits) * 4 - 4;
}

/* Branches to a register: br, blr, ret, and those that check a signature. */
static inline void jp_arch_register_sig(uint32_t word,
                                        struct jp_arch_step *step)
{
    const unsigned operation = word >> 21 & 15;
    if (operation == 1 || operation == 9)
        step->kind = JP_STEP_CALL;
    else if (operation == 0 || operation == 8)
        step->kind = JP_STEP_OUT;
    else if (operation == 2)
        step->kind = JP_STEP_RN(word) == 30 || JP_STEP_RN(word) == 31
                         ? JP_STEP_RETURN
                         : JP_STEP_OUT;
    else
        step->kind = JP_STEP_END;
}

/* Branches, exceptions and system instructions.  Returns 0 when the word is
 * none of them. */
static inline int jp_arch_branch_sig(uint32_t word, struct jp_arch_step *step)
{
    if ((word & 0x7c000000) == 0x14000000) /* b, bl */
        jp_arch_lead_sig(word, word >> 31 ? JP_STEP_CALL : JP_STEP_JUMP, 0, 26,
                         step);
    else if ((word & 0xff000000) == 0x54000000 || /* b.cond */
             (word & 0x7e000000) == 0x34000000)   /* cbz, cbnz */
        jp_arch_lead_sig(word, JP_STEP_BRANCH, 5, 19, step);
    else if ((word & 0x7e000000) == 0x36000000) /* tbz, tbnz */
        jp_arch_lead_sig(word, JP_STEP_BRANCH, 5, 14, step);
    else if ((word & 0xfe000000) == 0xd6000000)
        jp_arch_register_sig(word, step);
    else if ((word & 0xff000000) == 0xd4000000) /* svc, and what traps */
        step->kind =
            (word & 0xffe0001f) == 0xd4000001 ? JP_STEP_PLAIN : JP_STEP_END;
    else if (word >> 16 == 0) /* udf */
        step->kind = JP_STEP_END;
    else
        return 0;
    return 1;
}

/* Arithmetic (C4.1.92, C4.1.95).  The register 31 is the stack pointer where
 * an immediate or an extended register is added, or bits are masked, and no
 * flags are set. */
static inline void jp_arch_sum_sig(uint32_t word, struct jp_arch_step *step)
{
    const unsigned to = JP_STEP_RD(word), from = JP_STEP_RN(word);
    const int sets_flags = (word & 0x20000000) != 0;
    if ((word & 0x1f800000) == 0x11000000) { /* add, sub: immediate */
        int32_t value = (int32_t)(word >> 10 & 0xfff);
        value = (word & 0x400000) != 0 ? value << 12 : value;
        value = (word & 0x40000000) != 0 ? -value : value;
        if (to == 29 && from == 31 && !sets_flags) {
            step->kind = JP_STEP_SET_FP;
            step->value = value;
        } else if (to == 31 && !sets_flags) {
            step->kind = from == 31 && word >> 31 != 0 ? JP_STEP_PLAIN
                         : from == 29                  ? JP_STEP_FROM_FP
                                                       : JP_STEP_LOST;
            step->value = value;
        }
    } else if ((word & 0x1fe00000) == 0x0b200000 || /* add, sub: extended */
               (word & 0x1f800000) == 0x12000000) { /* and, orr, eor */
        const int none = (word & 0x1f800000) == 0x12000000
                             ? (word >> 29 & 3) == 3
                             : sets_flags;
        if (to == 31 && !none)
            step->kind = JP_STEP_LOST;
    } else if (to == 30 && ((word & 0x1f000000) == 0x10000000 || /* adr, adrp */
                            (word & 0x1f000000) == 0x0a000000 || /* mov */
                            (word & 0xbf000000) == 0x18000000)) { /* ldr */
        step->kind = JP_STEP_END;
    }
}

/* Completes *step for a word, or two, at `at` from an address register that
 * are loaded into or stored from registers of 64 bits.  whole: the store
 * makes its own room. */
static inline void jp_arch_moved_sig(uint32_t word, unsigned first,
                                     unsigned second, int is_load, int32_t at,
                                     int whole, struct jp_arch_step *step)
{
    const int link = first == 30 || second == 30;
    const int by_sp = JP_STEP_RN(word) == 31;
    step->at = second == 30 ? at + 8 : at;
    step->reg = (uint8_t)(is_load ? first == 29 : whole);
    if (link && by_sp && second != 29)
        step->kind = is_load ? JP_STEP_LOAD_LINK : JP_STEP_SAVE_LINK;
    else if (is_load && (link || (by_sp && (first == 29 || second == 29))))
        step->kind = JP_STEP_END;
}

/* Loads and stores (C4.1.94) of pairs. */
static inline void jp_arch_pair_sig(uint32_t word, struct jp_arch_step *step)
{
    const unsigned size = word >> 30, mode = word >> 23 & 3;
    const int is_vector = (word & 0x4000000) != 0;
    const int is_load = (word & 0x400000) != 0;
    const int32_t bytes = is_vector                ? 4 << size
                          : size == 2              ? 8
                          : size == 1 && !is_load ? 16 /* stgp */
                                                   : 4;
    const int32_t number = jp_arch_number_sig(word, 15, 7) * bytes;
    if (JP_STEP_RN(word) == 31 && (mode & 1) != 0)
        step->value = number;
    if (!is_vector && size == 2)
        jp_arch_moved_sig(word, JP_STEP_RD(word), JP_STEP_RT2(word), is_load,
                          mode == 1 ? 0 : number, mode == 3, step);
}

/* Loads and stores of one register.  Returns 0 when the word is none. */
static inline int jp_arch_one_sig(uint32_t word, struct jp_arch_step *step)
{
    const unsigned mode = word >> 10 & 3, operation = word >> 22 & 3;
    const int is_large = (word & 0xfc000000) == 0xf8000000 && operation < 2;
    const int scaled = (word & 0x3b000000) == 0x39000000;
    int32_t number = (int32_t)(word >> 10 & 0xfff) * 8;
    if (!scaled && (word & 0x3b200000) != 0x38000000)
        return 0;
    if (!scaled)
        number = jp_arch_number_sig(word, 12, 9);
    if (!scaled && (mode & 1) != 0 && JP_STEP_RN(word) == 31)
        step->value = number;
    if (is_large)
        jp_arch_moved_sig(word, JP_STEP_RD(word), 31, operation == 1,
                          !scaled && mode == 1 ? 0 : number,
                          !scaled && mode == 3, step);
    return 1;
}

/* Decodes the instruction at `code`, where JP_ARCH_STEP_BYTES can be read, and
 * stores what it does in *step. */
static inline void jp_arch_step_sig(const uint8_t *code,
                                    struct jp_arch_step *step)
{
    const uint32_t word = (uint32_t)code[0] | (uint32_t)code[1] << 8 |
                          (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;
    *step = (struct jp_arch_step){.length = 4};
    if (jp_arch_branch_sig(word, step))
        return;
    if ((word & 0x3a000000) == 0x28000000)
        jp_arch_pair_sig(word, step);
    else if ((word & 0x3a000000) == 0x38000000 && jp_arch_one_sig(word, step))
        return;
    else if (JP_STEP_RN(word) == 31 &&
             ((word & 0xbe800000) == 0x0c800000 || /* vectors, post-index */
              (word & 0xff000400) == 0xd9000400))  /* tags */
        step->kind = JP_STEP_LOST;
    else
        jp_arch_sum_sig(word, step);
}

/* See x86_64_step.h.  Never here, where code is not gone through backwards. */
#define JP_ARCH_FRAMES_BYTES 4U
static inline int jp_arch_frames_sig(const uint8_t *code)
{
    (void)code;
    return 0;
}

static inline int64_t jp_arch_framed_sig(const uint8_t *code,
                                         const uint8_t *end)
{
    (void)code, (void)end;
    return -1;
}

/* See x86_64_step.h.  Never here: Erlang's code has its stack in another
 * register. */
#define JP_ARCH_BACK_BYTES 4U
static inline int jp_arch_back_sig(const uint8_t code[JP_ARCH_BACK_BYTES],
                                   struct jp_arch_back *back)
{
    (void)code, (void)back;
    return 0;
}

#define JP_ARCH_ALIGNS_BYTES 4U
static inline int jp_arch_aligns_sig(const uint8_t *code, uint64_t *room,
                                     uint64_t *alignment)
{
    (void)code, (void)room, (void)alignment;
    return 0;
}

#define JP_ARCH_JUMP_ROOM 0U
#define JP_ARCH_JUMP_FP 0U
static inline uint64_t jp_arch_jump_room_sig(const uint8_t *code,
                                             const uint8_t *end)
{
    (void)code, (void)end;
    return 0;
}

#define JP_ARCH_BEGUN_BYTES 4U
static inline int jp_arch_begun_sig(const uint8_t code[JP_ARCH_BEGUN_BYTES])
{
    (void)code;
    return 0;
}

#endif
