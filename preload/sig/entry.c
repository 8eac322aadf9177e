/* SPDX-License-Identifier: MIT
 *
 * Where the kernel enters jprof's signal handlers.
 * Runs in: handler (jp_enter_handler_sig, jp_enter_trap_sig), any thread. */
#include "entry.h"

#include "handler.h"
#include "sig/arch/arch.h"
#include "sig/state/process.h"
#include "trap.h"

/* The handler's is in JP_GATE_SECTION, as a thread that is interrupted there
 * has begun the handler (jp_handler_is_at_sig). */
__asm__(JP_ARCH_KEYS_ENTER("jp_handler", "jp_enter_handler_sig",
                           "jp_handler_sig")
            JP_ARCH_KEYS_ENTER(".text", "jp_enter_trap_sig", "jp_trap_sig"));
jp_entry_function jp_enter_handler_sig __attribute__((visibility("hidden")));
jp_entry_function jp_enter_trap_sig __attribute__((visibility("hidden")));

jp_entry_function *jp_entry_handler(void)
{
    return jp_process.has_keys ? jp_enter_handler_sig : jp_handler_sig;
}

jp_entry_function *jp_entry_trap(void)
{
    return jp_process.has_keys ? jp_enter_trap_sig : jp_trap_sig;
}
