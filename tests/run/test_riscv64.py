# SPDX-License-Identifier: MIT
"""The library on riscv64: built by Debian's cross compiler, its walker run
under qemu-user at every instruction of functions of each kind
(tests/cross/walk.c).  Whole programs are not run.
Runs in: tests."""
import unittest

from crosswalk import CrossWalk
from jprun import need


class Riscv64(CrossWalk):
    def test_walker(self):
        need("riscv64-linux-gnu-gcc")
        self.walk("riscv64", (need("qemu-riscv64"),), "walk")

    def test_library(self):
        need("riscv64-linux-gnu-gcc")
        self.made_for("riscv64", "RISC-V")


if __name__ == "__main__":
    unittest.main()
