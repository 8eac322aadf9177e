# SPDX-License-Identifier: MIT
#
# JIT code: a gigabyte of jitdump against md5sum, and a Node job against perf.
# Runs in: `make bench`, called by bench.py.

import glob
import gzip
import lzma
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tools"))
import pack         # noqa: E402  (needs the path above)
import packjit      # noqa: E402

DATA = os.path.join(HERE, "..", "data", "jit")
CHURN = os.path.join(HERE, "..", "programs", "codechurn.js")
OPERATIONS = os.path.join(HERE, "..", "programs", "operations.js")
BYTES = 1000000000
MEMORY = 256 << 20
REPEATS = 3
# Where perf says that code is which no file on disk has.
JIT_FILE = re.compile(r"jitted-|perf-\d+\.map|//anon|jit-\d+\.dump|\[JIT\]")


def unpack_dumps(bench):
    """The real dumps in the scratch folder, unpacked; their paths."""
    paths = []
    for path in sorted(glob.glob(os.path.join(DATA, "*", "*.dump*"))):
        opener = {".xz": lzma.open, ".gz": gzip.open}.get(
            os.path.splitext(path)[1], open)
        paths.append(bench.path("real-%d.dump" % len(paths)))
        with opener(path, "rb") as source, open(paths[-1], "wb") as target:
            shutil.copyfileobj(source, target)
    return paths


def make_profile(bench, folder):
    """A log whose samples are all over a dump of BYTES; returns its path."""
    dump = os.path.join(folder, "dump")
    done = subprocess.run([bench.tool("jitgig"), str(BYTES), dump,
                           *unpack_dumps(bench)], text=True,
                          capture_output=True, check=True)
    where = [line.split() for line in done.stdout.splitlines()]
    text = ["header pid=7 start=9 map=jprof-map exe=/x/app"]
    for first in range(0, len(where), 50):
        text.append("chunk size=8192")
        for at, (address, time_ns) in enumerate(where[first:first + 50]):
            text.append("stack id=s%d frames=%s" % (at, address))
            text.append("sample time=%s tid=7 weight=4000000 stack=s%d"
                        % (time_ns, at))
    log = os.path.join(folder, "jprof-log")
    with open(log, "wb") as target:
        target.write(pack.pack("\n".join(text) + "\n"))
    with open(os.path.join(folder, "jprof-map"), "w",
              encoding="ascii") as target:
        target.write("1 jprof-map version=1 pid=7 start=9 log=jprof-log\n"
                     "2 jitdump path=/x/dump inode=5 size=40 saved=dump\n")
    return log, dump, len(where)


def bench_gigabyte(bench, run, summary):
    """A log with a gigabyte of jitdump to a summary, against md5sum."""
    folder = bench.path("gigabyte")
    os.mkdir(folder)
    log, dump, samples = make_profile(bench, folder)
    ours = [os.path.join(bench.build, "jprof-report"), "--format=summary",
            "-o", os.path.join(folder, "out"), "app", log]
    runs = {"ours": [], "md5sum": []}
    for _ in range(REPEATS):
        runs["md5sum"].append(run(["md5sum", dump]))
        runs["ours"].append(run(ours))
    facts = summary(bench, log)
    shutil.rmtree(folder)

    def median(name, index):
        return statistics.median(item[index] for item in runs[name])

    ratio = median("ours", 0) / median("md5sum", 0)
    memory = median("ours", 1)
    named = int(facts["jit_named"])
    bench.notes.append(
        f"gigabyte of jitdump: {median('ours', 0):.2f} s, md5sum "
        f"{median('md5sum', 0):.2f} s; {named} of {samples} samples named")
    bench.row("1 GB of jitdump, part of md5sum's time", f"{ratio:.2f}x",
              "< 1x", ratio < 1 and named == samples)
    bench.row("1 GB of jitdump, memory", f"{memory / 1e6:.0f} MB",
              "<= 256 MB", memory <= MEMORY)


