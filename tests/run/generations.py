# SPDX-License-Identifier: MIT
"""What the tests of programs/generations.js share: names of a profile against
the list of times that the program wrote.  Runs in: tests."""
import collections
import glob
import os
import re
import subprocess

from jprun import BUILD, HANG_SECONDS, ROOT

PROGRAM = os.path.join(ROOT, "tests", "programs", "generations.js")
TIMELINE = os.path.join(BUILD, "tests", "tools", "timeline")
LINK = re.compile(r"J(\??)([abc])_(\d+)\b")

Sample = collections.namedtuple("Sample",
                                "time tid weight reason depth frames")


def samples(log):
    """The samples of a log with the names of their frames, root first; each
    is N, J or u for native, JIT or unnamed code, and the name."""
    text = subprocess.run([TIMELINE, log], stdout=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, check=True,
                          timeout=HANG_SECONDS).stdout
    found = []
    for line in text.decode("utf-8", "replace").splitlines():
        fields = line.split(" ", 5)
        found.append(Sample(*map(int, fields[:5]),
                            fields[5].split(";") if fields[5] else []))
    return found


def read_list(path):
    """{number: (start, end)} of what the program wrote."""
    times = {}
    for name in glob.glob(path + "*"):
        with open(name, encoding="ascii") as source:
            for line in source:
                number, start, end = map(int, line.split())
                times[number] = start, end
    return times


def judge(log, times):
    """A Counter of weights: right, wrong (a name whose function was not there
    then, or in a chain of others), bare (JIT code without a name); and some
    of the wrong stacks."""
    weights, wrong = collections.Counter(), []
    for sample in samples(log):
        links = [LINK.match(frame) for frame in sample.frames]
        links = [(link[2], int(link[3])) for link in links if link]
        jit = [frame for frame in sample.frames if frame[0] == "J"]
        weights["all"] += sample.weight
        weights["jit"] += sample.weight if jit else 0
        if any(frame.startswith("u[jit]") for frame in sample.frames):
            weights["bare"] += sample.weight
        if not links:
            continue
        numbers = {number for _, number in links}
        start, end = times.get(links[0][1], (0, 0))
        letters = [letter for letter, _ in links]
        if (len(numbers) == 1 and start <= sample.time <= end and
                letters == sorted(set(letters))):
            weights["right"] += sample.weight
        else:
            weights["wrong"] += sample.weight
            wrong.append((sample.time, links, times.get(links[0][1])))
    return weights, wrong
