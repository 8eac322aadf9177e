# SPDX-License-Identifier: MIT
"""scripts/install-deps.  Runs in: tests."""
import os
import re
import subprocess
import unittest

from jprun import ROOT, Case, need


class InstallDeps(Case):
    """On a made-up system without apt whose packages are all there."""

    def check(self):
        done = subprocess.run(
            ["/bin/sh", os.path.join(ROOT, "scripts/install-deps"), "check"],
            env={"PATH": self.path("bin")}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout.decode()

    def command(self, name, text):
        with open(self.path("bin/" + name), "w", encoding="ascii") as target:
            target.write("#!/bin/sh\n" + text)
        os.chmod(self.path("bin/" + name), 0o755)

    def test_node_may_come_from_anywhere(self):
        os.mkdir(self.path("bin"))
        os.symlink(need("tr"), self.path("bin/tr"))
        with open(os.path.join(ROOT, "scripts/install-deps"),
                  encoding="utf-8") as source:
            names = set(re.findall(r"(?m)^\S+ e:(\S+)$", source.read()))
        self.assertIn("node", names)
        for name in names - {"node"}:
            self.command(name, "")
        self.command("dpkg-query", "case $* in *nodejs*) exit 1 ;; esac\n"
                     "echo installed\n")
        status, output = self.check()
        self.assertEqual(status, 1)
        self.assertTrue(output.endswith("bring: nodejs\n"), output)
        self.command("node", "")
        self.assertEqual(self.check()[0], 0)


if __name__ == "__main__":
    unittest.main()
