# SPDX-License-Identifier: MIT
"""The clocks that count CPU time: which one runs, the rate it gives, and
weights that add up to the CPU time whatever it is spent in.  Runs in: tests."""
import ctypes
import os
import re
import signal
import sys
import unittest

from jprun import LIBRARY, Case, kernel_tick_hz, need, program, quote, weight_s

TIMER, PERF, ITIMER, HRTIMER = 1, 4, 5, 6
NO_TIMER, NO_PERF, LOWERED = 8, 14, 16      # counters


def perf_allowed():
    """Whether this process may have a perf clock with the kernel in it:
    perf_event_open of a task clock, struct perf_event_attr of 64 bytes."""
    number = {"x86_64": 298, "aarch64": 241}[os.uname().machine]
    attributes = (ctypes.c_uint32 * 16)(1, 64, 1, 0, 10 ** 9)
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(number, attributes, 0, -1, -1, 8)
    if fd >= 0:
        os.close(fd)
    return fd >= 0


class ClockCase(Case):
    def loads(self, kind, seconds, threads=1, flags="", **options):
        """Runs `loads`; returns ({tid: CPU seconds}, its CPU seconds)."""
        done = self.run_program(program("loads"), kind, str(seconds),
                                str(threads), flags="JP_START " + flags,
                                **options)
        self.assertEqual((done.status, done.err), (0, ""))
        each = {int(tid): float(cpu) for tid, cpu in
                re.findall(r"thread (\d+) ([\d.]+)", done.out)}
        return each, float(re.search(r"cpu ([\d.]+)", done.out).group(1))


class Choice(ClockCase):
    def clock(self, flags):
        self.busy(0.1, flags="JP_START " + flags)
        return self.run_of().header["clock"]

    def test_hrtimer_at_any_rate(self):
        for period in ("0.02", "0.0009"):
            self.assertEqual(self.clock("JP_PERIOD=" + period), HRTIMER)
            self.assertEqual(
                self.summary(program("busy"), "jprof-log")["clock"], "hrtimer")

    def test_perf_when_asked_for(self):
        self.assertEqual(self.clock("JP_PERIOD=0.02 JP_CLOCK=perf"),
                         PERF if perf_allowed() else TIMER)

    def test_timer_when_asked_for(self):
        self.assertEqual(self.clock("JP_PERIOD=0.0009 JP_CLOCK=timer"), TIMER)

    def test_itimer(self):
        self.assertEqual(self.clock("JP_PERIOD=0.002 JP_CLOCK=itimer"),
                         ITIMER)
        summary = self.summary(program("busy"), "jprof-log")
        self.assertEqual(summary["clock"], "itimer")
        self.assertIn("one timer for the whole process", summary["note"])

    def test_refused_perf_is_said(self):
        done = self.run_program(
            program("refuse"), "perf-event-open", program("busy"), "1",
            flags="JP_START JP_PERIOD=0.001 JP_CLOCK=perf", preload=None,
            env={"REFUSE_PRELOAD": LIBRARY})
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertEqual(self.run_of().header["clock"], TIMER)
        summary = self.summary(program("busy"), "jprof-log")
        self.assertIn("perf clock", summary["note"])
        self.assertEqual(float(summary["rate_asked_hz"]), 1000)
        # One sample a tick, but more a second of its CPU time beside others:
        # a tick that finds it may come when it has run for less than one.
        self.assertLess(float(summary["rate_got_hz"]),
                        2 * max(250, kernel_tick_hz()))


