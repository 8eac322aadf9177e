# SPDX-License-Identifier: MIT
"""What the program `rhythms` says of its threads, beside what a profile says.

Runs in: tests.  A function's time in a thread is the weight of the samples
whose stack holds it; its standard error comes from the samples alone: each
time that a thread's next sample is inside where the one before was outside, or
the other way round, the end of a stratum is unsure by its length.
"""
import collections
import re
import subprocess

import decode


class Phase:
    """A function in a thread: seconds by the program and by the profile."""

    def __init__(self, function, wall, cpu):
        self.function, self.wall, self.cpu = function, wall, cpu
        self.got = collections.Counter()    # event -> seconds
        self.variance = 0.0
        self.samples = 0

    def seen(self):
        return sum(self.got.values())

    def error(self):
        return self.variance ** 0.5

    def __str__(self):
        return ("%-11s wall %8.3f got %8.3f %+6.2f%% (se %.3f)  cpu %7.3f "
                "running %7.3f ready %7.3f" % (
                    self.function, self.wall, self.seen(),
                    100 * (self.seen() / self.wall - 1) if self.wall else 0,
                    self.error(), self.cpu, self.got["running"],
                    self.got["ready"]))


def functions_of(path):
    """[(first address, end, name)] of an ELF file."""
    out = subprocess.run(["nm", "-S", path], stdout=subprocess.PIPE,
                         check=True).stdout.decode()
    rows = [line.split() for line in out.splitlines()]
    return [(int(row[0], 16), int(row[0], 16) + int(row[1], 16), row[3])
            for row in rows if len(row) == 4 and row[2] in "tT"]


def names(run, path):
    """A function from an address to the name of the program's function."""
    functions = functions_of(path)
    spans = [(int(keys["start"], 16), int(keys["end"], 16),
              int(keys.get("bias", "0"), 16))
             for _, keys in run.events("module") if keys["path"] == path]
    known = {}

    def find(address):
        for start, end, bias in spans:
            if start <= address < end:
                for first, last, name in functions:
                    if first <= address - bias < last:
                        return name
        return None

    def cached(address):
        if address not in known:
            known[address] = find(address)
        return known[address]
    return cached


def totals(out):
    """{function: seconds of all threads together}."""
    found = collections.Counter()
    for function, wall in re.findall(r"(?m)^truth \d+ (\w+) ([\d.]+) ", out):
        found[function] += float(wall)
    return found


def compare(log, path, out):
    """{tid: [Phase]} of a log of `rhythms` at `path` that printed `out`."""
    run = decode.load(log)[0]
    name_of = names(run, path)
    threads = {}
    for tid, function, wall, cpu in re.findall(
            r"(?m)^truth (\d+) (\w+) ([\d.]+) ([\d.]+)$", out):
        threads.setdefault(int(tid), []).append(
            Phase(function, float(wall), float(cpu)))
    last = {}           # tid -> (names, weight in s, time in s)
    for when, tid, weight, event, _, stack in sorted(
            run.samples, key=lambda sample: sample[0]):
        held = frozenset(name_of(address - (i > 0))
                         for i, address in enumerate(stack))
        weight /= 1e9
        when /= 1e9
        before, length, then = last.get(tid, (held, 0, when))
        unsure = min(max(weight, length), when - then)
        for phase in threads.get(tid, []):
            inside = phase.function in held
            if inside:
                phase.got[event] += weight
                phase.samples += 1
            if inside != (phase.function in before):
                phase.variance += unsure ** 2 * 2 / 3
        last[tid] = held, weight, when
    return threads
