# SPDX-License-Identifier: MIT
"""A program that moves its text to memory without a file, as those do that
want huge pages for it: names and stacks are as before.  Runs in: tests."""
import unittest

from jprun import TICK_FLAGS, Case, program


class MovedText(Case):
    def profile(self, way):
        """The stacks, and the share of those whose leaf has no file."""
        done = self.run_program(program("movedtext"), way, flags=TICK_FLAGS)
        self.assertEqual((done.status, done.out, done.err), (0, "", ""))
        stacks = self.collapsed(program("movedtext"), "jprof-log")
        whole = sum(weight for _, weight in stacks)
        self.assertGreater(whole, 100)
        return stacks, sum(weight for stack, weight in stacks
                           if stack[-1].startswith("[")) / whole

    def test_same_bytes(self):
        """All is named, and call-frame information leads to main."""
        stacks, nameless = self.profile("moved")
        self.assertEqual(nameless, 0)
        for stack, _ in stacks:
            if stack[-1] == "inner_work":
                self.assertEqual(stack[-3:],
                                 ["main", "middle_work", "inner_work"])
        run = self.run_of()
        moved = [keys for _, keys in run.events("module")
                 if keys["path"].endswith("movedtext")]
        self.assertGreater(len(moved), 1)
        self.assertEqual({s[4] for s in run.samples}, {"root"})

    def test_other_bytes(self):
        """What differs from the file is not taken for it."""
        _, nameless = self.profile("altered")
        self.assertGreater(nameless, 0.2)

    def test_copied_elsewhere(self):
        """A copy at other addresses has the names of the file."""
        stacks, nameless = self.profile("copied")
        self.assertLess(nameless, 0.02)
        whole = sum(weight for _, weight in stacks)
        self.assertGreater(sum(
            weight for stack, weight in stacks if stack[-3:] ==
            ["main", "outer_copied", "inner_copied"]), 0.9 * whole)


if __name__ == "__main__":
    unittest.main()
