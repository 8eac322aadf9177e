/* SPDX-License-Identifier: MIT
 *
 * Names for the stubs of a PLT, which have no symbols: `function@plt`.
 * Runs in: analyzer. */
#ifndef JR_PLT_H
#define JR_PLT_H

#include <elfutils/libdwfl.h>

#include "candidates.h"
#include "symbol/names/strings.h"

/* Adds the stubs of .plt, .plt.sec and .plt.got whose jump slot a relocation
 * names (x86-64 and aarch64). */
void jr_plt_read(Dwfl_Module *module, struct jr_strings *strings,
                 struct jr_candidates *candidates);

#endif
