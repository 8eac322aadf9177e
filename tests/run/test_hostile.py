# SPDX-License-Identifier: MIT
"""Another user lays traps for the launcher and the reporter: planted folders,
links, programs, and logs that say what they should not.

Runs in: tests.  B names the build folder.  The users are made for the test and
removed by it, so it needs root and is skipped elsewhere.
"""
import glob
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

sys.path += [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(
    __file__))), *more) for more in ([], ["tools"])]
import golden       # noqa: E402  (needs the path above)
import packjit      # noqa: E402
from test_launcher import (BUILD, BUSY, PATIENCE, ROOT, read,   # noqa: E402
                           wait_until)

HIGH = 500      # a descriptor above a lowered limit
CASE = os.path.join(ROOT, "tests", "golden", "jit")

# Maps files of the names that a JVM under jprof has, and listens.
FORGED_JVM = """
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static void nothing(int number) { (void)number; }
int main(int argc, char **argv)
{
    signal(64, nothing);
    if (strstr(argv[0], "java"))
        signal(SIGQUIT, nothing);
    for (int i = 1; i < argc; i++)
        if (mmap(0, 4096, PROT_READ, MAP_PRIVATE, open(argv[i], O_RDONLY), 0)
                == MAP_FAILED)
            return 1;
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}
"""

# Becomes another user, and writes into the header of its own log.
DAEMON = """
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static void burn(double seconds)
{
    clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
    while (clock() < end)
        ;
}
int main(int argc, char **argv)
{
    char line[5000], *start = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    burn(0.3);
    rewind(maps);
    if (setgroups(0, 0) || setgid(atoi(argv[1])) || setuid(atoi(argv[1])))
        return 2;
    while (fgets(line, sizeof line, maps))
        if (strstr(line, "rw-s 00000000") && strstr(line, "/jprof-log"))
            start = (char *)strtoul(line, 0, 16);
    if (!start || memcmp(start, "JPROFLOG", 8))
        return 3;
    strcpy(start + 920, argv[2]);
    strcpy(start + 664, "../../../../../../etc/passwd");
    burn(0.3);
    return argc == 3 ? 0 : 4;
}
"""


def canary_of(folder):
    """What is in a folder, with modes and contents."""
    found = {}
    for place, names, files in os.walk(folder):
        for name in names + files:
            path = os.path.join(place, name)
            info = os.lstat(path)
            text = None
            if stat.S_ISREG(info.st_mode):
                with open(path, "rb") as source:
                    text = source.read()
            found[path] = (info.st_mode, info.st_uid, info.st_ino, text)
    return found


@unittest.skipUnless(os.getuid() == 0 and shutil.which("useradd"),
                     "must be root, to make users")
class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.users = {}
        for letter in "ab":
            name = "jprof-test-%d%s" % (os.getpid(), letter)
            cls.addClassCleanup(subprocess.run, ["userdel", name],
                                stderr=subprocess.DEVNULL, check=False)
            subprocess.run(["useradd", "-M", "-N", "-s", "/bin/sh", "-g",
                            "65534", name], check=True)
            done = subprocess.run(["id", "-u", name], check=True, text=True,
                                  stdout=subprocess.PIPE)
            cls.users[letter] = int(done.stdout)

    def setUp(self):
        # Where everybody can look; the tests' own TMPDIR is closed.
        self.dir = tempfile.mkdtemp(prefix="jprof-hostile-", dir="/tmp")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        os.chmod(self.dir, 0o755)
        for name in ("jprof", "libjprof.so", "jprof-report"):
            shutil.copy(os.path.join(BUILD, name), self.dir)
        self.canary = self.folder("canary", 0, 0o700)
        self.victim = os.path.join(self.canary, "perf-1.map")
        with open(self.victim, "w", encoding="ascii") as out:
            out.write("precious\n")
        os.chmod(self.victim, 0o640)
        self.env = {k: v for k, v in os.environ.items() if k not in
                    ("LD_PRELOAD", "JPROF_FLAGS", "JPROF_ISCHILD", "SUDO_UID")}

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def folder(self, name, user, mode=0o755):
        """A folder of a user's; its path."""
        os.mkdir(self.path(name))
        os.chown(self.path(name), user, 65534)
        os.chmod(self.path(name), mode)
        return self.path(name)

    def compile(self, source, *names, flags=()):
        subprocess.run([os.environ.get("CC", "cc"), *flags, "-x", "c", "-",
                        "-o", self.path(*names)], input=source, text=True,
                       check=True)
        return self.path(*names)

    def script(self, text, *names, user=0):
        with open(self.path(*names), "w", encoding="ascii") as out:
            out.write(text)
        os.chown(self.path(*names), user, 65534)
        os.chmod(self.path(*names), 0o755)
        return self.path(*names)

    def start(self, *argv, user=0, **more):
        child = subprocess.Popen(
            argv, env=self.env, cwd=more.pop("cwd", self.dir), user=user,
            group=65534 if user else 0, extra_groups=[],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            stdin=subprocess.DEVNULL, start_new_session=True, **more)

        def end():
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            child.wait()
            child.stdout.close()
            child.stderr.close()
        self.addCleanup(end)
        return child

    def jprof(self, *argv, **more):
        child = self.start(self.path("jprof"), *argv, **more)
        out, err = child.communicate(timeout=PATIENCE)
        return child.returncode, out, err

    def as_user(self, user, *argv):
        subprocess.run(argv, user=user, group=65534, extra_groups=[],
                       check=True, cwd="/")

    @staticmethod
    def name_source(home, source):
        """A profile in `home` whose jitdump has a line of that file."""
        golden.prepare(CASE, home)
        with open(CASE + "/one.jit", encoding="utf-8") as text, \
                open(home + "/one", "wb") as out:
            out.write(packjit.pack(text.read().replace(
                "\nload ", "\ndebug time=300 at=0x10000 lines=0x10000:1:1:"
                + source + "\nload ", 1)))

    def writer(self, fifo):
        """Makes the FIFO and a process that waits to write into it."""
        os.mkfifo(fifo, 0o600)
        child = self.start("sh", "-c", "echo ready; echo >%s" % fifo)
        self.assertEqual(child.stdout.readline(), "ready\n")
        wait_until(lambda: "S (sleeping)" in read("/proc/%d/status" %
                                                  child.pid), "the writer")
        return child

    def audit(self):
        """A check that nothing has changed in the canary's folder."""
        before = canary_of(self.canary)
        return lambda: self.assertEqual(canary_of(self.canary), before)


