# SPDX-License-Identifier: MIT
"""The files of a profile: their names, what may be replaced and what not, and
what is left after each way to die.  Runs in: tests."""
import os
import shutil
import signal
import sys
import unittest

from jprun import (LIBRARY, REPORT, TICK_FLAGS, Case, decode, need, program,
                   wait_until, weight_s)


class Names(Case):
    def test_log_and_map(self):
        self.busy(0.2)
        self.assertEqual(self.files(), ["jprof-log", "jprof-map"])
        run = self.run_of()
        self.assertEqual(run.header["map_name"], "jprof-map")
        self.assertEqual(len(run.events("jprof-map")), 1)
        self.assertEqual(len(run.events("exit")), 1)
        self.assertEqual(run.header["exe"],
                         os.path.realpath(program("busy")))

    def test_filename(self):
        self.busy(0.2, flags=TICK_FLAGS + " JP_FILENAME=sub.log")
        self.assertEqual(self.files(), ["sub.log", "sub.map"])

    def test_filename_in_another_folder(self):
        os.mkdir(self.path("deep"))
        self.busy(0.2, flags=TICK_FLAGS + " JP_FILENAME=deep/x")
        self.assertEqual(sorted(os.listdir(self.path("deep"))),
                         ["x", "x-map"])

    def test_filename_with_pid(self):
        done, _ = self.busy(0.2, flags=TICK_FLAGS + " JP_FILENAME=p-%p-log")
        self.assertEqual(self.files(), ["p-%d-log" % done.pid,
                                        "p-%d-map" % done.pid])

    def test_folder_that_is_not_there(self):
        done = self.run_program(
            program("busy"), "0.3", "5",
            flags=TICK_FLAGS + " JP_FILENAME=no/such/log")
        self.assertEqual(done.status, 5)
        self.assertEqual(len(done.err.splitlines()), 1, done.err)
        self.assertIn("no/such/log", done.err)
        self.assertEqual(self.files(), [])


class NoDescriptorFree(Case):
    def test_one_line_says_so(self):
        """RLIMIT_NOFILE is reached when the log is to be made, at the first
        sample; the program goes on."""
        done = self.run_program(
            need("prlimit"), "--nofile=16", "env", "LD_PRELOAD=" + LIBRARY,
            program("lastfd"), preload=None,
            flags="JP_START JP_PERIOD=0.001 JP_FIRST=0.02")
        self.assertEqual(done.status, 0)
        self.assertEqual(len(done.err.splitlines()), 1, done.err)
        self.assertIn("profiling is off", done.err)
        self.assertIn("too many open files", done.err)
        self.assertEqual(self.files(), [])


class NoLog(Case):
    def test_the_program_is_told(self):
        """By jprof_start, after the first sample found that there can be no
        log."""
        done = self.run_program(
            sys.executable, "-S", "-c", "import ctypes, errno, time\n"
            "start = ctypes.CDLL(None).jprof_start\n"
            "print(start())\n"
            "while time.process_time() < 1 and start() == -errno.EALREADY:\n"
            "    pass\n"
            "print(start() == -errno.EPERM)\n",
            flags="JP_DEFER JP_PERIOD=0.001 JP_FILENAME=no/such/log")
        self.assertEqual((done.status, done.out), (0, "0\nTrue\n"))
        self.assertEqual(len(done.err.splitlines()), 1, done.err)


