# SPDX-License-Identifier: MIT
"""Programs built with the compilers' sanitizers run as without the library,
and are profiled.  Runs in: tests."""
import os
import subprocess
import unittest

from jprun import ROOT, Case, lacking, need, weight_s

PROFILES = ("JP_START JP_PERIOD=0.001", "JP_START JP_REALTIME JP_PERIOD=0.002")


class Sanitizers(Case):
    def build(self, compiler, *options):
        """tests/programs/sanitized.c with a sanitizer."""
        path = self.path("sanitized")
        source = os.path.join(ROOT, "tests", "programs", "sanitized.c")
        done = subprocess.run(
            [need(compiler), "-O1", "-g", "-pthread", "-I",
             os.path.join(ROOT, "include"), "-o", path, source, *options],
            stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise lacking("runtime of %s %s" % (compiler, " ".join(options)))
        return path

    def check(self, compiler, *options):
        path = self.build(compiler, *options)
        alone = self.run_program(path, preload=None, flags=None)
        self.assertEqual((alone.status, alone.out, alone.err),
                         (3, "handled 50 rounds many\n", ""))
        for flags in (None,) + PROFILES:
            with self.subTest(flags=flags):
                name = "log-%d" % len(self.files())
                done = self.run_program(path, flags=flags and flags +
                                        " JP_FILENAME=" + name)
                self.assertEqual((done.status, done.out, done.err),
                                 (3, alone.out, ""))
                if flags is None:
                    continue
                run = self.run_of(name)
                self.assertGreater(weight_s(run), 0.6)
                self.assertGreater(len(run.samples), 60)
                self.assertEqual(run.events("note"), [])

    def test_address_gcc(self):
        self.check("gcc", "-fsanitize=address")

    def test_thread_gcc(self):
        self.check("gcc", "-fsanitize=thread")

    def test_undefined_gcc(self):
        self.check("gcc", "-fsanitize=undefined")

    def test_leak_gcc(self):
        self.check("gcc", "-fsanitize=leak")

    def test_address_clang(self):
        self.check("clang", "-fsanitize=address")

    def test_thread_clang(self):
        self.check("clang", "-fsanitize=thread")

    def test_memory_clang(self):
        self.check("clang", "-fsanitize=memory")

    def test_undefined_clang(self):
        self.check("clang", "-fsanitize=undefined")

    def test_leak_clang(self):
        self.check("clang", "-fsanitize=leak")


if __name__ == "__main__":
    unittest.main()
