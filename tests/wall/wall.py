#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Real time against the truth that programs log of themselves, in full: rates
of 100, 250 and 1000 Hz, a quiet machine and four busy processes beside.

Runs in: tests.  Usage: B=build tests/wall/wall.py [--seconds N] [--hz N,N]
[--quiet|--busy] [--only TEXT].  A line a phase; those beyond the bars are
marked, and make the exit status 1.  The bars: a phase's time within 5% of
truth or 3 standard errors, which must be under 15%; running time within 3% of
the function's CPU time or 20 ms, what jprof's handler used of that being left
out.
"""
import argparse
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
CASES = ([["ticker", a, b] for a, b in ((".3", ".7"), (".1", ".9"),
                                        (".05", ".95"))] +
         [["mix", cycle] for cycle in ("0.02", "0.1", "1", "5", "7.3")] +
         [["pool", "3"]])


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
        return [phase for phases in threads.values() for phase in phases
                if phase.wall > 0.01 * seconds]
    finally:
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--hz", default="100,250,1000")
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    bad = total = 0
    for busy in [False] * (not args.busy) + [True] * (not args.quiet):
        hogs = [subprocess.Popen([BUSY, "100000"], stdout=subprocess.DEVNULL)
                for _ in range(4 if busy else 0)]
        try:
            for case in CASES:
                if args.only not in " ".join(case):
                    continue
                for hz in map(int, args.hz.split(",")):
                    for phase in run(case, hz, args.seconds):
                        wrong = beyond(phase)
                        bad += bool(wrong)
                        total += 1
                        print("%-5s %4d Hz %-15s %s %s" % (
                            "busy" if busy else "quiet", hz, " ".join(case),
                            phase, "BEYOND: " + ", ".join(wrong)
                            if wrong else ""), flush=True)
        finally:
            for hog in hogs:
                hog.kill()
                hog.wait()
    print("%d phases, %d beyond the bars" % (total, bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
