/* SPDX-License-Identifier: MIT
 *
 * The clock kind of JP_RTC_HZ: the periodic interrupts of /dev/rtc, which send
 * SIGIO to the process (rtc(4)).
 * Runs in: handler, any thread. */
#ifndef JP_RTC_H
#define JP_RTC_H

#include "sig/state/clock_kind.h"

extern const struct jp_clock_kind jp_clock_rtc;

/* Opens the device, which stays open, and sets its rate.  Returns 0, or -errno
 * when no device gives that rate; the caller then uses real-time timers. */
int jp_rtc_open_sig(void);

/* Whether the device is open. */
int jp_rtc_is_open_sig(void);

#endif
