# SPDX-License-Identifier: MIT
"""The library for another machine: its walker under qemu-user (tests/cross).
Runs in: tests."""
import os
import subprocess

from jprun import BUILD, Case

FLAGS = "JP_START JP_PERIOD=3600"
KINDS = ("bare leaf", "frame", "alloca", "many", "stub")
# Without call-frame information, where the walk looks ahead.
PLAIN = ("plain leaf", "plain frame", "plain room", "plain link",
         "plain jump", "plain steps")
# qemu-user's own choice of a processor signs no addresses from 11 on.
SIGNS = ("-cpu", "max")
PLACES = ("frame records", "frame records alone", "handler",
          "handler on an alternate stack")


class CrossWalk(Case):
    def walk(self, machine, qemu, program, kinds=KINDS):
        """Runs the walker's test by the command qemu; what it printed."""
        done = subprocess.run(
            [*qemu, "-L", "/usr/%s-linux-gnu" % machine,
             os.path.join(BUILD, machine, "tests", "cross", machine, program)],
            cwd=self.dir, env=self.environment(FLAGS, None, None),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=300, check=False)
        output = done.stdout.decode(errors="replace")
        self.assertEqual(done.returncode, 0, output)
        for kind in kinds:
            self.assertRegex(output, r"(?m)^%s: \d+ instructions" % kind)
        for place in PLACES:
            self.assertRegex(output, r"(?m)^%s: \d+ frames$" % place)
        self.assertRegex(output, r"(?m)^0 failures$")
        return output

    def made_for(self, machine, name):
        """The library is for that machine, as readelf names it."""
        header = subprocess.run(
            ["readelf", "-h", os.path.join(BUILD, machine, "libjprof.so")],
            stdout=subprocess.PIPE, check=True).stdout.decode()
        self.assertRegex(header, r"Machine: +%s\n" % name)
