# SPDX-License-Identifier: MIT
"""The handler calls nothing that may lock or allocate, and needs little
stack.  Runs in: tests."""
import os
import re
import signal
import unittest

from jprun import LIBRARY, TICK_FLAGS, Case, program, wait_until, weight_s

SPY = program("mallocspy.so")
REAL_FLAGS = "JP_START JP_REALTIME JP_PERIOD=0.002"
STACK_LIMIT = 2048      # bytes below the kernel's frame: DESIGN, invariant 3
CAUGHT = 99             # exit status of the spy


class Spy(Case):
    """mallocspy.so in front of the handlers."""

    def seen(self, err):
        return int(re.search(r"mallocspy: (\d+) signals", err).group(1))

    def test_spy_catches(self):
        for what in ("malloc", "calloc", "realloc", "free",
                     "pthread_mutex_lock", "dl_iterate_phdr"):
            done = self.run_program(program("spyproof"), what, preload=SPY,
                                    flags=None)
            self.assertEqual(done.status, CAUGHT, what)
            self.assertIn("called " + what, done.err)

    def test_spy_lets_pass(self):
        done = self.run_program(program("spyproof"), "none", preload=SPY,
                                flags=None)
        self.assertEqual((done.status, self.seen(done.err)), (0, 1))

    def spied(self, *argv, flags=TICK_FLAGS):
        return self.run_program(*argv, flags=flags,
                                preload=SPY + " " + LIBRARY)

    def test_samples(self):
        done = self.spied(program("shares"), "4", "0.5")
        self.assertEqual(done.status, 0, done.err)
        # 500 are due; a loaded machine merges most of them.
        self.assertGreater(self.seen(done.err), 100)

    def test_new_modules_and_threads(self):
        done = self.spied(program("dlopener"), program("spinlib.so"), "1")
        self.assertEqual(done.status, 0, done.err)
        self.assertGreater(self.seen(done.err), 50)
        done = self.spied(program("threads_many"), "200", "0.01")
        self.assertEqual(done.status, 0, done.err)
        self.assertGreater(self.seen(done.err), 50)

    def test_jit_code(self):
        done = self.spied(program("jitter"), "1")
        self.assertEqual(done.status, 0, done.err)
        self.assertGreater(self.seen(done.err), 50)

    def test_real_time_and_ring(self):
        done = self.spied(
            program("shares"), "2", "0.5",
            flags="JP_START JP_REALTIME JP_PERIOD=0.0005 JP_CIRCULAR=40k")
        self.assertEqual(done.status, 0, done.err)
        self.assertGreater(self.seen(done.err), 500)

    def test_frame_pointers(self):
        for argv in ((program("shares"), "4", "0.5"),
                     (program("dlopener"), program("spinlib.so"), "1"),
                     (program("jitter"), "1")):
            done = self.spied(*argv, flags=TICK_FLAGS + " JP_STACK=fp")
            self.assertEqual(done.status, 0, done.err)
            self.assertGreater(self.seen(done.err), 50)

    def test_control(self):
        live = self.start(program("busy"), "2.5",
                          flags=TICK_FLAGS + " JP_CIRCULAR=100k",
                          preload=SPY + " " + LIBRARY)
        live.line()
        live.burn(0.2)
        for number in (signal.SIGUSR2, signal.SIGUSR1, signal.SIGPROF):
            live.kill(number)
            live.burn(0.2)
        done = live.end()
        self.assertEqual(done.status, 0, done.err)
        self.assertGreater(self.seen(done.err), 100)
        self.assertEqual(len(self.run_of().events("section")), 2)


class Stack(Case):
    def used(self, *arguments, flags=TICK_FLAGS):
        done = self.run_program(program("smallstack"), *arguments,
                                flags=flags)
        self.assertEqual((done.status, done.err), (0, ""))
        return int(re.search(r"used (\d+)", done.out).group(1))

    def test_measure_sees_nothing_without_the_library(self):
        done = self.run_program(program("smallstack"), "0.1", preload=False)
        self.assertRegex(done.out, r" used 0\n")

    def test_samples(self):
        used = self.used("1")
        self.assertGreater(used, 0)
        self.assertLess(used, STACK_LIMIT)
        self.assertGreater(weight_s(self.run_of()), 0.8)

    def test_control(self):
        used = self.used("1", "control")
        self.assertGreater(used, 0)
        self.assertLess(used, STACK_LIMIT)
        wait_until(lambda: len(self.run_of().events("section")) == 2,
                   "the second section")

    def test_frame_pointers(self):
        used = self.used("1", flags=TICK_FLAGS + " JP_STACK=fp")
        self.assertGreater(used, 0)
        self.assertLess(used, STACK_LIMIT)
        run = self.run_of()
        self.assertEqual(run.header["walker"], 0)
        self.assertGreater(weight_s(run), 0.8)

    def test_known_folder(self):
        """Each file is made in a folder that is looked at first."""
        info = os.stat(self.dir)
        self.assertLess(self.used("1", "control", flags="%s JP_FILENAME=%s/"
                                  "jprof-log JP_FOLDER_ID=%d:%d" % (
                                      TICK_FLAGS, self.dir, info.st_dev,
                                      info.st_ino)), STACK_LIMIT)
        self.assertGreater(weight_s(self.run_of()), 0.8)

    def test_real_time(self):
        for flags in (REAL_FLAGS, REAL_FLAGS + " JP_CIRCULAR=20k"):
            for arguments in (("1",), ("1", "control")):
                self.assertLess(self.used(*arguments, flags=flags),
                                STACK_LIMIT)

    def test_ring_and_deferred(self):
        for flags in ("JP_START JP_PERIOD=0.001 JP_CIRCULAR=20k",
                      "JP_DEFER JP_PERIOD=0.004"):
            self.assertLess(self.used("1", "control", flags=flags),
                            STACK_LIMIT)


if __name__ == "__main__":
    unittest.main()
