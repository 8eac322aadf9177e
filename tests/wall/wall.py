#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Real time against the truth that programs log of themselves, in full: rates
of 100, 250 and 1000 Hz, a quiet machine and four busy processes beside.

Runs in: tests.  Usage: B=build tests/wall/wall.py [--seconds N] [--hz N,N]
[--quiet|--busy] [--only TEXT] [--alone | --groups N].  A line a phase; those beyond the
bars are marked, and make the exit status 1.  The bars: a phase's time within
5% of truth or 3 standard errors, which must be under 15%; running time within
3% of the function's CPU time or 20 ms, what jprof's handler used of that being
left out; the work of a pool, all workers together, within 3% of its wall and
of its CPU time.  (At 100 Hz chance alone has one worker's work of 17 s off by
2%, as a standard error.)

The programs hardly compute: the rates of one run side by side, and the tickers
all at once, unless --alone asks for one after the other.  --groups runs more
kinds of programs at once, for a machine that is busy anyway.
"""
import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "tools"))
import truth        # noqa: E402  (needs the path above)

BUILD = os.path.join(ROOT, os.environ.get("B", "build"))
RHYTHMS = os.path.join(BUILD, "tests", "programs", "rhythms")
BUSY = os.path.join(BUILD, "tests", "programs", "busy")
# Seconds of CPU that a sample costs the thread at most; its own clock counts
# them, and the profile of a waiting thread does not.
OURS = 1e-4
POOL = "all do_work"
TICKERS = [["ticker", a, b] for a, b in ((".3", ".7"), (".1", ".9"),
                                         (".05", ".95"))]
# What may run side by side.
GROUPS = ([TICKERS + [["mix", "7.3"]]] +
          [[["mix", cycle]] for cycle in ("0.02", "5", "0.1", "1")] +
          [[["pool", "3"]]])


def together(threads):
    """The work of a pool's workers as one phase."""
    whole = truth.Phase(POOL, 0, 0)
    for phase in sum(threads.values(), []):
        if phase.function == "do_work":
            whole.wall += phase.wall
            whole.cpu += phase.cpu
            whole.got.update(phase.got)
            whole.variance += phase.variance
            whole.samples += phase.samples
    return whole


def beyond(phase):
    """The bars that a phase is beyond."""
    found = []
    off, error = abs(phase.seen() - phase.wall), phase.error()
    if off > 0.05 * phase.wall and (off > 3 * error or
                                    3 * error > 0.15 * phase.wall):
        found.append("time")
    over = phase.got["running"] - phase.cpu
    if over < 0:
        over = max(-over - OURS * phase.samples, 0)
    if over > 0.03 * phase.cpu and over > 0.02:
        found.append("running")
    if phase.function == POOL and off > 0.03 * phase.wall:
        found.append("work")
    return found


def run(case, hz, seconds):
    """The phases of one run; those of under 1% of it say nothing."""
    folder = tempfile.mkdtemp(prefix="jprof-wall-")
    try:
        env = dict(os.environ,
                   LD_PRELOAD=os.path.join(BUILD, "libjprof.so"),
                   JPROF_FLAGS="JP_START JP_REALTIME JP_PERIOD=%g" % (1 / hz))
        out = subprocess.run([RHYTHMS, case[0], str(seconds)] + case[1:],
                             cwd=folder, env=env, stdout=subprocess.PIPE,
                             check=True).stdout.decode()
        threads = truth.compare(os.path.join(folder, "jprof-log"), RHYTHMS, out)
        phases = sum(threads.values(), [])
        if case[0] == "pool":
            phases.append(together(threads))
        return [phase for phase in phases if phase.wall > 0.01 * seconds]
    finally:
        shutil.rmtree(folder)


def show(where, case, hz, phases):
    """Prints them; returns how many are beyond a bar."""
    bad = 0
    for phase in phases:
        wrong = beyond(phase)
        bad += bool(wrong)
        print("%-5s %4d Hz %-15s %s %4.1f%% %s" % (
            where, hz, " ".join(case), phase, 300 * phase.error() / phase.wall,
            "BEYOND: " + ", ".join(wrong) if wrong else ""), flush=True)
    return bad


def table(where, groups, seconds, workers):
    """The runs of all groups, one group after the other.  Returns how many
    phases there were, and how many beyond the bars."""
    bad = total = 0
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for group in groups:
            futures = [(case, hz, pool.submit(run, case, hz, seconds))
                       for case, hz in group]
            for case, hz, future in futures:
                phases = future.result()
                bad += show(where, case, hz, phases)
                total += len(phases)
    return total, bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--hz", default="100,250,1000")
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--groups", type=int, default=1)
    args = parser.parse_args()
    rates = [int(hz) for hz in args.hz.split(",")]
    groups = [[(case, hz) for case in group for hz in rates
               if args.only in " ".join(case)] for group in GROUPS]
    groups = [sum(groups[i:i + args.groups], [])
              for i in range(0, len(groups), args.groups)]
    bad = total = 0
    for busy in [False] * (not args.busy) + [True] * (not args.quiet):
        hogs = [subprocess.Popen([BUSY, "100000"], stdout=subprocess.DEVNULL)
                for _ in range(4 if busy else 0)]
        try:
            done = table("busy" if busy else "quiet", groups, args.seconds,
                         1 if args.alone else max(map(len, groups)))
            total += done[0]
            bad += done[1]
        finally:
            for hog in hogs:
                hog.kill()
                hog.wait()
    print("%d phases, %d beyond the bars" % (total, bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
