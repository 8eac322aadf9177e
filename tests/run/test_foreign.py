# SPDX-License-Identifier: MIT
"""Profiles of other tools as input of jprof-report: sums are theirs, what they
lack is said, and damaged or hostile ones are refused or read as far as they
go.

Runs in: tests.  tests/data/foreign has a CPU and a heap profile by Go's
runtime/pprof and collapsed stacks by py-spy."""
import gzip
import os
import re
import subprocess
import sys
import unittest

from jprun import BUILD, HANG_SECONDS, REPORT, ROOT, Case, program

sys.path.insert(0, os.path.join(ROOT, "tests", "tools"))
import exports      # noqa: E402  (needs the path above)

DATA = os.path.join(ROOT, "tests", "data", "foreign")
FORMATS = ("html", "html-plain", "text", "collapsed", "pprof", "push",
           "speedscope", "firefox", "callgrind", "perf-script", "summary",
           "cleo")


def varint(number):
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def numbers(fields):
    """Those of a repeated field, packed or not."""
    return [number for one in fields for number in
            ([one] if isinstance(one, int) else exports.packed(one))]


def values(path, index):
    """{stack as names, the leaf first: sum} of a pprof file, read here."""
    with open(path, "rb") as source:
        top = exports.message(gzip.decompress(source.read()))
    text = [one.decode("utf-8") for one in top[6]]
    functions, locations, sums = {}, {}, {}
    for item in map(exports.message, top[5]):
        functions[exports.one(item, 1)] = text[exports.one(item, 2)]
    for item in map(exports.message, top[4]):
        locations[exports.one(item, 1)] = [
            functions[exports.one(exports.message(line), 1)]
            for line in item[4]]
    for item in map(exports.message, top[2]):
        stack = tuple(name for location in numbers(item[1])
                      for name in locations[location])
        value = numbers(item[2])[index]
        if value:
            sums[stack] = sums.get(stack, 0) + value
    return sums


