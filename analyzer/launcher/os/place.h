/* SPDX-License-Identifier: MIT
 *
 * Where things are: the other parts of jprof, and programs.
 * Runs in: launcher. */
#ifndef JL_PLACE_H
#define JL_PLACE_H

/* The library and the reporter, found from the place of the launcher itself:
 * libjprof.so beside it (a build) or in ../lib/jprof (installed), jprof-report
 * beside it.  Each is allocated; one that is missing ends the launcher. */
char *jl_find_library(void);
char *jl_find_reporter(void);

/* The file that would be run for `name`, allocated: itself if it has a slash,
 * else the first in PATH that can be executed, or that is at least there.
 * NULL: there is none. */
char *jl_find_command(const char *name);

/* The same in the folders of this PATH; NULL: the default ones. */
char *jl_find_in(const char *folders, const char *name);

/* jl_find_in for the program to profile: where it cannot be run, says so and
 * ends the launcher as a shell does. */
char *jl_find_program(const char *folders, const char *name);

#endif
