/* SPDX-License-Identifier: MIT
 *
 * Gathers the notes of a report and formats them as sentences.
 * Runs in: analyzer. */
#include "notes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void jr_notes_free(struct jr_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++) {
        free(notes->items[i].text);
        free(notes->items[i].one);
    }
    free(notes->items);
    *notes = (struct jr_notes){0};
}

/* The note with this text, which may be new. */
static struct jr_note *gather(struct jr_notes *notes, const char *text)
{
    struct jr_note *note;

    for (size_t i = 0; i < notes->count; i++)
        if (strcmp(notes->items[i].text, text) == 0)
            return &notes->items[i];
    note = JR_PUSH(notes->items, notes->count, notes->room);
    *note = (struct jr_note){.text = jr_strdup(text)};
    return note;
}

void jr_notes_add(struct jr_notes *notes, char *text)
{
    gather(notes, text);
    free(text);
}

static struct jr_note *count(struct jr_notes *notes, uint32_t pid,
                             const char *text)
{
    struct jr_note *note = gather(notes, text);

    /* Several programs of one process. */
    for (size_t i = 0; i < note->count && i < JR_NOTE_PIDS; i++)
        if (note->pids[i] == pid)
            return note;
    if (note->count < JR_NOTE_PIDS)
        note->pids[note->count] = pid;
    note->count++;
    return note;
}

void jr_notes_add_of(struct jr_notes *notes, uint32_t pid, uint64_t amount,
                     const char *text)
{
    struct jr_note *note = count(notes, pid, text);

    if (__builtin_add_overflow(note->amount, amount, &note->amount))
        note->amount = UINT64_MAX;
}

void jr_notes_add_time(struct jr_notes *notes, uint32_t pid, uint64_t ns,
                       const char *text, char *one)
{
    struct jr_note *note = count(notes, pid, text);

    if (note->count == 1 || ns < note->least_ns)
        note->least_ns = ns;
    if (ns > note->most_ns)
        note->most_ns = ns;
    free(note->one);
    note->one = one;
}

/* "pid 3", or "12 processes (pid 3, 4, 5, ...)". */
static char *whose(const struct jr_note *note)
{
    if (note->count == 1)
        return jr_printf("pid %" PRIu32, note->pids[0]);
    if (note->count == 2)
        return jr_printf("2 processes (pid %" PRIu32 ", %" PRIu32 ")",
                         note->pids[0], note->pids[1]);
    return jr_printf("%zu processes (pid %" PRIu32 ", %" PRIu32 ", %" PRIu32
                     "%s)",
                     note->count, note->pids[0], note->pids[1], note->pids[2],
                     note->count > JR_NOTE_PIDS ? ", ..." : "");
}

static char *words(const struct jr_note *note)
{
    char *who, *text;

    if (note->count == 0)
        return jr_strdup(note->text);
    who = whose(note);
    if (note->count == 1 && note->one)
        text = jr_printf("%s: %s", who, note->one);
    else if (note->one)
        text = jr_printf("%s: %s %.3f to %.3f s", who, note->text,
                         (double)note->least_ns / 1e9,
                         (double)note->most_ns / 1e9);
    else if (note->amount)
        text = jr_printf("%s: %" PRIu64 " %s", who, note->amount, note->text);
    else
        text = jr_printf("%s: %s", who, note->text);
    free(who);
    return text;
}

char **jr_notes_texts(const struct jr_notes *notes, size_t *number)
{
    char **texts = jr_alloc(notes->count + 1, sizeof(*texts));

    for (size_t i = 0; i < notes->count; i++)
        texts[i] = words(&notes->items[i]);
    *number = notes->count;
    return texts;
}
