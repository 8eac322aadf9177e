# SPDX-License-Identifier: MIT
"""Programs in a world that refuses system calls, and whether a profile of one
is whole or says what it lacks.  Runs in: tests."""
import errno
import functools
import glob
import os
import re
import resource
import subprocess

from jprun import LIBRARY, PERIOD_NS, REPORT, ROOT, Case, need, program

FLAGS = "JP_START JP_PERIOD=0.004"
# For each that works; alone it needs none for the same outcome.
PERIODS = 8
# So many profiles may lack a process: the kernel looks at its timers in ticks,
# and beside others each tick of one can find another running.
UNSEEN = 2
# Of a process's CPU time nobody samples its loader and its end, nor a thread's
# last part of a period.
START_S, SLACK_S = 0.012, PERIOD_NS / 1e9


def numbers(names):
    """{name: number} of those that there are on this machine."""
    text = "#include <sys/syscall.h>\n" + "".join(
        "=%s SYS_%s\n" % (name, name) for name in sorted(names))
    done = subprocess.run([need("gcc"), "-E", "-P", "-"], input=text,
                          stdout=subprocess.PIPE, check=True, text=True)
    return {name: int(number) for name, number in
            re.findall(r"(?m)^=(\w+) (\d+)$", done.stdout)}


def calls():
    """Names of those in preload/sig, but for the files that only know calls of
    the program's by their numbers."""
    names = set()
    sig = os.path.join(ROOT, "preload/sig")
    paths = set(glob.glob(sig + "/**/*.c", recursive=True))
    for path in paths - {sig + "/timers/left.c", sig + "/os/restart.c"}:
        with open(path, encoding="utf-8") as source:
            names |= set(re.findall(r"\bSYS_([a-z]\w*)", source.read()))
    return names


@functools.lru_cache(maxsize=None)
def turns():
    """How often one has to turn on this machine to last for PERIODS, as the
    program's argument."""
    def cpu_s(count):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([program("attempts"), "-x", str(count)],
                              check=False)
        assert done.returncode == 7, done.returncode
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime + after.ru_stime - before.ru_utime -
                before.ru_stime)
    count = 100000000
    took_s = sorted(cpu_s(count) for _ in range(3))[1]
    return str(int(count * PERIODS * PERIOD_NS / 1e9 / took_s))


def answers(names, error):
    """What tests/programs/refuse is told to refuse them all."""
    return ",".join("%d/%d" % (number, error)
                    for number in sorted(numbers(names).values()))


def processes(out):
    """How many processes there may be in a profile, by the program's output."""
    # It and those of its children that worked and ended well.
    there = 1 + len(re.findall(r" 0 1792$", out, re.M))
    # The child that ends at once may have had a sample.
    return range(there, there + len(re.findall(r"^clone 0 2304$", out, re.M)) +
                 1)


class Refusing(Case):
    unseen = 0
    there = range(0)    # how many processes a whole profile may have

    def outcome(self, refused, argv, flags=None):
        """(exit status, output), and the CPU seconds of it and its
        children."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = self.run_program(
            program("refuse"), refused, *argv, preload=None, flags=flags,
            env={"REFUSE_PRELOAD": LIBRARY} if flags else {})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu_s = (after.ru_utime + after.ru_stime - before.ru_utime -
                      before.ru_stime)
        return (done.status, done.out), done.err

    def attempts(self, refused, flags=FLAGS):
        """The program of all ways, alone and under the library, must come out
        the same; then what is left in the folder is looked at."""
        alone, _ = self.outcome(refused, (program("attempts"), "0"))
        under, err = self.outcome(refused, (program("attempts"), turns()),
                                  flags)
        self.assertEqual(under, alone, err)
        if alone[0] in (127, -11):
            return {}           # not even the loader did without that
        said = [line for line in err.splitlines() if line.startswith("jprof")]
        try:
            summary = self.look(said)
            self.there = processes(alone[1])
            if summary and not said and int(summary["notes"]) == 0:
                self.everyone(summary)
            return summary
        finally:
            for name in self.files():
                os.unlink(self.path(name))

    def everyone(self, summary):
        """Each process has a log, or its time is counted as without one."""
        self.assertLess(int(summary["processes"]), self.there.stop, summary)
        silent = max(self.there.start - int(summary["processes"]), 0)
        self.assertGreaterEqual(float(summary["cpu_untraced_s"]) +
                                float(summary["cpu_brief_s"]),
                                silent * PERIOD_NS / 1e9, summary)
        self.unseen += silent
        self.assertLessEqual(self.unseen, UNSEEN, summary)

    def look(self, said):
        """The folder's profile is whole, or says what it lacks."""
        # One line a process: of its own, and of its four children.
        self.assertLessEqual(len(said), 5, said)
        if not self.log_names():
            self.assertTrue(said, "no profile, and no word about it")
            return {}
        done = subprocess.run(
            [REPORT, "--format=summary", self.dir], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
            text=True)
        self.assertLess(done.returncode, 2, done.stderr)
        summary = dict(line.split(": ", 1) for line in done.stdout.splitlines()
                       if ": " in line)
        text = "%s\n%s\n%s" % ("\n".join(
            line for line in done.stdout.splitlines() if not
            line.startswith(("cpu_", "rule", "jit", "rate"))), done.stderr,
                                 said)
        notes = int(summary["notes"]) > 0 or bool(said)
        # A damaged profile is reported as far as it goes, with the damage.
        self.assertEqual(done.returncode != 0, "jprof-map" in done.stderr,
                         text)
        processes = int(summary["processes"])
        covered = float(summary["cpu_s"])
        # As far as the tests' own clock tells: one that is refused tells
        # the report nothing.
        lacking = (self.cpu_s - covered - processes * START_S -
                   (processes + 1) * SLACK_S)
        # A process's one timer counts whole ticks, also those that it and
        # others shared, at its begin and its end.
        ticks = 2 * SLACK_S if summary["clock"] == "itimer" else 0
        self.assertLess(-lacking, 0.02 + 0.2 * self.cpu_s + processes *
                        (2 * START_S + ticks), "more than there was: " + text)
        if lacking > 0.1 * self.cpu_s:
            self.assertTrue(notes, "time is missing: " + text)
        if "coverage" not in summary or \
                int(summary["unnamed_frames"]) > 0.02 * int(summary["frames"]):
            self.assertTrue(notes, text)
        for what in ("lost", "incomplete"):
            reasons = [int(number) for name, number in summary.items()
                       if name.startswith(what + "_") and "." not in number]
            self.assertEqual(sum(reasons), int(summary[what]), text)
        if int(summary["incomplete"]) > 0:
            self.assertLess(int(summary["incomplete"]), 0.2 * int(
                summary["samples"]), text)
        elif int(summary["unnamed_frames"]) == 0:
            stacks = self.collapsed_folder()
            total = sum(weight for _, weight in stacks)
            toil = sum(weight for stack, weight in stacks if "toil" in stack)
            self.assertGreater(toil, 0.6 * total, stacks)
        return summary

    def collapsed_folder(self):
        done = subprocess.run(
            [REPORT, "--format=collapsed", self.dir], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True,
            text=True)
        return [(line.rsplit(" ", 1)[0].split(";"), int(line.rsplit(" ", 1)[1]))
                for line in done.stdout.splitlines()]


NAMES = {error: errno.errorcode[error]
         for error in (errno.EPERM, errno.ENOSYS, errno.EAGAIN)}
