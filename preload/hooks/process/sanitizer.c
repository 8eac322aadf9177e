/* SPDX-License-Identifier: MIT
 *
 * What AddressSanitizer asks the program for as it begins
 * (__asan_default_options, sanitizer/asan_interface.h): whether its runtime may
 * stand behind a preloaded library.  Without that answer, it ends the program,
 * profiled or not.  (A program that has the function itself is asked instead.
 * Nothing may be called here: the runtime's own versions of the C library's
 * functions lead nowhere yet.)
 * Runs in: any thread, before the constructor. */
#include "hooks/base/real.h"

JP_EXPORT const char *__asan_default_options(void);
JP_EXPORT const char *__asan_default_options(void)
{
    return "verify_asan_link_order=0";
}
