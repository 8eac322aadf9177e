# SPDX-License-Identifier: MIT
"""Real time of threads that end before the process does, or with it, or are
killed: it is in the report, or the report says how much is not.  Runs in:
tests."""
import signal
import unittest

from jprun import Case, program

FLAGS = "JP_START JP_REALTIME JP_PERIOD=0.004"
ENDING, STAYING = 20, 60


class Partings(Case):
    def part(self, how, status):
        """The summary, and the threads' real time by their own clocks."""
        done = self.run_program(program("partings"), str(ENDING), str(STAYING),
                                "5", how, flags=FLAGS)
        self.assertEqual((done.status, done.err), (status, ""))
        summary = self.summary(program("partings"), "jprof-log")
        states = sum(float(summary[state + "_s"])
                     for state in ("running", "blocked", "ready"))
        return summary, states, float(done.out.split()[1])

    def test_killed(self):
        """Threads that ended before are not among those that waited on."""
        summary, states, total = self.part("killed", -signal.SIGKILL)
        after = float(summary["after_last_s"])
        # Where threads have ended, strata are a 16th of the wait at most: of
        # 5 s, and half of one is left on average.
        self.assertGreater(after, 0.005 * total)
        self.assertLess(abs(states + after - total), 0.03 * total)
        threads = int(summary["after_last_threads"])
        self.assertLessEqual(threads, STAYING + 1)
        self.assertGreater(threads, STAYING / 2)
        text = self.report(program("partings"), "--format=text", "jprof-log")
        self.assertRegex(text, r"After last sample  [\d.]+ m?s of \d+ waiting "
                               r"threads, not in this report")
        self.assertIn("waiting threads, not in this report",
                      self.report(program("partings"), "jprof-log"))
        # What is asked for ends before.
        early = self.summary(program("partings"), "--to=1", "jprof-log")
        self.assertEqual(early["after_last_threads"], "0")

    def test_without_destructors(self):
        summary, states, total = self.part("_exit", 0)
        self.assertEqual(summary["after_last_threads"], "0")
        self.assertLess(abs(states - total), 0.02 * total)

    def test_another_program(self):
        """Waiting threads end with the exec, and go on after one that fails."""
        summary, states, total = self.part("exec", 0)
        self.assertEqual(summary["after_last_threads"], "0")
        self.assertLess(abs(states - total), 0.02 * total)

    def test_in_order(self):
        summary, states, total = self.part("exit", 0)
        self.assertEqual(summary["after_last_threads"], "0")
        self.assertLess(abs(states - total), 0.02 * total)
        text = self.report(program("partings"), "--format=text", "jprof-log")
        self.assertNotIn("After last sample", text)
        # Time is shown under the calls that the program made.
        head, times = text.split("Flat Profile")[0].split("Time by Function")
        for call in ("read", "nanosleep", "stay", "nap"):
            self.assertRegex(times, r"(?m)  %s$" % call)
        self.assertNotIn("jp_", head + times)
        self.assertNotIn("ppoll", times)


if __name__ == "__main__":
    unittest.main()
