#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# Measures jprof against its peers in one run and prints a table of ratios.
# Runs in: `make bench` (bench.py BUILD-FOLDER); writes BUILD-FOLDER/bench.txt.
#
# Every figure is a median of repetitions that are interleaved with those of
# what it is compared with, since absolute times drift on a shared machine.
# Exit status: 0 when all was measured, whether or not the bars were kept.

import glob
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import traceback

import clocks
import jits
import reach
import timers
import walkers

FORK_ROUNDS = 3
ROUNDS = 1000       # starts of /bin/true per environment
SAMPLES = 1000000   # samples in the log and in perf.data
SIGNALS = 200000    # signals at depth 50
REPEATS = 5


class Bench:
    def __init__(self, build, scratch):
        self.build = os.path.abspath(build)
        self.scratch = scratch
        self.library = os.path.join(self.build, "libjprof.so")
        self.rows = []
        self.notes = []

    def tool(self, name):
        return os.path.join(self.build, "tests", "bench", name)

    def path(self, name):
        return os.path.join(self.scratch, name)

    def flags(self, log, more=""):
        """JPROF_FLAGS that write to LOG in the scratch folder."""
        value = f"JP_START JP_FILENAME={self.path(log)} {more}"
        return f"JPROF_FLAGS={value.strip()}"

    def row(self, figure, text, bar=None, kept=None):
        verdict = "-" if kept is None else "pass" if kept else "FAIL"
        self.rows.append((figure, text, bar or "-", verdict))
        print(f"{verdict:4} {figure}: {text}", file=sys.stderr, flush=True)

    def table(self):
        head = ("figure", "measured", "bar", "")
        rows = [head] + self.rows
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        lines = ["  ".join(cell.ljust(width) for cell, width
                           in zip(row, widths)).rstrip() for row in rows]
        lines[1:1] = ["  ".join("-" * width for width in widths).rstrip()]
        failed = sum(row[3] == "FAIL" for row in self.rows)
        lines += [""] + self.notes
        lines.append(f"{failed} of {sum(r[3] != '-' for r in self.rows)} "
                     "bars not kept" if failed else "all bars kept")
        return "\n".join(lines) + "\n"


def find_gperftools():
    """Path of gperftools' CPU profiler, or None."""
    found = glob.glob("/usr/lib/*/libprofiler.so.0")
    return found[0] if found else None


def run(command, env=None, stdout=subprocess.DEVNULL):
    """Runs COMMAND; returns (seconds, peak RSS in bytes)."""
    start = time.monotonic()
    child = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL,
                             stdout=stdout, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    taken = time.monotonic() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {child.returncode}")
    return taken, usage.ru_maxrss * 1024


def tool_output(command, env=None):
    """What a helper prints; its stderr, on which gperftools says a line a
    process, only when it fails."""
    done = subprocess.run(command, env=env, text=True, capture_output=True,
                          check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.splitlines()[-1:] or command)
    return done.stdout


def environment(extra):
    env = {k: v for k, v in os.environ.items()
           if k not in ("LD_PRELOAD", "JPROF_FLAGS", "JPROF_ISCHILD")}
    env.update(pair.split("=", 1) for pair in extra)
    return env


def start_times(bench, variants):
    """Median ns of a start of /bin/true in each environment."""
    command = [bench.tool("spawn"), str(ROUNDS), "/bin/true"]
    for name, env in variants.items():
        command += [name, *env, "--"]
    return {name: float(ns) for name, ns in
            (line.split() for line in
             tool_output(command[:-1]).splitlines())}


def bench_start(bench):
    """posix_spawn to exit of /bin/true."""
    preload = f"LD_PRELOAD={bench.library}"
    times = start_times(bench, {
        "plain": [],
        "empty": [f"LD_PRELOAD={bench.tool('empty.so')}"],
        "idle": [preload],
        "started": [preload, bench.flags("start-%p")],
    })
    ratios = {name: ns / times["plain"] for name, ns in times.items()}
    bench.notes.append(f"start-up: medians of {ROUNDS} starts each; plain "
                       f"{times['plain'] / 1e3:.0f} us")
    bench.row("start-up, empty shared object", f"{ratios['empty']:.2f}x")
    bench.row("start-up, libjprof.so without JPROF_FLAGS",
              f"{ratios['idle']:.2f}x", "< 1.10x", ratios["idle"] < 1.10)
    bench.row("start-up, libjprof.so with JP_START",
              f"{ratios['started']:.2f}x", "< 1.50x", ratios["started"] < 1.5)
    if not glob.glob(bench.path("start-[0-9]*")):
        bench.notes.append("start-up: with JP_START a log is made at the "
                           "first sample, and /bin/true takes none")
    peer = find_gperftools()
    if peer:
        # By itself: it writes a file a start, and the next start pays too.
        times = start_times(bench, {
            "plain": [],
            "peer": [f"LD_PRELOAD={peer}",
                     f"CPUPROFILE={bench.path('start.prof')}"],
        })
        bench.row("start-up, gperftools with CPUPROFILE",
                  f"{times['peer'] / times['plain']:.2f}x")


