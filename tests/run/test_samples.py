# SPDX-License-Identifier: MIT
"""Samples tell how a program's CPU time was really spent: their number, their
weight and the shares of functions, in each thread.  Runs in: tests."""
import re
import unittest

from jprun import (PERIOD_NS, TICK_FLAGS, Case, program, share_bound,
                   weight_s)
from test_clocks import perf_allowed

SHARES = {"a": 0.5, "b": 0.3, "c": 0.2}
WALKERS = ("fp", "libunwind", "cfi", "auto")


def parse_shares(out):
    """({tid: CPU seconds}, total) as the program `shares` prints them."""
    threads = {int(tid): float(cpu) for tid, cpu in
               re.findall(r"(?m)^thread (\d+) ([\d.]+)", out)}
    return threads, float(re.search(r"total ([\d.]+)", out).group(1))


class Rate(Case):
    def own_ticks(self, period_s):
        """Runs a program with a timer of its own of the same period; (CPU
        seconds, its signals).  Where others have the CPU at the kernel's
        ticks, several periods end in one signal, of either timer."""
        done = self.run_program(
            program("ownticks"), "2", str(period_s * 1000),
            flags="JP_START JP_PERIOD=%s" % period_s)
        self.assertEqual((done.status, done.err), (0, ""))
        words = done.out.split()
        return float(words[1]), int(words[3])

    def test_samples_a_cpu_second(self):
        """As many as any timer of that period gives."""
        cpu, signals = self.own_ticks(0.004)
        run = self.run_of()
        self.assertLess(abs(len(run.samples) - signals), 0.1 * signals)
        self.assertLess(abs(weight_s(run) - cpu), 0.05 * cpu)
        self.assertEqual(run.lost(), 0)
        summary = self.summary(program("ownticks"), "jprof-log")
        self.assertEqual(float(summary["rate_asked_hz"]), 250)
        self.assertLess(abs(float(summary["rate_got_hz"]) - signals / cpu),
                        0.1 * signals / cpu)

    def test_weights_above_the_tick(self):
        """Where the kernel's tick cannot give the rate, weights make up."""
        _, cpu = self.busy(2, flags="JP_START JP_PERIOD=0.001")
        self.assertLess(abs(weight_s(self.run_of()) - cpu), 0.05 * cpu)

    def test_weights_of_a_slow_rate(self):
        cpu, signals = self.own_ticks(0.02)
        run = self.run_of()
        self.assertLess(abs(weight_s(run) - cpu), 0.05 * cpu)
        self.assertLess(abs(len(run.samples) - signals), 0.1 * signals)

    def test_every_thread_has_its_time(self):
        done = self.run_program(program("shares"), "4", "1")
        threads, total = parse_shares(done.out)
        run = self.run_of()
        for tid, cpu in threads.items():
            got = sum(s[2] for s in run.samples if s[1] == tid) / 1e9
            self.assertLess(abs(got - cpu), 0.05 * cpu, "thread %d" % tid)
        self.assertLess(abs(weight_s(run) - total), 0.05 * total)

    def test_many_short_threads(self):
        """Their time is sampled too: a tick lands in them as often as in
        long ones, so the sum holds although no single thread's does."""
        done = self.run_program(program("threads_many"), "300", "0.02")
        total = float(re.search(r"total ([\d.]+)", done.out).group(1))
        run = self.run_of()
        self.assertEqual(run.lost(), 0)
        self.assertGreater(len({s[1] for s in run.samples}), 200)
        self.assertGreater(weight_s(run), 0.7 * total)
        self.assertLess(weight_s(run), 1.1 * total)


