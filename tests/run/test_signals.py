# SPDX-License-Identifier: MIT
"""What a program does with signals of its own is answered as if jprof were
not there, and jprof goes on sampling: each case prints the same with the
library as without.  Runs in: tests."""
import os
import signal
import struct
import subprocess
import sys
import unittest

from jprun import LIBRARY, Case, program, weight_s

CPU = "JP_START JP_PERIOD=0.001"
REAL = "JP_START JP_REALTIME JP_PERIOD=0.002"
RTC = "JP_START JP_RTC_HZ=512 JP_CIRCULAR=100k"
# The modes in which a signal is one of jprof's.
MODES = {signal.SIGPROF: (CPU, REAL), signal.SIGALRM: (REAL,),
         signal.SIGIO: (RTC,), signal.SIGUSR1: (CPU,),
         signal.SIGUSR2: (RTC,), signal.SIGRTMAX: (CPU,)}


class Same(Case):
    PROGRAM = "sigcases"

    def same(self, *case, modes=(CPU, REAL)):
        """The runs that it took under the library."""
        argv = [program(self.PROGRAM)] + [c if isinstance(c, str)
                                        else str(int(c)) for c in case]
        alone = self.run_program(*argv, preload=None, flags=None)
        self.assertNotEqual(alone.status, 64)
        runs = []
        for flags in modes:
            name = "log-%d" % len(self.files())
            done = self.run_program(
                *argv, flags=flags + " JP_FILENAME=" + name)
            self.assertEqual((done.status, done.out, done.err),
                             (alone.status, alone.out, alone.err),
                             (case, flags))
            runs.append(self.run_of(name) if name in self.files() else None)
        return runs

    def notes(self, run):
        return " ".join(str(event) for event in run.events("note"))


class Queued(Case):
    def test_in_order(self):
        """Real-time signals that come while jprof's handler runs are put off,
        and keep their places before those that wait already."""
        for sender, count in (("thread", "3000"), ("process", "3000"),
                              ("self", "24000")):
            for flags in ("JP_START JP_PERIOD=0.0002",
                          "JP_START JP_REALTIME JP_PERIOD=0.0002"):
                with self.subTest(sender=sender, flags=flags):
                    done = self.run_program(program("queued"), sender, count,
                                            flags=flags)
                    self.assertEqual(
                        (done.status, done.out, done.err),
                        (0, f"come {count} disordered 0 wrong 0\n", ""))

    def test_of_a_thread_that_has_ended(self):
        """What waits in a thread ends with it, though another thread has its
        memory then."""
        done = self.run_program(program("unheard"),
                                flags="JP_START JP_PERIOD=0.0002")
        self.assertEqual((done.status, done.out, done.err),
                         (0, "come 600 wrong 0\n", ""))


class Dispositions(Same):
    def test_handlers_and_siginfo(self):
        for number, modes in MODES.items():
            for run in self.same("actions", number, modes=modes):
                self.assertGreater(weight_s(run), 0.03)

    def test_once(self):
        for number, modes in MODES.items():
            self.same("once", number, modes=modes)

    def test_nodefer(self):
        self.same("nodefer", signal.SIGPROF)

    def test_handed_on_by_exec(self):
        for run in self.same("exec"):
            self.assertGreater(weight_s(run), 0.1)

    def test_left_by_siglongjmp(self):
        self.same("jumped", signal.SIGPROF)

    def test_in_no_handler_of_jprofs(self):
        """Not while libunwind walks either, which changes the mask itself."""
        for run in self.same("interrupted", modes=(
                CPU, CPU + " JP_STACK=libunwind", REAL)):
            self.assertGreater(weight_s(run), 0.3)

    def test_raw_system_call(self):
        run, = self.same("syscall", signal.SIGPROF, modes=(CPU,))
        self.assertIn("the clock took another", self.notes(run))
        self.assertGreater(weight_s(run), 0.4)
        cpu, real = self.same("raw", signal.SIGPROF)
        self.assertIn("by a system call", self.notes(cpu))
        self.assertNotIn("by a system call", self.notes(real))