def summary(bench, log, program="stacks"):
    """The report's own figures: a dict of strings."""
    output = tool_output([os.path.join(bench.build, "jprof-report"),
                          "--format=summary", bench.tool(program), log])
    return dict(line.split(": ", 1) for line in output.splitlines()
                if ": " in line)


def bench_log(bench):
    """A million samples of 25 frames: size of the log."""
    log = bench.path("stacks-log")
    # A period of an hour: no sample but the raised ones.
    run([bench.tool("stacks"), "raise", str(SAMPLES)],
        environment([f"LD_PRELOAD={bench.library}",
                     bench.flags("stacks-log", "JP_PERIOD=3600")]))
    facts = summary(bench, log)
    samples = int(facts["samples"])
    collapsed = tool_output([os.path.join(bench.build, "jprof-report"),
                             "--format=collapsed", bench.tool("stacks"),
                             log]).splitlines()
    depths = [line.count(";") + 1 for line in collapsed]
    size = os.path.getsize(log) / max(samples, 1)
    bench.notes.append(
        f"log: {samples} of {SAMPLES} samples, lost {facts.get('lost')}, "
        f"{len(collapsed)} stacks of {min(depths)} to {max(depths)} frames, "
        f"{os.path.getsize(log) / 1e6:.1f} MB")
    bench.row("log, bytes a sample", f"{size:.1f}", "<= 30",
              size <= 30 and samples >= SAMPLES)
    return log, samples


