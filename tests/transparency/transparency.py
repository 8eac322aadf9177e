#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs test suites that others wrote without jprof and under it, and compares
what each of their tests came to, and how long they took:
    transparency.py [--short] [--suite NAME] [--unit NAME]... [--jobs N]
                    [--seconds N] [--keep FOLDER] [--mode TEXT]...
                    [--times FILE]
A test that came out otherwise under jprof, or took much longer, is run again,
with and without, to tell what the library did from what the test does now and
then by itself.
Exits 0 when the lists of passed and failed tests agree.  B is the build folder.
Runs in: tests."""

import argparse
import concurrent.futures
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from built import BUILT
from suites import INSTALLED, Suite

SUITES = INSTALLED + BUILT
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BUILD = os.path.abspath(os.path.join(ROOT, os.environ.get("B", "build")))
LIBRARY = os.path.join(BUILD, "libjprof.so")
# SIGUSR1 pauses a program that leaves it alone, which is what jprof promises;
# some of these tests want to see what the signal does by default: end it.
MODES = {
    "the library idle": None,
    "1000 Hz of CPU": "JP_START;JP_PERIOD=0.001;JP_PAUSE_SIGNAL=NONE",
    "100 Hz of real time":
        "JP_START;JP_REALTIME;JP_PERIOD=0.01;JP_PAUSE_SIGNAL=NONE",
}
# How often what differs is run again, and how many more failures under the
# library than without it are taken for its doing.
AGAIN = 5
MARGIN = 2
# How often more a test is run that is bad without the library, too, but less
# often: six runs of one that fails half the time differ so in one of four.
MORE = 12
# What takes longer than this much of its time without jprof, and these seconds,
# in each of so many runs, is slower.
SLOWER = 2
SLOWER_SECONDS = 0.3
SLOWER_RUNS = 3


def environment_of(mode, folder):
    """The environment of a run in `mode` (None: without jprof)."""
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith("JP") and key != "LD_PRELOAD"}
    environment["TMPDIR"] = folder
    if mode is not None:
        environment["LD_PRELOAD"] = LIBRARY
        if MODES[mode]:
            environment["JPROF_FLAGS"] = (
                f"{MODES[mode]};JP_FILENAME={folder}-logs/%p.log")
    return environment


def loads(folder):
    """Whether a program has the library where it is to be idle."""
    environment = environment_of("the library idle", folder)
    done = subprocess.run(["cat", "/proc/self/maps"], env=environment,
                          capture_output=True, text=True, check=False)
    return LIBRARY in done.stdout


def run_unit(suite, unit, mode):
    """Returns ({test: outcome}, output, number of logs, {what: seconds})."""
    Suite.local.times = {}
    top = tempfile.mkdtemp(prefix="jprof-tr-")
    folder = os.path.join(top, "run")
    os.mkdir(folder)
    os.mkdir(folder + "-logs")
    suite.hand_over(top)
    try:
        outcomes, output = suite.run(unit, folder, environment_of(mode, folder))
        logs = len(glob.glob(folder + "-logs/*.log*"))
        if mode is not None and MODES[mode] is None:
            logs = 0
            outcomes["files of jprof's"] = str(glob.glob(folder + "/jprof-*"))
        else:
            outcomes["files of jprof's"] = "[]"
    finally:
        shutil.rmtree(top, ignore_errors=True)
    return outcomes, output, logs, Suite.local.times


def compare(without, under):
    """The tests that came out otherwise, those that one list lacks included."""
    return sorted(test for test in set(without) | set(under)
                  if without.get(test) != under.get(test))


def is_bad(outcome):
    """Whether an outcome says that a test did not do what it should."""
    return outcome not in ("pass", "skipped", "undone", "exit 0",
                           "exit 77")


def slower(without, under):
    """What took longer in each of these runs ({what: seconds}) than it may."""
    worst = {name: max(times.get(name, 0) for times in without)
             for name in without[0]}
    return sorted(name for name, most in worst.items()
                  if all(times.get(name, 0) > SLOWER * most + SLOWER_SECONDS
                         for times in under))


class Verdict:
    """What was found out about one unit in one mode."""

    def __init__(self, suite, unit, mode):
        self.suite, self.unit, self.mode = suite, unit, mode
        self.tests = self.logs = 0
        self.different, self.unstable, self.slow = [], [], []
        self.output = b""
        self.times = {}         # {what: (without, under)}

    def judge_times(self, without, under):
        """Runs what took much longer again."""
        times = {None: [without[3]], self.mode: [under[3]]}
        self.times = {name: (seconds, under[3].get(name, 0))
                      for name, seconds in without[3].items()}
        while slower(times[None], times[self.mode]):
            if len(times[None]) == SLOWER_RUNS:
                for name in slower(times[None], times[self.mode]):
                    least, most = (
                        pick(run.get(name, 0) for run in times[mode])
                        for pick, mode in ((min, self.mode), (max, None)))
                    self.slow.append(f"{name}: {least:.2f} s, without "
                                     f"{most:.2f} s")
                return
            for mode, done in times.items():
                done.append(run_unit(self.suite, self.unit, mode)[3])

    def judge(self, without, under):
        """Runs what differs again and sorts it."""
        differing = compare(without[0], under[0])
        self.tests, self.logs = len(without[0]), under[2]
        if not differing:
            return
        runs = {None: [without[0]], self.mode: [under[0]]}
        # What hung once is not waited for as often again.
        hung = "exit hang" in under[0].values()
        self.run_again(runs, without[0], 1 if hung else AGAIN)
        if not hung and any(is_worse(*bad_of(runs, self.mode, test)) and
                            bad_of(runs, self.mode, test)[0]
                            for test in differing):
            self.run_again(runs, without[0], MORE)
        for test in differing:
            seen = {mode: outcomes_of(done, test)
                    for mode, done in runs.items()}
            text = (f"{test}: under jprof {summary(seen[self.mode])}; "
                    f"without {summary(seen[None])}")
            same = set(seen[self.mode]) & set(seen[None])
            if is_worse(*bad_of(runs, self.mode, test)) or not same:
                self.different.append(text)
            else:
                self.unstable.append(text)

    def run_again(self, runs, first, times):
        """Adds to `runs`; keeps the last output that was not as the first
        without the library."""
        for _ in range(times):
            for mode, done in runs.items():
                outcomes, output, _, _ = run_unit(self.suite, self.unit, mode)
                done.append(outcomes)
                if mode is not None and compare(first, outcomes):
                    self.output = output


def outcomes_of(done, test):
    """What a test came to in each run."""
    return [outcomes.get(test, "absent") for outcomes in done]


def bad_of(runs, mode, test):
    """How often it was bad without the library and in the mode, and of how
    many."""
    without, under = (sum(map(is_bad, outcomes_of(runs[key], test)))
                      for key in (None, mode))
    return without, under, len(runs[None])


def is_worse(without, under, count):
    """Whether a test is bad more often under jprof.  One that is bad by itself
    now and then must be so by more than chance has it, three standard
    deviations of the difference."""
    share = (without + under) / (2 * count)
    chance = 3 * (2 * count * share * (1 - share)) ** 0.5
    return under >= without + MARGIN and (without == 0 or count < MORE or
                                          under - without > chance)


def summary(outcomes):
    """`4 pass, 2 failure`."""
    kinds = sorted(set(outcomes))
    return ", ".join(f"{outcomes.count(kind)} {kind}" for kind in kinds)


def examine(suite, unit, modes, timed):
    """The verdicts on a unit, one a mode.  timed: also on how long it took."""
    without = run_unit(suite, unit, None)
    verdicts = []
    for mode in modes:
        verdict = Verdict(suite, unit, mode)
        under = run_unit(suite, unit, mode)
        verdict.judge(without, under)
        if timed:
            verdict.judge_times(without, under)
        verdicts.append(verdict)
    return verdicts


def show(verdict, keep):
    """Prints what there is to say of a verdict."""
    head = f"{verdict.suite.name}: {verdict.unit}, {verdict.mode}"
    print(f"{'ok' if not verdict.different else 'NOT THE SAME'}: {head}: "
          f"{verdict.tests} tests, {verdict.logs} logs", flush=True)
    for text in verdict.unstable:
        print(f"    now and then by itself: {text}", flush=True)
    for text in verdict.slow:
        print(f"    slower: {text}", flush=True)
    for text in verdict.different:
        print(f"    different: {text}", flush=True)
    if verdict.different and keep:
        name = f"{verdict.suite.name}-{verdict.unit}-{verdict.mode}.txt"
        with open(os.path.join(keep, re.sub(r"[ /]", "_", name)), "wb") as file:
            file.write(verdict.output)


def show_times(verdicts, path):
    """Prints each mode's time beside that without, and writes all to `path`."""
    for mode in sorted({verdict.mode for verdict in verdicts}):
        sums = [0, 0]
        for verdict in verdicts:
            if verdict.mode == mode:
                for pair in verdict.times.values():
                    sums = [sums[i] + pair[i] for i in range(2)]
        if sums[0]:
            print(f"{mode}: {sums[1]:.1f} s, without {sums[0]:.1f} s, "
                  f"{sums[1] / sums[0]:.2f} times")
    if path:
        with open(path, "w", encoding="utf-8") as file:
            for verdict in verdicts:
                for name, (without, under) in sorted(verdict.times.items()):
                    print(verdict.suite.name, verdict.unit, name, verdict.mode,
                          f"{without:.3f}", f"{under:.3f}", sep="\t", file=file)


