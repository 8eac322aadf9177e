# SPDX-License-Identifier: MIT
"""Node programs that make functions and drop them: no sample has the name of a
function that was not there then, whatever node was asked to write.
Runs in: tests."""
import collections
import os
import subprocess
import unittest

import generations
from jprun import BUILD, HANG_SECONDS, ROOT, lacking, need
from runtimes import RuntimeCase, slow, whole_files

LAUNCHER = os.path.join(BUILD, "jprof")
MAP = "--perf-basic-prof"
NATIVE = "--interpreted-frames-native-stack"
DUMP = "--perf-prof"
# Names that changed while a sample was taken; and names for that many at
# least, in ns.
EDGE = 0.001
LEAST = 0.05e9
ROOT_REASON = 0      # include/jp_log.h


class Judged(RuntimeCase):
    def check(self, least=LEAST):
        """Names of all logs of the folder against the lists."""
        times = generations.read_list(self.path("list"))
        total, wrong = collections.Counter(), []
        for name in self.log_names():
            weights, some = generations.judge(self.path(name), times)
            total.update(weights)
            wrong += some
        self.assertGreater(total["right"], least, total)
        self.assertLessEqual(total["wrong"], EDGE * total["right"],
                             (total, wrong[:5]))
        return total


class Asked(Judged):
    """By options to node."""

    def churn(self, *options, way="eval", how=(), wall=False, gc=True):
        flags = "JP_START JP_PERIOD=0.004" + " JP_REALTIME" * wall
        options += ("--expose-gc",) * gc
        done = self.run_program(need("node"), *options,
                                generations.PROGRAM, "1.5", way, "list",
                                *how, flags=flags)
        self.assertEqual((done.status, done.err), (0, ""))
        return self.check()

    def test_map(self):
        self.churn(MAP)

    def test_map_with_native_stack(self):
        self.churn(MAP, NATIVE)

    def test_map_without_gc(self):
        self.churn(MAP, NATIVE, gc=False)

    def test_new_function(self):
        self.churn(MAP, NATIVE, way="func")

    def test_wall(self):
        self.churn(MAP, NATIVE, wall=True)

    def test_map_removed(self):
        """Somebody cleans /tmp: the link beside the log has what comes."""
        live = self.start(need("node"), "--expose-gc", MAP, NATIVE,
                          generations.PROGRAM, "4", "eval", "list",
                          flags="JP_START JP_PERIOD=0.004")
        kept = self.path("jprof-log.perf-%d.map" % live.pid)
        live.wait_until(lambda: os.path.exists(kept), "the perf map")
        os.unlink("/tmp/perf-%d.map" % live.pid)
        done = live.end()
        self.assertEqual((done.status, done.err), (0, ""))
        self.check()

    def test_only_functions(self):
        self.churn("--perf-basic-prof-only-functions", NATIVE)

    def test_dump(self):
        self.churn(DUMP)

    def test_dump_with_native_stack(self):
        self.churn(DUMP, NATIVE)

    def test_both(self):
        self.churn(DUMP, MAP, NATIVE)

    def test_workers(self):
        whole_files(need("node"))
        self.churn(MAP, NATIVE, how=("workers",))

    def test_cluster(self):
        self.churn(MAP, NATIVE, how=("cluster",))


class Frameless(Judged):
    """Builtins of V8 that make no frame have their caller all the same."""

    def check_callers(self, ending, *options):
        done = self.run_program(
            need("node"), MAP, NATIVE, *options, generations.PROGRAM,
            "3", "eval", "list", flags="JP_START JP_PERIOD=0.004")
        self.assertEqual((done.status, done.err), (0, ""))
        self.check()
        known = collections.Counter()
        named = False
        for sample in generations.samples(self.path("jprof-log")):
            named |= any("Builtins_" in frame for frame in sample.frames)
            links = [link[2] for link in
                     map(generations.LINK.match, sample.frames) if link]
            if links and sample.frames[-1].endswith(ending):
                known["c" in links] += 1
        # Debian's are in a library without their names.
        if not named:
            raise lacking("node whose builtins have names")
        self.assertGreater(sum(known.values()), 20)
        self.assertGreater(known[True], 9 * known[False], known)

    def test_baseline(self):
        self.check_callers("_Baseline", "--always-sparkplug", *slow(need("node")))

    def test_bytecode_handlers(self):
        self.check_callers("Handler", "--no-sparkplug", *slow(need("node")))

    def check_chains(self, *options):
        """Of a program that is in c_1 nearly always, called by b_1, stacks
        that say they are complete and have no c_1: the caller of a function
        without a frame is missing."""
        done = self.run_program(
            need("node"), MAP, NATIVE, *options,
            os.path.join(ROOT, "tests", "programs", "operations.js"), "3",
            flags="JP_START JP_PERIOD=0.004")
        self.assertEqual((done.status, done.out, done.err), (0, "done\n", ""))
        known, some = collections.Counter(), []
        for sample in generations.samples(self.path("jprof-log")):
            links = [link[2] for link in
                     map(generations.LINK.match, sample.frames) if link]
            if links and sample.reason == ROOT_REASON:
                known["c" in links] += 1
                some += [sample.frames[-1]] if "c" not in links else []
        self.assertGreater(known[True], 200)
        # The first calls are of functions that are still to be compiled.
        self.assertLess(known[False], 0.02 * known[True] + 2, some)

    def test_baseline_operations(self):
        self.check_chains("--always-sparkplug", *slow(need("node")))

    def test_interpreted_operations(self):
        self.check_chains("--no-sparkplug", *slow(need("node")))

    def test_compiled_operations(self):
        self.check_chains()


class Launched(Judged):
    """What the launcher asks for by itself."""

    def launch(self, *options, how=()):
        done = subprocess.run(
            [LAUNCHER, "-o", "out", *options, "--", need("node"),
             "--expose-gc", generations.PROGRAM, "1.5", "eval",
             self.path("list"), *how],
            cwd=self.dir, env=self.environment(None, None, None),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=HANG_SECONDS, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in os.listdir(self.path("out")):
            os.rename(self.path("out/" + name), self.path(name))
        self.check()

    def test_default(self):
        self.launch()

    def test_default_wall(self):
        self.launch("--wall")

    def test_default_cluster(self):
        self.launch(how=("cluster",))

    def test_jit_dump(self):
        self.launch("--jit=dump")


if __name__ == "__main__":
    unittest.main()
