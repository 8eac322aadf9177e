# SPDX-License-Identifier: MIT
"""Files that others have planted under jprof's names, or put there while a
program runs: what is not this user's alone is left as it is.  Runs in: tests,
some of them as root alone, with users made and removed here."""
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import unittest

from jprun import (LIBRARY, TICK_FLAGS, Case, decode, need, program,
                   wait_until)

APPEND = TICK_FLAGS + " JP_APPEND"


def content(path):
    with open(path, "rb") as source:
        return source.read()


class User:
    """A user of this machine, for one test."""

    def __init__(self, case, name):
        if os.getuid() != 0:
            case.skipTest("only root makes users")
        need("useradd")
        self.name = "%s%d" % (name, os.getpid())
        subprocess.run(["useradd", "-M", "-N", "-s", "/bin/sh", self.name],
                       check=True, stdout=subprocess.DEVNULL)
        case.addCleanup(subprocess.run, ["userdel", self.name], check=True,
                        stderr=subprocess.DEVNULL)
        self.uid = pwd.getpwnam(self.name).pw_uid

    def prefix(self):
        return [need("setpriv"), "--reuid=%d" % self.uid, "--regid=%d"
                % self.uid, "--clear-groups"]


class Planted(Case):
    """A folder in which everybody may write, and programs of several users."""

    def setUp(self):
        super().setUp()
        os.chmod(self.dir, 0o777)
        self.tools = self.dir + "-tools"
        os.mkdir(self.tools, 0o755)
        self.addCleanup(shutil.rmtree, self.tools, ignore_errors=True)
        self.library = shutil.copy(LIBRARY, self.tools)
        self.program = shutil.copy(program("busy"), self.tools)

    def run_as(self, user, seconds="0.3", flags=TICK_FLAGS):
        if user:
            done = self.run_program(
                *user.prefix(), "env", "LD_PRELOAD=" + self.library,
                "JPROF_FLAGS=" + flags, self.program, seconds, flags=None,
                preload=False)
        else:
            done = self.run_program(self.program, seconds, flags=flags,
                                    preload=self.library)
        self.assertEqual((done.status, done.err), (0, ""))
        return done

    def check_left_alone(self, before, done):
        """The files `before` are as they were, and there is a log besides."""
        for name, data in before.items():
            self.assertEqual(content(self.path(name)), data, name)
        own = [name for name in self.log_names() if name not in before]
        self.assertEqual(own, ["jprof-log-%d" % done.pid])
        self.assertGreater(len(self.run_of(own[0]).samples), 20)

    def finished(self, user=None):
        """A finished run's log and map; {name: bytes}."""
        self.run_as(user)
        return {name: content(self.path(name))
                for name in ("jprof-log", "jprof-map")}


class Others(Planted):
    def check_other(self, owner, runner, flags):
        before = self.finished(owner)
        for name in before:
            os.chmod(self.path(name), 0o666)
        self.check_left_alone(before, self.run_as(runner, flags=flags))

    def test_root_appends_to_no_users_log(self):
        self.check_other(User(self, "jpa"), None, APPEND)

    def test_user_appends_to_no_other_users_log(self):
        self.check_other(User(self, "jpa"), User(self, "jpb"), APPEND)

    def test_root_replaces_no_users_log(self):
        self.check_other(User(self, "jpa"), None, TICK_FLAGS)

    def test_empty_map(self):
        """It would get the command line, for its owner to read."""
        user = User(self, "jpa")
        for flags in (TICK_FLAGS, APPEND):
            with open(self.path("jprof-map"), "wb"):
                pass
            os.chown(self.path("jprof-map"), user.uid, -1)
            os.chmod(self.path("jprof-map"), 0o666)
            done = self.run_as(None, flags=flags)
            self.assertEqual(content(self.path("jprof-map")), b"")
            self.assertIn("jprof-map-%d" % done.pid, self.files())

    def test_tree(self):
        """What children were called with is nobody else's affair."""
        user = User(self, "jpa")
        with open(self.path("jprof-tree"), "wb"):
            pass
        os.chown(self.path("jprof-tree"), user.uid, -1)
        os.chmod(self.path("jprof-tree"), 0o666)
        self.run_program("/bin/sh", "-c", "env -i %s 0.3; %s 0.1"
                         % (self.program, self.program))
        self.assertEqual(content(self.path("jprof-tree")), b"")

    def test_ones_own_files(self):
        for name in self.finished(User(self, "jpa")):
            self.assertEqual(
                stat.S_IMODE(os.stat(self.path(name)).st_mode), 0o600)


