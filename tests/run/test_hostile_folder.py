# SPDX-License-Identifier: MIT
"""The profile's folder, where its path comes to lead to another one, and what
may not become one.

Runs in: tests.  As test_hostile.py.
"""
import os
import re
import shutil
import subprocess
import unittest

from jprun import decode
from test_hostile import BUILD, BUSY, PATIENCE, Case, read, wait_until

# Outlives the launcher, has its variables elsewhere, as setproctitle() does,
# and then starts a child.
TITLED = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv)
{
    char text[4096] = "", *at, *start, *end, **copy = calloc(1000, 8);
    FILE *stat;
    int count = 0, ends[2];
    if (pipe(ends))
        return 1;
    if (fork())
        return close(ends[1]) || read(ends[0], text, 1);
    stat = fopen("/proc/self/stat", "r");
    for (; environ[count]; count++)
        copy[count] = strdup(environ[count]);
    environ = copy;
    fread(text, 1, sizeof text - 1, stat);
    at = strrchr(text, ')');
    for (count = 2; count < 50; count++)
        at = strchr(at + 1, ' ');
    start = (char *)strtoul(at, &at, 10);
    end = (char *)strtoul(at, NULL, 10);
    memset(start, 0, end - start);
    if (argc > 3)
        prctl(PR_SET_DUMPABLE, 0);
    close(ends[1]);
    fclose(stdout);
    fclose(stderr);
    while (access(argv[1], F_OK))
        usleep(20000);
    return execl("/bin/sh", "sh", "-c", "echo \\"$LD_PRELOAD\\" >$0; "
                 "echo end >>$0", argv[2], NULL);
}
"""

# Loaded into jprof: the folder that it has made and opened is removed before
# its path is asked for, or renamed behind that; a link has the name then.
QUICK_HAND = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void swap(const char *made, const char *trap)
{
    char moved[4096];
    snprintf(moved, sizeof moved, "%s.moved", made);
    if (rename(made, moved) == 0 && symlink(trap, made) == 0)
        fputs("swapped\\n", stderr);
}
int faccessat(int folder, const char *path, int mode, int flags)
{
    int (*real)(int, const char *, int, int) = dlsym(RTLD_NEXT, "faccessat");
    int result = real(folder, path, mode, flags);
    if (getenv("REMOVED") && rmdir(getenv("REMOVED")) == 0)
        fputs("swapped\\n", stderr);
    return result;
}
ssize_t readlink(const char *path, char *to, size_t size)
{
    ssize_t (*real)(const char *, char *, size_t) =
        dlsym(RTLD_NEXT, "readlink");
    ssize_t result = real(path, to, size);
    if (getenv("RENAMED") && strncmp(path, "/proc/self/fd/", 14) == 0)
        swap(getenv("RENAMED"), getenv("TRAP"));
    return result;
}
"""

# Has a jitdump where a runtime is told to have one, and is killed.
KILLED = """
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
    unsigned header[1024] = {0x4a695444, 1, 40, 62, 0, (unsigned)getpid()};
    char path[4096];
    void *code;
    int fd;
    snprintf(path, sizeof path, "%s/jit-%d.dump", getenv("JITDUMPDIR"),
             getpid());
    fd = open(path, O_RDWR | O_CREAT, 0666);
    if (write(fd, header, sizeof header) != sizeof header ||
        mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
        return 1;
    /* mov $1000000, %ecx; 1: dec %ecx; jne 1b; ret: as a runtime, it runs code
     * that it made, so a sample looks for what was mapped since the first. */
    code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        return 1;
    memcpy(code, "\\xb9\\x40\\x42\\x0f\\x00\\xff\\xc9\\x75\\xfc\\xc3", 10);
    while (clock() < CLOCKS_PER_SEC / 2)
        ((void (*)(void))code)();
    return kill(getpid(), SIGKILL);
}
"""

# Two processes that use the CPU, one with a perf map, which is kept.
WORK = BUSY + "; %s 0.5 map:/tmp/perf-%%p.map & wait; rm -f " \
    "/tmp/perf-$!.map" % os.path.join(BUILD, "tests", "programs", "jitter")


