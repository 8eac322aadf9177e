# SPDX-License-Identifier: MIT
"""Shadow stacks and guarded branches: the library is marked as fit for them, so
that a program keeps what it has without it, and it is fit.  Runs in: tests."""
import os
import re
import subprocess
import unittest

from crosswalk import SIGNS
from jprun import BUILD, LIBRARY, ROOT, Case, need

LOADER = "/usr/aarch64-linux-gnu"
FOLDER = os.path.join(BUILD, "aarch64")


def properties(path):
    """What an ELF file is marked with (.note.gnu.property)."""
    notes = subprocess.run([need("readelf"), "-nW", path], check=True,
                           stdout=subprocess.PIPE).stdout.decode()
    found = re.search(r"(?:x86|AArch64) feature: (.*)", notes)
    return set(found[1].split(", ")) if found else set()


def objects(build):
    """Those that the library is made of."""
    return [os.path.join(build, os.path.relpath(folder, ROOT), name[:-1] + "o")
            for folder, _, names in os.walk(os.path.join(ROOT, "preload"))
            for name in names if name.endswith(".c")]


def features():
    """The line of the kernel, where it has it, of this process."""
    with open("/proc/self/status", encoding="ascii") as status:
        return re.search(r"(?m)^x86_Thread_features:.*", status.read())


class Marks(Case):
    def marked(self, build, wanted):
        parts = objects(build)
        self.assertGreater(len(parts), 100)
        for path in parts + [os.path.join(build, "libjprof.so")]:
            self.assertLessEqual(wanted, properties(path), path)

    def test_shadow_stack(self):
        if os.uname().machine != "x86_64":
            self.skipTest("another kind of machine")
        self.marked(BUILD, {"SHSTK"})

    def test_other_machine(self):
        need("aarch64-linux-gnu-gcc")
        self.marked(FOLDER, {"BTI", "PAC"})

    def test_nothing_else_starts_it(self):
        """No code of the compiler's start files, which may not be fit."""
        table = subprocess.run([need("readelf"), "-dW", LIBRARY], check=True,
                               stdout=subprocess.PIPE).stdout.decode()
        self.assertNotRegex(table, r"\((INIT|FINI)\)")
        self.assertRegex(table, r"\(FINI_ARRAYSZ\) +16 ")

    def test_way_back_from_a_fault(self):
        """The instructions that test_shadow_stack (unit) has stand-ins for."""
        if os.uname().machine != "x86_64":
            self.skipTest("another kind of machine")
        code = subprocess.run(
            [need("objdump"), "-d", "--no-show-raw-insn",
             os.path.join(BUILD, "preload", "sig", "trap.o")], check=True,
            stdout=subprocess.PIPE).stdout.decode()
        instructions = re.findall(r"<(jp_trap_(?:walk_sig|land))>:|"
                                  r"((?:rd|inc)ssp.*)", code)
        self.assertEqual(["".join(found) for found in instructions],
                         ["jp_trap_walk_sig", "rdsspq %rax", "jp_trap_land",
                          "rdsspq %rax", "incsspq %rax"])

    def test_program_keeps_its_own(self):
        """What the kernel says of the thread is the same with the library."""
        if not features():
            self.skipTest("this kernel has no shadow stacks")
        lines = [self.run_program("/bin/grep", "x86_Thread_features",
                                  "/proc/self/status", **options).out
                 for options in ({"preload": False}, {"flags": None}, {})]
        self.assertEqual(lines, lines[:1] * 3)


class Guarded(Case):
    def test_branches(self):
        """Under qemu: the loader has the library's pages guarded."""
        need("aarch64-linux-gnu-gcc")
        path = os.path.join(FOLDER, "tests", "programs", "landing")
        done = self.run_program(
            need("qemu-aarch64"), *SIGNS, "-L", LOADER, "-E", "LD_PRELOAD=" +
            os.path.join(FOLDER, "libjprof.so"), path, preload=None, flags=None)
        self.assertEqual((done.status, done.out), (0, "guarded\n"))


if __name__ == "__main__":
    unittest.main()
