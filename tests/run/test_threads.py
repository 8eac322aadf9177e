# SPDX-License-Identifier: MIT
"""Every thread is sampled, however it was made, and leaves nothing behind.
Runs in: tests."""
import os
import re
import unittest

from jprun import BUILD, Case, program, weight_s

NO_SLOT, NO_TIMER = 6, 8        # counters


class Strays(Case):
    """Threads made in every way have their CPU time in the profile: those past
    the hook are found by a timer that ticks ten times a CPU second."""

    def check(self, out, run, slack):
        each = {int(tid): float(cpu) for tid, cpu in
                re.findall(r"thread (\d+) ([\d.]+)", out)}
        self.assertTrue(each)
        for tid, cpu in each.items():
            weight = sum(s[2] for s in run.samples if s[1] == tid) / 1e9
            self.assertLess(abs(weight - cpu), slack, "thread %d" % tid)

    def run_kind(self, kind, flags):
        done = self.run_program(program("strays"), kind, "0.5", "3",
                                flags="JP_START " + flags)
        self.assertEqual((done.status, done.err), (0, ""))
        self.check(done.out, self.run_of(), 0.15)
        self.assertEqual(self.run_of().lost(), 0)

    def test_pthread_create(self):
        self.run_kind("pthread", "JP_PERIOD=0.004")

    def test_thrd_create(self):
        self.run_kind("c11", "JP_PERIOD=0.004")

    def test_sigev_thread(self):
        self.run_kind("sigev", "JP_PERIOD=0.004")

    def test_on_the_way_out(self):
        """The destructors of thread-specific data run when the hook's own end
        has been; what came before is not counted twice."""
        for period in ("0.004", "0.001"):
            with self.subTest(period=period):
                self.run_kind("key", "JP_PERIOD=" + period)

    def test_raw_clone(self):
        self.run_kind("clone", "JP_PERIOD=0.004")

    def test_raw_clone_above_the_tick(self):
        self.run_kind("clone", "JP_PERIOD=0.001")

    def test_before_a_deferred_start(self):
        for kind in ("pthread", "clone"):
            with self.subTest(kind=kind):
                live = self.start(program("strays"), kind, "0.5", "3", "go",
                                  flags="JP_DEFER JP_PERIOD=0.002")
                self.assertEqual(live.line(), "ready")
                self.control("start", live.pid)
                live.process.stdin.write(b"x")
                live.process.stdin.flush()
                done = live.end()
                self.assertEqual((done.status, done.err), (0, ""))
                self.check(done.out, self.run_of(), 0.15)

    def control(self, word, pid):
        done = self.run_program("/bin/sh", "-c", 'exec "$0" "$1" "$2"',
                                os.path.join(BUILD, "jprof"), word, str(pid), flags=None,
                                preload=False)
        self.assertEqual((done.status, done.err), (0, ""))


class Many(Case):
    """Timers, events and records are given back.  (There are 16,384 records.)"""

    def check(self, flags, count):
        done = self.run_program(program("brief"), "row", str(count),
                                flags="JP_START " + flags)
        self.assertEqual((done.status, done.err), (0, ""))
        timers, events = map(int, re.findall(
            r"timers (\d+) events (\d+)", done.out)[-1])
        # The process's slow timer, the main thread's, one just adopted.
        self.assertLessEqual(timers, 4)
        self.assertLessEqual(events, 3)
        run = self.run_of()
        self.assertEqual(run.header["counters"][NO_SLOT], 0)
        self.assertEqual(run.header["counters"][NO_TIMER], 0)
        # A chunk passes from thread to thread.
        self.assertLess(len(run.chunks), 40)

    def test_in_a_row(self):
        self.check("JP_PERIOD=0.004", 100000)

    def test_in_a_row_above_the_tick(self):
        self.check("JP_PERIOD=0.001", 100000)

    def test_at_once(self):
        done = self.run_program(program("brief"), "crowd", "1000",
                                flags="JP_START JP_PERIOD=0.002")
        self.assertEqual((done.status, done.err), (0, ""))
        counts = [sum(map(int, pair)) for pair in re.findall(
            r"timers (\d+) events (\d+)", done.out)]
        self.assertGreaterEqual(counts[0], 1001)
        self.assertLessEqual(counts[0], 1010)
        self.assertLessEqual(counts[1], 10)
        run = self.run_of()
        self.assertEqual(run.lost(), 0)
        self.assertEqual(run.header["counters"][NO_TIMER], 0)


class Names(Case):
    def test_changes_are_followed(self):
        """A thread calls itself by another name every while."""
        done = self.run_program(program("renames"), "4",
                                flags="JP_START JP_PERIOD=0.004")
        self.assertEqual((done.status, done.err), (0, ""))
        tid = int(re.search(r"thread (\d+)", done.out).group(1))
        names = [(when, keys["name"]) for when, keys in
                 self.run_of().events("thread") if int(keys["tid"]) == tid]
        self.assertEqual([name for _, name in names][-4:],
                         ["name-%d" % i for i in range(4)])
        times = [when for when, _ in names]
        self.assertEqual(times, sorted(times))
        self.assertGreater(weight_s(self.run_of()), 0.5)


if __name__ == "__main__":
    unittest.main()
