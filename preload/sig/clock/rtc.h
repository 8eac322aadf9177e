/* SPDX-License-Identifier: MIT
 *
 * JP_RTC_HZ: the periodic interrupts of /dev/rtc, which send SIGIO to the
 * process (rtc(4)).
 * Runs in: handler, any thread. */
#ifndef JP_RTC_H
#define JP_RTC_H

#include "sig/state/clock_kind.h"

extern const struct jp_clock_kind jp_clock_rtc;

/* Opens the device and sets the rate.  Returns 0, or -errno when there is no
 * device that gives it: then real-time timers are to be used. */
int jp_rtc_open_sig(void);

/* Whether there is a device. */
int jp_rtc_is_open_sig(void);

#endif
