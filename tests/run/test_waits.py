# SPDX-License-Identifier: MIT
"""Real time is charged to the function in which it passed: what `rhythms` says
by its own clocks, and what the profile says.  tests/wall has long forms.
Runs in: tests."""
import collections
import os
import re
import signal
import socket
import subprocess
import time
import unittest

from jprun import BUILD, ROOT, Case, need, program, wait_until
import pack         # the path is jprun's
import truth

# A function's time may be off by so many standard errors; and by so much, for
# errors that are themselves estimated from few samples.
ERRORS = 4
SHARE = 0.05
# Where the thread was kept from the CPU for long, a stratum is as long.
TRIES = 3
LEAST_S = 0.1               # phases of less say nothing


class Phases(Case):
    def phases(self, hz, *arguments):
        done = self.run_program(program("rhythms"), *arguments,
                                flags="JP_START JP_REALTIME JP_PERIOD=%g"
                                % (1 / hz))
        self.assertEqual((done.status, done.err), (0, ""))
        threads = truth.compare(self.path("jprof-log"), program("rhythms"),
                                done.out)
        self.assertTrue(threads)
        return [phase for phases in threads.values() for phase in phases]


class Waits(Phases):
    def check(self, hz, *arguments):
        """It would be easy to be right with an error without end: of a few
        tries, one has small ones."""
        for _ in range(TRIES):
            vague = []
            for phase in self.phases(hz, *arguments):
                with self.subTest(phase=str(phase)):
                    off = abs(phase.seen() - phase.wall)
                    self.assertLess(off, ERRORS * phase.error() +
                                    SHARE * phase.wall + 2 / hz)
                if phase.error() > 0.2 * phase.wall + 4 / hz:
                    vague.append(str(phase))
            if not vague:
                return
        self.fail("\n".join(vague))

    def test_two_waits_of_one_thread(self):
        """The same pc and sp in both, and a rhythm of whole seconds."""
        for hz in (100, 250, 1000):
            with self.subTest(hz=hz):
                self.check(hz, "ticker", "6", ".3", ".7")

    def test_a_short_wait_beside_a_long_one(self):
        self.check(250, "ticker", "10", ".1", ".9")

    def test_computing_sleeping_locking_reading(self):
        for cycle in ("0.02", "0.1", "1"):
            with self.subTest(cycle=cycle):
                self.check(250, "mix", "6", cycle)

    def test_waits_that_end_with_the_look(self):
        """A wait that is over when our handler is has not gone on, though the
        thread blocked just once until the next look found it waiting: that is
        another stack.  (Its strata would grow to seconds.)  On a busy machine,
        where signals come late, it is so with any wait."""
        phases = self.phases(250, "cut", "4", "0.5", "0.5")
        self.assertEqual(len(phases), 2)
        self.assertGreater(sum(phase.samples for phase in phases), 300)

    def test_long_waits(self):
        self.check(250, "mix", "15", "5")


class Together(Phases):
    """Threads that depend on each other, or end soon: what they add up to."""

    def sums(self, hz, *arguments):
        """{function: (wall, seen, CPU, variance) of all threads}."""
        sums = collections.defaultdict(lambda: [0.0] * 4)
        for phase in self.phases(hz, *arguments):
            for i, value in enumerate((phase.wall, phase.seen(), phase.cpu,
                                       phase.variance)):
                sums[phase.function][i] += value
        return sums

    def test_who_holds_a_contended_mutex(self):
        """A signal puts a waiter at the end of the queue: the time with the
        lock was shown 74% too long, when moments let a thread foresee the
        next."""
        wall, seen, _, _ = self.sums(100, "contend", "8", "12")["do_hold"]
        self.assertGreater(wall, 6)
        self.assertLess(abs(seen - wall), 0.25 * wall)

    def test_threads_that_compute_once_and_end(self):
        """30 ms of rest and 5 ms of CPU, which take longer beside programs
        that compute: 60 to 80% of these were shown, and the rest of them at
        the rest."""
        others = [subprocess.Popen([program("busy"), "1000"],
                                   stdout=subprocess.DEVNULL)
                  for _ in range(3)]
        try:
            for hz in (100, 250):
                self.check_brief(self.sums(hz, "brief", "8", "0.03", "0.005"))
        finally:
            for other in others:
                other.kill()
                other.wait()

    def check_brief(self, sums):
        self.assertGreater(sums["do_task"][2], 0.5)
        for function in ("do_rest", "do_task"):
            wall, seen, _, variance = sums[function]
            with self.subTest(function=function, wall=wall, seen=seen):
                self.assertLess(abs(seen - wall), ERRORS * variance ** 0.5 +
                                SHARE * wall)
        wall, seen, _, _ = map(sum, zip(*sums.values()))
        self.assertLess(abs(seen - wall), SHARE * wall)


