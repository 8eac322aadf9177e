#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs servers, their clients and their tools without jprof and under it, at
several rates, and compares what they did; then compares the weights of the
samples of each process with the CPU time that the kernel says it used:
    servers.py [--mode TEXT] [--keep FOLDER] [PROGRAM...]
Exits 0 when all results are the same and the CPU time is covered.  Programs
that are not installed are skipped by name.  B is the build folder.
Runs in: tests."""

import argparse
import glob
import json
import os
import re
import shutil
import signal
import stat
import sys
import tempfile
import time

import nginx
import office
import pgregress
import postgresql
import redis
import runtimes
import ssh
import supervisors
import tools
from cputimes import CpuTimes
from stage import LIBRARY, ROOT, Failure, Stage

sys.path.insert(0, os.path.join(ROOT, "tests", "tools"))
import decode       # noqa: E402  (needs the path above)

# In this order; each has a module that says what it does.
PROGRAMS = {
    "redis": redis.PROGRAM, "nginx": nginx.PROGRAM,
    "postgresql": postgresql.PROGRAM, "pgregress": pgregress.PROGRAM,
    "java": runtimes.JAVA_WORK, "node": runtimes.NODE_CLUSTER,
    "libreoffice": office.PROGRAM, "sshd": ssh.PROGRAM,
    "runit": supervisors.RUNIT, "s6": supervisors.S6, **tools.PROGRAMS}
MODES = {
    "without": None,
    "the library idle": "",
    "250 Hz": "JP_START;JP_PERIOD=0.004",
    "1000 Hz": "JP_START;JP_PERIOD=0.001",
    "real time": "JP_START;JP_REALTIME;JP_PERIOD=0.01",
}
# The share of the CPU time that samples must stand for, in all and of each,
# of those processes that used as much as is looked at.
COVERED = 0.97
COVERED_EACH = 0.90
LOOKED_AT = 0.05
# What a process uses after the library is gone, where nothing tells it.
BESIDES = 0.01
# The counters of what looking at waiting threads costs them, in real time, and
# of what making logs takes, in CPU time.
LOOKING, MAKING = 20, 24
# Why a profile ended before its process: a filter behind which it cannot go on,
# as sshd's before a user is known, which forbids handlers to return.
OFF_FILTER = 1


class Outcome:
    """What one run came to."""

    worker = None               # the process that runs one just now

    def __init__(self):
        self.results = {}
        self.processes = []     # dicts, see measure()
        self.lost = False       # the kernel could not say all CPU times

    def total(self, key):
        """The sum of a number of all processes."""
        return sum(process[key] for process in self.processes)


def work(program, mode, folder, pipe):
    """The worker's: runs the program, writes its results to `pipe`."""
    stage = Stage(folder, MODES[mode])

    def give_up(_number, _frame):
        stage.settle(0)
        os._exit(1)

    signal.signal(signal.SIGTERM, give_up)
    try:
        results = program.run(stage)
    except Failure as error:
        results = {"failure": str(error)}
    except Exception as error:      # pylint: disable=broad-except
        results = {"failure": f"{type(error).__name__}: {error}"}
    results = {key: value.replace(folder, "FOLDER")
               for key, value in results.items()}
    results["left over"] = str(stage.settle())
    os.write(pipe, json.dumps(results).encode())
    os._exit(0)


def special(folder, names):
    """The names of what is no file and no folder."""
    return [name for name in names if stat.S_IFMT(os.lstat(os.path.join(
        folder, name)).st_mode) not in (stat.S_IFREG, stat.S_IFDIR,
                                        stat.S_IFLNK)]


def run_once(program, mode, keep):
    """The Outcome of a run."""
    outcome = Outcome()
    top = tempfile.mkdtemp(prefix="jprof-sv-")
    folder = os.path.join(top, "run")
    os.chmod(top, 0o755)
    for path in (folder, folder + "-logs"):
        os.mkdir(path)
        os.chmod(path, 0o755)
    program.prepare(folder + "-logs")
    times = CpuTimes()
    counted = times.start()
    take, give = os.pipe()
    worker = os.fork()
    if worker == 0:
        os.close(take)
        work(program, mode, folder, give)
    os.close(give)
    Outcome.worker = worker
    with open(take, "rb") as pipe:
        text = pipe.read()
    os.waitpid(worker, 0)
    Outcome.worker = None
    time.sleep(0.3)
    if counted:
        times.stop()
    outcome.results = json.loads(text) if text else {"failure": "no worker"}
    outcome.results["cores"] = str(glob.glob(folder + "/**/core*",
                                             recursive=True))
    outcome.lost = times.lost or not counted
    outcome.processes = measure(folder + "-logs", times.below(worker))
    if keep:
        name = re.sub(r"\W", "_", f"{program.name} {mode}")
        shutil.rmtree(os.path.join(keep, name), ignore_errors=True)
        shutil.copytree(top, os.path.join(keep, name), symlinks=True,
                        ignore=special)
        with open(os.path.join(keep, name, "processes"), "w",
                  encoding="utf-8") as file:
            for process in sorted(outcome.processes, key=lambda one:
                                  one["weight"] - one["cpu"]):
                print(json.dumps(process), file=file)
    shutil.rmtree(top, ignore_errors=True)
    return outcome


