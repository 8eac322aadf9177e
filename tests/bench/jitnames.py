#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of JavaScript functions that are made and dropped, in every way that
matters: what node is asked to write, eval or new Function, with the garbage
collector called or not, alone, in workers, in a cluster, in CPU time and real
time.

Runs in: tests, by hand.  Usage: B=build tests/bench/jitnames.py [SECONDS]; each
of the 120 runs takes so long.  Prints a line for each mode: samples with names
and how many of them are wrong, by weight; ends with 1 if more than 0.1% are.
"""
import collections
import itertools
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "run"))
import generations      # noqa: E402  (needs the path above)
from jprun import BUILD, LIBRARY   # noqa: E402

NATIVE = "--interpreted-frames-native-stack"
MODES = collections.OrderedDict((
    ("map", ["--perf-basic-prof", NATIVE]),
    ("map of functions", ["--perf-basic-prof-only-functions", NATIVE]),
    ("dump", ["--perf-prof", NATIVE]),
    ("dump and map", ["--perf-prof", "--perf-basic-prof", NATIVE]),
    ("the launcher's default", None),
))
EDGE = 0.001    # names that changed while a sample was taken


def run(folder, mode, seconds, way, collect, how, wall):
    """A run of programs/generations.js in `folder`."""
    program = [*["--expose-gc"] * collect, generations.PROGRAM,
               seconds, way, os.path.join(folder, "list"), *how]
    env = dict(os.environ)
    if MODES[mode] is None:
        argv = [os.path.join(BUILD, "jprof"), *["--wall"] * wall, "-o",
                folder, "--", "node", *program]
    else:
        argv = ["node", *MODES[mode], *program]
        env.update(LD_PRELOAD=LIBRARY, JPROF_FLAGS="JP_START JP_PERIOD=0.004" +
                   (" JP_REALTIME" if wall else ""))
    subprocess.run(argv, cwd=folder, env=env, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def is_log(path):
    if not os.path.isfile(path) or os.path.islink(path):
        return False
    with open(path, "rb") as source:
        return source.read(8) == b"JPROFLOG"


def judge(folder):
    """The weights of all logs of the folder; takes what node left in /tmp
    away."""
    times = generations.read_list(os.path.join(folder, "list"))
    total = collections.Counter()
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if is_log(path):
            total.update(generations.judge(path, times)[0])
        left = re.search(r"perf-\d+\.map$", name)
        if left and os.path.exists("/tmp/" + left[0]):
            os.unlink("/tmp/" + left[0])
    return total


def main(seconds):
    failed = 0
    for mode in MODES:
        total, worst = collections.Counter(), (0, "")
        for way, collect, how, wall in itertools.product(
                ("eval", "func"), (True, False),
                ((), ("workers",), ("cluster",)), (False, True)):
            with tempfile.TemporaryDirectory() as folder:
                run(folder, mode, seconds, way, collect, how, wall)
                weights = judge(folder)
            total.update(weights)
            share = weights["wrong"] / max(1, weights["right"])
            worst = max(worst, (share, " ".join(
                [way, *["gc"] * collect, *how, *["wall"] * wall])))
        share = total["wrong"] / max(1, total["right"])
        failed |= share > EDGE or total["right"] == 0
        print("%s: %.1f s with names, %.3f%% wrong; the worst run %.3f%% %s" % (
            mode, total["right"] / 1e9, 100 * share, 100 * worst[0], worst[1]),
              flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "1.5"))
