# SPDX-License-Identifier: MIT
"""The code that an annotation shows is the code that ran, byte by byte: while
the program waits, the memory of its compiler is read from outside.

Runs in: tests."""
import bisect
import collections
import os
import subprocess
import time
import unittest

from jprun import BUILD, HANG_SECONDS, LIBRARY, ROOT, Case, need

PROGRAM = os.path.join(ROOT, "tests", "programs", "rounds.js")
CODES = os.path.join(BUILD, "tests", "tools", "codes")
# Between looks at code: INTERVAL_NS of preload/sig/jit/jit.c.
LOOK_NS = 100000000
NATIVE = "--interpreted-frames-native-stack"

Piece = collections.namedtuple("Piece", "start end until name")


def read_code(pid):
    """[(address, bytes)] of the process's executable memory without files."""
    areas = []
    with open("/proc/%d/maps" % pid, encoding="utf-8") as lines, \
            open("/proc/%d/mem" % pid, "rb", 0) as memory:
        for line in lines:
            fields = line.split()
            if "x" not in fields[1] or len(fields) > 5:
                continue
            start, end = (int(word, 16) for word in fields[0].split("-"))
            memory.seek(start)
            areas.append((start, memory.read(end - start)))
    return areas


def is_moved(code, there):
    """Whether two copies differ in nothing but where objects are, which V8
    writes anew into an instruction (mov reg, imm64: REX.W, b8 to bf) when its
    collector has moved one.  Pointers to objects are odd
    (src/include/v8-internal.h: kHeapObjectTag)."""
    def is_pointer(start):
        return (start >= 2 and code[start - 2] in (0x48, 0x49) and
                0xb8 <= code[start - 1] <= 0xbf and
                code[start] & there[start] & 1)
    if len(code) != len(there):
        return False
    different = [at for at in range(len(code)) if code[at] != there[at]]
    return bool(different) and all(
        any(is_pointer(start) for start in range(at - 7, at + 1))
        for at in different)


def bytes_at(areas, piece):
    for start, data in areas:
        if start <= piece.start < start + len(data):
            return data[piece.start - start:piece.end - start]
    return None


def pieces_of(log):
    """{Piece: (bytes or None, times of its samples)}"""
    text = subprocess.run([CODES, log], stdout=subprocess.PIPE, text=True,
                          check=True, timeout=HANG_SECONDS).stdout
    found = {}
    for line in text.splitlines():
        when, _, start, end, until, _, code, name = line.split(" ", 7)
        piece = Piece(int(start, 16), int(end, 16), int(until), name)
        if code != "=":
            found[piece] = (None if code == "-" else bytes.fromhex(code), [])
        found[piece][1].append(int(when))
    return found


class Bytes(Case):
    def run_rounds(self, *options):
        """Runs the program; [(time, its code)] at the ends of its rounds."""
        env = self.environment("JP_START JP_PERIOD=0.001", LIBRARY, {})
        seen = []
        with subprocess.Popen(
                [need("node"), "--expose-gc", *options, PROGRAM, "0.3", "6"],
                cwd=self.dir, env=env, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE) as child:
            while child.stdout.readline():
                seen.append((time.clock_gettime_ns(time.CLOCK_MONOTONIC),
                             read_code(child.pid)))
                child.stdin.write(b"\n")
                child.stdin.flush()
        self.assertEqual(child.returncode, 0)
        return seen

    def check(self, *options):
        seen = self.run_rounds(*options)
        ends = [when for when, _ in seen]
        same, kept, samples = 0, 0, 0
        for piece, (code, times) in pieces_of(self.path("jprof-log")).items():
            at = bisect.bisect(ends, times[-1])
            there = bytes_at(seen[at][1], piece) if at < len(seen) else None
            # Gone, or ended within the round: nobody can tell any more.
            if there is None or piece.until < ends[at]:
                continue
            # Its objects were moved after its last sample: the same.
            if code is not None and is_moved(code, there[:len(code)]):
                continue
            whole = code is not None and len(code) == len(there)
            # Compiled late in the round, as where the compiler's thread waits
            # for a CPU: it may be gone before the next look.
            if not whole and ends[at] - times[0] < 2 * LOOK_NS:
                continue
            samples += len(times)
            if code is None:
                continue
            self.assertEqual(code, there[:len(code)], (piece, len(times)))
            kept += len(times) if whole else 0
            same += 1
        self.assertGreater(same, 20)
        self.assertGreaterEqual(kept, 0.99 * samples)

    def test_dump(self):
        self.check("--perf-prof")

    def test_map(self):
        self.check("--perf-basic-prof")

    def test_map_with_native_stack(self):
        self.check("--perf-basic-prof", NATIVE)

    def test_both(self):
        self.check("--perf-prof", "--perf-basic-prof", NATIVE)


if __name__ == "__main__":
    unittest.main()