def our_job(bench, environment, folder, argv):
    """Runs a Node job under the profiler; returns its log."""
    log = os.path.join(folder, "jprof-log")
    subprocess.run(argv, cwd=folder, check=True, stdout=subprocess.DEVNULL,
                   env=environment([f"LD_PRELOAD={bench.library}",
                                    f"JPROF_FLAGS=JP_START JP_PERIOD=0.004 "
                                    f"JP_FILENAME={log}"]))
    return log


def perf_job(folder, argv):
    """The same under perf; returns perf.data, or None where perf cannot."""
    data = os.path.join(folder, "perf.data")
    done = subprocess.run(["perf", "record", "-q", "-k", "mono", "-e",
                           "cpu-clock", "-F", "250", "-g", "-o", data, *argv],
                          cwd=folder, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL)
    return data if done.returncode == 0 else None


def timed(command, folder):
    start = time.monotonic()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return time.monotonic() - start


def perf_named(data, folder):
    """Per cent of perf's JIT frames that have a name, and how many."""
    done = subprocess.run(["perf", "script", "-i", data, "-F", "ip,sym,dso"],
                          cwd=folder, text=True, capture_output=True,
                          errors="replace")
    frames = named = 0
    for line in done.stdout.splitlines():
        found = re.search(r"\(([^()]*)\)$", line)
        if found and JIT_FILE.search(found[1]):
            frames += 1
            named += "[unknown]" not in line
    return 100 * named / max(frames, 1), frames


def fresh(bench, name):
    folder = bench.path(name)
    os.mkdir(folder)
    return folder


def bench_churn(bench, environment, summary, node):
    """Of code that comes and goes, frames with a wrong name."""
    folder = fresh(bench, "churn")
    log = our_job(bench, environment, folder,
                  [node, "--perf-prof", "--expose-gc", "--no-turbo-inlining",
                   CHURN, "150"])
    facts = summary(bench, log)
    output = subprocess.run(
        [os.path.join(bench.build, "jprof-report"), "--format=collapsed",
         "node", log], text=True, capture_output=True, check=True).stdout
    right = wrong = 0
    for line in output.splitlines():
        stack, weight = line.rsplit(" ", 1)
        for _, _, fits in packjit.churned(stack.split(";")):
            right += int(weight) if fits else 0
            wrong += 0 if fits else int(weight)
    bench.row("Node, code churn, frames with a wrong name",
              f"{wrong} of {right + wrong}", "0", wrong == 0 and right > 0)
    bench.notes.append(f"Node, code churn: {facts['jit_named']} of "
                       f"{facts['jit_frames']} JIT frames named")


def bench_perf_map(bench, environment, summary, job):
    """Names from a perf map alone, ours and perf's."""
    argv = [job[0], "--perf-basic-prof", job[1]]
    folder = fresh(bench, "map")
    facts = summary(bench, our_job(bench, environment, folder, argv))
    share = 100 * int(facts["jit_named"]) / max(int(facts["jit_frames"]), 1)
    bench.row("Node --perf-basic-prof, JIT frames named", f"{share:.2f}%")
    folder = fresh(bench, "perf-map")
    data = perf_job(folder, argv)
    if data:
        share, frames = perf_named(data, folder)
        bench.row("perf with a perf map, JIT frames named",
                  f"{share:.2f}% of {frames}")


def handler_costs(bench, environment, job, library, name):
    """(signals, median, mean) of a sample's handler in ns, of one run."""
    folder = fresh(bench, name)
    told = os.path.join(folder, "times")
    subprocess.run(job, cwd=folder, check=True, stdout=subprocess.DEVNULL,
                   env=environment([
                       f"LD_PRELOAD={bench.tool(library)}",
                       f"JPROF_TIMED={told}", "JPROF_FLAGS=JP_START "
                       "JP_PERIOD=0.001 JP_FILENAME=jprof-log"]))
    with open(told, encoding="ascii") as lines:
        return max([int(word) for word in line.split()] for line in lines)


