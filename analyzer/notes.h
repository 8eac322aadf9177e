/* SPDX-License-Identifier: MIT
 *
 * Notes for the reader of a report: what is the same of many processes is one
 * note.
 * Runs in: analyzer. */
#ifndef JR_NOTES_H
#define JR_NOTES_H

#include <stddef.h>
#include <stdint.h>

#define JR_NOTE_PIDS 3 /* that are named */

struct jr_note {
    char *text;   /* the same for all of them */
    char *one;    /* said instead where it is one process; NULL */
    size_t count; /* processes; 0: it is of none in particular */
    uint32_t pids[JR_NOTE_PIDS];
    uint64_t amount;            /* said before the text; 0: none */
    uint64_t least_ns, most_ns; /* said after it when there is a most */
};

struct jr_notes {
    struct jr_note *items;
    size_t count, room;
};

/* All zero is empty. */
void jr_notes_free(struct jr_notes *notes);

/* Adds a note; takes the text over. */
void jr_notes_add(struct jr_notes *notes, char *text);

/* Adds what is to be said of a process: "pid 3: AMOUNT TEXT", with the amounts
 * of all of whom the text is said added up. */
void jr_notes_add_of(struct jr_notes *notes, uint32_t pid, uint64_t amount,
                     const char *text);

/* Likewise "TEXT 0.1 to 2.5 s", with the least and most times of all; of one
 * process `one` is said, which is taken over. */
void jr_notes_add_time(struct jr_notes *notes, uint32_t pid, uint64_t ns,
                       const char *text, char *one);

/* The notes in words, *count of them; the caller frees each and the array. */
char **jr_notes_texts(const struct jr_notes *notes, size_t *count);

#endif
