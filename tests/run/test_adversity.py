# SPDX-License-Identifier: MIT
"""Files that cannot be made or do not grow: one line on stderr, the program
goes on, and what fitted is readable.  Runs in: tests."""
import os
import shutil
import subprocess
import tempfile
import unittest

from jprun import (Case, LIBRARY, TICK_FLAGS, decode, need, program, quote,
                   shell)

FAST = "JP_START JP_REALTIME JP_PERIOD=0.0002"


class Adversity(Case):
    def lines(self, done, count, status=9):
        """The program's own status, and so many lines of ours."""
        self.assertEqual(done.status, status, done.err)
        lines = done.err.splitlines()
        self.assertEqual(len(lines), count, done.err)
        for line in lines:
            self.assertTrue(line.startswith("jprof: "), done.err)

    def run_in(self, setup, flags=FAST, seconds="1"):
        """Runs `busy` behind commands of the shell, which is not profiled."""
        return self.run_program(
            *shell("%s; LD_PRELOAD=%s exec %s %s 9" % (
                setup, quote(LIBRARY), quote(program("busy")), seconds)),
            flags=flags, preload=False)

    def check_what_fitted(self, name="jprof-log"):
        run = decode.load(self.path(name))[0]
        self.assertGreater(len(run.samples), 10)
        self.assertGreater(run.header["counters"][4], 0, "lost for space")
        summary = self.summary(program("busy"), name)
        self.assertEqual(int(summary["samples"]), len(run.samples))
        return run


class Space(Adversity):
    def test_file_size_limit(self):
        self.lines(self.run_in("ulimit -f 40"), 1)
        self.check_what_fitted()
        for name in self.files():
            self.assertLessEqual(os.path.getsize(self.path(name)), 40 * 512)

    def test_file_size_limit_without_fallocate(self):
        done = self.run_program(
            *shell("ulimit -f 40; exec %s fallocate %s 1 9" % (
                program("refuse"), program("busy"))),
            flags=FAST, preload=None, env={"REFUSE_PRELOAD": LIBRARY})
        self.lines(done, 1)
        self.check_what_fitted()

    def test_no_room_even_for_the_header(self):
        self.lines(self.run_in("ulimit -f 4"), 1)
        self.assertEqual(self.log_names(), [])

    def test_full_disk(self):
        """A file system of 64 KiB, which something else fills up as well."""
        if os.geteuid() != 0:
            self.skipTest("mounting needs root")
        os.mkdir(self.path("disk"))
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none",
                        self.path("disk")], check=True)
        try:
            done = self.run_in("cd disk; head -c 44000 /dev/zero >rest")
            self.lines(done, 1)
            for name in ("jprof-log", "jprof-map"):
                shutil.copy(self.path("disk/" + name), self.path(name))
            self.check_what_fitted()
        finally:
            subprocess.run(["umount", self.path("disk")], check=True)

    def test_quota(self):
        """As the kernel answers it."""
        done = self.run_program(
            program("refuse"), "quota", program("busy"), "0.3", "9",
            flags=TICK_FLAGS, preload=None,
            env={"REFUSE_PRELOAD": LIBRARY})
        self.lines(done, 1)
        self.assertIn("quota", done.err)


