#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that compute in beats, beside what they measure of themselves: many
beats, rates and ways to run, on an idle and on a busy machine.

Runs in: tests.  Usage: B=build tests/rhythm/rhythm.py [--beats N] [--seed N]
[--seconds N] [--hz N,N] [--busy N] [--clock NAME].  A line a run, with the
largest error of a share in points and in standard errors; the exit status is 1
where one is beyond 3 of both or samples are missing.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tests", "run")]
import rhythms      # noqa: E402  (needs the path above)
from jprun import LIBRARY, REPORT, program, decode  # noqa: E402

NOBODY = 65534
WAYS = {
    "cpu": "JP_START",
    "wall": "JP_START JP_REALTIME",
}


def as_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def stacks_of(folder, way):
    """[([root, ..., leaf], periods)] of the log in the folder."""
    argv = [REPORT, "--format=collapsed", "--no-inline"]
    if way == "wall":
        argv.append("--event=running")
    text = subprocess.run(argv + [program("beats"), "jprof-log"], cwd=folder,
                          stdout=subprocess.PIPE, check=True).stdout.decode()
    lines = [line.rsplit(" ", 1) for line in text.splitlines()]
    return [(stack.split(";"), int(weight)) for stack, weight in lines]


def measure(beat, way, hertz, args, nobody):
    """Runs a beat.  Returns (words of what is wrong, a line)."""
    folder = tempfile.mkdtemp(prefix="jprof-rhythm-")
    os.chmod(folder, 0o777)
    env = dict(os.environ, LD_PRELOAD=LIBRARY, JPROF_FLAGS="%s JP_PERIOD=%g %s"
               % (WAYS[way], 1 / hertz, args.flags))
    try:
        out = subprocess.run(
            beat.argv(args.seconds), env=env, cwd=folder, check=True,
            stdout=subprocess.PIPE,
            preexec_fn=as_nobody if nobody else None).stdout.decode()
        truth = rhythms.truth_of(out)
        stacks = stacks_of(folder, way)
        run = decode.load(os.path.join(folder, "jprof-log"))[0]
    finally:
        shutil.rmtree(folder)
    found, periods = rhythms.shares(stacks, truth)
    whole = sum(sample[2] for sample in run.samples) * hertz / 1e9
    samples = periods * len(run.samples) / max(whole, 1)
    points = max(abs(true - got) for true, got in found.values())
    errors = max(abs(true - got) / max(true * (1 - true) / max(periods, 1),
                                       1e-9) ** 0.5
                 for true, got in found.values())
    due = sum(truth.values()) * hertz
    words = rhythms.wrong(stacks, truth,
                          samples if way == "cpu" else due, 1 / hertz,
                          beat.micros / 1e6)
    return words, "%-62s %5g Hz %-4s %-6s %5.1f points %4.1f errors %6d of %6d" \
        % (beat, hertz, way, "nobody" if nobody else "", 100 * points, errors,
           samples, due)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--beats", type=int, default=26)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--hz", default="250,1000,4000")
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("--ways", default="cpu,wall")
    parser.add_argument("--flags", default="")
    args = parser.parse_args()
    seed = args.seed if args.seed is not None else os.getpid()
    print("seed %d, load of %d processes" % (seed, args.busy))
    others = [subprocess.Popen([program("busy"), "100000"],
                               stdout=subprocess.DEVNULL)
              for _ in range(args.busy)]
    bad = runs = 0
    try:
        for i, beat in enumerate(rhythms.drawn(args.beats, seed)):
            for way in args.ways.split(","):
                for hertz in map(float, args.hz.split(",")):
                    if way == "wall" and hertz > 1000:
                        continue
                    nobody = rhythms.is_root() and i % 2 == 1
                    words, line = measure(beat, way, hertz, args, nobody)
                    runs += 1
                    bad += bool(words)
                    print(line, "WRONG: " + "; ".join(words) if words else "",
                          flush=True)
    finally:
        for other in others:
            other.kill()
            other.wait()
    print("%d runs, %d beyond the bars" % (runs, bad))
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
