# SPDX-License-Identifier: MIT
"""Real time: every thread is sampled, what it waited is told from what it ran,
and a thread that waits is hardly woken for it.  Runs in: tests."""
import re
import time
import unittest

from jprun import LIBRARY, Case, need, program

FLAGS = "JP_START JP_REALTIME JP_PERIOD=0.002"


def threads_of(run):
    """{tid: [(event, weight in s, stack)]}"""
    threads = {}
    for _, tid, weight, event, _, stack in run.samples:
        threads.setdefault(tid, []).append((event, weight / 1e9, stack))
    return threads


def weight(samples, event):
    return sum(s[1] for s in samples if s[0] == event)


class Waiting(Case):
    def test_time_is_counted_in_full_and_costs_little(self):
        done = self.run_program(program("loads"), "idle", "3", "4",
                                flags=FLAGS)
        self.assertEqual((done.status, done.err), (0, ""))
        run = self.run_of()
        threads = threads_of(run)
        self.assertEqual(len(threads), 5)
        for tid, samples in threads.items():
            with self.subTest(tid=tid):
                blocked = weight(samples, "blocked")
                self.assertGreater(blocked, 2.9)
                # At the full rate there would be 1500 samples.  One wake-up
                # a second, and some until it is known that it waits; and a
                # second's for the first thread where it has waited before, to
                # make the others, which it does where others want the CPU.
                most = 60 + 2 * blocked
                if tid == run.header["pid"]:
                    most += 500
                self.assertLess(len(samples), most)
        summary = self.summary(program("loads"), "jprof-log")
        self.assertGreater(float(summary["blocked_s"]), 14.5)
        self.assertLess(float(summary["running_s"]), 0.5)
        self.assertIn("Blocked time", self.report(program("loads"), "jprof-log"))

    def test_wake_ups(self):
        """As the kernel counts them."""
        live = self.start(program("idle"), flags="JP_START JP_REALTIME "
                          "JP_PERIOD=0.001")
        self.assertIn("pid", live.line())
        # A hundredth of the periods: the looks at a wait become rarer with
        # its age, and begin anew where the machine kept the thread waiting:
        # one second without that, of many, shows it.
        wakes = []
        while len(wakes) < 20 and min(wakes, default=11) > 10:
            before, start = self.switches(live.pid), time.monotonic()
            time.sleep(1)
            wakes.append((self.switches(live.pid) - before) /
                         (time.monotonic() - start))
        before = self.switches(live.pid)
        live.wait_until(lambda: self.switches(live.pid) > before, "a look")
        live.end(15)
        self.assertLessEqual(min(wakes), 10, wakes)

    @staticmethod
    def switches(pid):
        with open("/proc/%d/status" % pid, encoding="ascii",
                  errors="replace") as status:
            return int(re.search(r"voluntary_ctxt_switches:\s*(\d+)",
                                 status.read()).group(1))


class SlowLog(Case):
    """The log takes long to make, and the threads' first samples wait for
    it."""

    def test_no_time_is_lost(self):
        done = self.run_program(
            need("strace"), "-f", "-qq", "-o", "/dev/null", "-e",
            "trace=fallocate", "-e", "inject=fallocate:delay_enter=300000",
            "-E", "LD_PRELOAD=" + LIBRARY, program("loads"), "idle", "1.5", "4",
            preload=False, flags=FLAGS)
        self.assertEqual((done.status, done.err), (0, ""))
        threads = threads_of(self.run_of())
        self.assertEqual(len(threads), 5)
        for tid, samples in threads.items():
            with self.subTest(tid=tid):
                self.assertGreater(sum(s[1] for s in samples), 1.4)


class Phases(Case):
    """Waiting in one function, working in another."""
    ARGUMENTS = ("2", "1.5", "0.4")

    def setUp(self):
        super().setUp()
        done = self.run_program(program("phases"), *self.ARGUMENTS,
                                flags=FLAGS)
        self.assertEqual((done.status, done.err), (0, ""))
        found = re.search(r"thread (\d+) waited ([\d.]+) worked ([\d.]+)",
                          done.out)
        self.tid = int(found.group(1))
        self.waited, self.worked = map(float, found.groups()[1:])
        self.samples = threads_of(self.run_of())[self.tid]

    def test_parts(self):
        self.assertLess(abs(weight(self.samples, "running") - self.worked),
                        0.1 * self.worked)
        # What it waits for a CPU, on a busy machine, is not running either.
        self.assertGreater(weight(self.samples, "blocked"),
                           0.95 * self.waited)

    def test_full_rate_is_back(self):
        """A running thread is sampled twice a millisecond of its time, but
        for the tick or two until it is noticed."""
        running = [s for s in self.samples if s[0] == "running"]
        self.assertGreater(len(running), 0.4 * self.worked / 0.002)
        self.assertLess(max(s[1] for s in running), 0.2)

    def test_waiting_is_where_it_waited(self):
        stacks = self.collapsed(program("phases"), "--only-thread",
                                str(self.tid), "jprof-log")
        there = sum(w for s, w in stacks if "wait_for_byte" in s) * 0.002
        self.assertLess(abs(there - self.waited), 0.1 * self.waited)


class Naps(Phases):
    """The same of a thread that was in a long wait and blocked twice before it
    worked, so that nobody knows when the first wait ended."""
    ARGUMENTS = ("2", "2.5", "0.4", "0.002")


if __name__ == "__main__":
    unittest.main()
