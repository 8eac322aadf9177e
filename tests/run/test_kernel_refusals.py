# SPDX-License-Identifier: MIT
"""Where the kernel refuses what the collector would like to use, it does
with less, and says so where something is missing.  Runs in: tests."""
import os
import unittest

from jprun import LIBRARY, TICK_FLAGS, Case, program, share_bound


class Refused(Case):
    def run_without(self, what, *argv, flags=TICK_FLAGS, lines=0):
        done = self.run_program(program("refuse"), what, *argv, flags=flags,
                                preload=None,
                                env={"REFUSE_PRELOAD": LIBRARY})
        self.assertEqual((done.status, done.err.count("\n")), (0, lines))
        return done

    def check_shares(self):
        """The shares program has run: half of its time is in frame_a."""
        run = self.run_of()
        complete = sum(s[4] == "root" for s in run.samples)
        self.assertGreater(complete, 0.98 * len(run.samples))
        stacks = self.collapsed(program("shares"), "jprof-log")
        total = sum(weight for _, weight in stacks)
        hot = sum(w for s, w in stacks if any("frame_a" in f for f in s))
        weights = [s[2] for s in run.samples]
        worth = sum(weights) ** 2 / sum(w * w for w in weights)
        self.assertGreater(worth, 20, sorted(weights)[-8:])
        self.assertLess(abs(hot / total - 0.5), share_bound(0.5, worth) + 0.01)
        return run

    def check_plugin(self):
        stacks = self.collapsed(program("dlopener"), "jprof-log")
        total = sum(weight for _, weight in stacks)
        inside = sum(w for stack, w in stacks if "plugin_spin" in stack)
        self.assertGreater(inside, 0.8 * total)

    def check_jit(self):
        stacks = self.collapsed(program("jitter"), "jprof-log")
        total = sum(weight for _, weight in stacks)
        named = sum(w for s, w in stacks if "jit_second" in s[-1]
                    or "</script>" in s[-1])
        self.assertGreater(named, 0.9 * total)


class OldKernel(Refused):
    """Before Linux 6.11 one cannot ask about one address: the collector
    reads the whole of /proc/self/maps."""

    def test_stacks_reach_the_root(self):
        self.run_without("procmap-query", program("shares"), "4", "0.5",
                         "frame")
        self.check_shares()

    def test_new_library(self):
        self.run_without("procmap-query", program("dlopener"),
                         program("spinlib.so"), "1.5", "3")
        paths = [keys["path"] for _, keys in self.run_of().events("module")]
        self.assertTrue(any("spinlib" in path for path in paths), paths)
        self.check_plugin()

    def test_jit_code(self):
        self.run_without("procmap-query", program("jitter"), "1")
        self.check_jit()


class NoFallocate(Refused):
    """On such a file system records are written, not mapped."""

    def test_samples(self):
        self.run_without("fallocate", program("shares"), "4", "0.5", "frame")
        run = self.check_shares()
        self.assertEqual(sum(run.header["counters"][:7]), 0)
        self.assertGreater(len({s[1] for s in run.samples}), 3)

    def test_ring(self):
        self.run_without("fallocate", program("busy"), "1",
                         flags=TICK_FLAGS + " JP_CIRCULAR=8k")
        self.assertGreater(len(self.run_of().samples), 10)
        self.assertLess(os.path.getsize(self.path("jprof-log")), 16384 + 1)

    def test_lost_ones_are_counted_in_the_file(self):
        """The header is no mapping here, and is written again at the end."""
        self.run_without("fallocate", program("busy"), "0.3")
        scans = self.run_of().header["counters"][11]
        self.assertGreater(scans, 0)


class Containers(Refused):
    def test_no_process_vm_readv(self):
        """Memory is then read by its file in /proc."""
        self.run_without("process-vm-readv", program("shares"), "4", "0.5",
                         "frame")
        keys = [keys for _, keys in self.run_of().events("module")]
        self.assertTrue(any("build_id" in k for k in keys))
        self.check_shares()

    def test_perf_map_is_copied_where_it_cannot_be_linked(self):
        done = self.run_without("linkat", program("jitter"), "0.5")
        saved = [keys["saved"] for _, keys in self.run_of().events("perfmap")
                 if "saved" in keys]
        self.assertTrue(saved)
        original = "/tmp/perf-%d.map" % done.pid
        self.assertFalse(os.path.samefile(self.path(saved[-1]), original))
        with open(original, "rb") as a, open(self.path(saved[-1]), "rb") as b:
            self.assertEqual(a.read(), b.read())
        os.unlink(original)
        self.check_jit()

    def test_no_timers(self):
        """One timer of the process, setitimer, stands in."""
        self.run_without("timer-create", program("shares"), "4", "0.5",
                         "frame")
        run = self.check_shares()
        self.assertEqual(run.header["clock"], 5)
        self.assertEqual(run.lost(), 0)

    def test_no_timers_in_real_time(self):
        """One timer of the process stands in, which the report says."""
        done = self.run_without("timer-create", program("shares"), "4", "0.5",
                                "frame", flags="JP_START JP_REALTIME "
                                               "JP_PERIOD=0.004")
        self.assertIn("total", done.out)
        self.assertEqual(self.run_of().header["clock"], 2)
        self.assertGreater(len(self.run_of().samples), 20)
        self.assertIn("the kernel refused timers", self.summary(
            program("shares"), "jprof-log")["note"])


if __name__ == "__main__":
    unittest.main()
