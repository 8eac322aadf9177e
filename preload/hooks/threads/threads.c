/* SPDX-License-Identifier: MIT
 *
 * Threads: the pthread_create hook.
 * Runs in: any thread, not in a handler. */
#include "threads.h"

#include <pthread.h>
#include <stddef.h>

#include "hooks/base/local.h"
#include "hooks/base/real.h"
#include "hooks/signals/altstack.h"
#include "sig/adopt.h"
#include "sig/clock/clock.h"
#include "sig/critical.h"
#include "sig/files/names.h"
#include "sig/os/sys.h"
#include "sig/sampling.h"
#include "sig/state/gate.h"
#include "sig/state/kit.h"
#include "sig/state/process.h"
#include "sig/state/slot.h"

typedef int create_function(pthread_t *, const pthread_attr_t *,
                            void *(*)(void *), void *);

/* The linker's bounds of the section that start() is alone in: a stack whose
 * walk comes to it has reached its root. */
extern const char __start_jp_thread_start[]
    __attribute__((visibility("hidden")));
extern const char __stop_jp_thread_start[]
    __attribute__((visibility("hidden")));

void jp_threads_init(void)
{
    jp_thread_start_low = (uint64_t)__start_jp_thread_start;
    jp_thread_start_high = (uint64_t)__stop_jp_thread_start;
}

static void begin(struct jp_slot *slot)
{
    const uint32_t tid = jp_sys_gettid_sig();
    jp_gate_enter_sig();
    if (tid == 0)
        return; /* a filter keeps us from knowing who it is */
    jp_adopt_begin_sig(slot, tid);
    jp_altstack_begin(slot->stack.room);
    jp_local_begin(slot);
    if (atomic_load(&jp_process.running))
        jp_clock_arm_sig(slot);
    if (!atomic_load(&jp_process.running))
        jp_clock_disarm_sig(slot);
}

/* Also when the thread leaves by pthread_exit or is cancelled. */
static void end(void *data)
{
    struct jp_slot *slot = data;
    if (!jp_owned_sig())
        return;
    const struct jp_clock_kind *source = slot->clock.kind;
    jp_clock_end_sig(slot);
    jp_altstack_end();
    /* Of the timer's signals none is left; no other may find the slot while
     * it goes. */
    uint64_t mask = jp_critical_begin_sig();
    jp_sampling_flush_time_sig(slot);
    jp_sampling_missed_ticks_sig(slot, source);
    if (slot->kit != NULL) {
        jp_sampling_flush_sig(slot->kit);
        jp_names_update_sig(slot);
        jp_kit_return_sig(slot->kit);
    }
    jp_slot_end_sig(slot, jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID));
    jp_gate_leave_sig();
    jp_critical_end_sig(mask);
}

/* How far a thread's stack reaches below its descriptor, which the C library
 * puts at its top (glibc's allocate_stack): it may be more, of a stack that is
 * used again.  0: not known. */
static uint64_t stack_room(const pthread_attr_t *attr)
{
    pthread_attr_t usual;
    size_t size = 0, guard = 0;
    if (attr == NULL && pthread_getattr_default_np(&usual) != 0)
        return 0;
    const pthread_attr_t *asked = attr != NULL ? attr : &usual;
    if (pthread_attr_getstacksize(asked, &size) != 0 ||
        pthread_attr_getguardsize(asked, &guard) != 0 || guard > size)
        size = guard = 0;
    if (attr == NULL)
        pthread_attr_destroy(&usual);
    return size - guard;
}

static uint64_t stack_floor(uint64_t room)
{
    const uint64_t top = (uint64_t)pthread_self();
    const uint64_t page = jp_process.page_size;
    return room < 2 * page || room > top
               ? UINT64_MAX
               : (top - room + 2 * page - 1) & ~(page - 1);
}

__attribute__((section("jp_thread_start"), noinline)) static void *
start(void *data)
{
    struct jp_slot *slot = data;
    void *(*function)(void *) = slot->hooks.function;
    void *argument = slot->hooks.argument, *result;
    slot->stack.high = (uint64_t)__builtin_frame_address(0);
    slot->stack.floor = stack_floor(slot->stack.room);
    slot->stack.bounds_known = 1;
    begin(slot);
    pthread_cleanup_push(end, slot);
    result = function(argument);
    pthread_cleanup_pop(1);
    return result;
}

void *jp_threads_run(void *(*function)(void *), void *argument)
{
    struct jp_slot *slot = jp_owned_sig() ? jp_slot_new_sig() : NULL;
    if (slot == NULL)
        return function(argument);
    slot->hooks.function = function;
    slot->hooks.argument = argument;
    slot->stack.room = 0;
    return start(slot);
}

JP_HOOK(int, pthread_create,
        (pthread_t * thread, const pthread_attr_t *attr,
         void *(*function)(void *), void *argument))
{
    JP_REAL(create_function, pthread_create)
    struct jp_slot *slot =
        !jp_local_is_vfork_child() ? jp_slot_new_sig() : NULL;
    if (slot == NULL)
        return real(thread, attr, function, argument);
    slot->hooks.function = function;
    slot->hooks.argument = argument;
    slot->hooks.program_blocked = jp_local.view;
    slot->stack.room = stack_room(attr);
    int error = real(thread, attr, start, slot);
    if (error != 0)
        jp_slot_free_sig(slot);
    return error;
}
