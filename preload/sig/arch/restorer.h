/* SPDX-License-Identifier: MIT
 *
 * The structure of rt_sigaction on machines where it has a restorer: the code
 * to which handlers return.
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

/* Copies the restorer between the kernel's structure and the C library's, which
 * has a field for it on every machine. */
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
