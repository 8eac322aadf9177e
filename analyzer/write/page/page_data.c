/* SPDX-License-Identifier: MIT
 *
 * The page's data: functions, call paths, processes and threads in one block,
 * samples in another, code in a third.
 * Runs in: analyzer. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/table.h"
#include "json.h"
#include "model/build.h"
#include "model/cover/cover_sum.h"
#include "pack.h"
#include "page.h"
#include "write/escape.h"
#include "write/facts.h"
#include "write/figures.h"
#include "write/program.h"

#define COMMAND_MOST 2000 /* bytes of a text */
#define MOST_ABOVE 16     /* processes without a log, one above the other */

/* As the script knows the kinds. */
enum kind { OF_PROGRAM, OF_LIBRARY, OF_JIT, OF_KERNEL, UNNAMED };

/* Processes in order of their pids. */
struct by_pid {
    uint32_t pid;
    uint32_t index;
};

struct data {
    const struct jr_report *report;
    const struct jr_model *model;
    struct jr_page_tree tree;
    struct jr_block block;
    const char **modules; /* in the page's order */
    uint8_t *is_program;  /* by module */
    size_t nmodules, modules_room;
    struct jr_table by_module;
    const char **words; /* of tiers */
    size_t nwords, words_room;
    struct jr_table by_word;
    size_t *counts; /* by thread: of its samples in the page */
    struct by_pid *processes, *covered; /* of the model, of the coverage */
};

/* Whether a process ran the file of that name. */
static int is_program(const struct jr_model *model, const char *module)
{
    const char *name = jr_base_name(module);

    for (size_t i = 0; i < model->nprocesses && *name; i++)
        if (strcmp(name, jr_base_name(jr_exe_of(&model->processes[i]))) == 0)
            return 1;
    return 0;
}

static uint32_t module_of(struct data *data, const char *module)
{
    const uint32_t fresh = (uint32_t)data->nmodules;
    uint32_t number =
        jr_table_put(&data->by_module, (uintptr_t)module, 0, fresh);

    if (number == fresh) {
        *JR_PUSH(data->modules, data->nmodules, data->modules_room) = module;
        data->is_program = jr_realloc(data->is_program, data->modules_room, 1);
        data->is_program[number] = (uint8_t)is_program(data->model, module);
    }
    return number;
}

static enum kind kind_of(const struct data *data, const struct jr_function *of,
                         uint32_t module)
{
    switch (of->kind) {
    case JR_FRAME_NATIVE:
        if (strcmp(of->module, "[vdso]") == 0 ||
            strcmp(of->module, "[vsyscall]") == 0)
            return OF_KERNEL;
        return data->is_program[module] ? OF_PROGRAM : OF_LIBRARY;
    case JR_FRAME_SCRIPT:
        return OF_PROGRAM;
    case JR_FRAME_JIT:
        return OF_JIT;
    default:
        return UNNAMED;
    }
}

static void add_functions(struct data *data)
{
    const size_t count = data->tree.nfunctions;
    uint64_t *modules = jr_alloc(count + 1, sizeof(*modules));
    uint64_t *kinds = jr_alloc(count + 1, sizeof(*kinds));
    char *names = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&names, &size);
    struct jr_short found = {0};

    if (out == NULL)
        jr_no_memory();
    for (size_t i = 0; i < count; i++) {
        const struct jr_function *of =
            &data->model->functions[data->tree.functions[i]];
        uint32_t module = module_of(data, of->module);

        modules[i] = module;
        kinds[i] = kind_of(data, of, module);
        jr_page_name(out, of->name, &found);
        if (of->inlined)
            fputs(JR_INLINED, out);
        fputc('\0', out);
    }
    fclose(out);
    jr_short_free(&found);
    jr_block_bytes(&data->block, "names", names, size);
    jr_block_column(&data->block, "module", modules, count);
    jr_block_column(&data->block, "kind", kinds, count);
    free(names);
    free(modules);
    free(kinds);
}

static void put_modules(const struct data *data)
{
    FILE *out = data->block.head;

    fputs(",\"modules\":[", out);
    for (size_t i = 0; i < data->nmodules; i++) {
        fputs(i ? "," : "", out);
        jr_page_json(out, jr_base_name(data->modules[i]), COMMAND_MOST);
    }
    fputs("]", out);
}

