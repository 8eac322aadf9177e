# SPDX-License-Identifier: MIT
"""The files in which a runtime describes its code are noticed whatever they
are called and whatever becomes of them, and are kept beside the log, as is
the code itself.  Runs in: tests."""
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from jprun import TICK_FLAGS, Case, need, program

# The first instructions of `code` in tests/programs/dumper.c.
CODE = {"x86_64": bytes.fromhex("554889e54889f948ffc9"),
        "aarch64": bytes.fromhex("fd7bbfa9fd030091")}[os.uname().machine]

SYNC = """
import os
def sync(name):
    with open("/proc/self/comm", "w") as comm:
        comm.write(name)
    with open("/proc/self/comm") as comm:
        try:
            os.fsync(comm.fileno())
        except OSError as error:
            return error.errno
    return 0
print(sync("DTiJ"), sync("TiJD"))
"""


def content(path):
    with open(path, "rb") as source:
        return source.read()


class Files(Case):
    def setUp(self):
        super().setUp()
        # Another file system, where the machine has one: no hard link there.
        self.other = tempfile.mkdtemp(prefix="jprof-run-", dir="/dev/shm")

    def tearDown(self):
        shutil.rmtree(self.other, ignore_errors=True)
        super().tearDown()

    def dumps(self, run):
        """{path: the last `jitdump` event about it}"""
        return {keys["path"]: keys for _, keys in run.events("jitdump")}

    def check_saved(self, *words, seconds="1.5"):
        """Runs dumper; each dump must have been saved as it was at the end."""
        done = self.run_program(program("dumper"), seconds, *words)
        self.assertEqual((done.status, done.err), (0, ""))
        run = self.run_of()
        dumps = self.dumps(run)
        self.assertEqual(len(dumps), len(words), dumps)
        for word in words:
            path = os.path.join(self.dir, word.split(":", 1)[1])
            keys = dumps[path]
            want = content(path + ".all")
            have = content(self.path(keys["saved"]))
            self.assertEqual(have.rstrip(b"\0"), want.rstrip(b"\0"), word)
            self.assertEqual(int(keys["size"]), len(have))
        return run, dumps

    def test_any_name(self):
        """In the working directory, elsewhere, under a dated folder, with
        blanks and no suffix: a dump is known by its content."""
        folder = self.path(".debug/jit/a-jit-20240506-12ab")
        os.makedirs(folder)
        run, dumps = self.check_saved(
            "plain:jit-1-2.dump", "plain:" + folder + "/jit.dump",
            "plain:what a name", "swapped:swapped")
        inodes = {(keys["dev"], keys["inode"]) for keys in dumps.values()}
        self.assertEqual(len(inodes), 4)
        for path, keys in dumps.items():
            status = os.stat(path)
            self.assertEqual((keys["dev"], keys["inode"]), (
                "%d:%d" % (os.major(status.st_dev), os.minor(status.st_dev)),
                str(status.st_ino)))
        # The marker mappings were gone before the end: seen while it ran.
        first = run.events("jitdump")[0][0]
        self.assertLess(first, run.samples[-1][0])

    def test_empty_when_mapped(self):
        self.check_saved("late:late", "plain:" + self.other + "/plain",
                         "late:" + self.other + "/late")

    def test_mapped_briefly(self):
        """Once the mappings are looked at each second alone, the mapping of a
        file as code is what leads to a dump."""
        self.check_saved("brief:brief", seconds="4.4")

    def test_sync(self):
        """A dump's writer does not wait for the disk while samples are taken.
        A file of /proc cannot be synced, and this one has any first bytes."""
        argv = [sys.executable, "-c", SYNC]
        for flags, out in ((None, "22 22"), (TICK_FLAGS, "0 22")):
            done = self.run_program(*argv, flags=flags)
            self.assertEqual((done.status, done.out.strip(), done.err),
                             (0, out, ""))

    def test_vanished_and_replaced(self):
        run, dumps = self.check_saved(
            "unlink:a", "removed:b", "replaced:c",
            *[kind + ":" + self.other + "/" + kind
              for kind in ("unlink", "removed", "replaced")])
        self.assertEqual(dumps[self.path("a")]["deleted"], "1")
        self.assertEqual(content(self.path("c")), b"another\n")
        # No name but those of the log, and of what the program wrote.
        saved = {keys["saved"] for keys in dumps.values()}
        saved |= {keys["saved"] for _, keys in run.events("code")}
        self.assertEqual(set(self.files()) - saved, {
            "jprof-log", "jprof-map", "a.all", "b.all", "c", "c.all"})
        self.assertEqual(len(run.events("exit")), 1)

    def test_many(self):
        self.check_saved(*["plain:dump%d" % i for i in range(30)])

    def test_killed(self):
        """What was linked stays; what cannot be linked is left in place."""
        live = self.start(program("dumper"), "600", "plain:here",
                          "plain:" + self.other + "/there")
        live.burn(1)
        live.end(signal.SIGKILL)
        dumps = self.dumps(self.run_of())
        here = dumps[self.path("here")]
        self.assertEqual(content(self.path(here["saved"])),
                         content(self.path("here")))
        there = dumps[self.other + "/there"]
        self.assertEqual(os.stat(self.other + "/there").st_ino,
                         int(there["inode"]))

    def test_perf_map_replaced(self):
        """Both the old and the new file are kept."""
        need("sh")
        done = self.run_program(
            "/bin/sh", "-c", "exec %s 1.5 remap:/tmp/perf-$$.map"
            % program("dumper"))
        self.assertEqual((done.status, done.err), (0, ""))
        run = [r for r in self.all_runs() if r.events("perfmap")][0]
        seen = {keys["inode"]: keys for _, keys in run.events("perfmap")}
        self.assertEqual(len(seen), 2, seen)
        for keys in seen.values():
            self.assertIn(b"dumped_0", content(self.path(keys["saved"])))

    def test_stale_perf_map(self):
        """What an earlier process with this pid left is not this one's."""
        done = self.run_program(
            "/bin/sh", "-c", "echo '1000 10 stale' >/tmp/perf-$$.map; "
            "touch -d '1 hour ago' /tmp/perf-$$.map; exec %s 0.6 plain:dump"
            % program("dumper"))
        self.assertEqual((done.status, done.err), (0, ""))
        os.unlink("/tmp/perf-%d.map" % done.pid)
        runs = [r for r in self.all_runs() if r.events("jitdump")]
        self.assertEqual(len(runs), 1)
        self.assertEqual(runs[0].events("perfmap"), [])

    def in_namespace(self, word):
        """dumper in a pid namespace, with the outer /proc."""
        unshare = [need("unshare"), "--user", "--map-root-user", "--pid",
                   "--fork"]
        if subprocess.run(unshare + ["true"], check=False,
                          stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no pid namespaces here")
        # The first process is a shell: pid 1 has no default signal actions.
        done = self.run_program(*unshare, "/bin/sh", "-c",
                                "%s 1 %s; exit $?" % (program("dumper"), word))
        self.assertEqual((done.status, done.err), (0, ""))
        run = [r for r in self.all_runs() if r.events("perfmap")][0]
        keys = run.events("perfmap")[-1][1]
        self.addCleanup(subprocess.run, ["rm", "-f", keys["path"]], check=True)
        self.assertIn(b"dumped_0", content(self.path(keys["saved"])))
        self.assertNotEqual(run.header["pid"], run.header["proc_pid"])
        return run, keys

    def test_pid_namespace(self):
        run, keys = self.in_namespace("map:/tmp/perf-2.map")
        self.assertEqual(keys["path"], "/tmp/perf-%d.map" % run.header["pid"])

    def test_pid_of_the_outer_namespace(self):
        run, keys = self.in_namespace("map:/tmp/perf-%p.map")
        self.assertEqual(keys["path"],
                         "/tmp/perf-%d.map" % run.header["proc_pid"])


class Code(Case):
    """Code that samples hit is kept, where no jitdump has it."""

    def kept(self, run):
        """{page address: its bytes}, of the latest `code` events."""
        pages = {}
        for _, keys in run.events("code"):
            data = content(self.path(keys["saved"]))
            start, end, offset = (int(keys[key], 16)
                                  for key in ("start", "end", "offset"))
            self.assertLessEqual(offset + end - start, len(data))
            for at in range(start, end, 4096):
                pages[at] = data[offset + at - start:][:4096]
        return pages

    def test_with_a_perf_map(self):
        done = self.run_program(program("jitter"), "0.6")
        self.assertEqual((done.status, done.err), (0, ""))
        run = self.run_of()
        pages = self.kept(run)
        text = content("/tmp/perf-%d.map" % done.pid).decode()
        for line in text.splitlines():
            start = int(line.split()[0], 16)
            page = pages[start & ~4095]
            self.assertTrue(page[start & 4095:].startswith(CODE))

    def test_undescribed(self):
        """Without any file, and without an orderly end."""
        live = self.start(program("dumper"), "600",
                          "map:" + self.path("nobody-looks-here"))
        live.burn(1)
        live.end(signal.SIGKILL)
        pages = self.kept(self.run_of())
        self.assertTrue(any(page.startswith(CODE) for page in pages.values()))

    def test_with_a_jitdump(self):
        """To compare with: a runtime may leave code out."""
        self.run_program(program("dumper"), "0.6", "plain:dump")
        run = self.run_of()
        self.assertTrue(run.events("jitdump"))
        self.assertTrue(any(page.startswith(CODE)
                            for page in self.kept(run).values()))

    @unittest.skipUnless(platform.machine() == "x86_64", "code of x86-64")
    def test_callers_that_the_dump_lacks(self):
        """Other code lies where a dead function was, calls on, and is never
        what runs itself: it does not get that function's name."""
        done = self.run_program(program("stale"), "dump")
        self.assertEqual((done.status, done.err), (-signal.SIGKILL, ""))
        stacks = self.collapsed(program("stale"), "jprof-log")
        self.assertGreater(sum(weight for stack, weight in stacks
                               if "good_code" in stack), 30)
        self.assertEqual([stack for stack, _ in stacks
                          if "old_code" in stack and "good_code" in stack], [])

    def test_not_without_jit_code(self):
        self.busy(0.5, flags=TICK_FLAGS)
        self.assertEqual(self.files(), ["jprof-log", "jprof-map"])


if __name__ == "__main__":
    unittest.main()
