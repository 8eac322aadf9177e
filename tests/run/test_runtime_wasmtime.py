# SPDX-License-Identifier: MIT
"""Wasmtime, the engine of the Python package and its command: its perf map and
its jitdump, with and without debug information.  Runs in: tests."""
import glob
import os
import subprocess
import unittest

from jprun import ROOT, lacking
from runtimes import RuntimeCase, dump_loads

PROGRAM = """
import sys, time, wasmtime
config = wasmtime.Config()
config.profiler = sys.argv[1]
config.debug_info = sys.argv[2] == "debug"
engine = wasmtime.Engine(config)
module = wasmtime.Module(engine, '''(module
  (func $leaf_work (param i32) (result i32) (local i32)
    (loop $again
      (local.set 1 (i32.add (i32.mul (local.get 1) (i32.const 1103515245))
                            (i32.const 12345)))
      (br_if $again (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
    (local.get 1))
  (func $middle_step (param i32) (result i32)
    (i32.add (call $leaf_work (local.get 0)) (i32.const 1)))
  (func $outer_loop (export "run") (param i32) (result i32)
    (i32.add (call $middle_step (local.get 0)) (i32.const 1))))''')
store = wasmtime.Store(engine)
run = wasmtime.Instance(store, module, []).exports(store)["run"]
end = time.process_time() + 0.7
while time.process_time() < end:
    result = run(store, 5000000)
# A trap is a signal that the engine handles itself.
trap = wasmtime.Module(engine, '(module (func (export "run") unreachable))')
try:
    wasmtime.Instance(store, trap, []).exports(store)["run"](store)
except wasmtime.Trap as error:
    print("trap", "unreachable" in str(error))
print(5000000, isinstance(result, int))
"""


def engine_s_python():
    """The python of the virtual environment, which is made when it is not
    there; or the test is skipped."""
    done = subprocess.run([os.path.join(ROOT, "scripts", "wasmtime-venv")],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise lacking("Wasmtime")
    return done.stdout.decode().strip()


MODULE = """(module
  (func $leaf_work (param i32) (result i32) (local i32)
    (loop $again
      (local.set 1 (i32.add (i32.mul (local.get 1) (i32.const 1103515245))
                            (i32.const 12345)))
      (br_if $again (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
    (local.get 1))
  (func $middle_step (param i32) (result i32)
    (i32.add (call $leaf_work (local.get 0)) (i32.const 1)))
  (func $outer_loop (export "_start") (local i32)
    (local.set 0 (i32.const 120))
    (loop $more
      (drop (call $middle_step (i32.const 5000000)))
      (br_if $more (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))))
"""


# The example of Wasmtime's page on perf (docs/examples-profiling-perf.md in its
# repository), with the symbol that rustc gives fib::fib.
FIB = """(module
  (func $_ZN3fib3fib17h5420b1dd2a7c4e6fE (param i32) (result i32)
    (if (result i32) (i32.lt_u (local.get 0) (i32.const 2))
      (then (local.get 0))
      (else (i32.add
        (call $_ZN3fib3fib17h5420b1dd2a7c4e6fE
          (i32.sub (local.get 0) (i32.const 1)))
        (call $_ZN3fib3fib17h5420b1dd2a7c4e6fE
          (i32.sub (local.get 0) (i32.const 2)))))))
  (func (export "_start")
    (drop (call $_ZN3fib3fib17h5420b1dd2a7c4e6fE (i32.const 42)))))
"""


def engine_s_command():
    """The path of Wasmtime's command in that environment."""
    found = glob.glob(os.path.join(
        os.path.dirname(os.path.dirname(engine_s_python())),
        "lib/python*/site-packages/wasmtime_cli/wasmtime"))
    if not found:
        raise lacking("command of Wasmtime's")
    return found[0]


class Command(RuntimeCase):
    """It gives its code's memory back before it ends."""

    def check(self, *options):
        self.write("work.wat", MODULE)
        self.unharmed(engine_s_command(), "run", *options, "work.wat", out="")
        run = self.main_run()
        self.remove_originals(run)
        stacks = self.stacks_of(run)
        self.assertGreater(self.share(
            stacks, "outer_loop", "middle_step", "leaf_work"), 0.8)
        numbers = self.check_jit_named(run)
        self.assertEqual(numbers["jit_named"], numbers["jit_frames"])

    def test_perf_map(self):
        self.check("--profile=perfmap")

    def test_jitdump_with_debug_information(self):
        self.check("--profile=jitdump", "-D", "debug-info=y")

    def test_documented_example(self):
        """fib(42) has 99% of the samples in fib::fib, as the page shows; the
        engine compiles and starts in the others."""
        self.write("fib.wat", FIB)
        self.unharmed(engine_s_command(), "run", "--profile=jitdump",
                      "fib.wat", out="")
        run = self.main_run()
        self.remove_originals(run)
        stacks = self.stacks_of(run)
        self.assertGreater(self.leaf_share(
            stacks, "fib::fib::h5420b1dd2a7c4e6f"), 0.97)


class Wasmtime(RuntimeCase):
    def profile(self, profiler, debug):
        self.write("work.py", PROGRAM)
        self.unharmed(engine_s_python(), "work.py", profiler, debug,
                      out="trap True\n5000000 True\n")
        run = self.main_run()
        self.check_roots(run)
        return run

    def check_names(self, run):
        self.remove_originals(run)
        stacks = self.stacks_of(run)
        self.assertGreater(self.leaf_share(stacks, "leaf_work"), 0.4)
        self.assertGreater(self.share(
            stacks, "main", "outer_loop", "middle_step", "leaf_work"), 0.4)
        self.check_jit_named(run)

    def test_perf_map(self):
        run = self.profile("perfmap", "plain")
        with open(self.saved(run, "perfmap"), encoding="utf-8") as source:
            self.assertIn("leaf_work", source.read())
        self.check_names(run)

    def check_dump(self, debug):
        run = self.profile("jitdump", debug)
        names = [load.name for load in
                 dump_loads(self.saved(run, "jitdump"))]
        self.assertTrue([name for name in names if "leaf_work" in name], names)
        self.check_names(run)

    def test_jitdump(self):
        self.check_dump("plain")

    def test_jitdump_with_debug_information(self):
        self.check_dump("debug")


if __name__ == "__main__":
    unittest.main()
