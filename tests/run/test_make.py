# SPDX-License-Identifier: MIT
"""The Makefile: `make help`, install and uninstall.  Runs in: tests."""
import os
import re
import subprocess
import unittest

from jprun import BUILD, ROOT, Case, need


class Make(Case):
    """Targets that build nothing, in a folder of links to the tree, so that
    a word torn apart leaves nothing in the tree itself."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("tree"))
        for name in ("Makefile", "analyzer", "tests", "include", "doc",
                     "scripts"):
            os.symlink(os.path.join(ROOT, name), self.path("tree/" + name))

    def make(self, *arguments):
        """stdout; what is built already is taken as it is."""
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("MAKE", "MFLAGS"))}
        return subprocess.run(
            [need("make"), "-s", "-o", "all", "B=" + BUILD, *arguments],
            cwd=self.path("tree"), env=env, check=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE).stdout.decode()

    def test_help_names_every_documented_target(self):
        shown = re.findall(r"(?m)^  make (\S+)", self.make("help"))
        for name in ("Makefile", "tests/tests.mk", "tests/bench/bench.mk"):
            with open(os.path.join(ROOT, name), encoding="utf-8") as source:
                targets = re.findall(r"(?m)^([a-z-]+):.*## ", source.read())
            self.assertTrue(targets, name)
            self.assertLessEqual(set(targets), set(shown), name)
        self.assertEqual(len(shown), len(set(shown)))

    def installed(self):
        return sorted(os.path.join(os.path.relpath(folder, self.dir), name)
                      for folder, _, names in os.walk(self.dir)
                      for name in names if name != "Makefile")

    def test_install_and_uninstall_with_blanks(self):
        """And what else a shell would make something of."""
        words = ("DESTDIR=" + self.path("my root"),
                 "PREFIX=/opt/it's  x")
        top = "my root/opt/it's  x/"
        self.make("install", *words)
        self.assertEqual(self.installed(), sorted(
            top + name for name in (
                "bin/jprof", "bin/jprof-report", "include/jprof.h",
                "lib/jprof/libjprof.so", "lib/pkgconfig/jprof.pc",
                "share/bash-completion/completions/jprof",
                "share/bash-completion/completions/jprof-report",
                "share/fish/vendor_completions.d/jprof.fish",
                "share/fish/vendor_completions.d/jprof-report.fish",
                "share/man/man1/jprof.1", "share/man/man1/jprof-report.1",
                "share/man/man3/libjprof.3", "share/man/man7/JPROF_FLAGS.7",
                "share/zsh/site-functions/_jprof")))
        with open(self.path(top + "bin/keep"), "w", encoding="ascii"):
            pass
        self.make("uninstall", *words)
        self.assertEqual(self.installed(), [top + "bin/keep"])
        self.assertFalse(os.path.exists(self.path(top + "lib/jprof")))


if __name__ == "__main__":
    unittest.main()
