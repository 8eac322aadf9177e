/* SPDX-License-Identifier: MIT
 *
 * Chooses the architecture's header: the one place that asks which it is.
 * Runs in: handler, any thread. */
#ifndef JP_ARCH_H
#define JP_ARCH_H

#if defined(__x86_64__)
#include "x86_64.h"
#elif defined(__aarch64__)
#include "aarch64.h"
#else
#error "jprof knows x86_64 and aarch64; add a header beside theirs"
#endif

#endif
