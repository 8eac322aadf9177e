/* SPDX-License-Identifier: MIT
 *
 * The CPython interpreter of the process, and the offsets in its structures.
 * Runs in: handler. */
#ifndef JP_PYTHON_VERSION_H
#define JP_PYTHON_VERSION_H

#include <stdint.h>

struct jp_image;
struct jp_vma;

/* Offsets in bytes; 0 for what a version does not have. */
struct jp_python_layout {
    uint16_t interpreters;                  /* _PyRuntimeState */
    uint16_t interpreter_next, threads;     /* PyInterpreterState */
    uint16_t thread_next, thread_id;        /* PyThreadState */
    uint16_t thread_frame, thread_cframe;   /* the same */
    uint16_t cframe_frame, cframe_previous; /* CFrame, _PyCFrame */
    uint16_t frame_code, frame_instruction; /* PyFrameObject, and from 3.11 */
    uint16_t frame_back, frame_owner;       /* on _PyInterpreterFrame */
    uint16_t code_name, code_file;          /* PyCodeObject */
    uint16_t code_line, code_lines, code_bytes, code_traceable;
    uint16_t text_ascii, text_other; /* of a str's characters */
};

struct jp_python {
    uint64_t low, high; /* its code; 0, 0: there is no interpreter */
    uint64_t runtime, code_type, text_type; /* of its symbols */
    uint64_t runs_low, runs_high;           /* _PyEval_EvalFrameDefault */
    uint32_t minor;
    const struct jp_python_layout *layout;
};

/* That of this process.  Written by jp_python_recognise_sig alone. */
extern struct jp_python jp_python;

/* Returns the layout of version 3.MINOR, NULL for an unknown one. */
const struct jp_python_layout *jp_python_layout_sig(uint32_t minor);

/* Remembers the interpreter if the file that is mapped there is one.  Writes a
 * line to the map that says which version it is, and whether its structures are
 * known. */
void jp_python_recognise_sig(const struct jp_image *image,
                             const struct jp_vma *vma);

/* Whether an address is code of the interpreter. */
int jp_python_has_code_sig(uint64_t address);

/* Whether an address is in the function that runs Python code, in a version
 * that leaves no mark on the stack (3.8 and 3.9): there, each call of it runs
 * the frame of one item. */
int jp_python_runs_sig(uint64_t address);

#endif
