/* SPDX-License-Identifier: MIT
 *
 * Brings the times of several time namespaces to one clock.
 * Runs in: analyzer. */
#ifndef JR_COVER_CLOCKS_H
#define JR_COVER_CLOCKS_H

#include "cover.h"

/* Brings the times of images and lines from several time
 * namespaces (time_namespaces(7)) to one clock, that of each tree's first
 * process, and gives the programs that a process executed in several of them
 * one start_ticks.  Leaves the images in no order. */
void jr_cover_clocks(struct jr_cover *cover);

#endif
