# SPDX-License-Identifier: MIT
"""Annotated code of files: instructions as objdump has them, their Counts, and
source lines as addr2line has them; what is said where symbols, debug
information or the file itself are missing, and which sources are read.

Runs in: tests."""
import collections
import os
import random
import re
import subprocess
import unittest

from dwarfs import LEVELS, Readers, output, place, plain
from jprun import HANG_SECONDS, REPORT, need
import pack         # the path is jprun's

RUN = "room::Work::run"
BASE = 0x555500000000
MAP = """1000000000 jprof-map version=1 pid=%(pid)d start=1 log=%(log)s
1000000000 process pid=%(pid)d ppid=0 exe=%(app)s comm=app cmdline=app%%00
1000000000 module start=%(start)x end=%(end)x offset=0 bias=%(start)x \
dev=0:1 inode=0 mtime=0 build_id=%(id)s path=%(app)s
9000000000 exit cpu=100000000
"""
ROW = re.compile(r" *(\d+) +[0-9.]+% +([0-9a-f]+):  (\S.*)")
PLAIN = re.compile(r"(?: *\d+ +[0-9.]+%)? +([0-9a-f]+):  (\S.*)")
LINE = re.compile(r" *(?:(\d+) +[0-9.]+%)? +(\d+) +(\d+)(?:  |$)")


