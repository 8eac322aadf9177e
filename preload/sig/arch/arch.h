/* SPDX-License-Identifier: MIT
 *
 * Chooses the architecture's header.  No other file asks which architecture and
 * which C library it is compiled for.
 * Runs in: handler, any thread. */
#ifndef JP_ARCH_H
#define JP_ARCH_H

#include <features.h>
#if !defined(__GLIBC__)
#error "libjprof.so needs the GNU C library (musl: doc/platforms.md)"
#elif defined(__x86_64__)
#include "x86_64.h"
#elif defined(__aarch64__)
#include "aarch64.h"
#elif defined(__riscv) && __riscv_xlen == 64
#include "riscv64.h"
#else
#error "jprof knows x86_64, aarch64 and riscv64; add a header beside theirs"
#endif

#ifndef JP_ARCH_HALT
#define JP_ARCH_HALT (-1) /* no instruction says this */
#endif

#endif
