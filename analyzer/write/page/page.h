/* SPDX-License-Identifier: MIT
 *
 * The page that leads to the hot spot: what its files share.
 * Runs in: analyzer. */
#ifndef JR_PAGE_H
#define JR_PAGE_H

#include "symbol/names/short.h"
#include "write/report.h"

/* The writer of the page. */
jr_write_fn jr_write_page;

/* assets.c: style sheet and script, NUL-terminated, and their SHA-256 as
 * base64, made when the program is built. */
extern const char jr_page_css[], jr_page_js[];
extern const char jr_page_css_hash[], jr_page_js_hash[];

/* page_head.c: what was profiled, and what the profile is worth. */
void jr_page_head(const struct jr_report *report, FILE *out);

/* page_tables.c: the heaviest functions, flat and hierarchical, and the
 * heaviest processes or threads, and real time: what is there without the
 * script. */
void jr_page_tables(const struct jr_report *report, FILE *out);

/* page_data.c: the blocks of data that the script reads. */
void jr_page_data(const struct jr_report *report, FILE *out);

/* page_names.c: writes the name of a function, its beginning if it is very
 * long: what its short form leaves out stands between marks, of which the
 * script knows (readNames).  *found is scratch, as for jr_short_find. */
void jr_page_name(FILE *out, const char *name, struct jr_short *found);

/* page_code.c: the block with the code of the hottest functions, by number of
 * the page's function, and where in it each sample was; `order` is that of the
 * page's samples. */
void jr_page_code(const struct jr_report *report, const uint32_t *functions,
                  const uint32_t *order, FILE *out);

/* page_blocked.c: the block with what blocked in real time, if it is that: for
 * each stack of the page, whose wait it is.  `functions` are as above; `stacks`
 * has the number of the page's stack by node of the model, and there are
 * `nstacks` of them. */
void jr_page_blocked(const struct jr_report *report, const uint32_t *functions,
                     const uint32_t *stacks, size_t nstacks, FILE *out);

/* page_marks.c: the block with the marks of the program, if there are any. */
void jr_page_marks(const struct jr_report *report, FILE *out);

/* page_tree.c: the tree of call paths as the page has it.  Its nodes are in
 * preorder, the first one is above every root; paths that differ in tiers only
 * are one; paths without samples are left out. */
struct jr_page_tree {
    uint64_t *up; /* by node but the first: levels up from the node before it
                     to this node's parent */
    uint64_t *function; /* by node but the first: of the page */
    size_t nnodes;
    uint32_t *functions; /* by function of the page: of the model */
    size_t nfunctions;
    uint32_t *numbers; /* by function of the model: of the page, plus one; 0:
                          it is in no stack */
    uint32_t *nodes;   /* by node of the model: of the page; where stacks end
                          only */
};

void jr_page_tree_build(const struct jr_model *model,
                        struct jr_page_tree *tree);
void jr_page_tree_free(struct jr_page_tree *tree);

/* page_time.c: microseconds since the profile's start, as the page counts
 * them.  A sample is on that side of a section's start on which it was. */
uint64_t jr_page_time(const struct jr_model *model,
                      const struct jr_process *process, uint64_t time_ns);

#endif
