# SPDX-License-Identifier: MIT
"""A server that compiles templates and drops them, profiled by the launcher as
it is: every name, line and tier was there at that time.

Runs in: tests.  TEMPLATES_SECONDS: how long it serves, of CPU time; 3 by
default."""
import collections
import os
import re
import subprocess
import unittest

import generations
from jprun import BUILD, HANG_SECONDS, ROOT, need
from runtimes import RuntimeCase

PROGRAM = os.path.join(ROOT, "tests", "programs", "templates.js")
LAUNCHER = os.path.join(BUILD, "jprof")
CODES = os.path.join(BUILD, "tests", "tools", "codes")
SECONDS = os.environ.get("TEMPLATES_SECONDS", "3")
FUNCTION = re.compile(r"J(\??)(page|row)_(\d+)\b"
                      r"(?: \((.*?)(?::(\d+)(?::\d+)?)?\))?")
LATE, WHAT, NUMBER, FILE, LINE = range(1, 6)
# Names that changed while a sample was taken.
EDGE = 0.001


class Templates(RuntimeCase):
    def serve(self, *options, env=None):
        done = subprocess.run(
            [LAUNCHER, "-o", "out", *options, "--", need("node"), PROGRAM,
             SECONDS, self.path("list")], cwd=self.dir,
            env=self.environment(None, None, env), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            timeout=HANG_SECONDS + 9 * int(SECONDS), check=False)
        self.assertEqual((done.returncode, done.stdout), (0, b"done\n"),
                         done.stderr)
        for name in os.listdir(self.path("out")):
            os.rename(self.path("out/" + name), self.path(name))

    def judge(self):
        """Names and lines against the list of times."""
        times = generations.read_list(self.path("list"))
        known, wrong = collections.Counter(), []
        for sample in generations.samples(self.path("jprof-log")):
            found = [FUNCTION.fullmatch(frame) for frame in sample.frames]
            found = [match for match in found if match]
            if not found:
                continue
            number = int(found[0][NUMBER])
            start, end = times.get(number, (0, 0))
            fits = start <= sample.time <= end
            for match in found:
                line = 2 + number % 30 + (match[WHAT] == "row")
                fits &= (int(match[NUMBER]) == number and
                         match[FILE] == "page_%d.js" % number and
                         int(match[LINE]) == line)
            known[fits] += sample.weight
            if not fits:
                wrong.append((sample.time, [match[0] for match in found],
                              (start, end)))
        self.assertGreater(known[True], 0.2e9, known)
        self.assertLessEqual(known[False], EDGE * known[True],
                             (known, wrong[:5]))

    def codes(self):
        """[(time, address, name as the runtime wrote it)]"""
        text = subprocess.run([CODES, self.path("jprof-log")],
                              stdout=subprocess.PIPE, check=True,
                              timeout=HANG_SECONDS).stdout
        return {tuple(line.split(" ", 2)[:2]): line.split(" ", 7)[7]
                for line in text.decode("utf-8", "replace").splitlines()}

    def test_default(self):
        self.serve()
        self.judge()

    def test_wall(self):
        self.serve("--wall")
        self.judge()

    def test_tiers(self):
        """With a jitdump besides, which has each record's time, one sees
        whether the map alone gave the right name with the right tier."""
        self.serve("--jit=dump")
        self.judge()
        truth = self.codes()
        with open(self.path("jprof-map"), encoding="utf-8",
                  errors="surrogateescape") as source:
            lines = [line for line in source if " jitdump " not in line]
        with open(self.path("jprof-map"), "w", encoding="utf-8",
                  errors="surrogateescape") as target:
            target.writelines(lines)
        self.judge()
        told = self.codes()
        both = [key for key in told if key in truth]
        self.assertGreater(len(both), 20)
        wrong = [(key, told[key], truth[key]) for key in both
                 if told[key] != truth[key]]
        self.assertLessEqual(len(wrong), EDGE * len(both) + 1, wrong[:5])


if __name__ == "__main__":
    unittest.main()
