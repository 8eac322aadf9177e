# SPDX-License-Identifier: MIT
"""The library on aarch64: built by Debian's cross compiler, its walker run
under qemu-user at every instruction of functions of each kind
(tests/cross/walk.c), with and without signed return addresses.
Runs in: tests."""
import os
import re
import subprocess
import unittest

from jprun import BUILD, Case, need

FOLDER = os.path.join(BUILD, "aarch64")
SYSROOT = "/usr/aarch64-linux-gnu"
FLAGS = "JP_START JP_PERIOD=3600"
KINDS = ("bare leaf", "frame", "alloca", "many")


class Aarch64(Case):
    def walk(self, way):
        need("aarch64-linux-gnu-gcc")
        env = self.environment(FLAGS, None, None)
        done = subprocess.run(
            [need("qemu-aarch64"), "-L", SYSROOT,
             os.path.join(FOLDER, "tests", "cross", "walk-" + way)],
            cwd=self.dir, env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
            check=False)
        output = done.stdout.decode(errors="replace")
        self.assertEqual(done.returncode, 0, output)
        for kind in KINDS:
            self.assertRegex(output, r"(?m)^%s: \d+ instructions" % kind)
        self.assertRegex(output, r"(?m)^0 failures$")
        return output

    def test_plain(self):
        self.walk("none")

    def test_pointer_authentication(self):
        """qemu's processor signs; so the addresses on the stack are not what
        they look like."""
        output = self.walk("pac-ret+leaf")
        self.assertRegex(output, r"(?m)^pointer authentication: signed$")

    def test_library(self):
        header = subprocess.run(
            ["readelf", "-h", os.path.join(FOLDER, "libjprof.so")],
            stdout=subprocess.PIPE, check=True).stdout.decode()
        self.assertTrue(re.search(r"Machine: +AArch64", header), header)


if __name__ == "__main__":
    unittest.main()
