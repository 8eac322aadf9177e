# SPDX-License-Identifier: MIT
"""Where jprof-report writes: files are replaced as a whole or not at all, what
is no file is never removed, and no write error passes in silence.

Runs in: tests."""
import fcntl
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import unittest

from jprun import HANG_SECONDS, REPORT, ROOT, Case

sys.path.insert(0, os.path.join(ROOT, "tests"))
import golden       # noqa: E402  (needs the path above)

NOBODY = 65534
LIMIT = 4096        # bytes that a file may get; the HTML report has more


def small_files():
    """In a child: a write beyond LIMIT fails with EFBIG."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))


class Output(Case):
    def setUp(self):
        super().setUp()
        golden.prepare(os.path.join(ROOT, "tests/golden/report"), self.dir)
        self.before = self.files()

    def write(self, *arguments, **more):
        """(exit status, stdout, stderr) of a report."""
        more.setdefault("stdout", subprocess.PIPE)
        done = subprocess.run([REPORT, *arguments], cwd=self.dir, check=False,
                              stdin=subprocess.DEVNULL, timeout=HANG_SECONDS,
                              stderr=subprocess.PIPE, **more)
        return done.returncode, done.stdout, done.stderr.decode()

    def html(self, target, **more):
        return self.write("-o", target, "app", "jprof-log", **more)

    def text(self, name):
        with open(self.path(name), encoding="utf-8") as source:
            return source.read()

    def put(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as target:
            target.write(text)

    def added(self):
        return sorted(set(self.files()) - set(self.before))

    def refused(self, target):
        status, _, err = self.html(target, preexec_fn=small_files)
        self.assertEqual(status, 2)
        self.assertIn("jprof-report: %s: File too large" % target, err)

    def test_new_file(self):
        mask = os.umask(0o027)
        self.addCleanup(os.umask, mask)
        self.assertEqual(self.html("out"), (0, b"", ""))
        self.assertIn("</html>", self.text("out"))
        self.assertEqual(os.stat(self.path("out")).st_mode & 0o777, 0o640)
        self.assertEqual(self.added(), ["out"])

    def test_old_file_is_replaced_with_its_mode(self):
        self.put("out", "old\n")
        os.chmod(self.path("out"), 0o604)
        os.link(self.path("out"), self.path("other"))
        self.assertEqual(self.html("out"), (0, b"", ""))
        self.assertIn("</html>", self.text("out"))
        self.assertEqual(os.stat(self.path("out")).st_mode & 0o777, 0o604)
        self.assertEqual(self.text("other"), "old\n")

    def test_error_leaves_no_new_file(self):
        self.refused("out")
        self.assertEqual(self.added(), [])

    def test_error_leaves_the_old_file(self):
        self.put("out", "old\n")
        self.refused("out")
        self.assertEqual(self.text("out"), "old\n")
        self.assertEqual(self.added(), ["out"])

    def test_what_a_killed_report_left_is_swept(self):
        """A new file that nobody writes to any more goes; one that another
        report writes to, a link, another kind of file and one of a name that
        only begins alike stay."""
        left, written = ".jprof-report-1-0", ".jprof-report-2-0"
        self.put(left, "half")
        self.put(written, "half")
        os.symlink("jprof-log", self.path(".jprof-report-3-0"))
        os.mkdir(self.path(".jprof-report-4-0"))
        self.put(".jprof-report-5-0.html", "a report")
        self.put(".jprof-report-notes", "of the user")
        with open(self.path(written), encoding="utf-8") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            self.assertEqual(self.html("out.html")[0], 0)
        self.assertEqual(self.added(),
                         [written, ".jprof-report-3-0", ".jprof-report-4-0",
                          ".jprof-report-5-0.html", ".jprof-report-notes",
                          "out.html"])

    def test_link_stays_a_link(self):
        os.mkdir(self.path("deep"))
        self.put("deep/out", "old\n")
        os.symlink("deep/out", self.path("link"))
        self.refused("link")
        self.assertEqual(self.text("deep/out"), "old\n")
        self.assertEqual(self.html("link")[0], 0)
        self.assertIn("</html>", self.text("deep/out"))
        self.assertTrue(os.path.islink(self.path("link")))
        self.assertEqual(os.listdir(self.path("deep")), ["out"])

    def test_link_to_nothing_yet(self):
        os.symlink("later", self.path("link"))
        self.refused("link")
        self.assertTrue(os.path.islink(self.path("link")))
        self.assertEqual(self.html("link")[0], 0)
        self.assertTrue(os.path.islink(self.path("link")))
        self.assertIn("</html>", self.text("later"))

    def test_device_behind_a_link(self):
        for device, status in (("/dev/null", 0), ("/dev/full", 2)):
            with self.subTest(device=device):
                os.symlink(device, self.path("link"))
                self.assertEqual(self.html("link")[0], status)
                self.assertEqual(os.readlink(self.path("link")), device)
                self.assertTrue(stat.S_ISCHR(os.stat(device).st_mode))
                os.unlink(self.path("link"))
        self.assertEqual(self.added(), [])

    def test_fifo_is_written_to_and_stays(self):
        os.mkfifo(self.path("fifo"))
        with open(self.path("copy"), "wb+") as copy, subprocess.Popen(
                ["cat", "fifo"], cwd=self.dir, stdout=copy) as reader:
            self.addCleanup(reader.kill)
            self.assertEqual(self.html("fifo"), (0, b"", ""))
            reader.wait(HANG_SECONDS)
            copy.seek(0)
            self.assertIn(b"</html>", copy.read())
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("fifo")).st_mode))
        self.assertEqual(self.added(), ["copy", "fifo"])

    def test_file_that_must_not_be_written_to(self):
        self.put("out", "old\n")
        os.chmod(self.path("out"), 0o444)
        os.chmod(self.dir, 0o777)
        shutil.copy(REPORT, self.path("report"))
        more = {"user": NOBODY} if os.getuid() == 0 else {}
        done = subprocess.run(
            ["./report", "-o", "out", "app", "jprof-log"], cwd=self.dir,
            check=False, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
            timeout=HANG_SECONDS, **more)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"out: Permission denied", done.stderr)
        self.assertEqual(self.text("out"), "old\n")

    def test_one_of_several(self):
        os.mkdir(self.path("jprof-log-9.html"))
        status, _, err = self.write("app", "jprof-log", "jprof-log-9")
        self.assertEqual(status, 2)
        self.assertIn("jprof-log-9.html: Is a directory", err)
        self.assertIn("</html>", self.text("jprof-log.html"))

    def test_a_log_named_more_than_once_counts_once(self):
        status, once, _ = self.write("--format=summary", ".")
        os.symlink(".", self.path("link"))
        again, more, err = self.write("--format=summary", ".", "link",
                                      "jprof-log")
        self.assertEqual((again, more), (status, once))
        self.assertIn("jprof-log: named more than once; it counts once", err)

    def test_log_of_another_version(self):
        """It is said what is the matter, also where no program is named."""
        with open(self.path("jprof-log"), "r+b") as log:
            log.seek(12)        # jp_log_header.version
            log.write(b"\x63\0")
        for named in ((), ("app",)):
            with self.subTest(named=named):
                status, out, err = self.write(*named, "jprof-log")
                self.assertEqual((status, out), (2, b""))
                self.assertIn("jprof-log: ", err)
                self.assertIn("written in another version of the format", err)

    def test_full_stdout(self):
        for arguments in (("--help",), ("--version",),
                          ("--format=summary", "app", "jprof-log"),
                          ("app", "jprof-log")):
            with self.subTest(arguments=arguments), \
                    open("/dev/full", "wb") as full:
                status, _, err = self.write(*arguments, stdout=full)
                self.assertEqual(status, 2)
                self.assertIn("stdout: No space left on device", err)


if __name__ == "__main__":
    unittest.main()
