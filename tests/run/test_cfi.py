# SPDX-License-Identifier: MIT
"""Stacks by call-frame information reach the root, in code without frame
pointers and in code of JIT compilers.  Runs in: tests."""
import os
import subprocess
import unittest

from jprun import ROOT, Case, need, program

FLAGS = "JP_START JP_PERIOD=0.001"
COMPLETE = ("root", "depth", "fiber")

SCRIPT = """
import json, re
for i in range(%d):
    json.loads(json.dumps({str(k): k for k in range(2000)}))
    re.findall("(a|b)+c", "abab" * 200)
    sorted(range(3000), key=lambda x: -x)
"""

JAVASCRIPT = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
const end = Date.now() + 2000;
while (Date.now() < end) {
    fib(20);
    const list = [];
    for (let i = 0; i < 2000; i++)
        list.push({a: i, b: 'x' + i});
    list.sort((p, q) => q.a - p.a);
    JSON.parse(JSON.stringify(list));
    'abc'.replace(/b/g, x => x + list.length);
}
"""


class Complete(Case):
    def reached(self, least, *argv, samples=100, share=0.995, **options):
        """Runs a program; at least `share` of its samples reach the root,
        or the depth limit."""
        done = self.run_program(*argv, flags=FLAGS, **options)
        self.assertEqual(done.status, 0, done.err)
        runs = self.all_runs()
        taken = [s for run in runs for s in run.samples]
        good = [s for s in taken if s[4] in COMPLETE]
        self.assertGreater(len(taken), samples)
        self.assertTrue(all(run.header["walker"] == 3 for run in runs))
        # The first sample of other threads may come before the map is there.
        self.assertGreaterEqual(len(good) + least, share * len(taken),
                                "%d of %d" % (len(good), len(taken)))
        return runs

    def functions(self, app):
        """Every stack of the report as a list of names, root first."""
        return [stack for stack, _ in self.collapsed(app, "jprof-log")]

    def test_small(self):
        """A program whose data, too, begins in the first page of its file."""
        app = self.path("small")
        subprocess.run(
            [need("gcc"), "-O2", "-fomit-frame-pointer", "-s",
             "-Wl,-z,noseparate-code", "-o", app,
             os.path.join(ROOT, "tests/programs/busy.c")], check=True)
        loads = [line.split()[1] for line in subprocess.run(
            ["readelf", "-lW", app], stdout=subprocess.PIPE,
            check=True).stdout.decode().splitlines() if " LOAD " in line]
        self.assertLess(int(loads[1], 16), 4096)
        self.reached(1, app, "0.5")
        with open(self.path("jprof-map"), encoding="utf-8") as lines:
            module = [line for line in lines if line.endswith("/small\n")
                      and " module " in line]
        self.assertIn(" build_id=", module[0])

    def test_without_frame_pointers(self):
        self.reached(1, program("noframe"), "0.3", samples=800)
        stacks = self.functions(program("noframe"))
        for name, leaf in (("in_alloca", "hot"), ("in_qsort", "compare"),
                           ("in_deep", "hot"), ("in_realigned", "hot"),
                           ("in_handler", "hot"), ("in_alternate", "hot"),
                           ("in_plt", "")):
            found = [s for s in stacks
                     if name in s and leaf in ["", s[-1], s[-2]]]
            self.assertTrue(found, name)
            main = [s for s in found if "everything" in s and (
                "main" in s or "in_thread" in s)]
            if name != "in_deep":       # deeper ones lose their middle
                self.assertEqual(len(main), len(found), name)
            below = {s[s.index(name) - 1] for s in main}
            self.assertLessEqual(below, {"everything", "in_deep"}, name)
        coroutines = [s for s in stacks if "coroutine" in s]
        self.assertTrue(coroutines)
        self.assertTrue(all("everything" not in s for s in coroutines))

    def test_exceptions(self):
        """_Unwind_RaiseException's last instructions have moved the return
        address and not yet the stack: one sample in some hundreds."""
        self.reached(1, program("throws"), "2", "1", share=0.985)
        stacks = self.functions(program("throws"))
        self.assertTrue([s for s in stacks if "_Unwind_RaiseException" in s])

    def test_first_thread_has_ended(self):
        """What /proc/self and the process's pid name is gone then."""
        self.reached(1, program("deadmain"), "0.8")
        stacks = self.functions(program("deadmain"))
        handled = [s for s in stacks if "in_handler" in s]
        self.assertTrue(handled)
        for stack in handled:
            self.assertIn("in_survivor", stack)

    def test_alone(self):
        """JP_STACK=cfi ends where code has none, JP_STACK=auto does not."""
        for walker, reason in (("cfi", "no_rule"), ("auto", "root")):
            self.run_program(program("jitter"), "0.5", flags=FLAGS + " JP_STACK="
                             + walker)
            ended = [s[4] for s in self.run_of().samples]
            self.assertGreater(ended.count(reason), 0.97 * len(ended), walker)

    def test_summary(self):
        """What the default is, and what it is called."""
        self.run_program(program("busy"), "1", flags=FLAGS)
        facts = self.summary(program("busy"), "jprof-log")
        self.assertEqual(facts["stack"], "auto")
        hits, misses = int(facts["rule_hits"]), int(facts["rule_misses"])
        self.assertEqual(hits + misses, sum(
            len(s[5]) for s in self.run_of().samples))
        self.assertGreater(misses, 0)
        self.assertGreater(float(facts["rule_hit_rate"]), 0.8)

    def test_node(self):
        with open(self.path("work.js"), "w", encoding="utf-8") as script:
            script.write(JAVASCRIPT)
        self.reached(2, need("node"), "--perf-basic-prof",
                     self.path("work.js"))

    def test_python(self):
        self.reached(1, os.path.realpath("/usr/bin/python3")
                     if os.path.exists("/usr/bin/python3")
                     else need("python3"), "-c", SCRIPT % 100)

    def test_xz(self):
        with open(self.path("random"), "wb") as data:
            data.write(os.urandom(6 << 20))
        self.reached(2, need("xz"), "-T2", "-k", self.path("random"))

    def test_gcc(self):
        with open(self.path("many.c"), "w", encoding="utf-8") as source:
            for i in range(600):
                source.write("int f%d(int a) { int s = 0; for (int i = 0; "
                             "i < a; i++) { s += i * %d ^ s >> 3; if (s %% 7"
                             " == %d) s -= a; } return s; }\n"
                             % (i, i, i % 7))
        self.reached(3, need("gcc"), "-O2", "-c", self.path("many.c"),
                     "-o", self.path("many.o"))

    def test_modules_that_come_and_go(self):
        """While other threads allocate: no crash, no hang, samples in all
        of them.  A sample between two loads may have an unknown caller, and
        threads that a busy machine lets wait are sampled seldom."""
        done = self.run_program(
            program("churn"), program("spinlib.so"), "3", "2",
            flags="JP_START JP_REALTIME JP_PERIOD=0.0002")
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertGreater(int(done.out.split()[1]), 200)
        run = self.run_of()
        self.assertGreater(len(run.samples), 500)
        good = sum(1 for s in run.samples if s[4] in COMPLETE)
        self.assertGreater(good, 0.97 * len(run.samples))

    def test_modules_that_go(self):
        """Rules of a library that was closed are not those of the next."""
        self.reached(3, program("dlopener"), program("spinlib.so"), "1",
                     samples=50)


if __name__ == "__main__":
    unittest.main()
