# SPDX-License-Identifier: MIT
"""Kinds of other tools' profiles that have no golden case, since they are
binary or need a program: gperftools' CPU profiles, compressed files, jprof's
own export as text of perf script, and archives, which are compressed too.

Runs in: tests."""
import gzip
import os
import re
import shutil
import struct
import subprocess
import unittest

from jprun import BUILD, HANG_SECONDS, REPORT, Case, program

BIAS = 0x7f5500000000
STACKS = "main;a;b 10\nmain;a 5\n"


def mapped(path):
    """(offset, address, size) of the code's segment, and {name: address}."""
    heads = subprocess.run(["readelf", "-lW", path], check=True,
                           stdout=subprocess.PIPE).stdout.decode()
    offset, address, size = re.search(
        r"LOAD +(0x\w+) (0x\w+) 0x\w+ 0x\w+ (0x\w+) R E", heads).groups()
    names = subprocess.run(["nm", path], check=True,
                           stdout=subprocess.PIPE).stdout.decode()
    return ([int(one, 16) for one in (offset, address, size)],
            {name: int(at, 16) for at, name in
             re.findall(r"^(\w+) [tT] (\w+)$", names, re.MULTILINE)})


def cpuprofile(path, word="<Q", period=10000, end=True, more=()):
    """A profile of gperftools': hot_a called by frame_a seven times, and
    frame_a three times."""
    (offset, address, size), at = mapped(path)
    base = BIAS if word[1] == "Q" else 0x40000000
    leaf, caller = base + at["hot_a"], base + at["frame_a"] + 1
    words = [0, 3, 0, period, 0, 7, 2, leaf, caller, 3, 1, caller, *more]
    if end:
        words += [0, 1, 0]
    return b"".join(struct.pack(word, one) for one in words) + (
        "build=%s\n%08x-%08x r-xp %08x 08:01 %11d %s\n" % (
            path, base + address, base + address + size, offset, 17,
            path)).encode() * end


