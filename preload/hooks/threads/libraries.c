/* SPDX-License-Identifier: MIT
 *
 * What unmaps libraries: tells sig/ that code has gone.  dlclose, and what
 * makes the C library drop its modules (character sets, name services), which
 * it unmaps without calling dlclose.  (dlopen is not interposed: it looks at
 * its caller to find libraries; new code is noticed by its addresses.)
 * Runs in: any thread, not in a handler. */
#include <iconv.h>
#include <stddef.h>
#include <stdio.h>
#include <wchar.h>

#include "hooks/base/real.h"
#include "sig/code/maps.h"

typedef int dlclose_function(void *);
typedef int iconv_close_function(iconv_t);
typedef int fclose_function(FILE *);
typedef void free_function(void);

/* Samples taken while a library's own last code runs are its own; those taken
 * afterwards are of what comes to its place. */
JP_HOOK(int, dlclose, (void *library))
{
    JP_REAL(dlclose_function, dlclose)
    jp_maps_dirty_sig();
    int result = real(library);
    jp_maps_dirty_sig();
    return result;
}

JP_HOOK(int, iconv_close, (iconv_t descriptor))
{
    JP_REAL(iconv_close_function, iconv_close)
    int result = real(descriptor);
    jp_maps_dirty_sig();
    return result;
}

/* A wide stream has a converter: fopen's `ccs=`, or the locale's.  A null one
 * ends the program in glibc's fclose, too. */
JP_HOOK(int, fclose, (FILE * stream))
{
    JP_REAL(fclose_function, fclose)
    const int wide = fwide(stream, 0) > 0;
    int result = real(stream);
    if (wide)
        jp_maps_dirty_sig();
    return result;
}

/* For memory checkers, at a program's end; name services' modules go here
 * only. */
JP_HOOK(void, __libc_freeres, (void))
{
    JP_REAL(free_function, __libc_freeres)
    real();
    jp_maps_dirty_sig();
}
