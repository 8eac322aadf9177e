# SPDX-License-Identifier: MIT
"""Root reports on a folder of another user's, who swaps files in it: for what
the report is made of, and in the place of the report.

Runs in: tests.  As test_hostile.py.
"""
import glob
import lzma
import os
import shutil
import struct
import subprocess
import unittest
import zlib

from test_hostile import BUSY, PATIENCE, ROOT, Case, golden, read

# Loaded into jprof-report: as soon as that has looked at a file *.html without
# following links, *.html.trap takes its place; no new file can be made where
# NO_NEW_FILES is set.
QUICK_HAND = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
static void swap(int folder, const char *path)
{
    char trap[4096];
    size_t length = strlen(path);
    if (length < 5 || strcmp(path + length - 5, ".html"))
        return;
    snprintf(trap, sizeof trap, "%s.trap", path);
    if (renameat(folder, trap, folder, path) == 0)
        fputs("swapped\\n", stderr);
}
int lstat(const char *path, struct stat *info)
{
    int (*real)(const char *, struct stat *) = dlsym(RTLD_NEXT, "lstat");
    int result = real(path, info), error = errno;
    swap(AT_FDCWD, path);
    errno = error;
    return result;
}
int fstatat(int folder, const char *path, struct stat *info, int flags)
{
    int (*real)(int, const char *, struct stat *, int) =
        dlsym(RTLD_NEXT, "fstatat");
    int result = real(folder, path, info, flags), error = errno;
    swap(folder, path);
    errno = error;
    return result;
}
static int opens(int folder, const char *path, int flags, mode_t mode)
{
    int (*real)(int, const char *, int, ...) = dlsym(RTLD_NEXT, "openat");
    if ((flags & O_EXCL) && getenv("NO_NEW_FILES")) {
        errno = EACCES;
        return -1;
    }
    return real(folder, path, flags, mode);
}
int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    return opens(AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    return opens(folder, path, flags, mode);
}
"""

SPINNER = """
#include <time.h>
__attribute__((noinline)) static void burn_cpu(void)
{
    while (clock() < CLOCKS_PER_SEC / 2)
        for (volatile int i = 0; i < 100000; i++)
            ;
}
int main(void)
{
    burn_cpu();
    return 0;
}
"""
ZEROS = 400 << 20   # bytes that next to nothing unpacks to


def bomb(packer, start):
    """The bytes of `start` and zeros, packed."""
    parts = [packer.compress(start)]
    parts += [packer.compress(bytes(1 << 20)) for _ in range(ZEROS >> 20)]
    return b"".join(parts) + packer.flush()


def packed_strings(image):
    """The ELF file (64 bits) with a string table of symbols that is packed as
    the ELF gABI says: SHF_COMPRESSED, and an Elf64_Chdr before the data."""
    image = bytearray(image)
    table, = struct.unpack_from("<Q", image, 40)
    size, count, names = struct.unpack_from("<HHH", image, 58)
    packed = struct.pack("<IIQQ", 1, 0, ZEROS, 1) + bomb(zlib.compressobj(),
                                                        b"")
    for index in range(count):
        at = table + index * size
        flags, = struct.unpack_from("<Q", image, at + 8)
        kind, = struct.unpack_from("<I", image, at + 4)
        if kind == 3 and not flags and index != names:
            struct.pack_into("<Q", image, at + 8, 0x800)
            struct.pack_into("<QQ", image, at + 24, len(image), len(packed))
    return bytes(image + packed)


class Read(Case):
    """What the report is made of."""

    def test_files_that_a_swapped_file_names(self):
        """Beside a log of root's, in a folder of another user's, who puts a
        map or jitdump of his own there, or a file of root's that all may
        write to: root's report has no line of a file that he cannot read."""
        home = self.folder("home", self.users["a"])
        os.chmod(self.canary, 0o755)
        for swapped in ((), ("jprof-map",), ("one",), ("two", "one"),
                        ("perf-7.map",), ("open",)):
            self.name_source(home, self.victim)
            for name in os.listdir(home):
                os.chown(home + "/" + name, self.users["a"]
                         if name in swapped else 0, 0)
                os.chmod(home + "/" + name, 0o644)
            if "open" in swapped:
                os.chmod(home + "/jprof-map", 0o666)
            child = self.start(self.path("jprof-report"),
                               "--annotate=f_2", home)
            out, err = child.communicate(timeout=PATIENCE)
            with self.subTest(swapped=swapped):
                self.assertIn("f_2", out)
                self.assertEqual("precious" in out, not swapped, out + err)


    def test_a_file_closed_to_a_group(self):
        """The user is of the group that may not read what all others may."""
        self.folder("home", self.users["a"])
        os.chmod(self.canary, 0o755)
        for mode in 0o604, 0o644:
            os.chown(self.victim, 0, 65534)
            os.chmod(self.victim, mode)
            self.assertEqual("precious" in self.report_on(self.victim),
                             mode == 0o644)

    def report_on(self, source):
        """Root's report of a profile of a user's whose jitdump has a line of
        this file; what it says."""
        home = self.path("home")
        self.name_source(home, source)
        for name in os.listdir(home):
            os.chown(home + "/" + name, self.users["a"], 0)
        child = self.start(self.path("jprof-report"), "--annotate=f_2", home)
        out, err = child.communicate(timeout=PATIENCE)
        self.assertIn("f_2", out, err)
        return out + err

    def test_files_of_another_mount_namespace(self):
        """He binds root's closed folder, whose files all may read, to one of
        his own, as every user can in a user namespace, and names a file by
        /proc/PID/root: the path that the kernel tells has his folder in it."""
        self.folder("home", self.users["a"])
        bound = self.folder("bound", self.users["a"])
        os.chmod(self.victim, 0o644)
        child = self.start("unshare", "-m", "sh", "-c", "mount --bind %s %s && "
                           "echo done; exec sleep 60" % (self.canary, bound))
        if child.stdout.readline() != "done\n":
            self.skipTest("no mount namespace")
        source = "/proc/%d/root%s/perf-1.map" % (child.pid, bound)
        self.assertEqual(read(source), "precious\n")
        self.assertNotIn("precious", self.report_on(source))

    def test_a_fifo_in_a_file_s_place(self):
        """Root's, which another program waits to write to: it goes on
        waiting, and is not ended when the reporter closes it again."""
        self.folder("home", self.users["a"])
        fifo = self.path("canary", "fifo")
        child = self.writer(fifo)
        self.report_on(fifo)
        self.assertIsNone(child.poll())
        with self.assertRaises(OSError):    # nobody reads
            os.close(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))


