/* SPDX-License-Identifier: MIT
 *
 * Numbers of scripts' functions to frames.
 * Runs in: analyzer. */
#include "script.h"

#include <string.h>

#include "jp_script.h"

static const char unnamed[] = "[script]"; /* a function that has no name */
static const char package[] = "/__init__.py";

/* The file as lists show it: its base name, of a package's file with the
 * package's. */
static const char *short_file(const char *file)
{
    const char *base = strrchr(file, '/');
    const size_t length = strlen(file), suffix = sizeof(package) - 1;

    if (!base)
        return file;
    if (length > suffix && strcmp(file + length - suffix, package) == 0) {
        base = file + length - suffix;
        while (base > file && base[-1] != '/')
            base--;
        return base;
    }
    return base + 1;
}

static const char *keep(struct jr_strings *strings, const char *text)
{
    return jr_strings_add(strings, text, strlen(text));
}

const struct jr_frame *jr_script_frame(const struct jr_scripts *scripts,
                                       struct jr_strings *strings,
                                       uint64_t frame)
{
    const struct jr_script_function *function =
        jr_scripts_find(scripts, JP_SCRIPT_ID(frame));
    struct jr_frame made = {.kind = JR_FRAME_SCRIPT};

    if (!function || !*function->name)
        return jr_strings_frame(strings, JR_FRAME_UNKNOWN,
                                keep(strings, unnamed), keep(strings, ""));
    made.name = keep(strings, function->name);
    made.module = keep(strings, short_file(function->file));
    made.file = *function->file ? keep(strings, function->file) : NULL;
    made.line = jr_script_line(function, JP_SCRIPT_AT(frame));
    made.first_line = function->first_line;
    return jr_strings_frame_of(strings, &made);
}
