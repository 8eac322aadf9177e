# SPDX-License-Identifier: MIT
"""Real time is charged to the function in which it passed: what `waits` says
by its own clocks, and what the profile says.  tests/wall has long forms.
Runs in: tests."""
import time
import unittest

from jprun import Case, program
import truth

# A function's time may be off by so many standard errors; and by so much, for
# errors that are themselves estimated from few samples.
ERRORS = 4
SHARE = 0.05


class Phases(Case):
    def phases(self, hz, *arguments):
        done = self.run_program(program("waits"), *arguments,
                                flags="JP_START JP_REALTIME JP_PERIOD=%g"
                                % (1 / hz))
        self.assertEqual((done.status, done.err), (0, ""))
        threads = truth.compare(self.path("jprof-log"), program("waits"),
                                done.out)
        self.assertTrue(threads)
        return [phase for phases in threads.values() for phase in phases]


class Waits(Phases):
    def check(self, hz, *arguments):
        for phase in self.phases(hz, *arguments):
            with self.subTest(phase=str(phase)):
                off = abs(phase.seen() - phase.wall)
                self.assertLess(off, ERRORS * phase.error() +
                                SHARE * phase.wall + 2 / hz)
                # It would be easy to be right with an error without end.
                self.assertLess(phase.error(), 0.2 * phase.wall + 4 / hz)

    def test_two_waits_of_one_thread(self):
        """The same pc and sp in both, and a rhythm of whole seconds."""
        for hz in (100, 250, 1000):
            with self.subTest(hz=hz):
                self.check(hz, "ticker", "6", ".3", ".7")

    def test_a_short_wait_beside_a_long_one(self):
        self.check(250, "ticker", "10", ".1", ".9")

    def test_computing_sleeping_locking_reading(self):
        for cycle in ("0.02", "0.1", "1"):
            with self.subTest(cycle=cycle):
                self.check(250, "mix", "6", cycle)

    def test_long_waits(self):
        self.check(250, "mix", "15", "5")


class Running(Phases):
    """Running time is the thread's CPU time, and where it ran."""

    def test_by_function(self):
        for cycle in ("0.02", "1"):
            for phase in self.phases(250, "mix", "6", cycle):
                with self.subTest(cycle=cycle, phase=str(phase)):
                    self.assertLess(abs(phase.got["running"] - phase.cpu),
                                    0.06 * phase.cpu + 0.06)

    def test_workers(self):
        for phase in self.phases(250, "pool", "6", "3"):
            with self.subTest(phase=str(phase)):
                self.assertLess(abs(phase.seen() - phase.wall),
                                ERRORS * phase.error() + 0.05 * phase.wall)
                self.assertLess(abs(phase.got["running"] - phase.cpu),
                                0.06 * phase.cpu + 0.06)


class First(Case):
    """A pause before JP_FIRST has passed: nothing starts any more."""

    def test_pause_before_the_start(self):
        live = self.start(program("idle"), flags="JP_START JP_REALTIME "
                          "JP_PERIOD=0.004 JP_FIRST=1.5")
        self.assertIn("pid", live.line())
        live.kill(10)
        time.sleep(2.5)
        done = live.end(15)
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertEqual(self.log_names(), [])


if __name__ == "__main__":
    unittest.main()
