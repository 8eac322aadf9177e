/* SPDX-License-Identifier: MIT
 *
 * Thread buffers are made on demand and pass from thread to thread by a free
 * list.
 * Runs in: handler, any thread. */
#include "buffer.h"

#include <stddef.h>

#include "config.h"
#include "process.h"
#include "sig/os/freelist.h"
#include "sig/os/sys.h"

static struct jp_buffer *_Atomic buffers[JP_BUFFERS_MAX];
static _Atomic uint32_t buffers_made;

static struct jp_freelist free_buffers;

static struct jp_buffer *make_sig(void)
{
    const size_t stack = sizeof(uint64_t) * jp_config.depth;
    uint32_t index = jp_freelist_extend_sig(&buffers_made);
    if (index == JP_FREELIST_NONE)
        return NULL;
    struct jp_buffer *buffer =
        jp_sys_memory_sig(sizeof(*buffer) + 3 * stack, JP_FORK_DROP);
    if (buffer == NULL)
        return NULL;
    buffer->frames = (uint64_t *)(buffer + 1);
    buffer->last = buffer->frames + jp_config.depth;
    buffer->sps = buffer->last + jp_config.depth;
    buffer->index = index;
    atomic_store(&buffers[index], buffer);
    return buffer;
}

struct jp_buffer *jp_buffer_take_sig(void)
{
    uint32_t index = jp_freelist_pop_sig(&free_buffers);
    return index != JP_FREELIST_NONE ? atomic_load(&buffers[index])
                                     : make_sig();
}

void jp_buffer_return_sig(struct jp_buffer *buffer)
{
    jp_freelist_push_sig(&free_buffers, buffer->index);
}

static void tell_sig(_Atomic uint64_t *count, unsigned counter)
{
    const uint64_t amount =
        atomic_exchange_explicit(count, 0, memory_order_relaxed);
    if (amount != 0)
        jp_count_sig(counter, amount);
}

void jp_buffer_flush_counts_sig(struct jp_buffer *buffer)
{
    tell_sig(&buffer->rule_hits, JP_COUNT_RULE_HITS);
    tell_sig(&buffer->rule_misses, JP_COUNT_RULE_MISSES);
}

uint32_t jp_buffers_made_sig(void)
{
    return atomic_load(&buffers_made);
}

struct jp_buffer *jp_buffer_at_sig(uint32_t index)
{
    return atomic_load(&buffers[index]);
}

void jp_buffers_reset_sig(void)
{
    uint32_t made = atomic_load(&buffers_made);
    for (uint32_t i = 0; i < made; i++)
        atomic_store(&buffers[i], NULL);
    atomic_store(&buffers_made, 0);
    atomic_store(&free_buffers.head, 0);
}
