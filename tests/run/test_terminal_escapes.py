# SPDX-License-Identifier: MIT
"""What the three programs say on stderr cannot steer a terminal: names of
files, programs and folders, and what stands in logs and maps, are text.

Runs in: tests.  B names the build folder.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unicodedata
import unittest

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import golden       # noqa: E402  (needs the path above)
from test_launcher import BUILD, BUSY, JPROF, PATIENCE, ROOT    # noqa: E402

REPORT = os.path.join(BUILD, "jprof-report")
LIBRARY = os.path.join(BUILD, "libjprof.so")
# One of each kind: C0 controls, DEL, C1 controls as a byte and as UTF-8, marks
# that turn the direction of writing, what ends a line elsewhere, no UTF-8.
HOSTILE = (b"\x1b]0;x\x07\n\r\t\x7f", b"\x9b31m\xc2\x9b31m\xc2\x85",
           b"\xe2\x80\xae\xe2\x81\xa6\xd8\x9c\xe2\x80\x8f",
           b"\xe2\x80\xa8\xe2\x80\xa9", b"\xff\xe2\x80\xc0\xae\xed\xa0\x80")
# Where these stand in a log's header (include/jp_log.h).
MAP_NAME_AT, EXE_AT = 664, 920
FINE = "ü日😀"
TURNING = {0x061c, 0x200e, 0x200f, *range(0x2028, 0x202f),
           *range(0x2066, 0x206a)}


class Shown(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="shown-")
        self.addCleanup(shutil.rmtree, self.dir)
        self.env = {k: v for k, v in os.environ.items() if k not in
                    ("LD_PRELOAD", "JPROF_FLAGS", "JPROF_ISCHILD")}

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def run_it(self, *argv, **env):
        done = subprocess.run(argv, cwd=self.dir, env=dict(self.env, **env),
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=PATIENCE, check=False)
        return done.returncode, done.stderr

    def check(self, said, lines, words=""):
        """These bytes are so many lines of harmless text, with the words."""
        text = said.decode("utf-8")     # a fault if it is none
        bad = [c for c in text if c != "\n" and (
            unicodedata.category(c) == "Cc" or ord(c) in TURNING)]
        self.assertEqual(bad, [], text)
        self.assertEqual(text.count("\n"), lines, text)
        self.assertIn(words, text)

    def test_what_can_be_shown_is(self):
        for program in (JPROF, REPORT):
            _, said = self.run_it(program, FINE, FINE)
            self.check(said, 1, FINE)

    def test_names_of_arguments(self):
        """Programs, options, folders, logs that are not there."""
        for hostile in HOSTILE:
            for argv, status, lines in (
                    ((JPROF, hostile), 127, 1),
                    ((JPROF, b"--" + hostile), 64, 2),
                    ((JPROF, b"-F", hostile, "true"), 64, 2),
                    ((JPROF, b"-o", hostile + b"/x/\xff/../..", "true"),
                     None, None),
                    ((JPROF, "pause", hostile), 64, 2),
                    ((REPORT, hostile, hostile), 2, 1),
                    ((REPORT, b"--" + hostile), 64, None),
                    ((REPORT, b"--format=" + hostile, "x", "y"), 64, None)):
                with self.subTest(argv=argv):
                    got, said = self.run_it(*argv)
                    if status is not None:
                        self.assertEqual(got, status, said)
                    self.check(said, said.count(b"\n") if lines is None
                               else lines, "jprof")

    def test_programs_and_folders(self):
        """A program that is killed, in a folder; both are named."""
        for i, hostile in enumerate(HOSTILE):
            name = os.path.join(os.fsencode(self.dir), b"%d" % i + hostile)
            with open(name, "w", encoding="ascii") as out:
                out.write("#!/bin/sh\nkill -KILL $$\n")
            os.chmod(name, 0o755)
            _, said = self.run_it(JPROF, b"-o", b"f%d" % i + hostile, name)
            self.check(said, 2, "killed by signal KILL")

    def test_what_stands_in_logs(self):
        """The program's and the map's name in the header, a path in the map,
        which is said to be missing."""
        golden.prepare(os.path.join(ROOT, "tests", "golden", "report"),
                       self.dir)
        with open(self.path("jprof-log"), "rb") as source:
            log = source.read()
        with open(self.path("jprof-map"), "rb") as source:
            lines = source.read()
        mapped = b" path=/tmp/perf-1.map"
        self.assertIn(mapped, lines)
        for hostile in HOSTILE:
            said = {}
            coded = b"".join(b"%%%02x" % byte for byte in hostile)
            for what, at in (("exe", EXE_AT), ("map", MAP_NAME_AT), ("", 0)):
                text = hostile + b"\0" if what else log[:1]
                with open(self.path("jprof-log"), "wb") as out:
                    out.write(log[:at] + text + log[at + len(text):])
                where = "jprof-map" if what != "map" else "elsewhere"
                with open(self.path(where), "wb") as out:
                    out.write(lines if what else lines.replace(
                        mapped, b" path=/nowhere/" + coded).replace(
                            b" saved=perf-1.map", b""))
                if what == "map":
                    os.unlink(self.path("jprof-map"))
                _, said[what] = self.run_it(REPORT, "-v", "app", "jprof-log")
                with self.subTest(what=what, hostile=hostile):
                    self.check(said[what], said[what].count(b"\n"),
                               "jprof-report: jprof-log: pid 1 (")
            self.assertIn(b"pid 1 (?", said["exe"])
            self.assertRegex(said["map"], b'its map ".*[?].*" is not beside')
            self.assertRegex(said[""], b"/nowhere/.*its JIT code stays")

    def test_the_library(self):
        """Where no log can be made, and for a flag that it does not know."""
        for hostile in HOSTILE:
            path = "".join("%%%02X" % byte for byte in hostile)
            _, said = self.run_it("sh", "-c", BUSY, LD_PRELOAD=LIBRARY, JPROF_FLAGS=(
                "JP_START JP_FILENAME=/nowhere/" + path))
            self.check(said, 1, "cannot create /nowhere/")
            flag = bytes(c for c in hostile if c not in b" \t\r\n,;")
            done = subprocess.run(
                ["true"], capture_output=True, check=False, cwd=self.dir,
                env={b"LD_PRELOAD": os.fsencode(LIBRARY),
                     b"JPROF_FLAGS": b"JP_X" + flag})
            self.check(done.stderr, 1, "is no flag of jprof")


if __name__ == "__main__":
    unittest.main()
