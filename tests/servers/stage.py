# SPDX-License-Identifier: MIT
"""One run of one program in one mode: a folder, an environment, the processes
that were started, and what is left of them at the end.
Runs in: tests."""

import ctypes
import os
import pwd
import signal
import socket
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BUILD = os.path.abspath(os.path.join(ROOT, os.environ.get("B", "build")))
LIBRARY = os.path.join(BUILD, "libjprof.so")
# What does not end by itself within this is ended, and that is a failure.
HANG_SECONDS = 300
PR_SET_CHILD_SUBREAPER = 36


class Failure(Exception):
    """Something did not come about: the run has no results."""


class Done:
    """How a command ended."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def __str__(self):
        return f"exit {self.status}\n{self.out}{self.err}"


class Stage:
    """Where a program runs.  `flags` None: without the library."""

    def __init__(self, folder, flags):
        self.folder, self.flags = folder, flags
        self.logs = folder + "-logs"
        self.started = []
        self.root = self.first_of_tree()
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def first_of_tree(self):
        """What tells the programs that this process is the first of all of
        them, as the launcher would be: those that are too brief for a sample
        then write down their CPU time (preload/init.c)."""
        with open("/proc/self/stat", encoding="utf-8",
                  errors="replace") as file:
            ticks = file.read().rpartition(")")[2].split()[19]  # proc(5)
        space = os.stat("/proc/self/ns/pid").st_ino
        return (f"{os.getpid()}.{space}.{ticks}.000000."
                f"{'0' * 16}.{'0' * 16}:{self.folder}")

    def path(self, *names):
        """A path in the run's folder."""
        return os.path.join(self.folder, *names)

    def write(self, name, text, mode=0o644):
        """Makes a file in the run's folder; returns its path."""
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def read(self, name):
        """The text of a file in the run's folder; '' while there is none."""
        try:
            with open(self.path(name), encoding="utf-8",
                      errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def give(self, user, *names):
        """Gives the folder or something in it to a user, where we are root."""
        if os.geteuid() == 0:
            account = pwd.getpwnam(user)
            os.chown(self.path(*names), account.pw_uid, account.pw_gid)

    def environment(self, extra=None):
        """What a program is started with."""
        env = {key: value for key, value in os.environ.items()
               if not key.startswith("JP") and key != "LD_PRELOAD"}
        env.update(HOME=self.folder, TMPDIR=self.folder, LC_ALL="C.UTF-8")
        if self.flags is not None:
            env["LD_PRELOAD"] = LIBRARY
        if self.flags:
            env["JPROF_FLAGS"] = f"{self.flags};JP_FILENAME={self.logs}/%p.log"
            env["JPROF_ISCHILD"] = self.root
        env.update(extra or {})
        return env

    def start(self, *argv, name=None, user=None, env=None, stdin=None):
        """Starts a command whose output goes to NAME.out and NAME.err."""
        name = name or os.path.basename(argv[0])
        options = {}
        if user and os.geteuid() == 0:
            account = pwd.getpwnam(user)
            options = {"user": account.pw_uid, "group": account.pw_gid,
                       "extra_groups": []}
        with open(self.path(name + ".out"), "ab") as out, \
                open(self.path(name + ".err"), "ab") as err:
            child = subprocess.Popen(
                argv, cwd=self.folder, env=self.environment(env),
                stdin=stdin or subprocess.DEVNULL, stdout=out, stderr=err,
                start_new_session=True, **options)
        self.started.append(child)
        return child

    def wait(self, child, what="a program"):
        """The exit status of what start() returned."""
        try:
            return child.wait(timeout=HANG_SECONDS)
        except subprocess.TimeoutExpired:
            raise Failure(f"no end of {what}") from None

    def run(self, *argv, text=None, **options):
        """Runs a command to its end; returns a Done."""
        number = len(self.started)
        name = f"{number:03}-{os.path.basename(argv[0])}"
        if text is not None:
            self.write(name + ".in", text)
            with open(self.path(name + ".in"), "rb") as stdin:
                child = self.start(*argv, name=name, stdin=stdin, **options)
        else:
            child = self.start(*argv, name=name, **options)
        status = self.wait(child, " ".join(argv))
        return Done(status, self.read(name + ".out"), self.read(name + ".err"))

    def must(self, *argv, **options):
        """As run(), for what must succeed."""
        done = self.run(*argv, **options)
        if done.status != 0:
            raise Failure(f"{' '.join(argv)}: {done}")
        return done

    def until(self, condition, what):
        """Polls until the condition holds; returns what it was."""
        end = time.monotonic() + HANG_SECONDS
        while True:
            found = condition()
            if found:
                return found
            if time.monotonic() > end:
                raise Failure("waited in vain for " + what)
            time.sleep(0.02)

    def answers(self, port):
        """Waits until somebody listens at a port of this machine's own."""
        def tried():
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return True
            except OSError:
                return False

        self.until(tried, f"somebody at port {port}")

    def children(self):
        """{pid: name} of the live processes below this one."""
        parents, names = {}, {}
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8",
                          errors="replace") as file:
                    line = file.read()
            except OSError:
                continue
            fields = line.rpartition(")")[2].split()
            if fields[0] not in "ZX":
                parents[int(entry)] = int(fields[1])
                names[int(entry)] = line[line.index("(") + 1:line.rindex(")")]
        below = {}
        for pid in parents:
            at = pid
            while at in parents and at != os.getpid():
                at = parents[at]
            if at == os.getpid() and pid != at:
                below[pid] = names[pid]
        return below

    def settle(self, seconds=10):
        """Waits for what is ending; kills, and returns the names of, what
        goes on."""
        end = time.monotonic() + seconds
        while self.children() and time.monotonic() < end:
            self.reap()
            time.sleep(0.02)
        left = self.children()
        while self.children():
            for pid in self.children():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.reap()
        return sorted(left.values())

    def reap(self):
        """Takes the ends of orphans, whose parent we are."""
        for child in self.started:
            child.poll()
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass


def free_port():
    """A port of this machine's that nobody has just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Program:
    """A program, or several that work together.  `run()` puts it to work and
    returns {what: result}: what must be the same under the library."""

    name = package = ""
    commands = ()               # what it needs

    def missing(self):
        """What is not here of what it needs, as a text, or ''."""
        path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
        return " ".join(
            name for name in self.commands
            if not any(os.access(os.path.join(folder, name), os.X_OK)
                       for folder in path.split(":")))

    def prepare(self, logs):
        """May give the folder of the logs to whom it belongs."""

    def run(self, stage):
        """Overridden."""
        raise NotImplementedError
