/* SPDX-License-Identifier: MIT
 *
 * Frames of scripts in stacks: functions that an interpreter runs, which have
 * no code address.  doc/FORMAT.md ("Script frames") explains them.
 * Runs in: everywhere (constants only). */
#ifndef JP_SCRIPT_H
#define JP_SCRIPT_H

#include <stdint.h>

/* A frame's upper 16 bits.  User code lies below 2^47, or 2^56 with five levels
 * of page tables (Linux Documentation/arch/x86/x86_64/5level-paging.rst), so no
 * code address has them. */
#define JP_SCRIPT_TAG 0x4a50ULL /* "JP": a function of a script */
#define JP_SCRIPT_RUNNER                                                       \
    0x4a51ULL /* code of an interpreter that runs the
                                      script frames right before it; the lower
                                      48 bits are its address */
#define JP_SCRIPT_TAG_OF(frame) ((uint64_t)(frame) >> 48)
#define JP_SCRIPT_ADDRESS(frame) ((uint64_t)(frame)&0xffffffffffffULL)

/* The function's number (`id` of its line in the map; 0: none) and the place in
 * it, in bytes of its bytecode; AT_MAX: that or a later one. */
#define JP_SCRIPT_ID_MAX 0xffffffU
#define JP_SCRIPT_AT_MAX 0xfffffeU
#define JP_SCRIPT_FRAME(id, at)                                                \
    (JP_SCRIPT_TAG << 48 | (uint64_t)(id) << 24 | (at))
#define JP_SCRIPT_ID(frame) ((uint32_t)((frame) >> 24) & JP_SCRIPT_ID_MAX)
#define JP_SCRIPT_AT(frame) ((uint32_t)(frame)&0xffffffU)

#endif
