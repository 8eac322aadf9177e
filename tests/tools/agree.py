#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what decode.py, written from doc/FORMAT.md alone, reads from a log
with what jprof-report makes of it: each thread's weight in each event and
stack, to the nanosecond, and the sums of the summary.

Runs in: tests.  As a module: agree(log, report) -> what differs, in lines.  As
a program: agree.py REPORT LOG...

Names of code are no part of this.  So that a report shows addresses, and
nanoseconds, it is made of a copy of the log with a period of 1 ns and with a
map that knows one range of JIT code, in which each address has its own name.
"""
import collections
import os
import re
import struct
import subprocess
import sys
import tempfile

import decode

SECONDS = 300       # a hung reader, not a measure
MAP, NAMES = "agree-map", "agree.names"
NATIVE = "<" if sys.byteorder == "little" else ">"
SKIPPED = 127       # a type of record that there is not
LEFT_OUT = "[... frames left out ...]"
TITLE = re.compile(r"(?:.*\(pid (\d+)\): )?Thread (\d+)")


def looked_up(stack):
    """The addresses that a stack's frames are looked up at."""
    return [frame - 1 if index and frame else frame
            for index, frame in enumerate(stack)]


def script_of(address):
    """The number of a script's function, of frames that are one; or None."""
    return (address >> 24 & 0xFFFFFF if address >> 48 == decode.SCRIPT
            else None)


def code_of(address):
    """The code address, also of an interpreter that runs a script."""
    return (address & (1 << 48) - 1 if address >> 48 == decode.RUNNER
            else address)


def name_of(address):
    """The name that the copy's map gives an address."""
    script = script_of(address)
    if script is None:
        return "a%x" % code_of(address)
    return "s%x" % script if script else "[script]"


def path_of(gap, stack):
    """A stack as the copy's report has it, from the root on."""
    names = [name_of(address) for address in looked_up(stack)]
    if 0 < gap < len(names):
        names.insert(gap, LEFT_OUT)
    return ";".join(names[::-1]) or "[no stack]"


def copy_log(log, runs, folder):
    """The log with other periods and maps, and without its TEXT records."""
    with open(log, "rb") as source:
        data = bytearray(source.read())
    for run in runs:
        struct.pack_into(run.order + "Q", data, run.offset + 64, 1)
        struct.pack_into("256s", data, run.offset + 664, MAP.encode())
        struct.pack_into(run.order + "Q", data, run.offset + 4072, 0)
        for at in run.text_at:
            data[at] = SKIPPED
    path = os.path.join(folder, "agree-log")
    with open(path, "wb") as target:
        target.write(data)
    return path


def write_map(runs, folder):
    """The map of all runs, and the names of their addresses."""
    with open(os.path.join(folder, NAMES), "w", encoding="ascii") as names:
        addresses = {address for run in runs for sample in run.samples
                     for address in looked_up(sample[5])}
        for address in sorted({code_of(address) for address in addresses
                               if script_of(address) is None}):
            names.write("%x 1 a%x\n" % (address, address))
        size = names.tell()
    scripts = {script_of(address) for address in addresses} - {0, None}
    with open(os.path.join(folder, MAP), "w", encoding="ascii") as target:
        for pid, start in sorted({(run.header["pid"],
                                   run.header["start_ticks"])
                                  for run in runs}):
            target.write(
                "1 jprof-map version=1 pid=%d start=%d\n"
                "1 anon start=0 end=ffffffffffffffff\n"
                "1 perfmap path=/agree dev=0:1 inode=1 size=%d saved=%s\n"
                % (pid, start, size, NAMES))
            for script in sorted(scripts):
                target.write("1 script id=%d name=s%x\n" % (script, script))


def output_of(report, form, log, *options):
    """What a report says; one of a damaged log is partial (1)."""
    done = subprocess.run([report, "--format=" + form, *options, "app", log],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=SECONDS, check=False,
                          text=True, errors="replace")
    if done.returncode not in (0, 1):
        raise RuntimeError("%s ended with %d: %s" % (
            report, done.returncode, done.stderr))
    return done.stdout.splitlines()


