/* SPDX-License-Identifier: MIT
 *
 * Words for the log's numeric codes.
 * Runs in: analyzer. */
#ifndef JR_WORDS_H
#define JR_WORDS_H

#include <stdint.h>

/* The clock that ran, the walker, why a stack ended, why a sample was lost:
 * stable words for the summary, and sentences for people. */
const char *jr_event_word(unsigned event);
const char *jr_event_frame(unsigned event); /* as a frame: "[blocked]" */
const char *jr_clock_word(uint32_t clock);
const char *jr_clock_text(uint32_t clock);
const char *jr_walker_word(uint32_t walker);
const char *jr_walker_text(uint32_t walker);
const char *jr_reason_word(unsigned reason);
const char *jr_reason_text(unsigned reason);
const char *jr_lost_word(unsigned counter);
const char *jr_lost_text(unsigned counter);

#endif
