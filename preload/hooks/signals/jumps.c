/* SPDX-License-Identifier: MIT
 *
 * Hooks of jumps that set a signal mask, past the mask hooks.  siglongjmp's
 * buffer has the kernel's mask of then (setjmp.h, struct __jmp_buf_tag), in
 * which the clock's signals are never blocked.  The program believed them
 * blocked if all others are (jp_local_program_blocked).
 * Runs in: any thread, the program's handlers. */
#include <setjmp.h>

#include "hooks/base/local.h"
#include "hooks/base/real.h"
#include "hooks/base/retry.h"
#include "sig/state/process.h"

/* AddressSanitizer's marks of a frame would stay on the stack when a jump
 * leaves the frame. */
#define UNMARKED __attribute__((no_sanitize("address")))

/* Sets what the program believes blocked after the jump.  That may leave a call
 * of a hook's: by a fault's handler, which the kernel called itself. */
static void bring_back(const struct __jmp_buf_tag *place)
{
    jp_retry_out();
    if (place->__mask_was_saved && !jp_local_is_vfork_child())
        jp_local.program_blocked =
            jp_local_program_blocked(jp_local_bits(&place->__saved_mask));
}

JP_HOOK(UNMARKED void, siglongjmp, (sigjmp_buf place, int value))
{
    JP_REAL(siglongjmp)
    bring_back(place);
    real(place, value);
    __builtin_unreachable();
}

JP_HOOK(UNMARKED void, longjmp, (jmp_buf place, int value))
{
    JP_REAL(longjmp)
    bring_back(place);
    real(place, value);
    __builtin_unreachable();
}

/* What glibc's headers turn both into under _FORTIFY_SOURCE. */
JP_HOOK(UNMARKED void, __longjmp_chk, (struct __jmp_buf_tag * place, int value))
{
    JP_REAL(__longjmp_chk)
    bring_back(place);
    real(place, value);
    __builtin_unreachable();
}