class Foreign(Case):
    check_agreement = False     # there are no logs

    def run_report(self, *argv):
        return subprocess.run([REPORT, *argv], cwd=self.dir, check=False,
                              stdin=subprocess.DEVNULL, timeout=HANG_SECONDS,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def text(self, *argv, status=0):
        done = self.run_report(*argv)
        said = done.stderr.decode("utf-8")
        self.assertEqual(done.returncode, status, said)
        self.assertNotIn("\x1b", said)
        return done.stdout.decode("utf-8"), said

    def write(self, name, data):
        with open(self.path(name), "wb") as out:
            out.write(data)
        return self.path(name)

    def stacks(self, path, *options):
        """{stack as names, the leaf first: count} of --format=collapsed."""
        found = {}
        for line in self.text("--format=collapsed", *options,
                              path)[0].splitlines():
            stack, count = line.rsplit(" ", 1)
            key = tuple(name.replace(" (inlined)", "")
                        for name in stack.split(";")[::-1])
            found[key] = found.get(key, 0) + int(count)
        return found

    def near(self, one, other):
        """Equal but for what each of the sums was rounded to periods."""
        for stack in set(one) | set(other):
            self.assertAlmostEqual(one.get(stack, 0), other.get(stack, 0),
                                   delta=1, msg=stack)

    def test_profiles_of_go(self):
        for name, index, unit in (("go-cpu", 1, 10**7), ("go-heap", 3, 1)):
            with self.subTest(name=name):
                path = os.path.join(DATA, name + ".pb.gz")
                own = {stack: value // unit
                       for stack, value in values(path, index).items()}
                self.assertEqual(self.stacks(path), own)
                text = self.text("--format=text", path)[0]
                self.assertIn("sums of stacks without times and", text)
                self.assertEqual("counts: what reads as a time" in text,
                                 name == "go-heap")

    def test_collapsed_of_py_spy(self):
        path = os.path.join(DATA, "py-spy.collapsed")
        with open(path, encoding="utf-8") as source:
            own = dict(line.rsplit(" ", 1) for line in
                       source.read().splitlines())
        self.assertEqual(self.stacks(path), {
            tuple(stack.split(";")[::-1]): int(count)
            for stack, count in own.items()})
        # perf's spelling, a fraction, comments, lines without a count
        odd = self.write("odd.folded", b"main;jit_[j] 2.5\r\n# x\n\nno count"
                         b" here\nmain;other 0\nmain 4\n;;x 1\n")
        text, said = self.text("--format=text", odd, status=1)
        self.assertIn("1 samples are negative, damaged", said)
        self.assertIn("Total hit count: 75", text)
        self.assertIn("a count of 1 in it is 1e1 below", text)
        self.assertRegex(text, r"25 +33.3%  jit  \(\[jit\]\)")

    def test_written_again(self):
        """jprof's own exports, read: the same functions, threads and sums."""
        for wall in ([], ["--wall"]):
            folder = self.path("out%d" % len(wall))
            done = self.run_program(
                os.path.join(BUILD, "jprof"), "run", *wall, "-o", folder,
                program("shares"), "2", "0.2", preload=False, flags=None)
            self.assertEqual(done.status, 0, done.err)
            once, twice = self.path("once.pb.gz"), self.path("twice.pb.gz")
            self.text("--format=pprof", "-o", once, folder)
            self.text("--format=pprof", "-o", twice, once)
            one, other = exports.Pprof(once), exports.Pprof(twice)
            self.assertEqual(one.types, other.types)
            for what in ("own", "total", "threads", "weight"):
                self.assertEqual(getattr(one.sums(), what),
                                 getattr(other.sums(), what), what)
            for event in ([], ["--event=running"], ["--event=blocked"]):
                self.near(self.stacks(folder, *event),
                          self.stacks(once, *event))
            text = self.text("--format=collapsed", folder)[0]
            path = self.write("own.collapsed", text.encode())
            self.assertEqual(self.stacks(path), self.stacks(folder))

    def test_every_format(self):
        for name in sorted(os.listdir(DATA)):
            path = os.path.join(DATA, name)
            for form in FORMATS:
                with self.subTest(name=name, form=form):
                    out = self.text("--format=" + form, path)[0] if (
                        form not in ("pprof", "push")) else "x"
                    self.assertTrue(out)
            out = self.path("out.pb.gz")
            self.text("--format=pprof", "-o", out, path)
            self.assertEqual(exports.Pprof(out).strings[0], "")

    def test_filters_and_merge(self):
        path = os.path.join(DATA, "go-cpu.pb.gz")
        kept = self.stacks(path, "-i", "main.fib")
        self.assertEqual(kept, {stack: count for stack, count in
                                self.stacks(path).items()
                                if "main.fib" in stack})
        self.assertTrue(kept)
        both = self.stacks(path, path)
        self.assertEqual(sum(both.values()),
                         2 * sum(self.stacks(path).values()))

    def diffed(self, before, after):
        """({function: (before, after) of Count}, the text) of --diff."""
        text = self.text("--format=text", "--limit=none", "--diff", before,
                         after)[0]
        page = self.text("--format=html", "--diff", before, after)[0]
        self.assertIn("</html>", page)
        rows = text.split("Hits (total)")[0]
        return {name: (int(one), int(other)) for one, other, name in
                re.findall(r"^ *(\d+) +(\d+) +[-\d.]+% +[-\d.]+% +[-+\d.]+% "
                           r"[* ]   ?(.*?)(?:  \(.*\))?(?:  \[.*\])?$", rows,
                           re.MULTILINE)}, text

    def test_sides_of_a_comparison(self):
        """A side's numbers are those of its own report, whoever made it and
        whatever it counts; what it lacks is said."""
        def counts(path):
            own = {}
            for stack, count in self.stacks(path).items():
                own[stack[0]] = own.get(stack[0], 0) + count
            return own

        folder = self.path("own")
        done = self.run_program(
            os.path.join(BUILD, "jprof"), "run", "-o", folder,
            program("shares"), "2", "0.2", preload=False, flags=None)
        self.assertEqual(done.status, 0, done.err)
        export = self.path("own.pb.gz")
        self.text("--format=pprof", "-o", export, folder)
        sides = [os.path.join(DATA, "go-cpu.pb.gz"),
                 os.path.join(DATA, "py-spy.collapsed"), folder, export]
        for before in sides:
            for after in sides:
                with self.subTest(before=before, after=after):
                    rows, text = self.diffed(before, after)
                    for side, path in enumerate((before, after)):
                        wanted, name = counts(path), os.path.basename(path)
                        got = {key: row[side] for key, row in rows.items()}
                        for key in set(got) | set(wanted):
                            self.assertAlmostEqual(
                                got.get(key, 0), wanted.get(key, 0), delta=1,
                                msg=(side, key))
                        self.assertEqual(
                            name + " is " in text,
                            path != folder, "what it lacks")
                    if before == after:
                        self.assertIn(": 0 of ", text)
        # a profile and its own export: nothing differs, and it is all there
        rows, text = self.diffed(folder, export)
        self.assertIn("turn", rows)
        self.assertTrue(all(abs(one - other) <= 1
                            for one, other in rows.values()), rows)

    def small(self, *more, value=7, line=1, ids=(1,)):
        texts = b"".join(field(6, text) for text in (
            b"", b"cpu", b"nanoseconds", b"\x1b[31m</script>\xff;a b"))
        return (field(1, field(1, 1) + field(2, 2)) + texts +
                field(5, field(1, 1) + field(2, 3)) +
                field(4, field(1, 1) + field(4, field(1, 1) +
                                             field(2, line))) +
                field(2, field(1, b"".join(map(varint, ids))) +
                      field(2, varint(value))) + b"".join(more))

    def test_hostile_profiles(self):
        plain = self.write("x.pb", self.small())
        text, _ = self.text("--format=text", plain)
        self.assertNotIn("\x1b", text)
        html = self.text("--format=html", plain)[0]
        self.assertNotIn("31m</script>", html)
        again = field(2, field(1, 1) + field(2, 9))   # not packed
        for name, data, said, status in (
                ("negative", self.small(field(2, field(1, 1) + field(
                    2, (1 << 64) - 5))), "1 samples are negative", 1),
                ("dangling", self.small(field(2, field(1, 99) + field(2, 1))),
                 "1 samples are negative, damaged", 1),
                ("unpacked", self.small(again), "", 0),
                ("cut", self.small()[:-1], "cut off or damaged", 2),
                ("tail", self.small(b"\x92"), "cut off or damaged", 1),
                ("nothing", field(1, field(1, 1) + field(2, 2)),
                 "no sample in it has a weight", 2),
                ("deep", self.small(ids=(1,) * 70000), "", 0),
                ("line", self.small(line=(1 << 64) - 1), "", 0)):
            with self.subTest(name=name):
                out, err = self.text("--format=text",
                                     self.write(name, data), status=status)
                self.assertIn(said, err)
                if name == "unpacked":
                    self.assertIn("2, total weight", out)
                if name == "deep":
                    self.assertIn("deeper than 4096 frames", out)

    def test_cut_and_bombs(self):
        with open(os.path.join(DATA, "go-cpu.pb.gz"), "rb") as source:
            data = source.read()
        _, said = self.text("--format=text",
                            self.write("cut", data[:-500]), status=1)
        self.assertIn("gzip's data is cut off", said)
        bad = bytearray(data)
        bad[len(bad) // 2] ^= 255
        done = self.run_report("--format=text", self.write("bad", bad))
        self.assertIn(done.returncode, (1, 2), done.stderr)
        self.assertRegex(done.stderr.decode(), "damaged|cut off")
        bomb = gzip.compress(self.small() + field(4, b"") * (40 << 20), 1)
        _, said = self.text("--format=text", self.write("bomb", bomb),
                            status=1)
        self.assertIn("than can be read", said)
        # Functions inlined at places, of two bytes each in the file.
        place = field(4, field(1, 9) + field(4, b"") * 256)
        bomb = gzip.compress(self.small() + place * (33 << 10), 1)
        text, said = self.text("--format=text", self.write("bomb", bomb),
                               status=1)
        self.assertIn("than can be read", said)
        self.assertIn("1, total weight", text)

    def test_without_gzip(self):
        """Go's writer begins with the time, jprof's with a mapping."""
        zipped = os.path.join(DATA, "go-cpu.pb.gz")
        with open(zipped, "rb") as source:
            plain = self.write("plain", gzip.decompress(source.read()))
        self.assertEqual(self.stacks(plain), self.stacks(zipped))
        mapped = field(3, field(1, 1) + field(2, 4096)) + self.small()
        text, _ = self.text("--format=text", self.write("mapped", mapped))
        self.assertIn("1, total weight", text)

    def test_long_first_line(self):
        """Stacks are as long as they are, the first one too."""
        names = ["package.Class%d.method" % i for i in range(900)]
        path = self.write("long", (";".join(names) + " 5\n").encode())
        self.assertEqual(self.stacks(path), {tuple(reversed(names)): 5})

    def test_more_than_a_gibibyte(self):
        """A file, and what gzip makes of one."""
        path = self.write("large", self.small())
        os.truncate(path, (1 << 30) + 1)
        done = self.run_report("--format=text", path)
        self.assertEqual(done.returncode, 2)
        self.assertIn("is too large; it is left out", done.stderr.decode())
        # Fields that no reader knows, each a member of the file.
        more = gzip.compress(field(99, bytes(16 << 20)), 1)
        text, said = self.text("--format=text", self.write(
            "plain", gzip.compress(self.small()) + more * 65), status=1)
        self.assertIn("is larger than 1 GiB without gzip; the rest is left "
                      "out", said)
        self.assertIn("1, total weight", text)

    def test_what_is_no_profile(self):
        for data in (b"", b"#!/bin/sh\nexit 0\n", b"hello\n", b"\n 3\n",
                     bytes(100)):
            done = self.run_report("--profile", self.write("no", data))
            self.assertEqual(done.returncode, 2, data)
        # a program stays one, whatever its name
        done = self.run_report(sys.executable, "missing")
        self.assertEqual(done.returncode, 2)
        self.assertTrue(re.search("missing", done.stderr.decode()))


if __name__ == "__main__":
    unittest.main()
