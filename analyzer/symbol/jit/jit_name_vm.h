/* SPDX-License-Identifier: MIT
 *
 * Rules for names of JIT code in other runtimes, and mangled symbols.
 * Runs in: analyzer. */
#ifndef JR_JIT_NAME_VM_H
#define JR_JIT_NAME_VM_H

#include "jit_name_rules.h"

/* Java, .NET, Python, PHP, Erlang, WebAssembly,
 * mangled symbols. */
jr_take_name_fn jr_name_java_class, jr_name_java_type, jr_name_dotnet,
    jr_name_python, jr_name_php_trace, jr_name_erlang, jr_name_erlang_part,
    jr_name_wasmtime, jr_name_mangled;

#endif
