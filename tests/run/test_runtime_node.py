# SPDX-License-Identifier: MIT
"""Node: its perf map and its jitdump, workers, WebAssembly, and code that
comes and goes.  Runs in: tests."""
import collections
import os
import re
import unittest

from jprun import ROOT, need
from runtimes import RuntimeCase, dump_loads, uninlined, whole_files

WORK = """'use strict';
const fs = require('fs');
function leafWork(n) {
  let x = 1;
  for (let i = 0; i < n; i++)
    x = (x * 1103515245 + 12345) % 2147483648;
  return x;
}
function middleStep(n) {
  let s = 0;
  for (let i = 0; i < 50; i++)
    s += leafWork(n);
  return s;
}
function outerLoop(seconds) {
  const end = process.cpuUsage().user + seconds * 1e6;
  let s = 0;
  while (process.cpuUsage().user < end)
    s += middleStep(20000);
  return s > 0;
}
"""
# Lines of leafWork's loop in WORK.
LOOP_LINES = range(3, 9)

WORKERS = WORK + """
const { Worker, isMainThread } = require('worker_threads');
if (isMainThread) {
  const workers = [new Worker(__filename), new Worker(__filename)];
  for (const worker of workers)
    worker.on('exit', (code) => console.log('exit', code));
}
for (let turns = 0; turns < 60; turns++)
  middleStep(20000);
"""

WASM = WORK + """
const bytes = fs.readFileSync(process.argv[2]);
const m = new WebAssembly.Instance(new WebAssembly.Module(bytes));
function runWasm(n) { return m.exports.outer(n); }
const end = process.cpuUsage().user + 1e6;
let same = true;
const first = runWasm(20);
while (process.cpuUsage().user < end)
  same &&= runWasm(20) === first;
console.log(same);
"""

# Each inner function's name says who calls it, and code is collected.
CHURN = """'use strict';
let turns = 0, sum = 0;
const end = process.cpuUsage().user + 2e6;
while (process.cpuUsage().user < end) {
  const k = turns++;
  const make = new Function(`
    function inner_${k}_x(n) {
      let z = ${k};
      for (let i = 0; i < n; i++) z = (z * 31 + i ^ ${k}) | 0;
      return z;
    }
    function outer_${k}_x(n) {
      let z = 0;
      for (let i = 0; i < 20; i++) z = (z + inner_${k}_x(n)) | 0;
      return z;
    }
    return outer_${k}_x;`);
  const outer = make();
  for (let i = 0; i < 60; i++)
    sum = (sum + outer(300)) | 0;
  if (k % 20 === 19)
    gc();
}
console.log(turns > 20);
"""


class NodeCase(RuntimeCase):
    def node(self, text, out, *options, argument=()):
        """Runs node on a program; returns its run.  Functions stay what they
        are in the source."""
        self.write("work.js", text)
        node = need("node")
        self.unharmed(node, *uninlined(node), *options, "work.js", *argument,
                      out=out)
        return self.main_run()

    def work(self, *options):
        return self.node(WORK + "console.log(outerLoop(0.8));\n", "true\n",
                         *options)

    def check_work(self, run, *callers):
        """leafWork is hot, by its name; its callers stay interpreted."""
        self.check_roots(run)
        self.remove_originals(run)
        stacks = self.stacks_of(run)
        self.assertGreater(self.share(stacks, *callers, "leafWork"), 0.5)
        return stacks


class PerfMap(NodeCase):
    def check_map(self, *options):
        run = self.work(*options)
        stacks = self.check_work(run)
        self.assertGreater(self.leaf_share(stacks, "leafWork"), 0.4)
        grown = [int(keys["size"]) for _, keys in run.events("perfmap")]
        self.assertEqual(grown, sorted(grown))
        # The code is there as well, though V8 gave its memory back.
        self.assertTrue(os.path.getsize(self.saved(run, "code")))
        return run

    def test_basic_prof(self):
        self.check_map("--perf-basic-prof")

    def test_only_functions(self):
        self.check_map("--perf-basic-prof-only-functions")

    def test_interpreted_frames(self):
        """The interpreter's frames too have their function's names."""
        run = self.work("--perf-basic-prof",
                        "--interpreted-frames-native-stack")
        self.check_work(run, "outerLoop", "middleStep")
        self.check_jit_named(run)


