/* SPDX-License-Identifier: MIT
 *
 * JP_RTC_HZ: the periodic interrupts of /dev/rtc, which send SIGIO to the
 * process (rtc(4)).
 * Runs in: handler, any thread. */
#ifndef JP_RTC_H
#define JP_RTC_H

#include <stdint.h>

struct jp_budget;

/* Opens the device and sets the rate.  Returns 0, or -errno when there is no
 * device that gives it: then real-time timers are to be used. */
int jp_rtc_open_sig(void);

/* Switches the interrupts on or off. */
void jp_rtc_run_sig(int on);

/* Whether there is a device. */
int jp_rtc_is_open_sig(void);

/* Whether a SIGIO's descriptor is the device's. */
int jp_rtc_is_sig(int fd);

/* The device's budget, for one thread at a time: NULL when another has it.  It
 * is given back with whether its period has changed; then the rate is set to
 * the next power of two. */
struct jp_budget *jp_rtc_take_sig(void);
void jp_rtc_give_sig(int changed);

/* What the interrupts since the last call stand for, in ns: one at least. */
uint64_t jp_rtc_weight_sig(void);

/* Closes the device, as a forked child does. */
void jp_rtc_close_sig(void);

#endif
