# SPDX-License-Identifier: MIT
"""The library built with AddressSanitizer and UndefinedBehaviorSanitizer
(`make asan-pre-build`), in real programs: whatever its handlers, hooks and
commands do wrong with memory ends the program or is on its stderr.
Runs in: tests."""
import os
import re
import signal
import subprocess
import unittest

from jprun import BUILD, Case, program

CHECKED = os.path.join(BUILD, "asan", "libjprof.so")
RUNTIME = subprocess.run(
    ["gcc", "-print-file-name=libasan.so"], stdout=subprocess.PIPE,
    check=True, text=True).stdout.strip()
# A program that ends in the middle has not given everything back.
OPTIONS = {"ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0",
           "UBSAN_OPTIONS": "print_stacktrace=1"}
CLOCKS = ("JP_START JP_PERIOD=0.001", "JP_START JP_PERIOD=0.001 JP_REALTIME")


def words(text):
    """Output without its numbers, which differ from run to run."""
    return re.sub(r"\d+(\.\d+)?", "N", text)


class Asan(Case):
    def checked(self, *argv, flags, preload=RUNTIME + " " + CHECKED,
                expect=0, compare=True, env=None):
        """Runs a program, and then alone unless it needs the profile;
        returns its log's runs."""
        for name in self.files():
            os.unlink(self.path(name))
        done = self.run_program(*argv, flags=flags, preload=preload,
                                env=env or OPTIONS)
        self.assertEqual((done.status, done.err), (expect, ""), flags)
        if compare:
            alone = self.run_program(*argv, preload=False)
            self.assertEqual((alone.status, words(alone.out)),
                             (expect, words(done.out)))
        runs = self.all_runs()
        self.assertEqual([run.damage for run in runs if run.damage], [])
        self.assertGreater(sum(len(run.samples) for run in runs), 0, flags)
        return runs

    def events(self, name):
        return [event for run in self.all_runs() for event in run.events(name)]


class Checked(Asan):
    """Programs that know nothing of it; the runtime is preloaded too."""

    def test_the_library_is_the_checked_one(self):
        names = subprocess.run(["nm", "-D", CHECKED], check=True, text=True,
                               stdout=subprocess.PIPE).stdout
        for name in ("__asan_report_load8", "__ubsan_handle_shift"):
            self.assertIn(name, names)

    def test_threads(self):
        for flags in CLOCKS:
            self.checked(program("threads_many"), "60", "0.01", flags=flags)

    def test_children(self):
        for flags in CLOCKS:
            runs = self.checked(program("forker"), "0.1", "0.1", flags=flags)
            self.assertGreater(len(runs), 2)

    def test_libraries_come_and_go(self):
        for flags in CLOCKS:
            self.checked(program("churn"), program("spinlib.so"), "0.3", "2",
                         flags=flags)

    def test_stacks(self):
        """Deep ones, exceptions, handlers left by siglongjmp, a stack that
        goes away; every walker."""
        for stack in ("auto", "fp", "cfi"):
            flags = CLOCKS[0] + " JP_STACK=" + stack
            self.checked(program("deep"), "20000", "0.1", flags=flags)
        self.checked(program("throws"), "2", "0.1", flags=CLOCKS[0])
        self.checked(program("leaper"), "0.2", flags=CLOCKS[0])
        # A bare clone: two threads with one thread pointer.  What the runtime
        # lends as a stack of its own, from gcc 13 on, goes by that pointer,
        # and either thread would be given the other's.
        one_stack = dict(OPTIONS, ASAN_OPTIONS=OPTIONS["ASAN_OPTIONS"] +
                         ":detect_stack_use_after_return=0")
        self.checked(program("lentstack"), flags=CLOCKS[1], compare=False,
                     env=one_stack)

    def test_generated_code(self):
        self.checked(program("jitter"), "0.3", flags=CLOCKS[0])

    def test_ring(self):
        for clock in CLOCKS:
            runs = self.checked(program("threads_many"), "60", "0.01",
                                flags=clock + " JP_CIRCULAR=20k")
            self.assertLess(os.path.getsize(self.path("jprof-log")), 1 << 20)
            self.assertEqual(len(runs), 1)

    def test_sudden_end(self):
        self.checked(program("busy"), "0.1", "0", "abort",
                     flags=CLOCKS[0], expect=-signal.SIGABRT)

    def test_commands(self):
        """Pause and start by the API."""
        runs = self.checked(program("commander"), "5",
                            flags="JP_DEFER JP_PERIOD=0.001", compare=False)
        self.assertGreater(len(runs[0].events("pause")), 5)

    def test_signals(self):
        """Pause, start and clear by kill."""
        live = self.start(program("busy"), "1.5",
                          flags=CLOCKS[0] + " JP_CIRCULAR=64k",
                          preload=RUNTIME + " " + CHECKED, env=OPTIONS)
        for number, event in ((signal.SIGUSR1, "pause"),
                              (signal.SIGPROF, "section"),
                              (signal.SIGUSR2, "clear")):
            live.burn(0.1)
            before = len(self.events(event))
            live.kill(number)
            live.wait_until(lambda e=event, b=before: len(self.events(e)) > b,
                            event)
        done = live.end()
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertGreater(len(self.run_of().samples), 0)


class Instrumented(Asan):
    """A program that is built with the checks itself: its own frames have
    poisoned bytes between the variables, which a walk passes."""

    def test_stacks_of_checked_programs(self):
        built = os.path.join(BUILD, "asan", "tests", "programs")
        for flags in CLOCKS:
            for stack in ("auto", "fp", "cfi"):
                for argv in (("deep", "5000", "0.1"),
                             ("shares", "3", "0.1", "frame")):
                    self.checked(os.path.join(built, argv[0]), *argv[1:],
                                 flags=flags + " JP_STACK=" + stack,
                                 preload=CHECKED)


if __name__ == "__main__":
    unittest.main()
