/* SPDX-License-Identifier: MIT
 *
 * Finds the processes that the samples do not cover, and says why.
 * Runs in: analyzer. */
#include "cover_gap.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cover_image.h"
#include "model/model.h"

/* The words for reasons in the tree's file, see its table in doc/FORMAT.md. */
static const struct {
    const char *word, *text;
} reasons[] = {
    {"static", "it is statically linked, so no library can be preloaded"},
    {"musl", "it uses the C library musl, but libjprof.so needs glibc"},
    {"machine", "it is built for a different machine type than libjprof.so"},
    {"setuid", "it is set-uid or set-gid, and the loader then ignores "
               "LD_PRELOAD"},
    {"caps", "it has file capabilities, and the loader then ignores "
             "LD_PRELOAD"},
    {"preload", "it was executed without the library: LD_PRELOAD was not "
                "passed on"},
    {"flags", "it was executed without JPROF_FLAGS"},
    {JR_COVER_SHARES, "it shares the memory of the process that made it "
                      "(clone with CLONE_VM), and with it jprof's state"},
    {"filter", "its JPROF_FLAGS was emptied, because a seccomp filter "
               "forbids the system calls that start a profile"},
};

static char *told(const struct jr_tree_line *line)
{
    if (line->kind == JR_TREE_NOLOG)
        return jr_printf("its log could not be created%s%s",
                         line->text[0] ? ": " : "", line->text);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strcmp(line->why, reasons[i].word) == 0)
            return jr_strdup(reasons[i].text);
    return jr_strdup(line->why);
}

/* The words for what ended a profile before its process. */
static const char *const ends[JP_OFF_COUNT] = {
    [JP_OFF_FILTER] = "its profile ended when it gave up system calls or its "
                      "clock (seccomp, PR_SET_SYSCALL_USER_DISPATCH)",
    [JP_OFF_READONLY] =
        "it executed a program whose log could not be created: the profile's "
        "folder was read-only there, as in a sandbox",
    [JP_OFF_OUT_OF_SIGHT] =
        "it executed a program whose log could not be created: the profile's "
        "folder was not there, as in a sandbox",
    [JP_OFF_FORBIDDEN] =
        "it executed a program whose log could not be created: it was not "
        "permitted to write to the profile's folder",
};

/* The most likely reason why a process with a log lacks `missing_ns`. */
static const char *guessed(const struct jr_cover_process *process,
                           uint64_t missing_ns)
{
    const struct jr_cover_image *last = &process->last;

    if (last->off < JP_OFF_COUNT && ends[last->off])
        return ends[last->off];
    if (last->lost_ns >= missing_ns / 2)
        return "its samples were lost, see above";
    if (last->refused)
        return "the kernel refused its threads their timers";
    if (process->after_ns >= missing_ns / 2)
        return "it used this time after its profile ended: in jprof's "
               "finalization, destructors, and the kernel's release of memory";
    if (!last->ended && process->own_ns > last->cpu_ns &&
        process->own_ns - last->cpu_ns >= missing_ns / 2)
        return "it continued without a log: after an exec or its destructors, "
               "killed, or not permitted to write to the folder";
    if (last->edges_ns >= missing_ns / 2)
        return "its threads used this time in the kernel, before their clocks "
               "began and after these ended";
    if (process->before_ns >= missing_ns / 2)
        return "it used this time before its profile started: in exec, the "
               "loader and jprof's initialization";
    if (jr_add(process->before_ns, process->after_ns) >= missing_ns / 2)
        return "it used this time before its profile started and after its "
               "profile ended";
    if (missing_ns <= JR_CHANCE_PERIODS * process->last.period_ns)
        return "this is a few periods of its threads' clocks, which samples "
               "may miss by chance";
    if (last->threads > 1 &&
        missing_ns / last->threads <= jr_add(last->period_ns, 2 * JR_TICK_NS))
        return "its threads were brief: what each used since its last sample "
               "is in none";
    return "the reason is not known";
}

static char *why_of(const struct jr_cover_process *process, uint64_t missing_ns)
{
    if (process->reason)
        return told(process->reason);
    if (process->supposed)
        return jr_printf("%s (at most so much: it is what its parent waited "
                         "for and no other child is known to have used)",
                         guessed(process, missing_ns));
    if (process->has_log)
        return jr_strdup(guessed(process, missing_ns));
    return jr_strdup("it left no log and no reason: with its children, each "
                     "too brief for a sample, it used so much, or it was "
                     "forked without the C library, sandboxed, or not "
                     "permitted to write to the folder");
}

/* The command of a process; if that is unknown, its parent's, whose pid is then
 * stored in *parent. */
static const char *command_of(const struct jr_cover *cover,
                              const struct jr_cover_process *process,
                              uint32_t *parent)
{
    const struct jr_tree_line *line = process->reason;

    *parent = 0;
    if (line && line->args[0])
        return line->args;
    if (line && line->path[0])
        return line->path;
    if (process->last.command)
        return process->last.command;
    for (size_t i = 0; i < cover->nprocesses; i++) {
        const struct jr_cover_image *other = &cover->processes[i].last;

        if (other->tree == process->last.tree &&
            other->pid == process->last.ppid && other->command) {
            *parent = other->pid;
            return other->command;
        }
    }
    return "";
}

