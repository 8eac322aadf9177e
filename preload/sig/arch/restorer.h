/* SPDX-License-Identifier: MIT
 *
 * What rt_sigaction takes and gives back on machines where the program says
 * where handlers return to.
 * Runs in: any thread. */
#ifndef JP_ARCH_RESTORER_H
#define JP_ARCH_RESTORER_H

#include <signal.h>
#include <stdint.h>

/* The mask is 64 bits (rt_sigaction(2); asm/signal.h, SA_RESTORER). */
struct jp_arch_action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

/* Copies the restorer, of which the C library's structure has a place in any
 * case. */
static inline void jp_arch_restorer_get(const struct jp_arch_action *from,
                                        struct sigaction *to)
{
    to->sa_restorer = from->restorer;
}

static inline void jp_arch_restorer_set(struct jp_arch_action *to,
                                        const struct sigaction *from)
{
    to->restorer = from->sa_restorer;
}

#endif
