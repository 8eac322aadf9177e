#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Profiles whose truth is known by construction.

slowdown: one function of five programs is made slower by 25, 50 and 100%; the
change of its share is right within 1 point or 3 standard errors (Burchell and
Marr, OOPSLA 2025, doi 10.1145/3763180).
repeat: 30 runs of a program name the same hottest function, and each run's share
is within 3 standard errors of the program's own measurement.
parallel: equal work by one thread and by eight at once has equal weights within
3% (golang/go#35057 has 9.7 to 1).

Runs in: tests.  Usage: B=build tests/rhythm/oracle.py [--hz N] [--seconds N]
[--flags FLAGS] [slowdown|repeat|parallel]...
"""
import argparse
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tests", "run"),
                os.path.join(ROOT, "tests", "rhythm")]
import measured     # noqa: E402  (needs the path above)
from jprun import program   # noqa: E402

KINDS = ("loop", "memory", "calls", "kernel", "bursts")
PERCENTS = (25, 50, 100)
POINT = 0.01
ERRORS = 3
RUNS = 30
PARALLEL = 0.03


def shares(run, names):
    """({name: share}, periods) of the stacks in which the functions are."""
    sums = dict.fromkeys(names, 0)
    for stack, weight in run.stacks():
        for name in names:
            if name in stack:
                sums[name] += weight
                break
    whole = sum(sums.values())
    return {name: sums[name] / max(whole, 1) for name in names}, whole


def truth_of(out):
    """{function: CPU time in ms} of what the program printed."""
    return {line.split()[0]: float(line.split()[1])
            for line in out.splitlines()}


def error_of(share, periods):
    return (share * (1 - share) / max(periods, 1)) ** 0.5


def slowed_share(args, kind, percent):
    """(share by the program's clock, share by jprof, its standard error)."""
    argv = [program("slowed"), kind, str(percent), str(args.seconds)]
    with measured.Run(argv, args.hz, args.flags) as run:
        truth = truth_of(run.out)
        found, periods = shares(run, ("slowed", "others"))
    true = truth["slowed"] / sum(truth.values())
    return true, found["slowed"], error_of(true, periods)


def slowdown(args):
    bad = 0
    for kind in KINDS:
        true, got, error = slowed_share(args, kind, 0)
        for percent in PERCENTS:
            more_true, more_got, more_error = slowed_share(args, kind, percent)
            change, reported = more_true - true, more_got - got
            both = (error ** 2 + more_error ** 2) ** 0.5
            wrong = abs(change - reported) > max(POINT, ERRORS * both)
            bad += wrong
            print("slowdown %-7s %3d%%: %+5.1f points, reported %+5.1f (3 "
                  "standard errors: %.1f)%s" % (
                      kind, percent, 100 * change, 100 * reported,
                      100 * ERRORS * both, "  WRONG" if wrong else ""),
                  flush=True)
    return bad


def repeat(args):
    bad, hottest, errors = 0, set(), []
    for _ in range(RUNS):
        argv = [program("slowed"), "bursts", "140", str(args.seconds / 2)]
        with measured.Run(argv, args.hz, args.flags) as run:
            truth = truth_of(run.out)
            found, periods = shares(run, ("slowed", "others"))
        true = truth["slowed"] / sum(truth.values())
        hottest.add(max(found, key=found.get))
        errors.append((found["slowed"] - true) / error_of(true, periods))
    bad += len(hottest) != 1 or max(map(abs, errors)) > ERRORS
    print("repeat: %d runs, hottest %s, off by %.1f standard errors at most, "
          "%.2f on average%s" % (RUNS, ", ".join(sorted(hottest)),
                                 max(map(abs, errors)),
                                 sum(errors) / len(errors),
                                 "  WRONG" if bad else ""), flush=True)
    return bad


def parallel(args):
    argv = [program("equal"), str(args.seconds * 2), "8"]
    with measured.Run(argv, args.hz, args.flags) as run:
        truth = truth_of(run.out)
        found, _ = shares(run, ("serial", "parallel"))
    ratio = found["serial"] / max(found["parallel"], 1e-9) / (
        truth["serial"] / truth["parallel"])
    bad = abs(ratio - 1) > PARALLEL
    print("parallel: equal work in one thread and in eight has %.3f to 1%s" % (
        ratio, "  WRONG" if bad else ""), flush=True)
    return bad


CHECKS = {"slowdown": slowdown, "repeat": repeat, "parallel": parallel}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hz", type=float, default=1000)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--flags", default="")
    parser.add_argument("checks", nargs="*", choices=[*CHECKS, []])
    args = parser.parse_args()
    bad = sum(CHECKS[name](args) for name in args.checks or CHECKS)
    print("%d beyond the bars" % bad)
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
