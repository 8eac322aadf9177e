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
 * no profile (neither JP_START nor JP_DEFER), or -EPERM when the profile has
 * ended for good: at a sandbox, or as the log could not be made or was cut
 * short. */
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

/* Marks: names for moments and stretches of time, which reports show and
 * select by (jprof-report --span).  A name is text in UTF-8; of a longer one
 * the first 255 bytes count.  A span ends the last one of its name that this
 * thread has begun, or else any thread of the process.  They are recorded from
 * the first start on, also while the profile pauses.  A mark costs about a
 * microsecond, and 24 bytes of the log or more.
 * Return 0, -EINVAL when the name is NULL or empty, -EAGAIN before the first
 * start, -ENOSYS as above, or another -errno when the log had no place for it:
 * the log's header counts such marks, and reports say so. */
int jprof_mark(const char *name);
int jprof_span_begin(const char *name);
int jprof_span_end(const char *name);

#ifdef __cplusplus
}
#endif

#endif
