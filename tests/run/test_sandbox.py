# SPDX-License-Identifier: MIT
"""Programs that shut themselves in: they run on as without the library, what
was sampled is kept, and samples go on.  Runs in: tests."""
import os
import unittest

from jprun import Case, decode, need, program, shell, weight_s

FLAGS = "JP_START JP_PERIOD=0.004"


class Sandbox(Case):
    def check(self, how, threads=0, flags=FLAGS, behind=True):
        argv = [program("sandboxed"), how, "0.4", str(threads)]
        # What it prints without the library does not depend on how long.
        plain = self.run_program(*argv[:2], "0.02", str(threads),
                                 preload=False)
        self.assertEqual((plain.status, plain.out, plain.err),
                         (5, "before\nbehind\n", ""))
        done = self.run_program(*argv, flags=flags)
        self.assertEqual((done.status, done.out, done.err),
                         (plain.status, plain.out, plain.err))
        run = decode.load(self.path("jprof-log"))[0]
        self.assertEqual(run.damage, [])
        self.assertEqual(run.header["pid"], done.pid)
        weights = {"before": 0, "behind": 0}
        for stack, weight in self.collapsed(program("sandboxed"),
                                            "jprof-log"):
            for name in weights:
                weights[name] += weight if name in stack else 0
        self.assertGreater(weights["before"], 70, weights)
        if behind:
            self.assertGreater(weights["behind"], 0.6 * 100, weights)
        self.assertEqual(sum(run.header["counters"][:7]), 0)
        return run

    def test_filter_that_kills(self):
        self.check("kill")

    def test_strict_mode(self):
        """It takes the time stamp counter away: no samples behind it."""
        self.check("strict", behind=False)

    def test_filter_without_a_way_back(self):
        """No handler can return behind it, so none may begin: the profile ends
        there."""
        for flags in (FLAGS, FLAGS + " JP_REALTIME",
                      "JP_START JP_PERIOD=0.001"):
            self.check("final", flags=flags, behind=False)
        self.check("final-tsync", threads=3, behind=False)

    def test_filter_for_all_threads(self):
        self.check("tsync", threads=3)

    def test_filter_with_other_threads(self):
        self.check("kill", threads=3)

    def test_filter_that_answers(self):
        self.check("errno")

    def test_without_sys(self):
        """As in a minimal system or a container: nothing names the clock
        source there."""
        covered = [need("unshare"), "--user", "--map-root-user", "--mount",
                   "sh", "-c", "mount -t tmpfs none /sys && exec \"$@\"", "sh"]
        if self.run_program(*covered, "true", preload=False).status != 0:
            self.skipTest("no user namespaces here")
        done = self.run_program(
            *covered, program("sandboxed"), "kill", "0.4",
            flags=FLAGS + " JP_FILENAME=%p.log")
        self.assertEqual((done.status, done.out, done.err),
                         (5, "before\nbehind\n", ""))
        name = [name for name in self.files() if ".log" in name and
                decode.load(self.path(name))[0].header["exe"].endswith(
                    "sandboxed")][0]
        weight = sum(weight for stack, weight in self.collapsed(
            program("sandboxed"), name) if "behind" in stack)
        self.assertGreater(weight, 0.6 * 100)

    def test_chroot(self):
        self.check("chroot")

    def test_setuid(self):
        self.check("setuid")

    def test_closefrom(self):
        self.check("closefrom", threads=2)

    def test_all_of_them(self):
        self.check("chain", threads=1)

    def test_ring(self):
        run = self.check("chain", flags=FLAGS + " JP_CIRCULAR=1M")
        self.assertEqual({c[2] for c in run.chunks}, {32768})

    def test_real_time(self):
        self.check("kill", flags=FLAGS + " JP_REALTIME")

    def test_real_time_of_later_threads(self):
        """Threads that begin behind a filter that forbids them a timer are
        sampled where they compute, and no CPU time of those before it is taken
        for time without a CPU."""
        run = self.check("timers", threads=2, flags=FLAGS + " JP_REALTIME")
        weight = sum(s[2] for s in run.samples if s[3] == "running")
        self.assertGreater(weight, 0.9 * run.header["cpu_ns"])
        self.assertLess(weight, 1.05 * run.header["cpu_ns"])
        seen = {s[1] for s in run.samples} - {run.header["pid"]}
        self.assertEqual(len(seen), 2)
        for sample in run.samples:
            if sample[1] in seen:
                self.assertEqual(sample[3], "running")

    def test_later_threads_whose_clocks_cannot_be_read(self):
        """What such threads, which live to the end, used since a signal last
        found them is known in the sum."""
        for flags in (FLAGS, FLAGS + " JP_REALTIME"):
            with self.subTest(flags=flags):
                self.check_latecomers(flags)

    def test_later_threads_after_an_exec(self):
        """What threads used that were gone before the profile began is none of
        theirs."""
        self.check_latecomers(FLAGS, program("ancestor"), "1")

    def check_latecomers(self, flags, *before):
        done = self.run_program(*before, program("latecomers"), "12", "20",
                                flags=flags)
        self.assertEqual((done.status, done.out, done.err), (5, "", ""))
        run = max(self.all_runs(), key=lambda run: run.header["cpu_before_ns"])
        self.assertTrue(run.header["exe"].endswith("latecomers"))
        due = run.header["cpu_ns"] - run.header["cpu_before_ns"] - \
            run.header["counters"][20]
        weight = sum(s[2] for s in run.samples if s[3] in ("cpu", "running"))
        self.assertGreater(weight, 0.92 * due)
        self.assertLess(weight, 1.08 * due)
        for name in self.files():
            os.unlink(self.path(name))

    def test_a_wait_that_nobody_counts(self):
        """Where the kernel does not tell how often a thread has blocked, what
        the looks at one long wait take is not CPU time of the program's, and
        not each signal is a sample."""
        done = self.run_program(program("latecomers"), "0", "0", "3",
                                flags=FLAGS + " JP_REALTIME")
        self.assertEqual((done.status, done.out, done.err), (5, "", ""))
        run = self.run_of()
        header = run.header
        looking = header["counters"][20]
        due = header["cpu_ns"] - header["cpu_before_ns"] - looking
        weight = sum(s[2] for s in run.samples if s[3] == "running")
        self.assertLess(abs(due - weight), 5e6 + 0.15 * looking)
        times = [s[0] for s in run.samples]
        signals = (max(times) - min(times)) / header["period_ns"]
        self.assertLess(len(times), 0.85 * signals)

    def test_a_wait_below_a_guard_page(self):
        """There a thread's stack tells whether it is in the same wait; a part
        of it may have become unreadable since it was last walked."""
        done = self.run_program(program("guarded"),
                                flags=FLAGS + " JP_REALTIME")
        self.assertEqual((done.status, done.out, done.err), (0, "", ""))
        self.assertGreater(weight_s(self.run_of()), 0.55)

    def test_waiting_threads_take_few_samples(self):
        """Where their timers cannot be set any more, and each signal makes them
        leave their wait: of a signal each period, few are samples."""
        run = self.check("waiters", threads=8, flags=FLAGS + " JP_REALTIME")
        first = run.header["pid"]
        times = [s[0] for s in run.samples if s[1] == first]
        signals = (max(times) - min(times)) / run.header["period_ns"]
        waiting = [s for s in run.samples if s[1] != first]
        self.assertEqual(len({s[1] for s in waiting}), 8)
        self.assertLess(len(waiting) / 8, 0.25 * signals)
        weight = sum(s[2] for s in waiting) / 8
        self.assertGreater(weight, 0.9 * (max(times) - min(times)))

    def test_a_filter_after_another(self):
        """The first one kills where a timer is set."""
        for flags in (FLAGS, FLAGS + " JP_REALTIME"):
            self.check("twice", threads=1, flags=flags)
            os.unlink(self.path("jprof-log"))
            os.unlink(self.path("jprof-map"))

    def test_stacks_while_memory_changes(self):
        """The kernel cannot be asked what is mapped, and need not be: another
        thread changes other memory."""
        run = self.check("unread")
        cut = [s for s in run.samples if s[4] != "root"]
        self.assertLess(len(cut), 0.02 * len(run.samples))

    def test_the_reserve_is_a_ring(self):
        """The last samples stay where more come than there is room for."""
        command = "ulimit -f 250; exec %s kill 0.05 0 160" % program("sandboxed")
        done = self.run_program(
            *shell(command),
            flags="JP_START JP_PERIOD=0.001 JP_FILENAME=%p.log")
        self.assertEqual((done.status, done.err), (5, ""))
        run = [run for run in self.all_runs()
               if run.header["exe"].endswith("sandboxed")][0]
        self.assertEqual(run.damage, [])
        self.assertEqual(sum(run.header["counters"][:7]), 0)
        self.assertGreater(run.header["counters"][10], 0)
        times = sorted(sample[0] for sample in run.samples)
        self.assertGreater(times[-1] - times[0], 10 ** 9)

    def dispatch(self, rounds, *words, flags):
        argv = [program("dispatch"), str(rounds), *words]
        # Without jprof, SIGPROF would end it.
        plain = self.run_program(*(word for word in argv if word != "signals"),
                                 preload=False)
        if plain.status == 77:
            self.skipTest("no syscall user dispatch here")
        self.assertEqual((plain.status, plain.err), (0, ""))
        done = self.run_program(*argv, flags=flags)
        self.assertEqual((done.status, done.out), (0, plain.out))
        return done

    def test_dispatch(self):
        """Where system calls become SIGSYS, no handler of jprof's can return:
        the profile ends before that, and signals that come later run none."""
        for words in ((), ("raw",), ("signals",)):
            for flags in ("JP_START JP_PERIOD=0.001",
                          "JP_START JP_PERIOD=0.001 JP_REALTIME"):
                with self.subTest(words=words, flags=flags):
                    done = self.dispatch(100, *words, flags=flags)
                    self.assertEqual(done.err, "")
                    self.assertIn("PR_SET_SYSCALL_USER_DISPATCH", self.report(
                        program("dispatch"), "jprof-log"))

    def test_dispatch_but_for_the_c_library(self):
        """No call of a hook's own becomes SIGSYS."""
        for flags in ("JP_START JP_PERIOD=0.001",
                      "JP_START JP_PERIOD=0.001 JP_REALTIME"):
            self.assertEqual(self.dispatch(5, "library", flags=flags).err, "")

    def test_dispatch_before_the_profile(self):
        """It does not begin then, by JP_FIRST's timer or by a signal."""
        for words, flags in (((), "JP_START JP_FIRST=0.12 JP_PERIOD=0.001"),
                             (("signals",), "JP_DEFER JP_PERIOD=0.001"),
                             (("library",), "JP_DEFER JP_PERIOD=0.001")):
            with self.subTest(words=words, flags=flags):
                done = self.dispatch(5 if words == ("library",) else 300,
                                     *words, flags=flags)
                self.assertRegex(done.err, r"\Ajprof: the profile does not "
                                 r"begin: .*PR_SET_SYSCALL_USER_DISPATCH.*\n\Z")

    def test_dispatch_of_a_parent(self):
        """A child's system calls are as usual: its profile begins anew."""
        for flags in ("JP_START JP_PERIOD=0.001",
                      "JP_START JP_PERIOD=0.001 JP_FIRST=0.12"):
            with self.subTest(flags=flags):
                done = self.dispatch(3, "fork", flags=flags)
                child = [run for run in self.all_runs()
                         if run.header["pid"] != done.pid]
                self.assertEqual(len(child), 1)
                self.assertGreater(weight_s(child[0]), 0.1)
                for name in self.files():
                    os.unlink(self.path(name))

    def test_dispatch_and_programs(self):
        """They are executed with no signal ignored for jprof's sake."""
        for flags in (FLAGS, FLAGS + " JP_REALTIME"):
            self.dispatch(3, "programs", flags=flags)
            self.dispatch(3, "library", "programs", flags=flags)

    def test_dispatch_refused(self):
        """The profile goes on."""
        self.dispatch(3, "refused", flags="JP_START JP_PERIOD=0.001")
        self.assertGreater(weight_s(self.run_of()), 0.9 * 0.4)

    def test_final_filter_before_the_profile(self):
        """JP_FIRST's signal comes behind a filter that lets no handler
        return."""
        done = self.run_program(program("sandboxed"), "final", "0.2",
                                flags="JP_START JP_FIRST=0.3")
        self.assertEqual((done.status, done.out, done.err),
                         (5, "before\nbehind\n", ""))

    def test_without_the_counter(self):
        """PR_SET_TSC takes from the vdso what it tells the time by."""
        app = program("counterless")
        if self.run_program(app, preload=False).status == 77:
            self.skipTest("the counter cannot be forbidden here")
        for words in ((), ("raw",)):
            for flags, least in (
                    ("JP_START JP_PERIOD=0.001", 250),
                    ("JP_START JP_PERIOD=0.001 JP_REALTIME", 250),
                    ("JP_START JP_PERIOD=0.001 JP_FIRST=0.12", 130)):
                with self.subTest(words=words, flags=flags):
                    done = self.run_program(app, *words, flags=flags)
                    self.assertEqual((done.status, done.out, done.err),
                                     (0, "done\n", ""))
                    weight = sum(
                        weight for stack, weight in self.collapsed(
                            app, "jprof-log") if "behind" in stack)
                    self.assertGreater(weight, least)
                    for name in self.files():
                        os.unlink(self.path(name))

    def test_questions(self):
        """What installs nothing, and what fails, leaves all as it was: the
        time between the questions is sampled."""
        argv = [program("probes"), "0.04"]
        plain = self.run_program(*argv, preload=False)
        self.assertEqual((plain.status, plain.err), (5, ""))
        asked = plain.out.count("\n")
        for flags in (FLAGS, FLAGS + " JP_REALTIME"):
            done = self.run_program(*argv, flags=flags)
            self.assertEqual((done.status, done.out, done.err),
                             (plain.status, plain.out, plain.err), flags)
            run = self.run_of()
            self.assertEqual(sum(run.header["counters"][:7]), 0)
            weight = sum(s[2] for s in run.samples
                         if s[3] != "wall blocked") / 1e9
            self.assertGreater(weight, 0.9 * 0.04 * asked, flags)
            os.unlink(self.path("jprof-log"))
            os.unlink(self.path("jprof-map"))

    def test_users_get_their_numbers_later(self):
        """As Firefox makes its content processes: a log that was made in a
        user namespace without a map goes on when it has one."""
        code = """
import ctypes, os, platform, sys, time
def spin(seconds, depth):
    if depth:
        return spin(seconds, depth - 1)
    end = time.process_time() + seconds
    while time.process_time() < end: pass
libc = ctypes.CDLL(None, use_errno=True)
take, give = os.pipe()
number = {'x86_64': 56, 'aarch64': 220}[platform.machine()]
pid = libc.syscall(number, 0x10000000 | 17, 0, 0, 0, 0)
if pid == 0:
    spin(0.1, 3)
    os.read(take, 1)
    for depth in range(60):
        spin(0.01, depth)
    os._exit(7)
if pid < 0:
    sys.exit(77)
while not os.path.exists('jprof-log-%d' % pid):
    time.sleep(0.01)
time.sleep(0.1)
with open('/proc/%d/uid_map' % pid, 'w') as file:
    file.write('%d %d 1' % (os.geteuid(), os.geteuid()))
os.write(give, b'1')
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
        done = self.run_program("/usr/bin/python3", "-c", code,
                                flags="JP_START JP_REALTIME JP_PERIOD=0.001")
        if done.status == 77:
            self.skipTest("no user namespaces here")
        self.assertEqual((done.status, done.err), (7, ""))
        child = [run for run in self.all_runs()
                 if run.header["pid"] != done.pid]
        self.assertEqual(len(child), 1)
        self.assertEqual(child[0].damage, [])
        self.assertEqual(sum(child[0].header["counters"][:7]), 0)
        running = [s for s in child[0].samples if s[3] == "running"]
        self.assertGreater(sum(s[2] for s in running) / 1e9, 0.5)

    def test_deferred(self):
        argv = [program("sandboxed"), "kill", "0.1"]
        done = self.run_program(*argv, flags="JP_DEFER")
        self.assertEqual((done.status, done.err), (5, ""))
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main()