def give_up(number, _frame):
    """Ends what runs, and then this process."""
    for group in list(Suite.groups):
        os.killpg(group, signal.SIGKILL)
    os._exit(128 + number)


def main():
    """Returns the exit status."""
    signal.signal(signal.SIGTERM, give_up)
    signal.signal(signal.SIGINT, give_up)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--suite", choices=[suite.name for suite in SUITES])
    parser.add_argument("--unit", action="append")
    parser.add_argument("--mode", action="append", default=[],
                        help="modes whose names hold one of these; else all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=int, default=400,
                        help="a unit that runs on for longer hangs")
    parser.add_argument("--keep", help="folder for the output of what differs")
    parser.add_argument("--times", help="file for how long each thing took")
    options = parser.parse_args()
    Suite.seconds = options.seconds
    suites = [suite for suite in SUITES
              if options.suite in (None, suite.name)]
    for suite in suites:
        if not suite.present():
            print(f"{suite.name}: not there (package {suite.package})")
            return 2
    if not os.path.exists(LIBRARY) or not loads(BUILD):
        print(f"no {LIBRARY}, or it does not load")
        return 2
    modes = [mode for mode in MODES
             if not options.mode or any(map(mode.count, options.mode))]
    work = [(suite, unit, modes, not options.short) for suite in suites
            for unit in suite.units(options.short)
            if not options.unit or unit in options.unit]
    tests = different = logs = 0
    verdicts = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(examine, *each) for each in work]
        for job in concurrent.futures.as_completed(jobs):
            for verdict in job.result():
                verdicts.append(verdict)
                show(verdict, options.keep)
                tests += verdict.tests
                different += len(verdict.different)
                logs += verdict.logs
    show_times(verdicts, options.times)
    print(f"{len(work)} units, {tests} outcomes compared, {logs} logs, "
          f"{different} different")
    if logs == 0:
        print("nothing was profiled: this says nothing")
        return 1
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
