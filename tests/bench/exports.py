#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures exports to other tools' formats beside --format=collapsed: CPU time,
memory and size, plain and gzipped.

Runs in: `make bench-exports`.
    tests/bench/exports.py BUILD [--runs=N] [--seconds=N] [--only=WORDS]
Prints a table; the bars stand in it.  Formats are measured by turns."""
import argparse
import os
import shutil
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
    ("10^7 samples, 200,000 stacks that part early, 1 thread",
     {"samples": 10 * MILLION, **STACKS, "spread": 5}),
)
FORMATS = ("collapsed", "pprof", "speedscope", "firefox", "callgrind",
           "perf-script")
# MB of output for the first log: as it is, gzipped.
BARS = {"pprof": (6, None), "firefox": (20, 5)}
TIMES = 3       # the CPU time of collapsed


def zipped(report, form, folder, log):
    """MB of the format gzipped by the report itself."""
    path = os.path.join(folder, "out.gz")
    os.spawnv(os.P_WAIT, report, [report, "--format=" + form, "-o", path,
                                  log])
    size = os.path.getsize(path) / 1e6
    os.unlink(path)
    return size


def run_log(arguments, title, keys):
    report = os.path.join(os.path.abspath(arguments.build), "jprof-report")
    folder = tempfile.mkdtemp(prefix="jprof-exports-")
    try:
        log = model.make(arguments.build, folder, keys,
                         page.JIT if keys is page.KEYS else 0, False)[0]
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
            size = ("%.1f" % zipped(report, form, folder, log)
                    if form in ("firefox", "speedscope") else "-")
            print("| %s | %s | %.2f | %.1f | %.0f | %.1f | %s | %s |" % (
                title, form, cost.cpu, cost.cpu / base, cost.own / 1e6,
                cost.output / 1e6, size,
                "-" if form == "collapsed" else "%d times%s%s" % (
                    TIMES, ", %d MB" % most[0] if most[0] else "",
                    ", %d gzipped" % most[1] if most[1] else "")),
                  flush=True)
    finally:
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--only", default="", help="words of a log's title")
    arguments = parser.parse_args()
    print("| log | format | CPU s | times collapsed | own MB | MB | gzipped MB "
          "| bar |")
    print("| --- " * 8 + "|")
    for title, keys in LOGS:
        if arguments.only in title:
            run_log(arguments, title, keys)


if __name__ == "__main__":
    sys.exit(main())
