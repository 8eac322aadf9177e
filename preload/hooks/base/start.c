/* SPDX-License-Identifier: MIT
 *
 * What the compiler's own start files (crti.o, crtbeginS.o) would bring into
 * the library: its handle, and the destructor that the loader runs last, which
 * calls what was registered with the handle (Itanium C++ ABI, 3.3.5).
 * Distributions' files are not all marked as fit for shadow stacks and guarded
 * branches, and the linker marks what it makes only if each part of it is.
 * Linked into the library alone, first.
 * Runs in: destructor. */
#include "glibc.h"

extern void __cxa_finalize(void *handle) __attribute__((weak));

void *__dso_handle = &__dso_handle;

__attribute__((destructor)) static void finalize(void)
{
    if (__cxa_finalize != NULL)
        __cxa_finalize(__dso_handle);
}
