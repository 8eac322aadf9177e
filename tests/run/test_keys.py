# SPDX-License-Identifier: MIT
"""Code that a signal handler may not read, as V8's under a protection key of
its own (Chromium, where the processor has keys), and stacks under a key: the
program lives, and its samples are whole.  Runs in: tests."""
import os
import unittest

from jprun import Case, program

CLOCKS = {"timer": "JP_CLOCK=timer JP_PERIOD=0.004",
          "perf": "JP_CLOCK=perf JP_PERIOD=0.001",
          "itimer": "JP_CLOCK=itimer JP_PERIOD=0.004",
          "real time": "JP_REALTIME JP_PERIOD=0.002"}


class Keys(Case):
    def check(self, how, out="interrupted\n", function="run_keyed"):
        for name, flags in CLOCKS.items():
            with self.subTest(clock=name):
                done = self.run_program(program("keyed"), how,
                                        flags="JP_START " + flags)
                if done.status == 77:
                    self.skipTest("no protection keys here")
                self.assertEqual((done.status, done.out, done.err),
                                 (0, out, ""))
                run = self.run_of()
                self.assertEqual(run.lost(), 0)
                # (In real time some of it is without a CPU, which is a frame.)
                stacks = self.collapsed(program("keyed"), "jprof-log")
                code = sum(weight for stack, weight in stacks
                           if function in stack[:-1])
                self.assertGreater(code, 0.9 * sum(w for _, w in stacks))
                whole = sum(one[4] in ("root", "fiber") for one in run.samples)
                self.assertEqual(whole, len(run.samples))

    def test_code_with_a_key(self):
        self.check("key")

    def test_code_that_can_only_be_executed(self):
        self.check("execute")

    def alone(self, how):
        """What the program prints without jprof, with a stack under a key."""
        release = os.uname().release.split(".")
        if (int(release[0]), int(release[1].split("-")[0])) < (6, 12):
            self.skipTest("Linux before 6.12 puts no signal on such a stack")
        done = self.run_program(program("keyed"), how, preload=None,
                                flags=None)
        if done.status == 77:
            self.skipTest("no protection keys here")
        self.assertEqual((done.status, done.err), (0, ""))
        if how != "stack":  # its handler began without rights for the key
            self.assertRegex(done.out, "^done 1 rights [1-9a-f][0-9a-f]*\n$")
        return done.out

    def check_stack(self, how):
        self.check(how, self.alone(how), "run_guarded")

    def test_stack_with_a_key(self):
        self.check_stack("stack")

    def test_handler_that_opens_the_stacks_key(self):
        """It is jprof's first: the kernel's rights are kept for it."""
        self.check_stack("own")

    def test_alternate_stack_with_a_key(self):
        self.check_stack("alternate")

    def test_fault_of_jprofs_own_on_such_a_stack(self):
        """Of a log that is cut short, which it survives elsewhere."""
        self.alone("stack")
        live = self.start(program("keyed"), "stack", "1.5",
                          flags="JP_START JP_PERIOD=0.001")
        live.wait_until(lambda: "jprof-log" in self.log_names(), "the log")
        live.burn(0.4)
        os.truncate(self.path("jprof-log"), 0)
        done = live.end()
        self.assertEqual(done.status, 0)
        self.assertIn("the log was cut short", done.err)


if __name__ == "__main__":
    unittest.main()