class Pause(Case):
    """jprof pause PID of a process that says it is a JVM."""

    def forged(self, home, user, name="java"):
        """Such a process, with a jcmd that tells who ran it.  By the name java
        it has a handler for SIGQUIT, as a JVM has."""
        self.told = self.path("told")
        os.mkdir(self.told)
        os.chmod(self.told, 0o1777)
        self.compile(FORGED_JVM, home, name)
        self.script("#!/bin/sh\nexec >%s/by.$$\nid -u\nenv\n"
                    "ls -l /proc/$$/fd\n" % self.told, home, "jcmd",
                    user=user)
        for library in ("libjprof.so", "libjvm.so"):
            with open(self.path(home, library), "w", encoding="ascii") as out:
                out.write(library)
        child = self.start(self.path(home, name),
                           self.path(home, "libjprof.so"),
                           self.path(home, "libjvm.so"), user=self.users["a"])
        self.assertEqual(child.stdout.readline(), "ready\n")
        return child

    def by(self):
        return [read(path) for path in glob.glob(self.told + "/by.*")]

    def check_refused(self, home, owner):
        child = self.forged(home, owner)
        status, _, err = self.jprof("pause", str(child.pid))
        self.assertEqual(self.by(), [], err)
        # Another jcmd, in PATH, is asked in its place, if there is one.
        self.assertRegex(err, "can be written by another user|gave no map")
        self.assertEqual(status, 0, err)
        self.assertIsNone(child.poll())

    def test_another_user_s_program(self):
        self.folder("home", self.users["a"])
        self.check_refused("home", self.users["a"])

    def test_root_s_program_in_another_user_s_folder(self):
        self.folder("home", self.users["a"])
        self.check_refused("home", 0)

    def test_a_program_that_others_can_write(self):
        self.folder("home", 0)
        self.forged("home", 0)
        os.chmod(self.path("home", "jcmd"), 0o777)
        child = self.start(self.path("home", "java"),
                           self.path("home", "libjprof.so"),
                           self.path("home", "libjvm.so"))
        self.assertEqual(child.stdout.readline(), "ready\n")
        self.jprof("pause", str(child.pid))
        self.assertEqual(self.by(), [])

    def test_a_jvm_is_asked_as_its_own_user(self):
        """With nothing of root's: no variable, no open file."""
        self.folder("home", 0)
        child = self.forged("home", 0)
        self.env["SECRET_OF_ROOT"] = "1"
        status, _, err = self.jprof("pause", str(child.pid))
        self.assertEqual((status, err), (0, ""))
        told = self.by()
        self.assertEqual(len(told), 1)
        self.assertTrue(told[0].startswith("%d\n" % self.users["a"]), told)
        self.assertNotIn("SECRET_OF_ROOT", told[0])
        open_there = re.findall(r" -> (.*)", told[0])
        self.assertEqual([path for path in open_there if path != "/dev/null"
                          and "/by." not in path and "/jcmd" not in path], [])

    def test_open_files_above_the_limit_are_not_given(self):
        """What was opened before the limit was lowered is open still."""
        self.folder("home", 0)
        child = self.forged("home", 0)

        def lower():
            os.dup2(held.fileno(), HIGH)
            os.set_inheritable(HIGH, True)
            resource.setrlimit(resource.RLIMIT_NOFILE, (
                64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        with open(self.victim, "rb") as held:
            status, _, err = self.jprof("pause", str(child.pid),
                                        preexec_fn=lower, close_fds=False)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(len(self.by()), 1)
        self.assertNotIn(self.victim, self.by()[0])

    def test_what_a_question_would_end_is_not_asked(self):
        """jcmd sends SIGQUIT, which ends what has no handler for it."""
        self.folder("home", 0)
        child = self.forged("home", 0, "other")
        status, _, err = self.jprof("pause", str(child.pid))
        self.assertEqual(status, 0, err)
        self.assertEqual(self.by(), [])
        self.assertIn("does not listen to jcmd", err)
        self.assertIsNone(child.poll())

    def test_another_user_may_not_ask(self):
        self.folder("home", 0)
        child = self.forged("home", 0)
        status, _, err = self.jprof("pause", str(child.pid),
                                    user=self.users["b"])
        self.assertEqual(status, 2)
        self.assertEqual(self.by(), [])
        self.assertIn("cannot be looked at", err)


class Header(Case):
    """What a log's header says is data."""

    def test_options_in_a_header(self):
        """Of a daemon that has become another user, whose log stays mapped."""
        daemon = self.compile(DAEMON, "daemon")
        check = self.audit()
        status, _, err = self.jprof("-o", "out", daemon,
                                    str(self.users["a"]), "-o" + self.victim)
        self.assertEqual(status, 0, err)
        check()
        self.assertIn("jprof: report: out/report.html", err)

    def test_options_in_a_header_of_another_user_s_profile(self):
        """jprof report, by root and by another user, of a whole folder."""
        home = self.folder("home", self.users["a"], 0o755)
        status, _, err = self.jprof("-o", home + "/p", "sh", "-c", BUSY,
                                    user=self.users["a"])
        self.assertEqual(status, 0, err)
        self.as_user(self.users["a"], "chmod", "-R", "a+rX", home)
        with open(home + "/p/jprof-log", "r+b") as log:
            log.seek(920)
            log.write(b"-o" + self.victim.encode() + b"\0")
        check = self.audit()
        for user in (0, self.users["b"]):
            status, out, err = self.jprof("report", "--format=summary",
                                          home + "/p", user=user)
            self.assertIn(status, (0, 1), err)
            self.assertRegex(out, r"(?m)^samples: [1-9]")
        check()

    def test_files_that_a_profile_names(self):
        """A jitdump whose source is a file that its user cannot read: root's
        report has no line of it, and of his own it has."""
        home = self.folder("home", self.users["a"])
        os.chmod(self.canary, 0o755)
        mine = self.path("home", "mine")
        with open(mine, "w", encoding="ascii") as out:
            out.write("his own line\n")
        os.chown(mine, self.users["a"], 65534)
        for source, line in ((self.victim, "precious"), (mine, "his own")):
            self.name_source(home, source)
            subprocess.run(["chown", "-R", str(self.users["a"]), home],
                           check=True)
            child = self.start(self.path("jprof-report"),
                               "--annotate=f_2", home)
            out, err = child.communicate(timeout=PATIENCE)
            self.assertEqual(line in out, source == mine, out + err)

    def test_fifos_and_links_in_a_profile(self):
        """Nobody waits for them, and nothing is told of what they lead to."""
        home = self.folder("home", self.users["a"])
        os.mkfifo(home + "/jprof-log")
        os.symlink(self.victim, home + "/jprof-log-7")
        os.symlink(self.victim, home + "/jprof-map")
        for what in (home, home + "/jprof-log", home + "/jprof-log-7"):
            status, out, err = self.jprof("report", what)
            self.assertEqual(status, 2, err)
            self.assertNotIn("precious", out + err)


class Folders(Case):
    """Folders that others can write, or had a hand in."""

    def runners(self):
        return (0, self.users["b"])

    def test_a_folder_made_beforehand(self):
        for user in self.runners():
            name = "made%d" % user
            self.folder(name, self.users["a"], 0o777)
            status, _, err = self.jprof("-o", name, "touch",
                                        self.path(name, "ran"), user=user)
            self.assertEqual(status, 2, err)
            self.assertIn("another user's", err)
            self.assertEqual(os.listdir(self.path(name)), [])

    def test_a_link_in_the_folder_s_place(self):
        home = self.folder("home", self.users["a"])
        empty = self.folder("canary/empty", 0)
        for name, to in (("full", self.canary), ("empty", empty)):
            os.symlink(to, home + "/" + name)
            check = self.audit()
            status, _, err = self.jprof("-o", home + "/" + name, "true")
            self.assertEqual(status, 2, err)
            check()

    def test_own_folder_that_others_could_write(self):
        for user in self.runners():
            name = "own%d" % user
            self.folder(name, user, 0o777)
            status, _, err = self.jprof("-o", name, "sh", "-c", BUSY,
                                        user=user)
            self.assertEqual(status, 0, err)
            self.assertEqual(os.stat(self.path(name)).st_mode & 0o7777, 0o700)

    def test_what_is_refused_keeps_its_mode(self):
        """Full folders, and those of all users, empty or not."""
        for user in self.runners():
            for name, mode, full in (("full", 0o755, 1), ("shared", 0o777, 1),
                                     ("tmp", 0o1777, 1), ("empty", 0o1777, 0)):
                place = self.folder("%s%d" % (name, user), user, mode)
                if full:
                    os.mkdir(place + "/something")
                for last in ("", "/", "/."):
                    status, _, err = self.jprof("-o", place + last, "touch",
                                                self.path("ran"), user=user)
                    self.assertEqual(status, 2, err)
                    self.assertIn("nothing was run", err)
                    self.assertEqual(os.stat(place).st_mode & 0o7777, mode)
            mode = os.stat("/").st_mode
            for root in ("/", "//", "/.", "/tmp/.."):
                status, _, err = self.jprof("-o", root, "true", user=user)
                self.assertEqual(status, 2, err)
                self.assertIn("nothing was run", err)
                self.assertEqual(os.stat("/").st_mode, mode)
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_links_on_the_way(self):
        """Of another user's, or in a folder of his: nothing is made behind."""
        target = self.folder("canary/target", 0)
        os.mkdir(target + "/empty")
        home = self.folder("home", self.users["a"])
        sticky = self.folder("sticky", 0, 0o1777)
        shared = self.folder("shared", 0, 0o777)
        for place, owner in ((home, self.users["a"]), (home, 0),
                             (sticky, self.users["a"]), (shared, 0)):
            link = "%s/x%d" % (place, owner)
            os.symlink(target, link)
            os.lchown(link, owner, 65534)
            check = self.audit()
            for rest in ("/new", "/etc/new/run", "/empty", "/empty/.",
                         "/empty/..", "/."):
                status, out, err = self.jprof("-o", link + rest, "echo", "ran")
                self.assertEqual((status, out), (2, ""), err)
                self.assertIn("another user", err)
                check()

    def test_own_links_on_the_way(self):
        """Also root's, and in a sticky folder; those in links too."""
        sticky = self.folder("sticky", 0, 0o1777)
        for user in self.runners():
            home = self.folder("own%d" % user, user)
            os.symlink("../own%d" % user, home + "/again")
            for owner in {0, user}:
                link = "%s/to%d-%d" % (sticky, user, owner)
                os.symlink(home + "/again/", link)
                os.lchown(link, owner, 65534)
                name = "a/b%d" % owner
                status, _, err = self.jprof(
                    "-o", link + "/./../own%d//%s/" % (user, name), "sh", "-c",
                    BUSY, user=user)
                self.assertEqual(status, 0, err)
                self.assertIn("report.html", os.listdir(home + "/" + name))
        os.symlink("loop", self.path("loop"))
        status, _, err = self.jprof("-o", "loop/out", "true")
        self.assertEqual(status, 2, err)
        self.assertIn("nothing was run", err)

    def test_a_folder_that_is_renamed(self):
        """In another user's folder, who puts a link to ours in its place."""
        home = self.folder("home", self.users["a"], 0o777)
        for user in self.runners():
            go = self.path("go%d" % user)
            trap = self.folder("trap%d" % user, user, 0o700)
            wait = "%s; while [ ! -e %s ]; do sleep 0.05; done; sh -c '%s'" % (
                BUSY, go, BUSY)
            child = self.start(self.path("jprof"), "-o", home + "/out", "sh",
                               "-c", wait, user=user)
            wait_until(lambda: os.path.exists(home + "/out/jprof-log"),
                       "the log")
            self.as_user(self.users["a"], "mv", home + "/out",
                         home + "/moved%d" % user)
            self.as_user(self.users["a"], "ln", "-s", trap, home + "/out")
            check = self.audit()
            with open(go, "w", encoding="ascii"):
                pass
            _, err = child.communicate(timeout=PATIENCE)
            self.assertEqual(child.returncode, 0, err)
            self.assertNotIn("report: " + home + "/out/report.html", err)
            self.assertIn(home + "/out is no longer the profile's folder", err)
            self.assertEqual(os.listdir(trap), [])
            check()
            moved = os.listdir(home + "/moved%d" % user)
            self.assertIn("report.html", moved)
            # The second process's too.
            self.assertGreaterEqual(len([name for name in moved if
                                         name.startswith("jprof-log")]), 2)
            os.unlink(home + "/out")

    def test_forged_maps(self):
        """A map names files to copy and remove, and a pid that is a path."""
        inode = os.stat(self.victim).st_ino
        for pid in ("1/../../canary/evil", "999999999"):
            self.script("""#!/bin/sh
[ "$1" != --version ] || exit 0
%s
map=$(pwd)/out/jprof-map
mkdir "out/jprof-log.perf-1"
cp "$map" map.old
{
    echo "1 process pid=%s ppid=1 exe=/x"
    echo "2 perfmap path=%s dev=8:1 inode=%d size=1"
    echo "3 perfmap path=%s dev=8:1 inode=%d size=1 saved=../canary/evil"
    cat map.old
} >"$map"
""" % (BUSY, pid, self.victim, inode, self.victim, inode), "node")
            check = self.audit()
            status, _, err = self.jprof("--jit=map", "-o", "out",
                                        self.path("node"))
            self.assertEqual(status, 0, err)
            check()
            self.assertIn("added to the environment", err)
            shutil.rmtree(self.path("out"))

    def test_modes(self):
        """Nobody else reads a command line; --public opens the report."""
        for user in self.runners():
            home = self.folder("home%d" % user, user)
            status, _, err = self.jprof("-o", home + "/p", "sh", "-c", BUSY,
                                        user=user, umask=0)
            self.assertEqual(status, 0, err)
            self.assertEqual(os.stat(home + "/p").st_mode & 0o7777, 0o700)
            for name in os.listdir(home + "/p"):
                self.assertEqual(
                    os.lstat(home + "/p/" + name).st_mode & 0o077, 0, name)
            status, _, err = self.jprof("--public", "-o", home + "/q", "sh",
                                        "-c", BUSY, user=user, umask=0o077)
            self.assertEqual(status, 0, err)
            self.assertEqual(os.stat(home + "/q").st_mode & 0o7777, 0o755)
            for name in os.listdir(home + "/q"):
                self.assertEqual(
                    os.lstat(home + "/q/" + name).st_mode & 0o077,
                    0o044 if name == "report.html" else 0, name)


class Leftovers(Case):
    def test_a_daemon_that_outlives_the_launcher(self):
        """Its children find the library, where that is reached by a link."""
        home = self.folder("my tools", 0)
        for name in ("jprof", "libjprof.so", "jprof-report"):
            shutil.copy(self.path(name), home)
        errors, go = self.path("errors"), self.path("go")
        child = self.start(
            home + "/jprof", "-o", "out", "sh", "-c",
            "%s; (while [ ! -e %s ]; do /bin/sleep 0.05; done; /bin/true; "
            "echo end) >%s 2>&1 </dev/null &" % (BUSY, go, errors))
        child.communicate(timeout=PATIENCE)
        links = glob.glob("/tmp/jprof-??????/libjprof.so")
        with open(go, "w", encoding="ascii"):
            pass
        wait_until(lambda: "end" in read(errors), "the daemon's end")
        for link in links:
            if os.readlink(link).startswith(self.dir):
                shutil.rmtree(os.path.dirname(link))
        self.assertEqual(read(errors), "end\n")

    def test_flags_in_a_folder_s_name(self):
        for byte in "\r\v\f":
            name = "a%sJP_DEPTH=2%s" % (byte, byte)
            status, _, err = self.jprof("-o", name, "sh", "-c",
                                        BUSY + '; echo "$JPROF_FLAGS"')
            self.assertEqual(status, 0, err)
            self.assertIn("jprof-log", os.listdir(self.path(name)))
            self.assertNotIn("JP_DEPTH", read(
                glob.glob(glob.escape(self.path(name)) + "/jprof-log")[0])
                .split("JP_FILENAME")[0])
        self.assertEqual([entry for entry in os.listdir(self.dir)
                          if entry.startswith("jprof-log")], [])


if __name__ == "__main__":
    unittest.main()
