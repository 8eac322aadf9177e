# SPDX-License-Identifier: MIT
"""The parts of a report, whatever they are parts by, add up to the whole, to
the nanosecond in every stack; and the whole is what was written.

Runs in: tests."""
import collections
import random
import unittest

from jprun import REPORT, Case, agree, decode
import pack

EVENTS = tuple(pack.EVENTS)
THREADS = (11, 12, 13, 14)
SECTIONS = 4
SECTION_NS = 1000000
SAMPLES = 4000
CHUNK_SAMPLES = 400
ADDRESSES = range(0x10000, 0x10000 + 64 * 16, 16)


def draw_stacks(random_, count):
    """[(frames, gap)], in some of which frames were left out."""
    stacks = []
    for _ in range(count):
        depth = random_.randint(1, 30)
        stacks.append((tuple(random_.choice(ADDRESSES)
                             for _ in range(depth)),
                       random_.choice((0, 0, 0, random_.randint(1, depth)))))
    return stacks


class Sums(Case):
    def write(self, seed):
        """A log of random samples; returns {path: ns} of what is in it."""
        random_ = random.Random(seed)
        stacks = draw_stacks(random_, 60)
        truth = collections.Counter()
        lines = ["header pid=7 start=9 map=%s period=1 clock=2" % agree.MAP]
        for number in range(SAMPLES):
            if number % CHUNK_SAMPLES == 0:
                lines.append("chunk size=65536 pid=7 tid=11")
                lines += ["stack id=s%d frames=%s gap=%d" % (
                    index, ",".join(map(hex, frames)), gap)
                          for index, (frames, gap) in enumerate(stacks)]
            index = random_.randrange(-1, len(stacks))
            weight = random_.randrange(1, 1 << random_.randrange(1, 40))
            lines.append("sample time=%d tid=%d weight=%d event=%s %s" % (
                random_.randrange(SECTIONS * SECTION_NS),
                random_.choice(THREADS), weight, random_.choice(EVENTS),
                "stack=s%d" % index if index >= 0 else "reason=no_stack"))
            frames, gap = stacks[index] if index >= 0 else ((), 0)
            truth[agree.path_of(gap, frames)] += weight
        with open(self.path("jprof-log"), "wb") as target:
            target.write(pack.pack("\n".join(lines)))
        agree.write_map(decode.load(self.path("jprof-log")), self.dir)
        with open(self.path(agree.MAP), "a", encoding="ascii") as target:
            for section in range(SECTIONS):
                target.write("%d section n=%d cpu=0\n" % (
                    max(section * SECTION_NS, 1), section))
        return truth

    def stacks(self, *options, titled=False):
        """{path: ns} of a report; titled: lines begin with a thread."""
        sums = collections.Counter()
        for line in agree.output_of(REPORT, "collapsed",
                                    self.path("jprof-log"), *options):
            path, weight = line.rsplit(" ", 1)
            sums[path.split(";", 1)[1] if titled else path] += int(weight)
        return sums

    def check_parts(self, whole, options):
        parts = sum((self.stacks(*option) for option in options),
                    collections.Counter())
        self.assertEqual(parts, whole, options)

    def check_names(self, whole):
        """With a function and without it: -i and -e."""
        for address in ADDRESSES[::16]:
            name = "a%x" % address
            if any(name in path.split(";") for path in whole):
                self.check_parts(whole, (("-i", name), ("-e", name)))

    def test_sums(self):
        for seed in range(3):
            with self.subTest(seed=seed):
                whole = self.write(seed)
                self.assertEqual(self.stacks(), whole)
                self.assertEqual(self.stacks("-t", titled=True), whole)
                self.assertEqual(
                    sum((self.stacks("--only-thread", str(tid), titled=True)
                         for tid in THREADS), collections.Counter()), whole)
                self.check_parts(whole, [("--event=" + event,)
                                         for event in EVENTS])
                self.check_parts(whole, [("--event=cpu,blocked",),
                                         ("--event=running,raised,ready",)])
                self.check_parts(whole, [
                    ("--start=%d" % n, "--end=%d" % (n + 1))
                    for n in range(SECTIONS)])
                self.check_names(whole)
                self.assertEqual(
                    agree.agree(self.path("jprof-log"), REPORT), [])


if __name__ == "__main__":
    unittest.main()
