# SPDX-License-Identifier: MIT
"""Children of a process that has shut itself in, made by fork: each has its
samples, with names and whole stacks, though it can open no file and, behind
its filter, make hardly a system call.  Runs in: tests."""
import os
import re
import unittest

from jprun import Case, decode, program


class Zygote(Case):
    def check(self, how, children=2, threads=0, seconds=0.3):
        """Runs it; returns the runs of its children."""
        argv = [program("zygote"), how, str(seconds), str(children),
                str(threads)]
        plain = self.run_program(*argv, preload=False)
        self.assertEqual((plain.status, plain.err), (5, ""))
        done = self.run_program(*argv)
        self.assertEqual((done.status, done.err), (5, ""))
        said = re.findall(r"(?m)^(\w+) ([\d.]+)$", done.out)
        self.assertEqual([who for who, _ in said],
                         ["child"] * children + ["parent"])
        self.assertEqual(self.log_names(), ["jprof-log"])
        runs = decode.load(self.path("jprof-log"))
        self.assertEqual(len(runs), 1 + children)
        self.assertEqual([run.damage for run in runs], [[]] * len(runs))
        for run, (_, cpu) in zip(runs, said[-1:] + said[:-1]):
            self.covered(run, float(cpu), threads)
        self.named(children, threads)
        return runs[1:]

    def covered(self, run, cpu, threads=0):
        """The weights are the CPU time that the process says it used."""
        weight = sum(sample[2] for sample in run.samples) / 1e9
        self.assertAlmostEqual(weight, cpu, delta=0.05 * cpu + 0.03)
        # The last signal of a thread can come when it has ended.
        stale = run.header["counters"][0]
        self.assertEqual(run.lost(), stale, run.header["counters"])
        self.assertLessEqual(stale, threads)
        self.assertEqual({sample[4] for sample in run.samples}, {"root"})

    def named(self, children, threads):
        """The functions at work have the time, each on its whole stack."""
        weights = {"parent_work": 0, "child_work": 0, "thread_work": 0}
        total = 0
        for stack, weight in self.collapsed(program("zygote"), "jprof-log"):
            total += weight
            for name in weights:
                weights[name] += weight if name in stack else 0
            if "child_work" in stack:
                self.assertEqual(stack[:1], ["_start"], stack)
                self.assertIn("main", stack)
        self.assertGreater(sum(weights.values()), 0.9 * total, weights)
        share = children / (children * (1 + threads) + 1.25)
        self.assertAlmostEqual(weights["child_work"] / total, share,
                               delta=0.1, msg=str(weights))
        self.assertEqual(weights["thread_work"] > 0, threads > 0)

    def test_chroot(self):
        for run in self.check("chroot"):
            self.assertEqual(run.header["proc_pid"], 0)
            (_, keys), = run.events("process")
            self.assertEqual(keys["pid"], str(run.header["pid"]))
            self.assertTrue(keys["cmdline"].startswith(program("zygote")))
            self.assertEqual(keys["host"], os.uname().nodename)

    def test_filter(self):
        self.check("chroot+filter")

    def test_threads_behind_a_filter(self):
        self.check("chroot+filter", threads=2)

    def test_threads_without_a_signal(self):
        """Threads behind a filter that end before a tick: their time stands
        at the function that they began with, and the report says so."""
        done = self.run_program(program("zygote"), "chroot+filter", "0.001",
                                "1", "16")
        self.assertEqual((done.status, done.err), (5, ""))
        run = decode.load(self.path("jprof-log"))[1]
        brief = {}
        for _, tid, weight, _, reason, stack in run.samples:
            if tid != run.header["pid"]:
                self.assertEqual(reason, "root")
                brief.setdefault(tid, []).append((weight, len(stack)))
        self.assertEqual(len(brief), 16)
        for samples in brief.values():
            self.assertGreaterEqual(sum(weight for weight, _ in samples), 9e5)
        unseen = run.header["counters"][23]
        self.assertEqual(unseen, [samples[0][1] for samples in
                                  brief.values()].count(1))
        self.assertGreater(unseen, 0)
        stacks = [stack for stack, _ in
                  self.collapsed(program("zygote"), "jprof-log")
                  if "thread_work" in stack]
        self.assertGreater(len(stacks), 0)
        notes = self.report(program("zygote"), "--format=summary", "jprof-log")
        self.assertIn(f"{unseen} threads got no signal",
                      notes)

    def test_killed(self):
        self.check("chroot+filter+kill", threads=1)

    def test_user_and_pid_namespaces(self):
        """Children that all are process 1 stay apart."""
        probe = self.run_program(program("zygote"), "userns+pidns", "0.01",
                                 "1", preload=False)
        if probe.status == 2:
            self.skipTest("no user namespaces here")
        runs = self.check("userns+pidns+filter+kill", children=3)
        self.assertEqual([run.header["pid"] for run in runs], [1, 1, 1])
        self.assertEqual(len({run.header["mono_ns"] for run in runs}), 3)

    def test_title(self):
        """What a child calls itself is in its part of the map."""
        for run in self.check("chroot+filter+title"):
            self.assertEqual(run.events("process")[-1][1]["cmdline"]
                             .split("\0")[0], "zygote: at work")
        summary = self.report(program("zygote"), "--format=summary",
                              "jprof-log")
        self.assertEqual(summary.count(" role=at_work"), 2)

    def test_exec(self):
        """A child that executes another program stays as it was until then."""
        self.check("chroot+exec")

    def test_reason(self):
        """Why threads behind the filter go by the process's timer."""
        self.check("chroot+filter", children=1, threads=2)
        notes = self.report(program("zygote"), "--format=summary",
                            "jprof-log")
        self.assertIn("seccomp filter", notes)
        self.assertNotIn("the kernel refused", notes)

    def test_disk(self):
        """What was made ready and not used is given back."""
        self.check("chroot")
        info = os.stat(self.path("jprof-log"))
        self.assertLess(info.st_blocks * 512, 256 << 10)


if __name__ == "__main__":
    unittest.main()