class Running(Phases):
    """Running time is the thread's CPU time, and where it ran."""

    def test_by_function(self):
        for cycle in ("0.02", "1"):
            for phase in self.phases(250, "mix", "6", cycle):
                with self.subTest(cycle=cycle, phase=str(phase)):
                    self.assertLess(abs(phase.got["running"] - phase.cpu),
                                    0.06 * phase.cpu + 0.06)

    def test_workers(self):
        for phase in self.phases(250, "pool", "6", "3"):
            if phase.wall < LEAST_S:
                continue
            with self.subTest(phase=str(phase)):
                self.assertLess(abs(phase.seen() - phase.wall),
                                ERRORS * phase.error() + 0.05 * phase.wall)
                self.assertLess(abs(phase.got["running"] - phase.cpu),
                                0.06 * phase.cpu + 0.06)


class Reports(Phases):
    """What the report says of it, with the errors that it says."""

    @staticmethod
    def lines(text, key):
        """{name: {field: number}} of the summary's lines of one kind."""
        found = {}
        for line in text.splitlines():
            if line.startswith(key + ": "):
                fields, name = line[len(key) + 2:].split(" name=", 1)
                found[name] = {field.split("=")[0]: float(field.split("=")[1])
                               for field in fields.split()}
        return found

    def test_three_waits_and_an_idle_thread(self):
        phases = {phase.function: phase
                  for phase in self.phases(250, "mix", "8", "0.4")}
        summary = self.report(program("rhythms"), "--format=summary",
                              "jprof-log")
        waits = self.lines(summary, "wait")
        times = self.lines(summary, "time")
        for function, call in (("do_mutex", "pthread_mutex_lock"),
                               ("do_pipe", "read")):
            with self.subTest(function=function):
                row = waits["%s: %s" % (function, call)]
                wall = phases[function].wall
                self.assertLess(abs(row["blocked_s"] - wall),
                                ERRORS * row["error_s"] + SHARE * wall)
        for function, phase in phases.items():
            with self.subTest(function=function):
                row = times[function]
                self.assertLess(abs(row["all_s"] - phase.wall),
                                ERRORS * row["error_s"] + SHARE * phase.wall)
                self.assertAlmostEqual(row["all_s"], phase.seen(), places=3)
                self.assertAlmostEqual(row["running_s"],
                                       phase.got["running"], places=3)
                # The report's estimate is the one that truth.py makes.
                self.assertAlmostEqual(row["error_s"], phase.error(),
                                       places=3)
        idle = [row for name, row in waits.items() if name.startswith("main")]
        self.assertEqual(sum(row["idle"] for row in idle), 1)
        text = self.report(program("rhythms"), "--format=text", "jprof-log")
        self.assertLess(text.index("Blocking Calls"), text.index("Flat Profile"))
        self.assertRegex(text, r"Rate .* for all threads")
        html = self.report(program("rhythms"), "jprof-log")
        self.assertLess(html.index("Blocking Calls"), html.index("Flat Profile"))

    def test_own_time_is_not_to_be_covered(self):
        """Nearly all CPU time of a program that only waits is jprof's."""
        done = self.run_program(program("rhythms"), "ticker", "6", ".3", ".7",
                                flags="JP_START JP_REALTIME JP_PERIOD=0.001")
        self.assertEqual((done.status, done.err), (0, ""))
        summary = self.summary(program("rhythms"), "jprof-log")
        own = float(summary["cpu_looking_s"])
        self.assertGreater(own, 0.02)
        self.assertLess(float(summary["cpu_all_s"]), own)

    def test_by_event(self):
        phases = {phase.function: phase
                  for phase in self.phases(250, "mix", "4", "0.4")}
        def weight(*options):
            return sum(count for stack, count in self.collapsed(
                program("rhythms"), *options, "jprof-log")
                       if "do_compute" in stack) * 0.004
        compute = phases["do_compute"].got
        self.assertLess(abs(weight("--event=running") - compute["running"]),
                        0.1)
        self.assertLess(abs(weight("--event=ready,blocked") -
                            compute["ready"] - compute["blocked"]), 0.1)
        self.assertEqual(weight("--event=cpu"), 0)
        split = self.collapsed(program("rhythms"), "--split-events",
                               "jprof-log")
        self.assertEqual({stack[-1] for stack, _ in split} -
                         {"[running]", "[blocked]", "[ready]"}, set())
        self.report(program("rhythms"), "--event=asleep", "jprof-log",
                    status=64)


