# SPDX-License-Identifier: MIT
"""Frames of CPython's functions, in each version that is here: beside
sys._getframe at a raised signal, and at any instant.  Runs in: tests."""
import collections
import glob
import os
import re
import subprocess
import unittest

from jprun import Case, decode, lacking

# Writes the true stack of each raised SIGPROF to the file that argv names.
TRUTH = r'''
import ctypes, functools, re, sys, threading
libc = ctypes.CDLL(None)
throw = libc["raise"]
throw.argtypes = [ctypes.c_int]
out = open(sys.argv[1], "w", encoding="utf-8")
lock = threading.Lock()
SIGPROF = 27

def show():
    with lock:
        throw(SIGPROF); here = sys._getframe(0).f_lineno
        frame, rows = sys._getframe(0), []
        while frame is not None:
            code = frame.f_code
            rows.append("\t".join((
                getattr(code, "co_qualname", code.co_name), code.co_filename,
                str(frame.f_lineno if rows else here),
                str(code.co_firstlineno))))
            frame = frame.f_back
        out.write("\n".join(rows) + "\n\n")

def down(n):
    if n == 0:
        return show()
    return down(n - 1)

class Methods:
    def sort(self):
        return sorted([1, 2], key=lambda v: (down(2), v)[1])

    def __lt__(self, other):
        show()
        return True

    def __getattr__(self, name):
        show()
        return 5

    @property
    def value(self):
        return down(1)

class Made:
    def __init__(self):
        down(1)

def numbers(n):
    for i in range(n):
        show()
        yield i

def nested():
    yield from numbers(2)
    yield from (down(i) for i in range(2))

async def waits(n):
    if n:
        return await waits(n - 1)
    show()

def passes(function):
    @functools.wraps(function)
    def wrapper(*args, **words):
        return function(
            *args,
            **words)
    return wrapper

@passes
@passes
def decorated():
    down(1)

def ünï_中():
    show()

COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)

def compare(a, b):
    show()
    return 0

class Steps:
    n = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.n += 1
        if self.n > 2:
            raise StopIteration
        down(1)
        return self.n

def everything():
    down(0)
    down(5)
    Methods().sort()
    sorted([Methods(), Methods()])
    Methods().missing
    Methods().value
    Made()
    list(nested())
    list(map(down, [1, 2]))
    decorated()
    ünï_中()
    try:
        waits(4).send(None)
    except StopIteration:
        pass
    re.sub("x", lambda m: (show(), "y")[1], "axbx")
    array = (ctypes.c_int * 3)(3, 2, 1)
    libc.qsort(array, 3, 4, COMPARE(compare))
    exec("def made():\n\n  down(1)\nmade()\n[down(0) for _ in range(2)]")
    class Inside:
        down(1)
    {k: down(0) for k in (1,)}
    eval("down(1)")
    functools.reduce(lambda x, y: down(1), [1, 2, 3])
    try:
        raise ValueError
    except ValueError:
        down(1)
    for _ in Steps():
        pass
    down(300)

everything()
threads = [threading.Thread(target=everything) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
out.close()
'''

# Calls that exist are those of CALLS: two sets of functions never cross.
EDGES = '''
import sys, time
def left_leaf(x): return x + 1
def left_two(x): return left_leaf(x) + left_leaf(x + 1)
def left_one(x): return left_two(x) + left_two(x)
def right_leaf(x): return x * 3
def right_numbers(n):
    for i in range(n):
        yield right_leaf(i)
def right_one():
    total = 0
    for v in right_numbers(20): total += v
    return total
def sort_key(v): return right_leaf(-v)
def right_sort(): return sorted(range(20), key=sort_key)
def again(n): return 0 if n == 0 else again(n - 1) + 1
def fail(): raise ValueError
def catch():
    try: fail()
    except ValueError: pass
def main():
    count, end = 0, time.time() + float(sys.argv[1])
    while time.time() < end:
        left_one(1); right_one(); right_sort(); again(50); catch()
        count += 1
        exec("def fresh_%d(x):\\n for i in range(30): left_leaf(i)\\n"
             "fresh_%d(1)" % (count % 500, count % 500),
             {"left_leaf": left_leaf})
main()
'''
LOOP = """
def hot_loop():
    total = 0
    for i in range(10000000):
        total = (total * 3 + i) % 65521
    return total
hot_loop()
"""
CALLS = {
    ("left_leaf", "left_two"), ("left_two", "left_one"), ("left_one", "main"),
    ("right_leaf", "right_numbers"), ("right_numbers", "right_one"),
    ("right_one", "main"), ("right_leaf", "sort_key"),
    ("sort_key", "right_sort"), ("right_sort", "main"), ("again", "again"),
    ("again", "main"), ("fail", "catch"), ("catch", "main"),
    ("left_leaf", "fresh"), ("fresh", "<module>"), ("<module>", "main"),
    ("main", "<module>")}


def pythons():
    """{(major, minor, ...): path} of the interpreters that are here."""
    found = {}
    home = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    for path in sorted(glob.glob("/usr/bin/python3.*") +
                       glob.glob(os.path.join(home, "versions/*/bin/python3"))):
        if not re.search(r"/python3(\.\d+)?$", path):
            continue
        text = subprocess.run(
            [path, "-c", "import sys; print(*sys.version_info[:3])"],
            stdout=subprocess.PIPE, text=True).stdout.split()
        if len(text) == 3:
            found[tuple(map(int, text)), path] = path
    return {key[0]: path for key, path in found.items()}


def known():
    """Those whose structures jprof knows."""
    return {version: path for version, path in pythons().items()
            if (3, 8) <= version[:2] <= (3, 13)}


