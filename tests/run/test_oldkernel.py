# SPDX-License-Identifier: MIT
"""On kernels before Linux 6.11, which cannot be asked about one address, the
collector reads the whole of /proc/self/maps instead.  Runs in: tests."""
import unittest

from jprun import TICK_FLAGS, Case, program


class OldKernel(Case):
    def run_old(self, *argv, flags=TICK_FLAGS):
        done = self.run_program(program("oldkernel"), *argv, flags=flags)
        self.assertEqual((done.status, done.err), (0, ""))
        return done

    def share_complete(self, run):
        return (sum(s[4] == "root" for s in run.samples) / len(run.samples))

    def test_stacks_reach_the_root(self):
        self.run_old(program("shares"), "4", "0.5", "frame")
        run = self.run_of()
        self.assertGreater(self.share_complete(run), 0.98)
        stacks = self.collapsed(program("shares"), "jprof-log")
        total = sum(weight for _, weight in stacks)
        hot = sum(w for s, w in stacks if any("frame_a" in f for f in s))
        self.assertLess(abs(hot / total - 0.5), 0.15)

    def test_new_library(self):
        """It is noticed, and named after it is gone."""
        self.run_old(program("dlopener"), program("spinlib.so"), "1.5", "3")
        paths = [keys["path"] for _, keys in self.run_of().events("module")]
        self.assertTrue(any("spinlib" in path for path in paths), paths)
        stacks = self.collapsed(program("dlopener"), "jprof-log")
        total = sum(weight for _, weight in stacks)
        inside = sum(w for stack, w in stacks if "plugin_spin" in stack)
        self.assertGreater(inside, 0.8 * total)

    def test_jit_code(self):
        self.run_old(program("jitter"), "1")
        stacks = self.collapsed(program("jitter"), "jprof-log")
        total = sum(weight for _, weight in stacks)
        named = sum(w for s, w in stacks if "jit_second" in s[-1]
                    or "JS:*" in s[-1])
        self.assertGreater(named / total, 0.9)


if __name__ == "__main__":
    unittest.main()
