/* SPDX-License-Identifier: MIT
 *
 * x86-64: what an instruction does to the stack pointer, and how long it is.
 * (Intel SDM, volume 2: 2.1 to 2.3, the opcode maps of appendix A; EVEX: 2.7.)
 * Runs in: handler. */
#ifndef JP_ARCH_X86_64_STEP_H
#define JP_ARCH_X86_64_STEP_H

#include <stdint.h>
#include <string.h>

#include "step.h"

/* How many bytes the decoder reads; no instruction is longer than 15. */
#define JP_ARCH_STEP_BYTES 16U

/* An instruction that is being decoded. */
struct jp_arch_parts {
    const uint8_t *at;  /* its next byte to decode */
    /* wide, reg_high, base_high: the bits W, R and B of its REX prefix; small:
     * it has the prefix 66 (operands of 16 bits). */
    uint8_t wide, reg_high, base_high, small, modrm;
    int32_t number;     /* its displacement, then its immediate operand */
};

/* The form of each opcode of one byte: 0x10 says that a ModRM byte follows, the
 * low digit how many bytes the immediate operand has (2 for 4 with the prefix
 * 66); 0xff marks opcodes that are invalid or not decoded here. */
#define JP_STEP_ROW(a, b) a, a, a, a, 1, 4, b, b, a, a, a, a, 1, 4, b, b
static const uint8_t jp_arch_shapes[256] = {
    JP_STEP_ROW(0x10, 0xff), JP_STEP_ROW(0x10, 0xff),
    JP_STEP_ROW(0x10, 0xff), JP_STEP_ROW(0x10, 0xff),
    /* 40 */ 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    /* 50 */ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    /* 60 */ 0xff, 0xff, 0xff, 0x10, 0xff, 0xff, 0xff, 0xff,
    4, 0x14, 1, 0x11, 0, 0, 0, 0,
    /* 70 */ 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    /* 80 */ 0x11, 0x14, 0xff, 0x11, 0x10, 0x10, 0x10, 0x10,
    0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10,
    /* 90 */ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 0, 0, 0,
    /* a0 */ 8, 8, 8, 8, 0, 0, 0, 0, 1, 4, 0, 0, 0, 0, 0, 0,
    /* b0 */ 1, 1, 1, 1, 1, 1, 1, 1, 4, 4, 4, 4, 4, 4, 4, 4,
    /* c0 */ 0x11, 0x11, 2, 0, 0xff, 0xff, 0x11, 0x14,
    3, 0, 2, 0, 0xff, 0xff, 0xff, 0xff,
    /* d0 */ 0x10, 0x10, 0x10, 0x10, 0xff, 0xff, 0xff, 0,
    0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10,
    /* e0 */ 1, 1, 1, 1, 1, 1, 1, 1, 4, 4, 0xff, 1, 0, 0, 0, 0,
    /* f0 */ 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0x10, 0x10,
    0, 0, 0, 0, 0, 0, 0x10, 0x10};

/* Sets of the opcodes behind 0f, one word for each first digit: those without a
 * ModRM byte (bare), those with an immediate operand of a byte (byte), and
 * those that are invalid or not decoded here (none). */
static const uint16_t jp_arch_bare[16] = {
    0x0320, 0, 0, 0x00bf, 0, 0, 0, 0x0080,
    0xffff, 0, 0x0707, 0, 0xff00, 0, 0, 0};
static const uint16_t jp_arch_byte[16] = {
    0, 0, 0, 0, 0, 0, 0, 0x000f, 0, 0, 0x1010, 0x0400, 0x0074, 0, 0, 0};
static const uint16_t jp_arch_none[16] = {
    0xdcd0, 0, 0, 0xfa40, 0, 0, 0, 0, 0, 0, 0x04c0, 0, 0, 0, 0, 0x8000};

static inline int jp_arch_in_sig(const uint16_t set[16], uint8_t opcode)
{
    return set[opcode >> 4] >> (opcode & 15) & 1;
}

/* Decodes the ModRM byte, the SIB byte and the displacement. */
static inline void jp_arch_modrm_sig(struct jp_arch_parts *parts)
{
    const uint8_t modrm = *parts->at++, mode = modrm >> 6, base = modrm & 7;
    unsigned size = mode == 1 ? 1 : mode == 2 ? 4 : 0;
    parts->modrm = modrm;
    if (mode == 3)
        return;
    if (mode == 0 && base == 5)
        size = 4;
    if (base == 4 && (*parts->at++ & 7) == 5 && mode == 0)
        size = 4;
    if (size == 1)
        parts->number = (int8_t)*parts->at;
    else if (size == 4)
        memcpy(&parts->number, parts->at, sizeof(parts->number));
    parts->at += size;
}

