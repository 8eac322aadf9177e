/* SPDX-License-Identifier: MIT
 *
 * What blocked: waits by the function of the program that made them, and the
 * threads that did nothing else.
 * Runs in: analyzer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model.h"

#define NO_WAIT UINT32_MAX

/* A thread with this share of its time in one wait was there all the time: it
 * came there somehow. */
#define IDLE_SHARE 0.99

static const char *base_name(const char *module)
{
    const char *slash = strrchr(module, '/');

    return slash ? slash + 1 : module;
}

int jr_is_own(const char *module)
{
    static const char own[] = "libjprof.so";
    const char *name = base_name(module);

    /* There may be a build-id behind it (symbol/elf/modules.c). */
    return strncmp(name, own, sizeof(own) - 1) == 0 &&
           (name[sizeof(own) - 1] == '\0' || name[sizeof(own) - 1] == ' ');
}

int jr_is_system(const char *module)
{
    static const char *const names[] = {
        "libc.so",   "libc-",    "libpthread", "librt",      "libjprof.so",
        "libstdc++", "ld-linux", "ld-musl",    "linux-vdso", "[vdso]"};
    const char *name = base_name(module);

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return 1;
    return name[0] == '\0';
}

/* The function of the program that waits at a node, and what it called.  One
 * with a name, if there is any: a library's inner ones often have none. */
static void whose_wait(const struct jr_model *model, uint32_t node,
                       uint32_t *function, uint32_t *call)
{
    int found = 0;

    *function = *call = node ? jr_node_function(model, node) : UINT32_MAX;
    for (; node != 0; node = model->nodes.items[node].parent) {
        const uint32_t here = jr_node_function(model, node);

        if (jr_is_system(model->functions[here].module)) {
            if (!found)
                *function = *call = here;
            continue;
        }
        if (!found)
            *function = here;
        found = 1;
        if (model->functions[here].kind != JR_FRAME_UNNAMED) {
            *function = here;
            return;
        }
    }
}

struct waits {
    const struct jr_model *model;
    struct jr_wait_row *rows;
    size_t count, room;
    struct jr_table by_call;
    uint32_t *of; /* by node, or NO_WAIT */
};

static uint32_t wait_of(struct waits *waits, uint32_t node)
{
    uint32_t function, call, fresh = (uint32_t)waits->count;

    if (node == 0 || waits->of[node] != NO_WAIT)
        return node ? waits->of[node] : NO_WAIT;
    whose_wait(waits->model, node, &function, &call);
    waits->of[node] = jr_table_put(&waits->by_call, function, call, fresh);
    if (waits->of[node] == fresh)
        *JR_PUSH(waits->rows, waits->count, waits->room) =
            (struct jr_wait_row){.function = function, .call = call};
    return waits->of[node];
}

static int compare_cells(const void *left, const void *right)
{
    const struct jr_cell *a = left, *b = right;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

/* Adds what one thread was blocked for, its cells being so many; `here` is
 * zero for each row, before and after. */
static void add_thread(struct waits *waits, const struct jr_cell *cells,
                       size_t count, uint64_t *here)
{
    const uint64_t all = waits->model->times.threads[cells->thread].weight_ns;

    for (size_t i = 0; i < count; i++)
        here[waits->of[cells[i].node]] =
            jr_add(here[waits->of[cells[i].node]], cells[i].blocked_ns);
    for (size_t i = 0; i < count; i++) {
        const uint32_t at = waits->of[cells[i].node];
        const uint64_t ns = here[at];
        struct jr_wait_row *row;

        here[at] = 0;
        if (ns == 0 || waits->rows == NULL)
            continue;
        row = &waits->rows[at];
        if ((double)ns >= IDLE_SHARE * (double)all) {
            row->idle++;
            row->idle_ns = jr_add(row->idle_ns, ns);
        } else {
            row->threads++;
            row->blocked_ns = jr_add(row->blocked_ns, ns);
        }
    }
}

static void add_cells(struct waits *waits)
{
    const struct jr_times *times = &waits->model->times;
    struct jr_cell *cells = jr_alloc(times->ncells + 1, sizeof(*cells));
    size_t kept = 0, end;
    uint64_t *here;

    for (size_t i = 0; i < times->ncells; i++)
        if (wait_of(waits, times->cells[i].node) != NO_WAIT)
            cells[kept++] = times->cells[i];
    here = jr_alloc(waits->count + 1, sizeof(*here));
    if (kept > 0)
        qsort(cells, kept, sizeof(*cells), compare_cells);
    for (size_t i = 0; i < kept; i = end) {
        for (end = i; end < kept && cells[end].thread == cells[i].thread;)
            end++;
        add_thread(waits, cells + i, end - i, here);
    }
    free(here);
    free(cells);
}

static int compare_waits(const void *left, const void *right)
{
    const struct jr_wait_row *a = left, *b = right;

    if (a->blocked_ns != b->blocked_ns)
        return a->blocked_ns > b->blocked_ns ? -1 : 1;
    if (a->idle_ns != b->idle_ns)
        return a->idle_ns > b->idle_ns ? -1 : 1;
    return a->function < b->function ? -1 : a->function > b->function;
}

struct jr_wait_row *jr_waits_rows(const struct jr_model *model, size_t *count)
{
    struct waits waits = {.model = model};

    waits.of = jr_alloc(model->nodes.count, sizeof(*waits.of));
    memset(waits.of, 0xff, model->nodes.count * sizeof(*waits.of));
    add_cells(&waits);
    for (size_t i = 0; !model->foreign && i < model->times.nsteps && waits.rows;
         i++) {
        const struct jr_step *step = &model->times.steps[i];
        const uint32_t from = waits.of[step->from], to = waits.of[step->to];

        if (from == to)
            continue;
        if (from != NO_WAIT)
            waits.rows[from].error_ns += step->variance;
        if (to != NO_WAIT)
            waits.rows[to].error_ns += step->variance;
    }
    for (size_t i = 0; i < waits.count && waits.rows; i++)
        waits.rows[i].error_ns = sqrt(waits.rows[i].error_ns);
    if (waits.rows && waits.count > 0)
        qsort(waits.rows, waits.count, sizeof(*waits.rows), compare_waits);
    jr_table_free(&waits.by_call);
    free(waits.of);
    *count = waits.count;
    return waits.rows;
}