def measure(logs, ended):
    """Of each process: its name, CPU time, the weight of its samples, those
    lost, and those whose stacks reach the root."""
    found = {}

    def entry(pid, name="?", cpu=0.0):
        return found.setdefault(pid, {
            "pid": pid, "name": name, "cpu": cpu, "weight": 0.0, "logs": 0,
            "before": 0.0, "after": 0.0, "looking": 0.0, "filtered": False,
            "samples": 0, "whole": 0, "lost": 0, "damage": 0})

    for end in ended:
        entry(end.pid, "/".join(sorted(end.names)), end.seconds)
    headers = {}                # of each process
    for path in glob.glob(logs + "/*.log*"):
        for run in decode.load(path):
            mine = entry(run.header["proc_pid"])
            headers.setdefault(run.header["proc_pid"], []).append(run.header)
            cpu = [sample for sample in run.samples
                   if sample[3] in ("cpu", "running")]
            mine["weight"] += sum(sample[2] for sample in cpu) / 1e9
            mine["looking"] += (run.header["counters"][LOOKING] +
                                run.header["counters"][MAKING]) / 1e9
            mine["logs"] += 1
            mine["filtered"] |= run.header["off"] == OFF_FILTER
            mine["samples"] += len(run.samples)
            mine["whole"] += sum(sample[4] == "root" for sample in run.samples)
            mine["lost"] += run.lost()
            mine["damage"] += len(run.damage)
    for brief in tree_lines(logs, "jprof-brief"):
        entry(brief["pid"])
        headers.setdefault(brief["pid"], []).append({
            "cpu_before_ns": brief["before"], "cpu_ns": brief["cpu"],
            "cpu_ended": brief["ended"]})
    left = {line["pid"] for line in tree_lines(logs, "jprof-exec")}
    for pid, its in headers.items():
        found[pid]["before"] = before(its)
        found[pid]["after"] = after(its, found[pid]["cpu"], pid in left)
    for pid in below(left, [end for end in ended if end.pid not in headers]):
        found[pid]["after"] = found[pid]["cpu"]
    return list(found.values())


def below(left, unseen):
    """The numbers of those of the `unseen` processes that are one of `left`
    or came from one."""
    found, more = set(), True
    while more:
        more = {end.pid for end in unseen
                if end.pid in left or end.parent in left | found} - found
        found |= more
    return found


def tree_lines(logs, word):
    """The tree's lines of one kind, as dicts of their numbers."""
    told = []
    for path in glob.glob(logs + "/*tree*"):
        with open(path, encoding="utf-8", errors="replace") as file:
            for _, its, *pairs in map(str.split, file):
                if its == word:
                    keys = dict(pair.split("=", 1) for pair in pairs)
                    told.append({key: int(value) for key, value in keys.items()
                                 if value.isdigit()})
    return told


def before(headers):
    """The CPU time that a process used in exec and the loader, before the
    library was in it, once for each program that it executed."""
    total = last = 0
    for header in sorted(headers, key=lambda header: header["cpu_ns"]):
        total += max(0, header["cpu_before_ns"] - last)
        last = header["cpu_ns"]
    return total / 1e9


def after(headers, cpu, left):
    """The CPU time that a process used at its end, after its profile: the
    kernel then takes its memory down; or, where it `left` its profile, in a
    program that was executed without the library, as a shell of sshd's is."""
    last = max(headers, key=lambda header: header["cpu_ns"])
    if not last["cpu_ended"] and not left:
        return 0.0
    return max(0.0, cpu - last["cpu_ns"] / 1e9)


def compare(without, under):
    """What came out otherwise, as texts."""
    texts = []
    for key in sorted(set(without) | set(under)):
        if without.get(key) != under.get(key):
            texts.append(f"{key}: {str(under.get(key))[:2000]!r}, "
                         f"without {str(without.get(key))[:2000]!r}")
    return texts


