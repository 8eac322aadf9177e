/* SPDX-License-Identifier: MIT
 *
 * The pthread_create hook, and the begin and end of its threads.
 * Runs in: any thread, not in a handler. */
#include "threads.h"

#include <pthread.h>
#include <stddef.h>

#include "hooks/base/glibc.h"
#include "hooks/base/local.h"
#include "hooks/base/real.h"
#include "hooks/signals/altstack.h"
#include "sig/adopt.h"
#include "sig/clock/clock.h"
#include "sig/critical.h"
#include "sig/files/names.h"
#include "sig/os/sys.h"
#include "sig/sampling.h"
#include "sig/state/buffer.h"
#include "sig/state/dispatched.h"
#include "sig/state/gate.h"
#include "sig/state/process.h"
#include "sig/state/thread.h"

/* The linker's bounds of the section that holds only start(): a walk that comes
 * there has reached the stack's root. */
extern const char __start_jp_thread_start[]
    __attribute__((visibility("hidden")));
extern const char __stop_jp_thread_start[]
    __attribute__((visibility("hidden")));

void jp_thread_start_init(void)
{
    jp_thread_start_low = (uint64_t)__start_jp_thread_start;
    jp_thread_start_high = (uint64_t)__stop_jp_thread_start;
}

static void begin(struct jp_thread *thread)
{
    const uint32_t tid = jp_sys_gettid_sig();
    jp_gate_enter_sig();
    if (tid == 0)
        return; /* a filter forbids to ask which thread it is */
    jp_adopt_begin_sig(thread, tid);
    jp_altstack_begin(thread->stack.room);
    jp_local_begin(thread);
    if (atomic_load(&jp_process.running)) {
        jp_thread_armed_sig(jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID));
        jp_clock_arm_sig(thread);
    }
    if (!atomic_load(&jp_process.running))
        jp_clock_disarm_sig(thread);
}

/* Ends a thread's profile; also when it calls pthread_exit or is cancelled. */
static void end(void *data)
{
    struct jp_thread *thread = data;
    if (!jp_process_ready_sig())
        return;
    const int armed = thread->clock.kind != NULL;
    jp_clock_end_sig(thread);
    jp_altstack_end();
    /* The clock sends no more signals; others must not find the record while it
     * is given back. */
    uint64_t mask = jp_critical_begin_sig();
    if (!armed)
        jp_sampling_unseen_sig(thread);
    jp_sampling_flush_time_sig(thread);
    if (thread->buffer != NULL) {
        jp_sampling_flush_sig(thread->buffer);
        jp_names_update_sig(thread);
        jp_buffer_return_sig(thread->buffer);
    }
    jp_thread_end_sig(thread, jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID));
    jp_gate_leave_sig();
    jp_critical_end_sig(mask);
    jp_dispatched_end_sig();
}

/* The bytes of a new thread's stack below the C library's thread descriptor,
 * which is at its top (glibc's allocate_stack).  There may be more if the C
 * library uses a stack again.  0: unknown. */
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

/* The lowest address that surely belongs to the calling thread's stack;
 * UINT64_MAX: unknown. */
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
    struct jp_thread *thread = data;
    void *(*function)(void *) = thread->hooks.function;
    void *argument = thread->hooks.argument, *result;
    thread->stack.high = (uint64_t)__builtin_frame_address(0);
    thread->stack.floor = stack_floor(thread->stack.room);
    thread->stack.bounds_known = 1;
    thread->stack.first = (uint64_t)function;
    thread->stack.first_end = 0;
    begin(thread);
    pthread_cleanup_push(end, thread);
    result = function(argument);
    pthread_cleanup_pop(1);
    return result;
}

void *jp_threads_run(void *(*function)(void *), void *argument)
{
    struct jp_thread *thread =
        jp_process_ready_sig() ? jp_thread_new_sig() : NULL;
    if (thread == NULL)
        return function(argument);
    thread->hooks.function = function;
    thread->hooks.argument = argument;
    thread->stack.room = 0;
    return start(thread);
}

JP_ALSO(pthread_create, JP_ARCH_GLIBC);
JP_HOOK(int, pthread_create,
        (pthread_t * handle, const pthread_attr_t *attr,
         void *(*function)(void *), void *argument))
{
    JP_REAL(pthread_create)
    struct jp_thread *thread =
        !jp_local_is_vfork_child() ? jp_thread_new_sig() : NULL;
    if (thread == NULL)
        return real(handle, attr, function, argument);
    thread->hooks.function = function;
    thread->hooks.argument = argument;
    thread->hooks.program_blocked = jp_local.program_blocked;
    thread->stack.room = stack_room(attr);
    int error = real(handle, attr, start, thread);
    if (error != 0)
        jp_thread_free_sig(thread);
    return error;
}