/* Whether two commands begin with the same word. */
static int same_program(const char *one, const char *other)
{
    size_t length = strcspn(one, " ");

    return length == strcspn(other, " ") && memcmp(one, other, length) == 0;
}

static uint64_t missing_ns(const struct jr_gap *gap)
{
    return gap->cpu_ns > gap->sampled_ns ? gap->cpu_ns - gap->sampled_ns : 0;
}

/* Whether some processes lack more samples than chance takes from so many. */
static int is_gap(const struct jr_gap *gap)
{
    const double missing = (double)missing_ns(gap);
    const double chance = (double)(JR_GAP_PERIODS * gap->period_ns);

    return gap->cpu_ns > JR_GAP_MIN_NS && gap->sampled_ns < gap->cpu_ns &&
           gap->sampled_ns < gap->cpu_ns / 100 * JR_GAP_PERCENT &&
           missing * missing > chance * chance * (double)gap->count;
}

/* Takes gap->why over. */
static void put_gap(struct jr_cover *cover, const struct jr_gap *gap)
{
    for (size_t i = 0; i < cover->ngaps; i++) {
        struct jr_gap *other = &cover->gaps[i];

        if (strcmp(other->why, gap->why) == 0 && other->brief == gap->brief &&
            !other->parent == !gap->parent &&
            same_program(other->command, gap->command)) {
            other->count++;
            other->cpu_ns = jr_add(other->cpu_ns, gap->cpu_ns);
            other->sampled_ns = jr_add(other->sampled_ns, gap->sampled_ns);
            free(gap->why);
            return;
        }
    }
    *JR_PUSH(cover->gaps, cover->ngaps, cover->gaps_room) = *gap;
}

static void add_gap(struct jr_cover *cover,
                    const struct jr_cover_process *process, uint64_t cpu_ns)
{
    struct jr_gap gap = {.pid = process->last.pid,
                         .count = 1,
                         .cpu_ns = cpu_ns,
                         .sampled_ns = process->last.sampled_ns,
                         .period_ns = process->last.period_ns,
                         .has_log = process->has_log,
                         .brief = cpu_ns <= JR_GAP_MIN_NS};

    gap.command = command_of(cover, process, &gap.parent);
    gap.why = why_of(process, missing_ns(&gap));
    put_gap(cover, &gap);
}

/* What a process with a log waited for and nobody knows more of, if it is a
 * hundredth of all: in a sandbox no child can write a word. */
static void add_unseen(struct jr_cover *cover,
                       const struct jr_cover_process *process)
{
    struct jr_gap gap = {
        .parent = process->last.pid,
        .unseen = 1,
        .count = 1,
        .cpu_ns = jr_cover_less(process->last.children_ns, process->kids_ns)};

    if (gap.cpu_ns <= JR_GAP_MIN_NS || gap.cpu_ns < cover->cpu_ns / 100)
        return;
    gap.command = process->last.command ? process->last.command : "";
    gap.why = jr_strdup(
        "they left neither a log nor a word: where they were executed no file "
        "of the profile's could be made (a sandbox, a read-only folder), or "
        "they ran without the library, or each was too brief");
    put_gap(cover, &gap);
}

static int by_missing(const void *one, const void *other)
{
    const struct jr_gap *a = one, *b = other;
    uint64_t missing_a = missing_ns(a), missing_b = missing_ns(b);

    if (missing_a != missing_b)
        return missing_a > missing_b ? -1 : 1;
    return (a->pid > b->pid) - (a->pid < b->pid);
}

/* Leaves out those brief processes that lack little all together. */
static void drop_brief(struct jr_cover *cover)
{
    size_t kept = 0;

    for (size_t i = 0; i < cover->ngaps; i++)
        if (cover->gaps[i].brief && !is_gap(&cover->gaps[i]))
            free(cover->gaps[i].why);
        else
            cover->gaps[kept++] = cover->gaps[i];
    cover->ngaps = kept;
}

/* Brief processes are gaps together, where their own words say why. */
void jr_cover_gaps(struct jr_cover *cover)
{
    for (size_t i = 0; i < cover->nprocesses; i++) {
        const struct jr_cover_process *process = &cover->processes[i];
        const struct jr_gap alone = {.count = 1,
                                     .cpu_ns = jr_cover_due(process),
                                     .sampled_ns = process->last.sampled_ns,
                                     .period_ns = process->last.period_ns};

        if (!process->last.cut &&
            (is_gap(&alone) ||
             (alone.cpu_ns <= JR_GAP_MIN_NS && process->last.off)))
            add_gap(cover, process, alone.cpu_ns);
        if (process->has_log && cover->rest_ns != 0)
            add_unseen(cover, process);
    }
    drop_brief(cover);
    if (cover->ngaps)
        qsort(cover->gaps, cover->ngaps, sizeof *cover->gaps, by_missing);
}
