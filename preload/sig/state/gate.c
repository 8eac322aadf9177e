/* SPDX-License-Identifier: MIT
 *
 * Tells whether the calling thread is one of the profiled process, without any
 * thread-local memory.
 * Runs in: handler, any thread, whatever its thread pointer is. */
#include "gate.h"

#include <stddef.h>

#include "process.h"
#include "sig/os/own.h"
#include "sig/os/sys.h"

/* A thread pointer is kept in one of so many places, from the one that its
 * value leads to on.  The assembler looks into that first one only. */
#define WAYS 4U

uint64_t jp_gate_known[JP_GATE_PLACES];
uint8_t jp_gate_direct;

void jp_gate_init_sig(uint64_t hwcap2)
{
    jp_gate_direct = JP_ARCH_HAS_THREAD(hwcap2);
}

/* The calling thread's thread pointer; 0 when a filter forbids to ask. */
JP_GATE_SECTION static uint64_t pointer_sig(void)
{
    uint64_t thread = 0;
    if (jp_gate_direct)
        return jp_arch_thread_sig();
    return jp_sys_sig(JP_ARCH_THREAD_CALL, (long)&thread, 0, 0, 0) == 0 ? thread
                                                                        : 0;
}

JP_GATE_SECTION static uint64_t *place_sig(uint64_t thread, unsigned way)
{
    return &jp_gate_known[(JP_ARCH_GATE_PLACE(thread) + way) % JP_GATE_PLACES];
}

/* The place that holds a thread pointer; NULL when none does. */
JP_GATE_SECTION static uint64_t *find_sig(uint64_t thread)
{
    for (unsigned i = 0; i < WAYS; i++) {
        if (__atomic_load_n(place_sig(thread, i), __ATOMIC_RELAXED) == thread)
            return place_sig(thread, i);
    }
    return NULL;
}

static void keep_sig(uint64_t thread)
{
    if (find_sig(thread) != NULL)
        return;
    for (unsigned i = 0; i < WAYS; i++) {
        uint64_t none = 0;
        if (__atomic_compare_exchange_n(place_sig(thread, i), &none, thread, 0,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return;
    }
    __atomic_store_n(place_sig(thread, 0), thread, __ATOMIC_RELAXED);
}

/* Whether memory at a thread pointer is what the C library writes there; the
 * value may be no address at all. */
static int is_sound_sig(uint64_t thread)
{
    uint64_t word;
    return thread != 0 &&
           jp_self_read_sig(thread + JP_ARCH_THREAD_WORD, &word,
                            sizeof(word)) == (long)sizeof(word) &&
           jp_arch_thread_is_sound_sig(thread, word);
}

JP_GATE_SECTION int jp_gate_ask_sig(void)
{
    const uint64_t thread = pointer_sig();
    if (thread == 0)
        return 0;
    if (find_sig(thread) != NULL)
        return jp_arch_thread_is_sound_sig(
            thread, *(uint64_t *)(thread + JP_ARCH_THREAD_WORD));
    if (jp_sys_getpid_sig() != jp_owner->pid || !is_sound_sig(thread))
        return 0;
    keep_sig(thread);
    return 1;
}

void jp_gate_enter_sig(void)
{
    const uint64_t thread = pointer_sig();
    if (thread != 0)
        keep_sig(thread);
}

void jp_gate_leave_sig(void)
{
    const uint64_t thread = pointer_sig();
    uint64_t *place = find_sig(thread);
    if (place != NULL)
        __atomic_store_n(place, 0, __ATOMIC_RELAXED);
}

int jp_gate_sound_sig(void)
{
    return is_sound_sig(pointer_sig());
}
