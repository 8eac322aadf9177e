# SPDX-License-Identifier: MIT
"""Code that a signal handler may not read, as V8's under a protection key of
its own (Chromium, where the processor has keys): the program lives, and its
samples are whole.  Runs in: tests."""
import unittest

from jprun import Case, program

CLOCKS = {"timer": "JP_CLOCK=timer JP_PERIOD=0.004",
          "perf": "JP_CLOCK=perf JP_PERIOD=0.001",
          "itimer": "JP_CLOCK=itimer JP_PERIOD=0.004",
          "real time": "JP_REALTIME JP_PERIOD=0.002"}


class Keys(Case):
    def check(self, how):
        for name, flags in CLOCKS.items():
            with self.subTest(clock=name):
                done = self.run_program(program("keyed"), how,
                                        flags="JP_START " + flags)
                if done.status == 77:
                    self.skipTest("no protection keys here")
                self.assertEqual((done.status, done.out, done.err),
                                 (0, "interrupted\n", ""))
                run = self.run_of()
                self.assertEqual(run.lost(), 0)
                # (In real time some of it is without a CPU, which is a frame.)
                stacks = self.collapsed(program("keyed"), "jprof-log")
                code = sum(weight for stack, weight in stacks
                           if "run_keyed" in stack[:-1])
                self.assertGreater(code, 0.9 * sum(w for _, w in stacks))
                whole = sum(one[4] == "root" for one in run.samples)
                self.assertEqual(whole, len(run.samples))

    def test_code_with_a_key(self):
        self.check("key")

    def test_code_that_can_only_be_executed(self):
        self.check("execute")


if __name__ == "__main__":
    unittest.main()
