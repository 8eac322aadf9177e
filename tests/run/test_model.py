# SPDX-License-Identifier: MIT
"""What a report costs grows with what is in the log as it should: memory not
with samples, CPU time and output at most as the log does.

Runs in: tests.  The counts of `make bench-model` (doc/bench.md), divided."""
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

from jprun import BUILD, REPORT, ROOT, Case

sys.path.insert(0, os.path.join(ROOT, "tests", "bench"))
import model        # noqa: E402  (needs the path above)

TIMES = 10          # how much larger the other log is
# By how much the counts are divided for the larger one.
SCALES = {"deep": 10, "zipf": 10, "merged": 10, "threads": 10, "build3": 10,
          "swaps": 100}
SLACK = 3           # for a CPU that others use, too, and for rounding
LEAST_CPU = 0.05    # seconds; less is the program's start
LEAST_OUTPUT = 1 << 20
MEMORY = 16 << 20   # bytes that more samples may take
FORMATS = ("speedscope", "firefox", "perf-script")  # that write each sample
HANG_SECONDS = 300  # ends what does not end by itself


class Model(Case):
    check_agreement = False     # of the first of a hundred logs

    def cost(self, what, scale, form=None):
        """What a format, the row's first, costs, its counts divided."""
        folder = self.path("%s-%d" % (what.name, scale))
        os.mkdir(folder)
        logs = model.make(BUILD, folder, model.scaled(what.keys, scale),
                          what.jit, what.swapped)
        cost = model.measure(model.command_of(
            what, form or what.forms[0], REPORT, logs), folder, HANG_SECONDS)
        shutil.rmtree(folder)
        self.assertIsNone(cost.ended)
        return cost

    def test_ctrl_c_leaves_nothing(self):
        """It comes while the report is written."""
        what = next(row for row in model.ROWS if row.name == "deep")
        log, = model.make(BUILD, self.dir, model.scaled(what.keys, 10))
        names = sorted(os.listdir(self.dir))
        status = 0
        while status == 0:      # or it was written before the signal came
            report = subprocess.Popen(
                [REPORT, "--format=html-plain", "-o", "page", "make", log],
                cwd=self.dir)
            while report.poll() is None and not any(
                    name.startswith(".jprof-report-")
                    for name in os.listdir(self.dir)):
                time.sleep(0.001)
            report.send_signal(signal.SIGINT)
            status = report.wait(HANG_SECONDS)
        self.assertEqual(status, -signal.SIGINT)
        self.assertEqual(sorted(set(os.listdir(self.dir)) - {"page"}), names)

    def test_memory_does_not_grow_with_samples(self):
        what = next(row for row in model.ROWS if row.name == "samples8")
        few, many = self.cost(what, 1000), self.cost(what, 25)
        self.assertLess(many.own - few.own, MEMORY)

    def test_exports_hold_no_samples(self):
        """Those that write each one."""
        what = next(row for row in model.ROWS if row.name == "samples8")
        what = what._replace(options=("-s", "2"))
        for form in FORMATS:
            with self.subTest(form=form):
                few, many = (self.cost(what, scale, form)
                             for scale in (1000, 100))
                self.assertLess(many.own - few.own, MEMORY)

    def test_page_holds_so_many_samples(self):
        """And of more no more, but up to a fourth of those."""
        what = next(row for row in model.ROWS if row.name == "samples8")
        few, many = (self.cost(what, scale, "html") for scale in (100, 20))
        self.assertLess(many.own, 1.5 * few.own)
        self.assertLess(many.output, 2 * few.output)

    def test_cost_grows_as_the_log(self):
        for what in model.ROWS:
            if what.name not in SCALES:
                continue
            with self.subTest(row=what.name):
                small = self.cost(what, SCALES[what.name] * TIMES)
                large = self.cost(what, SCALES[what.name])
                self.assertLess(large.cpu, SLACK * TIMES *
                                max(small.cpu, LEAST_CPU))
                self.assertLess(large.output, SLACK * TIMES *
                                max(small.output, LEAST_OUTPUT))


if __name__ == "__main__":
    unittest.main()