class Large(Case):
    """Files that are small on disk and large when they are read."""

    def setUp(self):
        super().setUp()
        self.busy = self.compile(SPINNER, "busy", flags=("-O1", "-g0"))
        status, _, err = self.jprof("-o", "out", self.busy)
        self.assertEqual(status, 0, err)

    def report(self):
        """Report and messages, and the reporter's peak of memory."""
        child = self.start(self.path("jprof-report"), "--format=text",
                           self.path("out"))
        out, err = child.stdout.read(), child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.assertIn(child.returncode, (0, 1), err)
        self.assertLess(usage.ru_maxrss, ZEROS / 1024 / 2, err)
        return out, err

    def replace(self, content):
        """Puts another file in the program's place."""
        os.unlink(self.busy)
        with open(self.busy, "wb") as out:
            out.write(content)
        os.chmod(self.busy, 0o755)

    def debugdata(self, packed):
        """Gives the program, without symbols, this .gnu_debugdata."""
        with open(self.path("packed"), "wb") as out:
            out.write(packed)
        subprocess.run(["objcopy", "-S", "--add-section", ".gnu_debugdata=" +
                        self.path("packed"), self.path("whole"), self.busy],
                       check=True)

    def test_a_packed_program(self):
        """libdwfl would unpack it, whatever it unpacks to."""
        whole = self.contents(self.busy)
        for packed in (bomb(lzma.LZMACompressor(preset=0), whole),
                       bomb(zlib.compressobj(wbits=31), whole),
                       lzma.compress(whole), packed_strings(whole)):
            self.replace(packed)
            _, err = self.report()
            self.assertIn("busy: is no ELF file; its functions stay unnamed",
                          err)

    def test_a_packed_symbol_table(self):
        """One that is no larger than it says is read; what unpacks to too
        much, or has in it what does, is not."""
        os.rename(self.busy, self.path("whole"))
        whole = self.contents(self.path("whole"))
        self.debugdata(lzma.compress(whole))
        out, err = self.report()
        self.assertIn("burn_cpu", out, err)
        for packed in (bomb(lzma.LZMACompressor(preset=0), whole),
                       lzma.compress(packed_strings(whole)),
                       bomb(lzma.LZMACompressor(lzma.FORMAT_ALONE), whole),
                       lzma.compress(whole)[:-100]):
            self.debugdata(packed)
            out, err = self.report()
            self.assertNotIn("burn_cpu", out)
            self.assertIn("busy: its .gnu_debugdata is not unpacked", err)

    def test_a_packed_debug_file(self):
        """By .gnu_debuglink, with the checksum that it tells."""
        os.rename(self.busy, self.path("whole"))
        whole = self.contents(self.path("whole"))
        for content in (whole, bomb(lzma.LZMACompressor(preset=0), whole)):
            with open(self.path("busy.debug"), "wb") as out:
                out.write(content)
            subprocess.run(["objcopy", "-S", "--add-gnu-debuglink=" +
                            self.path("busy.debug"), self.path("whole"),
                            self.busy], check=True)
            out, err = self.report()
            self.assertEqual("burn_cpu" in out, content == whole, err)

    def test_a_log_of_holes(self):
        """Nobody reads them one by one, be they 4 TB."""
        before, _ = self.report()
        log = self.path("out", "jprof-log")
        try:
            os.truncate(log, 4 << 40)
        except OSError as error:
            self.skipTest("no file of 4 TB: %s" % error)
        self.assertLess(os.stat(log).st_blocks, 1 << 20)
        child = self.start(self.path("jprof-report"), "--format=text",
                           self.path("out"))
        out, err = child.communicate(timeout=PATIENCE)
        self.assertEqual(out, before, err)

    def test_a_hole_that_the_program_makes(self):
        """The launcher gives its room back in one piece."""
        status, _, err = self.jprof(
            "-o", "long", "sh", "-c", BUSY + "; truncate -s 4T long/jprof-log "
            "|| touch refused")
        if os.path.exists(self.path("refused")):
            self.skipTest("no file of 4 TB")
        self.assertEqual(status, 0, err)
        self.assertIn("report.html", os.listdir(self.path("long")))

    @staticmethod
    def contents(path):
        with open(path, "rb") as source:
            return source.read()


