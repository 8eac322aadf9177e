/* SPDX-License-Identifier: MIT
 *
 * Nodes by stack, and the chunks in which each thread has samples.
 * Runs in: analyzer. */
#include "found.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/search.h"

#define CHANGES UINT32_MAX /* a stack's node: it has several */

struct jr_found *jr_found_new(struct jr_log *log, size_t nstacks,
                              uint32_t first_thread, int holds)
{
    struct jr_found *found = jr_alloc(1, sizeof *found);

    found->log = log;
    found->nodes = jr_alloc(nstacks + 1, sizeof *found->nodes);
    found->first_thread = first_thread;
    found->holds = (uint8_t)holds;
    return found;
}

void jr_found_free(struct jr_found *found)
{
    if (!found)
        return;
    jr_table_free(&found->tids);
    free(found->nodes);
    free(found->changes);
    free(found->pieces);
    free(found->last);
    free(found->held);
    free(found);
}

static void add_change(struct jr_found *found, size_t stack, uint64_t time_ns,
                       uint32_t node)
{
    *JR_PUSH(found->changes, found->nchanges, found->changes_room) =
        (struct jr_found_change){time_ns, (uint32_t)stack, node};
}

void jr_found_node(struct jr_found *found, size_t stack, uint64_t time_ns,
                   uint32_t before, uint32_t node)
{
    if (before == JR_NO_ITEM) {
        found->nodes[stack] = node;
        return;
    }
    if (node == before)
        return;
    if (found->nodes[stack] != CHANGES)
        add_change(found, stack, 0, before);
    found->nodes[stack] = CHANGES;
    add_change(found, stack, time_ns, node);
}

void jr_found_sample(struct jr_found *found, uint32_t thread, uint32_t chunk,
                     const struct jr_sample *sample)
{
    const size_t own = thread - found->first_thread;

    if (found->holds) {
        chunk = (uint32_t)found->nheld;
        *JR_PUSH(found->held, found->nheld, found->held_room) = *sample;
    }
    while (found->nlast <= own)
        *JR_PUSH(found->last, found->nlast, found->last_room) = UINT32_MAX;
    if (found->last[own] == chunk)
        return;
    found->last[own] = chunk;
    *JR_PUSH(found->pieces, found->npieces, found->pieces_room) =
        (uint64_t)thread << 32 | chunk;
}

static int by_number(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

static int by_stack(const void *left, const void *right)
{
    const struct jr_found_change *a = left, *b = right;

    if (a->stack != b->stack)
        return a->stack < b->stack ? -1 : 1;
    return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

void jr_found_seal(struct jr_found *found)
{
    size_t kept = 0;

    free(found->last);
    found->last = NULL;
    found->nlast = found->last_room = 0;
    if (found->nchanges > 0)
        qsort(found->changes, found->nchanges, sizeof *found->changes,
              by_stack);
    if (found->npieces > 0)
        qsort(found->pieces, found->npieces, sizeof *found->pieces, by_number);
    for (size_t i = 0; i < found->npieces; i++)
        if (i == 0 || found->pieces[i] != found->pieces[i - 1])
            found->pieces[kept++] = found->pieces[i];
    found->npieces = kept;
}

/* The index of the first change of `stack` behind a time. */
static size_t change_behind(const struct jr_found *found, uint32_t stack,
                            uint64_t time_ns)
{
    return JR_FIRST_NOT(found->nchanges, i,
                        found->changes[i].stack < stack ||
                            (found->changes[i].stack == stack &&
                             found->changes[i].time_ns <= time_ns));
}

uint32_t jr_found_at(const struct jr_found *found, size_t stack,
                     uint64_t time_ns)
{
    if (found->nodes[stack] != CHANGES)
        return found->nodes[stack];
    /* The first one of a stack has the time 0. */
    return found->changes[change_behind(found, (uint32_t)stack, time_ns) - 1]
        .node;
}

size_t jr_found_pieces(const struct jr_found *found, uint32_t thread)
{
    return JR_FIRST_NOT(found->npieces, i, found->pieces[i] >> 32 < thread);
}
