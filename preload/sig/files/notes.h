/* SPDX-License-Identifier: MIT
 *
 * Notes: facts that the reader of a profile should know about how it was taken,
 * each a line in the map.
 * Runs in: handler, any thread. */
#ifndef JP_NOTES_H
#define JP_NOTES_H

#include <stdint.h>

#define JP_NOTE_NO_RTC 0x1U
#define JP_NOTE_NO_LIBUNWIND 0x2U
#define JP_NOTE_PAUSE_TAKEN 0x4U
#define JP_NOTE_CLEAR_TAKEN 0x8U
#define JP_NOTE_CLOCK_SHARED 0x10U
#define JP_NOTE_CLOCK_MOVED 0x20U
#define JP_NOTE_CLOCK_LOST 0x40U
#define JP_NOTE_NO_PERF 0x80U
#define JP_NOTE_ITIMER 0x100U
#define JP_NOTE_SHARED_TIMER 0x200U
#define JP_NOTE_LOG_CUT 0x400U
#define JP_NOTE_NO_USAGE 0x800U
#define JP_NOTE_CLOCK_SHARED_NEXT 0x1000U
#define JP_NOTE_NO_CHILDREN 0x2000U
#define JP_NOTE_CLOCK_REPLACED 0x4000U
#define JP_NOTE_SHARED_REAL 0x8000U
#define JP_NOTE_COUNT 16

/* Remembers a note (JP_NOTE_*) in jp_process.notes, and writes its line if
 * there is a map and the note is new; else jp_notes_write_sig writes it
 * later. */
void jp_note_sig(uint32_t note);

/* Writes the lines of all notes so far, if there is a map.  Called when the map
 * is made. */
void jp_notes_write_sig(void);

#endif