class Places(Adversity):
    def test_read_only_folder(self):
        if os.geteuid() != 0:
            self.skipTest("mounting needs root")
        os.mkdir(self.path("disk"))
        subprocess.run(["mount", "-t", "tmpfs", "-o", "ro,size=64k", "none",
                        self.path("disk")], check=True)
        try:
            done = self.run_in("cd disk", TICK_FLAGS, "0.2")
            self.lines(done, 1)
            self.assertIn("read-only", done.err)
        finally:
            subprocess.run(["umount", self.path("disk")], check=True)

    def test_folder_deleted_before(self):
        self.lines(self.run_in("mkdir d; cd d; rmdir ../d", TICK_FLAGS, "0.2"),
                   1)
        self.assertEqual(self.log_names(), [])

    def test_folder_deleted_meanwhile(self):
        os.mkdir(self.path("d"))
        live = self.start(program("busy"), "1.5", "9",
                          flags=FAST + " JP_FILENAME=d/log")
        live.wait_until(lambda: os.path.exists(self.path("d/log")), "the log")
        shutil.rmtree(self.path("d"))
        self.lines(live.end(), 1)

    def test_name_too_long(self):
        for name in ("x" * 300, "x" * 253, "y/" * 400 + "log"):
            done = self.run_program(
                program("busy"), "0.2", "9",
                flags=TICK_FLAGS + " JP_FILENAME=" + name)
            self.lines(done, 1)
        self.assertEqual(self.files(), [])

    def test_fifo(self):
        """It is neither opened for good nor written to."""
        for name in ("jprof-log", "jprof-map"):
            os.mkfifo(self.path(name))
        done = self.run_program(program("busy"), "0.2", "9")
        self.lines(done, 0)
        self.assertEqual(self.log_names(), ["jprof-log-%d" % done.pid])

    def test_mode_and_flags_of_the_files(self):
        """O_EXCL, O_NOFOLLOW and O_CLOEXEC on what is made, and mode 0600
        whatever the umask is."""
        strace = need("strace")
        done = self.run_program(
            strace, "-f", "-e", "trace=openat", "-o", self.path("trace"),
            "-E", "LD_PRELOAD=" + LIBRARY, "/bin/sh", "-c",
            "umask 0; exec %s 0.2" % quote(program("busy")),
            preload=False, flags=TICK_FLAGS)
        self.assertEqual((done.status, done.err), (0, ""))
        with open(self.path("trace"), encoding="utf-8") as source:
            opened = [line for line in source if self.dir in line]
        made = [line for line in opened if "O_CREAT" in line]
        self.assertGreaterEqual(len(made), 2)
        for line in made:
            for flag in ("O_EXCL", "O_NOFOLLOW", "0600"):
                self.assertIn(flag, line)
        for line in opened:
            self.assertIn("O_CLOEXEC", line)
            self.assertIn("O_NOFOLLOW", line)
        for name in self.log_names() + ["jprof-map"]:
            self.assertEqual(os.stat(self.path(name)).st_mode & 0o777, 0o600)


class Privileged(Adversity):
    def test_set_user_id(self):
        """A program with more rights than its caller takes no orders from
        the environment, even when it has the library in itself."""
        app = self.path("secure")
        # Any user reaches it there: the tree may be in a private folder.
        place = tempfile.mkdtemp(prefix="jprof-suid-", dir="/tmp")
        self.addCleanup(shutil.rmtree, place)
        os.chmod(place, 0o755)
        library = shutil.copy(LIBRARY, place)
        subprocess.run(["cc", "-o", app, "-x", "c", "-", "-x", "none",
                        "-Wl,--no-as-needed", library,
                        "-Wl,--disable-new-dtags", "-Wl,-rpath," + place],
                       input=b"#include <time.h>\nint main(void) {"
                       b"while (clock() < 300000) {} return 9; }",
                       check=True)
        os.chmod(self.dir, 0o777)
        for secure in (False, True):
            if secure:
                if os.geteuid() == 0:
                    os.chown(app, 65534, 65534)
                    os.chmod(app, 0o4755)
                else:
                    other = [g for g in os.getgroups() if g != os.getegid()]
                    os.chown(app, -1, other[0])
                    os.chmod(app, 0o2755)
            done = self.run_program(app, preload=False, flags=TICK_FLAGS)
            self.assertEqual((done.status, done.err), (9, ""))
            self.assertEqual(len(self.log_names()), 0 if secure else 1)
            for name in self.files():
                if name.startswith("jprof"):
                    os.unlink(self.path(name))


if __name__ == "__main__":
    unittest.main()
