# SPDX-License-Identifier: MIT
"""What the program `rhythms` says of its threads, beside what a profile says.

Runs in: tests.  A function's time in a thread is the weight of the samples
whose stack holds it; its standard error comes from the samples alone: each
time that a thread's next sample is inside where the one before was outside, or
the other way round, the end of a stratum is unsure by its length.  After a
thread's last sample its last stratum is unsure, or what was given it unseen.
"""
import collections
import os
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
        self.stay = Stay()

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
                         stderr=subprocess.DEVNULL, check=True).stdout.decode()
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


CALL_BYTES = 4      # of the longest instruction that makes a system call


class Calls:
    """The functions of stacks, without what a hook of jprof's calls to do its
    work.  A wait is found at its system call or behind it, and in one call of a
    function or another."""

    def __init__(self, run):
        self.run, self.finders = run, {}
        self.own = [(int(keys["start"], 16), int(keys["end"], 16))
                    for _, keys in run.events("module")
                    if keys["path"].endswith("/libjprof.so")]

    def function(self, address):
        """Its name; of a library without symbols, the address."""
        for _, keys in self.run.events("module"):
            if int(keys["start"], 16) <= address < int(keys["end"], 16):
                path = keys["path"]
                if path not in self.finders:
                    self.finders[path] = names(self.run, path) \
                        if os.path.exists(path) else lambda _: None
                return self.finders[path](address) or address
        return address

    def path(self, stack):
        functions = [self.function(address - (i > 0))
                     for i, address in enumerate(stack)]
        inner = [i for i, address in enumerate(stack)
                 if self.is_own(address - (i > 0)) and
                 not str(functions[i]).startswith("jp_hook_")]
        return functions[max(inner, default=-1) + 1:]

    def is_own(self, address):
        return any(low <= address < high for low, high in self.own)

    @staticmethod
    def same(left, right):
        return right is not None and len(left) == len(right) and all(
            a == b or (isinstance(a, int) and isinstance(b, int) and
                       abs(a - b) <= CALL_BYTES)
            for a, b in zip(left, right))


class Stay:
    """A thread's samples that wait with one path of functions, one after the
    other: by how much their weights are more than the time between them."""
    GAP = 24

    def __init__(self):
        self.drift, self.most, self.when, self.again = 0, 0, None, 0

    def add(self, when, weight):
        if self.when is not None and (when - self.when) / self.GAP <= weight:
            self.drift += weight - (when - self.when)
        self.again = self.again + weight if when == self.when else 0
        self.when, self.most = when, max(self.most, weight)

    def end(self):
        """What it adds to the variance, in s squared."""
        drift, most = self.drift - self.again, self.most
        self.__init__()
        return (drift / 1e9) ** 2 if abs(drift) > most else 0


END_NS = 25 * 10 ** 7     # so long before its process a thread ends with it


class End:
    """The last sample of a thread so far, and until when its time is known."""

    def __init__(self, period):
        self.period, self.held = period, None
        self.when, self.weight, self.until, self.again = 0, 0, 0, 0
        self.functions = None

    def add(self, held, when, weight, event):
        if self.held is not None and when == self.when:
            self.again += weight
        else:
            self.again = 0
        until = self.until + weight if self.held is not None else 0
        self.until = max(until, when)
        self.held, self.when, self.weight = held, when, weight
        self.event = event

    def unsure(self, end):
        """What is unsure of it, in ns, where the process ended at `end`."""
        if self.again:
            ends_before = self.until + max(2 * self.period, END_NS) < end
            return self.again if ends_before else 0
        proven = (self.event == "blocked" and
                  self.weight > 2 * self.period >= self.until - self.when)
        return 0 if proven else self.weight


def compare(log, path, out):
    """{tid: [Phase]} of a log of `rhythms` at `path` that printed `out`."""
    run = decode.load(log)[0]
    name_of, calls = names(run, path), Calls(run)
    threads = {}
    for tid, function, wall, cpu in re.findall(
            r"(?m)^truth (\d+) (\w+) ([\d.]+) ([\d.]+)$", out):
        threads.setdefault(int(tid), []).append(
            Phase(function, float(wall), float(cpu)))
    last = {}           # tid -> End
    for when, tid, weight, event, _, stack in sorted(
            run.samples, key=lambda sample: sample[0]):
        held = frozenset(name_of(address - (i > 0))
                         for i, address in enumerate(stack))
        functions = calls.path(stack)
        end = last.setdefault(tid, End(run.header["period_ns"]))
        before = held if end.held is None else end.held
        unsure = min(max(weight, end.weight), when - end.when) / 1e9
        for phase in threads.get(tid, []):
            inside = phase.function in held
            if inside:
                phase.got[event] += weight / 1e9
                phase.samples += 1
            if event != "blocked" or not calls.same(functions, end.functions):
                phase.variance += phase.stay.end()
            if inside:
                phase.stay.add(when, weight)
            if inside != (phase.function in before):
                phase.variance += unsure ** 2 * 2 / 3
        end.add(held, when, weight, event)
        end.functions = functions
    ended = max([sample[0] for sample in run.samples] +
                [when for when, _ in run.events("exit")])
    for tid, end in last.items():
        for phase in threads.get(tid, []):
            phase.variance += phase.stay.end()
            if phase.function in end.held:
                phase.variance += (end.unsure(ended) / 1e9) ** 2 / 6
    return threads
