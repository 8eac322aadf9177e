#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the tests and counts them; `make check` builds what it needs.

Runs in: tests.  Usage: B=build tests/check.py [--only KIND,KIND] [--update]
[--match TEXT] [--jobs N].  Kinds: lint, unit, sanitize (unit tests of the
library in the builds with the compilers' checks), golden, fuzz, run.

A line a job with its time, the output of failed ones, the slowest jobs, and as
the very last line `N passed, N failed, N skipped`.  Exit status 1 when anything
failed or when nothing ran at all.
"""
import argparse
import concurrent.futures
import contextlib
import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests"))
import golden       # noqa: E402  (needs the path above)

KINDS = ("lint", "unit", "sanitize", "golden", "fuzz", "run")
SKIP_STATUS = 77
FUZZ_MUTATIONS = "3000"
# Seconds after which a job is taken for hung.  Far above what any needs: they
# bound a dead lock, they measure nothing.
# A job's CPU seconds, in the thread that does it.
SPENT = threading.local()
# Of the jobs, how many of the slowest are named at the end.
SLOWEST = 12
# What takes longest begins first, so that none is left for the end: as long as
# the last run of the same build says, or else about so many seconds.
TIMES = "check-times"
GUESSES = {"lint clang-tidy": 200, "lint other-compiler": 120,
           "run test_soak.py": 100, "run test_syscall_refusals.py": 60,
           "lint cppcheck": 60, "run test_aarch64_whole.py": 40}
# Those that wait for more than half of their time have a lane of their own:
# they run beside what computes.  By name: on a busy machine all jobs wait.
WAITS = {"run test_%s.py" % name for name in (
    "control debuginfod chromium_jit hostile interrupts page page_code "
    "page_safety page_waits partings pid_one push realtime rings "
    "signal_heavy_runtimes transparency waits").split()}
GUESS = {"lint": 5, "run": 20, "fuzz": 15, "unit": 1, "sanitize": 4,
         "golden": 1}
TIMEOUT = {"lint": 1800, "unit": 300, "fuzz": 1800, "run": 1800}


class Result:
    """What a job counted, and its output when that is worth showing; how long
    it took, and the CPU seconds of it and of all that it waited for."""

    def __init__(self, name, passed=0, failed=0, skipped=0, output=""):
        self.name, self.output = name, output
        self.passed, self.failed, self.skipped = passed, failed, skipped
        self.seconds = self.cpu = 0

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped


def execute(argv, seconds, extra=None):
    """(exit status or None after a timeout, output) of a command, run in the
    tree's top in a process group of its own, which alone is ended."""
    with tempfile.TemporaryDirectory(prefix="jprof-test-") as scratch:
        os.chmod(scratch, 0o711)    # some tests' programs are other users'
        env = dict(os.environ, TMPDIR=scratch, LC_ALL="C.UTF-8",
                   CMOCKA_MESSAGE_OUTPUT="TAP", PYTHONDONTWRITEBYTECODE="1")
        for name in ("LD_PRELOAD", "JPROF_FLAGS", "JPROF_ISCHILD",
                     "MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
            env.pop(name, None)
        env.update(extra or {})
        process = subprocess.Popen(
            argv, cwd=ROOT, env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True)
        late = []
        # TERM first: the run tests then end the groups that they made.
        timers = [threading.Timer(seconds, end_group, (process.pid,
                                                       signal.SIGTERM, late)),
                  threading.Timer(seconds + 20, end_group, (
                      process.pid, signal.SIGKILL, late))]
        for timer in timers:
            timer.start()
        output = process.stdout.read()
        _, ended, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(ended)
        process.stdout.close()
        for timer in timers:
            timer.cancel()
        SPENT.cpu = getattr(SPENT, "cpu", 0) + usage.ru_utime + usage.ru_stime
        if late:
            output += b"\n[no end within %d s]\n" % seconds
        return (None if late else process.returncode,
                output.decode("utf-8", "replace"))


def end_group(group, number, late):
    late.append(number)
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        pass


def plain_job(name, argv, seconds):
    """A command that passes with 0 and skips with 77."""
    status, output = execute(argv, seconds)
    if status == SKIP_STATUS:
        return Result(name, skipped=1, output=output)
    return Result(name, passed=status == 0, failed=status != 0, output=output)


def count_tap(output):
    """(passed, failed, skipped) lines of TAP.  A skip may be printed as "ok"
    or, by cmocka 1.1.5 (Debian 12), as "not ok"."""
    counts = [0, 0, 0]
    for line in output.splitlines():
        found = re.match(r"(not )?ok\b", line)
        if found and re.search(r"(?i)# skip", line):
            counts[2] += 1
        elif found:
            counts[1 if found.group(1) else 0] += 1
    return counts


def unit_job(name, argv):
    """A cmocka executable, whose tests report in TAP."""
    status, output = execute(argv, TIMEOUT["unit"])
    passed, failed, skipped = count_tap(output)
    planned = re.search(r"(?m)^1\.\.(\d+)", output)
    missing = int(planned.group(1)) - passed - failed - skipped \
        if planned else 1
    if missing > 0 or (status != 0 and failed == 0):
        failed += max(missing, 1)       # it died on the way
        output += "\n[exit status %s]\n" % status
    return Result(name, passed, failed, skipped, output)


def run_job(path):
    """A module of Python unit tests."""
    module = os.path.basename(path)[:-3]
    status, output = execute(
        [sys.executable, "-m", "unittest", "-v", module], TIMEOUT["run"],
        {"PYTHONPATH": os.pathsep.join(
            [os.path.join(ROOT, "tests", "run"),
             os.path.join(ROOT, "tests", "tools")]),
         "B": build_folder()})
    ran = re.search(r"(?m)^Ran (\d+) test", output)
    if ran is None:
        return Result("run " + module, failed=1, output=output)
    counts = dict.fromkeys(("failures", "errors", "skipped"), 0)
    for key, value in re.findall(r"(failures|errors|skipped)=(\d+)", output):
        counts[key] = int(value)
    failed = counts["failures"] + counts["errors"]
    if status != 0 and failed == 0:
        failed = 1
    passed = max(int(ran.group(1)) - failed - counts["skipped"], 0)
    return Result("run " + module, passed, failed, counts["skipped"], output)


def golden_job(case, command, update):
    name = "golden " + os.path.basename(case) + "/" + command
    report = os.path.join(build_folder(), "jprof-report")
    problem = golden.run_case(case, command, report, update)
    return Result(name, passed=not problem, failed=bool(problem),
                  output=problem or "")


def build_folder():
    return os.path.abspath(os.path.join(ROOT, os.environ.get("B", "build")))


def lint_jobs():
    for path in sorted(glob.glob(os.path.join(ROOT, "tests/lint/*"))):
        if os.access(path, os.X_OK) and not os.path.isdir(path):
            yield "lint " + os.path.basename(path), [path]


# What makes inputs for a fuzz target alone.
SEEDERS = {"fuzz_cfi": "cfiseeds.py", "fuzz_profile": "profileseed.py"}


def fuzz_targets():
    for source in sorted(glob.glob(os.path.join(ROOT, "tests/fuzz/fuzz_*.c"))):
        yield os.path.basename(source)[:-2]


def fuzz_job(name):
    """A fuzz target on the corpus, on the inputs of the golden cases and on
    two ELF files, each with mutations."""
    target = os.path.join(build_folder(), "asan/tests/fuzz", name)
    corpus = [path for path in glob.glob(
        os.path.join(ROOT, "tests/fuzz/corpus/**"), recursive=True)
              if os.path.isfile(path)]
    corpus += [os.path.join(build_folder(), "tests/programs", program)
               for program in ("spinlib.so", "inlined")]
    with tempfile.TemporaryDirectory(prefix="jprof-fuzz-") as scratch:
        if name in SEEDERS:
            subprocess.run([sys.executable, os.path.join(
                ROOT, "tests/tools", SEEDERS[name]), scratch], check=True,
                           stdout=subprocess.DEVNULL)
        for case in {case for case, _ in golden.cases(
                os.path.join(ROOT, "tests", "golden"))}:
            folder = os.path.join(scratch, os.path.basename(case))
            os.mkdir(folder)
            golden.prepare(case, folder)
        corpus += [path for path in glob.glob(scratch + "/**", recursive=True)
                   if os.path.isfile(path)]
        return plain_job("fuzz " + name,
                         [target, "-n", FUZZ_MUTATIONS] + sorted(corpus),
                         TIMEOUT["fuzz"])


def unit_executables():
    for source in sorted(glob.glob(os.path.join(ROOT, "tests/unit/test_*.c"))):
        path = os.path.join(build_folder(), "tests/unit",
                            os.path.basename(source)[:-2])
        # An instrumented build holds jprof-report's tests alone.
        if os.path.exists(path) or os.path.basename(build_folder()) != "asan":
            yield path


def sanitize_jobs():
    """(name, argv) of the library's unit tests in the instrumented builds."""
    # gcc 12's runtime for data races stops where too much of an address is
    # random (vm.mmap_rnd_bits 32); not every container allows the remedy.
    steady = ["setarch", os.uname().machine, "-R"]
    if subprocess.run(steady + ["true"], check=False,
                      stderr=subprocess.DEVNULL).returncode != 0:
        steady = []
    for build, pattern, prefix in (("asan", "test_pre_*.c", []),
                                   ("tsan", "test_pre_threads.c", steady)):
        for source in sorted(glob.glob(os.path.join(
                ROOT, "tests/unit", pattern))):
            name = build + "/" + os.path.basename(source)[:-2]
            yield "sanitize " + name, prefix + [os.path.join(
                build_folder(), build, "tests/unit",
                os.path.basename(source)[:-2])]


def jobs(kinds, update):
    """(name, callable, arguments) of everything to do."""
    if "run" in kinds:
        for path in sorted(glob.glob(os.path.join(ROOT,
                                                  "tests/run/test_*.py"))):
            yield "run " + os.path.basename(path), run_job, (path,)
    if "lint" in kinds:
        for name, argv in lint_jobs():
            yield name, plain_job, (name, argv, TIMEOUT["lint"])
    if "fuzz" in kinds:
        for name in fuzz_targets():
            yield "fuzz " + name, fuzz_job, (name,)
    if "unit" in kinds:
        for path in unit_executables():
            name = "unit " + os.path.basename(path)
            yield name, unit_job, (name, [path])
    if "sanitize" in kinds:
        for name, argv in sanitize_jobs():
            yield name, unit_job, (name, argv)
    if "golden" in kinds:
        for case, command in golden.cases(
                os.path.join(ROOT, "tests", "golden")):
            yield "golden " + case + command, golden_job, (
                case, command, update)


def known_times():
    """{job: seconds} of the last run."""
    try:
        with open(os.path.join(build_folder(), TIMES),
                  encoding="utf-8") as source:
            return {str(name): float(seconds)
                    for name, seconds in json.load(source).items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def keep_times(times):
    """For the next run; where it cannot be written, that guesses."""
    try:
        with open(os.path.join(build_folder(), TIMES), "w",
                  encoding="utf-8") as target:
            json.dump(dict(known_times(), **times), target, indent=0)
    except OSError:
        pass


def longest_first(todo):
    """Jobs in the order in which they are to begin."""
    times = known_times()
    return sorted(todo, key=lambda job: -times.get(
        job[0], GUESSES.get(job[0], GUESS[job[0].split()[0]])))


def lanes(todo, count):
    """(jobs, how many at a time) of each lane.  Alone, one after another."""
    todo = longest_first(todo)
    if count <= 1:
        return [(todo, 1)]
    idle = [job for job in todo if job[0] in WAITS]
    return [([job for job in todo if job not in idle], count), (idle, 1)]


def guarded(function, arguments):
    """A job's result; an error of the runner itself is a failed test."""
    start, SPENT.cpu = time.monotonic(), 0
    try:
        result = function(*arguments)
    except Exception as error:          # pylint: disable=broad-except
        result = Result("%s%s" % (function.__name__, arguments), failed=1,
                        output="%s: %s" % (type(error).__name__, error))
    result.seconds, result.cpu = time.monotonic() - start, SPENT.cpu
    return result


def show(result):
    print("%-6s %s (%d passed, %d failed, %d skipped) %.1f s, CPU %.1f s" % (
        "FAILED" if result.failed else "ok", result.name, result.passed,
        result.failed, result.skipped, result.seconds, result.cpu),
          flush=True)
    if result.failed:
        # Of a run's tests those that failed: their reports begin at a ruler.
        ruler = result.output.find("\n" + 70 * "=" + "\n") + 1
        print("".join("    " + line + "\n"
                      for line in result.output[ruler:].splitlines()), end="")
    elif result.skipped:
        reasons = re.findall(r"skipped ['\"](.*)['\"]|(?m:^skip: (.*)$)",
                             result.output)
        for reason in sorted({"".join(pair) for pair in reasons}):
            print("    skipped: " + reason)


def show_times(results, seconds):
    """Where the time went."""
    kinds = {}
    for result in results:
        kind = result.name.split()[0]
        kinds[kind] = kinds.get(kind, 0) + result.cpu
    print("the slowest (%.0f s in all, CPU %.0f s: %s):" % (
        seconds, sum(kinds.values()), ", ".join(
            "%s %.0f" % pair for pair in sorted(kinds.items()))))
    results = sorted(results, key=lambda result: -result.seconds)
    for result in results[:SLOWEST]:
        print("    %6.1f s, CPU %6.1f s  %s" % (result.seconds, result.cpu,
                                                result.name))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(KINDS))
    parser.add_argument("--match", default="")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    kinds = args.only.split(",")
    if set(kinds) - set(KINDS):
        parser.error("kinds are " + ", ".join(KINDS))
    todo = [job for job in jobs(kinds, args.update) if args.match in job[0]]
    # A shell starts what it puts into the background with these ignored, and
    # programs inherit that; an exec turns a handler into the default again.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:   # nohup
        signal.signal(signal.SIGHUP, lambda number, frame: None)
    total, all_results, again, times = Result("total"), [], [], {}
    start = time.monotonic()
    with contextlib.ExitStack() as stack:
        waiting = {}
        for some, count in lanes(todo, args.jobs):
            pool = stack.enter_context(
                concurrent.futures.ThreadPoolExecutor(count))
            waiting.update({pool.submit(guarded, *job[1:]): job[0]
                            for job in some})
        for future in concurrent.futures.as_completed(waiting):
            result = future.result()
            times[waiting[future]] = result.seconds
            show(result)
            all_results.append(result)
            if result.failed and result.name.startswith("run "):
                again.append(result)
            else:
                total.add(result)
    # Real programs on a machine that does something else as well: what failed
    # beside other tests is run once more, alone.  Its first outcome stands
    # above.
    unstable = []
    for first in again:
        print("again, alone: " + first.name, flush=True)
        result = guarded(run_job, (os.path.join(
            ROOT, "tests/run", first.name.split()[1] + ".py"),))
        show(result)
        all_results.append(result)
        total.add(result)
        if not result.failed:
            unstable.append(first.name.split()[1])
    keep_times(times)
    show_times(all_results, time.monotonic() - start)
    if unstable:
        print("failed beside others, passed alone: " + " ".join(unstable))
    failed = [result.name for result in all_results if result.failed and
              result.name.split()[-1] not in unstable]
    if failed:
        print("failed: " + ", ".join(sorted(set(failed))))
    print("again: %d" % len(unstable))
    print("%d passed, %d failed, %d skipped" % (
        total.passed, total.failed, total.skipped), flush=True)
    return 1 if total.failed or not todo else 0


if __name__ == "__main__":
    sys.exit(main())
