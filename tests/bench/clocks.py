# SPDX-License-Identifier: MIT
#
# What the clocks capture of what was asked for, and what they cost.
# Runs in: `make bench`, called by bench.py.

import os
import shutil
import statistics
import struct
import subprocess
import sys

RUNS = 3            # medians of these
MEMORY_RUNS = 7
MEMORY_THREADS = 64
WORK = 1500         # million steps, about a second


def numbers(command, env):
    """(CPU seconds, wall seconds, peak KiB) that `spin` prints."""
    done = subprocess.run(command, env=env, text=True, capture_output=True,
                          check=True)
    return tuple(map(float, done.stdout.split()))


def cpu_seconds(threads):
    """In all: each thread has its first sample at its first tick."""
    return max(2, threads / 2)


def taken(bench, log):
    """(samples, their weight in seconds) of a log, by the tests' reader."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(
        __file__)), "..", "tools"))
    import decode
    samples = [s for run in decode.load(log) for s in run.samples]
    header = decode.load(log)[0].header
    return (len(samples), sum(s[2] for s in samples) / 1e9, header["clock"],
            header["counters"][17] / 1e9)


def spin_jprof(bench, environment, threads, hz, more=""):
    log = bench.path("clock-log")
    cpu, _, _ = numbers(
        [bench.tool("spin"), "cpu", str(threads), str(cpu_seconds(threads))],
        environment([f"LD_PRELOAD={bench.library}",
                     bench.flags("clock-log", f"JP_PERIOD={1 / hz:.9f} "
                                 + more)]))
    count, weight, clock, lowered = taken(bench, log)
    return count / (cpu * hz), weight / cpu, clock, lowered / cpu


def spin_gperftools(bench, environment, peer, threads, hz):
    """Its file: 64-bit words, five of a header, then records of a count, a
    number of addresses and these (cpuprofile-fileformat.html); count 0 ends
    it."""
    path = bench.path("clock.prof")
    cpu, _, _ = numbers(
        [bench.tool("spin"), "cpu", str(threads), str(cpu_seconds(threads))],
        environment([f"LD_PRELOAD={peer}", f"CPUPROFILE={path}",
                     f"CPUPROFILE_FREQUENCY={hz}"]))
    with open(path, "rb") as source:
        data = source.read()
    words = struct.unpack("=%dQ" % (len(data) // 8),
                          data[:len(data) // 8 * 8])
    at, count = 2 + words[1], 0
    while words[at] != 0:
        count += words[at]
        at += 2 + words[at + 1]
    return count / (cpu * hz)


def bench_rates(bench, environment, peer):
    """Samples of those asked for, and weight against CPU time."""
    perf_clock = 4
    for threads in (1, 4, 64):
        for hz, bar in ((1000, 0.98), (8192, 0.94)):
            got = [spin_jprof(bench, environment, threads, hz)
                   for _ in range(RUNS)]
            share = statistics.median(g[0] for g in got)
            weight = max((g[1] for g in got), key=lambda w: abs(w - 1))
            text = f"{100 * share:.1f}%, weight {100 * weight:.2f}%"
            # Where signals would take more than a fifth of the time, the
            # rate is lowered: that is what another bar asks for.
            lowered = statistics.median(g[3] for g in got)
            if lowered > 0.1:
                text += f", lowered for {100 * lowered:.0f}% of the time"
            allowed = got[0][2] == perf_clock and lowered <= 0.1
            bench.row(f"captured at {hz} Hz, {threads} threads", text,
                      f">= {100 * bar:.0f}%, 100 +- 2%" if allowed
                      else "weight 100 +- 2%",
                      (share >= bar or not allowed)
                      and abs(weight - 1) <= 0.02)
            if peer and hz == 1000:
                there = statistics.median(
                    spin_gperftools(bench, environment, peer, threads, hz)
                    for _ in range(RUNS))
                bench.row("  the same, gperftools", f"{100 * there:.1f}%")
    for clock in ("timer", "itimer"):
        got = [spin_jprof(bench, environment, 4, 1000, "JP_CLOCK=" + clock)
               for _ in range(RUNS)]
        weight = max((g[1] for g in got), key=lambda w: abs(w - 1))
        bench.row(f"weight, JP_CLOCK={clock}, 4 threads",
                  f"{100 * weight:.2f}%", "100 +- 2%",
                  abs(weight - 1) <= 0.02)


def memory(bench, environment, arguments, more):
    """Peak of the resident memory in bytes, of our own runs or of plain ones:
    they vary by some hundred KiB with where the kernel puts things."""
    return statistics.median(
        numbers([bench.tool("spin"), *arguments], environment(more))[2]
        for _ in range(MEMORY_RUNS)) * 1024


def bench_memory(bench, environment):
    ours = [f"LD_PRELOAD={bench.library}",
            bench.flags("memory-log", "JP_PERIOD=0.001")]
    job = ["cpu", str(MEMORY_THREADS), "4"]
    busy = memory(bench, environment, job, ours) - memory(
        bench, environment, job, [])
    each = (busy - (2 << 20)) / MEMORY_THREADS
    bench.row(f"memory of {MEMORY_THREADS} busy threads",
              f"{busy / 1024:.0f} KiB", "<= 64 KiB each + 2 MiB",
              each <= 65536)
    # Both have sampled what there is to sample in the C library.
    few = memory(bench, environment, ["row", "5000", "0"], ours)
    many = memory(bench, environment, ["row", "15000", "0"], ours)
    bench.row("memory of 10,000 more finished threads",
              f"{(many - few) / 1024:+.0f} KiB", "<= 256 KiB",
              many - few <= 256 << 10)


def bench_program(bench, environment):
    """A whole program under each, interleaved, by its own clocks."""
    spin = [bench.tool("spin"), "work", "1", str(WORK)]
    preload = f"LD_PRELOAD={bench.library}"
    variants = {"plain": (spin, []), "plain again": (spin, [])}
    for hz in (100, 1000):
        variants[f"jprof {hz}"] = (spin, [
            preload, bench.flags("whole-%p", f"JP_PERIOD={1 / hz}")])
    if shutil.which("perf"):
        variants["perf 1000"] = (
            ["perf", "record", "-q", "-F", "1000", "-g", "-e", "cpu-clock",
             "-o", bench.path("whole.data"), "--"] + spin, [])
    times = {name: [] for name in variants}
    for _ in range(7):
        for name, (command, env) in variants.items():
            done = subprocess.run(command, env=environment(env), text=True,
                                  capture_output=True, check=False)
            if done.returncode == 0:
                times[name].append(tuple(map(float,
                                             done.stdout.split()[:2])))
    cpu, wall = ({name: statistics.median(t[i] for t in values) /
                  statistics.median(t[i] for t in times["plain"])
                  for name, values in times.items() if values}
                 for i in (0, 1))
    noise = abs(wall["plain again"] - 1)
    bench.notes.append("whole program: a fixed amount of work, medians of 7; "
                       "the program beside itself "
                       f"{wall['plain again']:.3f}x")

    def text(name):
        return f"{wall[name]:.3f}x elapsed, {cpu[name]:.3f}x CPU"

    if "perf 1000" in wall:
        bench.row("whole program, perf record -F 1000 -g", text("perf 1000"))
        bench.row("whole program, jprof at 1000 Hz", text("jprof 1000"),
                  "<= perf elapsed, within noise",
                  wall["jprof 1000"] <= wall["perf 1000"] + noise + 0.01)
    bench.row("whole program, jprof at 100 Hz", text("jprof 100"),
              "1 elapsed, within noise",
              wall["jprof 100"] <= 1 + noise + 0.01)