/* Decodes an immediate operand of `size` bytes. */
static inline void jp_arch_behind_sig(struct jp_arch_parts *parts,
                                      unsigned size)
{
    if (size == 1)
        parts->number = (int8_t)*parts->at;
    else if (size == 4)
        memcpy(&parts->number, parts->at, sizeof(parts->number));
    parts->at += size;
}

/* The registers of the ModRM byte in the machine's numbers: 4 is the stack
 * pointer, 5 the frame pointer. */
#define JP_STEP_REG(p) (((p)->modrm >> 3 & 7) | (p)->reg_high << 3)
#define JP_STEP_BASE(p) (((p)->modrm & 7) | (p)->base_high << 3)
#define JP_STEP_IS_REGISTER(p) ((p)->modrm >= 0xc0)

/* The kind of a mov or lea, by which of the two pointers it sets.  CALL stands
 * for lea N(%rsp),%rsp, which adds a number to the stack pointer. */
static inline uint8_t jp_arch_moved_sig(const struct jp_arch_parts *parts,
                                        uint8_t opcode, const uint8_t *modrm)
{
    const unsigned reg = JP_STEP_REG(parts), base = JP_STEP_BASE(parts);
    const int is_register = JP_STEP_IS_REGISTER(parts);
    const unsigned to = opcode == 0x89 ? base : reg;
    const unsigned from = opcode == 0x89 ? reg : base;
    if (opcode == 0x8d) {
        if (reg != 4 || is_register)
            return JP_STEP_PLAIN;
        if (base == 5 && (parts->modrm >> 6) != 0)
            return JP_STEP_FROM_FP;
        return base == 4 && modrm[1] == 0x24 ? JP_STEP_CALL : JP_STEP_LOST;
    }
    if (opcode == 0x89 && !is_register)
        return JP_STEP_PLAIN;
    if (to == 4)
        return is_register && from == 5 ? JP_STEP_FROM_FP : JP_STEP_LOST;
    return to == 5 && is_register && from == 4 ? JP_STEP_SET_FP
                                               : JP_STEP_PLAIN;
}

/* Completes *step for an opcode of one byte that has a ModRM byte, at modrm. */
static inline void jp_arch_do_modrm_sig(const struct jp_arch_parts *parts,
                                        uint8_t opcode, const uint8_t *modrm,
                                        struct jp_arch_step *step)
{
    const unsigned group = parts->modrm >> 3 & 7;
    const int is_sp = JP_STEP_IS_REGISTER(parts) && JP_STEP_BASE(parts) == 4;
    if (opcode == 0x81 || opcode == 0x83) {
        if (!is_sp || group == 7)
            return;
        step->kind = group == 0 || group == 5 ? JP_STEP_PLAIN : JP_STEP_LOST;
        step->value = group == 5 ? -parts->number : parts->number;
    } else if (opcode == 0x89 || opcode == 0x8b || opcode == 0x8d) {
        step->kind = jp_arch_moved_sig(parts, opcode, modrm);
        if (step->kind == JP_STEP_CALL) {
            step->kind = JP_STEP_PLAIN;
            step->value = parts->number;
        }
    } else if (opcode == 0x8f) {
        step->value = 8;
    } else if (opcode == 0xff) {
        step->kind = group == 2 ? JP_STEP_CALL
                     : group == 4 ? JP_STEP_OUT
                     : group == 3 || group == 5 || group == 7 ? JP_STEP_END
                                                              : JP_STEP_PLAIN;
        step->value = group == 6 ? -8 : 0;
    } else if (opcode < 0x38 && (opcode & 1) != 0 &&
               ((opcode & 2) != 0 ? JP_STEP_REG(parts) == 4 : is_sp)) {
        step->kind = JP_STEP_LOST;
    }
}

/* The DWARF numbers of the machine's first eight registers (System V ABI for
 * AMD64, figure 3.36); the others are the same. */
static const uint8_t jp_arch_dwarf[8] = {0, 2, 1, 3, 7, 6, 4, 5};

