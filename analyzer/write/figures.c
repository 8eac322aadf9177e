/* SPDX-License-Identifier: MIT
 *
 * Computes shares and rates, and formats times and names.
 * Runs in: analyzer. */
#include "figures.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"

#define NS 1e9

double jr_percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

double jr_rate_got(const struct jr_stats *stats)
{
    return stats->timer_ns
               ? (double)stats->timer_samples * NS / (double)stats->timer_ns
               : 0.0;
}

double jr_rate_all(const struct jr_stats *stats)
{
    return stats->weight_ns
               ? (double)stats->samples * NS / (double)stats->weight_ns
               : 0.0;
}

double jr_rate_lowered(const struct jr_stats *stats)
{
    return stats->lowered_ns
               ? (double)stats->lowered * NS / (double)stats->lowered_ns
               : 0.0;
}

uint64_t jr_lost(const struct jr_stats *stats)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < JR_LOST_COUNT; i++)
        sum = jr_add(sum, stats->lost[i]);
    return sum;
}

uint64_t jr_rules(const struct jr_stats *stats)
{
    return jr_add(stats->rule_hits, stats->rule_misses);
}

uint64_t jr_incomplete(const struct jr_stats *stats)
{
    return stats->samples - stats->reasons[JP_REASON_ROOT] -
           stats->reasons[JP_REASON_FIBER];
}

const char *jr_shown_module(const struct jr_function *function)
{
    /* module+0xSTART; or "[jit]" of [jit], and nothing of nothing. */
    if (function->kind == JR_FRAME_UNNAMED ||
        strcmp(function->name, function->module) == 0)
        return "";
    return function->module;
}

void jr_put_tier(const struct jr_function *function, FILE *out)
{
    if (function->tier)
        fprintf(out, " [%s]", function->tier);
    if (function->inlined)
        fputs(JR_INLINED, out);
}

const char *jr_exe_of(const struct jr_process *process)
{
    if (process->run->header.exe[0] != '\0')
        return process->run->header.exe;
    return process->map->exe ? process->map->exe : "";
}

char *jr_duration(uint64_t ns)
{
    double seconds = (double)ns / NS;

    if (seconds < 1.0)
        return jr_printf("%.0f ms", seconds * 1000);
    if (seconds < 120.0)
        return jr_printf("%.2f s", seconds);
    if (seconds < 7200.0)
        return jr_printf("%d min %d s", (int)seconds / 60, (int)seconds % 60);
    return jr_printf(
        "%" PRIu64 " h %d min", (uint64_t)(seconds / 3600),
        (int)(seconds / 60 - 60 * (double)(uint64_t)(seconds / 3600)));
}
