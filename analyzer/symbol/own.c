/* SPDX-License-Identifier: MIT
 *
 * What users see of the profiler's own code on their stacks.  A hook of
 * libjprof.so is called jp_hook_ and the name of the C library's function that
 * the program called; the rest of it is between the two, or between the C
 * library and the program (where threads start).  Where its file is another
 * one by now, or has no symbols, all of it may be hooks, and is one function.
 * Runs in: analyzer. */
#include <string.h>

#include "symbol/symbol.h"

#define OWN "libjprof.so"
#define HOOK "jp_hook_"
#define LIBC "libc.so.6" /* glibc's name, on each architecture */

/* Whether a module is that file; there may be a build-id behind it
 * (elf/modules.c). */
static int is_file(const char *module, const char *name)
{
    const size_t length = strlen(name);

    return strncmp(module, name, length) == 0 &&
           (module[length] == '\0' || module[length] == ' ');
}

enum jr_whose jr_space_own(struct jr_space *space, struct jr_hit *hit,
                           struct jr_frame *hook)
{
    const struct jr_frame *function = &hit->frames[hit->nframes - 1];

    if (hit->is_final)
        return JR_WHOSE_OTHERS;
    if (!is_file(function->module, OWN))
        return is_file(function->module, LIBC) ? JR_WHOSE_LIBC
                                               : JR_WHOSE_OTHERS;
    if (function->kind != JR_FRAME_NATIVE) {
        *hook = (struct jr_frame){.name = jr_space_name(space, "[" OWN "]"),
                                  .module = function->module,
                                  .kind = JR_FRAME_UNNAMED};
    } else if (strncmp(function->name, HOOK, sizeof(HOOK) - 1) == 0 &&
               function->name[sizeof(HOOK) - 1] != '\0') {
        *hook = (struct jr_frame){
            .name = jr_space_name(space, function->name + sizeof(HOOK) - 1),
            .module = jr_space_name(space, LIBC),
            .kind = JR_FRAME_NATIVE};
    } else {
        hit->nframes = 0;
        return JR_WHOSE_OWN;
    }
    hit->frames = hook;
    hit->nframes = 1;
    return JR_WHOSE_OWN;
}
