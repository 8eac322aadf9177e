/* SPDX-License-Identifier: MIT
 *
 * Fibers that a library copies to the thread's stack to run them, and away to
 * run another: the stack pointer never leaves the thread's stack, so that
 * walks cannot tell where a fiber's part of it begins.
 * Runs in: analyzer. */
#include "fiber.h"

#include <string.h>

/* By the beginning of the module's name and of the function's.  greenlet
 * (src/greenlet/TUserGreenlet.cpp, g_initialstub; before 2.0 greenlet.c) begins
 * a greenlet's part of the stack in g_initialstub's frame. */
static const struct {
    const char *module, *function;
} begins[] = {
    {"_greenlet.", "greenlet::UserGreenlet::inner_bootstrap("},
    {"_greenlet.", "greenlet::UserGreenlet::g_initialstub("},
    {"_greenlet.", "g_initialstub"},
};

int jr_fiber_begins(const struct jr_frame *frame)
{
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (frame->module && frame->name &&
            strncmp(frame->module, begins[i].module,
                    strlen(begins[i].module)) == 0 &&
            strncmp(frame->name, begins[i].function,
                    strlen(begins[i].function)) == 0)
            return 1;
    return 0;
}
