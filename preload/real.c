/* SPDX-License-Identifier: MIT
 *
 * The libc functions behind the ones that the library interposes.
 * Runs in: any thread, not in a handler. */
#include "real.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "sig/process.h"

void *jp_real(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (function == NULL) {
        jp_complain_sig("the C library has no ", name, 0);
        abort();
    }
    return function;
}