class Shares(Case):
    """50:30:20 below a recursion of 20, in each thread and in total."""

    # 500 samples a thread: of the kernel's tick, or in a quarter of the time
    # by a clock that has no tick.  The errors go by their number.
    TICKS = "2", TICK_FLAGS
    EVENTS = ("0.5", "JP_START JP_PERIOD=0.001 JP_CLOCK=perf") \
        if perf_allowed() else TICKS

    def profile(self, walker, kind, clock):
        seconds, flags = clock
        done = self.run_program(program("shares"), "4", seconds, kind,
                                flags=flags + " JP_STACK=" + walker)
        self.assertEqual((done.status, done.err), (0, ""))
        threads, _ = parse_shares(done.out)
        self.assertEqual(self.run_of().header["walker"],
                         WALKERS.index(walker))
        return threads

    def check_stacks(self, stacks, count, kind):
        """Checks the shares, and the recursion below each hot function."""
        name = "hot_" if kind == "leaf" else "frame_"
        found = dict.fromkeys(SHARES, 0)
        total = sum(weight for _, weight in stacks)
        for stack, weight in stacks:
            for key in SHARES:
                if name + key in stack:
                    found[key] += weight
                    self.assertEqual(stack.count("recurse"), 20, stack)
                    if kind == "frame" and stack[-1] != name + key:
                        self.assertEqual(stack[-2:], [name + key, "work"])
        for key, share in SHARES.items():
            self.assertLess(abs(found[key] / total - share),
                            share_bound(share, count) + 0.002,
                            "%s in samples worth %d" % (name + key, count))

    @staticmethod
    def worth(samples):
        """How many samples of equal weight are worth as much: where a busy
        machine drops ticks, a few weigh more than the rest, and the sampling
        error is theirs (Kish's effective sample size)."""
        weights = [s[2] for s in samples]
        return sum(weights) ** 2 / sum(w * w for w in weights)

    def check(self, walker, kind, clock=EVENTS):
        threads = self.profile(walker, kind, clock)
        run = self.run_of()
        app = program("shares")
        self.check_stacks(self.collapsed(app, "jprof-log"),
                          self.worth(run.samples), kind)
        for tid in threads:
            own = [s for s in run.samples if s[1] == tid]
            self.assertGreater(len(own), 100)
            self.check_stacks(
                self.collapsed(app, "--only-thread", str(tid), "jprof-log"),
                self.worth(own), kind)
        complete = sum(1 for s in run.samples if s[4] == "root")
        self.assertGreater(complete, 0.99 * len(run.samples))

    def test_frame_pointers_leaf(self):
        self.check("fp", "leaf")

    def test_frame_pointers_frame(self):
        self.check("fp", "frame")

    def test_cfi_leaf(self):
        self.check("cfi", "leaf")

    def test_cfi_frame(self):
        self.check("cfi", "frame")

    def test_hybrid_leaf(self):
        """The default walker, by the clock that is there everywhere."""
        self.check("auto", "leaf", self.TICKS)

    def test_libunwind_leaf(self):
        self.check("libunwind", "leaf")

    def test_libunwind_frame(self):
        self.check("libunwind", "frame")

    def test_no_frames_of_the_library(self):
        self.profile("libunwind", "leaf", self.EVENTS)
        modules = [(int(k["start"], 16), int(k["end"], 16))
                   for _, k in self.run_of().events("module")
                   if "libjprof" in k["path"] or "libunwind" in k["path"]]
        self.assertTrue(modules)
        samples = self.run_of().samples
        self.assertTrue(all(len(s[5]) > 0 for s in samples))
        # A thread's root runs through the library's start routine, and a
        # sample may come while that begins or ends the thread.
        inside = [s for s in samples
                  if any(low <= frame < high for low, high in modules
                         for frame in s[5][:2])]
        self.assertLess(len(inside), len(samples) / 50)


class Clocks(Case):
    def test_raised_signals_are_samples(self):
        done = self.run_program(program("raise_prof"), "100",
                                flags="JP_START JP_PERIOD=10")
        self.assertEqual((done.status, done.out), (0, "errno kept\n"))
        run = self.run_of()
        raised = [s for s in run.samples if s[3] == "raised"]
        self.assertEqual(len(raised), 100)
        self.assertEqual({s[2] for s in raised}, {10 * 10 ** 9})

    def test_thread_past_the_hook_runs_undisturbed(self):
        done = self.run_program(program("rawclone"), "1")
        self.assertEqual((done.status, done.err), (0, ""))

    def test_plugin_is_named_after_it_is_gone(self):
        done = self.run_program(program("dlopener"),
                                program("spinlib.so"), "1.5", "3")
        self.assertEqual((done.status, done.err), (0, ""))
        stacks = self.collapsed(program("dlopener"), "jprof-log")
        total = sum(weight for _, weight in stacks)
        inside = sum(w for stack, w in stacks if "plugin_spin" in stack)
        self.assertGreater(inside, 0.8 * total)

    def test_weights_are_whole_periods(self):
        self.busy(0.5)
        self.assertEqual({s[2] % PERIOD_NS for s in self.run_of().samples},
                         {0})


if __name__ == "__main__":
    unittest.main()
