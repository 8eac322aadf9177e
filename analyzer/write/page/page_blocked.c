/* SPDX-License-Identifier: MIT
 *
 * Writes the page's block of what blocked in real time: waits, each a function
 * of the program and what it called, and which stacks are one.
 * Runs in: analyzer. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/table.h"
#include "jp_log.h"
#include "model/waits.h"
#include "pack.h"
#include "page.h"

struct blocked {
    const struct jr_model *model;
    uint8_t *wrappers;
    const uint32_t *functions; /* of the page, plus one, by function */
    uint64_t *function, *call; /* by wait: of the page */
    size_t count, function_room, call_room;
    size_t ncalls; /* as count */
    struct jr_table by_call;
};

/* The number of a node's wait, plus one; 0: it is none. */
static uint64_t wait_of(struct blocked *blocked, uint32_t node)
{
    const uint32_t fresh = (uint32_t)blocked->count;
    uint32_t function, call, number;

    if (node == 0)
        return 0;
    jr_waits_place(blocked->model, blocked->wrappers, node, &function, &call);
    number = jr_table_put(&blocked->by_call, function, call, fresh);
    if (number == fresh) {
        *JR_PUSH(blocked->function, blocked->count, blocked->function_room) =
            blocked->functions[function] - 1;
        *JR_PUSH(blocked->call, blocked->ncalls, blocked->call_room) =
            blocked->functions[call] - 1;
    }
    return (uint64_t)number + 1;
}

void jr_page_blocked(const struct jr_report *report, const uint32_t *functions,
                     const uint32_t *stacks, size_t nstacks, FILE *out)
{
    const struct jr_model *model = report->model;
    struct blocked blocked = {.model = model, .functions = functions};
    struct jr_block block;
    uint64_t *waits;

    if (model->times.nthreads == 0 || model->compares)
        return;
    blocked.wrappers = jr_waits_wrappers(model);
    waits = jr_alloc(nstacks + 1, sizeof(*waits));
    for (size_t i = 0; i < model->nseen; i++) {
        const struct jr_seen *seen = &model->seen[i];

        if (seen->event == JP_EVENT_WALL_BLOCKED &&
            waits[stacks[seen->node]] == 0)
            waits[stacks[seen->node]] = wait_of(&blocked, seen->node);
    }
    jr_block_open(&block);
    fprintf(block.head, ",\"idle\":%.17g", JR_IDLE_SHARE);
    jr_block_column(&block, "wait", waits, nstacks);
    jr_block_column(&block, "function", blocked.function, blocked.count);
    jr_block_column(&block, "call", blocked.call, blocked.count);
    jr_block_close(&block, "waits", out);
    free(waits);
    free(blocked.wrappers);
    free(blocked.function);
    free(blocked.call);
    jr_table_free(&blocked.by_call);
}