def judge(mode, outcome):
    """What is wrong with the coverage, as texts."""
    if not MODES[mode]:
        return ["logs were written"] if outcome.total("logs") else []
    texts = []
    if outcome.total("damage"):
        texts.append("damaged logs")
    if outcome.lost or "REALTIME" in MODES[mode]:
        return texts
    large = [process for process in outcome.processes
             if process["cpu"] > LOOKED_AT]
    cpu = sum(process["cpu"] - process["before"] - process["after"]
              for process in large)
    weight = sum(process["weight"] for process in large)
    if weight < COVERED * (cpu - BESIDES * len(large)):
        texts.append(f"{weight:.3f} of {cpu:.3f} s of CPU time in samples")
    for process in large:
        rest = (process["cpu"] - process["before"] - process["after"] -
                BESIDES)
        if process["weight"] < COVERED_EACH * rest:
            texts.append(f"process {process['pid']} ({process['name']}): "
                         f"{process['weight']:.3f} of {process['cpu']:.3f} s, "
                         f"{process['before']:.3f} s of them before the "
                         f"library was there and {process['after']:.3f} s "
                         f"after its profile, {process['logs']} logs")
    return texts


def show(program, mode, outcome, texts):
    """Prints a run's line, and what was wrong."""
    share = whole = ""
    if outcome.total("cpu"):
        mine = [process for process in outcome.processes
                if not process["filtered"]]
        rest = sum(process["cpu"] - process["before"] - process["after"] -
                   process["looking"] for process in mine)
        weight = sum(process["weight"] for process in mine)
        share = (f", {100 * outcome.total('weight') / outcome.total('cpu'):.1f}%"
                 f" of it in samples, {100 * weight / max(1e-9, rest):.1f}"
                 "% of what is none of these")
        if len(mine) < len(outcome.processes):
            share += (f" (without {len(outcome.processes) - len(mine)} "
                      "processes whose filters ended the profile)")
    if outcome.total("samples"):
        whole = (f", {outcome.total('samples')} samples, "
                 f"{100 * outcome.total('whole') / outcome.total('samples'):.1f}"
                 f"% to the root, {outcome.total('lost')} lost")
    print(f"{'NOT SO' if texts else 'ok'}: {program.name}, {mode}: "
          f"{len(outcome.results)} results, {outcome.total('cpu'):.2f} s of "
          f"CPU ({outcome.total('before'):.2f} before the library was there, "
          f"{outcome.total('after'):.2f} after profiles or without the library, "
          f"{outcome.total('looking'):.2f} of looking) "
          f"in {len(outcome.processes)} processes, "
          f"{outcome.total('logs')} logs{share}{whole}", flush=True)
    for text in texts:
        print("    " + text, flush=True)


def examine(program, modes, keep):
    """Runs a program in all modes; returns how much was wrong."""
    without = run_once(program, "without", keep)
    show(program, "without", without, [])
    if "failure" in without.results:
        print(f"NOT SO: {program.name} fails without jprof: "
              f"{without.results['failure']}")
        return 1
    wrong = 0
    for mode in modes:
        outcome = run_once(program, mode, keep)
        texts = compare(without.results, outcome.results)
        if texts:
            # Once more without: what it does now and then is not our doing.
            without = run_once(program, "without", keep)
            texts = compare(without.results, outcome.results)
        texts += judge(mode, outcome)
        show(program, mode, outcome, texts)
        wrong += bool(texts)
    return wrong


def give_up(number, _frame):
    """Ends what runs, and then this process."""
    if Outcome.worker is not None:
        os.kill(Outcome.worker, signal.SIGTERM)
        os.waitpid(Outcome.worker, 0)
    os._exit(128 + number)


def main():
    """Returns the exit status."""
    signal.signal(signal.SIGTERM, give_up)
    signal.signal(signal.SIGINT, give_up)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", help="only those whose name has this in it")
    parser.add_argument("--keep", help="folder for what the runs leave behind")
    parser.add_argument("program", nargs="*", choices=[[], *PROGRAMS])
    options = parser.parse_args()
    if not os.path.exists(LIBRARY):
        print(f"no {LIBRARY}")
        return 2
    os.environ["PATH"] = os.environ.get("PATH", "/usr/bin:/bin") + \
        ":/usr/sbin:/sbin"
    modes = [mode for mode in MODES
             if mode != "without" and (options.mode or "") in mode]
    wrong = runs = skipped = 0
    for name in options.program or PROGRAMS:
        program = PROGRAMS[name]
        missing = program.missing()
        if missing:
            print(f"skipped: {program.name}: no {missing} here "
                  f"(package {program.package})", flush=True)
            skipped += 1
            continue
        wrong += examine(program, modes, options.keep)
        runs += len(modes)
    print(f"{runs} runs, {wrong} of them wrong, {skipped} programs skipped")
    return 1 if wrong or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
