/* SPDX-License-Identifier: MIT
 *
 * The formats of plain text.
 * Runs in: analyzer. */
#ifndef JR_TEXT_H
#define JR_TEXT_H

#include "write/report.h"

jr_write_fn jr_write_text, jr_write_collapsed, jr_write_summary, jr_write_cleo;

#endif
