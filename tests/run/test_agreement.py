# SPDX-License-Identifier: MIT
"""jprof-report and tests/tools/decode.py, which was written from
doc/FORMAT.md alone, read the same from real logs, and call it as nm and
readelf do.  Runs in: tests."""
import bisect
import collections
import os
import re
import shutil
import subprocess
import unittest

from jprun import REPORT, TICK_FLAGS, Case, agree, need, program

SCENES = (
    ("shares", ("4", "0.5"), TICK_FLAGS),
    ("shares", ("3", "0.5"), TICK_FLAGS + " JP_STACK=libunwind"),
    ("shares", ("2", "1"),
     "JP_START JP_REALTIME JP_PERIOD=0.0005 JP_CIRCULAR=40k"),
    ("shares", ("2", "0.5"), TICK_FLAGS + " JP_DEPTH=5"),
    ("threads_many", ("100", "0.02"), TICK_FLAGS),
    ("raise_prof", ("500",), TICK_FLAGS),
    ("jitter", ("0.5",), TICK_FLAGS),
)

# Its time is spent at the very start of a function, below one whose last
# instruction is a call, so that the return address is its end.
EDGES = """
#include <stdlib.h>
#include <time.h>
void spin(long a, long b, long c, unsigned long turns);
#if defined __x86_64__
__asm__(".text\\n.type spin,@function\\nspin: loop spin\\nret\\n"
        ".size spin,.-spin\\n");
#elif defined __aarch64__
__asm__(".text\\n.type spin,@function\\nspin: subs x3,x3,#1\\nb.ne spin\\n"
        "ret\\n.size spin,.-spin\\n");
#endif
__attribute__((noreturn, noinline)) static void burn(void)
{
    while (clock() < CLOCKS_PER_SEC)
        spin(0, 0, 0, 100000);
    exit(0);
}
__attribute__((noinline)) static void recurse(void)
{
    burn();
}
int main(void)
{
    recurse();
}
"""

# Index, Count and Hits of a function in the hierarchical text report.
ENTRY = re.compile(r"(?m)^ +\[\d+\] +(\d+) \( *[\d.]+%\) +(\d+) "
                   r"\( *[\d.]+%\)  (.*?)(?:  \((.*)\))?$")


def output_of(*argv):
    return subprocess.run(argv, check=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE).stdout.decode()


def functions_of(path):
    """[(start, end, name)] of a file's code as nm sees it, in order."""
    return sorted(
        (int(start, 16), int(start, 16) + int(size, 16), name)
        for start, size, kind, name in (
            line.split() for line in output_of(
                need("nm"), "-S", "--defined-only", path).splitlines()
            if len(line.split()) == 4)
        if kind in "tT")


def name_at(functions, address):
    at = bisect.bisect_right(functions, (address, float("inf"))) - 1
    if at >= 0 and address < functions[at][1]:
        return functions[at][2]
    return None


def biases_of(run, path):
    """[(start, end, bias)] of the program's mappings."""
    return [(int(keys["start"], 16), int(keys["end"], 16),
             int(keys["bias"], 16)) for _, keys in run.events("module")
            if os.path.realpath(keys["path"]) == os.path.realpath(path)]


