/* SPDX-License-Identifier: MIT
 *
 * The pure stages of the clock of real time in their order.
 * Runs in: handler. */
#include "estimate.h"

#include "classify.h"
#include "sig/timers/left.h"

void jp_estimate_sample_sig(struct jp_wall *wall, const struct jp_given *given,
                            const struct jp_draw *draw,
                            const struct jp_look *look,
                            struct jp_accounted *result)
{
    struct jp_wall_stratum *stratum = &wall->stratum;
    const uint64_t now = look->seen.now_ns, moment = stratum->moment_ns;
    jp_account_used_sig(wall, given, look, result);
    jp_classify_sampled_sig(wall, look);
    const uint64_t length = jp_schedule_length_sig(wall, given, look);
    const uint64_t covered =
        jp_account_sample_sig(wall, given, look, length, result);
    const struct jp_plan plan = {result->begin_ns, length,
                                 jp_schedule_memoryless_sig(wall, given, now)};
    jp_schedule_next_sig(wall, given, draw, &plan);
    result->late_ns = now > moment ? now - moment : 0;
    result->due->counted_ns =
        jp_schedule_counted_sig(stratum, &look->found, given->threads, covered);
    result->due->probes = result->due->running != 0 && !stratum->was_parked;
}

int jp_estimate_skip_sig(struct jp_wall *wall, const struct jp_given *given,
                         const struct jp_look *look, int skipped,
                         struct jp_accounted *result)
{
    jp_classify_unsampled_sig(wall, look);
    if (!skipped || look->found.blocks == 0 ||
        look->found.blocks == JP_LEFT_UNKNOWN)
        return 0;
    jp_account_used_sig(wall, given, look, result);
    jp_classify_skipped_sig(wall, look);
    return 1;
}
