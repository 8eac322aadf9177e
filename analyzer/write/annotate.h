/* SPDX-License-Identifier: MIT
 *
 * Functions shared by the two writers of annotated code, text and HTML.
 * Runs in: analyzer. */
#ifndef JR_ANNOTATE_H
#define JR_ANNOTATE_H

#include "asm.h"
#include "report.h"

/* The functions that --annotate names and `hottest` of the hottest ones, of JIT
 * code alone where that is asked for; heaviest first: an array of *count
 * without repetitions that the caller frees. */
struct jr_annotate_choice {
    size_t hottest;
    int jit_only;
};
uint32_t *jr_annotate_functions(const struct jr_report *report,
                                const struct jr_codes *codes,
                                struct jr_annotate_choice choice,
                                size_t *count);

/* Says on stderr which names of --annotate no sampled function has. */
void jr_annotate_say_absent(const struct jr_report *report);

/* "0x7f0000001000, 312 bytes, from 1.25 s to 3.00 s": address, size and
 * lifetime of a piece of code, in time since the start of its process; of a
 * file's code its name instead.  The caller frees it. */
char *jr_annotate_place(const struct jr_report *report,
                        const struct jr_code_version *version);

/* Why a listing has addresses instead of instructions; NULL: it has
 * instructions. */
const char *jr_annotate_lack(enum jr_asm_result result);

/* The machine of the process of `version`, as an ELF number. */
uint16_t jr_annotate_machine(const struct jr_report *report,
                             const struct jr_code_version *version);

jr_write_fn jr_write_annotate;

#endif
