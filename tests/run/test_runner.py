# SPDX-License-Identifier: MIT
"""The runner of all tests, tests/check.py.  Runs in: tests."""
import os
import signal
import subprocess
import sys
import unittest

from jprun import ROOT, Case


class Runner(Case):
    """The runner's last line and exit status, on tests made here."""

    def runner(self, kind, jobs=None, **more):
        """(exit status, last line) of the runner on one kind of test."""
        os.makedirs(self.path("tests/tools"))
        for name in ("check.py", "golden.py", "tools/pack.py"):
            with open(os.path.join(ROOT, "tests", name),
                      encoding="utf-8") as source:
                self.write("tests/" + name, source.read())
        done = subprocess.run(
            [sys.executable, "-B", self.path("tests/check.py"), "--only",
             kind, *(("--jobs", str(jobs)) if jobs else ())],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, check=False,
            env=dict(os.environ, B="build"), **more)
        self.lines = done.stdout.decode().splitlines()
        return done.returncode, self.lines[-1]

    def run_with(self, body, **more):
        os.makedirs(self.path("tests/run"))
        self.write("tests/run/test_x.py", "import unittest\n"
                   "class T(unittest.TestCase):\n" + body)
        return self.runner("run", **more)

    def tap(self, text, status=0):
        """The same for a unit test that prints `text`."""
        for folder in ("tests/unit", "build/tests/unit"):
            os.makedirs(self.path(folder))
        self.write("tests/unit/test_x.c", "")
        self.write("build/tests/unit/test_x",
                   "#!/bin/sh\ncat <<'END'\n%sEND\nexit %d\n" % (text,
                                                                status))
        os.chmod(self.path("build/tests/unit/test_x"), 0o755)
        return self.runner("unit")

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as target:
            target.write(text)

    def test_counts(self):
        self.assertEqual(self.run_with(
            "    def test_a(self): pass\n"
            "    def test_b(self): self.fail()\n"
            "    def test_c(self): self.skipTest('no')\n"
            "    def test_d(self): raise KeyError\n"),
            (1, "1 passed, 2 failed, 1 skipped"))

    def test_what_waits_has_a_lane_of_its_own(self):
        """Two jobs that go on until a third has run, two at a time."""
        os.makedirs(self.path("tests/run"))
        there = self.path("there")
        for name in ("a", "b"):
            self.write("tests/run/test_%s.py" % name,
                       "import os, time, unittest\n"
                       "class T(unittest.TestCase):\n"
                       "    def test(self):\n"
                       "        end = time.time() + 60\n"
                       "        while not os.path.exists(%r):\n"
                       "            self.assertLess(time.time(), end)\n"
                       "            time.sleep(0.01)\n" % there)
        self.write("tests/run/test_waits.py", "import unittest\n"
                   "class T(unittest.TestCase):\n"
                   "    def test(self): open(%r, 'w').close()\n" % there)
        self.assertEqual(self.runner("run", jobs=2),
                         (0, "3 passed, 0 failed, 0 skipped"))
        self.assertIn("again: 0", self.lines)

    def test_success(self):
        self.assertEqual(self.run_with("    def test_a(self): pass\n"),
                         (0, "1 passed, 0 failed, 0 skipped"))

    def test_fails_beside_others_passes_alone(self):
        self.assertEqual(self.run_with(
            "    def test_a(self):\n"
            "        import os\n"
            "        if not os.path.exists('been'):\n"
            "            open('been', 'w').close()\n"
            "            self.fail()\n"),
            (0, "1 passed, 0 failed, 0 skipped"))
        self.assertEqual(self.lines[-2], "again: 1")

    def test_says_what_failed(self):
        """In few lines: a long output may be cut."""
        self.run_with("    def test_a(self): pass\n"
                      "    def test_b(self): self.fail()\n")
        self.assertEqual(self.lines[-3:-1], ["failed: run test_x", "again: 0"])
        self.assertFalse([line for line in self.lines if "... ok" in line])

    def test_tap_lines_count_once(self):
        """A skip is "ok" in TAP's specification, "not ok" in cmocka 1.1.5."""
        self.assertEqual(
            self.tap("1..5\nok 1 - a\nnot ok 2 # SKIP b\nok 3 # skip c\n"
                     "not ok 4 - d\n# not ok it says\nok 5 - e\n", 1),
            (1, "2 passed, 1 failed, 2 skipped"))

    def test_tap_with_skips_alone_is_no_failure(self):
        self.assertEqual(self.tap("1..2\nnot ok 1 # SKIP a\nok 2 - b\n"),
                         (0, "1 passed, 0 failed, 1 skipped"))

    def test_tap_that_ends_early(self):
        self.assertEqual(self.tap("1..3\nok 1 - a\n", 139),
                         (1, "1 passed, 2 failed, 0 skipped"))

    def test_ignored_signals_are_restored(self):
        def ignore():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGQUIT, signal.SIG_IGN)

        self.assertEqual(self.run_with(
            "    def test_a(self):\n        import signal\n"
            "        for n in (signal.SIGINT, signal.SIGQUIT):\n"
            "            self.assertNotEqual(signal.getsignal(n),\n"
            "                                signal.SIG_IGN)\n",
            preexec_fn=ignore), (0, "1 passed, 0 failed, 0 skipped"))

    def test_module_that_dies(self):
        self.assertEqual(self.run_with(
            "    def test_a(self):\n        import os; os._exit(0)\n"),
            (1, "0 passed, 1 failed, 0 skipped"))


if __name__ == "__main__":
    unittest.main()