def perf_samples(data):
    """How many samples perf.data holds."""
    output = subprocess.run(
        ["perf", "report", "-i", data, "--stdio", "--stats"], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    for line in output.splitlines():
        words = line.split()
        if words[:2] == ["SAMPLE", "events:"]:
            return int(words[2])
    return 0


def record_perf(bench):
    """perf.data of the same program and stacks; None where perf cannot.

    The samples are page faults of the leaf: perf's clocks give no million of
    samples in a minute, and what a sample stands for costs a report nothing.
    """
    if not shutil.which("perf"):
        return None
    data = bench.path("perf.data")
    # Buffers so large that nothing is lost, falling back to the default.
    for pages in (["-m", "64M"], []):
        result = subprocess.run(
            ["perf", "record", "-q", "-o", data, "-e", "page-faults:u", "-c",
             "1", *pages, "--call-graph", "fp", bench.tool("stacks"), "fault",
             str(SAMPLES)], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        if result.returncode == 0:
            return data
    return None


def bench_report(bench, log, samples):
    """jprof-report to HTML against perf report --children --stdio."""
    ours = [os.path.join(bench.build, "jprof-report"), bench.tool("stacks"),
            log]
    data = record_perf(bench)
    if data is None:
        bench.notes.append("report: perf is not there or may not record; "
                           "only jprof-report was measured")
    theirs = ["perf", "report", "-i", data or "", "--children", "--stdio"]
    runs = {"ours": [], "theirs": []}
    for _ in range(REPEATS):
        runs["ours"].append(run(ours))
        if data:
            runs["theirs"].append(run(theirs))

    def median(name, index):
        return statistics.median(item[index] for item in runs[name])

    text = f"{median('ours', 0):.2f} s, {median('ours', 1) / 1e6:.0f} MB"
    bench.row("report to HTML", text)
    if not data:
        return
    there = perf_samples(data)
    if there == 0:
        raise RuntimeError("perf report --stats tells no number of samples")
    bench.notes.append(
        f"report: perf.data has {there} samples, "
        f"{os.path.getsize(data) / 1e6:.0f} MB; medians of {REPEATS} runs; "
        "times per sample")
    faster = median("theirs", 0) / there * samples / median("ours", 0)
    memory = median("ours", 1) / median("theirs", 1)
    bench.row("perf report --children --stdio",
              f"{median('theirs', 0):.2f} s, {median('theirs', 1) / 1e6:.0f} "
              "MB")
    bench.row("report, times as fast as perf", f"{faster:.1f}x", ">= 4x",
              faster >= 4)
    bench.row("report, part of perf's memory", f"{memory:.2f}x", "<= 0.50x",
              memory <= 0.5)


def bench_handler(bench):
    """One sample's handler at depth 50 against an empty handler."""
    preload = f"LD_PRELOAD={bench.library}"
    variants = {
        "empty": ("empty", []),
        "jprof": ("preloaded",
                  [preload, bench.flags("handler-log", "JP_PERIOD=3600")]),
    }
    peer = find_gperftools()
    if peer:
        variants["gperftools"] = (
            "preloaded", [f"LD_PRELOAD={peer}",
                          f"CPUPROFILE={bench.path('handler.prof')}"])
    times = {name: [] for name in variants}
    for _ in range(REPEATS):
        for name, (mode, env) in variants.items():
            times[name].append(float(tool_output(
                [bench.tool("handler"), mode, str(SIGNALS)],
                environment(env))))
    taken = int(summary(bench, bench.path("handler-log"),
                        "handler")["samples"])
    if taken < SIGNALS:
        raise RuntimeError(f"{taken} samples of {SIGNALS} signals")
    base = statistics.median(times["empty"])
    ratios = {name: statistics.median(values) / base
              for name, values in times.items()}
    bench.notes.append(f"handler: {SIGNALS} signals each, medians of "
                       f"{REPEATS} runs; an empty one takes {base:.0f} ns")
    if peer:
        bench.row("handler at depth 50, gperftools",
                  f"{ratios['gperftools']:.1f}x")
        bench.row("handler at depth 50, jprof", f"{ratios['jprof']:.1f}x",
                  "<= gperftools", ratios["jprof"] <= ratios["gperftools"])
    else:
        bench.row("handler at depth 50, jprof", f"{ratios['jprof']:.1f}x")


def bench_timers(bench):
    empty = statistics.median(
        float(tool_output([bench.tool("handler"), "empty", str(SIGNALS)]))
        for _ in range(REPEATS))
    timers.bench_timers(bench, environment, empty)


def bench_fork(bench):
    """fork of a process with 2 GiB resident, until it returns."""
    least = {"plain": [], "fast": []}
    variants = {"plain": [], "fast": [
        f"LD_PRELOAD={bench.library}",
        bench.flags("fork-%p", "JP_REALTIME JP_PERIOD=0.0001")]}
    for _ in range(FORK_ROUNDS):
        for name, extra in variants.items():
            text = tool_output([bench.tool("forkcost"), "2048"],
                               environment(extra))
            least[name].append(float(text.split()[0]))
    plain, fast = (min(least[name]) for name in ("plain", "fast"))
    bench.notes.append(f"fork: the least of {15 * FORK_ROUNDS} forks of 2 GiB "
                       f"each; plain {plain / 1e3:.1f} ms")
    bench.row("fork, 2 GiB resident, 10 kHz real time", f"{fast / plain:.2f}x",
              "< 1.10x", fast / plain < 1.1)


def sections(bench):
    """{name: what measures it}, in their order."""
    peer = find_gperftools()
    return {
        "start": lambda: bench_start(bench),
        "fork": lambda: bench_fork(bench),
        "report": lambda: bench_report(bench, *bench_log(bench)),
        "handler": lambda: bench_handler(bench),
        "rates": lambda: clocks.bench_rates(bench, environment, peer),
        "timers": lambda: bench_timers(bench),
        "memory": lambda: clocks.bench_memory(bench, environment),
        "program": lambda: clocks.bench_program(bench, environment),
        "walkers": lambda: walkers.bench_cost(bench, environment),
        "reach": lambda: reach.bench_reach(bench),
        "gigabyte": lambda: jits.bench_gigabyte(bench, run, summary),
        "node": lambda: jits.bench_node(bench, environment, summary),
    }


def main():
    if len(sys.argv) < 2:
        print("usage: bench.py BUILD-FOLDER [SECTION...]", file=sys.stderr)
        return 64
    build, chosen = sys.argv[1], sys.argv[2:]
    scratch = tempfile.mkdtemp(prefix="bench-", dir=build)
    bench = Bench(build, os.path.abspath(scratch))
    broken = []
    try:
        if not find_gperftools():
            bench.notes.append("gperftools (libgoogle-perftools4) is not "
                               "installed: not compared with")
        for name, measure in sections(bench).items():
            if chosen and name not in chosen:
                continue
            try:
                measure()
            except Exception:  # the other figures are wanted all the same
                traceback.print_exc()
                broken.append(name)
                bench.notes.append(f"{name}: could not be measured")
    finally:
        shutil.rmtree(scratch)
    text = bench.table()
    sys.stdout.write(text)
    with open(os.path.join(build, "bench.txt"), "w", encoding="ascii") as out:
        out.write(text)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
