# SPDX-License-Identifier: MIT
"""Programs that go their own ways, and stay on them under the library.

Runs in: tests."""
import os
import re
import signal
import subprocess
import unittest

from jprun import (LIBRARY, Case, decode, need, program, wait_until,
                   weight_s)


def weight_s(run):
    return sum(s[2] for s in run.samples) / 1e9


class Signals(Case):
    def test_leaving_a_handler_by_longjmp(self):
        """Nothing of jprof's is left half done when the program's handler
        comes in the middle of it."""
        alone = self.run_program(program("leaper"), "0.2", preload=None)
        files = re.search(r"files (\d+)", alone.out).group(1)
        done = self.run_program(program("leaper"), "3",
                                flags="JP_START JP_PERIOD=0.0005")
        self.assertEqual((done.status, done.err), (0, ""))
        cpu, leaps, left = re.match(
            r"cpu ([\d.]+) leaps (\d+) files (\d+)", done.out).groups()
        self.assertGreater(int(leaps), 100)
        self.assertEqual(left, files)
        run = self.run_of()
        self.assertEqual(run.lost(), 0)
        self.assertLess(abs(weight_s(run) - float(cpu)), 0.05 * float(cpu))

    def test_siginterrupt(self):
        for flags in (None, "JP_START"):
            done = self.run_program(program("interrupted"), flags=flags)
            self.assertEqual((done.status, done.out, done.err),
                             (0, "interrupted\n", ""))

    def test_ignored_control_signal_stays_ignored(self):
        """Over exec too, into a program without the library."""
        done = self.run_program(
            "/bin/sh", "-c", "trap '' USR1; exec env -u LD_PRELOAD "
            "sh -c 'kill -USR1 $$; echo survived'")
        self.assertEqual((done.status, done.out, done.err),
                         (0, "survived\n", ""))

    def test_clock_blocked_by_the_parent(self):
        env = need("env")
        if subprocess.run([env, "--block-signal=PROF", "true"],
                          stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("env has no --block-signal")
        done = self.run_program(env, "--block-signal=PROF",
                                "LD_PRELOAD=" + LIBRARY, program("busy"),
                                "0.5", preload=None)
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertGreater(weight_s(self.run_of()), 0.4)


class Stacks(Case):
    def test_stack_that_goes_away(self):
        """A frame pointer may lead into memory that is no longer there."""
        done = self.run_program(program("lentstack"),
                                flags="JP_DEFER JP_PERIOD=0.004")
        self.assertEqual((done.status, done.out, done.err), (0, "bye\n", ""))
        run = self.run_of()
        self.assertGreater(len({s[1] for s in run.samples}), 1)
        self.assertGreater(len(run.samples), 20)


    def deep(self, depth, flags):
        done = self.run_program(program("deep"), str(depth), flags="JP_START "
                                "JP_PERIOD=0.004 JP_DEPTH=100" + flags)
        self.assertEqual((done.status, done.out, done.err),
                         (0, "depth %d\n" % depth, ""))
        run = self.run_of()
        self.assertGreater(weight_s(run), 0.4)
        self.assertEqual({len(s[5]) for s in run.samples}, {100})
        self.assertEqual({s[4] for s in run.samples}, {"depth"})
        return run

    def test_deep_recursion(self):
        """Both ends of the stack are kept, and it says so."""
        run = self.deep(20000, "")
        self.assertTrue(all(run.gaps[s[5]] == 50 for s in run.samples))
        stacks = self.collapsed(program("deep"), "jprof-log")
        self.assertTrue(all("main" in stack for stack, _ in stacks), stacks)

    def test_deep_recursion_with_libunwind(self):
        """Its walk is too slow to go on beyond the limit: the program would
        hardly come to run between two samples."""
        self.deep(100000, " JP_STACK=libunwind")


class Together(Case):
    """Several processes come upon one old log at the same time."""

    def come(self, flags):
        self.busy(0.05)
        old = self.run_of().header["pid"]
        others = [self.start(program("busy"), "600",
                             flags="JP_DEFER JP_PERIOD=0.001" + flags,
                             stdin=subprocess.DEVNULL)
                  for _ in range(8)]
        for live in others:
            live.line()
        for live in others:
            live.kill(signal.SIGPROF)
        wait_until(lambda: len(self.log_names()) >= 8, "eight logs")
        for live in others:
            live.burn(0.05)
            live.kill(signal.SIGUSR1)
        seen = {}
        for name in self.log_names():
            for run in decode.load(self.path(name)):
                self.assertEqual(run.damage, [], name)
                self.assertNotIn(run.header["pid"], seen)
                seen[run.header["pid"]] = name
                if run.header["pid"] != old:
                    self.assertGreater(len(run.samples), 0, name)
        self.assertLessEqual({live.pid for live in others}, set(seen))
        return old, seen

    def test_replaced(self):
        for _ in range(3):
            old, seen = self.come("")
            self.assertNotIn(old, seen)
            self.assertIn("jprof-log", seen.values())
            self.again()

    def test_appended(self):
        for _ in range(3):
            old, seen = self.come(" JP_APPEND")
            self.assertEqual(seen[old], "jprof-log")
            self.assertEqual(list(seen.values()).count("jprof-log"), 2)
            self.again()

    def again(self):
        for live in self.live:
            live.stop()
        for name in self.files():
            os.unlink(self.path(name))


if __name__ == "__main__":
    unittest.main()
