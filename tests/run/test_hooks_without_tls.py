# SPDX-License-Identifier: MIT
"""The stubs before the hooks: whoever comes there without thread-local memory
comes to the C library's function, as it called it, whether there is a profile
or not; and forks that the program makes in ways of its own.  Runs in: tests."""
import unittest

from jprun import LIBRARY, Case, program, weight_s
from versions import exports

PROFILE = "JP_START JP_PERIOD=0.001"
ASKED = "__asan_default_options"    # by AddressSanitizer; no stub, as it
                                    # leads to no function of the C library


class Strangers(Case):
    def call_all(self, flags, preload, *how):
        # Each by name, and each version of the library's.
        stubs = [symbol for symbol in exports(LIBRARY)
                 if not symbol.startswith("jprof_") and symbol != ASKED]
        called = {symbol.split("@")[0] for symbol in stubs}
        if preload:
            called.update(symbol.replace("@@", "@") for symbol in stubs)
        with open(self.path("names"), "w", encoding="utf-8") as names:
            names.write("\n".join(sorted(called)))
        with open(self.path("names"), "rb") as names:
            done = self.run_program(program("strangers"), *how, flags=flags,
                                    preload=preload, stdin=names)
        self.assertEqual((done.status, done.out, done.err),
                         (0, "calls %d\n" % len(called), ""), how)

    def ways(self, who):
        for pointer in ("none", "zeros", "closed", "stale"):
            for flags, preload in ((None, False), (None, LIBRARY),
                                   (PROFILE, LIBRARY),
                                   (PROFILE + " JP_REALTIME", LIBRARY)):
                with self.subTest(pointer=pointer, flags=flags):
                    self.call_all(flags, preload, who, pointer)

    def test_processes(self):
        self.ways("process")

    def test_threads(self):
        self.ways("thread")

    def test_pointer_of_its_own(self):
        """What its timer says meanwhile is lost, and counted as that."""
        done = self.run_program(program("ownpointer"), "0.3",
                                flags="JP_START JP_PERIOD=0.004")
        if done.status == 77:
            self.skipTest("another kind of machine")
        self.assertEqual((done.status, done.err), (0, ""))
        cpu = float(done.out.split()[1])
        run = self.run_of()
        counters = run.header["counters"]
        # Beside others, several periods end in one signal.
        self.assertGreater(counters[0], 0)
        self.assertEqual(sum(counters[1:7]), 0)
        self.assertLess(abs(counters[7] / 1e9 - cpu), 0.1 * cpu + 0.02)
        self.assertLess(abs(weight_s(run) - 0.3), 0.06)

    def test_root_is_changed_by_one(self):
        """As Chromium's sandbox does; the parent's log goes on."""
        plain = self.run_program(program("nothread"), preload=False)
        self.assertEqual((plain.status, plain.out, plain.err),
                         (5, "status 0, inside\n", ""))
        idle = self.run_program(program("nothread"), flags=None)
        self.assertEqual((idle.status, idle.out, idle.err),
                         (plain.status, plain.out, plain.err))
        done = self.run_program(program("nothread"))
        self.assertEqual((done.status, done.out, done.err),
                         (plain.status, plain.out, plain.err))
        self.assertLess(abs(weight_s(self.run_of()) - 0.8), 0.16)
        seen = {name: sum(weight for stack, weight in self.collapsed(
            program("nothread"), "jprof-log") if name in stack)
                for name in ("outside", "inside")}
        self.assertGreater(min(seen.values()), 70, seen)


class Forks(Case):
    """Handlers that the program kept and calls by itself."""

    def check(self, *orders):
        argv = [program("redoer"), " ".join(orders), "0.4"]
        done = self.run_program(*argv)
        self.assertEqual((done.status, done.err), (0, ""))
        lines = done.out.splitlines()
        self.assertEqual(lines[0], "handlers 1")
        self.assertEqual(len(lines), len(orders) + 1)
        runs = {run.header["pid"]: run for run in self.all_runs()}
        for order, line in zip(orders, lines[1:]):
            _, pid, status = line.split()
            self.assertEqual(status, "0", order)
            run = runs[int(pid)]
            self.assertEqual(run.damage, [], order)
            self.assertEqual(sum(run.header["counters"][:7]), 0, order)
            self.assertLess(abs(weight_s(run) - 0.4), 0.08, order)
            self.assertEqual({s[1] for s in run.samples}, {int(pid)}, order)
        self.assertLess(abs(weight_s(runs[done.pid]) - 0.4), 0.08)

    def test_around_clone(self):
        """Only the child's; all, in order; twice; one in the other."""
        self.check("()C", "B()PC", "BB()PPCC", "B()", "()PC", "()CCC")

    def test_around_a_system_call_of_its_own(self):
        """There no hook helps: the handlers alone, or without the first."""
        self.check("B[]PC", "[]C", "BB[]PPCC", "[]CC")

    def test_where_nothing_was_forked(self):
        """Called for nothing, they do nothing."""
        self.check("BP()C", "C()C", "P()C", "BPBPCC()CPC")


if __name__ == "__main__":
    unittest.main()