class ScriptFrames(Case):
    def log(self, python):
        return self.path("log" + python.replace("/", "-"))

    def profile(self, python, source, *args, flags="JP_START JP_PERIOD=0.02 JP_DEPTH=4096"):
        """The single run of a script."""
        script = self.path("script.py")
        with open(script, "w", encoding="utf-8") as out:
            out.write(source)
        if os.path.exists(self.log(python)):
            os.unlink(self.log(python))
        done = self.run_program(
            python, script, *args,
            flags="%s JP_FILENAME=%s" % (flags, self.log(python)))
        self.assertEqual((done.status, done.err), (0, ""))
        return self.run_of(self.log(python))

    def each(self):
        found = known()
        if not found:
            raise lacking("CPython 3.8 to 3.13")
        return sorted(found.items())

    def true_stacks(self, python, flags="JP_START JP_PERIOD=0.02 JP_DEPTH=4096",
                    source=TRUTH):
        truth = self.path("truth" + python.replace("/", "-"))
        run = self.profile(python, source, truth, flags=flags)
        functions = decode.scripts(run)
        got = [decode.script_frames(sample[5], functions)
               for sample in sorted(run.samples) if sample[3] == "raised"]
        with open(truth, encoding="utf-8") as file:
            stacks = file.read().split("\n\n")[:-1]
        expected = []
        for stack in stacks:
            rows = [row.split("\t") for row in stack.split("\n")]
            expected.append([(name, file, int(line), int(first))
                             for name, file, line, first in rows])
        return expected, got, run

    def check_truth(self, expected, got):
        self.assertGreater(len(expected), 150)
        self.assertEqual(len(got), len(expected))
        for one, other in zip(got, expected):
            self.assertEqual(one, other)

    def test_beside_getframe(self):
        """Name, file, line and first line of each frame, 0 different."""
        for version, python in self.each():
            with self.subTest(version=version):
                expected, got, _ = self.true_stacks(python)
                self.check_truth(expected, got)

    def test_program_with_own_fault_handler(self):
        """faulthandler has SIGSEGV: memory is read by checked copies."""
        for version, python in self.each():
            with self.subTest(version=version):
                expected, got, _ = self.true_stacks(
                    python, source="import faulthandler\nfaulthandler.enable()\n"
                    + TRUTH)
                self.check_truth(expected, got)

    def test_any_instant(self):
        """No call that the program does not have, and hardly a stack that
        ends early."""
        for version, python in self.each():
            with self.subTest(version=version):
                run = self.profile(python, EDGES, "2",
                                   flags="JP_START JP_PERIOD=0.0005")
                functions = decode.scripts(run)
                wrong, samples, cut = collections.Counter(), 0, 0
                for sample in run.samples:
                    rows = [row for row in decode.script_frames(sample[5],
                                                                functions)
                            if row[1].endswith(("/script.py", "<string>"))]
                    if not any(row[1] != "<string>" for row in rows):
                        continue    # before the script and behind it
                    names = [re.sub(r"^fresh_\d+$", "fresh", row[0])
                             for row in rows]
                    samples += 1
                    cut += names[-1] != "<module>"
                    wrong.update((callee, caller) for callee, caller in
                                 zip(names, names[1:])
                                 if (callee, caller) not in CALLS)
                self.assertGreater(samples, 500)
                self.assertEqual(dict(wrong), {})
                self.assertLess(cut, samples / 100)

    def test_each_below_its_native_frame(self):
        """A group of script frames stands before the interpreter's code that
        runs it: the function that the report folds into it."""
        for version, python in self.each():
            with self.subTest(version=version):
                _, _, run = self.true_stacks(python)
                runners = collections.Counter()
                for sample in run.samples:
                    tags = [frame >> 48 for frame in sample[5]]
                    for place, tag in enumerate(tags):
                        if tag == decode.SCRIPT:
                            runners.update(tags[place + 1:place + 2])
                placed = runners[decode.SCRIPT] + runners[decode.RUNNER]
                self.assertGreater(placed, 1000)
                self.assertLess(sum(runners.values()) - placed, placed / 100)

    def test_report(self):
        """The interpreter's function folds into the script's."""
        if not known():
            raise lacking("CPython 3.8 to 3.13")
        python = sorted(known().items())[-1][1]
        self.profile(python, EDGES, "1", flags="JP_START JP_PERIOD=0.002")
        log = self.log(python)
        folded = self.report(log, "--format=collapsed")
        shown = self.report(log, "--format=collapsed", "--interpreter-frames")
        self.assertIn(";<module>;main;again;again;again", folded)
        self.assertNotIn("EvalFrameDefault;<module>;main;again", folded)
        self.assertIn("_PyEval_EvalFrameDefault;<module>;main;again", shown)

    def test_lines_of_a_function(self):
        """--annotate lists the source with the weight of its lines."""
        if not known():
            raise lacking("CPython 3.8 to 3.13")
        python = sorted(known().items())[-1][1]
        self.profile(python, LOOP, flags="JP_START JP_PERIOD=0.002")
        text = self.report(self.log(python), "--annotate=hot_loop")
        self.assertRegex(text, r"(?m)^hot_loop: .*/script\.py$")
        weights = {int(line): int(count) for count, line in re.findall(
            r"(?m)^ +(\d+) +[\d.]+% +\d+ +(\d+)  ", text)}
        self.assertGreater(weights[5], 0.5 * sum(weights.values()))
        self.assertEqual(set(weights) - {3, 4, 5}, set())
        self.assertIn("total = (total * 3 + i) % 65521", text)
        self.assertNotIn("Address  Instruction", text)


if __name__ == "__main__":
    unittest.main()
