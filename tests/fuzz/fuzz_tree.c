/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: the reader of a tree's file, and the coverage that is made of
 * it; and that of a file of markers, with its spans.
 * Runs in: fuzz tests. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/cover/cover.h"
#include "model/cover/cover_sum.h"
#include "model/marks/marks.h"
#include "read/markers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_markers(const uint8_t *data, size_t size)
{
    struct jr_diag diag = {.warnings = 1000};
    struct jr_run run = {.header = {.pid = 7, .mono_ns = 1000}};
    struct jr_marks marks = {0};

    jr_markers_parse(data, size, "fuzz", &run, &diag);
    jr_marks_add(
        &marks, &run,
        &(struct jr_marks_of){.until_ns = UINT64_MAX, .last_ns = 1000000});
    for (size_t i = 0; i < marks.count; i++)
        if (marks.items[i].until_ns < marks.items[i].time_ns ||
            marks.items[i].name >= marks.nnames)
            abort();
    jr_marks_free(&marks);
    free(run.marks);
    free(run.mark_names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jr_diag diag = {.warnings = 1000}; /* printed are the first 20 */
    struct jr_tree tree = {.path = jr_strdup("fuzz")};
    struct jr_cover cover = {0};

    jr_tree_file_parse(data, size, &tree, &diag);
    for (uint32_t root = 1; root < 3; root++)
        for (uint32_t pid = 1; pid < 5; pid++)
            jr_cover_add(
                &cover,
                &(struct jr_cover_image){
                    .tree = jr_cover_tree(
                        &cover, &tree, &(struct jr_tree_root){.pid = root}, 0),
                    .pid = pid,
                    .ppid = pid - 1,
                    .begin_ns = pid,
                    .cpu_ns = 1000000000,
                    .on_ns = 1000000000,
                    .command = "x y"});
    jr_cover_finish(&cover, 1);
    for (size_t i = 0; i < cover.nprocesses; i++)
        if (cover.processes[i].off_ns > cover.processes[i].own_ns)
            abort();
    for (size_t i = 0; i < cover.ngaps; i++)
        if (!cover.gaps[i].why || !cover.gaps[i].command ||
            cover.gaps[i].sampled_ns > cover.gaps[i].cpu_ns)
            abort();
    jr_cover_free(&cover);
    jr_tree_file_free(&tree);
    read_markers(data, size);
    return 0;
}
