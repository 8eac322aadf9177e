# SPDX-License-Identifier: MIT
"""The launcher on a terminal, under shells with job control: keys, stopping
and going on, hanging up.

Runs in: tests.  B names the build folder.
"""
import os
import pty
import re
import select
import shutil
import signal
import time
import unittest

from jprun import need
from test_launcher import JPROF, PATIENCE, LauncherTest as Base, wait_until

# Counts its signals, and says at its end how many there were.
COUNTER = """import os, signal, sys, time
counts = {}
def count(number, frame):
    counts[number] = counts.get(number, 0) + 1
for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
    signal.signal(number, count)
end = time.process_time() + 0.2
while time.process_time() < end:
    pass
open("pid", "w").write(str(os.getpid()))
print("rea" + "dy", flush=True)
while not os.path.exists("go"):
    time.sleep(0.02)
open("counts", "w").write(repr(sorted((int(n), c) for n, c in counts.items())))
"""


class TerminalTest(Base):
    # Its tests are run from its own module.
    for name in dir(Base):
        if name.startswith("test_"):
            locals()[name] = None
    del name

    def setUp(self):
        super().setUp()
        with open(self.path("counter.py"), "w", encoding="ascii") as out:
            out.write(COUNTER)
        self.shown = b""

    def open(self, *argv):
        """A command on a terminal of its own."""
        try:
            for fd in os.openpty():
                os.close(fd)
        except OSError as error:
            self.skipTest("no terminals here: %s" % error)
        env = dict(self.env, PS1="$ ", HISTFILE="", TERM="xterm")
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.chdir(self.dir)
            os.execvpe(argv[0], argv, env)
        self.addCleanup(self.close)

    def close(self):
        if self.pid:
            os.killpg(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        if self.master >= 0:
            os.close(self.master)

    def type(self, text):
        os.write(self.master, text.encode())

    def expect(self, pattern):
        """Reads until the terminal shows it; returns the match."""
        end = time.monotonic() + PATIENCE
        while True:
            found = re.search(pattern, self.shown.decode(errors="replace"))
            if found:
                self.shown = b""
                return found
            if time.monotonic() > end:
                self.fail("%s is not in %r" % (pattern, self.shown))
            if select.select([self.master], [], [], 1)[0]:
                self.shown += os.read(self.master, 4096)

    def counts(self):
        with open(self.path("go"), "w", encoding="ascii"):
            pass
        wait_until(lambda: os.path.exists(self.path("counts")) and
                   os.path.getsize(self.path("counts")), "the program's end")
        with open(self.path("counts"), encoding="ascii") as text:
            return dict(eval(text.read()))

    def shells(self):
        for shell in (["bash", "--norc", "-i"], ["sh", "-i"]):
            if shutil.which(shell[0]):
                yield shell

    def start_counter(self, shell):
        for name in ("pid", "go", "counts"):
            if os.path.exists(self.path(name)):
                os.unlink(self.path(name))
        shutil.rmtree(self.path("out"), ignore_errors=True)
        self.open(*shell)
        self.type("%s -o out python3 counter.py\n" % JPROF)
        # With the line's end: a hang-up in the middle of it is an error.
        self.expect("ready\r\n")

    @staticmethod
    def is_stopped(pid):
        with open("/proc/%d/stat" % pid, encoding="ascii") as text:
            return ") T " in text.read()

    def end_shell(self):
        self.type("exit\n")
        os.waitpid(self.pid, 0)
        self.pid = 0
        os.close(self.master)
        self.master = -1

    def test_interrupt_twice(self):
        for shell in self.shells():
            with self.subTest(shell=shell[0]):
                self.start_counter(shell)
                self.type("\x03")
                time.sleep(0.3)
                self.type("\x03")
                time.sleep(0.3)
                self.assertEqual(self.counts(), {signal.SIGINT: 2})
                self.expect(r"jprof: report: out/report\.html")
                self.type("echo status $?\n")
                self.expect("status 0")
                self.end_shell()

    def test_stop_and_go_on(self):
        for shell in self.shells():
            with self.subTest(shell=shell[0]):
                self.start_counter(shell)
                self.type("\x1a")
                self.expect("(?i)stopped|suspended")
                with open(self.path("pid"), encoding="ascii") as text:
                    pid = int(text.read())
                wait_until(lambda: self.is_stopped(pid), "the program's stop")
                self.type("jobs\n")
                self.expect("(?i)stopped|suspended")
                self.type("fg\n")
                self.expect("counter.py")
                self.assertEqual(self.counts(), {})
                self.expect(r"jprof: report: out/report\.html")
                self.end_shell()

    def test_hanging_up(self):
        """The shell's death reaches the program; the report is made.  bash
        tells its jobs, and the kernel then the foreground: one signal or two,
        as without jprof."""
        self.start_counter(["bash", "--norc", "-i"])
        os.close(self.master)
        self.master = -1
        os.waitpid(self.pid, 0)
        self.pid = 0
        time.sleep(0.3)
        counts = self.counts()
        self.assertIn(counts.pop(signal.SIGHUP), (1, 2))
        self.assertEqual(counts, {})
        wait_until(lambda: os.path.exists(self.path("out", "report.html")),
                   "the report")

    def test_a_signal_to_the_launcher_alone(self):
        """In the terminal's foreground, too."""
        self.start_counter(["bash", "--norc", "-i"])
        with open(self.path("pid"), encoding="ascii") as text:
            pid = int(text.read())
        with open("/proc/%d/stat" % pid, encoding="ascii") as text:
            launcher = int(text.read().rsplit(")", 1)[1].split()[1])
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            os.kill(launcher, number)
            time.sleep(0.2)
        self.assertEqual(self.counts(), {signal.SIGINT: 1, signal.SIGHUP: 1,
                                         signal.SIGTERM: 1})
        self.expect(r"jprof: report: out/report\.html")
        self.end_shell()

    def test_in_tmux(self):
        tmux = need("tmux")
        self.open(tmux, "-f", "/dev/null", "-L", "jprof-%d" % os.getpid(),
                  "new-session", "%s -o out python3 counter.py" % JPROF)
        self.expect("ready")
        self.type("\x03")
        time.sleep(0.3)
        self.assertEqual(self.counts(), {signal.SIGINT: 1})
        wait_until(lambda: os.path.exists(self.path("out", "report.html")),
                   "the report")
        os.waitpid(self.pid, 0)
        self.pid = 0


del Base    # not to be run from here

if __name__ == "__main__":
    unittest.main()
