/* SPDX-License-Identifier: MIT
 *
 * The page's block with the marks of the program.
 * Runs in: analyzer. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/table.h"
#include "json.h"
#include "pack.h"
#include "page.h"

#define MOST_MARKS 20000 /* that the page holds: the longest */
#define NAME_MOST 1100   /* bytes of a name: 255, each U+FFFD at worst */

struct chosen {
    const struct jr_marked *mark;
    uint64_t from, length; /* microseconds, as the page counts them */
};

static int longer(const void *left, const void *right)
{
    const struct jr_marked *a = *(const struct jr_marked *const *)left;
    const struct jr_marked *b = *(const struct jr_marked *const *)right;
    const uint64_t long_a = a->until_ns - a->time_ns;
    const uint64_t long_b = b->until_ns - b->time_ns;

    if (long_a != long_b)
        return long_a > long_b ? -1 : 1;
    return a < b ? -1 : a > b;
}

static int earlier(const void *left, const void *right)
{
    const struct chosen *a = left, *b = right;

    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->mark < b->mark ? -1 : a->mark > b->mark;
}

/* The marks that the page holds, in order of time; the caller frees them. */
static struct chosen *choose(const struct jr_model *model, size_t *count)
{
    const struct jr_marks *marks = &model->marks;
    const struct jr_marked **all = jr_alloc(marks->count + 1, sizeof(*all));
    struct chosen *chosen;

    for (size_t i = 0; i < marks->count; i++)
        all[i] = &marks->items[i];
    qsort(all, marks->count, sizeof(*all), longer);
    *count = marks->count < MOST_MARKS ? marks->count : MOST_MARKS;
    chosen = jr_alloc(*count + 1, sizeof(*chosen));
    for (size_t i = 0; i < *count; i++) {
        const struct jr_process *process = &model->processes[all[i]->process];
        const uint64_t end = jr_page_time(model, process, all[i]->until_ns);

        chosen[i].mark = all[i];
        chosen[i].from = jr_page_time(model, process, all[i]->time_ns);
        chosen[i].length = end > chosen[i].from ? end - chosen[i].from : 0;
    }
    qsort(chosen, *count, sizeof(*chosen), earlier);
    free(all);
    return chosen;
}

/* By mark: the number of its thread among the page's, plus one; 0: that thread
 * has no samples. */
static void find_threads(const struct jr_model *model,
                         const struct chosen *chosen, size_t count,
                         uint64_t *threads)
{
    struct jr_table table = {0};
    const uint32_t none = UINT32_MAX - 1;

    for (size_t i = 0; i < model->nthreads; i++)
        jr_table_put(&table, model->threads[i].process, model->threads[i].tid,
                     (uint32_t)i);
    for (size_t i = 0; i < count; i++) {
        const uint32_t at = jr_table_put(&table, chosen[i].mark->process,
                                         chosen[i].mark->tid, none);

        threads[i] = at == none ? 0 : at + 1;
    }
    jr_table_free(&table);
}

static void put_names(const struct jr_marks *marks, FILE *out)
{
    fputs(",\"names\":[", out);
    for (size_t i = 0; i < marks->nnames; i++) {
        fputs(i ? "," : "", out);
        jr_page_json(out, marks->names[i], NAME_MOST);
    }
    fputs("]", out);
}

void jr_page_marks(const struct jr_report *report, FILE *out)
{
    const struct jr_model *model = report->model;
    size_t count;
    struct chosen *chosen;
    uint64_t *values;
    struct jr_block block;

    if (model->marks.count == 0)
        return;
    chosen = choose(model, &count);
    values = jr_alloc(count + 1, sizeof(*values));
    jr_block_open(&block);
    put_names(&model->marks, block.head);
    fprintf(block.head, ",\"more\":%zu", model->marks.count - count);
    for (size_t i = 0; i < count; i++)
        values[i] = chosen[i].from;
    jr_block_column(&block, "from", values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = chosen[i].length;
    jr_block_column(&block, "length", values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = chosen[i].mark->name;
    jr_block_column(&block, "name", values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = chosen[i].mark->kind;
    jr_block_column(&block, "kind", values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = chosen[i].mark->process;
    jr_block_column(&block, "process", values, count);
    find_threads(model, chosen, count, values);
    jr_block_column(&block, "thread", values, count);
    jr_block_close(&block, "marks", out);
    free(values);
    free(chosen);
}
