# SPDX-License-Identifier: MIT
"""The quickest parts of the test suites that others wrote: the same tests pass
and fail with and without the library.  `make check-transparency` runs all.
Runs in: tests."""

import os
import subprocess
import sys
import unittest

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "..", "transparency")


class Transparency(unittest.TestCase):
    """A suite each."""

    def check(self, suite):
        """Runs the short list of a suite."""
        done = subprocess.run(
            [sys.executable, os.path.join(FOLDER, "transparency.py"), "--short",
             "--suite", suite, "--jobs", "2"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"\d\d+ outcomes compared, [1-9]\d* logs")

    def test_cpython(self):
        """CPython's signals, threads that get signals, forks, selectors."""
        self.check("cpython")

    def test_glib(self):
        """GLib's threads, spawning, main loop, signals and sockets."""
        self.check("glib")


if __name__ == "__main__":
    unittest.main()