/* Completes *step for an opcode of one byte that has no ModRM byte. */
static inline void jp_arch_do_plain_sig(const struct jp_arch_parts *parts,
                                        uint8_t opcode,
                                        struct jp_arch_step *step)
{
    const unsigned number = (opcode & 7) | parts->base_high << 3;
    step->reg = number < 8 ? jp_arch_dwarf[number] : (uint8_t)number;
    if (opcode >= 0x50 && opcode < 0x58) {
        step->kind = number == 5 ? JP_STEP_PUSH_FP : JP_STEP_PUSH;
        step->value = -8;
    } else if (opcode >= 0x58 && opcode < 0x60) {
        step->kind = number == 5   ? JP_STEP_POP_FP
                     : number == 4 ? JP_STEP_LOST
                                   : JP_STEP_POP;
        step->value = 8;
    } else if (opcode == 0x68 || opcode == 0x6a || opcode == 0x9c) {
        step->value = -8;
    } else if (opcode == 0x9d) {
        step->value = 8;
    } else if ((opcode >= 0x70 && opcode < 0x80) ||
               (opcode >= 0xe0 && opcode < 0xe4)) {
        step->kind = JP_STEP_BRANCH;
        step->value = parts->number;
    } else if (opcode == 0xe9 || opcode == 0xeb) {
        step->kind = JP_STEP_JUMP;
        step->value = parts->number;
    } else if (opcode == 0xe8) {
        step->kind = JP_STEP_CALL;
        step->value = parts->number;
    } else if (opcode == 0xc2 || opcode == 0xc3) {
        step->kind = JP_STEP_RETURN;
    } else if (opcode == 0xc9) {
        step->kind = JP_STEP_FROM_FP;
    } else if (opcode == 0xc8) {
        step->kind = JP_STEP_END;
    }
}

/* Decodes what follows 0f, VEX or EVEX: an opcode of the map `map` (1: 0f, 2:
 * 0f 38, 3: 0f 3a).  Other maps end the step. */
static inline void jp_arch_far_sig(struct jp_arch_parts *parts, unsigned map,
                                   int is_vector, struct jp_arch_step *step)
{
    const uint8_t opcode = *parts->at++;
    if (map == 0 || map > 3 ||
        (map == 1 && !is_vector && jp_arch_in_sig(jp_arch_none, opcode))) {
        step->kind = JP_STEP_END;
        return;
    }
    if (map == 1 && opcode >= 0x80 && opcode < 0x90 && !is_vector) {
        jp_arch_behind_sig(parts, 4);
        step->kind = parts->small ? JP_STEP_END : JP_STEP_BRANCH;
        step->value = parts->number;
        return;
    }
    if (map != 1 || (is_vector ? opcode != 0x77
                               : !jp_arch_in_sig(jp_arch_bare, opcode)))
        jp_arch_modrm_sig(parts);
    if (map == 3 || (map == 1 && jp_arch_in_sig(jp_arch_byte, opcode)))
        parts->at++;
}

/* Decodes the prefixes, of which REX is the last. */
static inline void jp_arch_prefixes_sig(struct jp_arch_parts *parts,
                                        const uint8_t *end)
{
    for (; parts->at < end; parts->at++) {
        const uint8_t byte = *parts->at;
        if (byte == 0x66)
            parts->small = 1;
        else if ((byte & 0xe7) != 0x26 && (byte < 0x64 || byte > 0x67) &&
                 byte != 0xf0 && byte != 0xf2 && byte != 0xf3)
            break;
    }
    if ((*parts->at & 0xf0) == 0x40) {
        parts->wide = *parts->at >> 3 & 1;
        parts->reg_high = *parts->at >> 2 & 1;
        parts->base_high = *parts->at & 1;
        parts->at++;
    }
}

/* Decodes an instruction whose opcode is one byte. */
static inline void jp_arch_near_sig(struct jp_arch_parts *parts,
                                    struct jp_arch_step *step)
{
    const uint8_t opcode = *parts->at++, *modrm = parts->at;
    uint8_t shape = jp_arch_shapes[opcode];
    if (shape == 0xff) {
        step->kind = JP_STEP_END;
        return;
    }
    if ((shape & 0x10) != 0)
        jp_arch_modrm_sig(parts);
    if ((opcode == 0xf6 || opcode == 0xf7) && (parts->modrm & 0x30) == 0)
        shape |= opcode == 0xf6 ? 1 : 4;
    unsigned size = shape & 15;
    if (size == 4 && parts->wide && opcode >= 0xb8 && opcode < 0xc0)
        size = 8;
    else if (size == 4 && parts->small && !parts->wide)
        size = opcode == 0xe8 || opcode == 0xe9 ? 4 : 2;
    jp_arch_behind_sig(parts, size);
    if ((shape & 0x10) != 0)
        jp_arch_do_modrm_sig(parts, opcode, modrm, step);
    else
        jp_arch_do_plain_sig(parts, opcode, step);
}

