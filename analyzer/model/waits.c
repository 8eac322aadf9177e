/* SPDX-License-Identifier: MIT
 *
 * What blocked: waits by the function of the program that made them, and the
 * threads that did nothing else.
 * Runs in: analyzer. */
#include "waits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"

#define NO_WAIT UINT32_MAX

/* Whether the module's code makes waits for others: the C library and what
 * stands before it. */
static int is_system(const char *module)
{
    static const char *const names[] = {
        "libc.so",   "libc-",    "libpthread", "librt",      "libjprof.so",
        "libstdc++", "ld-linux", "ld-musl",    "linux-vdso", "[vdso]"};
    const char *name = jr_base_name(module);

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return 1;
    return name[0] == '\0';
}

/* The node on the path to `node` whose function of the program waits there, and
 * what that called.  One with a name, if there is any: a library's inner ones
 * often have none.  0: there is none, and *call is the last of the path. */
static uint32_t waiting_node(const struct jr_model *model, uint32_t node,
                             uint32_t *call)
{
    uint32_t found = 0;

    for (; node != 0; node = model->nodes.items[node].parent) {
        const uint32_t here = jr_node_function(model, node);

        if (is_system(model->functions[here].module)) {
            if (found == 0)
                *call = here;
            continue;
        }
        if (found == 0)
            found = node;
        if (model->functions[here].kind != JR_FRAME_UNNAMED)
            return node;
    }
    return found;
}

/* The nearest node above whose function is another one of the program, with a
 * name; 0: none. */
static uint32_t caller_of(const struct jr_model *model, uint32_t node)
{
    const uint32_t function = jr_node_function(model, node);

    for (node = model->nodes.items[node].parent; node != 0;
         node = model->nodes.items[node].parent) {
        const uint32_t here = jr_node_function(model, node);

        if (here != function &&
            model->functions[here].kind != JR_FRAME_UNNAMED &&
            !is_system(model->functions[here].module))
            return node;
    }
    return 0;
}

/* Blocked time that passed from one function to another on the way from the
 * root to the wait: of both, by pairs. */
struct pairs {
    struct jr_table by_pair;
    uint64_t *ns; /* by value of by_pair */
    size_t count, room;
};

static void add_pair(struct pairs *pairs, uint32_t function, uint32_t other,
                     uint64_t ns)
{
    const uint32_t fresh = (uint32_t)pairs->count;
    const uint32_t pair = jr_table_put(&pairs->by_pair, function, other, fresh);

    if (pair == fresh)
        *JR_PUSH(pairs->ns, pairs->count, pairs->room) = 0;
    pairs->ns[pair] = jr_add(pairs->ns[pair], ns);
}

/* Sets most[function] for each to the largest time of one of its pairs. */
static void find_most(struct pairs *pairs, uint64_t *most)
{
    for (size_t i = 0; i < pairs->count; i++) {
        const uint64_t function = pairs->by_pair.keys[i].a;

        if (pairs->ns[i] > most[function])
            most[function] = pairs->ns[i];
    }
    free(pairs->ns);
    jr_table_free(&pairs->by_pair);
}

uint8_t *jr_waits_wrappers(const struct jr_model *model)
{
    const struct jr_times *times = &model->times;
    const size_t size = sizeof(uint64_t);
    uint8_t *wrappers = jr_alloc(model->nfunctions + 1, 1);
    uint64_t *all = jr_alloc(model->nfunctions + 1, size);
    uint64_t *caller = jr_alloc(model->nfunctions + 1, size);
    uint64_t *call = jr_alloc(model->nfunctions + 1, size);
    struct pairs callers = {.count = 0}, calls = {.count = 0};

    for (uint32_t i = 1; i < model->nodes.count && i < times->nnodes; i++) {
        const uint64_t ns = times->nodes[i].ns[JR_BLOCKED];
        uint32_t called = jr_node_function(model, i);
        uint32_t at = ns > 0 ? waiting_node(model, i, &called) : 0;

        while (at != 0) {
            const uint32_t here = jr_node_function(model, at);

            all[here] = jr_add(all[here], ns);
            add_pair(&calls, here, called, ns);
            at = caller_of(model, at);
            if (at != 0)
                add_pair(&callers, here, jr_node_function(model, at), ns);
            called = here;
        }
    }
    find_most(&callers, caller);
    find_most(&calls, call);
    for (size_t i = 0; i < model->nfunctions; i++)
        wrappers[i] = caller[i] > 0 &&
                      (double)caller[i] < JR_IDLE_SHARE * (double)all[i] &&
                      (double)call[i] >= JR_IDLE_SHARE * (double)all[i];
    free(all);
    free(caller);
    free(call);
    return wrappers;
}

void jr_waits_place(const struct jr_model *model, const uint8_t *wrappers,
                    uint32_t node, uint32_t *function, uint32_t *call)
{
    uint32_t at;

    *function = *call = node ? jr_node_function(model, node) : UINT32_MAX;
    at = waiting_node(model, node, call);
    if (at == 0) {
        *function = *call;
        return;
    }
    *function = jr_node_function(model, at);
    for (unsigned i = 0; i < JR_WRAPPERS && wrappers[*function]; i++) {
        at = caller_of(model, at);
        if (at == 0)
            return;
        *call = *function;
        *function = jr_node_function(model, at);
    }
}

