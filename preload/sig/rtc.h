/* SPDX-License-Identifier: MIT
 *
 * JP_RTC_HZ: the periodic interrupts of /dev/rtc, which send SIGIO to the
 * process (rtc(4)).
 * Runs in: handler, any thread. */
#ifndef JP_RTC_H
#define JP_RTC_H

#include <stdint.h>

/* Opens the device and sets the rate.  Returns 0, or -errno when there is no
 * device that gives it: then real-time timers are to be used. */
int jp_rtc_open_sig(void);

/* Switches the interrupts on or off. */
void jp_rtc_run_sig(int on);

/* Whether there is a device. */
int jp_rtc_is_open_sig(void);

/* Whether a SIGIO's descriptor is the device's. */
int jp_rtc_is_sig(int fd);

/* Interrupts since the last call; at least 1 when the device had any. */
uint64_t jp_rtc_count_sig(void);

/* Closes the device, as a forked child does. */
void jp_rtc_close_sig(void);

#endif