class Taken(Same):
    TAKE = ("import signal, time\n"
            "def turn(end):\n"
            "    while time.process_time() < end: pass\n"
            "turn(0.2)\n"
            "for number in %s:\n"
            "    if number not in (9, 19, 32, 33):\n"
            "        signal.signal(number, lambda *_: 0)\n"
            "turn(0.4)")

    def taken(self, numbers):
        self.run_program(sys.executable, "-c", self.TAKE % numbers, flags=CPU)
        return self.notes(self.run_of())

    def test_one_signal_after_the_other(self):
        """The notes say in which order the clock lost its signals."""
        notes = self.taken("range(1, 65)")
        self.assertLess(notes.index("the clock took another"),
                        notes.index("the program then took the signal that "
                                    "the clock had moved to"))
        self.assertNotIn("the clock shares it", notes)

    def test_the_clocks_own_last(self):
        """Here it never moved."""
        notes = self.taken("range(64, 0, -1)")
        self.assertIn("no other is free: the clock shares it", notes)
        self.assertNotIn("took", notes)


class Waits(Same):
    def test_waited_for(self):
        for number, modes in MODES.items():
            run = self.same("waited", number, modes=modes)[0]
            if number in (signal.SIGUSR1, signal.SIGUSR2):
                self.assertIn(signal.Signals(number).name, self.notes(run))

    def test_timers_of_its_own(self):
        cpu, real = self.same("profiled")
        for run in cpu, real:
            self.assertGreater(weight_s(run), 0.8)
        self.assertIn("the clock took another", self.notes(cpu))
        self.assertNotIn("the clock took another", self.notes(real))
        real, = self.same("alarmed", modes=(REAL,))
        self.assertIn("the clock took another", self.notes(real))

    def test_killed_by_a_timer_of_its_own(self):
        self.same("killed", signal.SIGPROF)
        self.same("killed", signal.SIGALRM, modes=(REAL,))


class Masks(Same):
    def test_masks(self):
        for run in self.same("masks"):
            self.assertGreater(weight_s(run), 0.2)

    def test_thread_that_blocks_all_is_sampled(self):
        for run in self.same("blockall"):
            by_thread = {}
            for sample in run.samples:
                by_thread.setdefault(sample[1], 0)
                by_thread[sample[1]] += sample[2]
            self.assertEqual(len(by_thread), 2)
            for weight in by_thread.values():
                self.assertGreater(weight, 0.4e9)


class BlockedByName(Same):
    """The perf clock, which only SIGPROF is for, or real time's signal."""
    PROGRAM = "claims"
    MOVED = "the clock took another"

    def runs(self, case):
        """Where CPU time is the clock, and where real time is."""
        cpu, = self.same(case, signal.SIGPROF, modes=(CPU,))
        real, = self.same(case, signal.SIGALRM, modes=(REAL,))
        return cpu, real

    def test_no_clock_moves(self):
        self.busy(0.2, flags=CPU + " JP_FILENAME=plain")
        clock = self.run_of("plain").header["clock"]
        for case in ("passing", "lasting"):
            cpu, real = self.runs(case)
            for run in cpu, real:
                with self.subTest(case=case, clock=run.header["clock"]):
                    self.assertNotIn(self.MOVED, self.notes(run))
                    self.assertGreater(weight_s(run), 0.5)
            self.assertEqual(cpu.header["clock"], clock)

    def test_handed_on_by_exec(self):
        """Where the clock moves only when the signal is sent.  (The program
        before the exec may have a log, too.)"""
        self.runs("handed")
        self.assertGreater(sum(map(weight_s, self.all_runs())), 1)

    def test_sent_meanwhile(self):
        """It waits as without jprof, and the clock moves."""
        for case in ("sent", "awaited"):
            for run in self.runs(case):
                with self.subTest(case=case, clock=run.header["clock"]):
                    self.assertIn(self.MOVED, self.notes(run))
                    self.assertGreater(weight_s(run), 0.4)