class Identity(Case):
    """A path through /proc/PID leads elsewhere when the launcher is gone and
    its pid is another process's."""

    def profile(self, path, identity):
        """Profiles by hand with a log in the folder `path`; what is said."""
        flags = "JP_START JP_PERIOD=0.01 JP_FILENAME=%s/jprof-log%s" % (
            path, identity and " JP_FOLDER_ID=%d:%d" % identity)
        done = subprocess.run(
            ["sh", "-c", WORK], capture_output=True, text=True, check=False,
            env=dict(self.env, LD_PRELOAD=self.path("libjprof.so"),
                     JPROF_FLAGS=flags), cwd="/", timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_another_process_has_the_pid(self):
        """Another user's, with a folder of his as the same descriptor."""
        ours = os.stat(self.folder("ours", 0, 0o700))
        trap = self.folder("trap", self.users["a"])
        for old in ((), ("jprof-log", "jprof-map", "jprof-tree")):
            child = self.start("sh", "-c", "exec 7<%s; echo; exec sleep 60" %
                               trap, user=self.users["a"])
            self.assertEqual(child.stdout.readline(), "\n")
            for name in old:    # root's own, which it would go on with
                self.script("", "trap", name)
                os.chmod(self.path("trap", name), 0o600)
            said = self.profile("/proc/%d/fd/7" % child.pid,
                                (ours.st_dev, ours.st_ino))
            self.assertEqual(sorted(os.listdir(trap)), sorted(old), said)
            for name in old:
                self.assertEqual(os.path.getsize(trap + "/" + name), 0)
            # Nothing else, and once a process: the shell, the jitter and,
            # when a sample happens to come, its rm.
            names = re.findall(r"jprof: profiling is off, cannot create "
                               r"/proc/%d/fd/7/(jprof-log\S*): it was removed "
                               r"or replaced\n" % child.pid, said)
            self.assertEqual(len(names), len(said.splitlines()), said)
            self.assertEqual(len(names), len(set(names)), said)
            self.assertIn("jprof-log", names)
            self.assertGreaterEqual(len(names), 2, said)

    def test_the_folder_itself(self):
        """By whatever path, it is written to; without an identity any is."""
        ours = self.folder("ours", 0, 0o700)
        info = os.stat(ours)
        child = self.start("sh", "-c", "exec 7<%s; echo; exec sleep 60" % ours)
        self.assertEqual(child.stdout.readline(), "\n")
        for identity in ((info.st_dev, info.st_ino), (0, 0), ""):
            for path in ("/proc/%d/fd/7" % child.pid, ours):
                said = self.profile(path, identity)
                self.assertEqual(said, "")
                names = os.listdir(ours)
                for pattern in (r"jprof-log", r"jprof-map", r"jprof-log-\d+",
                                r"jprof-tree",
                                r"jprof-log-\d+(-2)?\.perf-\d+\.map"):
                    self.assertTrue([name for name in names if
                                     re.fullmatch(pattern, name)], names)
                for name in names:
                    os.unlink(ours + "/" + name)

    def test_who_is_told(self):
        """A program whose profile is below another user's folder, and one in a
        tree of such a one that is profiled by itself: its own folder counts."""
        home = self.folder("home", self.users["a"], 0o777)
        show = 'echo "$JPROF_FLAGS"'
        status, out, err = self.jprof("-o", home + "/p", "sh", "-c", show)
        self.assertEqual(status, 0, err)
        info = os.stat(home + "/p")
        self.assertRegex(out, r" JP_FILENAME=/proc/\d+/fd/\d+/jprof-log "
                         "JP_FOLDER_ID=%d:%d:%s\n" %
                         (info.st_dev, info.st_ino, home + "/p"))
        own = self.folder("own", 0)
        status, out, err = self.jprof("-o", own + "/p", "sh", "-c", show)
        self.assertEqual(status, 0, err)
        self.assertNotIn("JP_FOLDER_ID", out)
        status, out, err = self.jprof(
            "-o", home + "/outer", self.path("jprof"), "-o", own + "/inner",
            "sh", "-c", BUSY)
        self.assertEqual(status, 0, err)
        self.assertIn("jprof: report: " + own + "/inner/report.html", err)


    def test_where_the_descriptor_is_not_to_be_had(self):
        """In a user namespace of its own a process may not use the launcher's
        descriptor, as Chromium's sandboxed ones: it goes by the path, but into
        no other folder."""
        home = self.folder("home", self.users["a"], 0o777)
        moved = "mv {0} {0}.moved && mkdir {0}".format(home + "/moved")
        for name, first in (("kept", "true"), ("moved", moved)):
            status, out, err = self.jprof(
                "-o", home + "/" + name, "sh", "-c",
                first + "; exec unshare -U -r sh -c 'echo $$; " + BUSY + "'")
            self.assertIn(status, (0, 70), err)
            logs = {folder: [log for log in os.listdir(home + "/" + folder)
                             if re.match("jprof-log-%s" % out.strip(), log)]
                    for folder in os.listdir(home)}
            # (Before it has the namespace, chance may find the process: that
            # log goes to the folder itself, whatever its name.)
            before = [log for log in logs.get("moved.moved", [])
                      for run in decode.load(os.path.join(
                          home, "moved.moved", log))
                      if sum(sample[2] for sample in run.samples) < 50000000]
            self.assertEqual(logs.pop("moved.moved", []), before)
            self.assertEqual([folder for folder in logs if logs[folder]],
                             ["kept"] if name == "kept" else [], logs)


class Swapped(Case):
    """Another user owns the folder above, and is quick."""

    def test_before_its_path_is_known(self):
        """What he puts in the folder's place is not taken for it."""
        home = self.folder("home", self.users["a"], 0o777)
        made = home + "/out"
        hand = self.compile(QUICK_HAND, "hand.so", flags=("-shared", "-fPIC"))
        for name in ("REMOVED", "RENAMED"):
            link = made + " (deleted)" if name == "REMOVED" else made
            if name == "REMOVED":
                self.as_user(self.users["a"], "ln", "-s", self.canary, link)
            self.env.update({"LD_PRELOAD": hand, "TRAP": self.canary,
                             name: made})
            check = self.audit()
            with self.subTest(name):
                status, out, err = self.jprof(
                    "-o", made, "sh", "-c", 'echo "$JPROF_FLAGS"; ' + BUSY)
                self.assertEqual(status, 0, err)
                self.assertIn("swapped", err)
                self.assertEqual(os.readlink(link), self.canary)
                self.assertIn(" JP_FOLDER_ID=", out)
                check()
            del self.env[name]


class Names(Case):
    """Another user has the names in /tmp that a runtime is asked to write."""

    # Writes where it is told to as V8 does: by fopen, or it ends itself.
    RUNTIME = ('#!/bin/sh\n[ "$1" != --version ] || exit 0\n'
               'case $NODE_OPTIONS in *basic-prof*) echo map '
               '>/tmp/perf-$$.map || exit 9; esac\n' + BUSY)

    def planted(self, how, name, mode="1777", user=0, then=":", more=()):
        """Runs it with every name in a /tmp of its own taken by the user, and
        pids of its own: nobody else's programs meet what is planted.  Each of
        the 101 names takes a process, so the next pids are among them."""
        script = ('mount --bind "$1" /mnt && cd /mnt && mount -t tmpfs -o '
                  'mode=%s none /tmp || exit 77; setpriv --reuid=%d '
                  '--regid=65534 --clear-groups sh -c "seq 50 150 | '
                  'xargs -I{} %s" || exit 77; %s; shift; '
                  'exec setpriv --reuid=%d ./jprof -o "$@"' % (
                      mode, self.users["a"], how, then, user))
        done = subprocess.run(
            ["unshare", "-m", "-p", "-f", "--kill-child", "--mount-proc",
             "sh", "-c", script, "sh", self.dir, name,
             *(more or ("./node",))], capture_output=True,
            text=True, check=False, env=self.env, timeout=PATIENCE)
        if done.returncode == 77 or "unshare:" in done.stderr:
            self.skipTest("no namespaces: " + done.stderr)
        return done

    def test_planted_names(self):
        self.script(self.RUNTIME, "node")
        check = self.audit()
        for number, how in enumerate((
                "mkdir /tmp/perf-{}.map", "mkfifo /tmp/perf-{}.map",
                "ln -s /mnt/canary/perf-1.map /tmp/perf-{}.map",
                "touch /tmp/perf-{}.map")):
            with self.subTest(how=how):
                done = self.planted(how, "out%d" % number)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stderr, r"/tmp/perf-\d+\.map is there "
                                 "already, and not yours: the program is not "
                                 "asked")
                self.assertIn("report.html",
                              os.listdir(self.path("out%d" % number)))
                check()

    def test_a_closed_tmp(self):
        """One that nobody but root can list, as some systems have it."""
        self.script(self.RUNTIME, "node")
        home = self.folder("home", self.users["b"])
        check = self.audit()
        done = self.planted("mkfifo /tmp/perf-{}.map", "home/out",
                            mode="1733", user=self.users["b"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("not asked", done.stderr)
        self.assertIn("report.html", os.listdir(home + "/out"))
        check()

    def test_a_full_tmp(self):
        """Where no name can be made, another may come before the program."""
        self.script(self.RUNTIME, "node")
        done = self.planted("touch /tmp/{}", "out", then="mount -o remount,"
                            "nr_inodes=102 /tmp; touch /tmp/full")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"/tmp/perf-\d+\.map cannot be made "
                         r"\(No space left on device\): the program is not "
                         "asked")

    def test_a_further_file(self):
        """Of .NET's, which tells of the images that it has loaded."""
        self.script(self.RUNTIME.replace("NODE_OPTIONS", "DOTNET_PerfMapEnabled")
                    .replace("*basic-prof*", "1").replace(
                        "/tmp/perf-", "/tmp/perfinfo-"), "dotnet")
        check = self.audit()
        for number, how in enumerate((
                "mkfifo /tmp/perfinfo-{}.map",
                "ln -s /mnt/canary/perf-1.map /tmp/perfinfo-{}.map")):
            done = self.planted(how, "out%d" % number,
                                more=("--jit=dump", "./dotnet"))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stderr, r"/tmp/perfinfo-\d+\.map is there "
                             "already, and not yours: the program is not asked")
            check()

    def test_claimed_names_are_taken_back(self):
        """Where the runtime writes nothing, nothing stays."""
        self.script("#!/bin/sh\n[ \"$1\" = --version ] || echo $$\n", "node")
        status, out, err = self.jprof("-o", "out", self.path("node"))
        self.assertEqual(status, 0, err)
        self.assertFalse(os.path.exists("/tmp/perf-%d.map" % int(out)))


