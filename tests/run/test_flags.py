# SPDX-License-Identifier: MIT
"""JPROF_FLAGS: every flag does what it says; a bad one is named, and the
rest still holds.  Runs in: tests."""
import os
import signal
import unittest

from jprun import Case, program, weight_s


class Nothing(Case):
    """Neither JP_START nor JP_DEFER: the library does nothing at all."""

    def check(self, flags):
        done, _ = self.busy(0.2, flags=flags)
        self.assertEqual(done.err, "")
        self.assertEqual(self.files(), [])

    def test_no_flags(self):
        self.check(None)

    def test_empty_flags(self):
        self.check("")

    def test_flags_without_start(self):
        self.check("JP_PERIOD=0.004 JP_CIRCULAR=100k")

    def test_signals_keep_their_default(self):
        live = self.start(program("idle"), flags="JP_PERIOD=0.004")
        live.line()
        self.assertEqual(live.end(signal.SIGPROF).status, -signal.SIGPROF)


class Accepted(Case):
    """Each flag on its own."""

    def header(self, flags, seconds=0.2):
        self.busy(seconds, flags=flags)
        return self.run_of().header

    def test_start(self):
        header = self.header("JP_START", 0.4)
        self.assertEqual(header["period_ns"], 50000000)
        self.assertEqual(header["flags"], "JP_START")
        self.assertEqual(header["clock"], 6)
        self.assertEqual(header["walker"], 3)

    def test_period(self):
        self.assertEqual(
            self.header("JP_START JP_PERIOD=0.004")["period_ns"], 4000000)

    def test_separators(self):
        self.assertEqual(
            self.header("JP_START,JP_PERIOD=0.004;JP_DEPTH=7")["depth"], 7)
        self.assertEqual(self.run_of().header["period_ns"], 4000000)

    def test_shortest_period(self):
        header = self.header("JP_START JP_PERIOD=0.0001")
        self.assertEqual(header["period_ns"], 100000)

    def test_depth(self):
        self.run_program(program("shares"), "1", "0.3",
                         flags="JP_START JP_PERIOD=0.004 JP_DEPTH=7")
        deep = [s for s in self.run_of().samples if s[4] == "depth"]
        self.assertGreater(len(deep), 20)
        self.assertEqual({len(s[5]) for s in deep}, {7})

    def test_realtime(self):
        self.busy(0.4, flags="JP_START JP_REALTIME JP_PERIOD=0.004")
        run = self.run_of()
        self.assertEqual(run.header["clock"], 2)
        self.assertTrue(run.header["options"] & 4)
        self.assertTrue({s[3] for s in run.samples}
                        <= {"running", "blocked", "ready"})

    def test_realtime_sees_waiting(self):
        live = self.start(program("idle"),
                          flags="JP_START JP_REALTIME JP_PERIOD=0.004")
        live.line()
        # A process of its own tells the time: nothing is measured by it.
        self.run_program("/bin/sleep", "1", preload=False)
        self.assertEqual(live.end(signal.SIGTERM).status, 0)
        events = [s[3] for s in self.run_of().samples]
        self.assertGreater(events.count("blocked"), len(events) / 2)

    def test_cpu_time_does_not_see_waiting(self):
        live = self.start(program("idle"),
                          flags="JP_START JP_PERIOD=0.004")
        live.line()
        self.run_program("/bin/sleep", "1", preload=False)
        self.assertEqual(live.end(signal.SIGTERM).status, 0)
        self.assertLessEqual(
            sum(len(run.samples) for run in self.all_runs()), 3)

    @unittest.skipIf(os.path.exists("/dev/rtc"), "there is a /dev/rtc")
    def test_rtc_falls_back_and_says_so(self):
        done, _ = self.busy(0.4, flags="JP_START JP_RTC_HZ=256")
        self.assertEqual(done.err, "")
        run = self.run_of()
        self.assertEqual(run.header["clock"], 2)
        self.assertTrue(run.header["options"] & 8)
        self.assertEqual(run.header["period_ns"], 10 ** 9 // 256)
        self.assertGreater(len(run.samples), 0)
        summary = self.report(program("busy"), "--format=summary",
                              "jprof-log")
        self.assertRegex(summary, r"(?m)^note: .*rtc")
        self.assertRegex(summary, r"(?m)^notes: [1-9]")

    def test_first_delays_the_start(self):
        live = self.start(program("busy"), "600",
                          flags="JP_START JP_FIRST=1.5 JP_PERIOD=0.004")
        live.line()
        live.burn(3)
        live.end(signal.SIGKILL)
        run = self.run_of()
        created = min(int(when) for when, _ in run.events("process"))
        first = min(s[0] for s in run.samples)
        used = self.cpu_before(run)
        # The first sample came when 1.5 s had gone by, and then at the period.
        self.assertGreater(used, 1.2, (created, first))
        self.assertGreater(weight_s(run), 1)

    def cpu_before(self, run):
        """Seconds from the process's start to its first sample."""
        ticks = run.header["start_ticks"] / os.sysconf("SC_CLK_TCK")
        offset = (run.header["boot_ns"] - run.header["mono_ns"]) / 1e9
        return min(s[0] for s in run.samples) / 1e9 + offset - ticks


class Refused(Case):
    """An unknown or malformed flag: one line names it, the rest holds."""

    def check(self, bad, period=4000000):
        done = self.run_program(
            program("busy"), "0.3",
            flags="JP_START JP_PERIOD=0.004 " + bad)
        self.assertEqual(done.status, 0)
        lines = done.err.splitlines()
        self.assertEqual(len(lines), 1, done.err)
        self.assertIn(bad, lines[0])
        run = self.run_of()
        self.assertEqual(run.header["period_ns"], period)
        self.assertGreater(weight_s(run), 0.2)

    def test_unknown(self):
        self.check("JP_NONSENSE")

    def test_unknown_with_value(self):
        self.check("JP_STARTLE=1")

    def test_stack(self):
        self.check("JP_STACK=dwarves")

    def test_bad_first(self):
        self.check("JP_FIRST=soon")

    def test_bad_depth(self):
        self.check("JP_DEPTH=1x")

    def test_bad_ring(self):
        self.check("JP_CIRCULAR=12q")

    def test_negative_period(self):
        self.check("JP_PERIOD=-1")

    def test_period_that_is_no_number(self):
        self.check("JP_PERIOD=fast")

    def test_two_bad_ones_give_two_lines(self):
        done = self.run_program(program("busy"), "0.1",
                                flags="JP_START JP_ONE JP_TWO")
        self.assertEqual(len(done.err.splitlines()), 2, done.err)

    def test_too_short_a_period_is_raised(self):
        done = self.run_program(program("busy"), "0.3",
                                flags="JP_START JP_PERIOD=0.00001")
        self.assertEqual(len(done.err.splitlines()), 1, done.err)
        self.assertIn("JP_PERIOD", done.err)
        self.assertEqual(self.run_of().header["period_ns"], 100000)


if __name__ == "__main__":
    unittest.main()
