# SPDX-License-Identifier: MIT
"""Programs that are executed where no path leads to the profile's folder, as
bubblewrap's: they have a log, and not the folder, and what they execute has
its run in that log.  Runs in: tests."""
import os
import re
import shutil
import subprocess
import unittest

from jprun import BUILD, LIBRARY, Case, decode, lacking, need, program

FLAGS = "JP_START JP_PERIOD=0.004"


class Handover(Case):
    def facts(self, folder):
        """The summary of a whole profile."""
        text = self.report(folder, "--merge", "--format=summary")
        return dict(line.split(": ", 1) for line in text.splitlines()
                    if ": " in line)

    @staticmethod
    def cpu_ns(run):
        return sum(sample[2] for sample in run.samples)

    def without_kept(self, out, is_handed, runs=1):
        """A program's output without what is the library's own: the log that
        it keeps open for what the program executes, and its number."""
        if is_handed:
            self.assertEqual(len(re.findall("^fds.* file$", out, re.M)), runs)
        return re.sub("room [0-9]+", "room 0", out.replace(" file\n", "\n"))

    def sizes(self):
        """The length of the log that was handed on, and its bytes on disk."""
        info = os.stat(max(map(self.path, self.log_names()),
                           key=lambda log: len(decode.load(log))))
        return info.st_size, info.st_blocks * 512

    def outputs(self, flags, *arguments):
        """The program's output without the library and with it."""
        argv = [program("mounts"), *arguments]
        plain = self.run_program(*argv, preload=False)
        if plain.status == 77:
            raise lacking("the right to have mounts of one's own")
        self.assertEqual((plain.status, plain.err), (5, ""))
        done = self.run_program(*argv, flags=flags)
        self.assertEqual((done.status, done.err), (5, ""))
        return plain, done

    def further(self, how, handed=1, seconds="0.3", flags=FLAGS):
        """The runs of a program that executes itself again out of the folder's
        sight, `handed` times under the library, and whether each has its time
        and names."""
        plain, done = self.outputs(flags, "unshare", self.dir, seconds, how)
        self.assertEqual(self.without_kept(done.out, True, 1 + handed),
                         plain.out)
        runs = [run for log in self.log_names()
                for run in decode.load(self.path(log))
                if self.cpu_ns(run) > 0.1e9]
        self.assertEqual([run.damage for run in runs if run.damage], [])
        self.assertEqual(len(runs), 1 + handed)
        for run in runs:
            self.assertGreater(self.cpu_ns(run), 0.9e9 * float(seconds))
            self.assertEqual(run.header["exe"], program("mounts"))
        facts = self.facts(".")
        self.assertEqual((facts["lost"], facts["incomplete"]), ("0", "0"))
        return runs

    def check(self, how, flags=FLAGS, hidden=True, has_log=True):
        with open(self.path("jprof.here"), "wb"):
            pass
        plain, done = self.outputs(flags, how, self.dir, "0.3")
        self.assertEqual(self.without_kept(done.out, has_log and hidden),
                         plain.out)
        self.assertIn("seen %d\n" % (not hidden), done.out)
        runs = [run for log in self.log_names()
                for run in decode.load(self.path(log))]
        weights = [self.cpu_ns(run) for run in runs]
        if has_log:
            self.assertGreater(max(weights), 0.27e9)
        else:
            self.assertLess(max(weights, default=0), 0.1e9)
        self.assertEqual([run.damage for run in runs if run.damage], [])
        facts = self.facts(".")
        self.assertEqual(facts["lost"], "0")

    def test_unshare(self):
        self.check("unshare")

    def test_system_call(self):
        self.check("syscall")

    def test_child(self):
        self.check("clone")

    def test_exec_that_fails_before(self):
        self.check("again")

    def test_real_time(self):
        self.check("unshare", FLAGS + " JP_REALTIME")

    def test_folder_in_sight(self):
        self.check("exec", hidden=False)

    def test_guarded_folder(self):
        """The launcher names the folder by what it is."""
        info = os.stat(self.dir)
        self.check("clone", FLAGS + " JP_FILENAME=%s/jprof-log "
                   "JP_FOLDER_ID=%d:%d" % (self.dir, info.st_dev, info.st_ino))

    def test_further_in_the_same_process(self):
        first, second = self.further("same")
        self.assertEqual(first.header["pid"], second.header["pid"])
        length, used = self.sizes()
        self.assertLess(length, 5 << 20)    # less than twice 4 MiB
        self.assertLess(used, 1 << 20)

    def test_further_by_fork(self):
        self.further("fork")

    def test_further_by_vfork(self):
        self.further("vfork")

    def test_further_by_posix_spawn(self):
        self.further("spawn")

    def test_further_by_system(self):
        """A shell lies between them."""
        self.further("system")

    def test_further_by_popen(self):
        self.further("popen")

    def test_further_where_descriptors_were_closed(self):
        """As Python's subprocess does."""
        self.further("closed")

    def test_further_without_the_library(self):
        """It is not given the log."""
        self.further("naked", handed=0)

    def test_further_with_a_ring(self):
        """What the program executes has an area, and no ring."""
        runs = self.further("fork", flags=FLAGS + " JP_CIRCULAR=200K")
        self.assertEqual([run.header["ring_bytes"] for run in runs],
                         [200 << 10, 0])

    def test_further_at_once(self):
        """Eight processes make room for themselves in one log."""
        runs = self.further("many", 8, "0.5")
        self.assertEqual(len({run.header["pid"] for run in runs}), 9)
        self.assertLess(self.sizes()[1], 2 << 20)   # of disk space

    def test_further_behind_further_mounts(self):
        """As a bubblewrap in a bubblewrap."""
        self.further("mounts")

    def test_further_while_the_log_is_locked(self):
        """By another that makes room for itself, on a slow disk."""
        self.further("locked")

    def test_further_by_shells_without_the_library(self):
        """They are not given the log."""
        self.further("shells", handed=0)

    def test_log_that_is_cut_short(self):
        """Who has the log in a sandbox can end profiles, but no program."""
        argv = [program("mounts"), "unshare", self.dir, "0.1", "cut"]
        plain = self.run_program(*argv, preload=False)
        if plain.status == 77:
            raise lacking("the right to have mounts of one's own")
        done = self.run_program(*argv, flags=FLAGS)
        self.assertEqual((plain.status, done.status), (5, 5))
        self.assertEqual(done.out.count("seen"), plain.out.count("seen"))

    def test_no_library(self):
        """A program that nobody would close it in is not given the folder."""
        self.check("bare", has_log=False)

    def inherit(self, flags, add):
        """What a program prints to which number 600 was handed, with `add` to
        the folder's inode in the environment."""
        number = 600
        other = os.open(self.dir, os.O_RDONLY | os.O_DIRECTORY)
        os.dup2(other, number, inheritable=True)
        try:
            env = self.environment(flags, LIBRARY, None)
            env["JPROF_ISCHILD"] = "1.2.3.000600.%016x.%016x:%s" % (
                os.fstat(number).st_dev, os.fstat(number).st_ino + add,
                self.dir)
            done = subprocess.run(
                [program("mounts"), "work", ".", "0.1"], env=env,
                cwd=self.dir, pass_fds=(number,), stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, check=False)
        finally:
            os.close(number)
            os.close(other)
        self.assertEqual(done.returncode, 5)
        return done.stdout.splitlines()[0]

    def test_another_file_at_the_number(self):
        """What is open at a number that the environment names is left alone if
        it is not the folder."""
        self.assertEqual(self.inherit(FLAGS, 1), b"fds 0 1 2 folder")
        self.assertEqual(self.inherit("JP_PERIOD=1", 1), b"fds 0 1 2 folder")

    def test_closed_without_a_profile(self):
        self.assertEqual(self.inherit(FLAGS, 0), b"fds 0 1 2 file")
        self.assertEqual(self.inherit("JP_PERIOD=1", 0), b"fds 0 1 2")

    def test_bubblewrap(self):
        """As WebKit runs its processes, from the launcher to the report."""
        bwrap = shutil.which("bwrap")
        if bwrap is None:
            raise lacking("bwrap")
        binds = ["--ro-bind", "/usr", "/usr", "--ro-bind", BUILD, BUILD,
                 "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64",
                 "/lib64", "--proc", "/proc", "--dev", "/dev",
                 "--unshare-pid"]
        command = [bwrap, *binds, program("busy"), "0.5"]
        if subprocess.run(command, check=False, stderr=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL).returncode != 0:
            raise lacking("the right to run bwrap")
        done = subprocess.run(
            [need(os.path.join(BUILD, "jprof")), "-o", "out", *command],
            cwd=self.dir, env=self.environment(None, None, None),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        facts = self.facts("out")
        self.assertGreater(float(facts["covered_s"]), 0.45, done.stderr)
        self.assertNotIn("uncovered", facts)


if __name__ == "__main__":
    unittest.main()