class Kept(Case):
    """JIT files that the map tells of."""

    def test_a_fifo_in_a_map(self):
        """Who waits to write to it goes on waiting."""
        fifo = self.path("canary", "perf-2.map")
        child = self.writer(fifo)
        status, _, err = self.jprof(
            "-o", "out", "sh", "-c", BUSY + '; echo "2 perfmap path=%s '
            'dev=8:1 inode=%d size=1" >>out/jprof-map' % (
                fifo, os.stat(fifo).st_ino))
        self.assertEqual(status, 0, err)
        self.assertIsNone(child.poll())

    def test_a_killed_runtime_s_file(self):
        """It is a link to what the runtime wrote, for all to read."""
        killed = self.compile(KILLED, "lli")
        status, _, err = self.jprof("--public", "-o", "out", killed, umask=0)
        self.assertEqual(status, 137, err)
        modes = {name: os.stat(self.path("out", name)).st_mode & 0o777
                 for name in os.listdir(self.path("out"))}
        self.assertEqual(modes.pop("report.html"), 0o644)
        self.assertEqual(set(modes.values()), {0o600}, modes)
        self.assertTrue([name for name in modes if name.endswith(".dump")],
                        modes)


class Preloaded(Case):
    """A daemon's children find the library by a link in /tmp, which is not
    given up: another user would have the name, and they load what he likes."""

    def test_variables_that_are_not_shown(self):
        home = self.folder("my tools", 0, 0o755)
        for name in ("jprof", "libjprof.so", "jprof-report"):
            shutil.copy(self.path(name), home)
        daemon = self.compile(TITLED, "daemon")
        for user in (0, self.users["b"]):
            place = self.folder("place%d" % user, user)
            words = [daemon, place + "/go", place + "/out"]
            child = self.start(home + "/jprof", "-o", place + "/p", *words,
                               *["hide"] * (user != 0), user=user)
            _, err = child.communicate(timeout=PATIENCE)
            self.assertEqual(child.returncode, 0, err)
            with open(place + "/go", "w", encoding="ascii"):
                pass
            wait_until(lambda: os.path.exists(words[2]) and
                       "end" in read(words[2]), "the daemon's child")
            link = read(words[2]).split()[0]
            self.addCleanup(shutil.rmtree, os.path.dirname(link),
                            ignore_errors=True)
            self.assertTrue(os.path.islink(link), link)
            self.assertEqual(os.lstat(os.path.dirname(link)).st_uid, user)