def bench_cost(bench, environment, job):
    """CPU time of a sample's handler on the Node job, with all that it does:
    the map, the rules, the looks at JIT files."""
    runs = [handler_costs(bench, environment, job, "timed.so", f"cost-{turn}")
            for turn in range(REPEATS)]
    count, middle, mean = (statistics.median(run[i] for run in runs)
                           for i in range(3))
    bench.row("Node, a sample's handler",
              f"median {middle / 1e3:.1f} us, mean {mean / 1e3:.1f} us of "
              f"{count}", "mean <= 3 us", mean <= 3000)


def bench_ahead(bench, environment, node):
    """The same on a program that is in V8's builtins and bytecode handlers half
    of its time: with the search for their caller, and without."""
    for tier, options in (("interpreter", ["--no-sparkplug", "--no-opt",
                                           "--no-maglev"]),
                          ("all tiers", [])):
        job = [node, *options, OPERATIONS, "2"]
        medians = {"timed.so": [], "timed-blind.so": []}
        for turn in range(REPEATS):
            for library, of in medians.items():
                of.append(handler_costs(
                    bench, environment, job, library,
                    f"ahead-{tier.split()[0]}-{turn}-{library}")[1])
        ahead, blind = (statistics.median(of) / 1e3 for of in medians.values())
        bench.row(f"Node's builtins, {tier}, a sample's handler",
                  f"median {ahead:.1f} us, without looking ahead {blind:.1f}")


def bench_node(bench, environment, summary):
    """The Node --perf-prof job of 4 s: names, and the time from its end to the
    report, against perf inject and perf report."""
    node = shutil.which("node")
    if not node:
        bench.notes.append("Node: not installed; its job was not measured")
        return
    job = (node, os.path.join(DATA, "node", "fib.js"))
    bench_cost(bench, environment, job)
    bench_ahead(bench, environment, node)
    folder = fresh(bench, "node")
    log = our_job(bench, environment, folder, [node, "--perf-prof", job[1]])
    report = [os.path.join(bench.build, "jprof-report"), "-o", "report.html",
              "node", log]
    facts = summary(bench, log)
    share = 100 * int(facts["jit_named"]) / max(int(facts["jit_frames"]), 1)
    bench.row("Node --perf-prof, JIT frames named", f"{share:.2f}% of "
              f"{facts['jit_frames']}", ">= 99.5%", share >= 99.5)
    theirs = fresh(bench, "perf")
    data = perf_job(theirs, [node, "--perf-prof", job[1]])
    times = {"ours": [], "theirs": []}
    for _ in range(REPEATS):
        times["ours"].append(timed(report, folder))
        if data:
            times["theirs"].append(
                timed(["perf", "inject", "-j", "-i", data, "-o", "jit.data"],
                      theirs) +
                timed(["perf", "report", "-i", "jit.data", "--children",
                       "--stdio"], theirs))
    left = sorted(re.sub(r"\d+", "N", name) for name in os.listdir(folder))
    bench.notes.append("Node: files left: " + ", ".join(left))
    bench_churn(bench, environment, summary, node)
    if not data:
        bench.notes.append("Node: perf may not record; not compared")
        return
    named, frames = perf_named(os.path.join(theirs, "jit.data"), theirs)
    bench.row("perf after inject, JIT frames named", f"{named:.2f}% of "
              f"{frames}")
    faster = (statistics.median(times["theirs"]) /
              statistics.median(times["ours"]))
    bench.notes.append(
        f"Node, from exit to report: {statistics.median(times['ours']):.2f} s;"
        f" perf inject and report {statistics.median(times['theirs']):.2f} s,"
        f" {len(os.listdir(theirs))} files left")
    bench.row("Node, exit to report, times as fast as perf", f"{faster:.1f}x",
              ">= 4x", faster >= 4)
    bench_perf_map(bench, environment, summary, job)
