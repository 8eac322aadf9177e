# SPDX-License-Identifier: MIT
"""jprof-report --diff: two profiles beside each other as text.  Functions are
told by names, not by addresses; numbers of a side are those of its own report;
what chance makes is not called sure.  Runs in: tests."""
import os
import random
import re
import subprocess
import unittest

from jprun import HANG_SECONDS, REPORT, Case, program
import pack

PERIOD = 4000000
ROW = re.compile(r"^ *(\d+) +(\d+) +(\S+?)(?:%| ms) +(\S+?)(?:%| ms) +"
                 r"([-+]\S+?)(?:%| ms) (\*| ) +(.*?)(?:  \(.*?\))?"
                 r"(?:  \[(new|vanished|only after|only before)\])?$")
# Root first.
STACKS = {"main;alpha": 400, "main;beta": 200, "main;via;gamma": 300,
          "main;via;delta;gamma": 60, "main": 40}


def drawn(stacks, count, seed):
    """So many samples of these stacks, as chance has them."""
    random_ = random.Random(seed)
    paths = random_.choices(list(stacks), stacks.values(), k=count)
    return {path: paths.count(path) for path in stacks}


def write_side(folder, stacks, shift=0, prefix=""):
    """A profile in the folder with so many samples of each stack; functions
    are at addresses of their own."""
    os.makedirs(folder, exist_ok=True)
    names = sorted({name for path in stacks for name in path.split(";")})
    places = {name: 0x10000 + shift + 32 * n for n, name in enumerate(names)}
    with open(os.path.join(folder, "names"), "wb") as target:
        for name in names:
            target.write(b"%x 20 %s\n" % (places[name],
                                          (prefix + name).encode()))
        size = target.tell()
    with open(os.path.join(folder, "jprof-map"), "w",
              encoding="ascii") as target:
        target.write("1 jprof-map version=1 pid=7 start=9\n"
                     "1 anon start=0 end=ffffffffffffffff\n"
                     "1 perfmap path=/x dev=0:1 inode=1 size=%d saved=names\n"
                     % size)
    lines = ["header pid=7 start=9 map=jprof-map period=%d mono=1" % PERIOD]
    time = 0
    for path, count in stacks.items():
        frames = ["0x%x" % (places[name] + 1)
                  for name in reversed(path.split(";"))]
        for i in range(count):
            if i % 1000 == 0:
                lines += ["chunk size=65536 pid=7 tid=7",
                          "stack id=s frames=" + ",".join(frames)]
            time += PERIOD
            lines.append("sample time=%d tid=7 weight=%d stack=s" % (time,
                                                                    PERIOD))
    with open(os.path.join(folder, "jprof-log"), "wb") as target:
        target.write(pack.pack("\n".join(lines)))


