# SPDX-License-Identifier: MIT
"""JIT code by its name at the time of the sample: real programs whose code
comes and goes.  Runs in: tests."""
import html
import os
import re
import sys
import unittest

from jprun import TICK_FLAGS, Case, need

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tools"))
import packjit      # noqa: E402  (needs the path above)

CHURN = os.path.join(HERE, "..", "programs", "codechurn.js")


def count_reused(loads):
    """LOADs over code that an earlier one described."""
    reused, seen = 0, []
    for _, start, size, _ in sorted(loads):
        reused += any(start < end and begin < start + size
                      for begin, end in seen)
        seen.append((start, start + size))
    return reused


class Churn(Case):
    """Every generated function has a number, and callers with the same."""

    def test_no_name_is_wrong(self):
        node = need("node")
        done = self.run_program(node, "--perf-prof", "--expose-gc",
                                "--no-turbo-inlining", CHURN, "30",
                                flags=TICK_FLAGS)
        self.assertEqual((done.status, done.out, done.err),
                         (0, "number\n", ""))
        saved = [keys["saved"] for _, keys in self.run_of().events("jitdump")
                 if "saved" in keys]
        with open(self.path(saved[-1]), "rb") as source:
            loads = [load for load in packjit.loads(source.read())
                     if re.search(r"\b[fgh]_\d+ ", load[3])]
        self.assertGreater(count_reused(loads), 20, len(loads))
        # The profile alone is enough.
        os.unlink(self.path("jit-%d.dump" % done.pid))
        right = 0
        for stack, weight in self.collapsed(node, "jprof-log"):
            for name, caller, fits in packjit.churned(stack):
                self.assertTrue(fits, (name, caller))
                right += weight
        self.assertGreater(right, 50)
        facts = self.summary(node, "jprof-log")
        named, frames = int(facts["jit_named"]), int(facts["jit_frames"])
        self.assertGreater(frames, 100)
        self.assertGreaterEqual(named / frames, 0.995, facts)
        self.assertEqual(facts["jit_files"], "1")
        page = html.unescape(self.report(node, "jprof-log"))
        self.assertIn("driver", page)
        self.assertEqual([name for name in self.files()
                          if not name.startswith("jprof-") and
                          not name.startswith("isolate-")], [])


if __name__ == "__main__":
    unittest.main()
