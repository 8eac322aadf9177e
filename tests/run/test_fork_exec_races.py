# SPDX-License-Identifier: MIT
"""Processes made in every way and order, from several threads, at 10 kHz: they
end as without the library, and no two of them write one log.
Runs in: tests."""
import unittest

from jprun import (Case, LIBRARY, decode, program, quote, shell,
                   weight_s)

FAST = "JP_START JP_PERIOD=0.0001"


class Everything(Case):
    def check_logs(self):
        """Every log is of one process alone, and undamaged."""
        pids, tids = [], {}
        for name in self.log_names():
            runs = decode.load(self.path(name))
            self.assertEqual([run.damage for run in runs], [[]], name)
            pid = runs[0].header["pid"]
            starts = runs[0].events("jprof-map")
            self.assertEqual([keys["pid"] for _, keys in starts], [str(pid)])
            pids.append(pid)
            tids[name] = pid, {sample[1] for sample in runs[0].samples}
        for name, (pid, seen) in tids.items():
            self.assertEqual(seen & set(pids) - {pid}, set(), name)

    def same(self, flags):
        argv = [program("begetter"), "2", "6", program("static_busy")]
        plain = self.run_program(*argv, preload=False)
        self.assertEqual((plain.status, plain.err), (0, ""))
        self.assertTrue(plain.out.endswith("\norphans 0\n"), plain.out)
        done = self.run_program(*argv, flags=flags)
        self.assertEqual((done.status, done.out, done.err),
                         (plain.status, plain.out, plain.err))
        self.check_logs()

    def test_real_time(self):
        self.same(FAST + " JP_REALTIME")

    def test_cpu_time(self):
        self.same(FAST)

    def test_deferred(self):
        self.same("JP_DEFER")
        self.assertEqual(self.files(), [])

    def test_no_descriptor_is_inherited(self):
        """What handlers of other threads have open when one forks."""
        done = self.run_program(program("leaks"), "400",
                                flags=FAST + " JP_REALTIME")
        self.assertEqual((done.status, done.out, done.err),
                         (0, "leaks 0\n", ""))


class Borrower(Case):
    def test_a_vfork_child_is_nobodys_thread(self):
        """Its own signals find its parent's memory, stack and record."""
        done = self.run_program(program("borrower"),
                                flags="JP_DEFER JP_PERIOD=10")
        self.assertEqual((done.status, done.err), (0, ""))
        run = self.run_of()
        self.assertEqual(sum(s[3] == "raised" for s in run.samples), 20)
        self.assertEqual(len({s[1] for s in run.samples}), 1)


class Server(Case):
    def test_children_past_the_c_librarys_fork(self):
        """Each has a log of its own, with its own time alone in it."""
        done = self.run_program(program("server"), "0.3",
                                flags="JP_START JP_PERIOD=0.004")
        self.assertEqual((done.status, done.err), (0, ""))
        children = dict(line.split() for line in done.out.splitlines())
        self.assertEqual(sorted(children), ["bare", "call", "clone"])
        runs = {run.header["pid"]: run for run in self.all_runs()}
        self.assertEqual(len(runs), 4, self.files())
        for pid in [done.pid] + [int(pid) for pid in children.values()]:
            self.assertEqual(runs[pid].damage, [])
            self.assertEqual({s[1] for s in runs[pid].samples}, {pid})
            self.assertLess(abs(weight_s(runs[pid]) - 0.3), 0.08)


class Cost(Case):
    def test_fork_of_a_large_process(self):
        """It takes no more CPU time in the parent than without: of the least
        of several runs by turns.  (The bench has the exact figure.)"""
        least = {False: [], LIBRARY: []}
        for _ in range(4):
            for preload, times in least.items():
                done = self.run_program(program("forkcost"), "384", "9",
                                        preload=preload,
                                        flags=FAST + " JP_REALTIME")
                self.assertEqual((done.status, done.err), (0, ""))
                times.append(int(done.out.split()[2]))
        self.assertLess(min(least[LIBRARY]), 1.5 * min(least[False]), least)


class Chains(Case):
    def test_exec_after_exec(self):
        """Each program of a chain in one process has a log of its own."""
        burn = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; "
        # busy counts the CPU time that the shells have used as its own.
        inner = burn + "exec %s 1.5 9" % quote(program("busy"))
        done = self.run_program(*shell(burn + "exec /bin/sh -c " +
                                       quote(inner)))
        self.assertEqual((done.status, done.err), (9, ""))
        runs = {name: self.run_of(name) for name in self.log_names()}
        self.assertEqual({run.header["pid"] for run in runs.values()},
                         {done.pid})
        self.assertEqual(sorted(runs), ["jprof-log"] + [
            "jprof-log-%d%s" % (done.pid, end) for end in ("", "-2")])
        self.assertEqual(
            sum("busy" in run.header["exe"] for run in runs.values()), 1)

    def test_threads_that_were_gone(self):
        """The CPU time of those that ended before an exec is that before the
        profile, and nothing that the next program's threads did."""
        done = self.run_program(program("ancestor"), "1", program("busy"),
                                "1.3")
        self.assertEqual((done.status, done.err), (0, ""))
        run = max(self.all_runs(), key=lambda run: run.header["cpu_before_ns"])
        self.assertGreater(run.header["cpu_before_ns"], 0.9e9)
        self.assertLess(run.header["counters"][22], 0.1e9)


class Besieged(Case):
    def test_signals_while_a_thread_execs(self):
        """Before an exec, the thread writes what its own waits have left: a
        signal that is raised in it then has its sample, too."""
        done = self.run_program(program("besieged"),
                                flags="JP_START JP_REALTIME JP_PERIOD=0.01")
        self.assertEqual((done.status, done.err), (0, ""))
        run = self.run_of()
        self.assertEqual(run.lost(), 0)
        raised = sum(sample[3] == "raised" for sample in run.samples)
        self.assertGreater(raised, 10)


if __name__ == "__main__":
    unittest.main()