class Dump(NodeCase):
    def test_perf_prof(self):
        run = self.work("--perf-prof")
        loads = dump_loads(self.saved(run, "jitdump"))
        self.assertTrue([load for load in loads if "leafWork" in load.name])
        stacks = self.check_work(run)
        self.assertGreater(self.leaf_share(stacks, "leafWork"), 0.4)
        self.check_jit_named(run, 0.995)
        text = self.report(run.header["exe"], "--annotate=leafWork",
                           "jprof-log")
        lines = {int(number) for number in
                 re.findall(r"work\.js:(\d+)", text)}
        self.assertTrue(lines & set(LOOP_LINES), text)

    def test_removed_at_once(self):
        """No name in the file system is needed."""
        run = self.work("--perf-prof", "--perf-prof-delete-file")
        self.assertEqual(run.events("jitdump")[-1][1]["deleted"], "1")
        self.check_work(run)

    def test_both(self):
        run = self.work("--perf-prof", "--perf-basic-prof")
        self.assertTrue(run.events("perfmap"))
        self.assertTrue(run.events("jitdump"))
        self.check_work(run)
        self.check_jit_named(run, 0.995)


class Threads(NodeCase):
    def check_workers(self, option):
        whole_files(need("node"))
        run = self.node(WORKERS, "exit 0\nexit 0\n", option)
        self.check_roots(run)
        self.remove_originals(run)
        threads = collections.Counter(sample[1] for sample in run.samples)
        busy = [tid for tid, count in threads.items() if count > 10]
        self.assertGreaterEqual(len(busy), 3, threads)
        for tid in busy:
            stacks = self.collapsed(run.header["exe"], "--only-thread",
                                    str(tid), "jprof-log")
            self.assertGreater(self.share(stacks, "middleStep"), 0, tid)

    def test_map(self):
        self.check_workers("--perf-basic-prof")

    def test_dump(self):
        self.check_workers("--perf-prof")


class WebAssembly(NodeCase):
    SAMPLE = os.path.join(ROOT, "tests", "data", "jit", "node", "fib.wasm")

    def check_wasm(self, option):
        run = self.node(WASM, "true\n", option, argument=(self.SAMPLE,))
        self.check_roots(run)
        self.remove_originals(run)
        stacks = self.stacks_of(run)
        self.assertGreater(self.share(stacks, "runWasm", "outer", "fib"), 0.3)

    def test_map(self):
        self.check_wasm("--perf-basic-prof")

    def test_dump(self):
        self.check_wasm("--perf-prof")


class Churn(NodeCase):
    """Code is collected and its addresses are used again."""

    def wrong_and_right(self, stacks):
        """Weights of pairs of frames whose names do not and do match."""
        counts = collections.Counter()
        for stack, weight in stacks:
            for caller, callee in zip(stack, stack[1:]):
                inner = re.search(r"inner_(\d+)_x", callee)
                outer = re.search(r"outer_(\d+)_x", caller)
                if inner and outer:
                    counts[inner[1] == outer[1]] += weight
        return counts[False], counts[True]

    def test_dump(self):
        run = self.node(CHURN, "true\n", "--expose-gc", "--perf-prof")
        loads = dump_loads(self.saved(run, "jitdump"))
        spans = sorted((load.start, load.start + load.size) for load in loads)
        again = sum(one[1] > two[0] for one, two in zip(spans, spans[1:]))
        self.assertGreater(again, 20, "addresses were not used again")
        self.remove_originals(run)
        wrong, right = self.wrong_and_right(self.stacks_of(run))
        self.assertGreater(right, 15)
        self.assertEqual(wrong, 0)
        self.check_jit_named(run, 0.99)

    def test_map(self):
        """A line has the time of the sample that found the file grown."""
        run = self.node(CHURN, "true\n", "--expose-gc",
                        "--perf-basic-prof-only-functions")
        self.remove_originals(run)
        wrong, right = self.wrong_and_right(self.stacks_of(run))
        self.assertGreater(right, 15)
        self.assertLessEqual(wrong, 0.02 * right)


if __name__ == "__main__":
    unittest.main()
