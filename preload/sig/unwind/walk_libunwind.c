/* SPDX-License-Identifier: MIT
 *
 * The libunwind walker (JP_STACK=libunwind).  libunwind takes locks, calls
 * dl_iterate_phdr and uses up to 9 KiB of stack: it is not safe against a
 * lock that the interrupted code holds, and is used only when asked for.
 * Runs in: handler (exempt from its rules, doc/DESIGN.md). */
#include "walk_libunwind.h"

/* There may be no libunwind for a cross compiler. */
#if __has_include(<libunwind.h>)
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#define HAVE_LIBUNWIND 1
#else
#define HAVE_LIBUNWIND 0
#endif

#include <errno.h>
#include <stddef.h>

#include "sig/arch/arch.h"
#include "sig/state/buffer.h"
#include "sig/state/config.h"
#include "sig/state/thread.h"

#if HAVE_LIBUNWIND
/* libunwind.h's UNW_OBJ names these for the architecture at hand. */
#define TEXT_OF(symbol) #symbol
#define NAME_OF(symbol) TEXT_OF(symbol)

static int (*init_local2)(unw_cursor_t *, unw_context_t *, int);
static int (*step)(unw_cursor_t *);
static int (*get_reg)(unw_cursor_t *, int, unw_word_t *);
static int (*is_signal_frame)(unw_cursor_t *);

_Static_assert(sizeof(unw_cursor_t) <= sizeof(((struct jp_buffer *)0)->walker),
               "a buffer has room for libunwind's cursor");

int jp_walk_libunwind_load(void *(*load)(const char *name),
                           void *(*find)(void *library, const char *name))
{
    void *library = load("libunwind.so.8");
    if (library == NULL)
        return -ENOENT;
    *(void **)&init_local2 = find(library, NAME_OF(unw_init_local2));
    *(void **)&step = find(library, NAME_OF(unw_step));
    *(void **)&get_reg = find(library, NAME_OF(unw_get_reg));
    *(void **)&is_signal_frame = find(library, NAME_OF(unw_is_signal_frame));
    return init_local2 != NULL && step != NULL && get_reg != NULL &&
                   is_signal_frame != NULL
               ? 0
               : -ENOENT;
}

enum jp_reason jp_walk_libunwind_sig(struct jp_walk *walk)
{
    unw_cursor_t *cursor = (unw_cursor_t *)walk->buffer->walker;
    unw_context_t *context = (unw_context_t *)(uintptr_t)walk->context;
    jp_walk_push_sig(walk, jp_arch_pc_sig(walk->context),
                     jp_arch_sp_sig(walk->context));
    if (init_local2(cursor, context, UNW_INIT_SIGNAL_FRAME) != 0)
        return JP_REASON_WALKER;
    for (;;) {
        unw_word_t address, sp;
        int result = step(cursor);
        /* The frame above a signal's has an exact pc.  After unw_step, the
         * cursor tells about the frame that it has left. */
        const int exact = is_signal_frame(cursor) > 0;
        if (result <= 0)
            return result == 0 ? JP_REASON_ROOT : JP_REASON_WALKER;
        if (get_reg(cursor, UNW_REG_IP, &address) != 0 ||
            get_reg(cursor, UNW_REG_SP, &sp) != 0)
            return JP_REASON_WALKER;
        if (address == 0 || jp_thread_is_start_sig(address))
            return JP_REASON_ROOT;
        /* A frame takes half a microsecond and more, so this walk ends at the
         * limit instead of going on to the root. */
        if (!jp_walk_push_sig(walk, address + (unsigned)exact, sp) ||
            walk->total >= jp_config.depth)
            return JP_REASON_DEPTH;
    }
}
#else
int jp_walk_libunwind_load(void *(*load)(const char *name),
                           void *(*find)(void *library, const char *name))
{
    (void)load;
    (void)find;
    return -ENOENT;
}

/* Never chosen when it cannot be loaded. */
enum jp_reason jp_walk_libunwind_sig(struct jp_walk *walk)
{
    jp_walk_push_sig(walk, jp_arch_pc_sig(walk->context),
                     jp_arch_sp_sig(walk->context));
    return JP_REASON_WALKER;
}
#endif
