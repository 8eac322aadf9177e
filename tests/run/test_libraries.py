# SPDX-License-Identifier: MIT
"""Libraries that come to the addresses which another has left: samples go to
the one that was there at the time.  Runs in: tests."""
import os
import re
import shutil
import time
import unittest

from jprun import Case, program

TIMES = 10000


class Twins(Case):
    def check(self, *more):
        done = self.run_program(
            program("twins"), program("twin_a.so"), program("twin_b.so"),
            str(TIMES), flags="JP_DEFER JP_PERIOD=0.001" + "".join(more))
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertGreater(int(done.out.split()[1]), TIMES // 2)
        seen = {"a": 0, "b": 0}
        for stack, weight in self.collapsed(program("twins"), "jprof-log"):
            calls = [frame for frame in stack if frame in ("in_a", "in_b")]
            twins = [frame for frame in stack
                     if re.fullmatch(r"twin_[ab]\d+", frame)]
            if not calls:
                continue
            letter = calls[0][-1]
            self.assertTrue(all(name[5] == letter for name in twins), stack)
            if twins:
                seen[letter] += weight
        # One a loading; the timer adds some.
        for letter in "ab":
            self.assertGreaterEqual(seen[letter], TIMES // 2, seen)
            self.assertLess(seen[letter], TIMES * 0.75, seen)
        self.assertEqual(sum(self.run_of().header["counters"][:7]), 0)

    def test_ten_thousand_by_turns(self):
        self.check()

    def test_by_call_frame_information(self):
        self.check(" JP_STACK=cfi")


class Unchanged(Case):
    """Where the kernel tells about single mappings (Linux 6.11), all of them
    are read again only when mappings of files came or went, and each ten
    seconds (preload/sig/maps.c); elsewhere each second."""
    SCANS = 11   # JP_COUNT_MAPS_SCANS

    def test_few_scans(self):
        begun = time.monotonic()
        self.busy(3.2, flags="JP_START JP_PERIOD=0.01")
        # Of real time: beside other work 3.2 seconds of CPU take many.
        passed = time.monotonic() - begun
        release = [int(n) for n in os.uname().release.split(".", 2)[:2]]
        scans = self.run_of().header["counters"][self.SCANS]
        self.assertGreater(scans, 0)
        self.assertLessEqual(scans, 2 + passed / (
            10 if release >= [6, 11] else 1))


class Gconv(Case):
    """The C library's own modules: iconv_close unmaps them past dlclose."""
    SETS = ["ISO-8859-%d" % n for n in (2, 3, 4, 5, 6, 7, 9, 13)]

    @staticmethod
    def mappings(run):
        """[start, end, path, from, until], by the rules of FORMAT.md: lines
        of one time count in their order."""
        found = []
        for time, event, keys in sorted(run.map, key=lambda line: line[0]):
            if event not in ("module", "unmap"):
                continue
            start, end = int(keys["start"], 16), int(keys["end"], 16)
            for old in found:
                if old[4] is None and old[0] < end and start < old[1]:
                    old[4] = time
            if event == "module":
                found.append([start, end, keys["path"], time, None])
        return found

    @staticmethod
    def look_up(mappings, address, time):
        later = None
        for start, end, path, since, until in mappings:
            if not start <= address < end:
                continue
            if since <= time and (until is None or time < until):
                return path
            if since > time and later is None:
                later = path
        return later or ""

    def test_samples_go_to_the_right_one(self):
        done = self.run_program(
            program("twins"), "gconv", "40000", *self.SETS,
            flags="JP_START JP_REALTIME JP_PERIOD=0.0002")
        self.assertEqual((done.status, done.err), (0, ""))
        run = self.run_of()
        mappings = self.mappings(run)
        places = {m[0] for m in mappings if "ISO8859" in m[2]}
        self.assertGreater(
            sum("ISO8859" in m[2] for m in mappings), 4 * len(places),
            "the modules were to come and go")
        spans = [line.split() for line in done.out.splitlines()]
        samples = sorted(run.samples)
        at = right = wrong = 0
        for start, end, name in spans:
            while at < len(samples) and samples[at][0] < int(start):
                at += 1
            while at < len(samples) and samples[at][0] < int(end):
                for address in samples[at][5]:
                    path = self.look_up(mappings, address, samples[at][0])
                    if "ISO8859" in path:
                        if name.replace("O-", "O") + ".so" in path:
                            right += 1
                        else:
                            wrong += 1
                at += 1
        self.assertGreater(right, 500)
        self.assertEqual(wrong, 0)


class NameServices(Case):
    """Modules that the C library loads by itself at the first look-up."""

    def setUp(self):
        super().setUp()
        self.modules = self.path("modules")
        os.mkdir(self.modules)

    def put(self, letter, name=None):
        """Puts a module into the folder, in place of one that is there."""
        shutil.copy(program("nssmod_%s.so" % letter), self.path("new"))
        os.rename(self.path("new"), os.path.join(
            self.modules, "libnss_jptest%s.so.2" % (name or letter)))

    def lookups(self):
        return self.start(program("lookups"), env={
            "LD_LIBRARY_PATH": self.modules})

    def ask(self, live, line):
        live.process.stdin.write(line.encode() + b"\n")
        live.process.stdin.flush()

    def seen(self):
        """{(module that was asked, module that a function is of, or "" where
        it has no name): periods} of the look-ups' time."""
        found = {}
        for stack, weight in self.collapsed(program("lookups"), "jprof-log"):
            asked = [f[-1] for f in stack if f.startswith("by_jptest")]
            spins = [f[4] for f in stack
                     if re.fullmatch("nss_[ab]_spin", f)] or [""]
            if asked:
                key = asked[0], spins[0]
                found[key] = found.get(key, 0) + weight
        return found

    def check(self, live, least):
        done = live.end()
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertEqual(sum(self.run_of().header["counters"][:7]), 0)
        found = self.seen()
        for letter in least:
            self.assertGreater(found.pop((letter, letter), 0), least[letter],
                               found)
            # Of the C library's look for the module.
            self.assertLess(found.pop((letter, ""), 0), 8)
        self.assertEqual(found, {})

    def test_users_and_hosts(self):
        """The second module's file comes when the program runs."""
        self.put("a")
        live = self.lookups()
        for line in ("users jptesta 200ms", "hosts jptesta 200ms"):
            self.ask(live, line)
            self.assertEqual(live.line(), "2")
        self.put("b")
        for line in ("hosts jptestb 200ms", "users jptestb 400ms"):
            self.ask(live, line)
            self.assertEqual(live.line(), "3")
        self.check(live, {"a": 80, "b": 120})

    def test_replaced_file(self):
        """An upgrade: the module that runs is the one that was loaded, and
        the names of the file that is there now are not its."""
        self.put("a")
        live = self.lookups()
        self.ask(live, "users jptesta 200ms")
        self.assertEqual(live.line(), "2")
        self.put("b", "a")
        self.ask(live, "users jptesta 200ms")
        self.assertEqual(live.line(), "2")
        self.assertEqual(live.end().status, 0)
        found = self.seen()
        self.assertGreater(sum(found.values()), 80)
        self.assertNotIn(("a", "b"), found)
        self.put("a")
        self.assertGreater(self.seen()["a", "a"], 80)

    def test_dropped_module(self):
        """Another comes to the addresses that it leaves."""
        self.put("a")
        self.put("b")
        live = self.lookups()
        self.ask(live, "forget jptesta jptestb 400ms")
        self.check(live, {"a": 80, "b": 80})
        places = [keys["start"] for _, event, keys in self.run_of().map
                  if event == "module" and "libnss_jptest" in keys["path"]]
        self.assertEqual(len(places), 2)
        self.assertEqual(len(set(places)), 1)


if __name__ == "__main__":
    unittest.main()
