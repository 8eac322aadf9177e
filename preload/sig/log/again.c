/* SPDX-License-Identifier: MIT
 *
 * Samples whose stack an earlier one of their thread has.
 * Runs in: handler, any thread. */
#include "again.h"

#include <string.h>

#include "ring.h"
#include "sig/state/buffer.h"
#include "sig/state/config.h"

/* Threads that begin one after another have numbers one after another, and so
 * have places of their own. */
static uint32_t place_sig(uint32_t tid, uint16_t ref)
{
    return (tid + ref * 31U) % JP_BUFFER_SAMPLES;
}

int jp_again_wanted_sig(void)
{
    return jp_config.ring_bytes == 0 && jp_ring_wanted_sig();
}

void jp_again_reset_sig(struct jp_buffer *buffer)
{
    if (jp_again_wanted_sig())
        memset(buffer->samples, 0, sizeof(buffer->samples));
}

void jp_again_add_sig(struct jp_buffer *buffer, uint32_t tid, uint16_t ref,
                      uint16_t at)
{
    if (jp_again_wanted_sig())
        buffer->samples[place_sig(tid, ref)] =
            (struct jp_buffer_sample){tid, ref, at};
}

int jp_again_fill_sig(const struct jp_buffer *buffer,
                      const struct jp_sample *sample, uint16_t ref,
                      struct jp_again_record *record)
{
    const struct jp_buffer_sample *first =
        &buffer->samples[place_sig(sample->tid, ref)];
    const struct jp_chunk_header *chunk =
        (const struct jp_chunk_header *)buffer->chunk;
    if (!jp_again_wanted_sig() || first->at == 0 || first->tid != sample->tid ||
        first->ref != ref)
        return 0;
    const uint64_t since = sample->time_ns - chunk->opened_ns;
    if (since > JP_AGAIN_MAX || sample->weight_ns > JP_AGAIN_MAX)
        return 0;
    record->sample = first->at;
    record->time_high = (uint8_t)(since >> 32);
    record->weight_high = (uint8_t)(sample->weight_ns >> 32);
    record->time = (uint32_t)since;
    record->weight = (uint32_t)sample->weight_ns;
    return 1;
}
