# SPDX-License-Identifier: MIT
"""Calls that a signal ends early return EINTR only for the program's own
signals, keep their time-outs, and what they transfer is whole: every line is
the same as without the library, in real time, where a call is interrupted
some hundred times.  Runs in: tests."""
import platform
import unittest

from jprun import Case, program

REAL = "JP_START JP_REALTIME JP_PERIOD=0.001"


def tells_again():
    """Whether registers tell a call that the kernel makes again: doc/interposed.md."""
    if platform.machine() != "x86_64":
        return False
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return " fred " not in file.read()


class Interrupts(Case):
    def same(self, *argv):
        alone = self.run_program(*argv, preload=None, flags=None)
        self.assertEqual((alone.status, alone.err), (0, ""))
        done = self.run_program(*argv, flags=REAL)
        self.assertEqual(done.err, "")
        # Were there any?
        self.assertGreater(len(self.run_of().samples), 100)
        self.agree(argv, alone.out.splitlines(), done.out.splitlines())
        return alone.out

    def agree(self, argv, alone, done):
        """Where a busy machine let a signal come after a time-out, with or
        without the library, the call is made again, by itself."""
        self.assertEqual(len(alone), len(done))
        differing = {line.split()[0] for pair in zip(alone, done)
                     for line in pair if pair[0] != pair[1]}
        self.assertLess(len(differing), 4, (alone, done))
        for name in differing:
            self.assertEqual(
                self.run_program(argv[0], name, flags=REAL).out,
                self.run_program(argv[0], name, preload=None, flags=None).out)

    def test_waiting(self):
        self.assertEqual(
            len(self.same(program("interrupts"), "all").splitlines()), 120)

    def test_transfers(self):
        self.assertNotIn("short", self.same(program("transfers")))

    def not_slower(self, name):
        times = [float(self.run_program(program(name), **how).out)
                 for how in ({"preload": None, "flags": None},
                             {"flags": "JP_START"})]
        self.assertLess(times[1], 20 * times[0] + 100)

    def test_short_reads(self):
        """What a socket has is all that a read wants; nothing waits for a
        signal that may have cut it short."""
        self.not_slower("short_reads")

    def test_short_writes(self):
        """Nor does anything wait where a closed end or a time-out did it."""
        self.not_slower("short_writes")

    def test_signal_handled_by_another_thread(self):
        done = self.run_program(program("stolen"),
                                flags="JP_START JP_PERIOD=0.01")
        self.assertEqual((done.status, done.out, done.err),
                         (0, "short 0\n", ""))
        self.assertGreater(len(self.run_of().samples), 40)

    def test_theirs_handled_by_another_thread(self):
        """A signal of the program's that woke one thread and was taken by
        another, since jprof's signal just came to that one, ends the first
        one's call nevertheless, and at once."""
        for flags in ("JP_START JP_PERIOD=0.01",
                      "JP_START JP_REALTIME JP_PERIOD=0.01"):
            with self.subTest(flags=flags):
                done = self.run_program(program("stolen"), "20", "theirs",
                                        flags=flags)
                self.assertEqual((done.status, done.err), (0, ""))
                self.assertEqual(done.out, "ended 20 slow 0\n")

    @unittest.skipUnless(tells_again(), "such calls go on")
    def test_restarted_handled_by_another_thread(self):
        """The same of calls that SA_RESTART of jprof's makes again, by the
        program's handler: without it all end, with it none."""
        for flags in ("JP_START JP_PERIOD=0.01",
                      "JP_START JP_REALTIME JP_PERIOD=0.01"):
            for kind, ended in (("cut", 12), ("kept", 0)):
                with self.subTest(flags=flags, kind=kind):
                    done = self.run_program(program("stolen"), "12", kind,
                                            flags=flags)
                    self.assertEqual((done.status, done.out, done.err),
                                     (0, f"ended {ended} slow 0\n", ""))

    @unittest.skipUnless(platform.machine() == "x86_64", "reads its code")
    def test_made_for_the_first_time(self):
        """A call that never waits does not fail with EINTR when such a signal
        comes just before it."""
        for kind in "wait", "read":
            with self.subTest(kind=kind):
                done = self.run_program(program("first"), kind, "10",
                                        flags="JP_START JP_PERIOD=5")
                self.assertEqual((done.status, done.out, done.err),
                                 (0, "rounds 10 ended 0\n", ""))

    @unittest.skipUnless(tells_again(), "such calls end")
    def test_made_for_the_first_time_after_a_sample(self):
        """Nor when its own thread has a sample just before the call, and the
        signal comes meanwhile."""
        for kind in "wait", "read":
            with self.subTest(kind=kind):
                done = self.run_program(program("first"), kind, "10", "ours",
                                        flags="JP_START JP_PERIOD=5")
                self.assertEqual((done.status, done.out, done.err),
                                 (0, "rounds 10 ended 0\n", ""))

    def test_cancelled_in_a_call(self):
        """What a cancelled thread does afterwards is not in that call: a lock
        is not cut off."""
        done = self.run_program(program("stolen"), "10", "cancelled",
                                flags="JP_START JP_PERIOD=0.01")
        self.assertEqual((done.status, done.out, done.err),
                         (0, "early 0\n", ""))

    def test_own_signals_of_another_thread(self):
        """Signals that came to another thread by themselves, and not in place
        of the first, end none of its calls."""
        done = self.run_program(program("stolen"), "20", "own",
                                flags="JP_START JP_PERIOD=0.01")
        self.assertEqual((done.status, done.out, done.err),
                         (0, "ended 0\n", ""))


class CutOff(Case):
    """A signal of the program's whose handler is to end calls may come at any
    moment of one, and while jprof's handler runs, which does not end it."""

    def test_at_any_moment(self):
        for kind in ("read", "wait", "lock"):
            for flags in (REAL.replace("0.001", "0.0001"),
                          "JP_START JP_PERIOD=0.0001"):
                with self.subTest(kind=kind, flags=flags):
                    done = self.run_program(program("cutoff"), kind, "3000",
                                            flags=flags)
                    self.assertEqual((done.status, done.out, done.err),
                                     (0, "rounds 3000 missed 0\n", ""))

    def test_while_the_log_is_made(self):
        """The first sample takes long; the next is due when it is over, and
        comes at the first instruction of the program's handler."""
        for _ in range(60):
            done = self.run_program(
                program("cutoff"), "read", "20",
                flags=REAL.replace("0.001", "0.0001"))
            self.assertEqual((done.status, done.out, done.err),
                             (0, "rounds 20 missed 0\n", ""))

    @unittest.skipUnless(platform.machine() == "x86_64", "reads its code")
    def test_at_the_edges_of_the_handler(self):
        """At the first instructions of jprof's handler, and at those behind it,
        before the kernel has taken its frame away."""
        for edge, rounds in (("begin", 80), ("return", 4)):
            with self.subTest(edge=edge):
                done = self.run_program(program("edges"), edge, str(rounds),
                                        flags=REAL.replace("0.001", "0.005"))
                self.assertEqual((done.status, done.out, done.err),
                                 (0, f"ended {rounds} of {rounds}\n", ""))

    def test_locks_are_not_cut_off(self):
        """The C library does not expect it of FUTEX_LOCK_PI."""
        for flags in (REAL.replace("0.001", "0.0001"),
                      "JP_START JP_PERIOD=0.001"):
            with self.subTest(flags=flags):
                done = self.run_program(program("pimutex"), "1.5", flags=flags)
                self.assertEqual((done.status, done.out, done.err),
                                 (0, "both inside 0\n", ""))


if __name__ == "__main__":
    unittest.main()
