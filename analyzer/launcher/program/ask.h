/* SPDX-License-Identifier: MIT
 *
 * Asks the runtime of the program, if it is one that the table has, for a
 * description of its JIT code.
 * Runs in: launcher. */
#ifndef JL_ASK_H
#define JL_ASK_H

#include "launcher/base/options.h"
#include "launcher/runtimes/request.h"
#include "launcher/folder/folder.h"
#include "launcher/os/environ.h"

/* Fills *request and changes *env for the program at `path`, and says so. */
void jl_ask(struct jl_request *request, const struct jl_options *options,
            const struct jl_folder *folder, const char *path,
            struct jl_env *env);

void jl_request_free(struct jl_request *request);

/* Appends the words of `setting` from `first` up to `behind` that are not in
 * `old` yet, and that the user has not switched off there; allocated. */
char *jl_append_words(const char *old, const struct jl_setting *setting,
                      size_t first, size_t behind);

#endif
