# SPDX-License-Identifier: MIT
"""jprof pack: one file, and the same reports from it where none of the
binaries is; and archives that are damaged or hostile.

Runs in: tests."""
import contextlib
import io
import os
import re
import shutil
import signal
import subprocess
import tarfile
import time
import unittest

from jprun import BUILD, REPORT, Case, decode, lacking, need, program

FORMATS = ("text", "html-plain", "html", "collapsed", "summary", "pprof",
           "speedscope", "firefox", "callgrind", "perf-script")
SOURCE = """
#include <stdlib.h>
#include <math.h>
#include <stdio.h>
static inline double leaf(double x)
{
    double s = 0;
    for (int i = 1; i < 100; i++)
        s += sqrt(x * i) + 1.0 / i;
    return s;
}
static inline double middle(double x) { return leaf(x) + leaf(x + 1); }
static int order(const void *a, const void *b)
{
    double x = *(double *)a, y = *(double *)b;
    return x < y ? -1 : x > y;
}
__attribute__((noinline)) double fill(double *v, int n)
{
    for (int i = 0; i < n; i++)
        v[i] = middle(i ^ 0x5555);
    qsort(v, n, sizeof *v, order);
    return v[0];
}
int main(void)
{
    static double v[20000];
    double s = 0;
    for (int i = 0; i < 80; i++)
        s += fill(v, 20000);
    printf("%f\\n", s);
}
"""


def zstd(data, *options):
    return subprocess.run(["zstd", "-q", *options], input=data,
                          stdout=subprocess.PIPE, check=True).stdout


def tar_of(members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for info, data in members:
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


class Archives(Case):
    check_agreement = False

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("tmp"))

    def jprof(self, *argv):
        return self.run_program(os.path.join(BUILD, "jprof"), *argv,
                                preload=False, flags=None)

    def report_of(self, name, *options, status=0):
        done = subprocess.run(
            [REPORT, *options, name], cwd=self.dir, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, check=False,
            env={**os.environ, "TMPDIR": self.path("tmp")})
        self.assertEqual(done.returncode, status, done.stderr[:2000])
        self.assertEqual(os.listdir(self.path("tmp")), [], "left behind")
        return done.stdout, done.stderr.decode(errors="replace")


