/* SPDX-License-Identifier: MIT
 *
 * dlclose: tells sig/ that code has gone.  (dlopen is not interposed: it
 * looks at its caller to find libraries; new code is noticed by its
 * addresses.)
 * Runs in: any thread, not in a handler. */
#include <stddef.h>

#include "real.h"
#include "sig/maps.h"

typedef int dlclose_function(void *);

int dlclose(void *library);

JP_EXPORT int dlclose(void *library)
{
    JP_REAL(dlclose_function, dlclose)
    jp_maps_dirty_sig();
    int result = real(library);
    jp_maps_dirty_sig();
    return result;
}