class Native(Readers):
    def setUp(self):
        super().setUp()
        self.random = random.Random(5)

    def extent(self, app, word):
        """(start, end) of the symbol with that word in its name."""
        for line in output("nm", "-C", "-S", app).splitlines():
            found = re.match(r"(\w+) (\w+) [tTwW] (.*)", line)
            if found and word in found.group(3):
                start, size = (int(one, 16) for one in found.groups()[:2])
                return start, start + size
        self.fail("no symbol " + word)

    def code(self, app, start, end):
        """The addresses of the function's instructions."""
        text = output("objdump", "-d", "--no-show-raw-insn",
                      "--start-address=%d" % start, "--stop-address=%d" % end,
                      app)
        return [int(word, 16) for word in
                re.findall(r"(?m)^\s+([0-9a-f]+):\t", text)]

    def profile(self, app, weights, pid=7, build=None):
        """A log of `weights` periods at each of these addresses of `app`."""
        name = "jprof-log" if pid == 7 else "jprof-log-%d" % pid
        start = BASE * (pid - 6)
        text = "header pid=%d mono=1000000000 machine=62\n" % pid
        for number, (at, weight) in enumerate(weights.items()):
            if number % 50 == 0:
                text += "chunk tid=%d\n" % pid
            text += ("stack id=s%d frames=%#x\nsample time=%d tid=%d "
                     "weight=%d stack=s%d\n" % (
                         number, start + at, 2000000000 + number, pid,
                         weight * 4000000, number))
        with open(self.path(name), "wb") as target:
            target.write(pack.pack(text))
        if build is None:
            build = re.search(r"Build ID: (\w+)", output(
                "readelf", "-n", app)).group(1)
        with open(self.path("jprof-map"), "w" if pid == 7 else "a",
                  encoding="utf-8") as target:
            target.write(MAP % {"pid": pid, "log": name, "app": app,
                                "start": start, "end": start + 0x100000,
                                "id": build})

    def annotate(self, name, *options, logs=("jprof-log",), status=(0,),
                 cwd="."):
        done = subprocess.run(
            [REPORT, "--merge", *options, "--annotate", name, "app", *logs],
            cwd=self.path(cwd), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
            timeout=HANG_SECONDS)
        self.assertIn(done.returncode, status, done.stderr)
        return done.stdout.decode("utf-8", "surrogateescape")

    def some(self, addresses):
        return {at: self.random.randint(1, 90) for at in addresses}

    @staticmethod
    def short(name):
        return plain(re.sub(r"\((?!anonymous).*", "", name))

    def lines(self, text):
        """{(function, line): [Count, Hits]} of the source lines."""
        found, name = {}, None
        for line in text.split("  Instruction\n")[0].splitlines():
            head = re.match(r"(\S.*): /.*\.\w+$|(\S.*): /usr/include/", line)
            row = LINE.match(line)
            if head:
                name = self.short(re.sub(r" \(inlined\)$", "", head.group(1)
                                         or head.group(2)))
            elif row and name:
                found[name, int(row.group(3))] = [int(row.group(1) or 0),
                                                  int(row.group(2))]
        return found

    def expected_lines(self, app, weights):
        """The same by eu-addr2line."""
        found = collections.defaultdict(lambda: [0, 0])
        asked = output(need("eu-addr2line"), "-a", "-f", "-i", "-e", app,
                       text="".join("%#x\n" % at for at in weights))
        at, rows = None, {}
        for line in output("c++filt", text=re.sub(
                r"(?m) inlined at .*$", "", asked)).splitlines():
            if re.fullmatch("0x[0-9a-f]+", line):
                at = rows.setdefault(int(line, 16), [])
            else:
                at.append(line)
        for address, chain in rows.items():
            seen = set()
            for number, (name, where) in enumerate(
                    zip(chain[::2], chain[1::2])):
                key = (self.short(name),
                       int(place(where).split(":")[1]))
                if key not in seen:
                    found[key][1] += weights[address]
                if number == 0:
                    found[key][0] += weights[address]
                seen.add(key)
        return dict(found)

    def test_instructions_and_lines(self):
        app = self.build("app", "-Wl,--build-id")
        start, end = self.extent(app, RUN + "(")
        code = self.code(app, start, end)
        weights = self.some(code[::2])
        self.profile(app, weights)
        text = self.annotate(RUN)
        shown = [int(at, 16) for at, _ in PLAIN.findall(text)]
        self.assertEqual(shown, code)
        rows = {int(at, 16): int(count) for count, at, _ in ROW.findall(text)}
        self.assertEqual(rows, weights)
        self.assertIn("%#x, %d bytes of app" % (start, end - start), text)
        expected = self.expected_lines(app, weights)
        self.assertGreater(len(expected), 20)
        self.assertEqual(self.lines(text), expected)
        self.assertIn("Count %d, 100.0%% of the profile; pieces of code: 1\n"
                      % sum(weights.values()), text)
        # The source itself, by --source-dir alone.
        self.assertNotIn("unsigned run(", text)
        text = self.annotate(RUN, "--source-dir=" + os.path.dirname(
            re.search(r": (/.*/inlined.cc)$", text, re.M).group(1)))
        self.assertIn("unsigned run(", text)

    def test_inlined_function(self):
        """Of one that was inlined, its own code is listed."""
        app = self.build("app", "-Wl,--build-id")
        weights = self.some(self.code(app, *self.extent(app, RUN + "(")))
        self.profile(app, weights)
        whole = self.expected_lines(app, weights)
        name = LEVELS[2]
        text = self.annotate(name)
        inside = sum(count for (function, _), (count, _) in whole.items()
                     if function == name)
        self.assertGreater(inside, 0)
        self.assertEqual(sum(int(count) for count, _, _
                             in ROW.findall(text)), inside)
        self.assertIn("%s (inlined)\n" % name, text)
        self.assertEqual({key: value for key, value in whole.items()
                          if key[0] == name}, self.lines(text))
        self.assertIn("instructions\n", text)

    def test_processes_share_a_file(self):
        """Code of one file is one piece, wherever it was mapped."""
        app = self.build("app", "-Wl,--build-id")
        code = self.code(app, *self.extent(app, RUN + "("))
        first, second = self.some(code), self.some(code[:9])
        self.profile(app, first)
        self.profile(app, second, pid=8)
        text = self.annotate(RUN, logs=("jprof-log", "jprof-log-8"))
        self.assertIn("pieces of code: 1\n", text)
        rows = {int(at, 16): int(count) for count, at, _ in ROW.findall(text)}
        self.assertEqual(rows, {at: weight + second.get(at, 0)
                                for at, weight in first.items()})
        kept = self.annotate(RUN, "--process=8",
                             logs=("jprof-log", "jprof-log-8"))
        self.assertEqual({int(at, 16): int(count) for count, at, _
                          in ROW.findall(kept)}, second)

    def test_without_names_or_debug_information(self):
        app = self.build("app", "-Wl,--build-id")
        start, end = self.extent(app, RUN + "(")
        weights = self.some(self.code(app, start, end)[:5])
        self.profile(app, weights)
        subprocess.run(["strip", "-g", app], check=True)
        text = self.annotate(RUN)
        self.assertEqual({int(at, 16) for _, at, _ in ROW.findall(text)},
                         set(weights))
        self.assertEqual(text.count("No debug information tells the source "
                                    "lines of this code.\n"), 1)
        subprocess.run(["strip", app], check=True)
        text = self.annotate("app+%#x" % start)
        self.assertIn("%#x, %d bytes of app" % (start, end - start), text)
        self.assertEqual({int(at, 16): int(count) for count, at, _
                          in ROW.findall(text)}, weights)

    def test_without_the_file(self):
        """Gone, changed, or only its debug file at hand."""
        app = self.build("app", "-Wl,--build-id")
        weights = self.some(self.code(app, *self.extent(app, RUN + "("))[:5])
        self.profile(app, weights)
        number = re.search(r"Build ID: (\w+)", output(
            "readelf", "-n", app)).group(1)
        folder = self.path("debug/.build-id/" + number[:2])
        os.makedirs(folder)
        subprocess.run(["objcopy", "--only-keep-debug", app, "%s/%s.debug" % (
            folder, number[2:])], check=True)
        os.rename(app, self.path("gone"))
        text = self.annotate(RUN, "--debug-dir=" + self.path("debug"))
        self.assertIn("Only the debug file is here", text)
        self.assertEqual(self.lines(text), self.expected_lines(
            self.path("gone"), weights))
        text = self.annotate("[app]")
        self.assertIn("The file is not here or has changed", text)
        self.assertEqual({int(at, 16): int(count) for count, at, _
                          in ROW.findall(text)}, weights)
        os.rename(self.path("gone"), app)
        self.profile(app, weights, build="ab" * 20)
        text = self.annotate("[app]")
        self.assertIn("The file is not here or has changed", text)
        self.assertNotIn(" bytes of app", text)

    def test_damaged_files(self):
        """Cut anywhere, and with sections that lie: no crash, no endless
        listing."""
        app = self.build("app", "-Wl,--build-id")
        weights = self.some(self.code(app, *self.extent(app, RUN + "("))[:5])
        self.profile(app, weights)
        with open(app, "rb") as source:
            data = source.read()
        self.random.seed(11)
        for part in range(40):
            broken = bytearray(data[:len(data) * (part % 10 + 11) // 20])
            for _ in range(30 if part >= 10 else 0):
                at = self.random.choice((
                    self.random.randrange(64, 900),
                    self.random.randrange(len(broken))))
                broken[at] = self.random.randrange(256)
            with open(app, "wb") as target:
                target.write(broken)
            text = self.annotate(RUN, status=(0, 1))
            self.assertLess(len(text), 3000000, part)

    def test_planted_source(self):
        """A private file that debug information names is not shown."""
        folder = self.path("private")
        os.mkdir(folder)
        with open(self.path("private/hidden.cc"), "w",
                  encoding="ascii") as target:
            target.write("int main(void)\n{\n    return 0;\n}\n"
                         "__attribute__((noinline)) unsigned secret(unsigned "
                         "x)\n{\n    return x * 31; /* pass word */\n}\n")
        app = self.build("app", "-Wl,--build-id",
                         source=self.path("private/hidden.cc"))
        self.profile(app, self.some(self.code(app, *self.extent(
            app, "secret("))))
        os.mkdir(self.path("elsewhere"))
        os.rename(self.path("jprof-log"), self.path("elsewhere/jprof-log"))
        os.rename(self.path("jprof-map"), self.path("elsewhere/jprof-map"))
        os.symlink(folder, self.path("elsewhere/hidden"))
        text = self.annotate("secret", cwd="elsewhere")
        self.assertRegex(text, r"hidden\.cc:\d+")
        self.assertNotIn("pass word", text)
        text = self.annotate("secret", "--source-dir=" + folder,
                             cwd="elsewhere")
        self.assertIn("pass word", text)


if __name__ == "__main__":
    unittest.main()
