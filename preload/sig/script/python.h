/* SPDX-License-Identifier: MIT
 *
 * CPython: the frames of the Python functions that a thread runs.
 * Runs in: handler. */
#ifndef JP_PYTHON_H
#define JP_PYTHON_H

#include "step.h"

struct jp_script;

/* Reads frames into the script.  Each native frame of the function that runs
 * Python code leaves a mark on the C stack: _PyCFrame in 3.10 to 3.12, a frame
 * of its own (`entry_frame` in ceval.c) from 3.13 on. */
enum jp_script_step jp_python_read_sig(struct jp_script *script);

#endif
