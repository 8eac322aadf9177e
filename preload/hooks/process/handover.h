/* SPDX-License-Identifier: MIT
 *
 * The profile's folder, for a program that is executed where no path leads to
 * it: in mounts of its own, as bubblewrap gives to WebKit's processes and
 * Flatpak's.
 * Runs in: any thread, not in a handler. */
#ifndef JP_HANDOVER_H
#define JP_HANDOVER_H

struct jp_target;

/* What JPROF_ISCHILD has room for behind its pid, namespace and start time: a
 * descriptor, and the device and inode that it must be of, each of so many
 * digits, the last two hexadecimal.  Zeros: none. */
#define JP_HANDOVER_NONE ".000000.0000000000000000.0000000000000000"

/* Called in a process that has mounts of its own, before it can change them:
 * keeps the folder open.  Does nothing in a vfork child.  Keeps errno. */
void jp_handover_keep(void);

/* Called by the constructor, before anything is written: takes over what the
 * program before the exec has kept.  Returns whether that is the folder: the
 * constructor then does jp_sandbox_before and calls jp_handover_end. */
int jp_handover_take(void);

/* Called before a program is executed, and jp_handover_stay when that has
 * failed, or was done by another process: passes on what it needs to have a log
 * where no path leads to the folder.  target: the program, which has nothing if
 * it will not load the library.  Returns whether it has: only then,
 * jp_handover_stay is due.  May be called in a vfork child, whose descriptors
 * are its own. */
int jp_handover_pass(const struct jp_target *target);
void jp_handover_stay(void);

/* Called in a forked child: no other thread there passes anything on. */
void jp_handover_forked(void);

/* Closes the folder, which is a way out of the sandbox that the program must
 * not have, and keeps the log for what the program executes; also closes what
 * was not taken over, as the process is not profiled. */
void jp_handover_end(void);

#endif
