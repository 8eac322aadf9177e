/* SPDX-License-Identifier: MIT
 *
 * What jprof-report gives to jprof push (--format=push): text lines, and behind
 * a line about a message its bytes, a gzipped pprof profile.
 *
 *     program NAME
 *     cut TIME                     where a ring was overwritten within the time
 *     message TYPE FROM UNTIL STACKS SAMPLES WEIGHT SIZE     as often as needed
 *     end MESSAGES
 *
 * TYPE is cpu or wall; FROM and UNTIL are CLOCK_REALTIME, WEIGHT and TIME are
 * times, all in nanoseconds; SIZE bytes follow.
 * Runs in: analyzer, launcher. */
#ifndef JP_PUSH_H
#define JP_PUSH_H

#define JP_PUSH_PROGRAM "program"
#define JP_PUSH_CUT "cut"
#define JP_PUSH_MESSAGE "message"
#define JP_PUSH_END "end"

/* Limits of Pyroscope (pkg/validation/limits.go, its defaults): bytes before
 * they are gzipped, samples, and locations of one sample. */
#define JP_PUSH_BYTES (4U << 20)
#define JP_PUSH_STACKS 16000U
#define JP_PUSH_DEPTH 1000U

#endif
