# SPDX-License-Identifier: MIT
"""JP_CIRCULAR with many threads: threads share the ring's chunks, so that it
holds as many samples as its bytes do, of all threads alike.  Runs in: tests."""
import collections
import os
import signal
import time
import unittest

from jprun import Case, program

SAMPLE_BYTES = 24
RING = 128 << 10
FLAGS = "JP_START JP_REALTIME JP_PERIOD=0.001 JP_CIRCULAR=%d" % RING


class Rings(Case):
    def ring(self, threads, number, *argv, least=0.6):
        """The run of a program with so many threads, once its ring is full;
        it then gets the signal, and dies.  `least`: of the samples that the
        ring's bytes would hold without their stacks."""
        live = self.start(*argv, flags=FLAGS)

        def full():
            return self.log_names() and self.reused() > 3

        live.wait_until(full, "the ring to be full")
        time.sleep(1)
        live.kill(number)
        time.sleep(1)
        live.end(signal.SIGKILL)
        run = self.run_of()
        self.assertEqual(run.lost(), 0)
        # What one thread's ring would hold, but for its few stacks.
        self.assertGreater(len(run.samples), least * RING / SAMPLE_BYTES)
        samples = collections.Counter(s[1] for s in run.samples)
        self.assertLessEqual(len(samples), threads)
        return run, samples

    def reused(self):
        with open(self.path("jprof-log"), "rb") as log:
            log.seek(152 + 8 * 10)
            return int.from_bytes(log.read(8), "little")

    def test_threads_that_wait(self):
        """Each is there with its time until the pause."""
        _, samples = self.ring(251, signal.SIGUSR1, program("loads"), "idle",
                               "100", "250")
        self.assertEqual(len(samples), 251)

    def test_threads_that_work(self):
        """They have the CPUs by turns: each has its share of the samples."""
        # Each has as many stacks as places in its loop that a signal found.
        run, samples = self.ring(41, signal.SIGUSR1, program("loads"), "spin",
                                 "100", "40", least=0.5)
        self.assertGreaterEqual(len(samples), 40)
        begin = min(s[0] for s in run.samples)
        middle = (begin + max(s[0] for s in run.samples)) / 2
        early = {s[1] for s in run.samples if s[0] < middle}
        self.assertGreater(len(early), 30)

    def test_head_of_the_report(self):
        """What is of the ring, and what of the whole run."""
        self.busy(4, flags="JP_START JP_PERIOD=0.001 JP_CIRCULAR=16384")
        summary = self.summary(program("busy"), "jprof-log")
        kept, cpu = float(summary["kept_s"]), float(summary["cpu_s"])
        self.assertLess(kept, 0.9 * float(summary["wall_s"]))
        self.assertGreater(kept, 0.9 * cpu)
        text = self.report(program("busy"), "--format=text", "jprof-log")
        self.assertRegex(text, r"Wall time .*, of which the ring buffer kept "
                               r"the last [\d.]+ m?s for this report")
        self.assertRegex(text, r"Coverage +not known for the [\d.]+ s of CPU "
                               r"time in the whole run")
        self.assertNotIn("no CPU time was used", text)
        self.assertRegex(text, r"lookups hit in the whole run")
        # The ring kept nothing of the beginning.
        first = self.summary(program("busy"), "--to=0.1", "jprof-log")
        self.assertEqual(float(first["kept_s"]), 0)
        # The log was made later than the profile began.
        self.assertEqual(float(first["wall_s"]), 0.1)

    def test_killed(self):
        """The ring has 8 chunks.  Each thread that lost its CPU in a handler
        keeps its chunk, and other threads begin another one, which is nearly
        empty when the process is killed.  Once, beside other tests, the ring
        had 50% of what its bytes would hold."""
        _, samples = self.ring(251, signal.SIGKILL, program("loads"), "idle",
                               "100", "250", least=0.45)
        self.assertGreater(len(samples), 150)


class Logs(Case):
    def test_threads_that_wait(self):
        """Without a ring, too, they share chunks: a sample is a sample's
        bytes, and not a part of a chunk for each thread."""
        done = self.run_program(program("loads"), "idle", "3", "200",
                                flags="JP_START JP_REALTIME JP_PERIOD=0.004")
        self.assertEqual((done.status, done.err), (0, ""))
        run = self.run_of()
        self.assertEqual(run.lost(), 0)
        self.assertEqual(len({s[1] for s in run.samples}), 201)
        self.assertLess(os.path.getsize(self.path("jprof-log")),
                        2 * SAMPLE_BYTES * len(run.samples) + (64 << 10))


if __name__ == "__main__":
    unittest.main()
