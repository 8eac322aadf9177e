#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a ring keeps of many threads in real time, and what it costs beside the
same without one.

Runs in: tests.  Usage: B=build tests/wall/rings.py [--seconds N] [--bytes N]
[--hz N] [--only TEXT] [--end save|kill].  A line a program: samples kept,
of what one thread's ring would hold; threads seen; the span from each thread's
first sample to the end, least and most; CPU of the process without a ring and
with one.  What misses a bar is marked, and makes the exit status 1.  The bars:
60% of the samples, or all of them; all threads; spans alike; nothing lost.
"""
import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "tools"))
import decode       # noqa: E402  (needs the path above)

BUILD = os.path.join(ROOT, os.environ.get("B", "build"))
LOADS = os.path.join(BUILD, "tests", "programs", "loads")
SAMPLE_BYTES = 24
BEGIN_SECONDS = 120
CASES = [(kind, threads) for kind in ("idle", "spin")
         for threads in (50, 60, 200, 500, 1000)]


def start(kind, threads, args, ring, folder):
    """A program that goes on until it is killed."""
    flags = "JP_START JP_REALTIME JP_PERIOD=%g" % (1 / args.hz)
    if ring:
        flags += " JP_CIRCULAR=%d" % args.bytes
    env = dict(os.environ, LD_PRELOAD=os.path.join(BUILD, "libjprof.so"),
               JPROF_FLAGS=flags)
    return subprocess.Popen([LOADS, kind, "100000", str(threads)], cwd=folder,
                            env=env, stdout=subprocess.DEVNULL)


def begun(live, threads):
    """Waits until all of a program's threads are there: where many compute,
    that takes seconds, and a thread's span begins with it."""
    end = time.monotonic() + BEGIN_SECONDS
    while len(os.listdir("/proc/%d/task" % live.pid)) <= threads:
        if time.monotonic() > end:
            raise SystemExit("%d threads do not begin" % threads)
        time.sleep(0.1)


def cpu_of(pid):
    """Seconds of CPU that a process has used."""
    with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def end_of(live, number):
    """Ends it by this signal and SIGKILL; returns CPU seconds before that."""
    cpu = cpu_of(live.pid)
    if number != signal.SIGKILL:
        live.send_signal(number)
        time.sleep(1)
    live.kill()
    live.wait()
    return cpu


def seen(folder, threads, args):
    """(text, what misses a bar) of a ring."""
    run = decode.load(os.path.join(folder, "jprof-log"))[0]
    first, last = {}, 0
    for when, tid, weight, _, _, _ in run.samples:
        first[tid] = min(first.get(tid, when), when - weight)
        last = max(last, when)
    spans = sorted((last - begin) / 1e9 for begin in first.values())
    room = args.bytes / SAMPLE_BYTES
    reused = run.header["counters"][10]
    bad = []
    if reused and len(run.samples) < 0.6 * room:
        bad.append("samples")
    if len(first) < threads + 1:
        bad.append("threads")
    if run.lost():
        bad.append("lost")
    if spans[0] < 0.6 * spans[len(spans) // 2]:
        bad.append("span")
    return ("%6d samples (%3.0f%%), %6d overwritten chunks, %4d threads, "
            "span %.2f to %.2f s, median %.2f, %d lost" % (
                len(run.samples), 100 * len(run.samples) / room, reused,
                len(first), spans[0], spans[-1], spans[len(spans) // 2],
                run.lost()), bad)


def examine(kind, threads, args):
    """Prints a line; returns whether a bar is missed."""
    folders = [tempfile.mkdtemp(prefix="jprof-ring-") for _ in range(2)]
    number = signal.SIGKILL if args.end == "kill" else signal.SIGUSR1
    live = [start(kind, threads, args, ring, folder)
            for ring, folder in enumerate(folders)]
    for each in live:
        begun(each, threads)
    time.sleep(args.seconds)
    cpus = [end_of(each, number) for each in live]
    text, bad = seen(folders[1], threads, args)
    print("%-4s %4d threads: %s; CPU %.2f s without, %.2f with %s" % (
        kind, threads, text, cpus[0], cpus[1],
        "BEYOND: " + ", ".join(bad) if bad else ""), flush=True)
    for folder in folders:
        shutil.rmtree(folder)
    return bool(bad)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--bytes", type=int, default=1 << 20)
    parser.add_argument("--hz", type=float, default=1000)
    parser.add_argument("--only", default="")
    parser.add_argument("--end", choices=["save", "kill"], default="save")
    args = parser.parse_args()
    bad = 0
    for kind, threads in CASES:
        if args.only in "%s %d" % (kind, threads):
            bad += examine(kind, threads, args)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
