# SPDX-License-Identifier: MIT
"""Coverage of processes that live for some milliseconds, and of programs that
execute others.

Runs in: tests.  B names the build folder.
"""
import os
import unittest

from jprun import LIBRARY, program, quote, shell
from test_coverage import CoverageCase

# Computes without system calls, for a time that its address chooses, so that the
# last tick is anywhere, and then executes a command; says what its CPU clock has
# told just before.
LEAVES = r"""
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct timespec now;
    const unsigned long most = 90000000 + (uintptr_t)argv / 16 % 7000000;
    (void)argc;
    for (volatile unsigned long i = 0; i < most; i++)
        ;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    printf("%d %lld\n", (int)getpid(), now.tv_sec * 1000000000LL + now.tv_nsec);
    fflush(stdout);
    for (volatile unsigned long i = 0; i < 3000000; i++)
        ;
    execv(argv[1], argv + 1);
    return 1;
}
"""

# As libfaketime: the time is another one, but for CPU clocks.
SHIFTED = r"""
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *now)
{
    const int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC ||
        clock == CLOCK_BOOTTIME)
        now->tv_sec += 1000000;
    return result;
}
"""


class Shifted(CoverageCase):
    """Programs that a process executes with other clocks are still its own."""

    def check(self, *command):
        self.compile("leaves", "-O1", source=LEAVES)
        done = self.run_program(*shell(
            "%s %s; r=$?; %s 0.2; exit $r" %
            (quote(self.path("leaves")), " ".join(map(quote, command)),
             quote(program("busy")))))
        if done.status == 77:
            self.skipTest("no time namespaces here")
        self.assertEqual(done.status, 0, done.err)
        summary, gaps = self.merged()
        self.assertEqual(gaps, [])
        self.assertGreater(float(summary["coverage"]), 0.9, summary)
        self.assertLess(float(summary["wall_s"]), 100, summary)

    def test_time_namespace(self):
        """Start times and CLOCK_MONOTONIC are others there."""
        self.check("/bin/sh", "-c",
                   "unshare -T --monotonic 1000000 --boottime 1000000 true "
                   "2>/dev/null || exit 77; exec unshare -T --monotonic 1000000"
                   " --boottime 1000000 \"$1\" 0.4", "sh", program("busy"))

    def test_library_that_tells_other_times(self):
        """The library does not ask it for the time."""
        self.compile("shifted.so", "-shared", "-fPIC", source=SHIFTED)
        before = max(0, os.stat(self.path("shifted.so")).st_mtime_ns)
        self.check("/usr/bin/env", "LD_PRELOAD=%s:%s" %
                   (LIBRARY, self.path("shifted.so")), program("busy"), "0.4")
        for run in self.all_runs():
            self.assertLess(run.header["real_ns"], before + 900000 * 10**9)


# A child in the memory of its parent, which computes.
SHARES = r"""
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static int work(void *data)
{
    (void)data;
    for (volatile unsigned long i = 0; i < 1000000000; i++)
        ;
    return 0;
}
int main(int argc, char **argv)
{
    char *stack = malloc(1 << 20);
    (void)argv;
    const int pid =
        clone(work, stack + (1 << 20), CLONE_VM | SIGCHLD, NULL);
    if (argc > 1)
        work(NULL);
    return waitpid(pid, NULL, 0) != pid;
}
"""


class Shares(CoverageCase):
    def test_child_in_the_same_memory(self):
        self.compile("shares", "-O1", "-D_GNU_SOURCE", source=SHARES)
        done = self.run_program(self.path("shares"), "both")
        self.assertEqual(done.status, 0, done.err)
        gaps = self.merged()[1]
        self.assertEqual(len(gaps), 1, gaps)
        self.assertIn("shares the memory", gaps[0]["why"])


class Brief(CoverageCase):

    def test_time_before_an_exec(self):
        """The process's clock, on which a timer of jprof's runs, is up to a
        tick late by itself."""
        self.compile("leaves", "-O1", source=LEAVES)
        late = []
        for _ in range(8):
            done = self.run_program(self.path("leaves"), "/bin/true")
            self.assertEqual(done.status, 0, done.err)
            told = int(done.out.split()[1])
            cpu = [run.header["cpu_ns"] for run in self.all_runs()
                   if run.header["exe"].endswith("leaves")]
            self.assertEqual(len(cpu), 1)
            late.append(told - cpu[0])
        self.assertLess(max(late), 0, late)

    def test_brief_processes(self):
        """Each process has a log or, where no sample found it, a line."""
        done = self.run_program(*shell(
            "i=0; while [ $i -lt 80 ]; do /bin/true; (:); i=$((i+1)); done"))
        self.assertEqual(done.status, 0, done.err)
        told, logged = {}, {run.header["pid"] for run in self.all_runs()}
        for name in self.files():
            if name.endswith("tree"):
                with open(self.path(name), encoding="utf-8") as file:
                    for word, keys in map(self.brief, file):
                        if word == "jprof-brief" and keys["ended"]:
                            told[keys["pid"]] = keys
        self.assertGreaterEqual(len(logged | told.keys()), 161)
        self.assertGreater(len(told), 60)
        for keys in told.values():
            self.assertGreater(keys["before"], 0)
            self.assertGreater(keys["cpu"], keys["before"])
        summary = self.merged()[0]
        self.assertGreater(float(summary["cpu_brief_s"]), sum(
            keys["cpu"] - keys["before"] for keys in told.values()) / 2e9)
        self.assertGreater(float(summary["cpu_before_s"]), sum(
            keys["before"] for keys in told.values()) / 2e9)

    @staticmethod
    def brief(line):
        """A line's word and numbers."""
        _, word, *pairs = line.split()
        keys = dict(pair.split("=", 1) for pair in pairs)
        return word, {key: int(value) for key, value in keys.items()
                      if value.isdigit()}


if __name__ == "__main__":
    unittest.main()
