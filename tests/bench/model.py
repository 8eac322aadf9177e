#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures jprof-report with logs of many samples, stacks, threads, processes
and mappings: CPU time, time, memory and size of what it writes.

Runs in: `make bench-model`, and tests/run/test_model.py calls its parts.
    tests/bench/model.py BUILD [--rows=NAME,...] [--scale=N] [--runs=N]
                         [--seconds=N] [--keep] [REPORT...]
REPORT: other builds of jprof-report, measured by turns with BUILD's.  --scale
divides all counts, --seconds ends a report that takes longer.

The logs are made by tests/tools/modellog, row by row, in a folder of TMPDIR,
of functions of real files of this machine (modelcode.py) and, where a row says
so, of JIT code with a perf map.  `own` is the highest RssAnon that was seen
(/proc/PID/status, every few ms), memory of the report's own; `all` the highest
VmHWM, in which pages of mapped files, as the log's, count as well.
"""
import argparse
import collections
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import bench
import modelcode

LOOK_SECONDS = 0.002        # between looks at a report's memory
MOST_OUTPUT = 5 << 30       # bytes; a report that writes more is ended
MOST_MEMORY = 12 << 30      # likewise
MILLION = 1000000
SCALED = ("samples", "stacks", "threads", "swaps")

Cost = collections.namedtuple("Cost", "cpu elapsed own all output ended")

# keys: of modellog.  forms: formats of reports.  operands: "merge" names all
# logs, "folder" the folder.  bars: {form: (CPU s, own MB, output MB)}; None:
# no bar.
Row = collections.namedtuple(
    "Row", "name title keys forms options operands jit swapped bars")


def row(name, title, keys, forms=("summary",), options=(), operands="log",
        jit=0, swapped=False, **bars):
    return Row(name, title, keys, forms, options, operands, jit, swapped,
               {form.replace("_", "-"): bar for form, bar in bars.items()})


FEW = {"low": 3, "high": 8}
MANY = {"low": 5, "high": 60, "spread": 5}
BUSHY = {"low": 5, "high": 40, "spread": 20}
PLUGINS = {"samples": MILLION, "stacks": 1000, "low": 5, "high": 25,
           "sites": 4096}
ROWS = (
    row("samples6", "10^6 samples, 20 stacks", {"samples": MILLION, **FEW},
        ("summary", "html-plain", "html"), summary=(None, 32, None),
        html_plain=(None, 32, None)),
    row("samples7", "10^7 samples, 20 stacks", {"samples": 10 * MILLION, **FEW},
        ("summary", "html-plain", "html")),
    row("samples8", "10^8 samples, 20 stacks (2.4 GB)",
        {"samples": 100 * MILLION, **FEW}, ("summary", "html-plain", "html"),
        summary=(3, 128, None)),
    row("deep", "10^6 samples, 526,000 stacks of 5 to 60 frames",
        {"samples": MILLION, "stacks": 526000, **MANY},
        summary=(4, 700, None)),
    row("zipf", "10^7 samples, 500,000 stacks, Zipf, half JIT code",
        {"samples": 10 * MILLION, "stacks": 500000, "zipf": 1, **BUSHY,
         "spread": 8}, ("html-plain",), jit=12000,
        html_plain=(8, 800, 20)),
    row("merged", "1,000 processes of 2,000 samples, merged",
        {"samples": 2000, "stacks": 1000, "zipf": 1, "processes": 1000,
         **BUSHY}, ("html-plain",), ("--merge",), "merge",
        html_plain=(3, 400, 15)),
    row("threads", "1,000 threads, 10^7 samples, 20,000 stacks, Zipf, -t",
        {"samples": 10 * MILLION, "stacks": 20000, "zipf": 1, "threads": 1000,
         **BUSHY}, ("text",), ("-t",), text=(5, None, 30)),
    row("swaps400", "400 re-mappings of one range, 10^6 samples, 1,000 stacks",
        {"swaps": 400, **PLUGINS}, swapped=True),
    row("swaps", "200,000 re-mappings of one range, the same samples",
        {"swaps": 200000, **PLUGINS}, swapped=True, summary=(2, None, None)),
    row("build3", "10^3 processes of 200 samples, a launcher's folder",
        {"samples": 200, "stacks": 100, "zipf": 1, "processes": 1000, **BUSHY},
        ("html-plain",), (), "folder"),
    row("build4", "10^4 processes of 200 samples, a launcher's folder",
        {"samples": 200, "stacks": 100, "zipf": 1, "processes": 10000,
         **BUSHY}, ("html-plain",), (), "folder",
        html_plain=(None, None, 40)),
)


def make(build, folder, keys, jit=0, swapped=False):
    """Makes a profile in the folder; returns the paths of its logs."""
    code = modelcode.write(build, folder, jit, swapped)
    subprocess.run([os.path.join(build, "tests", "tools", "modellog"), folder,
                    code] + ["%s=%d" % item for item in keys.items()],
                   check=True)
    os.unlink(code)
    return sorted(os.path.join(folder, name) for name in os.listdir(folder)
                  if name.startswith("jprof-log") and "." not in name)


def scaled(keys, scale):
    """The keys of a log of so small a part: of less processes, where there are
    many, else with all counts divided, but for the few stacks."""
    counts = ("processes",) if "processes" in keys else SCALED
    return {key: max(value // scale, 20 if key == "stacks" else 1)
            if key in counts else value for key, value in keys.items()}


def memory_of(pid):
    """(RssAnon, VmHWM) in bytes, or None when it has ended."""
    try:
        with open("/proc/%d/status" % pid, encoding="ascii",
                  errors="replace") as source:
            found = {line.split(":")[0]: line.split()[1] for line in source
                     if line.startswith(("RssAnon:", "VmHWM:"))}
        return int(found["RssAnon"]) * 1024, int(found["VmHWM"]) * 1024
    except (OSError, KeyError, ProcessLookupError):
        return None


def excess(output, elapsed, own, seconds):
    """Why a report is ended, or None."""
    if elapsed > seconds:
        return "ended after %.0f s" % elapsed
    if own > MOST_MEMORY:
        return "ended at %.0f GB of memory" % (own / 1e9)
    if os.path.getsize(output) > MOST_OUTPUT:
        return "ended at %.1f GB written" % (os.path.getsize(output) / 1e9)
    return None


def measure(command, folder, seconds=600):
    """What a report costs.  One that takes too much is ended."""
    output = os.path.join(folder, "report-output")
    own = whole = 0
    ended = None
    with open(output, "wb") as out:
        start = time.monotonic()
        child = subprocess.Popen(command, cwd=folder, stdout=out,
                                 stdin=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            break
        seen = memory_of(child.pid)
        if seen:
            own, whole = max(own, seen[0]), max(whole, seen[1])
        ended = excess(output, time.monotonic() - start, own, seconds)
        if ended:
            child.kill()
            _, status, usage = os.wait4(child.pid, 0)
            break
        time.sleep(LOOK_SECONDS)
    elapsed = time.monotonic() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    size = os.path.getsize(output)
    os.unlink(output)
    if child.returncode not in (0, 1) and not ended:
        raise RuntimeError("%s ended with %d" % (command, child.returncode))
    return Cost(usage.ru_utime + usage.ru_stime, elapsed, own, whole, size,
                ended)


def median(costs):
    """The medians of what was measured, one by one."""
    ended = [cost for cost in costs if cost.ended]
    if ended:
        return ended[0]
    return Cost(*(statistics.median(values) for values in
                  list(zip(*costs))[:5]), None)


def command_of(what, form, report, logs):
    command = [report, "--format=" + form, *what.options]
    if what.operands == "folder":
        return command + ["."]
    return command + ["make"] + [os.path.basename(log) for log in logs]


class Table:
    """What is printed: a line for each row, format and report."""

    def __init__(self, reports):
        self.reports, self.lines, self.costs = reports, [], {}
        print("| log | format | report | CPU s | elapsed s | own MB | all MB "
              "| output MB | bar: CPU s, own MB, output MB |")
        print("| --- " * 9 + "|")

    def add(self, what, form, report, cost):
        self.costs[what.name, form, report] = cost
        bar = what.bars.get(form)
        print("| %s | %s | %s | %.2f | %.2f | %.1f | %.1f | %.2f | %s%s |" % (
            what.title, form, os.path.relpath(report), cost.cpu, cost.elapsed,
            cost.own / 1e6, cost.all / 1e6, cost.output / 1e6,
            cost.ended + "; " if cost.ended else "",
            ", ".join("-" if limit is None else "%g" % limit
                      for limit in bar) if bar else "-"), flush=True)

    def growth(self, small, large, form):
        """How CPU and memory grow from one row to another."""
        for report in self.reports:
            pair = [self.costs.get((name, form, report))
                    for name in (small, large)]
            if None in pair or pair[0].cpu == 0 or pair[1].ended:
                continue
            print("growth from %s to %s, %s, %s: CPU %.1f times, own memory "
                  "%+.1f MB, output %.1f times" % (
                      small, large, form, os.path.relpath(report),
                      pair[1].cpu / pair[0].cpu,
                      (pair[1].own - pair[0].own) / 1e6,
                      pair[1].output / max(pair[0].output, 1)))


def run_row(what, arguments, table):
    folder = tempfile.mkdtemp(prefix="jprof-model-")
    try:
        logs = make(arguments.build, folder,
                    scaled(what.keys, arguments.scale), what.jit,
                    what.swapped)
        print("%s: %.1f MB in %d logs" % (
            what.name, sum(map(os.path.getsize, logs)) / 1e6, len(logs)),
              file=sys.stderr)
        os.sync()       # or the first report waits for it
        for form in what.forms:
            costs = {report: [] for report in table.reports}
            for _ in range(arguments.runs):
                for report in table.reports:
                    if any(cost.ended for cost in costs[report]):
                        continue
                    costs[report].append(measure(
                        command_of(what, form, report, logs), folder,
                        arguments.seconds))
            for report in table.reports:
                table.add(what, form, report, median(costs[report]))
    finally:
        if arguments.keep:
            print("kept: " + folder, file=sys.stderr)
        else:
            shutil.rmtree(folder)


def run_perf(arguments, table):
    """Samples of a real program (stacks.c), those that perf has by page
    faults: its reports beside ours."""
    scratch = tempfile.mkdtemp(prefix="jprof-model-")
    bench.SAMPLES = MILLION // arguments.scale
    there = bench.Bench(arguments.build, scratch)
    try:
        log, samples = bench.bench_log(there)
        data = bench.record_perf(there)
        commands = {report: [report, "--format=html-plain",
                             there.tool("stacks"), log]
                    for report in table.reports}
        if data:
            commands["perf"] = ["perf", "report", "-i", data, "--children",
                                "--stdio"]
            print("perf: %d samples, jprof: %d" % (bench.perf_samples(data),
                                                   samples), file=sys.stderr)
        costs = {name: [] for name in commands}
        for _ in range(arguments.runs):
            for name, command in commands.items():
                costs[name].append(measure(command, scratch))
        what = row("perf", "%d samples of 25 frames" % samples, {},
                   html_plain=(None, None, None))
        for name in commands:
            table.add(what, "html-plain" if name != "perf" else "children",
                      name, median(costs[name]))
        for report in table.reports if data else ():
            ours, theirs = median(costs[report]), median(costs["perf"])
            print("%s: %.1f times as fast as perf (bar 50), %.2f times its "
                  "memory (bar 0.2)" % (
                      os.path.relpath(report), theirs.cpu / ours.cpu,
                      ours.all / theirs.all))
    finally:
        shutil.rmtree(scratch)


def main(argv):
    names = [what.name for what in ROWS] + ["perf"]
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build")
    parser.add_argument("report", nargs="*", default=[])
    parser.add_argument("--rows", default=",".join(names),
                        help="of " + ", ".join(names))
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--keep", action="store_true")
    arguments = parser.parse_intermixed_args(argv[1:])
    arguments.build = os.path.abspath(arguments.build)
    wanted = arguments.rows.split(",")
    if not set(wanted) <= set(names):
        parser.error("rows are " + ", ".join(names))
    table = Table([os.path.abspath(path) for path in
                   [os.path.join(arguments.build, "jprof-report")]
                   + arguments.report])
    for what in ROWS:
        if what.name in wanted:
            run_row(what, arguments, table)
    if "perf" in wanted:
        run_perf(arguments, table)
    for form in ("summary", "html-plain"):
        table.growth("samples6", "samples7", form)
        table.growth("samples7", "samples8", form)
        table.growth("build3", "build4", form)
        table.growth("swaps400", "swaps", form)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
