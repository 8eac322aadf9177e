/* SPDX-License-Identifier: MIT
 *
 * Runs a command that answers a question, for a limited time: a runtime that
 * is asked for its version, a JVM's jcmd.
 * Runs in: launcher. */
#ifndef JL_SPAWN_H
#define JL_SPAWN_H

#include <stddef.h>
#include <sys/types.h>

struct jl_spawn {
    const char *path; /* the file; nothing is looked for in PATH */
    char *const *argv, *const *env;
    unsigned seconds;   /* after so many it is killed */
    unsigned jit_files; /* JL_PERFMAP... that it is asked to write: it is not
                               run if it cannot have their names (claim.h) */
    int as_user;        /* as user `uid` and group `gid` alone, in a session
                               of its own */
    uid_t uid;
    gid_t gid;
    char *printed; /* what it prints first, NUL-terminated; NULL: it
                               is not looked at */
    size_t size;   /* of printed */
    pid_t pid;     /* the pid that it had */
};

/* Runs it with nothing on stdin.  Returns its exit status, or -1 when it could
 * not be run, was killed or took too long. */
int jl_spawn(struct jl_spawn *spawn);

/* Gives the dispositions and the mask that signals had when the launcher was
 * started to this child, which is about to execute a program. */
void jl_signals_restore(void);

/* Remembers those; first thing in main.  From then on SIGPIPE and SIGXFSZ
 * are ignored, and children can be waited for. */
void jl_signals_save(void);

/* True if the launcher was started with the signal ignored. */
int jl_signal_was_ignored(int number);

#endif
