/* SPDX-License-Identifier: MIT
 *
 * Finds the processes that the samples do not cover.
 * Runs in: analyzer. */
#ifndef JR_COVER_GAP_H
#define JR_COVER_GAP_H

#include "cover.h"

/* Finds the gaps. */
void jr_cover_gaps(struct jr_cover *cover);

#endif