class Calls(Case):
    def test_the_call_that_the_program_made(self):
        """A hook that went on to another function by its last jump was not on
        the stack any more: waits in waitpid stood as `wait_for`."""
        done = self.run_program(program("called"), "0.2",
                                flags="JP_START JP_REALTIME JP_PERIOD=0.004")
        self.assertEqual((done.status, done.err), (0, ""))
        waits = Reports.lines(self.report(program("called"),
                                          "--format=summary", "jprof-log"),
                              "wait")
        seen = {name: row["blocked_s"] for name, row in waits.items()
                if name.startswith("in_")}
        with open(program("called"), "rb") as binary:
            called = {name.decode() for name in
                      re.findall(rb"(?<=\0in_)\w+(?=\0)", binary.read())}
        self.assertGreater(len(called), 20)
        self.assertEqual({name for name in seen if seen[name] > 0.05},
                         {"in_%s: %s" % (name, name) for name in called})


class Own(Case):
    """jprof's own frames are not on the stacks that a report shows."""

    def test_left_out(self):
        """In no format; the call that the program made is there once, right
        below its function, and no time is lost with them."""
        done = self.run_program(program("called"), "0.2",
                                flags="JP_START JP_REALTIME JP_PERIOD=0.004")
        self.assertEqual((done.status, done.err), (0, ""))
        stacks = self.collapsed(program("called"), "jprof-log")
        for stack, _ in stacks:
            calls = [name for name in stack if name.startswith("in_")]
            if calls and stack[-1] != calls[0]:
                at = stack.index(calls[0])
                self.assertEqual(stack[at + 1], calls[0][3:], stack)
                self.assertNotIn("ppoll", stack[at + 2:], stack)
                self.assertNotIn(calls[0][3:], stack[at + 2:], stack)
        summary = self.summary(program("called"), "jprof-log")
        self.assertAlmostEqual(sum(count for _, count in stacks),
                               int(summary["weight"]), delta=len(stacks))
        for form in ("text", "html", "html-plain", "collapsed", "summary",
                     "perf-script", "callgrind", "firefox"):
            text = self.report(program("called"), "--format=" + form,
                               "jprof-log")
            with self.subTest(form=form):
                self.assertNotIn("jp_hook_", text)
                self.assertNotRegex(text, r"\bjp_(?!ro)[a-z]+_sig\b")

    def test_stripped(self):
        """As Debian's package has it: stripped, with its names in a section
        of their own."""
        named = os.path.join(BUILD, "libjprof.so")
        stripped = self.path("libjprof.so")
        subprocess.run([need("strip"), "--strip-unneeded", "-o", stripped,
                        named], check=True)
        need("xz")
        size = os.path.getsize(stripped)
        subprocess.run([os.path.join(ROOT, "scripts", "keep-names"), named,
                        stripped], check=True)
        # The names of its data are no part of them: 18 KB with those.
        self.assertLess(os.path.getsize(stripped) - size, 16500)
        done = self.run_program(program("called"), "0.2",
                                flags="JP_START JP_REALTIME JP_PERIOD=0.004",
                                preload=stripped)
        self.assertEqual((done.status, done.err), (0, ""))
        calls = {stack[at + 1]
                 for stack, _ in self.collapsed(program("called"), "jprof-log")
                 for at, name in enumerate(stack[:-1])
                 if name.startswith("in_")}
        self.assertIn("poll", calls)
        self.assertNotIn("[libjprof.so]", calls)

    def test_without_its_file(self):
        """Its code without names may be hooks: it is one function, so that a
        wait is not taken for the time of who called it."""
        with open(self.path("jprof-map"), "w", encoding="ascii") as target:
            target.write(
                "1 jprof-map version=1 pid=7 start=9\n"
                "1 anon start=10000 end=20000\n"
                "1 module start=700000 end=701000 offset=0 dev=8:1 inode=6 "
                "path=/none/libjprof.so\n"
                "1 module start=800000 end=801000 offset=0 dev=8:1 inode=7 "
                "path=/none/libc.so.6\n"
                "1 perfmap path=/x dev=0:1 inode=1 size=13 saved=names\n")
        with open(self.path("names"), "w", encoding="ascii") as target:
            target.write("10010 8 work\n")
        with open(self.path("jprof-log"), "wb") as target:
            target.write(pack.pack(
                "header pid=7 start=9 map=jprof-map period=4000000\n"
                "chunk size=4096 pid=7 tid=7\n"
                "stack id=s frames=0x800014,0x700024,0x700014,0x10014\n"
                "sample time=5000000 tid=7 weight=4000000 event=blocked "
                "stack=s\n"))
        self.assertEqual(self.collapsed("app", "jprof-log"),
                         [(["work", "[libjprof.so]", "[libc.so.6]"], 1)])
        self.assertIn("work: [libjprof.so]", self.report(
            "app", "--format=summary", "jprof-log"))
        # An export of it, read again, tells its own functions.
        again = self.path("again.pb.gz")
        self.report("app", "--format=pprof", "-o", again, "jprof-log")
        self.assertEqual(
            self.report("--format=collapsed", again),
            "work;[libjprof.so];[libc.so.6] 1\n")


