#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The torture: a million loads and moves of code at addresses that are used
again and again, a million samples of it; every name must be of the code that
was there.

Runs in: tests, and by `make bench-torture`.  Usage:
    B=build tests/bench/torture.py [TURNS [REPORT...]]
REPORT: other builds of jprof-report, to be measured by turns with this one's.
"""
import collections
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(os.path.dirname(os.path.dirname(HERE)),
                     os.environ.get("B", "build"))
MILLION = 1000000
# Names that there are, frames of a stack: every piece a name of its own; few
# names; deep stacks.
FORMS = collections.OrderedDict((
    ("a name for each", (1, MILLION)),
    ("few names", (1, 20000)),
    ("stacks", (8, 20000)),
))


def make(build, folder, events, samples, depth, names, seed=1):
    """Makes the profile in `folder`; returns the path of its log."""
    subprocess.run([os.path.join(build, "tests", "tools", "torture"), folder,
                    str(events), str(samples), str(depth), str(names),
                    str(seed)], check=True)
    return os.path.join(folder, "jprof-log")


def tally(lines):
    """A Counter of stacks from `STACK NUMBER` lines."""
    sums = collections.Counter()
    for line in lines:
        stack, number = line.rsplit(" ", 1)
        sums[stack] += int(number)
    return sums


def compare(report, log):
    """(samples, how many of them have a stack that was not there)."""
    with open(os.path.join(os.path.dirname(log), "truth"),
              encoding="ascii") as source:
        truth = tally(source)
    with subprocess.Popen([report, "--format=collapsed", "app", log],
                          stdout=subprocess.PIPE, text=True) as child:
        found = tally(child.stdout)
    if child.returncode != 0:
        raise RuntimeError("%s ended with %d" % (report, child.returncode))
    return sum(truth.values()), sum((truth - found).values())


def cost(report, log, form="summary"):
    """(CPU seconds, bytes of memory) of a report."""
    with open(os.devnull, "wb") as null:
        child = subprocess.Popen([report, "--format=" + form, "app", log],
                                 stdout=null)
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status != 0:
        raise RuntimeError("%s ended with status %d" % (report, status))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main(argv):
    turns = int(argv[1]) if len(argv) > 1 else 3
    reports = [os.path.join(BUILD, "jprof-report")] + argv[2:]
    failed = 0
    for name, (depth, names) in FORMS.items():
        with tempfile.TemporaryDirectory() as folder:
            log = make(BUILD, folder, MILLION, MILLION, depth, names)
            samples, wrong = compare(reports[0], log)
            failed |= wrong > 0
            print("%s: %d of %d samples wrong" % (name, wrong, samples))
            costs = {report: [] for report in reports}
            for _ in range(turns):
                for report in reports:
                    costs[report].append(cost(report, log))
            for report in reports:
                print("  %6.2f s of CPU, %4.0f MB  %s" % (
                    statistics.median(item[0] for item in costs[report]),
                    statistics.median(item[1] for item in costs[report]) / 1e6,
                    report))
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv))
