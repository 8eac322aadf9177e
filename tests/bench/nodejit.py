#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What V8's ways to describe its code cost a program, and what they are worth:
the table of doc/jit.md.

Runs in: tests.  Usage: B=build tests/bench/nodejit.py [TURNS]; each figure is
the median of so many turns, the ways by turns.  Costs are CPU time of the
options alone, without the library, as ratios to no option.
"""
import collections
import glob
import os
import resource
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "run"))
import generations      # noqa: E402  (needs the path above)
from jprun import LIBRARY   # noqa: E402

NATIVE = "--interpreted-frames-native-stack"
WAYS = collections.OrderedDict((
    ("none", []),
    ("map", ["--perf-basic-prof"]),
    ("map, native stack", ["--perf-basic-prof", NATIVE]),
    ("map of functions, native stack",
     ["--perf-basic-prof-only-functions", NATIVE]),
    ("dump, native stack", ["--perf-prof", NATIVE]),
    ("dump and map, native stack",
     ["--perf-prof", "--perf-basic-prof", NATIVE]),
))

# Templates are compiled, run for a while and dropped; most of the time goes
# into code that stays.
SERVER = """'use strict';
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
function render(make, rows) {
  let text = '';
  for (const row of rows) text += make(row);
  return text.length;
}
let sum = 0;
const rows = Array.from({ length: 200 }, (_, i) => ({ a: i, b: 'x' + i }));
for (let turn = 0; turn < 600; turn++) {
  const make = new Function('row', 'return "<td>" + row.a + ' +
                            `${turn} + "</td><td>" + row.b + "</td>";`);
  for (let i = 0; i < 12; i++) sum += render(make, rows);
  sum += fib(18);
  JSON.parse(JSON.stringify(rows));
}
console.log(sum > 0);
"""


def cpu_of(argv, folder, env=None):
    """(CPU seconds, bytes of JIT files) of a run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(argv, cwd=folder, env=env,
                               stdout=subprocess.DEVNULL)
    if process.wait() != 0:
        raise SystemExit("%s failed" % argv)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    size = 0
    for path in ["/tmp/perf-%d.map" % process.pid] + glob.glob(
            folder + "/jit-*.dump") + glob.glob(folder + "/isolate*"):
        if os.path.exists(path):
            size += os.path.getsize(path)
            os.unlink(path)
    return (after.ru_utime + after.ru_stime - before.ru_utime -
            before.ru_stime, size)


def judge(options, folder):
    """Of the named time, the wrong share; of all, the named share."""
    env = dict(os.environ, LD_PRELOAD=LIBRARY,
               JPROF_FLAGS="JP_START JP_PERIOD=0.004")
    cpu_of(["node", "--expose-gc", *options, generations.PROGRAM, "4", "eval",
            "list"], folder, env)
    weights, _ = generations.judge(os.path.join(folder, "jprof-log"),
                                   generations.read_list(folder + "/list"))
    named = weights["right"] + weights["wrong"]
    return (weights["wrong"] / max(1, named),
            named / max(1, weights["all"]))


def main(turns):
    start = {way: [] for way in WAYS}
    work, disk = {way: [] for way in WAYS}, {way: [] for way in WAYS}
    for _ in range(turns):
        for way, options in WAYS.items():
            with tempfile.TemporaryDirectory() as folder:
                start[way].append(cpu_of(["node", *options, "-e", "0"],
                                         folder)[0])
                script = os.path.join(folder, "server.js")
                with open(script, "w", encoding="ascii") as out:
                    out.write(SERVER)
                cpu, size = cpu_of(["node", *options, script], folder)
                work[way].append(cpu)
                disk[way].append(size / cpu * 60 / 1e6)
    print("| options | start-up | a server's work | MB a minute | wrong names |"
          " time that has its function's name |")
    print("| --- | --- | --- | --- | --- | --- |")
    for way, options in WAYS.items():
        with tempfile.TemporaryDirectory() as folder:
            wrong, named = judge(options, folder)
        print("| %s | %.2fx | %.2fx | %.0f | %.2f%% | %.0f%% |" % (
            way, statistics.median(start[way]) /
            statistics.median(start["none"]), statistics.median(work[way]) /
            statistics.median(work["none"]), statistics.median(disk[way]),
            100 * wrong, 100 * named), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
