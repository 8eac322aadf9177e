/* SPDX-License-Identifier: MIT
 *
 * Frames of scripts: the functions that an interpreter runs.
 * Runs in: analyzer. */
#ifndef JR_SCRIPT_H
#define JR_SCRIPT_H

#include <stdint.h>

#include "base/scripts.h"
#include "symbol/names/frame.h"
#include "symbol/names/strings.h"

/* The frame of a script that a stack has, JP_SCRIPT_TAG in its upper bits. */
const struct jr_frame *jr_script_frame(const struct jr_scripts *scripts,
                                       struct jr_strings *strings,
                                       uint64_t frame);

#endif
