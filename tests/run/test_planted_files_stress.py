# SPDX-License-Identifier: MIT
"""Root profiles and reports in the folder of a user who plants, renames,
links, truncates and replaces names there and in /tmp all the while.  Nothing
outside the profile's folder may be written, removed, read or changed in mode,
and no program be harmed.

Runs in: tests.  JP_HOSTILE_SECONDS=600 is `make check-hostile`; with
JP_HOSTILE_BY_HAND=1 programs are run under the bare library as well.
"""
import glob
import os
import random
import signal
import stat
import subprocess
import time
import unittest

import test_hostile
from test_launcher import PATIENCE

SECONDS = float(os.environ.get("JP_HOSTILE_SECONDS", "6"))
BY_HAND = os.environ.get("JP_HOSTILE_BY_HAND") == "1"
LOOP = "i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done"
PROGRAM = "%s; sh -c '%s'; echo fine; exit 7" % (LOOP, LOOP)

NAMES = (
    "jprof-log", "jprof-map", "jprof-tree", "report.html", "jprof-log-%d",
    "jprof-map-%d", "jprof-log-%d-2", "jprof-log.code-%d.bin",
    "jprof-log.perf-%d.map", "jprof-log.jit-%d.dump", ".jprof-%d-0", "out",
    "jit", "x/out", "jit-%d.dump", "isolate-0x1-%d-v8.log",
    ".jprof-report-%d-0")
NAMES_TMP = ("perf-%d.map", "jit-%d.dump", "jprof-log", "jprof-map",
             "jprof-tree", "perfinfo-%d.map", ".java_pid%d", ".attach_pid%d")


def some_name():
    """A name that jprof uses, of a process that is there or comes soon."""
    with open("/proc/loadavg", encoding="ascii") as text:
        pid = int(text.read().split()[-1]) + random.randrange(-6, 12)
    if random.random() < 0.2:
        return "/tmp/" + random.choice(NAMES_TMP).replace("%d", str(pid))
    return random.choice(NAMES).replace("%d", str(pid))


def plant(canary):
    """One trap in the working directory."""
    act, at = random.randrange(9), some_name()
    there = glob.glob("*") + glob.glob(".jprof*")
    if act == 0:
        os.mkfifo(at)
    elif act in (1, 2):
        os.symlink(random.choice((canary, canary + "/perf-1.map", ".",
                                  canary + "/new", "/proc/self/mem")), at)
    elif act == 3:
        os.link(canary + "/perf-1.map", at)
    elif act == 4:
        os.mkdir(at, 0o777)
    elif act == 5:
        with open(at, "w", encoding="ascii") as out:
            out.write("1 process pid=1/../..\n" * random.randrange(9))
    elif act == 6:
        os.rename(random.choice(there), at)
    elif act == 7:
        os.truncate(random.choice(there), 0)
    else:
        try:
            os.unlink(random.choice(there))
        except OSError:
            os.rmdir(random.choice(there))


def plant_for_ever(user, folder, canary, seed):
    """The life of a planter, a child of the test's."""
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(user, user, user)
    os.chdir(folder)
    random.seed(seed)
    while True:
        try:
            plant(canary)
        except (OSError, IndexError):
            pass
        time.sleep(0.0005)      # the runs want the processor, too


class Planter(test_hostile.Case):
    def setUp(self):
        super().setUp()
        self.ground = self.folder("ground", self.users["a"], 0o777)
        self.planters = []
        self.addCleanup(self.clear)
        for seed in (1, 2):
            pid = os.fork()
            if pid == 0:
                try:
                    plant_for_ever(self.users["a"], self.ground, self.canary,
                                   seed)
                finally:
                    os._exit(1)
            self.planters.append(pid)

    def stop(self):
        for pid in self.planters:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        self.planters = []

    def clear(self):
        """What the planters have left in /tmp."""
        self.stop()
        for entry in os.scandir("/tmp"):
            try:
                info = entry.stat(follow_symlinks=False)
                if info.st_uid != self.users["a"]:
                    continue
                if stat.S_ISDIR(info.st_mode):
                    os.rmdir(entry.path)
                else:
                    os.unlink(entry.path)
            except OSError:
                pass

    def times(self):
        """Of the last reading, where the file system keeps it."""
        return {name: os.lstat(os.path.join(self.canary, name)).st_atime_ns
                for name in os.listdir(self.canary)}

    def one_run(self, number):
        """A profile in the planted folder; what came of it."""
        how = number % 3
        if how == 2 and BY_HAND:
            env = dict(self.env, LD_PRELOAD=self.path("libjprof.so"),
                       JPROF_FLAGS="JP_START JP_PERIOD=0.004")
            argv = ["sh", "-c", PROGRAM]
        else:
            env = self.env
            argv = [self.path("jprof")] + (
                ["-o", ("out", "x/out")[number % 2]] if how else []) + \
                ["sh", "-c", PROGRAM]
        child = subprocess.Popen(argv, cwd=self.ground, env=env, text=True,
                                 stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE,
                                 start_new_session=True)
        try:
            out, err = child.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            self.fail("hangs: %s" % argv)
        # Refused before anything ran, or as without a profile.
        self.assertIn((child.returncode, out), ((7, "fine\n"), (2, "")), err)
        return child.returncode

    def one_report(self, what):
        done = subprocess.run([self.path("jprof"), "report", what],
                              cwd=self.ground, env=self.env, timeout=PATIENCE,
                              stdin=subprocess.DEVNULL, check=False,
                              capture_output=True)
        self.assertIn(done.returncode, (0, 1, 2, 64), done.stderr)
        self.assertNotIn(b"precious", done.stdout + done.stderr)

    def test_nothing_outside_is_touched(self):
        check = self.audit()
        for name in os.listdir(self.canary):
            os.utime(os.path.join(self.canary, name), (1, 10**9))
        check = self.audit()
        for name in os.listdir(self.canary):
            os.utime(os.path.join(self.canary, name), (1, 10**9))
        before = self.times()
        end, number, ran = time.monotonic() + SECONDS, 0, 0
        while time.monotonic() < end:
            ran += self.one_run(number) == 7
            for what in ("out", ".", "jprof-log", "report.html"):
                self.one_report(what)
            number += 1
        self.stop()
        self.assertEqual(self.times(), before, "something was read")
        check()
        self.assertGreater(ran, 0)
        print("%d runs, %d of them profiled" % (number, ran))


if __name__ == "__main__":
    unittest.main()
