/* SPDX-License-Identifier: MIT
 *
 * What makes the loader load the library into the program and all that it
 * starts: LD_PRELOAD and JPROF_FLAGS.
 * Runs in: launcher. */
#ifndef JL_PRELOAD_H
#define JL_PRELOAD_H

#include "launcher/base/options.h"
#include "launcher/folder/folder.h"
#include "launcher/os/environ.h"

struct jl_preload {
    char *link;  /* to the library; NULL: none was needed, else: */
    char *inode; /* of the library, as maps of processes have it */
};

/* Whether LD_PRELOAD can name the library: the loader splits it at blanks and
 * colons and knows no quoting. */
int jl_preload_can(const char *library);

/* Sets both variables in *env; `library` NULL: it is not preloaded. */
void jl_preload_set(struct jl_preload *preload, struct jl_env *env,
                    const char *library);
void jl_flags_set(struct jl_env *env, const struct jl_options *options,
                  const struct jl_folder *folder);

/* Whether the flags, of JPROF_FLAGS (NULL: none), have this word among them. */
int jl_flags_have(const char *flags, const char *word);

/* Removes the link, unless a process is left that may start others with it:
 * then whoever makes a folder of that name anew has them load what he likes. */
void jl_preload_drop(struct jl_preload *preload);

#endif
