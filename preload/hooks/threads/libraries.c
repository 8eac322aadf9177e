/* SPDX-License-Identifier: MIT
 *
 * Hooks of functions that unmap libraries, which tell sig/code that code has
 * gone: dlclose, and those in which the C library unmaps its own modules
 * (character sets, name services) without calling dlclose.  (dlopen has no
 * hook, as it looks at its caller to find libraries; new code is noticed by
 * its addresses.)
 * Runs in: any thread, not in a handler. */
#include <iconv.h>
#include <stddef.h>
#include <stdio.h>
#include <wchar.h>

#include "hooks/base/real.h"
#include "sig/code/maps.h"

/* Told before, so that samples of the library's destructors are still the
 * library's, and after, so that later samples are of what has come to its
 * place. */
JP_ALSO(dlclose, JP_ARCH_GLIBC);
JP_HOOK(int, dlclose, (void *library))
{
    JP_REAL(dlclose)
    jp_maps_dirty_sig();
    int result = real(library);
    jp_maps_dirty_sig();
    return result;
}

JP_HOOK(int, iconv_close, (iconv_t descriptor))
{
    JP_REAL(iconv_close)
    int result = real(descriptor);
    jp_maps_dirty_sig();
    return result;
}

/* Closing a wide stream may unmap its character set's module (fopen's `ccs=`,
 * or the locale's).  NULL ends the program in glibc's fclose as well. */
JP_HOOK(int, fclose, (FILE * stream))
{
    JP_REAL(fclose)
    const int wide = fwide(stream, 0) > 0;
    int result = real(stream);
    if (wide)
        jp_maps_dirty_sig();
    return result;
}

/* Called by memory checkers at a program's end; name services' modules are
 * unmapped here only. */
JP_HOOK(void, __libc_freeres, (void))
{
    JP_REAL(__libc_freeres)
    real();
    jp_maps_dirty_sig();
}
