# SPDX-License-Identifier: MIT
"""Start, pause, resume, clear and save from outside by kill, on busy and on
idle programs, and the sections that they make.  Runs in: tests."""
import re
import signal
import unittest

from jprun import Case, decode, program, weight_s

DEFER = "JP_DEFER JP_PERIOD=0.004"


class Control(Case):
    def events(self, name):
        """The map's events of that name, none when there is no log yet."""
        return [event for name_ in self.log_names()
                for run in decode.load(self.path(name_))
                for event in run.events(name)]

    def await_events(self, name, count):
        self.live[-1].wait_until(lambda: len(self.events(name)) >= count,
                                 "%d x %s in the map" % (count, name))

    def samples(self):
        return [s for run in self.all_runs() for s in run.samples]

    def begin(self, name, flags, *arguments):
        live = self.start(program(name), *arguments, flags=flags)
        live.line()
        return live

    def session(self, live):
        """Start, pause, resume, pause; returns the samples at each point."""
        live.kill(signal.SIGPROF)
        self.await_events("section", 1)
        live.burn(0.5)
        live.kill(signal.SIGUSR1)
        self.await_events("pause", 1)
        first = len(self.samples())
        live.burn(0.3)
        paused = len(self.samples())
        live.kill(signal.SIGPROF)
        self.await_events("section", 2)
        live.burn(1)
        live.kill(signal.SIGUSR1)
        self.await_events("pause", 2)
        return first, paused, len(self.samples())


class Busy(Control):
    def test_deferred_program_leaves_no_file(self):
        done, _ = self.busy(0.3, flags=DEFER)
        self.assertEqual(done.err, "")
        self.assertEqual(self.files(), [])

    def test_defer_wins_over_start(self):
        self.busy(0.3, flags="JP_START " + DEFER)
        self.assertEqual(self.files(), [])

    def test_start_pause_resume(self):
        live = self.begin("busy", DEFER, "600")
        live.burn(0.3)
        self.assertEqual(self.files(), [])
        first, paused, last = self.session(live)
        self.assertGreater(first, 60)
        self.assertEqual(paused, first)
        self.assertGreater(last, first + 120)
        self.assertEqual(live.end(signal.SIGKILL).err, "")

    def test_sections_are_selected(self):
        live = self.begin("busy", DEFER, "600")
        first, _, last = self.session(live)
        live.end(signal.SIGKILL)
        self.assertEqual(
            [keys["n"] for _, keys in self.events("section")], ["0", "1"])
        app = program("busy")

        def count(*arguments):
            return int(self.summary(app, *arguments, "jprof-log")["samples"])

        self.assertEqual(count(), last)
        self.assertEqual(count("--all"), last)
        self.assertEqual(count("--last"), last - first)
        self.assertEqual(count("--start", "1"), last - first)
        self.assertEqual(count("--start", "0", "--end", "1"), first)
        self.assertEqual(count("--start", "0", "--end", "2"), last)
        self.assertEqual(
            self.summary(app, "jprof-log")["sections"], "2")

    def start_by(self, number, flags):
        live = self.begin("busy", flags, "600")
        live.kill(number)
        self.await_events("section", 1)
        live.burn(0.4)
        done = live.end(signal.SIGKILL)
        self.assertEqual(done.err, "")
        self.assertGreater(len(self.samples()), 40)

    def test_sigalrm_starts_in_real_time(self):
        self.start_by(signal.SIGALRM, DEFER + " JP_REALTIME")

    def test_sigio_starts_with_rtc(self):
        self.start_by(signal.SIGIO, "JP_DEFER JP_RTC_HZ=256")

    def test_sigprof_starts_in_real_time_too(self):
        self.start_by(signal.SIGPROF, DEFER + " JP_REALTIME")

    def test_signals_of_other_modes_are_the_programs(self):
        """As in the original: SIGALRM, SIGIO and SIGUSR2 are taken only by
        the flags that need them."""
        for number in (signal.SIGALRM, signal.SIGUSR2):
            live = self.begin("busy", DEFER, "600")
            live.kill(number)
            self.assertEqual(live.end().status, -number)

    def test_pause_before_start_does_no_harm(self):
        live = self.begin("busy", DEFER, "600")
        live.kill(signal.SIGUSR1)
        live.burn(0.2)
        live.kill(signal.SIGPROF)
        self.await_events("section", 1)
        live.burn(0.3)
        live.end(signal.SIGKILL)
        self.assertGreater(len(self.samples()), 30)


class Order(Control):
    def test_commands_while_another_is_carried_out(self):
        """Pause and start do not change places, nor does one of them go."""
        self.check_order()

    def test_more_commands_than_wait_at_a_time(self):
        """So many in a row as come when the other thread is not running."""
        self.check_order("4", "200")

    def check_order(self, *arguments):
        done = self.run_program(program("commander"), *arguments,
                                flags="JP_DEFER JP_PERIOD=0.004")
        self.assertEqual((done.status, done.err), (0, ""))
        pairs = int(done.out.split()[1])
        self.assertEqual(len(self.events("pause")), pairs)
        self.assertEqual(len(self.events("section")), pairs + 1)
        run = self.run_of()
        order = [event for _, event in sorted(
            (keys[0], event) for event in ("pause", "section")
            for keys in run.events(event))]
        self.assertEqual(order, ["section"] + ["pause", "section"] * pairs)


