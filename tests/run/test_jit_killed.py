# SPDX-License-Identifier: MIT
"""What doc/jit.md says of JIT code's names after SIGKILL, by runtime.

Runs in: tests."""
import glob
import os
import shutil
import signal
import unittest

from jprun import need
from runtimes import RuntimeCase
from test_runtime_wasmtime import PROGRAM as WASM, engine_s_python

NATIVE = "--interpreted-frames-native-stack"
NODE = """function leaf_work(n) {
  let x = 1;
  for (let i = 0; i < n; i++) x = (x * 1103515245 + 12345) % 2147483648;
  return x;
}
for (;;) leaf_work(20000);
"""
PYTHON = """def leaf_work(n):
    x = 1
    for i in range(n):
        x = (x * 1103515245 + 12345) % 2147483648
    return x
leaf_work(1)
for i in range(60):     # what a writer keeps back is of these
    exec("def later_%d(): pass\\nlater_%d()" % (i, i))
while True:
    leaf_work(20000)
"""


class Killed(RuntimeCase):
    def check(self, *argv, least=1.0, leaf="leaf_work"):
        live = self.start(*argv)
        live.burn(1)
        self.assertEqual(live.end(signal.SIGKILL).err, "")
        run = self.run_of()
        self.remove_originals(run)
        self.check_jit_named(run, least)
        self.assertGreater(self.share(self.stacks_of(run), leaf), 0.4)

    def node(self, *options):
        self.write("work.js", NODE)
        self.check(need("node"), *options, "work.js")

    def test_node_map(self):
        self.node("--perf-basic-prof")

    def test_node_native_stack(self):
        self.node("--perf-basic-prof", NATIVE)

    def test_node_both(self):
        """The dump's tail is missing; the map has it."""
        self.node("--perf-prof", "--perf-basic-prof", NATIVE)

    def python(self, name, option):
        places = [shutil.which(name)] + glob.glob(os.path.expanduser(
            "~/.pyenv/versions/*/bin/" + name))
        for place in places:
            if place and "shims" not in place:
                self.write("work.py", PYTHON)
                self.check(place, "-X", option, "work.py")
                return
        self.skipTest("no %s here" % name)

    def test_python_map(self):
        self.python("python3.12", "perf")

    def test_later_python_map(self):
        self.python("python3.13", "perf")

    def test_later_python_dump(self):
        self.python("python3.13", "perf_jit")

    def wasm(self, how):
        self.write("work.py", WASM.replace("+ 0.7", "+ 700"))
        self.check(engine_s_python(), "work.py", how, "plain")

    def test_wasmtime_map(self):
        self.wasm("perfmap")

    def test_wasmtime_dump(self):
        self.wasm("jitdump")


if __name__ == "__main__":
    unittest.main()
