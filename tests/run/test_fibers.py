# SPDX-License-Identifier: MIT
"""Stacks that a program makes and switches itself: where call-frame
information leads back to the caller's, so does the walk; where nothing does,
the stack ends at the fiber's first frame, is complete, and is counted apart.
Runs in: tests."""
import os
import platform
import unittest

from jprun import TICK_FLAGS, Case, program

LEADING = ("linked", "onstack", "marked", "computed")
ENDING = ("context", "local", "bare")


class Fibers(Case):
    def each(self, ways, check):
        for way in ways:
            if way not in ("context", "local") and \
                    platform.machine() != "x86_64":
                continue
            for where in ((), ("thread",)):
                with self.subTest(way=way, where=where):
                    check(way, where)
                    self.clear(way)

    def samples(self, way, where, flags=TICK_FLAGS):
        """The stacks with the fiber's function, by name, leaf first."""
        done = self.run_program(program("fibers"), way, "0.4", *where,
                                flags=flags + " JP_FILENAME=%s" % way)
        self.assertEqual((done.status, done.err), (0, ""))
        run = self.run_of(way)
        stacks = [(stack[::-1], weight) for stack, weight in
                  self.named(way) if "fiber_work" in stack]
        self.assertGreater(sum(weight for _, weight in stacks), 10)
        return run, stacks

    def named(self, log):
        text = self.report(program("fibers"), "--format=collapsed", log)
        for line in text.splitlines():
            stack, weight = line.rsplit(" ", 1)
            yield stack.split(";"), int(weight)

    def shares(self, run):
        """{why a stack ends: its share of the weight}."""
        found = {}
        for sample in run.samples:
            found[sample[4]] = found.get(sample[4], 0) + sample[2]
        whole = sum(found.values())
        return {reason: weight / whole for reason, weight in found.items()}

    def clear(self, way):
        for name in self.files():
            if name.startswith(way):
                os.unlink(self.path(name))

    def led_back(self, way, where):
        run, stacks = self.samples(way, where)
        self.assertGreaterEqual(self.shares(run).get("root", 0), 0.99)
        for stack, _ in stacks:
            names = [name for name in stack
                     if name in ("fiber_work", way, "run", "main")]
            self.assertEqual(names, ["fiber_work", way, "run"] +
                             ([] if where else ["main"]))

    def test_led_back(self):
        """99% reach the thread's root, and all of those on the fiber the
        functions that called it."""
        self.each(LEADING, self.led_back)

    def not_led_back(self, way, where):
        run, stacks = self.samples(way, where)
        shares = self.shares(run)
        self.assertGreaterEqual(
            shares.get("fiber", 0) + shares.get("root", 0), 0.99, shares)
        self.assertGreaterEqual(shares["fiber"], 0.9)
        first = "bare_call" if way == "bare" else "__start_context"
        for stack, _ in stacks:
            self.assertEqual(stack[-1], first)
        text = self.report(program("fibers"), "--format=summary", way)
        summary = dict(line.split(": ", 1) for line in text.splitlines()
                       if ": " in line)
        self.assertEqual(int(summary["fibers"]),
                         sum(s[4] == "fiber" for s in run.samples))
        self.assertLessEqual(int(summary["incomplete"]),
                             0.01 * len(run.samples) + 1)

    def test_not_led_back(self):
        """The stack ends at the fiber's first frame, which has its own name,
        and counts as complete."""
        self.each(ENDING, self.not_led_back)


if __name__ == "__main__":
    unittest.main()
