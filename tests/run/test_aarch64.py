# SPDX-License-Identifier: MIT
"""The library on aarch64: built by Debian's cross compiler, its walker run
under qemu-user at every instruction of functions of each kind
(tests/cross/walk.c), with and without signed return addresses.
Runs in: tests."""
import unittest

from crosswalk import KINDS, PLAIN, SIGNS, CrossWalk
from jprun import need


class Aarch64(CrossWalk):
    def walked(self, way):
        need("aarch64-linux-gnu-gcc")
        return self.walk("aarch64", (need("qemu-aarch64"), *SIGNS),
                         "walk-" + way, KINDS + PLAIN)

    def test_plain(self):
        self.walked("none")

    def test_pointer_authentication(self):
        """qemu's processor signs; so the addresses on the stack are not what
        they look like."""
        output = self.walked("pac-ret+leaf")
        self.assertRegex(output, r"(?m)^pointer authentication: signed$")

    def test_library(self):
        need("aarch64-linux-gnu-gcc")
        self.made_for("aarch64", "AArch64")


if __name__ == "__main__":
    unittest.main()
