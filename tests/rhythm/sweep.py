#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A sweep of rhythms: beats of 10 to 2,000 Hz at eight phases each.  Each share
is within 3 points or 3 standard errors of the truth, and the samples' phases
within the beats' CPU time are uniform by a Kolmogorov-Smirnov test (1% for the
whole sweep; Mytkowicz and others, Evaluating the Accuracy of Java Profilers, PLDI 2010).

Runs in: tests.  Usage: B=build tests/rhythm/sweep.py [--seconds N] [--hz N]
[--rates N,N] [--flags FLAGS].
"""
import argparse
import math
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tests", "run"),
                os.path.join(ROOT, "tests", "rhythm")]
import measured     # noqa: E402  (needs the path above)
import rhythms      # noqa: E402

RATES = "10,25,50,60,100,125,200,250,333,500,1000,1500,2000"
PHASES = 8
SHARE_OF_BEAT = 0.4     # of the time between two beats
MOST_MICROS = 10000


def distance_of(found):
    """The Kolmogorov-Smirnov distance of the samples from the beat's CPU time,
    at the functions' ends: the beat is one function behind the other."""
    distance = true_sum = got_sum = 0
    for true, got in found.values():
        true_sum, got_sum = true_sum + true, got_sum + got
        distance = max(distance, abs(true_sum - got_sum))
    return distance


def critical(count, tests):
    """The distance that `tests` samples of a uniform distribution, of `count`
    each, exceed in one sweep of a hundred (Smirnov's limit)."""
    level = 0.01 / tests
    return math.sqrt(-math.log(level / 2) / 2) / math.sqrt(max(count, 1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--hz", type=float, default=1000)
    parser.add_argument("--rates", default=RATES)
    parser.add_argument("--flags", default="")
    args = parser.parse_args()
    rates = [int(rate) for rate in args.rates.split(",")]
    bad = 0
    for rate in rates:
        micros = min(MOST_MICROS, SHARE_OF_BEAT * 1e6 / rate)
        beat = rhythms.Beat(rate, micros, "clock_nanosleep", 1, 8)
        worst, distances = 0, []
        for phase in range(PHASES):
            with measured.Run(beat.argv(args.seconds) + [str(phase)], args.hz,
                              args.flags) as run:
                truth = rhythms.truth_of(run.out)
                stacks = run.stacks()
            found, periods = rhythms.shares(stacks, truth)
            words = rhythms.wrong(stacks, truth, periods, 1 / args.hz)
            worst = max(worst, max(abs(true - got)
                                   for true, got in found.values()))
            distance = distance_of(found)
            limit = critical(periods, PHASES * len(rates))
            distances.append(distance / limit)
            if distance > limit:
                words.append("phase %d: distance %.3f of %.3f, %d samples" % (
                    phase, distance, limit, periods))
            if words:
                print("  WRONG: " + "; ".join(words))
                bad += 1
        print("%5d Hz, %6d us: worst share %4.1f points, largest distance "
              "%.2f of the critical one" % (rate, micros, 100 * worst,
                                            max(distances)), flush=True)
    print("%d runs, %d beyond the bars" % (len(rates) * PHASES, bad))
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
