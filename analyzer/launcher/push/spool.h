/* SPDX-License-Identifier: MIT
 *
 * The spool: messages that a server has not taken yet, a file each, in a folder
 * of bounded size.  Several processes may use one at a time.
 * Runs in: launcher. */
#ifndef JL_SPOOL_H
#define JL_SPOOL_H

#include "launcher/folder/folder.h"
#include "message.h"

struct jl_spool {
    struct jl_folder folder;
    uint64_t limit;  /* bytes */
    uint64_t serial; /* of messages that this process has put in */
    size_t dropped;  /* messages that were the oldest when there was no room */
};

/* A message that is being sent. */
struct jl_spooled {
    char *name;
    int fd; /* locked, at the body's first byte */
    char *path, *type;
};

/* Opens the folder, which is made if it is missing: by default that of
 * XDG_STATE_HOME or HOME.  What is wrong is said and ends the launcher. */
void jl_spool_open(struct jl_spool *spool, const struct jl_destination *to);
void jl_spool_close(struct jl_spool *spool);

/* Puts a message for `url` in; the oldest ones make room for it.  Returns 0, or
 * -1 after saying why it could not be written. */
int jl_spool_put(struct jl_spool *spool, const char *url,
                 const struct jl_message *message);

/* The names of all messages, the oldest first; freed by
 * jl_folder_free_list. */
char **jl_spool_list(const struct jl_spool *spool, size_t *count);

/* Takes a message, if it is for this URL and nobody else has it.  Returns 0, or
 * -1: it is not.  What is no message any more is removed and said. */
int jl_spool_take(struct jl_spool *spool, const char *name, const char *url,
                  struct jl_spooled *spooled);

/* Lets it go: removes it where it is done with. */
void jl_spool_release(struct jl_spool *spool, struct jl_spooled *spooled,
                      int is_done);

#endif
