/* SPDX-License-Identifier: MIT
 *
 * Hooks of the C library's own profiler (profil(3)), which programs built with
 * -pg start before main.  It sets SIGPROF's handler and ITIMER_PROF inside the
 * C library, past the hooks of both; so SIGPROF becomes the program's here.
 * Runs in: any thread. */
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>
#include <unistd.h>

#include "hooks/base/real.h"
#include "hooks/signals/signals.h"

struct prof; /* sprofil's, glibc's sys/profil.h */

JP_HOOK(int, profil,
        (unsigned short *buffer, size_t size, size_t offset, unsigned scale))
{
    JP_REAL(profil)
    if (buffer != NULL)
        jp_signals_use_unseen(SIGPROF);
    return real(buffer, size, offset, scale);
}

JP_HOOK(int, sprofil,
        (struct prof * parts, int count, struct timeval *period,
         unsigned flags))
{
    JP_REAL(sprofil)
    if (count > 0)
        jp_signals_use_unseen(SIGPROF);
    return real(parts, count, period, flags);
}

/* glibc's gmon.c, as gcrt1.o calls it: the addresses of the code. */
JP_HOOK(void, __monstartup, (unsigned long low, unsigned long high))
{
    JP_REAL(__monstartup)
    jp_signals_use_unseen(SIGPROF);
    real(low, high);
}

JP_HOOK(void, monstartup, (unsigned long low, unsigned long high))
{
    JP_REAL(monstartup)
    jp_signals_use_unseen(SIGPROF);
    real(low, high);
}

JP_HOOK(void, moncontrol, (int mode))
{
    JP_REAL(moncontrol)
    if (mode != 0)
        jp_signals_use_unseen(SIGPROF);
    real(mode);
}