@unittest.skipUnless(perf_allowed(), "the perf clock is not allowed here")
class PerfClock(ClockCase):
    def rate(self, period):
        """Samples a CPU second of a thread that spins; whether the rate was
        lowered; and the samples a second from the first to the last: the
        event's clock goes on while the hypervisor has the CPU."""
        each, _ = self.loads("spin", 0.5, 1,
                             "JP_CLOCK=perf JP_PERIOD=%s" % period)
        tid, cpu = each.popitem()
        run = self.run_of()
        times = [s[0] for s in run.samples if s[1] == tid]
        return (len(times) / cpu, run.header["counters"][LOWERED] > 0,
                (len(times) - 1) * 1e9 / (max(times) - min(times)))

    def test_rates(self):
        """Far above the tick; `make bench` has the exact figures, which a
        busy machine does not keep.  Where an interrupt takes 30 us and more,
        10 kHz is lowered, but not below what any machine can afford."""
        for hz, least in ((1000, 0.9), (10000, 0.6)):
            with self.subTest(hz=hz):
                tries = [self.rate(1 / hz) for _ in range(2)]
                got, lowered, _ = max(tries)
                if hz == 1000:
                    self.assertFalse(lowered)
                self.assertGreater(got, 900 if lowered else least * hz)
                self.assertLess(max(each[2] for each in tries), 1.02 * hz)

    def test_every_thread_has_its_own(self):
        each, _ = self.loads("spin", 0.3, 8, "JP_CLOCK=perf JP_PERIOD=0.001")
        run = self.run_of()
        for tid, cpu in each.items():
            weight = sum(s[2] for s in run.samples if s[1] == tid) / 1e9
            self.assertLess(abs(weight - cpu), 0.02 * cpu)

    def test_no_descriptor_stays(self):
        live = self.start(program("busy"), "30", flags="JP_START "
                          "JP_CLOCK=perf JP_PERIOD=0.001")
        live.burn(0.3)
        names = [os.readlink("/proc/%d/fd/%s" % (live.pid, fd))
                 for fd in os.listdir("/proc/%d/fd" % live.pid)]
        with open("/proc/%d/maps" % live.pid, encoding="ascii") as maps:
            self.assertIn("perf_event", maps.read())
        live.end(9)
        self.assertFalse([n for n in names if "perf" in n])

    def without(self, limit, most, threads, seconds=0.4):
        """Runs threads under a limit as an ordinary user would."""
        lines = "ulimit %s %d; exec env LD_PRELOAD=%s %s spin %g %d" % (
            limit, most, quote(LIBRARY), quote(program("loads")), seconds,
            threads)
        done = self.run_program("/bin/sh", "-c", lines, preload=None,
                                flags="JP_START JP_CLOCK=perf "
                                      "JP_PERIOD=0.001")
        self.assertEqual((done.status, done.err), (0, ""))
        each = {int(tid): float(cpu) for tid, cpu in
                re.findall(r"thread (\d+) ([\d.]+)", done.out)}
        run = self.run_of()
        for tid, cpu in each.items():
            weight = sum(s[2] for s in run.samples if s[1] == tid) / 1e9
            self.assertLess(abs(weight - cpu), 0.05 * cpu + 0.06)
        return run

    def test_no_descriptors_left(self):
        """Such threads fall back to CPU timers; the report says so.  (Three
        descriptors are open, and the library's files need one more.)"""
        run = self.without("-n", 4, 3)
        self.assertIn(run.header["counters"][NO_PERF], (3, 4))
        self.assertIn("refused them the perf clock", self.report(
            program("loads"), "--format=summary", "jprof-log"))


@unittest.skipUnless(perf_allowed(), "the perf clock is not allowed here")
class TakesSigprof(ClockCase):
    """The program takes the perf clock's signal while its threads work: no
    other is for that clock, so CPU timers go on.  The program gets its own
    signals, each of them and no others; what was counted is not lost."""

    def takes(self, way, seconds):
        argv = program("takesprof"), way
        alone = self.run_program(*argv, "0.1", preload=None, flags=None)
        done = self.run_program(
            *argv, str(seconds),
            flags="JP_START JP_PERIOD=0.0001 JP_CLOCK=perf")
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertEqual(done.out.splitlines()[:2],
                         alone.out.splitlines()[:2])
        run = self.run_of()
        self.assertEqual(run.header["clock"], TIMER)
        notes = str(run.events("note"))
        self.assertIn("the clock took another", notes)
        self.assertIn("the perf clock is not to be had", notes)
        self.assertEqual({s[3] for s in run.samples}, {"cpu"})
        self.assertEqual(sum(run.header["counters"][:7]), 0)
        return weight_s(run), float(done.out.split()[-1])

    def test_by_sigaction(self):
        weight, cpu = self.takes("sigaction", 1)
        self.assertLess(abs(weight - cpu), 0.05 * cpu)

    def test_by_system_call(self):
        weight, cpu = self.takes("syscall", 1)
        self.assertLess(abs(weight - cpu), 0.05 * cpu)

    def test_while_threads_begin(self):
        """Some are just about to be given a perf event.  (Threads that last
        for two ticks: their beginnings and ends are in no sample.)"""
        for _ in range(4):
            weight, cpu = self.takes("early", 0.3)
            self.assertGreater(weight, 0.75 * cpu)