class Pack(Archives):
    def profile(self, app="app", level="-O2", out="out"):
        with open(self.path("app.c"), "w", encoding="utf-8") as file:
            file.write(SOURCE)
        subprocess.run(["gcc", level, "-g", "-o", app, "app.c", "-lm"],
                       cwd=self.dir, check=True)
        done = self.jprof("run", "-o", out, "./" + app)
        self.assertEqual(done.status, 0, done.err)

    def test_the_same_without_the_binaries(self):
        need("zstd")
        self.profile()
        before = {form: self.report_of("out", "--format=" + form)[0]
                  for form in FORMATS}
        self.assertIn(b"leaf (inlined)", before["text"])
        done = self.jprof("pack", "out")
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertEqual(os.stat(self.path("out.tar.zst")).st_mode & 0o777,
                         0o600)
        shutil.rmtree(self.path("out"))
        os.unlink(self.path("app"))
        os.unlink(self.path("app.c"))
        for form in FORMATS:
            with self.subTest(form=form):
                after = self.report_of("out.tar.zst", "--format=" + form)[0]
                self.assertEqual(after, before[form])
        # Packed again it is the same.
        self.report_of("out.tar.zst", "--format=archive", "-o", "again")
        with open(self.path("again"), "rb") as one, \
                open(self.path("out.tar.zst"), "rb") as other:
            self.assertEqual(one.read(), other.read())

    def diff_of(self, before, after, form):
        """A comparison's output; as text the sides have the names of the
        folders."""
        data = self.report_of(after, "--format=" + form, "--diff", before)[0]
        return data.replace(b".tar.zst", b"")

    def test_sides_of_a_comparison(self):
        """An archive is as good as its folder on either side of --diff, with
        a folder or an archive on the other: both are asked for the names of
        libraries that they share."""
        need("zstd")
        self.profile("app", "-O2", "new")
        self.profile("old-app", "-O1", "old")
        for folder in ("old", "new"):
            done = self.jprof("pack", folder)
            self.assertEqual((done.status, done.err), (0, ""))
        folders = {form: self.diff_of("old", "new", form)
                   for form in ("text", "html")}
        self.assertIn(b"qsort_r  (libc", folders["text"])
        self.assertIn(b"middle  (app)", folders["text"])
        for before in ("old", "old.tar.zst"):
            for after in ("new", "new.tar.zst"):
                with self.subTest(before=before, after=after):
                    self.assertEqual(self.diff_of(before, after, "text"),
                                     folders["text"])
        for name in ("app", "old-app", "app.c"):
            os.unlink(self.path(name))
        # The page has the sides' names in its data.
        for folder in ("old", "new"):
            shutil.rmtree(self.path(folder))
            os.rename(self.path(folder + ".tar.zst"), self.path(folder))
        for form, wanted in folders.items():
            with self.subTest(form=form):
                self.assertEqual(self.diff_of("old", "new", form), wanted)
        # Against itself nothing differs.
        out = self.diff_of("new", "new", "text").decode()
        self.assertIn("middle  (app)", out)
        self.assertEqual(set(re.findall(r"[-+]\d+\.\d+%", out)), {"+0.00%"})

    def test_options_of_a_report_hold(self):
        need("zstd")
        self.profile()
        self.assertEqual(self.jprof("pack", "-o", "a", "out").status, 0)
        for options in (("--no-inline",), ("-i", "order"), ("-t",),
                        ("-s", "2"), ("-e", "main"), ("--to=0.2",)):
            with self.subTest(options=options):
                before = self.report_of("out", "--format=text", *options)[0]
                after = self.report_of("a", "--format=text", *options)[0]
                self.assertEqual(after, before)
        for name in ("fill", "leaf", "order"):
            with self.subTest(name=name):
                before = self.report_of("out", "--annotate=" + name)[0]
                self.assertRegex(before, rb"(?m)^.*s \+= sqrt" if name != "order"
                                 else rb"return x < y")
                self.assertRegex(before, rb"\b(mov|sqrts|addsd|cvt)")
                os.rename(self.path("app"), self.path("gone"))
                os.rename(self.path("app.c"), self.path("gone.c"))
                after = self.report_of("a", "--annotate=" + name)[0]
                os.rename(self.path("gone"), self.path("app"))
                os.rename(self.path("gone.c"), self.path("app.c"))
                self.assertEqual(after, before)

    def test_in_an_empty_root(self):
        """Nothing is there but jprof-report and what it is linked with."""
        unshare, _ = need("unshare"), need("zstd")
        self.profile()
        before = self.report_of("out", "--format=text")[0]
        self.assertEqual(self.jprof("pack", "out").status, 0)
        root = self.path("root")
        os.makedirs(os.path.join(root, "tmp"))
        linked = subprocess.run(["ldd", REPORT], stdout=subprocess.PIPE,
                                check=True).stdout.decode()
        for path in set(re.findall(r"(/\S+) \(0x", linked)) | {REPORT}:
            target = root + (path if path != REPORT else "/jprof-report")
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(path, target)
        shutil.copy(self.path("out.tar.zst"), os.path.join(root, "p"))
        done = subprocess.run(
            [unshare, "-r", "chroot", root, "/jprof-report", "--format=text",
             "/p"], env={**os.environ, "TMPDIR": "/tmp"}, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, check=False)
        if b"unshare failed" in done.stderr:
            raise lacking("user namespaces")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, before)

    def test_of_another_user(self):
        """Root's report of an archive that is somebody else's."""
        if os.geteuid() != 0:
            self.skipTest("giving files away needs root")
        need("zstd")
        self.profile()
        before = self.report_of("out", "--format=text")[0]
        self.assertEqual(self.jprof("pack", "out").status, 0)
        os.chown(self.path("out.tar.zst"), 65534, 65534)
        self.assertEqual(self.report_of("out.tar.zst", "--format=text")[0],
                         before)

    def test_no_file_that_it_names_is_opened(self):
        strace = need("strace")
        self.profile()
        self.assertEqual(self.jprof("pack", "out").status, 0)
        subprocess.run([strace, "-f", "-o", "trace", "-e",
                        "trace=%file,execve", REPORT, "--format=text",
                        "out.tar.zst"], cwd=self.dir, check=True,
                       stdout=subprocess.DEVNULL)
        with open(self.path("trace"), encoding="utf-8") as file:
            text = file.read()
        self.assertNotIn(self.path("app"), text)
        self.assertNotIn("dpkg-query", text)
        self.assertNotIn("/usr/lib/debug", text)

    def test_markers(self):
        """Firefox's file of markers (doc/FORMAT.md) goes along, and its spans
        are in each report."""
        need("zstd")
        self.profile()
        header = decode.load(self.path("out/jprof-log"))[0].header
        start = header["mono_ns"] + 1000000
        with open(self.path("out/marker-%d.txt" % header["pid"]), "w",
                  encoding="ascii") as file:
            file.write("%d %d load the page\n" % (start, start + 250000000))
        before = {form: self.report_of("out", "--format=" + form)[0]
                  for form in ("text", "html", "summary")}
        self.assertIn(b"load the page", before["text"])
        self.assertEqual(self.jprof("pack", "out").status, 0)
        shutil.rmtree(self.path("out"))
        for form, wanted in before.items():
            with self.subTest(form=form):
                self.assertEqual(self.report_of(
                    "out.tar.zst", "--format=" + form)[0], wanted)

    def test_jit_code(self):
        node = need("node")
        with open(self.path("a.js"), "w", encoding="utf-8") as file:
            file.write("function fib(n) { return n < 2 ? n : fib(n - 1) +"
                       " fib(n - 2) }\nlet x = 0;\n"
                       "for (let i = 0; i < 12; i++) x += fib(30);\n")
        for kind in ("map", "dump"):
            with self.subTest(kind=kind):
                done = self.jprof("run", "--jit=" + kind, "-o", kind, node,
                                  "a.js")
                self.assertEqual(done.status, 0, done.err)
                self.assertEqual(self.jprof("pack", kind).status, 0)
                before = self.report_of(kind, "--format=html")[0]
                shutil.rmtree(self.path(kind))
                after = self.report_of(kind + ".tar.zst", "--format=html")[0]
                self.assertIn(b"fib", before)
                self.assertEqual(after, before)

    def test_names_its_packages(self):
        """A stripped file's package, where dpkg-query is not asked again."""
        xz = need("xz")
        if not os.path.exists("/usr/bin/dpkg-query"):
            raise lacking("dpkg-query")
        with open(self.path("data"), "wb") as file:
            file.write(os.urandom(3 << 20))
        done = self.jprof("run", "-o", "out", xz, "-9", "-k", "data")
        self.assertEqual(done.status, 0, done.err)
        before = self.report_of("out", "--format=text")[0]
        self.assertRegex(before, rb"install [a-z0-9-]+-dbgsym")
        self.assertEqual(self.jprof("pack", "out").status, 0)
        self.assertEqual(self.report_of("out.tar.zst", "--format=text")[0],
                         before)
        subprocess.run([need("strace"), "-f", "-o", "trace", "-e",
                        "trace=%file,execve", REPORT, "--format=text",
                        "out.tar.zst"], cwd=self.dir, check=True,
                       stdout=subprocess.DEVNULL)
        with open(self.path("trace"), encoding="utf-8") as file:
            self.assertNotIn("dpkg-query", file.read())

    def test_words(self):
        """What the command line does not allow."""
        done = self.jprof("run", "-o", "out", program("busy"), "0.2")
        self.assertEqual(done.status, 0, done.err)
        for argv, told in ((("pack",), "which folder"),
                           (("pack", "out", "out"), "one folder only"),
                           (("pack", "-x", "out"), "unknown option"),
                           (("pack", "out", "-o"), "-o needs a value"),
                           (("pack", "out/jprof-log"), "is no folder")):
            with self.subTest(argv=argv):
                done = self.jprof(*argv)
                self.assertEqual(done.status, 64, done.err)
                self.assertIn(told, done.err)
        self.assertEqual(self.jprof("pack", "nowhere").status, 2)
        self.report_of("out", "--format=archive", "--last", status=64)
        self.assertEqual(self.jprof("pack", "out").status, 0)
        done = subprocess.run([REPORT, "out.tar.zst", "out"], cwd=self.dir,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"an archive is read alone", done.stderr)
        done = self.jprof("view", "out.tar.zst")
        self.assertEqual((done.status, done.out), (0, "out.report.html\n"))
        with open(self.path("out.report.html"), encoding="utf-8") as file:
            self.assertIn("<!DOCTYPE html>", file.read())


