# SPDX-License-Identifier: MIT
"""The handler's time is bounded: a program ends in at most 1.3 times its own
time, and a tenth of a second, whatever its stacks and the period; its signals
get through; the weights are its time; and the report says where the rate was
lowered.  Runs in: tests.

Time is CPU time of the program, medians of runs by turns with and without the
library: what the kernel does for a signal, and the handler, are in it."""
import re
import signal
import statistics
import unittest

from jprun import Case, HANG_SECONDS, program, weight_s
from test_clocks import perf_allowed

SHARE, SLACK_S = 1.3, 0.1
RUNS = 3            # the verdict is about medians of so many
ENOUGH = RUNS // 2 + 1
LOWERED, LOWERED_NS = 16, 17    # counters
FAST = "JP_START JP_PERIOD=0.0001"
CLOCKS = {"perf": FAST + " JP_CLOCK=perf", "timer": FAST + " JP_CLOCK=timer",
          "itimer": FAST + " JP_CLOCK=itimer", "real": FAST + " JP_REALTIME",
          "rtc": "JP_START JP_RTC_HZ=8192"}
# A walk of 4096 frames by libunwind takes milliseconds: more than a tick.
TRIES = 3
SLOW = " JP_STACK=libunwind JP_DEPTH=4096"


class BudgetCase(Case):
    def toil(self, *argv, flags=None):
        """Runs it; returns (CPU seconds, wall seconds) as it says."""
        done = self.run_program(
            program("toil"), *map(str, argv), flags=flags,
            **({} if flags else {"preload": None}))
        self.assertEqual((done.status, done.err), (0, ""))
        found = re.search(r"cpu ([\d.]+) wall ([\d.]+)", done.out)
        self.last = done.out
        return float(found.group(1)), float(found.group(2))

    def setUp(self):
        super().setUp()
        self.alone = {}     # by arguments: CPU times without the library

    def runs(self, flags, argv):
        """Times alone and under the library, by turns.  The last run alone
        counts for the next clock as well."""
        alone, with_it = self.alone.get(argv, [])[-1:], []
        while len(with_it) < RUNS:
            if len(alone) <= len(with_it):
                alone.append(self.toil(*argv)[0])
            with_it.append(self.toil(*argv, flags=flags)[0])
            # A median is not above the largest of a majority, nor below the
            # smallest: whatever the rest of the runs would take, this holds.
            if min(len(with_it), len(alone)) >= ENOUGH and \
                    max(with_it) < SHARE * min(alone) + SLACK_S:
                break
        self.alone[argv] = alone
        return alone, with_it

    def is_bounded(self, flags, *argv):
        """Of a few tries one: what else runs on the machine adds to either."""
        for _ in range(TRIES):
            alone, with_it = self.runs(flags, argv)
            bound = SHARE * statistics.median(alone) + SLACK_S
            if statistics.median(with_it) < bound:
                return
        self.assertLess(statistics.median(with_it), bound)


class Bound(BudgetCase):
    def test_deep_stacks(self):
        """20,000 frames take longer than a period, 100,000 some of them."""
        for name, flags in CLOCKS.items():
            for depth in (20000, 100000):
                with self.subTest(clock=name, depth=depth):
                    self.is_bounded(flags, "deep", 1000000, depth)

    def test_slow_walker(self):
        """Longer than a tick."""
        for name, flags in CLOCKS.items():
            with self.subTest(clock=name):
                self.is_bounded(flags + SLOW, "deep", 1000000, 100000)

    def test_nothing_to_walk(self):
        """What the kernel does for a signal counts."""
        for name, flags in CLOCKS.items():
            with self.subTest(clock=name):
                self.is_bounded(flags, "deep", 1000000, 3)

    def test_threads(self):
        for name, flags in CLOCKS.items():
            with self.subTest(clock=name):
                self.is_bounded(flags, "deep", 200000, 20000, 8)

    def test_threads_that_come_and_go(self):
        """Each lives for some ticks at most."""
        for name, flags in CLOCKS.items():
            with self.subTest(clock=name):
                self.is_bounded(flags, "row", 20000, 2000, 60)

    def test_threads_that_wait(self):
        """In real time each would be woken ten thousand times a second.  All
        together they may take the share that one thread may."""
        argv = "naps", 100, 3000, 24
        alone, _ = self.toil(*argv)
        cpu, wall = self.toil(*argv, flags=CLOCKS["real"])
        self.assertLess(cpu - alone, (SHARE - 1) * (wall + cpu) + SLACK_S)