struct waits {
    const struct jr_model *model;
    uint8_t *wrappers;
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
    jr_waits_place(waits->model, waits->wrappers, node, &function, &call);
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
        if ((double)ns >= JR_IDLE_SHARE * (double)all) {
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

    waits.wrappers = jr_waits_wrappers(model);
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
            waits.rows[from].error_ns += jr_step_variance(step);
        if (to != NO_WAIT)
            waits.rows[to].error_ns += jr_step_variance(step);
    }
    for (size_t i = 0; i < waits.count && waits.rows; i++)
        waits.rows[i].error_ns = sqrt(waits.rows[i].error_ns);
    if (waits.rows && waits.count > 0)
        qsort(waits.rows, waits.count, sizeof(*waits.rows), compare_waits);
    jr_table_free(&waits.by_call);
    free(waits.wrappers);
    free(waits.of);
    *count = waits.count;
    return waits.rows;
}

/* Where variances are added: by function, with the number of the last path
 * that held it. */
struct errors {
    const struct jr_model *model;
    struct jr_time_row *rows;
    uint32_t *stamps;
    uint32_t stamp;
};

/* Adds a variance to the functions that are on the path to `node` and not on
 * that to `other`. */
static void add_variance(struct errors *errors, uint32_t node, uint32_t other,
                         double variance)
{
    const struct jr_path *nodes = errors->model->nodes.items;

    errors->stamp++;
    for (; other != 0; other = nodes[other].parent)
        errors->stamps[jr_node_function(errors->model, other)] = errors->stamp;
    for (; node != 0; node = nodes[node].parent) {
        uint32_t function = jr_node_function(errors->model, node);

        if (errors->stamps[function] == errors->stamp)
            continue;
        errors->stamps[function] = errors->stamp;
        errors->rows[function].error_ns += variance;
    }
}

static int compare_times(const void *left, const void *right)
{
    const struct jr_time_row *a = left, *b = right;

    if (a->all_ns != b->all_ns)
        return a->all_ns > b->all_ns ? -1 : 1;
    return a->function < b->function ? -1 : a->function > b->function;
}

/* By node, whether it is what a hook of jprof's calls to do its work, and not
 * code of the program's that it hands on to.  The caller frees it. */
static uint8_t *find_inner(const struct jr_model *model)
{
    uint8_t *inner = jr_alloc(model->nodes.count + 1, 1);

    for (size_t i = 1; i < model->nodes.count; i++) {
        const uint32_t parent = model->nodes.items[i].parent;
        const uint32_t function = jr_node_function(model, i);

        if (parent == 0 || !is_system(model->functions[function].module))
            continue;
        inner[i] = inner[parent] ||
                   model->functions[jr_node_function(model, parent)].hook;
    }
    return inner;
}

/* The times of all functions: each state's weights go from the leaves to the
 * roots, as a node comes after its parent. */
static void sum_states(const struct jr_model *model, struct jr_time_row *rows)
{
    const struct jr_times *times = &model->times;
    uint64_t *sums = jr_alloc(model->nodes.count, sizeof(*sums));
    uint8_t *inner = find_inner(model);

    for (int state = 0; state < JR_STATES; state++) {
        for (size_t i = 0; i < model->nodes.count; i++)
            sums[i] = i < times->nnodes ? times->nodes[i].ns[state] : 0;
        for (size_t i = model->nodes.count; i-- > 1;) {
            struct jr_time_row *row = &rows[jr_node_function(model, i)];
            const uint32_t parent = model->nodes.items[i].parent;

            sums[parent] = jr_add(sums[parent], sums[i]);
            if (!(model->first[i] & JR_FIRST_FUNCTION) || inner[i])
                continue;
            row->ns[state] = jr_add(row->ns[state], sums[i]);
            row->all_ns = jr_add(row->all_ns, sums[i]);
        }
    }
    free(inner);
    free(sums);
}

struct jr_time_row *jr_times_rows(const struct jr_model *model, size_t *count)
{
    const struct jr_times *times = &model->times;
    struct jr_time_row *rows = jr_alloc(model->nfunctions + 1, sizeof(*rows));
    struct errors errors = {model, rows, NULL, 0};

    errors.stamps = jr_alloc(model->nfunctions + 1, sizeof(*errors.stamps));
    *count = 0;
    for (uint32_t i = 0; i < model->nfunctions; i++)
        rows[i].function = i;
    sum_states(model, rows);
    /* Without times nothing is known of errors. */
    for (size_t i = 0; !model->foreign && i < times->nsteps; i++) {
        const struct jr_step *step = &times->steps[i];

        add_variance(&errors, step->from, step->to, jr_step_variance(step));
        add_variance(&errors, step->to, step->from, jr_step_variance(step));
    }
    for (size_t i = 0; i < model->nfunctions; i++) {
        if (rows[i].all_ns == 0)
            continue;
        rows[*count] = rows[i];
        rows[*count].error_ns = sqrt(rows[*count].error_ns);
        ++*count;
    }
    if (*count > 0)
        qsort(rows, *count, sizeof(*rows), compare_times);
    free(errors.stamps);
    return rows;
}