class Existing(Case):
    def test_finished_log_is_replaced(self):
        first, _ = self.busy(0.2)
        second, _ = self.busy(0.2)
        self.assertEqual(self.files(), ["jprof-log", "jprof-map"])
        self.assertNotEqual(first.pid, second.pid)
        run = self.run_of()
        self.assertEqual(run.header["pid"], second.pid)
        self.assertEqual(len(run.events("jprof-map")), 1)

    def test_replaced_log_is_a_new_file(self):
        """A reader that has the old file open keeps what it had."""
        self.busy(0.2)
        with open(self.path("jprof-log"), "rb") as old:
            before = old.read()
            self.busy(0.2)
            old.seek(0)
            self.assertEqual(old.read(), before)

    def test_foreign_file_is_left_alone(self):
        text = b"this is no log of ours\n"
        for name in ("jprof-log", "jprof-map"):
            with open(self.path(name), "wb") as target:
                target.write(text)
        done, _ = self.busy(0.2)
        for name in ("jprof-log", "jprof-map"):
            with open(self.path(name), "rb") as source:
                self.assertEqual(source.read(), text, name)
        self.assertEqual(self.log_names(), ["jprof-log-%d" % done.pid])
        self.assertGreater(
            len(self.run_of("jprof-log-%d" % done.pid).samples), 20)

    def test_symbolic_link_is_not_followed(self):
        with open(self.path("target"), "wb"):
            pass
        os.symlink("target", self.path("jprof-log"))
        done, _ = self.busy(0.2)
        self.assertEqual(os.path.getsize(self.path("target")), 0)
        self.assertTrue(os.path.islink(self.path("jprof-log")))
        self.assertEqual(self.log_names(), ["jprof-log-%d" % done.pid])

    def test_living_owner_keeps_its_log(self):
        live = self.start(program("busy"), "600")
        live.line()
        wait_until(lambda: "jprof-log" in self.log_names(), "the first log")
        live.burn(0.2)
        second, _ = self.busy(0.3)
        name = "jprof-log-%d" % second.pid
        self.assertIn(name, self.log_names())
        live.burn(0.2)
        live.end(signal.SIGKILL)
        self.assertEqual(self.run_of().header["pid"], live.pid)
        self.assertEqual(self.run_of(name).header["pid"], second.pid)
        self.assertGreater(weight_s(self.run_of()), 0.32)
        self.assertGreater(weight_s(self.run_of(name)), 0.25)

    def test_append_adds_a_run(self):
        flags = TICK_FLAGS + " JP_APPEND"
        first, _ = self.busy(0.3, flags=flags)
        second, _ = self.busy(0.3, flags=flags)
        self.assertEqual(self.files(), ["jprof-log", "jprof-map"])
        runs = decode.load(self.path("jprof-log"))
        self.assertEqual([run.header["pid"] for run in runs],
                         [first.pid, second.pid])
        for run in runs:
            self.assertEqual(run.damage, [])
            self.assertGreater(weight_s(run), 0.25)
            self.assertTrue(run.header["options"] & 2)
            self.assertEqual(len(run.events("jprof-map")), 1)
        summary = self.summary(program("busy"), "jprof-log")
        self.assertEqual(int(summary["samples"]),
                         sum(len(run.samples) for run in runs))


class Ends(Case):
    """However a program ends, what was sampled is in the log."""

    def check(self, how, status):
        done = self.run_program(program("busy"), "0.6", "3", how)
        self.assertEqual((done.status, done.err), (status, ""))
        run = self.run_of()
        self.assertLess(abs(weight_s(run) - 0.6), 0.05)
        summary = self.summary(program("busy"), "jprof-log")
        self.assertEqual(int(summary["samples"]), len(run.samples))
        stacks = self.collapsed(program("busy"), "jprof-log")
        total = sum(weight for _, weight in stacks)
        self.assertGreater(sum(w for stack, w in stacks if "spin" in stack),
                           0.9 * total)

    def test_exit(self):
        self.check("exit", 3)

    def test_underscore_exit(self):
        self.check("_exit", 3)

    def test_abort(self):
        self.check("abort", -signal.SIGABRT)

    def test_sigkill(self):
        self.check("kill", -signal.SIGKILL)

    def test_log_is_read_while_it_grows(self):
        live = self.start(program("busy"), "600")
        live.line()
        live.burn(0.5)
        shutil.copy(self.path("jprof-log"), self.path("now-log"))
        count = len(decode.load(self.path("now-log"))[0].samples)
        self.assertGreater(count, 80)
        self.assertEqual(int(self.summary(program("busy"),
                                          "now-log")["samples"]), count)
        live.end(signal.SIGKILL)


class Damaged(Case):
    """A log cut or damaged anywhere: a message, a status, no crash."""

    def report_status(self, name):
        done = self.run_program(
            REPORT, "--format=summary", program("busy"), name, preload=False)
        self.assertIn(done.status, (0, 1, 2), done.err)
        if done.status:
            self.assertIn("jprof-report: ", done.err)
        return done.status

    def test_cut(self):
        self.busy(0.3)
        with open(self.path("jprof-log"), "rb") as source:
            data = source.read()
        used = len(data.rstrip(b"\0"))
        for size in list(range(0, 200, 23)) + list(range(4000, used, 137)):
            with open(self.path("cut-log"), "wb") as target:
                target.write(data[:size])
            self.report_status("cut-log")

    def test_empty_and_missing(self):
        with open(self.path("empty"), "wb"):
            pass
        self.assertEqual(self.report_status("empty"), 2)
        self.assertEqual(self.report_status("missing"), 2)

    def test_other_architecture(self):
        self.busy(0.2)
        with open(self.path("jprof-log"), "r+b") as target:
            target.seek(16)
            target.write((8).to_bytes(2, "little"))    # MIPS
        done = self.run_program(REPORT, program("busy"), "jprof-log",
                                preload=False)
        self.assertIn(done.status, (0, 1, 2))
        self.assertIn("another kind of machine", done.err)


if __name__ == "__main__":
    unittest.main()
