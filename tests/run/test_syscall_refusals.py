# SPDX-License-Identifier: MIT
"""Each system call that jprof makes, and each that makes processes and
threads, is refused, one after the other, with each answer that containers
give: the program comes out as without jprof, and its profile is whole, or says
what it lacks; where there is none, a line says so.  Runs in: tests."""
import unittest

from refusing import NAMES, Refusing, answers, calls, numbers

# What every program begins or ends with.
VITAL = {"exit", "rt_sigreturn"}
MAKERS = {"fork", "vfork", "clone", "clone3", "execve"}


class Refusals(Refusing):
    def refuse(self, names):
        profiles = 0
        for name, number in sorted(numbers(names).items()):
            for error, answer in NAMES.items():
                with self.subTest(call=name, answer=answer):
                    profiles += bool(self.attempts("%d/%d" % (number, error)))
        return profiles

    def test_calls_of_jprof(self):
        names = calls() - VITAL
        self.assertGreater(len(names), 30)
        self.assertGreater(self.refuse(names), 2 * len(names))

    def test_what_makes_processes(self):
        self.assertEqual(self.refuse(MAKERS), 3 * len(MAKERS))

    def test_children_s_time(self):
        """Without it nobody would notice a child that has no log."""
        for error in NAMES:
            summary = self.attempts(answers(["getrusage"], error))
            self.assertGreater(int(summary["notes"]), 0)


if __name__ == "__main__":
    unittest.main()
