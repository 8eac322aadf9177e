# SPDX-License-Identifier: MIT
"""Samples in threads that throw, load, unload and allocate: none hangs, none
crashes, and no rule of a library that has gone is used for the next one.
`make check-churn` runs this with JP_CHURN=100000 samples.  Runs in: tests."""
import os
import unittest

from jprun import Case, program

SAMPLES = int(os.environ.get("JP_CHURN", "5000"))
FLAGS = "JP_START JP_PERIOD=3600"
LIBRARIES = (program("swap_a.so"), program("swap_b.so"))


class Churn(Case):
    def test_samples_under_storm(self):
        """Raised ones, since a timer's come at no moment of their own."""
        taken = rooted = rounds = 0
        while taken < SAMPLES:
            rounds += 1
            self.assertLess(rounds, 10)
            done = self.run_program(program("storm"), *LIBRARIES,
                                    str(SAMPLES // 2), flags=FLAGS)
            self.assertEqual((done.status, done.err), (0, ""))
            loaded, caught = map(int, done.out.split()[1::2])
            self.assertGreater(min(loaded, caught), 10)
            run = self.run_of()
            taken += len(run.samples)
            rooted += sum(s[4] == "root" for s in run.samples)
            self.assertGreater(len({s[1] for s in run.samples}), 3)
        self.assertGreater(rooted, 0.97 * taken)

    def test_next_library_at_the_same_address(self):
        """Two that are alike but for the size of a frame, by turns: also in
        one file, written over."""
        for way in ("files", "one"):
            done = self.run_program(program("swapper"), *LIBRARIES,
                                    self.path("copy.so"), way, "300",
                                    flags=FLAGS)
            self.assertEqual((done.status, done.err), (0, ""))
            run = self.run_of()
            raised = [s for s in run.samples if s[3] == "raised"]
            self.assertEqual(len(raised), 300)
            self.assertEqual({s[4] for s in raised}, {"root"})
            # swap_hold was called from one place.
            self.assertEqual(len({len(s[5]) for s in raised}), 1)
            places = {s[5][-4] for s in raised}
            self.assertEqual(len(places), 1)
            self.assertGreater(int(done.out.split()[1]), 200)


if __name__ == "__main__":
    unittest.main()
