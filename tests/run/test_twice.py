# SPDX-License-Identifier: MIT
"""Each stack is walked twice, with the memory of the walk before and without
(tests/twice): both give the same, and no memory leads away from the root.
`make check-twice` runs this until JP_TWICE=10000000 stacks have been walked.
Runs in: tests."""
import glob
import os
import platform
import struct
import unittest

from jprun import BUILD, Case, need, program

ENOUGH = int(os.environ.get("JP_TWICE", "100000"))
LONG = "JP_TWICE" in os.environ
SECONDS = "2" if LONG else "0.4"
LIBRARY = os.path.join(BUILD, "tests", "twice", "twice.so")
# (flags, instructions that are stepped through from each sample on).  A step
# takes up to 20 us on a virtual machine: a program goes on if all steps of a
# sample take less than a period.
WAYS = (("JP_START JP_PERIOD=0.02", 400),
        ("JP_START JP_PERIOD=0.0002", 0),
        ("JP_START JP_REALTIME JP_PERIOD=0.02", 400),
        ("JP_START JP_PERIOD=0.1", 2000),
        ("JP_START JP_PERIOD=0.02 JP_STACK=fp", 400))
# While a JIT compiler gets its first memory, often.
BEGINNING = ("JP_START JP_PERIOD=0.0001", 0)
BEGINNINGS = 200 if LONG else 12
LIBRARIES = (program("swap_a.so"), program("swap_b.so"))
TOTALS = ("walks", "differ", "moved", "bad_trails", "on_trail", "roots",
          "frames", "spare")
SHOWN = "<4Q8I"     # struct shown
PYTHON = """
import json, re, time
end = time.time() + %s
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
while time.time() < end:
    json.loads(json.dumps({str(k): k for k in range(50)}))
    re.findall("(a|b)+c", "abab" * 20)
    sorted(range(100), key=lambda x: -x)
    fib(8)
    try:
        int("x")
    except ValueError:
        pass
"""
PERL = """
use Time::HiRes qw(time);
my $end = time() + %s;
sub fib { my $n = shift; return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
while (time() < $end) {
    fib(8);
    my @list = sort { $b <=> $a } 1 .. 100;
    my $text = join(",", @list);
    $text =~ s/(\\d+)/x$1/g;
    eval { die "x"; };
}
"""
JAVASCRIPT = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
const end = Date.now() + 1000 * %s;
while (Date.now() < end) {
    fib(9);
    const list = [];
    for (let i = 0; i < 100; i++)
        list.push({a: i, b: 'x' + i});
    list.sort((p, q) => q.a - p.a);
    JSON.parse(JSON.stringify(list));
    'abc'.replace(/b/g, x => x + list.length);
    new Function('return ' + list.length)();
    try { null.f(); } catch (e) { list.push(e.stack); }
}
"""


@unittest.skipIf(platform.machine() != "x86_64", "steps by x86's trap flag")
class Twice(Case):
    def setUp(self):
        super().setUp()
        self.totals = dict.fromkeys(TOTALS, 0)
        self.shown = []

    def environment(self, flags, preload, extra):
        env = super().environment(flags, preload, extra)
        env.pop("JP_TWICE", None)
        return env

    def script(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as out:
            out.write(text % SECONDS)
        return self.path(name)

    def collect(self):
        for path in glob.glob(self.path("twice.*")):
            with open(path, "rb") as source:
                data = source.read()
            head = struct.unpack_from("<8Q", data)
            for name, value in zip(TOTALS, head):
                self.totals[name] += value
            size = struct.calcsize(SHOWN)
            self.shown += [struct.unpack_from(SHOWN, data, 64 + i * size)
                           for i in range(min(head[1], 64))]
        for path in glob.glob(self.path("*")):
            if os.path.basename(path).startswith(("twice.", "jprof-")):
                os.unlink(path)

    def run_once(self, argv, flags, steps):
        done = self.run_program(*argv, flags=flags, preload=LIBRARY,
                                env={"TWICE_OUT": self.path("twice"),
                                     "TWICE_STEPS": str(steps)})
        self.assertEqual(done.status, 0, done.err)
        self.collect()

    def walk(self, *argv, ways=WAYS, trailing=0.8):
        """Runs a program in all these ways, as often as it takes."""
        self.assertTrue(os.path.exists(LIBRARY))
        while True:
            before = self.totals["walks"]
            for flags, steps in ways:
                self.run_once(argv, flags, steps)
            self.assertGreater(self.totals["walks"], before)
            if self.totals["walks"] >= ENOUGH / 10:
                break
        self.judge(argv, trailing)

    def judge(self, argv, trailing=0.8):
        print(os.path.basename(argv[0]), self.totals)
        self.assertEqual(self.totals["differ"], 0,
                         [list(map(hex, line)) for line in self.shown])
        self.assertEqual(self.totals["bad_trails"], 0)
        # The memory was there to be wrong, and the map seldom in the way.
        self.assertGreaterEqual(self.totals["on_trail"],
                                trailing * self.totals["walks"])
        self.assertLess(self.totals["moved"], 0.1 * self.totals["walks"])

    def oracle(self, name):
        self.walk(os.path.join(BUILD, "tests", "oracle", name), SECONDS)

    def test_signals_jumps_alternate_stacks(self):
        self.oracle("shapes-O2nofp")

    def test_with_frame_pointers(self):
        self.oracle("shapes-O2")

    def test_exceptions(self):
        self.oracle("shapes_cc-O2nofp")

    def test_without_optimization(self):
        self.oracle("shapes_cc-O0")

    def test_exceptions_in_threads(self):
        self.walk(program("throws"), "3", SECONDS)

    def test_libraries_come_and_go(self):
        self.walk(program("storm"), *LIBRARIES, "2000" if LONG else "300")

    def test_fibers(self):
        self.walk(program("fibers"), "all", SECONDS, ways=WAYS[:-1])

    def test_fibers_by_frame_pointers(self):
        """By frame pointers, only the fiber on the thread's own stack leaves
        a memory: until a sample meets it there is nothing to go along."""
        self.walk(program("fibers"), "all", SECONDS, ways=WAYS[-1:],
                  trailing=0)

    def test_a_fiber_by_frame_pointers(self):
        self.walk(program("fibers"), "local", SECONDS, ways=WAYS[-1:])

    def test_python(self):
        python = "/usr/bin/python3"
        self.walk(python if os.path.exists(python) else need("python3"),
                  self.script("work.py", PYTHON))

    def test_perl(self):
        self.walk(need("perl"), self.script("work.pl", PERL))

    def test_node(self):
        self.walk(need("node"), self.script("work.js", JAVASCRIPT))

    def test_node_begins(self):
        """The first walks that come into new memory for JIT code know as much
        of it as the next ones."""
        argv = (need("node"), "-e", "0")
        for _ in range(BEGINNINGS):
            self.run_once(argv, *BEGINNING)
        self.judge(argv)


if __name__ == "__main__":
    unittest.main()