class Doubtful(Planted):
    """Files of this user's own that others may write to, or know by another
    name."""

    def test_writable_by_others(self):
        before = self.finished()
        os.chmod(self.path("jprof-log"), 0o602)
        self.check_left_alone(before, self.run_as(None, flags=APPEND))

    def test_writable_by_the_group(self):
        before = self.finished()
        os.chmod(self.path("jprof-map"), 0o620)
        done = self.run_as(None, flags=APPEND)
        self.assertEqual(content(self.path("jprof-map")), before["jprof-map"])
        self.assertIn("jprof-map-%d" % done.pid, self.files())

    def test_second_name(self):
        for name in ("jprof-log", "jprof-map"):
            before = self.finished()
            os.link(self.path(name), self.path("other-name"))
            done = self.run_as(None, flags=APPEND)
            self.assertEqual(content(self.path(name)), before[name])
            self.assertEqual(content(self.path("other-name")), before[name])
            self.assertIn("%s-%d" % (name, done.pid), self.files())
            for left in self.files():
                os.unlink(self.path(left))

    def test_own_log_is_added_to(self):
        self.finished()
        self.run_as(None, flags=APPEND)
        self.assertEqual(self.files(), ["jprof-log", "jprof-map"])
        self.assertEqual(len(decode.load(self.path("jprof-log"))), 2)


class Fifos(Planted):
    """A FIFO keeps nobody waiting."""

    def test_before(self):
        for name in ("jprof-log", "jprof-map", "jprof-tree"):
            os.mkfifo(self.path(name))
            done = self.run_as(None)
            self.assertTrue(
                stat.S_ISFIFO(os.stat(self.path(name)).st_mode))
            if name != "jprof-tree":
                self.assertGreater(
                    len(self.run_of("jprof-log-%d" % done.pid).samples), 20)
            for left in self.files():
                os.unlink(self.path(left))

    def replaced(self, name, program_path, *arguments):
        """Puts a FIFO in the place of a file of a running program, which has
        to end when it is told to."""
        live = self.start(program_path, *arguments, preload=self.library)
        live.wait_until(lambda: any(name in there for there in self.files()),
                        "the file")
        live.burn(0.5)
        for there in self.files():
            if name in there:
                os.unlink(self.path(there))
                os.mkfifo(self.path(there))
        for _ in range(3):
            live.kill(signal.SIGUSR1)
            live.burn(0.1)
            live.kill(signal.SIGPROF)
            live.burn(0.1)
        done = live.end(signal.SIGTERM)
        for there in self.files():
            if stat.S_ISFIFO(os.stat(self.path(there)).st_mode):
                os.unlink(self.path(there))     # for readers of the log
        self.assertEqual(done.status, -signal.SIGTERM)

    def test_map(self):
        self.replaced("jprof-map", self.program, "600")

    def test_log(self):
        self.replaced("jprof-log", self.program, "600")

    def test_code(self):
        self.replaced("code-", program("dumper"), "600",
                      "map:" + self.path("nobody-looks-here"))


