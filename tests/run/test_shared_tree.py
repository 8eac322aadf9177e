# SPDX-License-Identifier: MIT
"""Runs in one folder share the file that tells of processes without a log:
none removes the lines of another one that lives, and readers tell them apart.
Runs in: tests."""

import fcntl
import os
import unittest

from jprun import Case, decode, program

EXEC = "env -i %s 0.15"


class SharedTree(Case):
    """Two runs without the launcher."""

    def lines(self):
        """The tree's file, as [(event, {key: value})]."""
        with open(self.path("jprof-tree"), encoding="ascii") as tree:
            words = [line.split(" ") for line in tree.read().splitlines()]
        return [(line[1], dict(word.split("=", 1) for word in line[2:]))
                for line in words]

    def plant(self, *roots):
        """A file with a line of each of these runs: (pid, namespace)."""
        with open(self.path("jprof-tree"), "w", encoding="ascii") as tree:
            for pid, space in roots:
                tree.write("5 jprof-child root=%d space=%d since=7 pid=%d "
                           "ppid=%d cpu=60000000\n" % (pid, space, pid, pid))
        os.chmod(self.path("jprof-tree"), 0o600)

    def dead(self):
        """A pid that nobody has."""
        return self.run_program("/bin/true", preload=None, flags=None).pid

    @staticmethod
    def space():
        return os.stat("/proc/self/ns/pid").st_ino

    def run_shell(self):
        done = self.run_program("/bin/sh", "-c", EXEC % program("busy"))
        self.assertEqual(done.status, 0, done.err)
        return done.pid

    def roots(self):
        return {int(keys["root"]) for _, keys in self.lines()}

    def test_of_gone_runs(self):
        """Their file is made anew."""
        self.plant(*[(self.dead(), self.space()) for _ in range(2)] * 9)
        root = self.run_shell()
        self.assertEqual(self.roots(), {root})

    def test_lines_of_a_living_run_stay(self):
        """Although the file begins with those of one that is gone; wherever in
        it they are."""
        for before in (1, 2, 9, 100):
            self.plant(*[(self.dead(), self.space())] * before,
                       (os.getpid(), self.space()))
            root = self.run_shell()
            self.assertTrue({root, os.getpid()} <= self.roots(), before)

    def test_of_an_unknown_run(self):
        """Of another pid namespace's nothing is known: it may live."""
        other = self.dead()
        self.plant((self.dead(), self.space()), (other, self.space() + 1))
        root = self.run_shell()
        self.assertTrue({root, other} <= self.roots())

    def test_a_lock_of_somebody_else(self):
        """Lines are written although it lasts, and what it is of stays."""
        for kind in (fcntl.LOCK_SH, fcntl.LOCK_EX):
            gone = self.dead()
            self.plant((gone, self.space()))
            with open(self.path("jprof-tree"), "rb") as held:
                fcntl.flock(held, kind)
                root = self.run_shell()
            self.assertEqual({gone, root}, self.roots(), kind)

    def test_a_runs_own_lines_stay(self):
        """When the run that began the file ends meanwhile."""
        first = self.start("/bin/cat", preload=None, flags=None)
        self.plant((first.pid, self.space()))
        command = EXEC % program("busy")
        shell = self.start("/bin/sh", "-c", "%s; echo half; read go; %s; true"
                           % (command, command))
        while shell.line() != "half":
            pass
        first.end()
        shell.process.stdin.write(b"go\n")
        shell.process.stdin.flush()
        done = shell.end()
        self.assertEqual(done.status, 0, done.err)
        events = [event for event, keys in self.lines()
                  if int(keys["root"]) == done.pid]
        self.assertEqual(events.count("jprof-exec"), 2, self.lines())

    def test_identity(self):
        """Lines and logs name the run's first process by pid, namespace and
        start time."""
        root = self.run_program(
            "/bin/sh", "-c", "%s; %s 0.1; : $((i=0)); while [ $i -lt 30000 ];"
            "do i=$((i+1)); done" % (EXEC % program("busy"),
                                     program("busy"))).pid
        for _, keys in self.lines():
            self.assertEqual(int(keys["root"]), root)
            self.assertEqual(int(keys["space"]), self.space())
        since = {int(keys["since"]) for _, keys in self.lines()}
        for log in self.log_names():
            for run in decode.load(self.path(log)):
                self.assertEqual(run.header["root_pid"], root)
                self.assertEqual(run.header["root_space"], self.space())
                since.add(run.header["root_ticks"])
                if run.header["pid"] == root:
                    since.add(run.header["start_ticks"])
        self.assertEqual(len(since), 1, since)
        self.assertNotIn(0, since)


if __name__ == "__main__":
    unittest.main()
