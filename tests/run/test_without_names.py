# SPDX-License-Identifier: MIT
"""Modules without names, and the packages that have them.  Runs in: tests."""
import os
import re
import subprocess
import unittest

from jprun import REPORT, Case, need


class WithoutNames(Case):
    def modules(self, app):
        """{module: (weight, package, path)} of the summary."""
        text = self.report(app, "--format=summary", "jprof-log")
        found = {}
        for line in text.splitlines():
            match = re.fullmatch(r"without_names: weight=(\d+) package=(\S*) "
                                 r"module=(.*) path=(.*)", line)
            if match:
                found[match.group(3)] = (int(match.group(1)), match.group(2),
                                         match.group(4))
        return found

    @staticmethod
    def owner(path):
        """The package that has a file, "" without dpkg."""
        try:
            return subprocess.run(
                [need("dpkg-query"), "-S", path, re.sub("^/usr", "", path)],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                check=False, text=True).stdout.split(":")[0]
        except unittest.SkipTest:
            return ""

    def test_package(self):
        """A stripped program of the distribution: its package is named."""
        gzip = os.path.realpath(need("gzip"))
        owner = self.owner(gzip)
        with open(self.path("input"), "wb") as target:
            target.write(os.urandom(1 << 24))
        done = self.run_program(gzip, "-9", "-c", "input")
        self.assertEqual(done.status, 0)
        found = self.modules(gzip)
        if "gzip" not in found:
            self.skipTest("gzip has names here")
        weight, package, path = found["gzip"]
        self.assertEqual(path, gzip)
        self.assertEqual(package, owner + "-dbgsym" if owner else "")
        self.assertGreater(weight, 10)
        self.assertRegex(self.report(gzip, "--format=text", "jprof-log"),
                         r"(?m)^Without names +.*gzip in [\d.]+%.*"
                         + re.escape(package))

    def test_package_of_the_older_kind(self):
        """binutils' names are in -dbg packages."""
        objdump = os.path.realpath(need("objdump"))
        owner = self.owner(objdump)
        done = self.run_program(objdump, "-d", REPORT)
        self.assertEqual(done.status, 0)
        found = self.modules(objdump).get(os.path.basename(objdump))
        if not owner.startswith("binutils") or not found:
            self.skipTest("objdump is not a package's here, or has names")
        self.assertEqual(found[1], owner + "-dbg")

    def test_once_a_stack(self):
        """A stripped program that nobody packaged, deep in itself."""
        source = self.path("deep.c")
        with open(source, "w", encoding="ascii") as target:
            target.write("""
                static volatile unsigned sink;
                __attribute__((noinline)) static void turn(unsigned n)
                {
                    if (n) { turn(n - 1); sink++; return; }
                    for (unsigned i = 0; i < 400000000; i++) sink += i;
                }
                int main(void) { turn(20); return 0; }
                """)
        app = self.path("de*ep")    # dpkg-query would take it for a pattern
        subprocess.run([need("gcc"), "-O1", "-s", "-o", app, source],
                       check=True)
        self.assertEqual(self.run_program(app).status, 0)
        weight, package, path = self.modules(app)["de*ep"]
        total = int(self.summary(app, "jprof-log")["weight"])
        self.assertEqual((weight, package, path), (total, "", app))
        folded = self.collapsed(app, "jprof-log")
        self.assertTrue(any(name.startswith("de*ep+0x")
                            for stack, _ in folded for name in stack))
        # Without the file, and so without unwinding entries, it is one row.
        os.unlink(app)
        self.check_first_frames = False
        names = {name for stack, _ in self.collapsed(app, "jprof-log")
                 for name in stack if "de*ep" in name}
        self.assertEqual(names, {"[de*ep]"})


if __name__ == "__main__":
    unittest.main()
