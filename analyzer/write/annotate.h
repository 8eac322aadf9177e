/* SPDX-License-Identifier: MIT
 *
 * What the two writers of annotated code share.
 * Runs in: analyzer. */
#ifndef JR_ANNOTATE_H
#define JR_ANNOTATE_H

#include "asm.h"
#include "report.h"

/* The functions that --annotate names, then `hottest` of the hottest JIT
 * functions: an array of *count without repetitions that the caller frees. */
uint32_t *jr_annotate_functions(const struct jr_report *report, size_t hottest,
                                size_t *count);

/* Says on stderr which names of --annotate no sampled JIT function has. */
void jr_annotate_say_absent(const struct jr_report *report);

/* "0x7f0000001000, 312 bytes, from 1.25 s to 3.00 s": of which code a version
 * is, times counted from the start of its process.  The caller frees it. */
char *jr_annotate_place(const struct jr_report *report,
                        const struct jr_code_version *version);

/* Why a listing has addresses only; NULL: it has instructions. */
const char *jr_annotate_lack(enum jr_asm_result result);

/* The machine of a process, as an ELF number. */
uint16_t jr_annotate_machine(const struct jr_report *report,
                             const struct jr_code_version *version);

#endif
