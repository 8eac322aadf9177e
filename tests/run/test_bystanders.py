# SPDX-License-Identifier: MIT
"""Signals that jprof blocks for a moment in one thread do not end the calls of
others.  Runs in: tests."""
import os
import unittest

from jprun import Case, program

CLOCKS = ("JP_START JP_PERIOD=0.001", "JP_START JP_PERIOD=0.0002",
          "JP_START JP_PERIOD=0.001 JP_REALTIME")


CLEAN = r"^recv 0 epoll 0 write 0 of \d+\nelsewhere 0\n$"


class Bystanders(Case):
    def alone(self, how):
        """Without the library: what it does to itself is soon seen."""
        return self.run_program(program("bystanders"), how, "1",
                                preload=False)

    def check(self, how):
        alone = self.alone(how)
        self.assertEqual((alone.status, alone.err), (0, ""))
        self.assertRegex(alone.out, CLEAN)
        for flags in CLOCKS:
            done = self.run_program(program("bystanders"), how, "1.5",
                                    flags=flags)
            self.assertEqual((done.status, done.err), (0, ""), flags)
            self.assertRegex(done.out, CLEAN, flags)

    def test_children_of_another_thread(self):
        """SIGCHLD, which nobody handles, is thrown away as it comes.  glibc
        blocks all signals in fork since 2.41, which disturbs calls without
        jprof (22 of 1,163, or none): there the children wait until fork is
        over."""
        version = os.confstr("CS_GNU_LIBC_VERSION").split()[1].split(".")
        blocks = [int(number) for number in version] >= [2, 41]
        self.check("later" if blocks else "children")

    def test_ignored_signals_to_the_process(self):
        self.check("ignored")


if __name__ == "__main__":
    unittest.main()