class Diff(Case):
    check_agreement = False

    def output(self, *arguments, status=0):
        done = subprocess.run(
            [REPORT, "--format=text", *arguments], cwd=self.dir,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=HANG_SECONDS, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return (done.stdout if status == 0 else done.stderr).decode()

    def tables(self, *arguments):
        """({name: (before, after, share before, share after, step, is sure,
        what)} by Count, by Hits, all lines)"""
        lines = self.output(*arguments).splitlines()
        found = [{}, {}]
        at = None
        for line in lines:
            if " by Difference: " in line:
                at = 0 if line.startswith("Count") else 1
            elif "Call Paths" in line:
                at = None
            row = ROW.match(line)
            if row and at is not None:
                found[at][row[7]] = (
                    int(row[1]), int(row[2]), float(row[3]), float(row[4]),
                    float(row[5]), row[6] == "*", row[8])
        return found[0], found[1], lines

    def own(self, folder):
        """{name: (Count, Hits)} of a profile's own report."""
        return {name: (int(count), int(hits)) for count, hits, name in
                re.findall(r"(?m)^ *\[\d+\] +(\d+) \(.*?%\) *(\d+) "
                           r"\( *[\d.]+%\)  (\S+)", self.output(folder))}

    def write(self, name, stacks, **how):
        write_side(self.path(name), stacks, **how)
        return name

    def test_equal(self):
        """Equal profiles, at whatever addresses, do not differ."""
        self.write("a", STACKS)
        self.write("b", STACKS, shift=0x7770)
        count, hits, lines = self.tables("--diff", "a", "b")
        self.assertEqual(sorted(hits), ["alpha", "beta", "delta", "gamma",
                                        "main", "via"])
        for row in list(count.values()) + list(hits.values()):
            self.assertEqual((row[0], row[4:]), (row[1], (0, False, None)))
        self.assertFalse([line for line in lines if "Call Paths" in line])

    def test_numbers_of_sides(self):
        """Each side's numbers are those of its own report."""
        self.write("a", drawn(STACKS, 900, 1))
        self.write("b", drawn({**STACKS, "main;via;new;gamma": 90}, 1700, 2),
                   shift=64)
        count, hits, _ = self.tables("--diff", "a", "b")
        for side, folder in enumerate("ab"):
            own = self.own(folder)
            self.assertEqual({name: row[side] for name, row in count.items()
                              if row[side]},
                             {name: one[0] for name, one in own.items()
                              if one[0]})
            self.assertEqual({name: row[side] for name, row in hits.items()
                              if row[side]},
                             {name: one[1] for name, one in own.items()})
        whole = sum(row[0] for row in count.values())
        for row in hits.values():
            self.assertAlmostEqual(row[2], 100 * row[0] / whole, delta=0.006)
            self.assertAlmostEqual(row[4], row[3] - row[2], delta=0.011)

    def test_noise(self):
        """Of 60 pairs drawn from one profile, next to none differs surely;
        and of as many with another share of beta, all do."""
        wrong = right = 0
        for seed in range(30):
            self.write("a", drawn(STACKS, 400, 2 * seed))
            self.write("b", drawn(STACKS, 700, 2 * seed + 1))
            self.write("c", drawn({**STACKS, "main;beta": 600}, 700, seed))
            _, hits, _ = self.tables("--diff", "a", "b")
            wrong += any(row[5] for row in hits.values())
            _, hits, _ = self.tables("--diff", "a", "c")
            right += hits["beta"][5] and hits["beta"][4] > 0
        self.assertLessEqual(wrong, 2)
        self.assertEqual(right, 30)

    def test_order_and_paths(self):
        """The surest and largest come first; what is gone or new is said,
        with the call path to it."""
        self.write("a", {**STACKS, "main;via;gone;deep": 100})
        self.write("b", {**STACKS, "main;beta": 500, "main;fresh": 80})
        count, hits, lines = self.tables("--diff", "a", "b")
        self.assertEqual(next(iter(count)), "beta")
        self.assertEqual({name: row[6] for name, row in hits.items()
                          if row[6]},
                         {"gone": "vanished", "deep": "vanished",
                          "fresh": "new"})
        at = lines.index("Vanished Call Paths")
        self.assertRegex(lines[at + 2], r"^ +100 +-9\.09% \*  main; via; gone$")
        self.assertEqual(lines[at + 3], "")
        at = lines.index("New Call Paths")
        self.assertRegex(lines[at + 2], r"\*  main; fresh$")

    def test_work(self):
        """Twice the work in one function's place: shares of the others fall;
        a unit of work takes them the same time."""
        self.write("a", STACKS)
        self.write("b", {path: 2 * n + (900 if path == "main;beta" else 0)
                         for path, n in STACKS.items()})
        _, hits, _ = self.tables("--diff", "a", "b")
        self.assertLess(hits["alpha"][4], -10)
        count, hits, _ = self.tables("--per=10,20", "--diff=a", "b")
        self.assertEqual((hits["alpha"][2], hits["alpha"][4:6]),
                         (160.0, (0.0, False)))
        self.assertEqual(hits["beta"][2:6], (80.0, 260.0, 180.0, True))
        self.assertEqual(count["beta"][2:6], (80.0, 260.0, 180.0, True))

    def test_other_lines(self):
        """JIT functions whose file moved or whose line changed are the same;
        of two with one name neither is taken for the other."""
        self.write("a", {"f /x/app.js:1:2": 10, "g /x/app.js:5:2": 20,
                         "h /x/app.js:7:1": 5, "h /x/app.js:8:1": 5})
        self.write("b", {"f /y/z/app.js:3:2": 10, "g /y/z/app.js:9:2": 20,
                         "h /y/z/app.js:17:1": 5, "h /y/z/app.js:18:1": 5})
        _, hits, _ = self.tables("--diff", "a", "b")
        self.assertEqual(hits["f /y/z/app.js:3:2"][:2], (10, 10))
        self.assertEqual(hits["g /y/z/app.js:9:2"][:2], (20, 20))
        self.assertEqual(sorted(row[6] for name, row in hits.items()
                                if name.startswith("h ")),
                         ["only after"] * 2 + ["only before"] * 2)
        self.write("a", {"k (/x/a.js:1:2)": 50, "m (/x/a.js:2:2)": 40,
                         "(anonymous) (/x/a.js:9:9)": 9})
        self.write("b", {"k (/x/a.js:3:2)": 50, "m (/y/other.js:2:2)": 40,
                         "(anonymous) (/x/b.js:9:9)": 9})
        _, hits, _ = self.tables("--diff", "a", "b")
        found = {name.split(" ")[0]: row[:2] for name, row in hits.items()
                 if not name.startswith("(")}
        self.assertEqual(found, {"k": (50, 50), "m": (40, 40)})
        self.assertEqual(hits["(anonymous) (/x/b.js:9:9)"][:2], (9, 9))
        # Several without a name, at the same lines of another folder.
        self.write("a", {"(anonymous) (/x/a.js:%d:1)" % n: n
                         for n in range(1, 5)})
        self.write("b", {"(anonymous) (/y/a.js:%d:1)" % n: n
                         for n in range(1, 5)})
        _, hits, _ = self.tables("--diff", "a", "b")
        self.assertEqual(sorted(row[:2] for row in hits.values()),
                         [(n, n) for n in range(1, 5)])

    def test_filters(self):
        """Filters are of both sides; times count from each one's start."""
        self.write("a", {"main;alpha": 100, "main;beta": 100})
        self.write("b", {"main;beta": 50, "main;alpha": 100})
        count, _, _ = self.tables("--to=0.2", "--diff", "a", "b")
        self.assertEqual({name: row[:2] for name, row in count.items()},
                         {"alpha": (50, 0), "beta": (0, 50)})
        count, _, _ = self.tables("-i", "beta", "--diff", "a", "b")
        self.assertEqual({name: row[:2] for name, row in count.items()},
                         {"beta": (100, 50)})

    def test_hostile_names(self):
        nasty = "</script>\x1b[31m\u202e__proto__" + "x" * 3000
        self.write("a", {"main;" + nasty: 10, "main": 5})
        self.write("b", {"main;" + nasty: 30, "main": 5}, shift=32)
        text = self.output("--diff", "a", "b")
        self.assertNotRegex(text, "[\x1b\u202e]")
        self.assertRegex(text, r"(?m)^ +10 +30 ")

    def test_refused(self):
        self.write("a", STACKS)
        for arguments, status, said in (
                (("--diff", "a", "none"), 64, "no log given"),
                (("--diff", "none", "a"), 2, "none: no such file"),
                (("--diff", "a"), 64, "no program and no log"),
                (("--per=0", "--diff", "a", "a"), 64, "above 0"),
                (("--per=1,", "--diff", "a", "a"), 64, "above 0"),
                (("--per=5", "a"), 64, "--per goes with --diff"),
                (("--output-dir=x", "--diff", "a", "a"), 64, "--output-dir"),
                (("--format=pprof", "--diff", "a", "a"), 64,
                 "--diff goes with --format=html and text")):
            with self.subTest(arguments=arguments):
                self.assertIn(said, self.output(*arguments, status=status))

    def test_real(self):
        """A program whose function takes three times as long, under another
        name: that function is found, and what came and went."""
        for name, arguments in (("a", ("1", "1")), ("b", ("3", "0", "1"))):
            os.mkdir(self.path(name))
            path = program("diffed")
            if name == "b":
                path = self.path("renamed")
                subprocess.run(["cp", program("diffed"), path], check=True)
            done = self.run_program(path, *arguments, flags=(
                "JP_START JP_PERIOD=0.004 JP_FILENAME=%s/jprof-log"
                % self.path(name)))
            self.assertEqual((done.status, done.err), (0, ""))
        _, hits, _ = self.tables("--diff", "a", "b")
        self.assertEqual({name: row[6] for name, row in hits.items()
                          if row[5] and name in ("beta", "gone", "fresh")},
                         {"beta": None, "gone": "vanished", "fresh": "new"})
        self.assertGreater(hits["beta"][4], 10)


if __name__ == "__main__":
    unittest.main()
