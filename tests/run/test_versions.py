# SPDX-License-Identifier: MIT
"""Versions of symbols: a program gets the one that it was linked against, as it
does without the library.  Runs in: tests."""
import os
import subprocess
import unittest

from jprun import BUILD, LIBRARY, ROOT, Case, program
from versions import exports, first_version


class Versions(Case):
    def test_old_program(self):
        """An int where a timer_t was one, a script for the shell."""
        script = self.path("script")
        with open(script, "w", encoding="utf-8") as text:
            text.write("echo from the shell\n")
        os.chmod(script, 0o755)
        plain = self.run_program(program("oldversions"), script, preload=False)
        if plain.status == 77:
            self.skipTest("no older versions on this machine")
        self.assertEqual((plain.status, plain.err), (0, ""))
        self.assertEqual(plain.out.count("from the shell"), 2)
        self.assertEqual(plain.out.count("as it was"), 2)
        self.assertEqual(plain.out.count("a tick"), 3)
        for flags in (None, "JP_START JP_PERIOD=0.001",
                      "JP_START JP_PERIOD=0.001 JP_REALTIME"):
            with self.subTest(flags=flags):
                done = self.run_program(program("oldversions"), script,
                                        flags=flags)
                self.assertEqual((done.status, done.out, done.err),
                                 (plain.status, plain.out, plain.err))

    def test_what_is_listed(self):
        """Also by the libraries for other machines, where they are built."""
        for machine in ("", "aarch64", "riscv64"):
            library = os.path.join(BUILD, machine, "libjprof.so")
            if not os.path.exists(library):
                continue
            with self.subTest(machine=machine), \
                    open(os.path.join(ROOT, "preload", "exported-symbols"),
                         "rb") as names:
                listed = subprocess.run(
                    [os.path.join(ROOT, "scripts", "export-versions"),
                     "names", first_version(library)], check=True, stdin=names,
                    stdout=subprocess.PIPE).stdout.decode().split()
                self.assertGreater(len(listed), 130)
                self.assertEqual(sorted(exports(library)), sorted(listed))

    def test_libaio(self):
        """What is asked for is as many events as there are, not as few."""
        for flags in (None, "JP_START JP_PERIOD=0.001"):
            with self.subTest(flags=flags):
                done = self.run_program(program("oldversions"), "aio",
                                        flags=flags)
                if done.status == 77:
                    self.skipTest("no older versions on this machine")
                self.assertEqual((done.status, done.out, done.err),
                                 (0, "events 0\n", ""))

    def test_asked_for_by_version(self):
        """dlvsym finds each version that the C library has in the library;
        dlsym the default one, as there."""
        names = [symbol for symbol in exports(LIBRARY)
                 if "@" in symbol]
        with open(self.path("names"), "w", encoding="utf-8") as text:
            text.write("\n".join(names))
        with open(self.path("names"), "rb") as text:
            done = self.run_program(program("whoseversion"), stdin=text)
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertEqual(done.out.splitlines(),
                         [symbol + " libjprof.so" for symbol in names])


if __name__ == "__main__":
    unittest.main()
