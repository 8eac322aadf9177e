/* SPDX-License-Identifier: MIT
 *
 * Which moments of threads are in spans of given names.
 * Runs in: analyzer. */
#include "inside.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"
#include "marks.h"

/* Time of a thread, [from_ns, until_ns). */
struct jr_stretch {
    uint64_t from_ns, until_ns;
    uint32_t tid;
};

static int compare(const void *left, const void *right)
{
    const struct jr_stretch *a = left, *b = right;

    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    return a->from_ns < b->from_ns ? -1 : a->from_ns > b->from_ns;
}

/* Makes stretches of a thread that touch one. */
static void join(struct jr_inside *inside)
{
    size_t kept = 0;

    for (size_t i = 0; i < inside->count; i++) {
        const struct jr_stretch *next = &inside->items[i];
        struct jr_stretch *last = kept ? &inside->items[kept - 1] : NULL;

        if (last == NULL || last->tid != next->tid ||
            last->until_ns < next->from_ns)
            inside->items[kept++] = *next;
        else if (last->until_ns < next->until_ns)
            last->until_ns = next->until_ns;
    }
    inside->count = kept;
}

void jr_inside_find(struct jr_inside *inside, const struct jr_run *run,
                    const char *const *names, size_t count, uint64_t last_ns)
{
    struct jr_marks marks = {0};

    *inside = (struct jr_inside){0};
    jr_marks_add(
        &marks, run,
        &(struct jr_marks_of){.until_ns = UINT64_MAX, .last_ns = last_ns});
    for (size_t i = 0; i < marks.count; i++) {
        const struct jr_marked *item = &marks.items[i];
        size_t name = 0;

        while (name < count &&
               strcmp(marks.names[item->name], names[name]) != 0)
            name++;
        if (name == count ||
            (item->kind != JR_MARKED_SPAN && item->kind != JR_MARKED_OPEN))
            continue;
        /* What is open lasts to the end, the last sample included. */
        *JR_PUSH(inside->items, inside->count, inside->room) =
            (struct jr_stretch){item->time_ns,
                                item->kind == JR_MARKED_OPEN ? UINT64_MAX
                                                             : item->until_ns,
                                item->tid};
    }
    if (inside->count > 0)
        qsort(inside->items, inside->count, sizeof(*inside->items), compare);
    join(inside);
    jr_marks_free(&marks);
}

void jr_inside_free(struct jr_inside *inside)
{
    free(inside->items);
    *inside = (struct jr_inside){0};
}

int jr_inside_has(const struct jr_inside *inside, uint32_t tid,
                  uint64_t time_ns)
{
    const struct jr_stretch wanted = {.from_ns = time_ns, .tid = tid};
    const size_t low = JR_FIRST_NOT(inside->count, i,
                                    compare(&inside->items[i], &wanted) <= 0);

    return low > 0 && inside->items[low - 1].tid == tid &&
           time_ns < inside->items[low - 1].until_ns;
}
