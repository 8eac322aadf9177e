# SPDX-License-Identifier: MIT
"""Programs that compute in beats: each function has the share that the program
itself measured, and each period a sample.  The long form is `make
check-rhythm`.  Runs in: tests."""
import os
import re
import subprocess

import rhythms
from jprun import BUILD, LIBRARY, Case, program
from rhythms import Beat

HRTIMER = 6


class RhythmCase(Case):
    def profile(self, beat, hertz, seconds, flags="JP_START", prefix=(),
                **options):
        """Runs a beat.  Returns (its functions' true CPU times, stacks, the
        number of samples whose leaf is one of them)."""
        period = 1 / hertz
        done = self.run_program(
            *prefix, *beat.argv(seconds),
            flags="%s JP_PERIOD=%g" % (flags, period), **options)
        self.assertEqual((done.status, done.err), (0, ""), str(beat))
        truth = rhythms.truth_of(done.out)
        stacks = self.collapsed(program("beats"), "jprof-log")
        periods = sum(weight for stack, weight in stacks if stack[-1] in truth)
        run = self.run_of()
        samples = periods * len(run.samples) / max(
            sum(s[2] for s in run.samples) / (period * 1e9), 1)
        return truth, stacks, samples

    def check(self, beat, hertz, seconds, **options):
        truth, stacks, samples = self.profile(beat, hertz, seconds, **options)
        self.assertEqual(
            rhythms.wrong(stacks, truth, samples, 1 / hertz,
                          beat.micros / 1e6), [], str(beat))


class Rhythm(RhythmCase):
    def test_the_tick_s_own(self):
        """A timer on a CPU clock gives 100, 74, 20 and 98% of these to the
        first function."""
        for beat in (Beat(250, 700, "nanosleep"), Beat(50, 2000, "pipe"),
                     Beat(125, 1300, "epoll"),
                     Beat(100, 3000, "clock_nanosleep")):
            with self.subTest(beat=str(beat)):
                self.check(beat, 1000, 1.2)
                self.assertEqual(self.run_of().header["clock"], HRTIMER)

    def test_each_wait(self):
        for beat in rhythms.drawn(13, 1):
            with self.subTest(beat=str(beat)):
                self.check(beat, 1000, 0.6)

    def test_a_thread_a_beat(self):
        self.check(Beat(60, 1000, "poll", 8, 5), 1000, 0.3)

    def test_each_thread_goes_on(self):
        """A timer that expires while it is made, or while a hook stops it, is
        set again: no thread has one sample for all of its time."""
        beat = Beat(100, 3000, "nanosleep", 32)
        for _ in range(8):
            done = self.run_program(*beat.argv(0.05),
                                    flags="JP_START JP_PERIOD=0.0005")
            self.assertEqual((done.status, done.err), (0, ""))
            largest = max(sample[2] for sample in self.run_of().samples)
            self.assertLess(largest, 0.025e9)

    def test_beside_a_busy_process(self):
        other = [subprocess.Popen([program("busy"), "60"],
                                  stdout=subprocess.DEVNULL)
                 for _ in range(3)]
        try:
            self.check(Beat(100, 1500, "mutex"), 1000, 1)
        finally:
            for process in other:
                process.kill()
                process.wait()

    def test_the_real_time_clock(self):
        """Its running samples."""
        beat = Beat(125, 1300, "nanosleep")
        done = self.run_program(
            *beat.argv(2), flags="JP_START JP_REALTIME JP_PERIOD=0.001")
        self.assertEqual((done.status, done.err), (0, ""))
        truth = rhythms.truth_of(done.out)
        stacks = self.collapsed(program("beats"), "--event=running",
                                "jprof-log")
        found, periods = rhythms.shares(stacks, truth)
        for name, (true, got) in found.items():
            self.assertLess(abs(true - got), rhythms.allowed(true, periods),
                            name)


class Rate(RhythmCase):
    """1000 Hz for an ordinary user, whom the kernel refuses perf events."""

    def rate(self, *prefix):
        done = self.run_program(
            *prefix, program("busy"), "1", preload=None,
            flags="JP_START JP_PERIOD=0.001",
            env={"REFUSE_PRELOAD": LIBRARY})
        self.assertEqual((done.status, done.err), (0, ""))
        return float(self.summary(program("busy"),
                                  "jprof-log")["rate_got_hz"])

    def test_behind_a_filter(self):
        got = self.rate(program("refuse"), "perf-event-open")
        self.assertGreater(got, 950)
        self.assertLess(got, 1030)

    def test_too_few_are_said(self):
        """The timer on the CPU clock gives one sample a tick."""
        for clock, said in ("timer", True), ("hrtimer", False):
            with self.subTest(clock=clock):
                done = self.run_program(
                    os.path.join(BUILD, "jprof"), "run", "-F", "1000", "-o",
                    clock, program("busy"), "1", preload=None, flags=None,
                    env={"JPROF_FLAGS": "JP_CLOCK=" + clock})
                self.assertEqual(done.status, 0)
                self.assertEqual(bool(re.search(
                    r"1000 Hz requested, \d+(\.\d+)? Hz achieved: the timers "
                    r"expire at the kernel's ticks", done.err)), said,
                                 done.err)


class AtOnce(RhythmCase):
    """Signals that the kernel delivers at once: the first instruction of
    another handler is nobody's."""

    def test_another_profiler(self):
        done = self.run_program(program("profiled_twice"), "1",
                                flags="JP_START JP_PERIOD=0.002")
        self.assertEqual((done.status, done.err), (0, ""))
        stacks = self.collapsed(program("profiled_twice"), "jprof-log")
        whole = sum(weight for _, weight in stacks)
        entry = sum(weight for stack, weight in stacks
                    if stack[-1] in ("__restore_rt", "on_signal"))
        self.assertGreater(whole, 300)
        self.assertLess(entry, 0.02 * whole)
