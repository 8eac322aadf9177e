# SPDX-License-Identifier: MIT
"""The lint of language, tests/lint/prose: it passes a good tree and refuses
each kind of fault.  Runs in: tests."""
import os
import subprocess
import unittest

from jprun import ROOT, need
from test_checkers import Checker


class Prose(Checker):
    """tests/lint/prose on trees with one fault each."""
    GLOSSARY = ("| term | meaning | not |\n| --- | --- | --- |\n"
                "| entry stub | Code before a hook. | `trap door` |\n\n"
                "| word | in names | in comments | use instead |\n"
                "| --- | --- | --- | --- |\n| `kin` | 1 | 1 | variants |\n")
    GOOD = "/* Returns the size in bytes. */\nint size_of(int caller);\n"
    TABLE = "tests/lint/prose-limits"

    def prose(self, files, limits="", *arguments):
        self.tree({"doc/GLOSSARY.md": self.GLOSSARY, "analyzer/a.c": self.GOOD,
                   self.TABLE: "base %s 1\n%s" % ("0" * 40, limits)})
        self.tree(files)
        return self.lint(*arguments)

    def lint(self, *arguments):
        done = subprocess.run(
            [os.path.join(ROOT, "tests/lint/prose"), self.dir] +
            list(arguments), stdin=subprocess.DEVNULL, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout.decode()

    def git(self, *arguments):
        return subprocess.run(
            ["git", "-C", self.dir, "-c", "user.name=a", "-c",
             "user.email=a@b", "-c", "core.hooksPath=/dev/null", *arguments],
            check=True, stdout=subprocess.PIPE).stdout.decode().strip()

    def commit(self, subject):
        self.git("add", ".")
        self.git("commit", "-q", "-m", subject)
        return self.git("log", "-1", "--format=%H %ct")

    def test_good(self):
        status, output = self.prose({"README.md": "The size is 3 bytes. "
                                     "Where it is odd, the program stops. "
                                     "What is it?\n"})
        self.assertEqual((status, output), (0, "prose: no git history here: "
                                            "commit subjects are not checked\n"))

    def test_bad(self):
        long = "The %sprogram stops.\n\n" % ("very " * 40)
        for path, text, word in (
                ("README.md", "What is left stops.\n", "openers: 1, the"),
                ("README.md", "| what is left |\n", "openers: 1, the"),
                ("README.md", "Where the time goes.\n", "openers: 1, the"),
                ("doc/a.1", ".PP\nWho asks, stops.\n", "doc/a.1: openers: 1"),
                ("README.md", "There is none.\n", "phrases: 1, the"),
                ("README.md", "It has none of these.\n", "phrases: 1, the"),
                ("README.md", "The one of which it is.\n", "phrases: 1, the"),
                ("README.md", "It meets a trap door.\n", "seconds: 1, the"),
                ("README.md", long * 5, "README.md: median: 43, the limit"),
                ("README.md", "The program stops.\n\n" * 6 + long,
                 "README.md: p90: 43, the limit"),
                ("analyzer/b.c", "/*\n * Which one stops. */\nint f;\n",
                 "analyzer: openers: 1, the limit is 0\n    analyzer/b.c:2: "),
                ("analyzer/b.c", "int the_trap_doors;\n",
                 "analyzer: seconds: 1"),
                ("analyzer/b.c", "int next_kin;\n", "analyzer: riddles: 1"),
                ("tests/b.py", "# What is left stops.\n", "tests: openers: 1"),
                ("tests/b.py", '"""Whose it is."""\n', "tests: openers: 1")):
            with self.subTest(path=path, text=text):
                status, output = self.prose({path: text})
                self.assertEqual(status, 1, output)
                self.assertIn(word, output)
                os.unlink(self.path(path))

    def test_code_is_no_prose(self):
        status, output = self.prose({
            "README.md": "    what it is\n\n```\nwhat\nit is\n```\n",
            "analyzer/b.c": 'const char *text = "/* what kin it is */";\n'})
        self.assertEqual(status, 0, output)

    def test_limits(self):
        row, page = "README.md %d 0 0 0 20 35\n", {"README.md":
                                                   "What is left stops.\n"}
        self.assertEqual(self.prose(page, row % 1)[0], 0)
        status, output = self.prose(page, row % 4)
        self.assertIn("openers: lower the limit from 4 to 1, by 3", output)
        self.assertEqual(status, 0)
        self.prose(page, row % 4, "--lower")
        with open(self.path(self.TABLE), encoding="utf-8") as file:
            self.assertEqual(file.read().split("\n")[1].split(),
                             (row % 1).split())
        os.unlink(self.path("README.md"))
        status, output = self.prose({}, row % 1)
        self.assertEqual((status, "but is not there" in output), (1, True))

    ROW = "analyzer %d 0 0 0 20 35\n"

    def repository(self):
        """Makes the tree a repository; its first commit is the base."""
        need("git")
        self.prose({"README.md": "It stops.\n"})
        subprocess.run(["git", "init", "-q", self.dir], check=True)
        return self.commit("a" * 73)

    def table(self, base, limits=""):
        self.tree({self.TABLE: "base %s\n%s" % (base, limits)})

    def test_commit_subjects(self):
        self.table(self.repository())
        self.commit("b" * 72)
        self.assertEqual(self.lint(), (0, ""))
        self.tree({"x": ""})
        self.commit("c" * 73)
        status, output = self.lint()
        self.assertEqual(status, 1)
        self.assertIn("subject of 73 characters, at most 72: ccc", output)

    def test_merges_are_left_out(self):
        self.table(self.repository())
        self.commit("b")
        self.git("checkout", "-q", "-b", "side")
        self.tree({"x": ""})
        self.commit("c")
        self.git("checkout", "-q", "-")
        self.git("merge", "-q", "--no-ff", "-m", "m" * 80, "side")
        self.assertEqual(self.lint(), (0, ""))

    def test_shallow_clone(self):
        """Without the base, commits of a later time count."""
        _, when = self.repository().split()
        for later, status in ((0, 0), (-1, 1)):
            self.table("%s %d" % ("1" * 40, int(when) + later))
            self.assertEqual(self.lint()[0], status)

    def test_raised_limit(self):
        self.table(self.repository(), self.ROW % 1)
        self.commit("b")
        self.assertEqual(self.lint()[0], 0)
        with open(self.path(self.TABLE), encoding="utf-8") as file:
            text = file.read()
        self.tree({self.TABLE: text.replace(" 1 0 0 0 ", " 2 0 0 0 ")})
        status, output = self.lint()
        self.assertEqual(status, 1)
        self.assertIn("openers: the limit 2 is above that of commit", output)


if __name__ == "__main__":
    unittest.main()