/* Decodes the instruction at `code`, where JP_ARCH_STEP_BYTES can be read, and
 * stores what it does in *step. */
static inline void jp_arch_step_sig(const uint8_t *code,
                                    struct jp_arch_step *step)
{
    uint8_t padded[32];
    struct jp_arch_parts parts = {.at = padded};
    memset(padded, 0, sizeof(padded));
    memcpy(padded, code, JP_ARCH_STEP_BYTES);
    *step = (struct jp_arch_step){0};
    jp_arch_prefixes_sig(&parts, padded + 8);
    const uint8_t *at = parts.at;
    if (*at == 0x0f && (at[1] == 0x38 || at[1] == 0x3a)) {
        parts.at += 2;
        jp_arch_far_sig(&parts, at[1] == 0x38 ? 2 : 3, 0, step);
    } else if (*at == 0x0f) {
        parts.at++;
        jp_arch_far_sig(&parts, 1, 0, step);
    } else if (*at == 0xc5) {
        parts.at += 2;
        jp_arch_far_sig(&parts, 1, 1, step);
    } else if (*at == 0xc4) {
        parts.at += 3;
        jp_arch_far_sig(&parts, at[1] & 31, 1, step);
    } else if (*at == 0x62) {
        parts.at += 4;
        jp_arch_far_sig(&parts, at[1] & 7, 1, step);
    } else {
        jp_arch_near_sig(&parts, step);
    }
    step->length = (uint8_t)(parts.at - padded);
    if (step->length >= JP_ARCH_STEP_BYTES)
        step->kind = JP_STEP_END;
}

/* Whether `code` makes a frame as functions begin: push %rbp; mov %rsp,%rbp, in
 * its two encodings.  Reads JP_ARCH_FRAMES_BYTES. */
#define JP_ARCH_FRAMES_BYTES 4U
static inline int jp_arch_frames_sig(const uint8_t *code)
{
    return code[0] == 0x55 && code[1] == 0x48 &&
           ((code[2] == 0x89 && code[3] == 0xe5) ||
            (code[2] == 0x8b && code[3] == 0xec));
}

/* How far the stack pointer is below the frame pointer in a function whose code
 * behind that, up to `end`, is at `code`: it pushes callee-saved registers, and
 * then subtracts or pushes %rax.  -1 where it does something else (V8's
 * functions push other things), or where the frame is no multiple of 16 bytes,
 * as it is where a function calls others (System V ABI for AMD64, 3.2.2). */
static inline int64_t jp_arch_framed_sig(const uint8_t *code,
                                         const uint8_t *end)
{
    const uint32_t preserved = 1U << 3 | 1U << 12 | 1U << 13 | 1U << 14 |
                               1U << 15; /* by DWARF's numbers */
    struct jp_arch_step step = {0};
    int64_t bytes = 0;
    for (; end - code >= (int64_t)JP_ARCH_STEP_BYTES; code += step.length) {
        jp_arch_step_sig(code, &step);
        if (step.kind == JP_STEP_PUSH && (preserved >> step.reg & 1) != 0)
            bytes += 8;
        else if (step.kind != JP_STEP_PLAIN || step.value != 0)
            break;
    }
    if (step.kind == JP_STEP_PUSH)
        bytes = step.reg == 0 ? bytes + 8 : -1;
    else if (step.kind == JP_STEP_PLAIN)
        bytes = *code == 0x48 ? bytes - step.value : -1;
    return bytes >= 0 && bytes % 16 == 0 ? bytes : -1;
}

/* If the instruction at `code` is mov N(%reg),%to, with a displacement and no
 * index: stores N and the DWARF number of reg, and returns its length; else
 * returns 0. */
static inline unsigned jp_arch_load_sig(const uint8_t *code, unsigned to,
                                        int32_t *number, uint8_t *base)
{
    const unsigned mode = code[2] >> 6, low = code[2] & 7;
    const unsigned reg = low | (code[0] & 1U) << 3;
    if ((code[0] & 0xfe) != 0x48 || code[1] != 0x8b ||
        (code[2] >> 3 & 7) != to || (mode != 1 && mode != 2) || low == 4)
        return 0;
    *base = reg < 8 ? jp_arch_dwarf[reg] : (uint8_t)reg;
    if (mode == 1)
        *number = (int8_t)code[3];
    else
        memcpy(number, code + 3, sizeof(*number));
    return mode == 1 ? 4 : 7;
}