class PastTheHooks(Same):
    """A handler for the clock's signal that no hook sees being set."""
    PROGRAM = "claims"

    def test_bare_system_call(self):
        for flags in (CPU, "JP_START JP_PERIOD=0.001 JP_CLOCK=itimer"):
            run, = self.same("past", signal.SIGPROF, modes=(flags,))
            with self.subTest(flags=flags):
                if "itimer" not in flags:   # the program has set that timer
                    self.assertIn("by a system call: the clock took another",
                                  self.notes(run))
                    self.assertNotIn("not sampled", self.notes(run))
                    self.assertGreater(weight_s(run), 0.8)

    @staticmethod
    def histogram_s(path):
        """The seconds that a gmon.out's histograms count (binutils'
        gmon_out.h: a header of 20 bytes, a tag, a head of 40)."""
        with open(path, "rb") as source:
            data = source.read()
        assert data[:4] == b"gmon" and data[20] == 0
        size, rate = struct.unpack_from("=II", data, 37)
        return sum(struct.unpack_from("=%dH" % size, data, 61)) / rate

    def test_profil(self):
        """A program built with -pg: the C library's profile is as without
        jprof, and jprof's is whole."""
        alone = self.run_program(program("selfprof"), "1", preload=None,
                                 flags=None)
        least = self.histogram_s(self.path("gmon.out")) / float(alone.out) / 2
        for flags in (CPU, REAL):
            with self.subTest(flags=flags):
                os.unlink(self.path("gmon.out"))
                name = "log-%d" % len(self.files())
                done = self.run_program(program("selfprof"), "1",
                                        flags=flags + " JP_FILENAME=" + name)
                self.assertEqual((done.status, done.err), (0, ""))
                used = float(done.out)
                shown = self.histogram_s(self.path("gmon.out"))
                self.assertTrue(least * used <= shown <= 1.5 * used,
                                (least, used, shown))
                self.assertGreater(weight_s(self.run_of(name)), 0.9 * used)
                if flags == CPU:
                    self.assertIn("the clock took another",
                                  self.notes(self.run_of(name)))


class Restored(Case):
    """Masks that the kernel, siglongjmp or a cancellation bring back."""

    def test_as_without(self):
        for kind in ("handler", "inside", "jump", "back", "cancel"):
            alone = self.run_program(program("restored"), kind, preload=None,
                                     flags=None)
            self.assertEqual((alone.status, alone.err), (0, ""))
            self.assertIn("came 2", alone.out)
            for flags in (CPU, "JP_START JP_REALTIME JP_PERIOD=0.0002"):
                with self.subTest(kind=kind, flags=flags):
                    done = self.run_program(program("restored"), kind,
                                            flags=flags)
                    self.assertEqual((done.status, done.out, done.err),
                                     (0, alone.out, ""))


class Timed(Case):
    def test_time_given_by_exec(self):
        """alarm, or setitimer, and exec: the program is ended in time."""
        for number, which in ((signal.SIGALRM, signal.ITIMER_REAL),
                              (signal.SIGPROF, signal.ITIMER_PROF)):
            for flags in (CPU, REAL, "JP_DEFER"):
                with self.subTest(signal=number, flags=flags):
                    done = subprocess.run(
                        [program("busy"), "30"], capture_output=True,
                        cwd=self.path("."), check=False,
                        env=self.environment(flags, LIBRARY, None),
                        preexec_fn=lambda: signal.setitimer(which, 0.3))
                    self.assertEqual((done.returncode, done.stderr),
                                     (-number, b""))


