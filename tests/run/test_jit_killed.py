# SPDX-License-Identifier: MIT
"""What doc/jit.md says of JIT code's names after SIGKILL, by runtime.

Runs in: tests."""
import glob
import os
import shutil
import signal
import subprocess
import unittest

from jprun import BUILD, HANG_SECONDS, need
from runtimes import RuntimeCase, uninlined
from test_runtime_java import OPTIONS, WORK as JAVA
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
# Modules that are loaded while it works: what a writer keeps back is of these.
ERLANG = """-module(work).
-export([main/0, leaf_work/2]).
leaf_work(0, S) -> S;
leaf_work(N, S) -> leaf_work(N - 1, (S * 31 + N) rem 1000003).
main() -> [code:ensure_loaded(M) || M <- [orddict, gb_trees, digraph]],
    forever().
forever() -> leaf_work(20000, 1), forever().
"""


class Killed(RuntimeCase):
    def check(self, *argv, least=1.0, leaf="leaf_work"):
        live = self.start(*argv)
        live.burn(1)
        self.assertEqual(live.end(signal.SIGKILL).err, "")
        self.check_names(least, leaf)

    def check_names(self, least=1.0, leaf="leaf_work"):
        run = self.run_of()
        self.remove_originals(run)
        self.check_jit_named(run, least)
        self.assertGreater(self.share(self.stacks_of(run), leaf), 0.4)

    def node(self, *options):
        self.write("work.js", NODE)
        node = need("node")
        self.check(node, *uninlined(node), *options, "work.js")

    def test_node_map(self):
        self.node("--perf-basic-prof")

    def test_node_native_stack(self):
        self.node("--perf-basic-prof", NATIVE)

    def test_node_both(self):
        """The dump's tail is missing; the map has it."""
        self.node("--perf-prof", "--perf-basic-prof", NATIVE)

    def python(self, option, *names):
        """With the first of these that is there."""
        for name in names:
            places = [shutil.which(name)] + glob.glob(os.path.expanduser(
                "~/.pyenv/versions/*/bin/" + name))
            for place in places:
                if place and "shims" not in place:
                    self.write("work.py", PYTHON)
                    self.check(place, "-X", option, "work.py")
                    return
        self.skipTest("no %s here" % " or ".join(names))

    def test_python_map(self):
        self.python("perf", "python3.12")

    def test_later_python_map(self):
        self.python("perf", "python3.13", "python3.14")

    def test_later_python_dump(self):
        self.python("perf_jit", "python3.13", "python3.14")

    def erlang(self, *options):
        self.write("work.erl", ERLANG)
        subprocess.run([need("erlc"), "work.erl"], cwd=self.dir, check=True,
                       stdin=subprocess.DEVNULL)
        live = self.start(need("erl"), *options, "-noshell", "-s", "work",
                          "main")
        live.burn(1.5)
        live.end(signal.SIGKILL)
        logs = {name: self.run_of(name).header["exe"]
                for name in self.log_names()}
        log = [name for name, exe in logs.items() if "beam" in exe][0]
        run = self.run_of(log)
        self.remove_originals(run)
        self.check_jit_named(run, 1, log)
        self.assertGreater(self.leaf_share(self.stacks_of(run, log),
                                           "work:leaf_work/2"), 0.3)
        return run

    def test_erlang(self):
        """Map, dump, and frame pointers: stacks are whole."""
        run = self.erlang("+JPperf", "true")
        whole = sum(sample[4] in ("root", "fiber") for sample in run.samples)
        self.assertGreater(whole, 0.6 * len(run.samples))

    def test_erlang_map(self):
        self.erlang("+JPperf", "map")

    def test_erlang_dump(self):
        self.erlang("+JPperf", "dump")

    def java(self):
        """A JVM that works."""
        self.write("Work.java", JAVA)
        subprocess.run([need("javac"), "Work.java"], cwd=self.dir, check=True)
        live = self.start(need("java"), *OPTIONS, "-XX:+DumpPerfMapAtExit",
                          "-cp", ".", "Work", "600")
        self.assertEqual(live.line(), "ready")
        live.burn(1.5)
        return live

    def test_java(self):
        """It writes its map at its end alone; the report says what to do."""
        self.java().end(signal.SIGKILL)
        run = self.run_of()
        numbers = self.summary(run.header["exe"], "jprof-log")
        self.assertGreater(int(numbers["jit_frames"]), 50)
        self.assertEqual(numbers["jit_named"], "0")
        shown = self.report(run.header["exe"], "--format=text", "jprof-log")
        self.assertRegex(shown, r"frames have no name: .*jprof pause")

    def test_java_asked_before(self):
        live = self.java()
        for command in ("pause", "start"):
            done = subprocess.run(
                [os.path.join(BUILD, "jprof"), command, str(live.pid)],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, timeout=HANG_SECONDS, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, b""))
            live.wait_until(lambda: self.run_of().events("pause"),
                            "the pause")
        live.burn(0.5)
        live.end(signal.SIGKILL)
        self.check_names(0.9, "leafWork")

    def wasm(self, how):
        self.write("work.py", WASM.replace("+ 0.7", "+ 700"))
        self.check(engine_s_python(), "work.py", how, "plain")

    def test_wasmtime_map(self):
        self.wasm("perfmap")

    def test_wasmtime_dump(self):
        self.wasm("jitdump")


if __name__ == "__main__":
    unittest.main()
