# SPDX-License-Identifier: MIT
"""The offsets of CPython's structures beside those that the headers of each
installed version give.  Runs in: tests."""
import os
import re
import subprocess
import sys
import unittest

from jprun import ROOT, lacking, need
from test_script_frames import known

HEADER = os.path.join(ROOT, "preload", "sig", "script", "python_layouts.h")
FIRST = 8       # the minor version of the first row


def fields(text):
    return dict(re.findall(r"\.(\w+) = (\d+)", text))


class PythonLayouts(unittest.TestCase):
    def test_each_version(self):
        need("cc")
        with open(HEADER, encoding="ascii") as source:
            rows = re.findall(r"\{[^}]*\}", source.read())
        done = subprocess.run(
            [sys.executable, os.path.join(ROOT, "scripts", "python-layouts"),
             "--rows", *known().values()],
            check=True, text=True, stdout=subprocess.PIPE).stdout
        if not done:
            raise lacking("headers of CPython 3.8 to 3.13")
        for line in done.splitlines():
            minor, text = line.split(" ", 1)
            with self.subTest(minor=minor):
                self.assertEqual(fields(rows[int(minor) - FIRST]),
                                 fields(text))
                self.assertGreater(len(fields(text)), 12)


if __name__ == "__main__":
    unittest.main()