class Written(Case):
    """Where the report goes."""

    def report(self, *argv, **more):
        child = self.start(self.path("jprof-report"), *argv, **more)
        _, err = child.communicate(timeout=PATIENCE)
        return child.returncode, err

    def test_a_link_comes_after_the_look(self):
        """In another user's folder, who is quick: what is behind his link is
        neither replaced nor emptied, whoever made up the name."""
        home = self.folder("home", self.users["a"])
        golden.prepare(os.path.join(ROOT, "tests", "golden", "report"), home)
        hand = self.compile(QUICK_HAND, "hand.so",
                            flags=("-shared", "-fPIC"))
        own, made_up = home + "/own.html", home + "/jprof-log.html"
        check = self.audit()
        for argv, path in ((("-o", own, "app", home + "/jprof-log"), own),
                           (("app", home + "/jprof-log", home +
                             "/jprof-log-9"), made_up)):
            for was_there in (0, 1):
                for no_new in (0, 1):
                    with self.subTest(path=path, old=was_there,
                                      no_new=no_new):
                        self.env["LD_PRELOAD"] = hand
                        self.env.pop("NO_NEW_FILES", None)
                        if no_new:
                            self.env["NO_NEW_FILES"] = "1"
                        if os.path.lexists(path):
                            os.unlink(path)
                        if was_there:
                            self.script("old", path)
                        os.symlink(self.victim, path + ".trap")
                        os.lchown(path + ".trap", self.users["a"], 65534)
                        status, err = self.report(*argv)
                        self.assertIn("swapped", err)
                        if no_new:
                            self.assertEqual(status, 2, err)
                            self.assertTrue(os.path.islink(path), err)
                        else:
                            self.assertIn("</html>", read(path), err)
                            self.assertFalse(os.path.islink(path))
                        check()

    def test_a_link_on_the_way(self):
        """Another user's, or in a folder that he can write to, is not gone
        through; root's own is."""
        home = self.folder("home", self.users["a"], 0o777)
        golden.prepare(os.path.join(ROOT, "tests", "golden", "report"),
                       self.canary)
        self.as_user(self.users["a"], "ln", "-s", self.canary, home + "/way")
        os.symlink(self.canary, home + "/roots")
        os.symlink(self.canary, self.path("own"))
        check = self.audit()
        for way in ("way", "roots", "way/../canary"):
            path = home + "/" + way
            for argv in (("-o", path + "/new.html", "app",
                          self.canary + "/jprof-log"),
                         ("app", path + "/jprof-log", path + "/jprof-log-9"),
                         ("--output-dir=" + path, "app",
                          self.canary + "/jprof-log")):
                with self.subTest(argv=argv):
                    status, err = self.report(*argv)
                    self.assertEqual(status, 2, err)
                    self.assertIn("Too many levels of symbolic links", err)
                    check()
        status, err = self.report("-o", self.path("own", "new.html"), "app",
                                  self.canary + "/jprof-log")
        self.assertIn("</html>", read(self.path("canary", "new.html")), err)

    def test_what_stands_in_the_place_of_a_report(self):
        """A name that was not asked for is that of a file of one's own."""
        home = self.folder("home", 0)
        golden.prepare(os.path.join(ROOT, "tests", "golden", "report"), home)
        path = home + "/jprof-log.html"
        logs = ("app", home + "/jprof-log", home + "/jprof-log-9")
        link = self.path("link")
        check = self.audit()
        for make, words in (
                (lambda: os.symlink(self.victim, path), "symbolic links"),
                (lambda: os.link(self.victim, path), "Too many links"),
                (lambda: os.mkfifo(path), "File exists"),
                (lambda: os.chown(self.script("his", path),
                                  self.users["a"], 0), "not permitted"),
                (lambda: os.link(self.script("mine", link), path),
                 "Too many links")):
            make()
            before = os.lstat(path)
            status, err = self.report(*logs)
            self.assertEqual(status, 2, err)
            self.assertRegex(err, "jprof-log.html: .*%s.*; no report written"
                             % words)
            self.assertEqual(os.lstat(path).st_ino, before.st_ino)
            self.assertEqual(os.lstat(path).st_size, before.st_size)
            os.unlink(path)
            check()
        os.chmod(self.script("mine", path), 0o644)
        status, err = self.report(*logs)
        self.assertEqual(status, 0, err)
        self.assertIn("</html>", read(path))

    def test_a_link_that_was_named(self):
        """Another user's leads root to what he could read himself, and to
        nothing else: that is not even looked into."""
        case = os.path.join(ROOT, "tests", "golden", "report")
        home = self.folder("home", self.users["a"])
        for place, user in ((home, self.users["a"]), (self.canary, 0)):
            golden.prepare(case, place)
            for name in os.listdir(place):
                os.chmod(os.path.join(place, name), 0o600)
                os.chown(os.path.join(place, name), user, 65534)
        os.chmod(self.canary, 0o755)
        closed = self.path("canary", "jprof-log")
        for number, (to, status) in enumerate((
                (closed, 2), (self.canary, 2), (self.victim, 2),
                (home + "/jprof-log", 0), (home, 0))):
            link = self.path("home", "link%d" % number)
            os.symlink(to, link)
            os.lchown(link, self.users["a"], 65534)
            os.utime(closed, (1, 10**9))
            os.utime(self.victim, (1, 10**9))
            got, err = self.report("--profile", "-o",
                                   self.path("out"), link)
            self.assertEqual(got, status, err)
            self.assertEqual([os.stat(path).st_atime_ns for path in
                              (closed, self.victim)], [10**9] * 2, to)

    def test_another_user_s_file_that_was_named(self):
        """His FIFO gets nothing and nobody waits for it, his file's mode is
        not taken over; his file in a folder of his is not written into."""
        golden.prepare(os.path.join(ROOT, "tests", "golden", "report"),
                       self.folder("home", 0))
        log = self.path("home", "jprof-log")
        self.folder("all", 0, 0o777)
        fifo, his = self.path("all", "fifo"), self.path("all", "file")
        os.mkfifo(fifo)
        os.chown(fifo, self.users["a"], 65534)
        os.chmod(fifo, 0o622)
        reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        for user in 0, self.users["b"]:
            status, err = self.report("-o", fifo, "app", log, user=user)
            self.assertEqual(status, 2, err)
            self.assertIn("not permitted", err)
            self.assertEqual(os.read(reader, 1), b"")
        os.chmod(self.script("his", his, user=self.users["a"]), 0o666)
        status, err = self.report("-o", his, "app", log, umask=0o077)
        info = os.stat(his)
        self.assertEqual((info.st_uid, info.st_mode & 0o777), (0, 0o600), err)
        self.assertIn("</html>", read(his))
        closed = self.script("his", self.folder("closed", self.users["a"]),
                             "file", user=self.users["a"])
        os.chmod(closed, 0o666)
        status, err = self.report("-o", closed, "app", log,
                                  user=self.users["b"])
        self.assertEqual((status, read(closed)), (2, "his"), err)

    def test_modes_of_reports(self):
        """As the log's where the name was made up; else as umask has it."""
        home = self.folder("home", 0)
        golden.prepare(os.path.join(ROOT, "tests", "golden", "report"), home)
        named = home + "/named"
        logs = ("app", home + "/jprof-log", home + "/jprof-log-9")
        os.chmod(self.script("old", home + "/jprof-log.html"), 0o644)
        for argv in (logs, ("--output-dir", home + "/dir") + logs,
                     ("-o", named) + logs[:2]):
            if not os.path.exists(home + "/dir"):
                os.mkdir(home + "/dir")
            status, err = self.report(*argv, umask=0o022)
            self.assertEqual(status, 0, err)
        reports = glob.glob(home + "/*.html") + glob.glob(home + "/dir/*")
        self.assertEqual(len(reports), 4)
        for path in reports:
            self.assertEqual(os.stat(path).st_mode & 0o7777, 0o600, path)
        self.assertEqual(os.stat(named).st_mode & 0o7777, 0o644)

    def test_links_in_the_place_of_reports(self):
        home = self.folder("home", self.users["a"])
        for user in (0, self.users["b"]):
            name = "p%d" % user
            self.jprof("-o", self.folder(name, user) + "/p", "sh", "-c", BUSY,
                       user=user)
            log = self.path(name, "p", "jprof-log")
            for copy in ("one", "two"):
                shutil.copy(log, home + "/" + copy)
                os.chmod(home + "/" + copy, 0o644)
                if os.path.lexists(home + "/" + copy + ".html"):
                    os.unlink(home + "/" + copy + ".html")
                os.symlink(self.victim, home + "/" + copy + ".html")
                os.lchown(home + "/" + copy + ".html", self.users["a"], 65534)
            check = self.audit()
            child = self.start(self.path("jprof-report"), "sh", home + "/one",
                               home + "/two", user=user)
            child.communicate(timeout=PATIENCE)
            check()


if __name__ == "__main__":
    unittest.main()