class Withheld(ClockCase):
    """A thread ends whose last signals were never delivered, as it or what
    runs it kept them back: their time is that of its last stack."""

    def test_no_time_is_lost(self):
        for clock in ("timer", "perf", "itimer", "real"):
            for how in ("exit", "_exit", "thread"):
                with self.subTest(clock=clock, how=how):
                    flags = "JP_START JP_PERIOD=0.001 " + (
                        "JP_REALTIME" if clock == "real" else
                        "JP_CLOCK=" + clock)
                    done = self.run_program(program("withheld"), how, "0.1",
                                            "0.2", flags=flags)
                    self.assertEqual((done.status, done.err), (0, ""))
                    cpu = float(done.out.split()[1])
                    weight = sum(sample[2] for sample in self.run_of().samples
                                 if sample[3] in ("cpu", "running")) / 1e9
                    self.assertLess(abs(weight - cpu), 0.05 * cpu, weight)


class NoTimers(ClockCase):
    """RLIMIT_SIGPENDING is what timers take; other clocks' signals need no
    place in that queue."""

    def limited(self, flags, *argv, limits=("--sigpending=0",), err=""):
        done = self.run_program(
            need("prlimit"), *limits, "env", "LD_PRELOAD=" + LIBRARY,
            *argv, preload=None, flags="JP_START " + flags)
        self.assertEqual((done.status, done.err), (0, err))
        return done

    def spins(self, flags, seconds=0.5, threads=3, **options):
        """Returns the run, whose weight must be the CPU time."""
        done = self.limited(flags, program("loads"), "spin", str(seconds),
                            str(threads), **options)
        cpu = float(re.search(r"cpu ([\d.]+)", done.out).group(1))
        run = self.run_of()
        # The last ticks of a thread may not come, on a busy machine.
        self.assertLess(abs(weight_s(run) - cpu), 0.05 * cpu + 0.02 * threads)
        return run

    def is_one_timer(self, run):
        self.assertEqual(run.header["clock"], ITIMER)
        self.assertEqual(run.header["counters"][NO_TIMER], 0)
        summary = self.summary(program("loads"), "jprof-log")
        self.assertEqual(summary["clock"], "itimer")
        self.assertIn("the kernel refused timers", summary["note"])

    def test_pending_signals(self):
        """One timer for the process is left."""
        for flags in ("JP_PERIOD=0.004", "JP_PERIOD=0.001 JP_CLOCK=timer"):
            with self.subTest(flags=flags):
                self.is_one_timer(self.spins(flags))

    REAL = ("import signal, time\n"
            "assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)\n"
            "assert signal.alarm(0) == 0\n"
            "assert signal.setitimer(signal.ITIMER_REAL, 0) == (0, 0)\n"
            "while time.process_time() < 0.5: pass\n"
            "time.sleep(1)\n"
            "print(time.process_time())\n"
            "%s")

    def in_real_time(self, rest="", err=""):
        """Returns its CPU time, and the seconds of its log by event."""
        done = self.limited("JP_REALTIME JP_PERIOD=0.004", sys.executable,
                            "-c", self.REAL % rest, err=err)
        sums = {}
        for sample in self.run_of().samples:
            sums[sample[3]] = sums.get(sample[3], 0) + sample[2] / 1e9
        return float(done.out.split()[0]), sums

    def test_real_time(self):
        """ITIMER_REAL is left, which the program does not see."""
        cpu, sums = self.in_real_time()
        self.assertLess(abs(sums["running"] - cpu), 0.05 * cpu + 0.02)
        self.assertGreater(sums["blocked"], 0.9)
        run = self.run_of()
        self.assertEqual(run.header["counters"][NO_TIMER], 0)
        self.assertIn("the kernel refused timers (pending signals, ulimit -i): "
                      "one timer for the whole process; real time",
                      str(run.events("note")))

    def test_real_time_and_the_programs_alarm(self):
        """The program takes the timer, and has its own alarm."""
        cpu, sums = self.in_real_time(
            "came = []\n"
            "signal.signal(signal.SIGALRM, lambda *_: came.append(1))\n"
            "signal.setitimer(signal.ITIMER_REAL, 0.05)\n"
            "while not came: time.sleep(0.01)\n",
            "jprof: a thread goes without samples, the kernel refused its "
            "timer: out of resources (see ulimit -i)\n")
        self.assertLess(abs(sums["running"] - cpu), 0.05 * cpu + 0.02)
        self.assertIn("the clock took another",
                      str(self.run_of().events("note")))

    def test_itimer_is_not_concerned(self):
        run = self.spins("JP_PERIOD=0.004 JP_CLOCK=itimer")
        self.assertEqual(run.header["clock"], ITIMER)

    @unittest.skipUnless(perf_allowed(), "the perf clock is not allowed here")
    def test_perf_needs_none(self):
        for flags in ("JP_PERIOD=0.001", "JP_PERIOD=0.02 JP_CLOCK=perf"):
            with self.subTest(flags=flags):
                run = self.spins(flags)
                self.assertEqual(run.header["clock"], PERF)
                self.assertEqual(run.header["counters"][NO_TIMER], 0)
                self.assertEqual(run.header["counters"][NO_PERF], 0)
                self.assertEqual(run.events("note"), [])

    @unittest.skipUnless(perf_allowed(), "the perf clock is not allowed here")
    def test_perf_from_another_thread(self):
        """A start in the main thread, which has used nothing, arms threads
        that have: what they used before is in no sample."""
        live = self.start(
            need("prlimit"), "--sigpending=0", "env", "LD_PRELOAD=" + LIBRARY,
            program("loads"), "spin", "1", "2", preload=None,
            flags="JP_DEFER JP_PERIOD=0.001")
        live.burn(1)
        done = live.end(signal.SIGPROF)
        self.assertEqual((done.status, done.err), (0, ""))
        run = self.run_of()
        self.assertEqual(run.header["clock"], PERF)
        cpu = (float(re.search(r"cpu ([\d.]+)", done.out).group(1)) -
               int(run.events("section")[0][1]["cpu"]) / 1e9)
        self.assertLess(abs(weight_s(run) - cpu), 0.05 * cpu + 0.01)

    @unittest.skipUnless(perf_allowed(), "the perf clock is not allowed here")
    def test_neither_timers_nor_events(self):
        """Three descriptors are open, and the library's files need one more,
        an event two."""
        self.is_one_timer(self.spins("JP_PERIOD=0.001", limits=(
            "--sigpending=0", "--nofile=4")))

    @unittest.skipUnless(perf_allowed(), "the perf clock is not allowed here")
    def test_unannounced_thread(self):
        """One made past the hook, with the process's slow timer that would
        find it refused: the main thread's signals must do."""
        done = self.limited("JP_PERIOD=0.001", program("rawclone"), "1", "1")
        _, tid, cpu = done.out.split()
        weight = sum(s[2] for s in self.run_of().samples
                     if s[1] == int(tid)) / 1e9
        self.assertLess(abs(weight - float(cpu)), 0.1 * float(cpu))

    def test_unannounced_thread_of_one_timer(self):
        """The timer's signals come to it."""
        done = self.limited("JP_PERIOD=0.004", program("rawclone"), "0.5")
        cpu = float(done.out.split()[-1])
        self.assertLess(abs(weight_s(self.run_of()) - cpu), 0.05 * cpu)

    def test_a_child_has_it_too(self):
        self.limited("JP_PERIOD=0.004", program("forker"), "0.5")
        for name in os.listdir(self.dir):
            if name.startswith("jprof-log"):
                self.assertEqual(self.run_of(name).header["clock"], ITIMER)

    def test_nothing_is_left(self):
        """The program takes the one timer: it has what it would have without
        jprof, and a line says that the profile ends there."""
        argv = program("sigcases"), "profiled"
        alone = self.run_program(*argv, preload=None, flags=None)
        done = self.limited(
            "JP_PERIOD=0.004 JP_CLOCK=timer", *argv,
            err="jprof: a thread goes without samples, the kernel refused "
                "its timer: out of resources (see ulimit -i)\n")
        self.assertEqual(done.out, alone.out)

    def thread_timers(self, flags):
        """Two threads, where the process's slow timer alone is to be had."""
        done = self.run_program(
            program("refuse"), "thread-timers", program("loads"), "spin",
            "1.5", "2", flags="JP_START " + flags, preload=None,
            env={"REFUSE_PRELOAD": LIBRARY})
        self.assertEqual((done.status, done.err), (0, ""))
        return self.run_of()

    def test_the_process_has_one(self):
        """What has no timer of its own is sampled by the process's."""
        for period in ("0.004", "0.001"):
            with self.subTest(period=period):
                run = self.thread_timers("JP_CLOCK=timer JP_PERIOD=" + period)
                self.assertEqual(run.header["clock"], TIMER)
                self.assertGreaterEqual(run.header["counters"][NO_TIMER], 2)
                # Ten a CPU second of the process, and at each end the rest.
                self.assertLess(abs(weight_s(run) - 3), 0.2)
                self.assertIn("refused their timers", self.report(
                    program("loads"), "--format=summary", "jprof-log"))

    def lingering(self, *more):
        done = self.run_program(
            program("refuse"), "thread-timers", program("lingering"), *more,
            preload=None, flags="JP_START JP_CLOCK=timer JP_PERIOD=0.004",
            env={"REFUSE_PRELOAD": LIBRARY})
        self.assertEqual((done.status, done.err), (0, ""))
        cpu = float(done.out.split()[1])
        run = self.run_of()
        self.assertLess(abs(weight_s(run) - cpu), 0.05 * cpu + 0.01)
        self.assertGreaterEqual(len({s[1] for s in run.samples}), 8)

    def test_the_process_has_one_and_ends(self):
        """Threads that it has not found by then have their CPU time, too."""
        self.lingering()

    def test_the_process_has_one_and_gets_another(self):
        """The program takes the clock's signal: what the threads have used
        since it found them last is kept."""
        self.lingering("8", "0.04", "1")

    @unittest.skipUnless(perf_allowed(), "the perf clock is not allowed here")
    def test_perf_at_once(self):
        """An event does not wait for the timer that would open the thread."""
        run = self.thread_timers("JP_CLOCK=perf JP_PERIOD=0.001")
        self.assertEqual(run.header["clock"], PERF)
        self.assertEqual(run.header["counters"][NO_TIMER], 0)
        self.assertLess(abs(weight_s(run) - 3), 0.15)