static int compare_pids(const void *one, const void *other)
{
    const struct by_pid *a = one, *b = other;

    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static void index_pids(struct data *data)
{
    const struct jr_model *model = data->model;
    const struct jr_cover *cover = data->report->cover;

    data->processes = jr_alloc(model->nprocesses + 1, sizeof(struct by_pid));
    for (size_t i = 0; i < model->nprocesses; i++)
        data->processes[i] =
            (struct by_pid){model->processes[i].run->header.pid, (uint32_t)i};
    qsort(data->processes, model->nprocesses, sizeof(struct by_pid),
          compare_pids);
    if (cover == NULL)
        return;
    data->covered = jr_alloc(cover->nprocesses + 1, sizeof(struct by_pid));
    for (size_t i = 0; i < cover->nprocesses; i++)
        data->covered[i] =
            (struct by_pid){cover->processes[i].last.pid, (uint32_t)i};
    qsort(data->covered, cover->nprocesses, sizeof(struct by_pid),
          compare_pids);
}

/* The first of `count` that has at least that pid. */
static size_t first_pid(const struct by_pid *list, size_t count, uint32_t pid)
{
    return JR_FIRST_NOT(count, i, list[i].pid < pid);
}

/* The process with a log that had the pid when the child began: its index plus
 * one, else 0. */
static size_t logged(const struct data *data, size_t child, uint32_t pid)
{
    const struct jr_model *model = data->model;
    const struct jr_process *of = &model->processes[child];
    size_t found = 0;
    uint64_t latest = 0;

    for (size_t i = first_pid(data->processes, model->nprocesses, pid);
         i < model->nprocesses && data->processes[i].pid == pid; i++) {
        const size_t index = data->processes[i].index;
        const struct jr_process *one = &model->processes[index];
        const uint64_t begin = one->run->header.mono_ns;

        if (index == child || one->side != of->side ||
            pid == of->run->header.pid || begin > of->run->header.mono_ns)
            continue;
        if (found == 0 || begin >= latest) {
            latest = begin;
            found = index + 1;
        }
    }
    return found;
}

/* Who began the process with that pid, of which the child's tree knows no more
 * than that it was waited for, after the child began; 0: nobody knows. */
static uint32_t parent_without_log(const struct data *data, size_t child,
                                   uint32_t pid)
{
    const struct jr_process *of = &data->model->processes[child];
    const struct jr_cover *cover = data->report->cover;
    const struct jr_cover_image *found = NULL;
    uint64_t earliest = UINT64_MAX;

    if (cover == NULL)
        return 0;
    for (size_t i = first_pid(data->covered, cover->nprocesses, pid);
         i < cover->nprocesses && data->covered[i].pid == pid; i++) {
        const struct jr_cover_process *one =
            &cover->processes[data->covered[i].index];
        const struct jr_cover_tree *tree = &cover->trees[one->last.tree];

        if (!jr_cover_is_in(tree, &of->run->header, of->map->boot) ||
            one->end_ns < of->run->header.mono_ns || one->end_ns >= earliest)
            continue;
        earliest = one->end_ns;
        found = &one->last;
    }
    return found ? found->ppid : 0;
}

/* The nearest process above it that has a log: its index plus one, else 0.  A
 * compiler's driver uses so little time that it has none. */
static size_t parent_of(const struct data *data, size_t child)
{
    uint32_t pid = data->model->processes[child].map->ppid;
    size_t found = 0;

    for (int i = 0; i < MOST_ABOVE && pid != 0 && found == 0; i++) {
        found = logged(data, child, pid);
        pid = parent_without_log(data, child, pid);
    }
    return found;
}

static void put_moments(const struct data *data, const char *name,
                        const struct jr_process *process,
                        const struct jr_section *moments, size_t count)
{
    fprintf(data->block.head, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++)
        fprintf(data->block.head, "%s%" PRIu64, i ? "," : "",
                jr_page_time(data->model, process, moments[i].time_ns));
    fputs("]", data->block.head);
}

static void put_process(const struct data *data, size_t number)
{
    const struct jr_process *process = &data->model->processes[number];
    const struct jr_map *map = process->map;
    FILE *out = data->block.head;
    char *name = jr_process_name(process);

    fprintf(out, "%s{\"pid\":%" PRIu32 ",\"name\":", number ? "," : "",
            process->run->header.pid);
    jr_page_json(out, name, COMMAND_MOST);
    fputs(",\"command\":", out);
    jr_page_json(out, map->cmdline ? map->cmdline : "", COMMAND_MOST);
    fprintf(out,
            ",\"parent\":%zu,\"from\":%" PRIu64 ",\"to\":%" PRIu64
            ",\"lost\":%" PRIu64 ",\"before\":%" PRIu64,
            parent_of(data, number),
            jr_page_time(data->model, process, process->run->header.mono_ns),
            jr_page_time(data->model, process,
                         map->end_ns > process->run->last_ns
                             ? map->end_ns
                             : process->run->last_ns),
            jr_lost(&process->stats), process->neighbours.before);
    put_moments(data, "sections", process, map->sections, map->nsections);
    put_moments(data, "pauses", process, map->pauses, map->npauses);
    if (data->model->compares)
        fprintf(out, ",\"side\":%u", process->side);
    fputs("}", out);
    free(name);
}

static void put_thread(const struct data *data, size_t number)
{
    const struct jr_thread *thread = &data->model->threads[number];
    const char *name =
        jr_thread_name(&data->model->processes[thread->process], thread->tid);

    fprintf(data->block.head,
            "%s{\"process\":%" PRIu32 ",\"tid\":%" PRIu32
            ",\"samples\":%zu,\"name\":",
            number ? "," : "", thread->process, thread->tid,
            data->counts[number]);
    jr_page_json(data->block.head, name ? name : "", COMMAND_MOST);
    fputs("}", data->block.head);
}

/* What is compared with what. */
static void put_diff(const struct jr_report *report, FILE *out)
{
    fputs(",\"diff\":{\"before\":", out);
    jr_page_json(out, report->sides[JR_BEFORE], COMMAND_MOST);
    fputs(",\"after\":", out);
    jr_page_json(out, report->sides[JR_AFTER], COMMAND_MOST);
    fprintf(out, ",\"units\":[%.17g,%.17g],\"isWork\":%s}",
            report->units[JR_AFTER], report->units[JR_BEFORE],
            report->per ? "true" : "false");
}

static void put_head(struct data *data)
{
    const struct jr_model *model = data->model;
    FILE *out = data->block.head;
    char *program = jr_program_name(data->report);

    fputs(",\"program\":", out);
    jr_page_json(out, program, COMMAND_MOST);
    fprintf(out,
            ",\"period\":%" PRIu64 ",\"slice\":%" PRIu64 ",\"processes\":[",
            model->period_ns, model->slice_ns);
    for (size_t i = 0; i < model->nprocesses; i++)
        put_process(data, i);
    fputs("]", out);
    if (model->compares)
        put_diff(data->report, out);
    fputs(",\"threads\":[", out);
    for (size_t i = 0; i < model->nthreads; i++)
        put_thread(data, i);
    fputs("],\"tiers\":[\"\"", out);
    for (size_t i = 0; i < data->nwords; i++) {
        fputs(",", out);
        jr_page_json(out, data->words[i], COMMAND_MOST);
    }
    fputs("]", out);
    free(program);
}

/* The number of a tier's word, plus one; 0: its runtime says none. */
static uint32_t word_of(struct data *data, uint32_t tier)
{
    const char *word = data->model->tiers[tier].word;
    const uint32_t fresh = (uint32_t)data->nwords;
    uint32_t number;

    if (word == NULL)
        return 0;
    number = jr_table_put(&data->by_word, (uintptr_t)word, 0, fresh);
    if (number == fresh)
        *JR_PUSH(data->words, data->nwords, data->words_room) = word;
    return number + 1;
}

/* A stack: a node where samples are. */
struct stack {
    uint32_t node, of_page;
    uint64_t samples;
};

static int compare_stacks(const void *left, const void *right)
{
    const struct stack *a = left, *b = right;

    if (a->samples != b->samples)
        return a->samples > b->samples ? -1 : 1;
    if (a->of_page != b->of_page)
        return a->of_page < b->of_page ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

/* Numbers as the steps between them, odd where downwards. */
static void to_steps(uint64_t *values, size_t count)
{
    uint64_t last = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t value = values[i];

        values[i] = value >= last ? 2 * (value - last) : 2 * (last - value) - 1;
        last = value;
    }
}

/* Adds the stacks, the most frequent first, and says how many there are;
 * returns the rank of each node of the model, which the caller frees. */
static uint32_t *add_stacks(struct data *data, size_t *nstacks)
{
    const struct jr_model *model = data->model;
    struct stack *stacks = jr_alloc(model->nodes.count, sizeof(*stacks));
    uint32_t *ranks = jr_alloc(model->nodes.count, sizeof(*ranks));
    uint64_t *nodes = jr_alloc(model->nodes.count, sizeof(*nodes));
    uint64_t *tiers = jr_alloc(model->nodes.count, sizeof(*tiers));
    size_t count = 0;

    for (size_t i = 0; i < model->nodes.count; i++)
        stacks[i] =
            (struct stack){.node = (uint32_t)i, .of_page = data->tree.nodes[i]};
    for (size_t i = 0; i < model->nseen; i++)
        stacks[model->seen[i].node].samples++;
    qsort(stacks, model->nodes.count, sizeof(*stacks), compare_stacks);
    for (; count < model->nodes.count && stacks[count].samples > 0; count++) {
        uint32_t node = stacks[count].node;

        ranks[node] = (uint32_t)count;
        nodes[count] = data->tree.nodes[node];
        tiers[count] = node ? word_of(data, model->nodes.items[node].key) : 0;
    }
    to_steps(nodes, count);
    jr_block_column(&data->block, "stack_node", nodes, count);
    jr_block_column(&data->block, "stack_tier", tiers, count);
    *nstacks = count;
    free(stacks);
    free(nodes);
    free(tiers);
    return ranks;
}

/* Where the samples of each thread go: by thread, then by time. */
static uint32_t *order_samples(const struct data *data)
{
    const struct jr_model *model = data->model;
    size_t *next = jr_alloc(model->nthreads + 1, sizeof(*next));
    uint32_t *order = jr_alloc(model->nseen + 1, sizeof(*order));
    size_t sum = 0;

    for (size_t i = 0; i < model->nthreads; i++) {
        next[i] = sum;
        sum += data->counts[i];
    }
    for (size_t i = 0; i < model->nseen; i++)
        order[next[model->seen[i].thread]++] = (uint32_t)i;
    free(next);
    return order;
}

/* Times as steps from the thread's sample before; the first from zero. */
static void put_times(const struct jr_model *model, const uint32_t *order,
                      uint64_t *values)
{
    uint64_t last = 0;
    uint32_t thread = UINT32_MAX;

    for (size_t i = 0; i < model->nseen; i++) {
        const struct jr_seen *seen = &model->seen[order[i]];
        uint64_t time = jr_page_time(
            model, &model->processes[model->threads[seen->thread].process],
            seen->time_ns);

        if (seen->thread != thread)
            last = 0;
        thread = seen->thread;
        if (time < last)
            time = last;
        values[i] = time - last;
        last = time;
    }
}

static void put_samples(const struct data *data, const uint32_t *ranks,
                        const uint32_t *order, FILE *out)
{
    const struct jr_model *model = data->model;
    uint64_t *values = jr_alloc(model->nseen + 1, sizeof(*values));
    struct jr_block block;

    jr_block_open(&block);
    put_times(model, order, values);
    jr_block_column(&block, "time", values, model->nseen);
    for (size_t i = 0; i < model->nseen; i++)
        values[i] = ranks[model->seen[order[i]].node];
    jr_block_column(&block, "stack", values, model->nseen);
    for (size_t i = 0; i < model->nseen; i++)
        values[i] = model->seen[order[i]].weight_ns;
    jr_block_column(&block, "weight", values, model->nseen);
    for (size_t i = 0; i < model->nseen; i++)
        values[i] = model->seen[order[i]].event;
    jr_block_column(&block, "event", values, model->nseen);
    free(values);
    jr_block_close(&block, "samples", out);
}

void jr_page_data(const struct jr_report *report, FILE *out)
{
    struct data data = {.report = report, .model = report->model};
    uint32_t *ranks;
    uint32_t *order;
    size_t nstacks;

    index_pids(&data);
    data.counts = jr_alloc(data.model->nthreads + 1, sizeof(*data.counts));
    for (size_t i = 0; i < data.model->nseen; i++)
        data.counts[data.model->seen[i].thread]++;
    jr_page_tree_build(data.model, &data.tree);
    jr_block_open(&data.block);
    add_functions(&data);
    jr_block_column(&data.block, "up", data.tree.up + 1, data.tree.nnodes - 1);
    jr_block_column(&data.block, "function", data.tree.function + 1,
                    data.tree.nnodes - 1);
    ranks = add_stacks(&data, &nstacks);
    put_head(&data);
    put_modules(&data);
    jr_block_close(&data.block, "core", out);
    order = order_samples(&data);
    put_samples(&data, ranks, order, out);
    jr_page_blocked(report, data.tree.numbers, ranks, nstacks, out);
    jr_page_marks(report, out);
    jr_page_code(report, data.tree.numbers, order, out);
    free(order);
    free(ranks);
    free(data.modules);
    free(data.is_program);
    free(data.counts);
    free(data.processes);
    free(data.covered);
    free(data.words);
    jr_table_free(&data.by_module);
    jr_table_free(&data.by_word);
    jr_page_tree_free(&data.tree);
}
