/* SPDX-License-Identifier: MIT
 *
 * Branches past the landing pad of a function that is jprof's, `sleep`, where
 * the library is loaded.  Prints whether the processor stopped that: `guarded`
 * or `open`.
 * Exit status 77: another kind of machine.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>

#ifdef __aarch64__

#define LANDING_PAD 4 /* bytes: bti c */

static sigjmp_buf back;

static void stopped(int signal)
{
    (void)signal;
    siglongjmp(back, 1);
}

int main(void)
{
    unsigned (*inside)(unsigned);
    char *function = dlsym(RTLD_DEFAULT, "sleep");
    if (function == NULL)
        return 3;
    *(void **)&inside = function + LANDING_PAD;
    signal(SIGILL, stopped);
    if (sigsetjmp(back, 1) == 0)
        printf("%s\n", inside(0) == 0 ? "open" : "?");
    else
        printf("guarded\n");
    return 0;
}

#else

int main(void)
{
    return 77;
}

#endif
