/* SPDX-License-Identifier: MIT
 *
 * The steps in which a thread reads the frames of scripts.
 * Runs in: handler (constants only). */
#ifndef JP_SCRIPT_STEP_H
#define JP_SCRIPT_STEP_H

/* The work of jp_walk_sig for a buffer. */
enum jp_script_ask { JP_SCRIPT_NATIVE, JP_SCRIPT_READ };

/* The state of reading. */
enum jp_script_step {
    JP_SCRIPT_DONE, /* all frames have been read */
    JP_SCRIPT_NAME  /* a function without a number was met: jp_script_name_sig
                       gives it one, and reading goes on */
};

#endif
