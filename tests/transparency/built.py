# SPDX-License-Identifier: MIT
"""Test suites that are built from Debian's sources, since no package has them:
transparency.mk unpacks and builds them below BUILD/suites.
Runs in: tests."""

import glob
import os
import re
import shutil
import threading

from suites import Suite

BUILD = os.path.abspath(os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..",
    os.environ.get("B", "build")))
# Outcomes as the test anything protocol names them.
UNDONE = "TO" + "DO"
TAP = re.compile(r"^(not )?ok\b *(\d*) *(.*)$")


def tap_outcome(match):
    """What a line of TAP says of its test."""
    directive = match[3].partition("#")[2].strip().upper()
    if directive.startswith("SKIP"):
        return "skipped"
    if directive.startswith(UNDONE):
        return "undone"
    return "failure" if match[1] else "pass"


class Built(Suite):
    """A suite below BUILD/suites."""

    def __init__(self, name, package):
        super().__init__(name, package)
        self.top = os.path.join(BUILD, "suites", package)

    def path(self, *names):
        """A path below the suite's source."""
        return os.path.join(self.top, *names)

    def present(self):
        """Whether it was built to its end."""
        return os.path.exists(self.path("built"))


class Libuv(Built):
    """libuv's runner: each test is a process of its own, and a unit is those
    whose names begin with the same word.  It refuses to run as root, and its
    ports have fixed numbers: one unit at a time."""

    user = "nobody"
    turn = threading.Lock()

    def __init__(self):
        super().__init__("libuv", "libuv1")
        self.runner = self.path("build", "uv_run_tests")

    def names(self, folder="/"):
        """All its tests."""
        _, output = self.execute([self.runner, "--list"], folder,
                                 dict(os.environ))
        return [line.split()[0] for line in output.decode().splitlines()
                if line.strip()]

    def units(self, short):
        """The first words of the tests' names."""
        words = sorted({name.split("_")[0] for name in self.names()})
        return ["signal"] if short else words

    def run(self, unit, folder, environment):
        """Returns {test: outcome}, and the output."""
        found, outputs = {}, []
        shutil.copytree(self.path("test", "fixtures"),
                        os.path.join(folder, "test", "fixtures"))
        self.hand_over(folder)
        for name in self.names(folder):
            if name.split("_")[0] != unit:
                continue
            with self.turn:
                status, output = self.execute([self.runner, name], folder,
                                              environment)
            found[name] = f"exit {status}"
            for line in output.decode("utf-8", "replace").splitlines():
                match = TAP.match(line)
                if match:
                    found[name] = tap_outcome(match)
            outputs.append(output)
        return found, b"".join(outputs)


class Perl(Built):
    """Perl's own tests of the language, of input and output, and of warnings
    and errors: a unit is a file of t/op, t/io or t/lib."""

    FOLDERS = ("op", "io", "lib")

    def __init__(self):
        super().__init__("perl", "perl")

    def units(self, short):
        """The test files."""
        if short:
            return ["op/fork.t", "op/alarm.t", "io/pipe.t"]
        return [f"{folder}/{name}" for folder in self.FOLDERS
                for name in sorted(os.listdir(self.path("t", folder)))
                if name.endswith(".t")]

    def run(self, unit, folder, environment):
        """Returns {test: outcome}, and the output.  A test writes into the
        folder t, so each run has a copy; the rest it sees as it is."""
        for name in os.listdir(self.top):
            if name != "t":
                os.symlink(self.path(name), os.path.join(folder, name))
        place = os.path.join(folder, "t")
        shutil.copytree(self.path("t"), place, symlinks=True)
        status, output = self.execute(["./perl", "TEST", "-v", unit], place,
                                      environment)
        found = {unit: f"exit {status}"}
        for line in output.decode("utf-8", "replace").splitlines():
            match = TAP.match(line)
            if match and match[2]:
                found[f"{unit} {match[2]}"] = tap_outcome(match)
        return found, output


class Tcl(Built):
    """Tcl's tests of events, channels, sockets, processes and threads."""

    PACKAGES = "/usr/lib/tcltk/*"
    UNITS = """event io ioCmd ioTrans iogt chan chanio socket thread exec
        unixNotfy""".split()
    LINE = re.compile(r"^(?:\+\+\+\+|====) (\S+) .*?\b(PASSED|FAILED|SKIPPED)\b")
    TOOK = re.compile(r"^\+\+\+\+ (\S+) took (\d+) ")
    OUTCOMES = {"PASSED": "pass", "FAILED": "failure", "SKIPPED": "skipped"}

    def __init__(self):
        super().__init__("tcl", "tcl8.6")

    def units(self, short):
        """The test files."""
        return ["event", "thread"] if short else self.UNITS

    def run(self, unit, folder, environment):
        """Returns {test: outcome}, and the output."""
        # Where Debian has the thread package.
        environment = dict(environment, TCL_LIBRARY=self.path("library"),
                           TCLLIBPATH=" ".join(glob.glob(self.PACKAGES)))
        status, output = self.execute(
            [self.path("unix", "tcltest"), self.path("tests", unit + ".test"),
             "-verbose", "pseu", "-singleproc", "1"], folder, environment)
        found = {unit: f"exit {status}"}
        for line in output.decode("utf-8", "replace").splitlines():
            match = self.LINE.match(line)
            if match:
                found[match[1]] = self.OUTCOMES[match[2]]
            match = self.TOOK.match(line)
            if match:
                self.took(match[1], int(match[2]) / 1e6)
        return found, output


class Libevent(Built):
    """libevent's tests, each in a process of its own; a unit is a group."""

    OUTCOME = re.compile(r"\b(OK|SKIPPED|DISABLED|FAILED)\b")
    OUTCOMES = {"OK": "pass", "FAILED": "failure", "SKIPPED": "skipped",
                "DISABLED": "skipped"}

    def __init__(self):
        super().__init__("libevent", "libevent")
        self.runner = self.path("build", "bin", "regress")

    def names(self):
        """All its tests."""
        _, output = self.execute([self.runner, "--list-tests"], "/",
                                 dict(os.environ))
        return re.findall(r"^ *(\S+/\S+)", output.decode(), re.M)

    def units(self, short):
        """The groups."""
        groups = sorted({name.partition("/")[0] for name in self.names()})
        return ["signal"] if short else groups

    def run(self, unit, folder, environment):
        """Returns {test: outcome}, and the output."""
        found, outputs = {}, []
        for name in self.names():
            if name.partition("/")[0] != unit:
                continue
            status, output = self.execute([self.runner, name], folder,
                                          environment)
            match = self.OUTCOME.search(output.decode("utf-8", "replace"))
            found[name] = (f"exit {status}" if status or not match
                           else self.OUTCOMES[match[1]])
            outputs.append(output)
        return found, b"".join(outputs)


BUILT = [Libuv(), Perl(), Tcl(), Libevent()]