class System(Case):
    """Folders that are no profile's, empty as they are."""

    def refused(self, path):
        """Is not taken by root, and stays as it is."""
        before = os.stat(path)
        done = subprocess.run(
            [self.path("jprof"), "-o", path, "true"],
            capture_output=True, text=True, check=False, env=self.env,
            cwd="/", timeout=PATIENCE)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("is the system's, not a profile's; nothing was run (",
                      done.stderr)
        self.assertEqual(os.stat(path).st_mode, before.st_mode)
        self.assertEqual(os.listdir(path), [])

    def test_folders_of_the_system(self):
        """Of the root folder, and below /usr and its like; new ones in there
        and those that are closed already are as any."""
        for path in ("/jprof-test-%d" % os.getpid(),
                     "/usr/local/jprof-test-%d" % os.getpid(),
                     "/var/lib/jprof-test-%d" % os.getpid()):
            os.mkdir(path)
            self.addCleanup(shutil.rmtree, path, ignore_errors=True)
            os.chmod(path, 0o755)
            self.refused(path)
            status, _, err = self.jprof("-o", path + "/new", "sh", "-c", BUSY)
            self.assertEqual(status, 0, err)
            shutil.rmtree(path + "/new")
            os.chmod(path, 0o700)
            status, _, err = self.jprof("-o", path, "sh", "-c", BUSY)
            self.assertEqual(status, 0, err)
        path = "/var/tmp/jprof-test-%d" % os.getpid()
        os.mkdir(path)
        self.addCleanup(shutil.rmtree, path, ignore_errors=True)
        os.chmod(path, 0o755)
        status, _, err = self.jprof("-o", path, "sh", "-c", BUSY)
        self.assertEqual(status, 0, err)

    def test_mounted_folders(self):
        """A volume and a bound folder, in a mount namespace."""
        for how in (("-t", "tmpfs", "-o", "mode=755", "none"),
                    ("--bind", self.folder("bound", 0))):
            place = self.folder("place%d" % len(how), 0)
            done = subprocess.run(
                ["unshare", "-m", "sh", "-c", 'mount "$@" || exit 77; stat -c '
                 '%%a %s; %s -o %s true; echo $?; stat -c %%a %s' % (
                     place, self.path("jprof"), place, place), "sh", *how,
                 place], capture_output=True, text=True, check=False,
                env=self.env, timeout=PATIENCE)
            if done.returncode == 77 or "unshare" in done.stderr:
                self.skipTest("no mount: " + done.stderr)
            self.assertEqual(done.stdout, "755\n2\n755\n", done.stderr)
            self.assertIn("is the system's", done.stderr)


if __name__ == "__main__":
    unittest.main()