class Hostile(Archives):
    """Of a damaged archive nothing is used, and nothing is left or made."""

    def setUp(self):
        super().setUp()
        need("zstd")
        done = self.jprof("run", "-o", "out", program("busy"), "0.2")
        self.assertEqual(done.status, 0, done.err)
        self.assertEqual(self.jprof("pack", "out").status, 0)
        with open(self.path("out.tar.zst"), "rb") as file:
            self.good = file.read()
        self.tar = zstd(self.good, "-d", "-c")
        self.members = []
        with tarfile.open(fileobj=io.BytesIO(self.tar)) as tar:
            for info in tar:
                self.members.append((info, tar.extractfile(info).read()))

    def refuse(self, data, told):
        with open(self.path("bad"), "wb") as file:
            file.write(data)
        out, err = self.report_of("bad", "--format=text", status=2)
        self.assertEqual(out, b"")
        self.assertIn("bad: no archive that can be read: ", err)
        self.assertIn(told, err)
        self.assertIn("nothing of it is used", err)

    def with_file(self, name, data=b"", **fields):
        info = tarfile.TarInfo(name)
        info.size = len(data)
        for key, value in fields.items():
            setattr(info, key, value)
        return zstd(tar_of(self.members + [(info, data)]))

    def test_made_anew_it_is_read(self):
        with open(self.path("bad"), "wb") as file:
            file.write(zstd(tar_of(self.members)))
        out, err = self.report_of("bad", "--format=text")
        self.assertEqual(err, "")
        self.assertIn(b"busy", out)

    def test_cut(self):
        for size in list(range(4, 200, 31)) + list(range(200, len(self.good),
                                                        1997)):
            with self.subTest(size=size):
                self.refuse(self.good[:size], "")
        for size in range(0, len(self.tar) - 1024, 40507):
            with self.subTest(tar=size):
                self.refuse(zstd(self.tar[:size]), "in the middle of a file")

    def test_flipped(self):
        """The checksum tells, or the frame does.  What the first bytes say of
        the decoder may be larger than it need be."""
        for at in range(6, len(self.good), 409):
            with self.subTest(at=at):
                bad = bytearray(self.good)
                bad[at] ^= 0x10
                self.refuse(bytes(bad), "")

    def test_names_and_kinds(self):
        for name in ("../jprof-log", "/tmp/jprof-log-1", "report.html",
                     "jprof-log.perf-1/../../x", ".", "a/jprof-log", ".bashrc"):
            with self.subTest(name=name):
                self.refuse(self.with_file(name, b"x"),
                            "a file that is none of a profile")
        for kind in (tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.CHRTYPE,
                     tarfile.DIRTYPE, tarfile.FIFOTYPE, b"L", b"x"):
            with self.subTest(kind=kind):
                self.refuse(self.with_file("jprof-log-77", type=kind,
                                           linkname="/etc/passwd"),
                            "a file that is no regular one")
        self.refuse(self.with_file("jprof-log", b"x"), "one file twice")
        self.assertFalse(os.path.exists(self.path("jprof-log")))
        self.assertFalse(os.path.exists("/tmp/jprof-log-1"))

    def test_bombs(self):
        """Zeros unpack to nothing, up to a limit; then it ends."""
        with open(self.path("bad"), "wb") as file:
            file.write(self.with_file("jprof-log.code-1.bin", bytes(100 << 20)))
        self.report_of("bad", "--format=summary")
        self.refuse(self.with_file("jprof-log.code-1.bin", bytes(600 << 20)),
                    "it unpacks to more than a profile does")
        info = tarfile.TarInfo("jprof-log-9")
        info.size = (1 << 33) - 1
        self.refuse(zstd(info.tobuf(tarfile.USTAR_FORMAT)),
                    "in the middle of a file")

    def test_other_files(self):
        self.refuse(zstd(b"x" * 2000), "no head of a file")
        self.refuse(zstd(b""), "in the middle of a file")
        self.refuse(zstd(tar_of(self.members[1:])), "it is none of jprof")
        self.refuse(zstd(self.tar + b"x"), "something behind its last file")

    def test_names_that_are_damaged(self):
        """The report is there, and says what it lacks."""
        info, data = self.members[0]
        self.assertEqual(info.name, "jprof-names")
        # (Half of it may end where a record does: then nothing is wrong.)
        cut = data[:-1]
        info.size = len(cut)
        with open(self.path("bad"), "wb") as file:
            file.write(zstd(tar_of([(info, cut)] + self.members[1:])))
        out, err = self.report_of("bad", "--format=text", status=1)
        self.assertIn("jprof-names: at 0x", err)
        self.assertIn("functions stay unnamed", err)
        self.assertGreater(len(out), 500)

    @contextlib.contextmanager
    def waiting_report(self):
        """A report of the archive that waits for a reader of its FIFO, so that
        what it unpacked is there."""
        os.mkfifo(self.path("pipe"))
        report = subprocess.Popen(
            [REPORT, "--format=text", "-o", "pipe", "out.tar.zst"],
            cwd=self.dir, env={**os.environ, "TMPDIR": self.path("tmp")})
        try:
            until = time.monotonic() + 60
            while not os.listdir(self.path("tmp")):
                self.assertLess(time.monotonic(), until)
                time.sleep(0.01)
            time.sleep(0.3)
            yield report
        finally:
            if report.poll() is None:
                report.kill()
                report.wait()

    def test_a_signal_leaves_nothing(self):
        with self.waiting_report() as report:
            report.send_signal(signal.SIGTERM)
            self.assertEqual(report.wait(60), -signal.SIGTERM)
        self.assertEqual(os.listdir(self.path("tmp")), [])

    def test_what_was_killed_is_swept(self):
        with self.waiting_report():
            # One that runs is left alone.
            subprocess.run([REPORT, "--format=text", "out.tar.zst"],
                           cwd=self.dir, stdout=subprocess.DEVNULL,
                           env={**os.environ, "TMPDIR": self.path("tmp")},
                           check=True)
            self.assertEqual(len(os.listdir(self.path("tmp"))), 1)
        self.assertEqual(len(os.listdir(self.path("tmp"))), 1)
        self.report_of("out.tar.zst", "--format=text")


if __name__ == "__main__":
    unittest.main()
