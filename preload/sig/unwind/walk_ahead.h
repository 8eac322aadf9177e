/* SPDX-License-Identifier: MIT
 *
 * The caller of code without call-frame information, by what the code does
 * until it returns.
 * Runs in: handler. */
#ifndef JP_WALK_AHEAD_H
#define JP_WALK_AHEAD_H

#include "walk_frame.h"

/* Follows the code of an interrupted frame without call-frame information to
 * its return.  Goes to the caller and returns AT if that tells where it is;
 * returns OWN if the frame pointer is the function's own, else UNKNOWN. */
enum jp_ahead {
    JP_AHEAD_UNKNOWN,
    JP_AHEAD_OWN,
    JP_AHEAD_AT,
    /* Only inside walk_ahead.c: */
    JP_AHEAD_MAYBE,  /* as AT, unless the code goes on elsewhere */
    JP_AHEAD_PUSHED, /* the code returns to an address that it has pushed */
    JP_AHEAD_GOING   /* not found yet */
};
enum jp_ahead jp_walk_ahead_sig(struct jp_walk *walk,
                                struct jp_walk_frame *frame);

/* Whether the instruction before an address is a call; -1 when it cannot be
 * read. */
int jp_walk_called_sig(const struct jp_walk *walk, uint64_t address);

#endif