class ForeignKinds(Case):
    check_agreement = False     # there are no logs

    def report(self, *argv, status=0):
        done = subprocess.run([REPORT, *argv], cwd=self.dir, check=False,
                              stdin=subprocess.DEVNULL, timeout=HANG_SECONDS,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        said = done.stderr.decode("utf-8")
        self.assertEqual(done.returncode, status, said)
        return done.stdout.decode("utf-8"), said

    def stacks(self, *argv):
        return {stack: int(count) for stack, count in
                (line.rsplit(" ", 1) for line in
                 self.report("--format=collapsed", *argv)[0].splitlines())}

    def write(self, name, data):
        with open(self.path(name), "wb") as out:
            out.write(data)
        return self.path(name)

    def test_gperftools(self):
        path = program("shares")
        profile = self.write("gperf", cpuprofile(path))
        self.assertEqual(self.stacks(profile), {
            "frame_a;hot_a;turn (inlined)": 7, "frame_a": 3})
        text, said = self.report("--format=text", profile)
        self.assertEqual(said, "")
        self.assertIn("a CPU profile of gperftools", text)
        self.assertIn("periods of 10 ms", text)
        self.assertRegex(text, r"7 +70.0%  turn \(inlined\)  \(shares\)")
        # lines come of the file, too
        lines = self.report("--format=callgrind", profile)[0]
        self.assertIn("shares.c", lines)
        packed = self.write("gperf.gz", gzip.compress(cpuprofile(path)))
        self.assertEqual(self.stacks(packed), self.stacks(profile))

    def test_gperftools_of_other_machines(self):
        """Words of four bytes and of the other order; the file is absent."""
        path = program("shares")
        for word in ("<I", ">I", ">Q"):
            data = cpuprofile(path, word).replace(path.encode(),
                                                  b"/absent/prog")
            text = self.report("--format=text",
                               self.write("other", data))[0]
            self.assertRegex(text, r"10 +100.0%  \[prog\]", word)
            self.assertRegex(text, r"7 \( 70.0%\)    \[prog\] \(self\)")

    def test_gperftools_damaged(self):
        path = program("shares")
        cut = self.write("cut", cpuprofile(path, end=False))
        text, said = self.report("--format=text", cut, status=1)
        self.assertIn("is cut off or damaged here", said)
        self.assertIn("10, total weight 10", text.replace(
            "Samples            2,", "10,"))
        for more in ((5, 1 << 40), (5, 0), (1, 1 << 63)):
            damaged = self.write("damaged", cpuprofile(path, more=more))
            said = self.report("--format=text", damaged, status=1)[1]
            self.assertIn("is cut off or damaged here", said)
        deep = self.write("deep", cpuprofile(
            path, more=(1, 5000) + (4096,) * 5000))
        self.assertIn("deeper than 4096 frames",
                      self.report("--format=text", deep)[0])

    @unittest.skipUnless(shutil.which("zstd"), "no zstd")
    def test_zstandard_and_archives(self):
        """A stack's text is read, though archives are compressed likewise."""
        plain = self.write("plain", STACKS.encode())
        subprocess.run(["zstd", "-q", plain, "-o", plain + ".zst"],
                       check=True, timeout=HANG_SECONDS)
        self.assertEqual(self.stacks(plain + ".zst"),
                         {"main;a;b": 10, "main;a": 5})
        with open(plain + ".zst", "rb") as source:
            data = source.read()
        self.assertIn("Zstandard's data is cut off", self.report(
            "--format=text", self.write("cut", data[:-2]), status=1)[1])
        folder = self.path("out")
        done = self.run_program(
            os.path.join(BUILD, "jprof"), "run", "-o", folder,
            program("shares"), "2", "0.2", preload=False, flags=None)
        self.assertEqual(done.status, 0, done.err)
        archive = self.path("own.jprof")
        self.report("--format=archive", "-o", archive, folder)
        self.assertEqual(self.stacks(archive), self.stacks(folder))

    def test_compressed_text(self):
        """What gzip made of any kind is that kind, not pprof alone."""
        for name, data in (("stacks", STACKS.encode()),
                           ("utf16", STACKS.encode("utf-16"))):
            self.assertEqual(
                self.stacks(self.write(name, gzip.compress(data))),
                {"main;a;b": 10, "main;a": 5})
        said = self.report("--format=text", self.write(
            "perf", gzip.compress(b"PERFILE2" + bytes(99))), status=2)[1]
        self.assertIn("perf script -i", said)

    def test_own_perf_script(self):
        """jprof's export as text of perf script, read: stacks and threads."""
        folder = self.path("out")
        done = self.run_program(
            os.path.join(BUILD, "jprof"), "run", "-o", folder,
            program("shares"), "2", "0.2", preload=False, flags=None)
        self.assertEqual(done.status, 0, done.err)
        export = self.path("own.txt")
        self.report("--format=perf-script", "-o", export, folder)
        own, read = self.stacks(folder), self.stacks(export)
        self.assertEqual(set(own), set(read))
        for stack, count in own.items():
            self.assertAlmostEqual(read[stack], count, delta=1)
        text, said = self.report("--format=text", export)
        self.assertEqual(said, "")
        self.assertIn("samples with times", text)
        # the end of a file may lack, and a line be anything
        with open(export, "rb") as source:
            data = source.read()
        cut = self.write("cut.txt", data[:len(data) // 2])
        self.assertLess(sum(self.stacks(cut).values()), sum(own.values()))
        said = self.report("--format=text", self.write(
            "odd.txt", data + b"x\n"), status=1)[1]
        self.assertIn("the first one in line %d" %
                      (data.count(b"\n") + 1), said)

    def test_many_functions(self):
        """More functions than can be kept: the rest is left out, and said."""
        line = b"".join(b"%x;" % number for number in range(0, 1 << 23, 1)
                        )[:-1].split(b";")
        text = b"".join(b";".join(line[at:at + 4000]) + b" 1\n"
                        for at in range(0, len(line), 4000))
        text += b"one;more;that;is;new 1\n" * 2
        said = self.report("--format=summary", self.write("many", text),
                           status=1)[1]
        self.assertIn("more samples or functions than can be read", said)

    def test_programs_stay_programs(self):
        """Scripts and executables are no profiles, whatever they end in."""
        for name, data in (("script", b"#!/bin/sh\nsleep 10\n"),
                           ("elf", b"\x7fELF" + bytes(60) + b"\na 5\n")):
            said = self.report(self.write(name, data), status=64)[1]
            self.assertIn("no log given", said)


if __name__ == "__main__":
    unittest.main()