class Served(Phases):
    """A server whose requests wait for a lock, a database and in a sleep."""

    def setUp(self):
        super().setUp()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = str(free.getsockname()[1])
        self.database = subprocess.Popen(
            [need("redis-server"), "--port", self.port, "--bind", "127.0.0.1",
             "--save", "", "--dir", self.dir, "--maxclients", "1000"],
            stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        wait_until(self.answers, "the database")

    def tearDown(self):
        self.database.kill()
        self.database.wait()
        super().tearDown()

    def answers(self):
        try:
            socket.create_connection(("127.0.0.1", int(self.port))).close()
        except OSError:
            return False
        return True

    def test_what_blocked(self):
        """The launcher's report has each wait's share, with its error."""
        said = subprocess.run(
            [os.path.join(BUILD, "jprof"), "--wall", "-o", "out",
             program("requests"), "8", "6", self.port], cwd=self.dir,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
            timeout=120).stdout.decode()
        truths = truth.totals(said)
        folder = self.path("out")
        waits = Reports.lines(self.report(program("requests"),
                                          "--format=summary", folder), "wait")
        for name, function in (("take_lock: pthread_mutex_lock", "take_lock"),
                               ("ask_database: recv", "ask_database"),
                               ("rest: nanosleep", "back_off")):
            with self.subTest(name=name):
                row = waits[name]
                self.assertLess(
                    abs(row["blocked_s"] - truths[function]),
                    ERRORS * row["error_s"] + 2 * SHARE * truths[function])
                self.assertLess(row["error_s"], 0.2 * truths[function])
        text = self.report(program("requests"), "--format=text", folder)
        self.assertRegex(text, r"(?s)Blocking Calls.*ask_database: recv\n.*"
                               r"Flat Profile")
        with open(os.path.join(folder, "report.html"),
                  encoding="utf-8") as page:
            html = page.read()
        self.assertLess(html.index("Blocking Calls"), html.index("ask_database"))

    def test_before_a_hang(self):
        """A ring holds the last seconds before it, of all threads, however
        long they have hung since."""
        live = self.start(program("requests"), "200", "3", self.port, "hang",
                          flags="JP_START JP_REALTIME JP_PERIOD=0.004 "
                          "JP_CIRCULAR=1M")
        hung = float(live.line().split()[1])
        time.sleep(4)
        live.kill(signal.SIGUSR1)
        wait_until(lambda: self.run_of().events("pause"), "the pause")
        live.end(signal.SIGKILL)
        run = self.run_of()
        self.assertEqual(run.lost(), 0)
        before = collections.Counter(
            s[1] for s in run.samples if s[0] / 1e9 < hung)
        self.assertEqual(len(before), 201)
        self.assertGreater(min(before.values()), 2)
        stuck = sum(count for stack, count in self.collapsed(
            program("requests"), "jprof-log") if "take_lock" in stack) * 0.004
        self.assertGreater(stuck, 0.9 * 200 * 4)


class First(Case):
    """A pause before JP_FIRST has passed: nothing starts any more."""

    def test_pause_before_the_start(self):
        live = self.start(program("idle"), flags="JP_START JP_REALTIME "
                          "JP_PERIOD=0.004 JP_FIRST=1.5")
        self.assertIn("pid", live.line())
        live.kill(10)
        time.sleep(2.5)
        done = live.end(15)
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertEqual(self.log_names(), [])


if __name__ == "__main__":
    unittest.main()
