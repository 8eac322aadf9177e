# SPDX-License-Identifier: MIT
"""Code that is loaded and moved at addresses used again and again, with a
sample at every step: each name must be of the code that was there.

Runs in: tests; `make bench-torture` has the whole million."""
import os
import sys
import unittest

from jprun import BUILD, REPORT, ROOT, Case

sys.path.insert(0, os.path.join(ROOT, "tests", "bench"))
import torture      # noqa: E402  (needs the path above)

EVENTS = 100000
# Of memory, for each load and sample with a name of its own; and what a report
# takes before it has read anything.
BYTES_EACH = 300
BYTES_FIRST = 16 << 20


class Torture(Case):
    def check(self, depth, names, seed):
        log = torture.make(BUILD, self.path(""), EVENTS, EVENTS, depth, names,
                           seed)
        self.assertEqual(torture.compare(REPORT, log), (EVENTS, 0))
        return log

    def test_names(self):
        for seed in range(3):
            with self.subTest(seed=seed):
                self.check(4, 5000, seed)

    def test_memory(self):
        log = self.check(1, EVENTS, 7)
        for form in ("summary", "collapsed"):
            _, size = torture.cost(REPORT, log, form)
            self.assertLess(size, BYTES_FIRST + EVENTS * BYTES_EACH, form)


if __name__ == "__main__":
    unittest.main()