class Signals(BudgetCase):
    def test_get_through(self):
        """SIGTERM ends the program, and what came before is not starved."""
        for name, flags in CLOCKS.items():
            with self.subTest(clock=name):
                live = self.start(program("toil"), "ask", "1000000", "20000",
                                  flags=flags)
                for _ in range(5):
                    live.burn(0.1)
                    live.kill(signal.SIGHUP)
                live.burn(0.1)
                done = live.end(signal.SIGTERM)
                self.assertEqual((done.status, done.out, done.err),
                                 (0, "hups 5\n", ""))

    def test_default_action(self):
        live = self.start(program("deep"), "20000", str(HANG_SECONDS),
                          flags=FAST)
        live.burn(0.5)
        self.assertEqual(live.end(signal.SIGTERM).status, -signal.SIGTERM)


class Weights(BudgetCase):
    def named(self, name, flags, *argv):
        """Runs `toil deep` with a log of its own; (run, CPU, wall seconds)."""
        times = self.toil("deep", *argv, flags=flags + " JP_FILENAME=" + name)
        return self.run_of(name), *times

    def test_sum(self):
        """It is the time, though the rate was lowered."""
        for name, flags in CLOCKS.items():
            for more in ("", SLOW):
                with self.subTest(clock=name, more=more):
                    run, cpu, wall = self.named(
                        name + more[-4:], flags + more, 1000000, 100000)
                    time = wall if name in ("real", "rtc") else cpu
                    # What a busy machine's last tick leaves.
                    self.assertLess(abs(weight_s(run) - time),
                                    0.02 * time + 0.008)
                    self.assertEqual(run.lost(), 0)

    def test_threads(self):
        for name in ("perf", "timer", "itimer"):
            with self.subTest(clock=name):
                run, cpu, _ = self.named(name, CLOCKS[name], 250000, 50000, 6)
                self.assertLess(abs(weight_s(run) - cpu),
                                0.02 * cpu + 6 * 0.008)

    def test_phases(self):
        """Work above and below the same calls: each part has its share, though
        walks cost much in one of them only."""
        self.toil("waves", 1000000, 100000, flags="JP_START JP_PERIOD=0.001")
        marks = [float(at) for at in re.findall(r"wave ([\d.]+)", self.last)]
        parts = [end - start for start, end in zip([0] + marks, marks)]
        seen = {True: 0, False: 0}
        for stack, weight in self.collapsed(program("toil"), "jprof-log"):
            if "work" in stack:
                seen["descend" in stack] += weight / 1000
        for deep, time in ((False, sum(parts[0::2])), (True, sum(parts[1::2]))):
            self.assertLess(abs(seen[deep] - time), 0.04 * sum(parts))

    @unittest.skipUnless(perf_allowed(), "the perf clock is not allowed here")
    def test_the_rate_comes_back(self):
        """After a deep phase, samples are as close as before it."""
        self.toil("waves", 1000000, 100000, flags="JP_START JP_PERIOD=0.001")
        marks = [float(at) for at in re.findall(r"wave ([\d.]+)", self.last)]
        run = self.run_of()
        phases, used = [[] for _ in marks], 0
        for sample in sorted(run.samples):
            used += sample[2] / 1e9
            at = sum(used > mark for mark in marks[:-1])
            phases[at].append(sample[2])
        deep = statistics.median(phases[3])
        self.assertGreater(deep, 2e6)
        # Its last third: there was time to come back.
        shallow = phases[4][-len(phases[4]) // 3:]
        self.assertLess(statistics.median(shallow), 1.3e6)


class Said(BudgetCase):
    def test_lowered(self):
        cpu, _ = self.toil("deep", 1000000, 100000, flags=FAST)
        counters = self.run_of().header["counters"]
        self.assertGreater(counters[LOWERED], 10)
        self.assertLess(abs(counters[LOWERED_NS] / 1e9 - cpu), 0.2 * cpu)
        facts = self.summary(program("toil"), "jprof-log")
        self.assertEqual(facts["rate_lowered"], "handler time")
        self.assertLess(float(facts["lowered_hz"]), 2000)
        self.assertIn("Rate lowered", self.report(program("toil"),
                                                  "jprof-log"))

    def test_not_lowered(self):
        """At an ordinary rate, with ordinary stacks."""
        self.toil("deep", 1000000, 30, flags="JP_START JP_PERIOD=0.004")
        self.assertEqual(self.run_of().header["counters"][LOWERED], 0)
        self.assertNotIn("rate_lowered",
                         self.summary(program("toil"), "jprof-log"))


if __name__ == "__main__":
    unittest.main()
