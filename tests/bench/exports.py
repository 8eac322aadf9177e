#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures exports to other tools' formats beside --format=collapsed: CPU
time, memory, what a writer has beyond the model (by gdb, which stops the report
where it begins and ends), and size, plain and gzipped.

Runs in: `make bench-exports`.
    tests/bench/exports.py BUILD [--runs=N] [--seconds=N] [--only=WORDS]
Prints a table; the bars stand in it.  Formats are measured by turns."""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

import model
import page

MILLION = 1000000
STACKS = {"stacks": 200000, "low": 5, "high": 40}
LOGS = (
    ("10^6 samples, 200,000 stacks that part early, 1 thread",
     {"samples": MILLION, **STACKS, "spread": 5}),
    ("10^6 samples, 200,000 stacks that part late, 4 threads",
     {"samples": MILLION, **STACKS, "spread": 20, "threads": 4}),
    ("10^6 samples, 200,000 stacks, 200 threads: the page's log",
     page.KEYS),
    ("10^6 samples, 200,000 stacks, 1 thread: the page's log in one thread",
     {**page.KEYS, "threads": 1}),
    ("10^7 samples, 200,000 stacks that part early, 1 thread",
     {"samples": 10 * MILLION, **STACKS, "spread": 5}),
    ("10^7 samples, 200,000 stacks, 200 threads: the page's log of ten times "
     "the samples", {**page.KEYS, "samples": 10 * MILLION}),
)
FORMATS = ("collapsed", "pprof", "speedscope", "firefox", "callgrind",
           "perf-script")
# MB of output for the first log: as it is, gzipped.
BARS = {"pprof": (6, None), "firefox": (20, 5)}
TIMES = 3       # the CPU time of collapsed
BEYOND = 64     # MiB of memory beside the model


def zipped(report, form, folder, log):
    """MB of the format gzipped by the report itself."""
    path = os.path.join(folder, "out.gz")
    os.spawnv(os.P_WAIT, report, [report, "--format=" + form, "-o", path,
                                  log])
    size = os.path.getsize(path) / 1e6
    os.unlink(path)
    return size


def beyond(report, form, log):
    """MiB that a writer has beside the model, as text: the most resident
    memory from its begin to its end, less what is there when it begins."""
    if not shutil.which("gdb"):
        return "-"
    process = "/proc/%d/' % gdb.selected_inferior().pid"
    show = "python print(open('" + process + " + 'status').read())"
    done = subprocess.run(
        ["gdb", "-nx", "-batch", "-ex", "set confirm off", "-ex",
         "break jr_write_" + form.replace("-", "_"), "-ex", "run", "-ex", show,
         # From here on VmHWM is anew (proc(5), clear_refs).
         "-ex", "python open('" + process + " + 'clear_refs', 'w').write('5')",
         "-ex", "finish", "-ex", show, "-ex", "kill", "--args", report,
         "--format=" + form, "-o", "/dev/null", log],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, check=False)
    most = re.findall(rb"VmHWM:\s+(\d+) kB", done.stdout)
    there = re.findall(rb"VmRSS:\s+(\d+) kB", done.stdout)
    return ("%.0f" % ((int(most[1]) - int(there[0])) / 1024)
            if len(most) == 2 else "-")


def run_log(arguments, title, keys):
    report = os.path.join(os.path.abspath(arguments.build), "jprof-report")
    folder = tempfile.mkdtemp(prefix="jprof-exports-")
    try:
        log = model.make(arguments.build, folder, keys,
                         page.JIT if "zipf" in keys else 0, False)[0]
        costs = {form: [] for form in FORMATS}
        for _ in range(arguments.runs):
            for form in FORMATS:
                costs[form].append(model.measure(
                    [report, "--format=" + form, log], folder,
                    arguments.seconds))
        base = model.median(costs["collapsed"]).cpu
        for form in FORMATS:
            cost = model.median(costs[form])
            most = BARS.get(form, (None, None))
            size = ("%.2f" % zipped(report, form, folder, log)
                    if form in ("firefox", "speedscope") else "-")
            print("| %s | %s | %.2f | %.1f | %.0f | %s | %.1f | %s | %s |" % (
                title, form, cost.cpu, cost.cpu / base, cost.own / 1e6,
                beyond(report, form, log), cost.output / 1e6, size,
                "-" if form == "collapsed" else "%d times, %d MiB%s%s" % (
                    TIMES, BEYOND, ", %d MB" % most[0] if most[0] else "",
                    ", %d gzipped" % most[1] if most[1] else "")),
                  flush=True)
    finally:
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--only", default="", help="how a log's title begins")
    arguments = parser.parse_args()
    print("| log | format | CPU s | times collapsed | own MB | beyond the "
          "model MiB | MB | gzipped MB | bar |")
    print("| --- " * 9 + "|")
    for title, keys in LOGS:
        if title.startswith(arguments.only):
            run_log(arguments, title, keys)


if __name__ == "__main__":
    sys.exit(main())