class Idle(Control):
    def test_start_pause_resume(self):
        """A program that waits all the time is started by a signal too; each
        start is a section, each stands in the map at once."""
        live = self.begin("idle", DEFER)
        live.kill(signal.SIGPROF)
        self.await_events("section", 1)
        live.kill(signal.SIGUSR1)
        self.await_events("pause", 1)
        live.kill(signal.SIGPROF)
        self.await_events("section", 2)
        live.kill(signal.SIGUSR1)
        self.await_events("pause", 2)
        self.assertEqual(live.end(signal.SIGTERM).status, 0)
        summary = self.summary(program("idle"), "jprof-log")
        self.assertEqual(summary["sections"], "2")

    def test_real_time_sections(self):
        """A thread that goes on waiting has a sample a second; the counts are
        compared exactly, so few do."""
        live = self.begin("idle", DEFER + " JP_REALTIME")
        live.kill(signal.SIGALRM)
        self.await_events("section", 1)
        live.wait_until(lambda: len(self.samples()) > 5, "samples")
        live.kill(signal.SIGUSR1)
        self.await_events("pause", 1)
        first = len(self.samples())
        live.kill(signal.SIGALRM)
        self.await_events("section", 2)
        live.wait_until(lambda: len(self.samples()) > first + 5, "samples")
        self.assertEqual(live.end(signal.SIGTERM).status, 0)
        app = program("idle")
        whole = int(self.summary(app, "jprof-log")["samples"])
        last = int(self.summary(app, "--last", "jprof-log")["samples"])
        self.assertEqual(whole - last, first)


class Ring(Control):
    def test_clear_empties_it(self):
        live = self.begin("busy", "JP_START JP_PERIOD=0.004 JP_CIRCULAR=1M",
                          "600")
        live.burn(0.8)
        live.wait_until(lambda: len(self.samples()) > 100, "samples")
        live.kill(signal.SIGUSR2)
        self.await_events("clear", 1)
        cleared = self.events("clear")[0][0]
        live.burn(0.4)
        live.end(signal.SIGKILL)
        run = self.run_of()
        self.assertGreater(run.header["cleared_ns"], 0)
        self.assertGreater(weight_s(run), 0.3)
        # The mark and its line in the map are made by the same signal.
        self.assertLess(abs(cleared - run.header["cleared_ns"]), 10 ** 9)
        self.assertGreaterEqual(min(s[0] for s in run.samples),
                                run.header["cleared_ns"])
        self.assertEqual(
            int(self.summary(program("busy"), "jprof-log")["samples"]),
            len(run.samples))

    def test_keeps_at_most_its_bytes(self):
        self.busy(3, flags="JP_START JP_REALTIME JP_PERIOD=0.0002 "
                  "JP_CIRCULAR=20k")
        run = self.run_of()
        self.assertTrue(run.header["options"] & 1)
        self.assertEqual(run.header["ring_bytes"], 20 * 1024)
        self.assertLessEqual(sum(c[2] for c in run.chunks), 20 * 1024)
        last = max(s[0] for s in run.samples)
        self.assertLess(sum(s[2] for s in run.samples),
                        (last - run.header["mono_ns"]) / 2)
        self.assertGreater(run.header["counters"][10], 0, "chunks reused")
        self.assertGreater(len(run.samples), 100)
        # What it keeps is the end of the run.
        times = [s[0] for s in run.samples]
        self.assertGreater(min(times), run.header["mono_ns"] + 10 ** 8)
        text = self.report(program("busy"), "--format=text", "jprof-log")
        covered = re.search(r"the report covers ([\d.]+) s", text)
        self.assertAlmostEqual(float(covered.group(1)),
                               (max(times) - min(times)) / 1e9, 2)

    def test_keeps_every_thread(self):
        """And whole chunks: each can be decoded, none is damaged."""
        done = self.run_program(
            program("threads_many"), "4", "0.5",
            flags="JP_START JP_REALTIME JP_PERIOD=0.0005 JP_CIRCULAR=256k")
        self.assertEqual((done.status, done.err), (0, ""))
        run = self.run_of()
        self.assertEqual({c[2] for c in run.chunks}, {32768})
        self.assertGreaterEqual(len({s[1] for s in run.samples}), 5)

    def test_pause_keeps_it(self):
        live = self.begin("busy", "JP_START JP_PERIOD=0.004 JP_CIRCULAR=1M",
                          "600")
        live.burn(0.4)
        live.kill(signal.SIGUSR1)
        self.await_events("pause", 1)
        count = len(self.samples())
        live.burn(0.2)
        live.end(signal.SIGKILL)
        self.assertGreater(count, 40)
        self.assertEqual(len(self.samples()), count)


if __name__ == "__main__":
    unittest.main()