class Spaces(Planted):
    """Where nobody can know whether the owner of a log lives, it does."""

    def setUp(self):
        super().setUp()
        self.unshare = [need("unshare"), "--pid", "--fork", "--mount-proc",
                        "--kill-child"]
        if os.getuid() != 0:
            self.unshare[1:1] = ["--user", "--map-root-user"]
        if subprocess.run(self.unshare + ["true"], check=False,
                          stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no pid namespaces here")

    def in_space(self, seconds, flags=TICK_FLAGS, how="exit"):
        # The first process is a shell: pid 1 has no default signal actions.
        return [*self.unshare, "/bin/sh", "-c",
                "LD_PRELOAD=%s JPROF_FLAGS='%s' %s %s 0 %s; exit 0"
                % (self.library, flags, self.program, seconds, how)]

    def check_living(self, flags, second):
        live = self.start(*self.in_space("600"), preload=False, flags=None)
        live.wait_until(lambda: "jprof-log" in self.log_names(), "the log")
        before = os.stat(self.path("jprof-log"))
        done = second(flags)
        self.assertEqual(done.status, 0, done.err)
        there = os.stat(self.path("jprof-log"))
        self.assertEqual((there.st_dev, there.st_ino),
                         (before.st_dev, before.st_ino))
        runs = decode.load(self.path("jprof-log"))
        self.assertEqual(len(runs), 1)
        count = len(runs[0].samples)
        wait_until(lambda: len(self.run_of().samples) > count + 20,
                   "more samples in the first log")
        others = [name for name in self.log_names() if name != "jprof-log"]
        self.assertEqual(len(others), 1, self.files())
        self.assertGreater(len(self.run_of(others[0]).samples), 20)
        live.end(signal.SIGKILL)

    def test_living_in_another_namespace(self):
        self.check_living(TICK_FLAGS, lambda flags: self.run_program(
            *self.in_space("0.3", flags), preload=False, flags=None))

    def test_living_in_another_namespace_and_appended_to(self):
        self.check_living(APPEND, lambda flags: self.run_program(
            *self.in_space("0.3", flags), preload=False, flags=None))

    def test_without_proc(self):
        """The same namespace, but nothing mounted at /proc."""
        need("mount")
        mounts = [self.unshare[0], "--mount"] + (
            [] if os.getuid() == 0 else ["--user", "--map-root-user"])

        def second(flags):
            return self.run_program(
                *mounts, "/bin/sh", "-c", "mount -t tmpfs none /proc; "
                "LD_PRELOAD=%s JPROF_FLAGS='%s' %s 0.3; exit 0"
                % (self.library, flags, self.program),
                preload=False, flags=None)

        live = self.start(self.program, "600", preload=self.library)
        live.wait_until(lambda: "jprof-log" in self.log_names(), "the log")
        before = os.stat(self.path("jprof-log")).st_ino
        done = second(TICK_FLAGS)
        self.assertEqual(done.status, 0, done.err)
        self.assertEqual(os.stat(self.path("jprof-log")).st_ino, before)
        self.assertEqual(len(self.log_names()), 2, self.files())
        live.end(signal.SIGKILL)

    def test_killed_in_another_namespace(self):
        """Nobody can know that it has gone."""
        self.run_program(*self.in_space("0.3", how="kill"), preload=False,
                         flags=None)
        before = {"jprof-log": content(self.path("jprof-log"))}
        self.check_left_alone(before, self.run_as(None))

    def test_ended_in_another_namespace(self):
        """An end that was written down holds everywhere."""
        for how in ("exit", "_exit"):
            self.run_program(*self.in_space("0.3", how=how), preload=False,
                             flags=None)
            done = self.run_as(None)
            self.assertEqual(self.files(), ["jprof-log", "jprof-map"])
            self.assertEqual(self.run_of().header["pid"], done.pid)

    def test_killed_here(self):
        self.run_program(self.program, "0.3", "0", "kill",
                         preload=self.library)
        done = self.run_as(None)
        self.assertEqual(self.files(), ["jprof-log", "jprof-map"])
        self.assertEqual(self.run_of().header["pid"], done.pid)


HOLE = """
import ctypes, mmap, os, struct, sys, time
path, closed = sys.argv[1], sys.argv[2] == "closed"
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
os.pwrite(fd, struct.pack("<IIIIIIQQ", 0x4a695444, 1, 40, 62, 0, os.getpid(),
                          0, 0), 0)
os.ftruncate(fd, 100 << 20)
os.pwrite(fd, b"the end", (100 << 20) - 7)
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
assert libc.mmap(None, 4096, mmap.PROT_READ | mmap.PROT_EXEC,
                 mmap.MAP_PRIVATE, fd, ctypes.c_long(0)) != 2 ** 64 - 1
burn(1.5)   # what is mapped is looked at once a second
if closed:
    os.close(fd)
os.unlink(path)
burn(0.3)
"""


class Holes(Planted):
    """A file of holes is kept as one; root has more ways to find it than an
    ordinary user."""

    def check(self, folder, how):
        path = os.path.join(folder, "%s.dump" % os.path.basename(self.dir))
        self.addCleanup(
            lambda: os.path.exists(path) and os.unlink(path))
        python, prefix = sys.executable, []
        if os.getuid() == 0 and os.access("/usr/bin/python3", os.X_OK):
            python = "/usr/bin/python3"
            prefix = [need("setpriv"), "--reuid=65534", "--clear-groups"]
        done = self.run_program(
            *prefix, "env", "LD_PRELOAD=" + self.library,
            "JPROF_FLAGS=" + TICK_FLAGS, python, "-c", HOLE, path, how,
            flags=None, preload=False)
        self.assertEqual((done.status, done.err), (0, ""))
        saved = [keys["saved"] for _, keys in self.run_of().events("jitdump")
                 if "saved" in keys]
        self.assertTrue(saved)
        info = os.stat(self.path(saved[-1]))
        self.assertLess(info.st_blocks * 512, 2 << 20)
        with open(self.path(saved[-1]), "rb") as source:
            self.assertEqual(source.read(4), b"DTiJ")
            source.seek((100 << 20) - 7)
            self.assertEqual(source.read(7), b"the end")

    def test_linked(self):
        self.check(self.dir, "open")

    def test_on_another_file_system(self):
        if not os.path.isdir("/dev/shm") or \
                os.stat("/dev/shm").st_dev == os.stat(self.dir).st_dev:
            self.skipTest("no other file system at /dev/shm")
        self.check("/dev/shm", "open")

    def test_left_in_memory_alone(self):
        if not os.path.isdir("/dev/shm") or \
                os.stat("/dev/shm").st_dev == os.stat(self.dir).st_dev:
            self.skipTest("no other file system at /dev/shm")
        self.check("/dev/shm", "closed")


if __name__ == "__main__":
    unittest.main()
