/* SPDX-License-Identifier: MIT
 *
 * Names of the machine that the programs are compiled for.  What the library
 * does differently on each machine is in preload/sig/arch.
 * Runs in: everywhere (constants only). */
#ifndef JP_MACHINE_H
#define JP_MACHINE_H

/* The name that uname says; ELF's e_machine (elf.h), 0: unknown; and Debian's
 * folder for libraries (Multiarch/Tuples). */
#if defined(__x86_64__)
#define JP_MACHINE_NAME "x86_64"
#define JP_MACHINE_ELF 62
#define JP_MACHINE_LIB "lib/x86_64-linux-gnu"
#elif defined(__aarch64__)
#define JP_MACHINE_NAME "aarch64"
#define JP_MACHINE_ELF 183
#define JP_MACHINE_LIB "lib/aarch64-linux-gnu"
#elif defined(__riscv) && __riscv_xlen == 64
#define JP_MACHINE_NAME "riscv64"
#define JP_MACHINE_ELF 243
#define JP_MACHINE_LIB "lib/riscv64-linux-gnu"
#else
#define JP_MACHINE_NAME "unknown"
#define JP_MACHINE_ELF 0
#define JP_MACHINE_LIB "lib"
#endif

#endif