def reported(report, log, event, only_pid):
    """{(pid, tid, path): ns} of the copy's report; only_pid: of the only
    process, which it does not name."""
    sums = collections.Counter()
    for line in output_of(report, "collapsed", log, "-t", "--event=" + event,
                          "--interpreter-frames"):
        title, path, weight = re.fullmatch(r"([^;]*);(.*) (\d+)", line).groups()
        pid, tid = TITLE.match(title).groups()
        sums[int(pid or only_pid), int(tid), path] += int(weight)
    return sums


def differences(what, ours, theirs):
    """Lines for the keys that two Counters have otherwise."""
    return ["%s %s: %d ns in the log, %d ns in the report" % (
        what, key, ours[key], theirs[key])
            for key in sorted(ours.keys() | theirs.keys())
            if ours[key] != theirs[key]]


def compare_stacks(report, log, runs):
    """What differs by thread, event and stack."""
    sums = collections.defaultdict(collections.Counter)
    for (pid, tid, event, gap, stack), (_, weight) in decode.totals(
            runs).items():
        if weight:
            sums[event][pid, tid, path_of(gap, stack)] += weight
    lines = []
    for event in decode.EVENTS:
        if any(sample[3] == event for run in runs for sample in run.samples):
            lines += differences(event, sums[event], reported(
                report, log, event, runs[0].header["pid"]))
    return lines


def expected(runs):
    """{key of the summary: value} for those that depend on samples alone."""
    samples = [sample for run in runs for sample in run.samples]

    def seconds(*events):
        return "%.6f" % (sum(sample[2] for sample in samples
                             if sample[3] in events) / 1e9)

    values = {
        "samples": len(samples),
        "weight": sum(sample[2] for sample in samples),
        "cpu_s": seconds("cpu", "running"),
        "lost": sum(run.lost() for run in runs),
        "truncated": sum(sample[4] == "depth" for sample in samples),
        "incomplete": sum(sample[4] not in ("root", "fiber")
                          for sample in samples),
        "processes": len(runs),
    }
    if any(sample[3] in ("blocked", "ready") for sample in samples):
        values.update(blocked_s=seconds("blocked"), ready_s=seconds("ready"))
    return {key: str(value) for key, value in values.items()}


def compare_summary(report, log, runs):
    """What differs in the sums, of all and of each process."""
    lines = output_of(report, "summary", log)
    found = dict(line.split(": ", 1) for line in lines if ": " in line)
    wrong = ["%s: %s in the log, %s in the report" % (key, value,
                                                      found.get(key))
             for key, value in expected(runs).items()
             if found.get(key) != value]
    theirs = sorted(
        tuple(map(int, match)) for match in re.findall(
            r"(?m)^process: pid=(\d+) samples=(\d+) weight=(\d+)",
            "\n".join(lines)))
    ours = sorted((run.header["pid"], len(run.samples),
                   sum(sample[2] for sample in run.samples)) for run in runs)
    if ours != theirs:
        wrong.append("processes: %s in the log, %s in the report" % (
            ours, theirs))
    return wrong


def agree(log, report, runs=None):
    """What differs between the log and its report, in lines; none: nothing,
    as where the log is of a machine of the other byte order, of which there is
    no report.  runs: those of the log, when they were read already."""
    runs = decode.load(log) if runs is None else runs
    if not runs or any(run.order != NATIVE for run in runs):
        return []
    with tempfile.TemporaryDirectory(prefix="jprof-agree-") as folder:
        write_map(runs, folder)
        copy = copy_log(log, runs, folder)
        try:
            return (compare_summary(report, copy, runs) +
                    compare_stacks(report, copy, runs))
        except RuntimeError as error:
            return [str(error)]


def main(argv):
    if len(argv) < 3:
        print(__doc__, file=sys.stderr)
        return 64
    wrong = 0
    for log in argv[2:]:
        lines = agree(log, argv[1])
        wrong |= bool(lines)
        for line in lines:
            print("%s: %s" % (log, line))
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv))
