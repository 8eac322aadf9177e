# SPDX-License-Identifier: MIT
"""Programs that compute in beats, beside what they measure of themselves.

Runs in: tests."""
import functools
import os
import random
import re
import subprocess

from jprun import program

FUNCTIONS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh",
             "eighth")
POINTS = 0.03           # what a share may be wrong by at least
ERRORS = 3              # or so many standard errors
LEAST = 0.9             # samples of those that are due
MOST_SECONDS = 8        # of real time that a run takes


class Beat:
    """How a program computes: CPU time of each beat in us, how often a second,
    how it waits between two, in how many threads."""

    def __init__(self, hertz, micros, wait, threads=1, functions=2):
        self.hertz, self.micros, self.wait = hertz, micros, wait
        self.threads, self.functions = threads, functions

    def __str__(self):
        return "%g Hz, %g us, %s, %d threads, %d functions" % (
            self.hertz, self.micros, self.wait, self.threads, self.functions)

    def argv(self, seconds):
        """For so much CPU time of each thread, or a run of MOST_SECONDS."""
        used = self.hertz * self.micros / 1e6
        seconds = min(seconds, MOST_SECONDS * used)
        return [program("beats"), "%g" % seconds, "%g" % self.hertz,
                "%g" % self.micros, self.wait, str(self.threads),
                str(self.functions)]


def drawn(count, seed):
    """Beats of 20 to 1000 Hz with 0.1 to 10 ms of CPU time each, of which a
    thread uses a half at most, and all threads together a CPU."""
    draw = random.Random(seed)
    waits = ("nanosleep", "clock_nanosleep", "poll", "timerfd", "epoll",
             "timedcond", "cond", "sem", "barrier", "mutex", "pipe", "recv",
             "sigwait")
    for i in range(count):
        hertz = 20 * 50 ** draw.random()
        most = min(10000, 500000 / hertz)
        micros = 100 * (most / 100) ** draw.random()
        threads = 8 if hertz * micros * 8 < 1e6 and draw.random() < 0.5 else 1
        yield Beat(round(hertz), round(micros), waits[i % len(waits)], threads,
                   draw.randint(2, 5))


def shares(stacks, truth):
    """{function: (true share, share of the weights)}, and the periods."""
    got = dict.fromkeys(truth, 0)
    for stack, weight in stacks:
        if stack[-1] in got:
            got[stack[-1]] += weight
    whole, periods = sum(truth.values()), sum(got.values())
    return {name: (truth[name] / whole, got[name] / max(periods, 1))
            for name in truth}, periods


def truth_of(out):
    """{function: CPU time in s} of the program's output."""
    return {name: float(ms) / 1e3
            for name, ms in re.findall(r"(?m)^([a-z]+) ([\d.]+)$", out)
            if name in FUNCTIONS}


def allowed(share, periods):
    """How far the share of so many samples may be from the truth."""
    return max(POINTS, ERRORS * (share * (1 - share) / max(periods, 1)) ** 0.5)


@functools.cache
def delay_s():
    """How long after its time a timer's signal finds a computing thread, in the
    median: some 5 us, and 30 us on a busy virtual machine."""
    out = subprocess.run([program("timerdelay")], check=True,
                         stdout=subprocess.PIPE).stdout
    return float(out) / 1e9


def wrong(stacks, truth, samples, period_s, beat_s=1):
    """What is beyond the bars, as words.  samples: of the functions.  beat_s:
    the CPU time of one beat.  The signal's delay moves that part of a beat's
    samples: from a function into the next one, and from the beat's end into
    the wait behind it."""
    moved = min(1, delay_s() / beat_s)
    found, periods = shares(stacks, truth)
    words = ["%s: true %.1f%%, %.1f%% of %d periods" % (
        name, 100 * true, 100 * got, periods)
             for name, (true, got) in found.items()
             if abs(true - got) > allowed(true, periods) +
             moved * true * (1 - true)]
    due = sum(truth.values()) / period_s
    if samples < LEAST * (1 - moved) * due - ERRORS * due ** 0.5:
        words.append("%d samples of %d due" % (samples, due))
    return words


def is_root():
    return os.geteuid() == 0
