/* SPDX-License-Identifier: MIT
 *
 * Sorts pieces of code by start where they are: qsort takes a second array of
 * them, and twice the time.
 * Runs in: analyzer. */
#include "jit.h"

#define FEW 24U /* sorted by insertion */

static int is_before(const struct jr_jit_piece *one,
                     const struct jr_jit_piece *other)
{
    if (one->start != other->start)
        return one->start < other->start;
    return one->from_ns < other->from_ns;
}

static void swap(struct jr_jit_piece *one, struct jr_jit_piece *other)
{
    struct jr_jit_piece kept = *one;

    *one = *other;
    *other = kept;
}

static void insert_each(struct jr_jit_piece *pieces, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct jr_jit_piece piece = pieces[i];
        size_t at = i;

        for (; at > 0 && is_before(&piece, &pieces[at - 1]); at--)
            pieces[at] = pieces[at - 1];
        pieces[at] = piece;
    }
}

/* Lets the piece at `at` sink in the heap of `count`. */
static void sink(struct jr_jit_piece *pieces, size_t at, size_t count)
{
    for (;;) {
        size_t child = 2 * at + 1;

        if (child >= count)
            return;
        if (child + 1 < count && is_before(&pieces[child], &pieces[child + 1]))
            child++;
        if (!is_before(&pieces[at], &pieces[child]))
            return;
        swap(&pieces[at], &pieces[child]);
        at = child;
    }
}

static void sort_heap(struct jr_jit_piece *pieces, size_t count)
{
    for (size_t i = count / 2; i > 0; i--)
        sink(pieces, i - 1, count);
    for (size_t i = count; i > 1; i--) {
        swap(&pieces[0], &pieces[i - 1]);
        sink(pieces, 0, i - 1);
    }
}

/* Parts the pieces by the middle one of three; returns how many are in the
 * first part, none of which is after one of the second.  Neither is empty. */
static size_t part(struct jr_jit_piece *pieces, size_t count)
{
    struct jr_jit_piece *first = &pieces[0], *last = &pieces[count - 1];
    struct jr_jit_piece *middle = &pieces[count / 2], pivot;
    size_t low = 0, high = count - 1;

    if (is_before(middle, first))
        swap(middle, first);
    if (is_before(last, middle)) {
        swap(last, middle);
        if (is_before(middle, first))
            swap(middle, first);
    }
    pivot = *middle;
    for (;;) {
        while (is_before(&pieces[low], &pivot))
            low++;
        while (is_before(&pivot, &pieces[high]))
            high--;
        if (low >= high)
            return high + 1;
        swap(&pieces[low++], &pieces[high--]);
    }
}

void jr_jit_sort(struct jr_jit_piece *pieces, size_t count)
{
    unsigned depth = 2;

    /* In order already, as code that only ever grows is? */
    for (size_t i = 1;; i++) {
        if (i >= count)
            return;
        if (is_before(&pieces[i], &pieces[i - 1]))
            break;
    }
    for (size_t i = count; i > 1; i /= 2)
        depth += 2;
    /* The larger part is sorted here, the smaller one by a call: the calls
     * halve, whatever was chosen to part by. */
    while (count > FEW) {
        size_t low;

        if (depth-- == 0) {
            sort_heap(pieces, count);
            return;
        }
        low = part(pieces, count);
        if (low < count - low) {
            jr_jit_sort(pieces, low);
            pieces += low;
            count -= low;
        } else {
            jr_jit_sort(pieces + low, count - low);
            count = low;
        }
    }
    insert_each(pieces, count);
}
