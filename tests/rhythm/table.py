#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of doc/bench.md: what profilers find of programs that compute in
beats, side by side.  A profiler that is not there has no column.

Runs in: tests.  Usage: B=build tests/rhythm/table.py [--seconds N] [--runs N]
[--async LIBRARY] (async-profiler's, for a Java program in beats).
"""
import argparse
import ctypes.util
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "tests", "rhythm")
sys.path[:0] = [os.path.join(ROOT, "tests", "run"), HERE]
import measured     # noqa: E402  (needs the path above)
import rhythms      # noqa: E402
from jprun import REPORT, program   # noqa: E402

HERTZ = 250
BEATS = ((250, 700), (50, 2000), (60, 4000), (100, 3000), (125, 1300),
         (100, 1500), (30, 8000))


def share(stacks):
    """The first function's, of first and second, in percent."""
    sums = {"first": 0, "second": 0}
    for stack, weight in stacks:
        for frame in stack:
            name = re.split(r"[.(;]", frame.split(" ")[0])[-1] \
                if frame not in sums else frame
            if name in sums:
                sums[name] += weight
                break
    whole = sum(sums.values())
    return 100 * sums["first"] / whole if whole else float("nan")


def by_jprof(beat, seconds, flags="", *options):
    with measured.Run(beat.argv(seconds), HERTZ, flags) as run:
        truth = rhythms.truth_of(run.out)
        return 100 * truth["first"] / sum(truth.values()), share(
            run.stacks(*options))


def read(argv, folder):
    text = subprocess.run(argv, cwd=folder, check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode()
    lines = [line.rsplit(" ", 1) for line in text.splitlines()]
    return [(stack.split(";"), int(weight)) for stack, weight in lines]


def by_perf(beat, seconds):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(HERTZ), "-o",
             "data", *beat.argv(seconds)], cwd=folder,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if done.returncode != 0:
            return float("nan")
        text = subprocess.run(
            ["perf", "script", "-i", "data", "-F", "ip,sym"], cwd=folder,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
    return share([(line.split()[-1:], 1) for line in text.splitlines()])


def by_gperftools(beat, seconds):
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, CPUPROFILE="data", CPUPROFILE_FREQUENCY=str(
            HERTZ), LD_PRELOAD=ctypes.util.find_library("profiler"))
        done = subprocess.run(beat.argv(seconds), cwd=folder, env=env,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
        if done.returncode != 0:
            return float("nan")
        return share(read([REPORT, "--format=collapsed", "data"], folder))


def of_java(library, hertz, seconds, folder):
    """(truth, async-profiler's share by ctimer)."""
    agent = "-agentpath:%s=start,event=ctimer,interval=4ms,collapsed,file=out" \
        % library
    out = subprocess.run(["java", agent, "-cp", folder, "Peers", str(seconds),
                          str(hertz)], cwd=folder, check=True,
                         stdout=subprocess.PIPE).stdout.decode()
    first, second = (float(ms) for ms in re.findall(
        r"(?m)^(?:first|second) ([\d.]+)$", out))
    return 100 * first / (first + second), share(
        read(["cat", "out"], folder))


def show(name, columns):
    print("| %s | %s |" % (name, " | ".join(columns)), flush=True)


def native(args):
    peers = {}
    if shutil.which("perf"):
        peers["perf cpu-clock"] = by_perf
    if ctypes.util.find_library("profiler"):
        peers["gperftools"] = by_gperftools
    show("beat", ["true", "jprof", "--wall", "JP_CLOCK=timer", *peers])
    show("---", ["---"] * (4 + len(peers)))
    for hertz, micros in BEATS:
        beat = rhythms.Beat(hertz, micros, "nanosleep")
        rows = []
        for _ in range(args.runs):
            true, got = by_jprof(beat, args.seconds)
            rows.append([
                true, got,
                by_jprof(beat, args.seconds, "JP_REALTIME",
                         "--event=running")[1],
                by_jprof(beat, args.seconds, "JP_CLOCK=timer")[1],
                *(peer(beat, args.seconds) for peer in peers.values())])
        medians = [statistics.median(column) for column in zip(*rows)]
        show("%d Hz, %g ms" % (hertz, micros / 1000),
             ["%.0f" % median for median in medians])


def java(args):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["javac", "-d", folder,
                        os.path.join(HERE, "Peers.java")], check=True)
        for hertz in (0, 50, 60, 100):
            rows = [of_java(args.library, hertz, args.seconds * 4, folder)
                    for _ in range(args.runs)]
            true, got = (statistics.median(column) for column in zip(*rows))
            print("Java, %d Hz: true %.0f, async-profiler's ctimer %.0f" % (
                hertz, true, got), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--async", dest="library")
    args = parser.parse_args()
    native(args)
    if args.library:
        java(args)


if __name__ == "__main__":
    main()
