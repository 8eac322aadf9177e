/* SPDX-License-Identifier: MIT
 *
 * The libunwind walker (JP_STACK=libunwind).
 * Runs in: handler, constructor. */
#ifndef JP_WALK_LIBUNWIND_H
#define JP_WALK_LIBUNWIND_H

#include "walk.h"

/* Walks to the end.  The caller has set the bounds.  Returns why the walk
 * ended. */
enum jp_reason jp_walk_libunwind_sig(struct jp_walk *walk);

/* Loads libunwind by load (dlopen) and find (dlsym).  Called by the constructor
 * only, never in a handler.  Returns 0 or -ENOENT. */
int jp_walk_libunwind_load(void *(*load)(const char *name),
                           void *(*find)(void *library, const char *name));

#endif