class Agreement(Case):
    def compare(self, app, run):
        period = run.header["period_ns"]
        # The summary leaves `fibers` out where there are none.
        summary = {"fibers": "0", **self.summary(app, "jprof-log")}
        weight = sum(s[2] for s in run.samples)
        # A stack of the program's own making is whole (doc/FORMAT.md).
        reasons = collections.Counter(s[4] for s in run.samples)
        whole = reasons["root"] + reasons["fiber"]
        expected = {
            "samples": len(run.samples),
            "weight": (weight + period // 2) // period,
            "lost": run.lost(),
            "incomplete": len(run.samples) - whole,
            "fibers": reasons["fiber"],
            "truncated": reasons["depth"],
            "threads": len({s[1] for s in run.samples}),
            "sections": len(run.events("section")),
        }
        for key, value in expected.items():
            self.assertEqual(int(summary[key]), value, key)

    def compare_threads(self, app, run):
        counts = collections.Counter(s[1] for s in run.samples)
        for tid, count in counts.most_common(4):
            summary = self.summary(app, "--only-thread", str(tid),
                                   "jprof-log")
            self.assertEqual(int(summary["samples"]), count)

    def compare_depths(self, app, run):
        """Stacks have the depths that the decoder sees.  What a line rounds
        away, the next gets, which may be of another depth: a line is out by
        a period at most, and one of less than half of one is not shown."""
        depths = collections.Counter()
        for sample in run.samples:
            depths[len(sample[5])] += sample[2]
        got, lines = collections.Counter(), collections.Counter()
        for stack, weight in self.collapsed(app, "jprof-log"):
            got[len(stack)] += weight
            lines[len(stack)] += 1
        period = run.header["period_ns"]
        for depth, weight in depths.items():
            self.assertAlmostEqual(got[depth], weight / period,
                                   delta=lines[depth] + 1.01)

    def count_by_name(self, app, run):
        """{name: (Count, Hits)} of the program's functions, in periods."""
        functions, mappings = functions_of(app), biases_of(run, app)
        self.assertTrue(functions and mappings)
        counts, hits = collections.Counter(), collections.Counter()
        for sample in run.samples:
            names = []
            for index, address in enumerate(sample[5]):
                # A return address is behind the call that it belongs to.
                place = address - (index > 0)
                names += [name_at(functions, place - bias)
                          for start, end, bias in mappings
                          if start <= place < end] or [None]
            counts.update({name: sample[2] for name in names[:1]})
            hits.update({name: sample[2] for name in set(names)})
        period = run.header["period_ns"]
        return {name: tuple((value[name] + period // 2) // period
                            for value in (counts, hits))
                for name in hits if name is not None}

    def compare_names(self, app, run):
        known = {name for _, _, name in functions_of(app)}
        got = {name: (int(count), int(hits))
               for count, hits, name, module in ENTRY.findall(
                   self.report(app, "--no-inline", "--format=text",
                               "jprof-log"))
               if module == os.path.basename(app) and name in known}
        expected = self.count_by_name(app, run)
        self.assertIn("recurse", expected)
        self.assertEqual(got, expected)

    def test_scenes(self):
        for name, arguments, flags in SCENES:
            with self.subTest(name=name, flags=flags):
                app = program(name)
                done = self.run_program(app, *arguments, flags=flags)
                self.assertEqual(done.status, 0, done.err)
                run = self.run_of()
                self.assertGreater(len(run.samples), 20)
                self.compare(app, run)
                self.compare_threads(app, run)
                self.assertEqual(agree.agree(self.path("jprof-log"), REPORT),
                                 [])
                if name == "shares" and "DEPTH" not in flags:
                    self.compare_depths(app, run)
                    self.compare_names(app, run)

    def test_disagreement(self):
        """A nanosecond more, another frame or another thread is found."""
        done = self.run_program(program("shares"), "2", "0.5")
        self.assertEqual((done.status, done.err), (0, ""))
        path, run = self.path("jprof-log"), self.run_of()
        time, tid, weight, event, reason, stack = run.samples[0]
        for other in ((time, tid, weight + 1, event, reason, stack),
                      (time, tid + 1, weight, event, reason, stack),
                      (time, tid, weight, event, reason, stack[1:]),
                      (time, tid, weight, event, "depth", stack)):
            run.samples[0] = other
            self.assertNotEqual(agree.agree(path, REPORT, [run]), [], other)

    def test_edges_of_functions(self):
        app = self.path("edges")
        subprocess.run([need("cc"), "-x", "c", "-", "-o", app, "-O1",
                        "-fno-omit-frame-pointer", "-falign-functions=1"],
                       input=EDGES.encode(), check=True)
        done = self.run_program(app)
        self.assertEqual((done.status, done.err), (0, ""))
        run = self.run_of()
        (_, _, bias), = biases_of(run, app)
        frames = collections.Counter(
            (index, frame - bias) for sample in run.samples
            for index, frame in enumerate(sample[5][:3]))
        places = {name: (start, end)
                  for start, end, name in functions_of(app)}
        self.assertGreater(frames[0, places["spin"][0]], 20)
        # spin makes no frame: burn, which called it, is found by the call.
        self.assertGreater(frames[2, places["recurse"][1]], 20)
        self.compare_names(app, run)

    def test_functions_without_symbols(self):
        """They are told apart by their unwinding entries."""
        app = self.path("bare")
        shutil.copy(program("shares"), app)
        subprocess.run([need("strip"), app], check=True)
        done = self.run_program(app, "2", "1")
        self.assertEqual((done.status, done.err), (0, ""))
        starts = {int(start, 16) for start in re.findall(
            r"\bpc=([0-9a-f]+)\.\.", output_of(
                need("readelf"), "--debug-dump=frames", app))}
        weights = collections.Counter()
        for stack, weight in self.collapsed(app, "jprof-log"):
            weights[stack[-1]] += weight
        hot = {name: start for start, _, name in
               functions_of(program("shares")) if name.startswith("hot_")}
        self.assertLess(set(hot.values()), starts)
        total = sum(weights.values())
        for name, share in (("hot_a", 0.5), ("hot_b", 0.3), ("hot_c", 0.2)):
            weight = weights["bare+0x%x" % hot[name]]
            self.assertAlmostEqual(weight / total, share, delta=0.15)


if __name__ == "__main__":
    unittest.main()