/* Whether the code behind a call, at `code`, goes back to another stack, with
 * at most JP_ARCH_BACK_STEPS instructions before that, none of which touches
 * the stack pointer, calls or goes away for good.  (Erlang's, from OTP 25 on,
 * runs C functions on the stack of its scheduler's thread and has up to four:
 * beam_asm.hpp, emit_leave_runtime.) */
#define JP_ARCH_BACK_STEPS 4U
#define JP_ARCH_BACK_BYTES 64U
static inline int jp_arch_back_sig(const uint8_t code[JP_ARCH_BACK_BYTES],
                                   struct jp_arch_back *back)
{
    const uint8_t *end = code + (JP_ARCH_BACK_BYTES - JP_ARCH_STEP_BYTES);
    for (unsigned i = 0; i <= JP_ARCH_BACK_STEPS && code <= end; i++) {
        struct jp_arch_step step;
        uint8_t base = 0;
        const unsigned length =
            jp_arch_load_sig(code, 4, &back->sp_at, &back->base);
        if (length != 0) {
            back->loads_fp =
                jp_arch_load_sig(code + length, 5, &back->fp_at, &base) != 0 &&
                base == back->base;
            return 1;
        }
        jp_arch_step_sig(code, &step);
        if ((step.kind != JP_STEP_PLAIN && step.kind != JP_STEP_BRANCH) ||
            (step.kind == JP_STEP_PLAIN && step.value != 0))
            return 0;
        code += step.length;
    }
    return 0;
}

/* If the code at `code` makes room on the stack and aligns it, without a frame
 * pointer: sub $N,%rsp; and $-M,%rsp: stores the room and the alignment (16 to
 * 128) and returns 1.  Reads JP_ARCH_ALIGNS_BYTES. */
#define JP_ARCH_ALIGNS_BYTES 11U
static inline int jp_arch_aligns_sig(const uint8_t *code, uint64_t *room,
                                     uint64_t *alignment)
{
    int32_t number;
    memcpy(&number, code + 3, sizeof(number));
    *room = (uint64_t)(int64_t)number;
    *alignment = 256U - code[10];
    return code[0] == 0x48 && code[1] == 0x81 && code[2] == 0xec &&
           number > 0 && code[7] == 0x48 && code[8] == 0x83 &&
           code[9] == 0xe4 && *alignment >= 16 && *alignment <= 128 &&
           (*alignment & (*alignment - 1)) == 0;
}

/* GHC's StgRun calls Haskell code by a jump, which neither makes a frame nor
 * returns, and leaves it this room below its own return address: 16 KiB and six
 * registers, the frame pointer so far below that address (rts/StgCRun.c,
 * RESERVED_C_STACK_BYTES, STG_RUN_STACK_FRAME_SIZE). */
#define JP_ARCH_JUMP_ROOM 16432U
#define JP_ARCH_JUMP_FP 40U

/* How much room the function at `code` makes on the stack, if it is StgRun;
 * else 0: sub $48,%rsp; mov %rsp,%rax; sub $16384,%rsp. */
static inline uint64_t jp_arch_jump_room_sig(const uint8_t *code,
                                             const uint8_t *end)
{
    static const uint8_t begin[] = {0x48, 0x83, 0xec, 0x30, 0x48, 0x89, 0xe0,
                                    0x48, 0x81, 0xec, 0,    0x40, 0,    0};
    return end - code >= (int64_t)sizeof(begin) &&
                   memcmp(code, begin, sizeof(begin)) == 0
               ? JP_ARCH_JUMP_ROOM
               : 0;
}

/* Whether the last of the JP_ARCH_BEGUN_BYTES of code before `end` begin a
 * stack, and then call: mov N(%REG),%rsp; movq $0,%rbp (Go's mcall and
 * morestack; compilers set a register to 0 otherwise). */
#define JP_ARCH_BEGUN_BYTES 24U
static inline int jp_arch_begun_sig(const uint8_t code[JP_ARCH_BEGUN_BYTES])
{
    static const uint8_t zero[] = {0x48, 0xc7, 0xc5, 0, 0, 0, 0};
    for (unsigned i = 4; i + sizeof(zero) + 2 <= JP_ARCH_BEGUN_BYTES; i++) {
        int32_t at = 0;
        uint8_t base = 0;
        if (memcmp(code + i, zero, sizeof(zero)) == 0 &&
            jp_arch_load_sig(code + i - 4, 4, &at, &base) == 4)
            return 1;
    }
    return 0;
}

#endif
