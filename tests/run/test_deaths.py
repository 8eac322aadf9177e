# SPDX-License-Identifier: MIT
"""However and whenever a program dies, every sample that was taken is in the
log, and the map is there: the program counts its samples in a file of its
own (tallies.c).  Runs in: tests."""
import os
import random
import signal
import struct
import unittest

from jprun import Case, decode, program

# No timer expires: a raised signal is lost while a timer's is pending, as
# standard signals do not queue (signal(7)).
FLAGS = "JP_DEFER JP_PERIOD=3000 JP_FILENAME=%p.log"
THREADS = 3


class Counted(Case):
    def counts(self):
        """Of each thread, as the program kept it."""
        try:
            with open(self.path("counts"), "rb") as source:
                data = source.read(8 * THREADS)
        except FileNotFoundError:
            return None
        return list(struct.unpack("%dQ" % THREADS, data)) if data else None

    def check(self, pid):
        """Of each thread as many samples as were counted; one more where it
        died between the sample and the counting."""
        counted = self.counts()
        path = self.path("%d.log" % pid)
        if counted is None or sum(counted) == 0:
            return 0
        run = decode.load(path)[0]
        self.assertEqual(run.damage, [])
        self.assertEqual(list(run.header["counters"][:7]), 7 * [0])
        by_tid = {}
        for sample in run.samples:
            if sample[3] != "raised":
                continue            # a timer's
            by_tid[sample[1]] = by_tid.get(sample[1], 0) + 1
        self.assertEqual(by_tid.get(pid, 0) - counted[0] in (0, 1), True,
                         (by_tid, counted))
        others = sorted(n for tid, n in by_tid.items() if tid != pid)
        kept = sorted(counted[1:])
        others = [0] * (len(kept) - len(others)) + others
        for got, want in zip(others, kept):
            self.assertIn(got - want, (0, 1), (by_tid, counted))
        paths = [keys["path"] for _, keys in run.events("module")]
        self.assertTrue(any("tallies" in path for path in paths), paths)
        self.assertTrue(any("libc" in path for path in paths), paths)
        self.assertEqual(len(run.events("section")), 1)
        return sum(counted)

    def clean(self):
        for name in self.files():
            os.unlink(self.path(name))

    def test_killed_at_random_moments(self):
        seed = random.randrange(1 << 32)
        generator = random.Random(seed)
        total = with_samples = 0
        for turn in range(200):
            live = self.start(program("tallies"), "counts", str(THREADS),
                              "loop", flags=FLAGS)
            # Half of them while the log is made, the others later.
            if turn % 2:
                live.wait_until(lambda: sum(self.counts() or [0]) > 0,
                                "the first sample")
            signal.sigtimedwait([], generator.uniform(0, 0.01))
            live.end(signal.SIGKILL)
            self.live.clear()
            live.err.close()
            with self.subTest(turn=turn, seed=seed):
                count = self.check(live.pid)
            total += count
            with_samples += count > 0
            self.clean()
        self.assertGreater(with_samples, 100)
        self.assertGreater(total, 10000)

    def end_by(self, how, status):
        done = self.run_program(program("tallies"), "counts", str(THREADS),
                                how, "2000", flags=FLAGS)
        self.assertEqual((done.status, done.err), (status, ""))
        self.assertGreaterEqual(self.check(done.pid), 2000)

    def test_exit(self):
        self.end_by("exit", 3)

    def test_underscore_exit(self):
        self.end_by("_exit", 3)

    def test_quick_exit(self):
        self.end_by("quick_exit", 3)

    def test_exit_by_the_system_call(self):
        """As runtimes end that never run destructors."""
        self.end_by("exit_group", 3)

    def test_abort(self):
        self.end_by("abort", -signal.SIGABRT)

    def test_crash_in_another_thread(self):
        self.end_by("crash", -signal.SIGSEGV)

    def test_exec(self):
        self.end_by("exec", 0)


if __name__ == "__main__":
    unittest.main()