class AlternateStack(Same):
    def test_small(self):
        """2 KiB, into which the kernel's frame does not fit."""
        for run in self.same("altstack"):
            self.assertGreater(weight_s(run), 0.2)

    def test_handler_on_it_is_interrupted(self):
        for run in self.same("onaltstack"):
            self.assertGreater(weight_s(run), 0.1)

    def test_one_of_several_threads(self):
        """As Varnish has it: jprof's handlers must not meet on it."""
        alone = self.run_program(program("sigcases"), "sharedstack",
                                 preload=None, flags=None)
        self.assertEqual((alone.status, alone.out),
                         (0, "believed 4000 handled 4000\n" * 2 +
                          "child 0\n"))
        for flags in ("JP_START JP_PERIOD=0.0005",
                      "JP_START JP_REALTIME JP_PERIOD=0.0002"):
            with self.subTest(flags=flags):
                done = self.run_program(program("sigcases"), "sharedstack",
                                        flags=flags)
                self.assertEqual((done.status, done.out, done.err),
                                 (0, alone.out, ""))


    def test_set_before_the_library_begins(self):
        """By a library's constructor, in the first thread or in others."""
        for how, lines in (("first", "shared 1 size 262144\n"
                            "believed 0 3200 handled 3200\n"),
                           ("thread", "shared 0 size 0\n"
                            "believed 1 3200 handled 3200\n"),
                           ("threads", "shared 0 size 0\n"
                            "believed 2 3200 handled 3200\n"),
                           ("tiny", "shared 1 size 2048\n")):
            plain = self.run_program(program("earlystack"), how, preload=None,
                                     flags=None)
            if how != "tiny":   # a kernel may refuse so small a stack
                self.assertEqual(plain.out, lines)
            for flags in ("JP_START JP_PERIOD=0.0005",
                          "JP_START JP_PERIOD=0.0002",
                          "JP_START JP_REALTIME JP_PERIOD=0.0002"):
                with self.subTest(how=how, flags=flags):
                    done = self.run_program(program("earlystack"), how,
                                            flags=flags)
                    self.assertEqual((done.status, done.out, done.err),
                                     (0, plain.out, ""))

    def test_set_by_a_librarys_threads(self):
        """Its constructor begins them before jprof's (the later a library is
        preloaded, the earlier that runs).  They are told of their own stack,
        also where nothing is profiled in the end."""
        both = LIBRARY + ":" + program("earlylib.so")
        for flags in ("JP_START JP_PERIOD=0.0005",
                      "JP_START JP_PERIOD=0.0002",
                      "JP_START JP_REALTIME JP_PERIOD=0.0002", "", None):
            with self.subTest(flags=flags):
                done = self.run_program(program("busy"), "1", flags=flags,
                                        preload=both)
                self.assertEqual((done.status, done.err), (0, ""))
                self.assertEqual(done.out.splitlines()[2:], ["believed 6"])


class Chosen(Case):
    """JP_PAUSE_SIGNAL and its siblings."""

    def test_other_signals(self):
        live = self.start(program("busy"), "600",
                          flags="JP_DEFER JP_PERIOD=0.004 JP_CIRCULAR=100k "
                          "JP_START_SIGNAL=SIGWINCH JP_PAUSE_SIGNAL=URG "
                          "JP_CLEAR_SIGNAL=40 JP_SAVE_SIGNAL=USR1")
        live.line()

        def events(name):
            return [event for run in self.all_runs()
                    for event in run.events(name)]

        for number, name in ((signal.SIGWINCH, "section"),
                             (signal.SIGUSR1, "save"), (40, "clear"),
                             (signal.SIGURG, "pause")):
            if name == "clear":
                live.burn(0.2)
            live.kill(number)
            if name == "section":
                live.burn(0.3)
            live.wait_until(lambda n=name: events(n), name)
        live.kill(signal.SIGUSR2)
        self.assertEqual(live.end().status, -signal.SIGUSR2)

    def test_none(self):
        live = self.start(program("busy"), "600",
                          flags="JP_START JP_PAUSE_SIGNAL=NONE")
        live.line()
        live.kill(signal.SIGUSR1)
        self.assertEqual(live.end().status, -signal.SIGUSR1)


if __name__ == "__main__":
    unittest.main()
