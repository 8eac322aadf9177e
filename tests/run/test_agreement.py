# SPDX-License-Identifier: MIT
"""jprof-report and tests/tools/decode.py, which was written from
doc/FORMAT.md alone, read the same from real logs.  Runs in: tests."""
import collections
import unittest

from jprun import TICK_FLAGS, Case, program

SCENES = (
    ("shares", ("4", "0.5"), TICK_FLAGS),
    ("shares", ("3", "0.5"), TICK_FLAGS + " JP_STACK=libunwind"),
    ("shares", ("2", "1"),
     "JP_START JP_REALTIME JP_PERIOD=0.0005 JP_CIRCULAR=40k"),
    ("shares", ("2", "0.5"), TICK_FLAGS + " JP_DEPTH=5"),
    ("threads_many", ("100", "0.02"), TICK_FLAGS),
    ("raise_prof", ("500",), TICK_FLAGS),
    ("jitter", ("0.5",), TICK_FLAGS),
)


class Agreement(Case):
    def compare(self, app, run):
        period = run.header["period_ns"]
        summary = self.summary(app, "jprof-log")
        weight = sum(s[2] for s in run.samples)
        incomplete = sum(1 for s in run.samples if s[4] != "root")
        expected = {
            "samples": len(run.samples),
            "weight": (weight + period // 2) // period,
            "lost": run.lost(),
            "incomplete": incomplete,
            "truncated": sum(1 for s in run.samples if s[4] == "depth"),
            "threads": len({s[1] for s in run.samples}),
            "sections": len(run.events("section")),
        }
        for key, value in expected.items():
            self.assertEqual(int(summary[key]), value, key)

    def compare_threads(self, app, run):
        counts = collections.Counter(s[1] for s in run.samples)
        for tid, count in counts.most_common(4):
            summary = self.summary(app, "--only-thread", str(tid),
                                   "jprof-log")
            self.assertEqual(int(summary["samples"]), count)

    def compare_depths(self, app, run):
        """Stacks have the depths that the decoder sees."""
        depths = collections.Counter()
        for sample in run.samples:
            depths[len(sample[5])] += sample[2]
        got = collections.Counter()
        for stack, weight in self.collapsed(app, "jprof-log"):
            got[len(stack)] += weight
        period = run.header["period_ns"]
        for depth, weight in depths.items():
            self.assertAlmostEqual(got[depth], weight / period, delta=1.01)

    def test_scenes(self):
        for name, arguments, flags in SCENES:
            with self.subTest(name=name, flags=flags):
                app = program(name)
                done = self.run_program(app, *arguments, flags=flags)
                self.assertEqual(done.status, 0, done.err)
                run = self.run_of()
                self.assertGreater(len(run.samples), 20)
                self.compare(app, run)
                self.compare_threads(app, run)
                if name == "shares" and "DEPTH" not in flags:
                    self.compare_depths(app, run)


if __name__ == "__main__":
    unittest.main()
