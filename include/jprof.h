/* SPDX-License-Identifier: MIT
 *
 * The public C API of libjprof.so, for a program that controls its own
 * profile.  The program need not link the library: dlsym(RTLD_DEFAULT,
 * "jprof_start") finds the function when the library is preloaded.
 * Runs in: any thread; every function may be called in a signal handler. */
#ifndef JPROF_H
#define JPROF_H

#ifdef __cplusplus
extern "C" {
#endif

/* Starts or resumes profiling and opens a new section.
 * Returns 0, -EALREADY when it is running, -ENOSYS when JPROF_FLAGS asked for
 * no profile (neither JP_START nor JP_DEFER), or another -errno. */
int jprof_start(void);

/* Pauses profiling: stops the timers, keeps a ring's samples, brings the map
 * up to date.  Returns 0, -EALREADY when it is not running, or -ENOSYS as
 * above. */
int jprof_pause(void);

/* Empties the ring (JP_CIRCULAR): samples taken so far do not count.
 * Returns 0, -EINVAL when there is no ring, or -ENOSYS as above. */
int jprof_clear(void);

/* Keeps the ring's samples and goes on in a new ring; brings the map up to
 * date.  Returns 0 or -ENOSYS as above. */
int jprof_save(void);

#ifdef __cplusplus
}
#endif

#endif