class Weights(ClockCase):
    """The sum of the weights is the CPU time, within 2%, on every clock."""

    CLOCKS = (("timer", 0.004), ("timer", 0.0001), ("perf", 0.001),
              ("perf", 0.0001), ("itimer", 0.001), ("hrtimer", 0.004),
              ("hrtimer", 0.0001))

    def check(self, kind, seconds, threads):
        for clock, period in self.CLOCKS:
            with self.subTest(clock=clock, period=period):
                each, cpu = self.loads(kind, seconds, threads,
                                       "JP_CLOCK=%s JP_PERIOD=%g" % (
                                           clock, period))
                run = self.run_of()
                got = {}
                for sample in run.samples:
                    got[sample[1]] = got.get(sample[1], 0) + sample[2] / 1e9
                # The last ticks of a thread may not come, on a busy machine.
                self.assertLess(abs(weight_s(run) - cpu),
                                0.02 * cpu + 0.02 * threads,
                                (each, got, run.header["counters"][:16]))

    def test_spinning(self):
        self.check("spin", 0.4, 2)

    def test_long_system_calls(self):
        self.check("populate", 0.5, 1)

    def test_sleeping_mostly(self):
        self.check("sleep", 0.3, 2)


class Itimer(ClockCase):
    def test_exec(self):
        """exec keeps the timer and drops the handler: the next signal would
        end the new program.  One that fails leaves the profile running."""
        for way in range(9):
            with self.subTest(way=way):
                done = self.run_program(program("execs"), str(way),
                                        flags="JP_START JP_PERIOD=0.001 "
                                              "JP_CLOCK=itimer")
                self.assertEqual((done.status, done.err, done.out),
                                 (0, "", "done\n"))
                self.assertGreater(weight_s(self.run_of()), 0.15)

    def test_seen_by_the_program(self):
        """It sees its own timer, in a child too; to set it off leaves the
        clock alone, and to set it moves the clock."""
        argv = program("intervals"), "0.3"
        alone = self.run_program(*argv, preload=None, flags=None)
        self.assertEqual((alone.status, alone.err), (0, ""))
        self.assertIn("on: timer 2 left none", alone.out)
        for clock in "itimer", "timer":
            with self.subTest(clock=clock):
                done = self.run_program(*argv, flags="JP_START JP_PERIOD=0.004"
                                        " JP_FILENAME=%s JP_CLOCK=%s" % (
                                            clock, clock))
                self.assertEqual((done.status, done.err), (0, ""))
                seen, cpu = done.out.split("cpu ")
                self.assertEqual(seen, alone.out.split("cpu ")[0])
                self.assertGreater(weight_s(self.run_of(clock)),
                                   0.8 * float(cpu))


if __name__ == "__main__":
    unittest.main()
