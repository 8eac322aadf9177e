# SPDX-License-Identifier: MIT
"""The library on aarch64: built by Debian's cross compiler, its walker run
under qemu-user at every instruction of functions of each kind
(tests/cross/walk.c), with and without signed return addresses.
Runs in: tests."""
import os
import re
import subprocess
import unittest

from crosswalk import KINDS, PLAIN, SIGNS, CrossWalk
from jprun import BUILD, need

PAGE = 1 << 16      # of some kernels


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

    def test_cortex_a53(self):
        """Erratum 843419 of the Cortex-A53's: an adrp in the last two words
        of a page, a load or store, and within two more one of [register,
        #offset] with what adrp set.  (Arm, "Software Developers Errata
        Notice", EPM-048406.)"""
        need("aarch64-linux-gnu-gcc")     # which brings objdump
        listing = subprocess.run(
            ["aarch64-linux-gnu-objdump", "-d", "--no-show-raw-insn",
             os.path.join(BUILD, "aarch64", "libjprof.so")], check=True,
            text=True, stdout=subprocess.PIPE).stdout
        code = re.findall(r"(?m)^ *([0-9a-f]+):\t(\S+)(?:\t(.*))?$", listing)
        self.assertGreater(len(code), 10000)
        for at, (address, name, rest) in enumerate(code):
            if name != "adrp" or int(address, 16) % 4096 < 4096 - 8:
                continue
            base = "[" + rest.split(",")[0]
            using = [further for _, _, further in code[at + 2:at + 4]
                     if re.search(re.escape(base) + r"(, #\d+)?\]$", further)]
            is_memory = code[at + 1][1].startswith(("ld", "st"))
            self.assertFalse(is_memory and using, (address, rest, using))

    def test_library_is_small(self):
        """320 KiB, as test_install asks of this machine's; though no two of
        its segments are in one page of 64 KiB, and what becomes read-only
        ends with one."""
        need("aarch64-linux-gnu-gcc")
        small = self.path("small.so")
        subprocess.run(["aarch64-linux-gnu-strip", "-o", small,
                        os.path.join(BUILD, "aarch64", "libjprof.so")],
                       check=True)
        self.assertLess(os.path.getsize(small), 327680)
        headers = subprocess.run(["readelf", "-lW", small], check=True,
                                 stdout=subprocess.PIPE).stdout.decode()
        number = " +0x([0-9a-f]+)"
        segments = [[int(value, 16) for value in found] for found in re.findall(
            r"(?m)^ +LOAD" + 5 * number + r" .*" + number + "$", headers)]
        self.assertGreater(len(segments), 1)
        begins = [address // PAGE for _, address, *_ in segments]
        ends = [(address + size - 1) // PAGE
                for _, address, _, _, size, _ in segments]
        for end, begin in zip(ends, begins[1:]):
            self.assertLess(end, begin, headers)
        for place, address, _, _, _, alignment in segments:
            self.assertEqual(alignment, PAGE, headers)
            self.assertEqual(place % PAGE, address % PAGE, headers)
        start, size = re.search(
            r"GNU_RELRO +\S+ +0x(\w+) +\S+ +\S+ +0x(\w+)", headers).groups()
        self.assertEqual((int(start, 16) + int(size, 16)) % PAGE, 0, headers)


if __name__ == "__main__":
    unittest.main()
