/* SPDX-License-Identifier: MIT
 *
 * From the call-frame information of the code at a pc to the rule by which the
 * caller is found (DWARF 5, 6.4).  Functions that return -EAGAIN could not read
 * some bytes just now, and may be called again later.
 * Runs in: handler, any thread. */
#ifndef JP_CFI_RUN_H
#define JP_CFI_RUN_H

#include <stdint.h>

#include "cfi.h"
#include "sig/arch/arch.h"

enum jp_cfi_kind {
    JP_CFI_NONE = 0, /* no information; the frame pointer may lead on */
    JP_CFI_REGISTER, /* CFA = register + offset */
    JP_CFI_MEMORY,   /* CFA = 8 bytes at (register + offset), + add */
    JP_CFI_SIGNAL,   /* the frame that the kernel makes for a signal */
    JP_CFI_ROOT,     /* the outermost frame, which has no caller */
    JP_CFI_JUMP,     /* longjmp about to leave: the registers `base`, `ra`
                           and `fp` have the sp, pc and frame pointer of where
                           it goes */
    JP_CFI_COMPUTED, /* by expressions over registers and memory: see
                           jp_cfi_compute_sig */
    JP_CFI_BAD       /* there is information that cannot be used */
};

#define JP_CFI_FP_SAVED 1U /* the frame pointer is at `fp` */
#define JP_CFI_FP_BASED                                                        \
    2U                        /* saved registers lie at offsets from the
                                   frame pointer, not from the CFA */
#define JP_CFI_RA_REGISTER 4U /* `ra` is the register that has it */
#define JP_CFI_HAS_SAVED 8U   /* some of saved[] is not 0 */
#define JP_CFI_EXACT                                                           \
    16U                    /* 'S' of the CIE: what this leads to is the
                                   next instruction to run, not behind a call */
#define JP_CFI_BY_HAND 32U /* of a ROOT: a stack that was made by hand */

/* A rule: how the caller's registers are found. */
struct jp_cfi_rule {
    int32_t offset;
    uint8_t kind;    /* enum jp_cfi_kind */
    uint8_t base;    /* register, by DWARF number */
    int16_t ra, fp;  /* units of 8 bytes from the CFA */
    int8_t saved[5]; /* as fp, for JP_ARCH_SAVED; 0: unchanged */
    uint8_t flags;   /* JP_CFI_* */
};

/* A rule of kind MEMORY has both its numbers packed in `offset`. */
#define JP_CFI_PACK(offset, add)                                               \
    ((int32_t)((uint32_t)(uint16_t)(offset) << 16 | (uint16_t)(add)))
#define JP_CFI_AT(packed) ((int16_t)((uint32_t)(packed) >> 16))
#define JP_CFI_ADD(packed) ((int16_t)((uint32_t)(packed)&0xffff))

/* Words of memory for an FDE and the rows of its table, which the functions
 * below are given: the handler's stack is deepest in them. */
#define JP_CFI_ROWS 56U

/* Runs an FDE's instructions up to pc and makes the rule, of kind COMPUTED or
 * BAD when it has no simpler form.  Returns 0 or -EAGAIN. */
int jp_cfi_run_sig(const struct jp_cfi_image *image,
                   const struct jp_cfi_fde *fde, uint64_t pc, uint64_t *rows,
                   struct jp_cfi_rule *rule);

/* A frame whose rule is COMPUTED, and what is found for it. */
struct jp_cfi_values {
    const uint64_t *registers; /* of the frame, by DWARF number */
    /* Reads 8 bytes of memory; returns 0 when it cannot. */
    int (*read_sig)(void *data, uint64_t address, uint64_t *word);
    void *data;
    /* The caller's registers; one that the information does not mention has the
     * frame's value. */
    uint64_t ra, fp, sp;
    uint64_t saved[JP_ARCH_SAVED_COUNT];
    uint32_t is_root; /* there is no caller */
    uint32_t exact;   /* JP_CFI_EXACT */
};

/* Finds the caller's registers for such a frame at pc.  Returns 0, -EAGAIN, or
 * -EINVAL when it cannot. */
int jp_cfi_compute_sig(const struct jp_cfi_image *image, uint64_t pc,
                       uint64_t *rows, struct jp_cfi_values *values);

/* Finds the FDE around pc and makes the rule.  Returns 0 or -EAGAIN. */
int jp_cfi_rule_sig(const struct jp_cfi_image *image, uint64_t pc,
                    uint64_t *rows, struct jp_cfi_rule *rule);

_Static_assert(sizeof(struct jp_cfi_rule) == 16, "two words of the cache");
_Static_assert(JP_ARCH_SAVED_COUNT <= 5, "saved");

#endif
