# SPDX-License-Identifier: MIT
"""What a program hands on to the next one by exec, vfork, posix_spawn, system
and popen: the signals that it ignores, has blocked and has pending are what
they are without the library, whether the next one has it or not.
Runs in: tests."""
import unittest

from jprun import Case, program

CPU = "JP_START JP_PERIOD=0.0001"
REAL = "JP_START JP_REALTIME JP_PERIOD=0.001"
ITIMER = "JP_START JP_PERIOD=0.001 JP_CLOCK=itimer"
RTC = "JP_START JP_RTC_HZ=512 JP_CIRCULAR=100k"
WAYS = 15


class HandedOn(Case):
    def same(self, states, *rest, modes=(CPU, REAL)):
        argv = [program("handson"), states, "all"] + list(rest)
        alone = self.run_program(*argv, preload=None, flags=None)
        self.assertEqual((alone.status, alone.err), (0, ""))
        # One of them has another line, of its parent.
        self.assertEqual(len(alone.out.splitlines()), WAYS + 1)
        for flags in modes:
            with self.subTest(states=states, rest=rest, flags=flags):
                done = self.run_program(*argv, flags=flags)
                self.assertEqual((done.status, done.err), (0, ""))
                self.assertEqual(done.out, alone.out)

    def both(self, states, **options):
        """To a program without the library; and to one with it, which hands
        it on to a third."""
        self.same(states + ",alone", "kernel", **options)
        self.same(states, "none", "vfork", "calls", **options)

    def test_nothing(self):
        self.both("none", modes=(CPU, REAL, ITIMER, RTC))

    def test_ignored(self):
        self.both("ignored")
        for number in 27, 10:
            self.same("ignored=%d" % number, "alone", "execve", "kernel")

    def test_handlers_and_defaults_are_not(self):
        self.both("handled")
        self.both("again", modes=(CPU,))

    def test_blocked_by_name(self):
        self.both("blocked", modes=(CPU, REAL, RTC))
        self.both("blocked=14", modes=(REAL,))

    def test_all_blocked(self):
        """The clock is unblocked then; the next program must not be."""
        self.both("all", modes=(CPU, REAL, ITIMER, RTC))
        self.both("all,unblocked=27")

    def test_pending(self):
        self.both("blocked,raised")
        self.both("blocked,killed", modes=(CPU,))
        self.same("ignored,blocked,raised", "calls")


if __name__ == "__main__":
    unittest.main()
