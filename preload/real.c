/* SPDX-License-Identifier: MIT
 *
 * The libc functions behind the ones that the library interposes.
 * Runs in: any thread, not in a handler. */
#include "real.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#include "sig/process.h"

/* Stands in for a function that no library has: fails as a system call that
 * is not implemented does. */
static long missing(void)
{
    errno = ENOSYS;
    return -1;
}

/* The linker's bounds of the section that the entries are in. */
extern const struct jp_real_entry __start_jp_reals[]
    __attribute__((visibility("hidden")));
extern const struct jp_real_entry __stop_jp_reals[]
    __attribute__((visibility("hidden")));

static void *find(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (function != NULL)
        return function;
    /* Nothing comes after us where the C library itself was preloaded first. */
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    return libc != NULL ? dlsym(libc, name) : NULL;
}

void jp_real_all(void)
{
    for (const struct jp_real_entry *entry = __start_jp_reals;
         entry != __stop_jp_reals; entry++) {
        if (*entry->found == NULL)
            *entry->found = find(entry->name);
    }
}

void *jp_real(const char *name)
{
    void *function = find(name);
    if (function != NULL)
        return function;
    jp_complain_sig("the C library has no ", name, 0);
    *(long (**)(void))&function = missing;
    return function;
}
