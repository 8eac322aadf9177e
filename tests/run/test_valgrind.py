# SPDX-License-Identifier: MIT
"""Programs that valgrind runs, with the library in them: signals differ there.
What a handler writes into its context's mask is forgotten (x86-64), and the
frame of a handler with SA_ONSTACK does not make the first thread's stack grow.
Runs in: tests."""
import re
import signal
import unittest

from jprun import Case, need, program, weight_s

FAST = "JP_START JP_PERIOD=0.001"


class Valgrind(Case):
    def valgrind(self, *argv, flags=FAST):
        """Runs a program in it; returns how it ended, and its samples' time.
        What valgrind says of a signal that ends the program is left out."""
        done = self.run_program(need("valgrind"), "-q", "--tool=none", *argv,
                                flags=flags)
        err = re.sub(r"(?m)^==\d+==.*\n", "", done.err)
        # (The shell script that starts valgrind may have logs, too.)
        weight = sum(weight_s(run) for run in self.all_runs()
                     if run.header["pid"] == done.pid)
        return done.status, done.out, err, weight

    def test_a_handler_in_the_middle_of_jprofs(self):
        """A signal that came there came again for ever."""
        status, out, err, weight = self.valgrind(program("queued"), "thread",
                                                 "300")
        self.assertEqual((status, out, err), (
            0, "come 300 disordered 0 wrong 0\n", ""))
        self.assertGreater(weight, 0)

    def test_leaving_a_handler_by_longjmp(self):
        status, out, err, weight = self.valgrind(program("leaper"), "2")
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"leaps [1-9]")
        self.assertGreater(weight, 0.2)     # of what is left behind the start

    def test_faults(self):
        """The program's own fault ends it, as before."""
        status, out, err, _ = self.valgrind(program("tallies"),
                                            self.path("counters"), "2",
                                            "crash", "20")
        self.assertEqual((status, out, err), (-signal.SIGSEGV, "", ""))

    def test_stack_that_grows(self):
        """Signals come at each depth.  (Two of three runs died.)"""
        for _ in range(5):
            status, out, err, weight = self.valgrind(program("deeper"), "300",
                                                     "300000")
            self.assertEqual((status, out, err), (0, "depth 300\n", ""))
            self.assertGreater(weight, 0)

    def test_alternate_stack(self):
        """The one that the first thread gets is not the program's."""
        for case in ("altstack", "onaltstack"):
            argv = (program("sigcases"), case, "27")
            alone = self.run_program(need("valgrind"), "-q", "--tool=none",
                                     *argv, preload=None)
            status, out, err, _ = self.valgrind(*argv)
            self.assertEqual((status, out, err),
                             (alone.status, alone.out, alone.err))


if __name__ == "__main__":
    unittest.main()
