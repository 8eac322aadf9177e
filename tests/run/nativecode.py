# SPDX-License-Identifier: MIT
"""What tests of native code share: a program's function with the code that
objdump and the lines that addr2line see in it, profiles of samples there, and
what --annotate says of them.  Runs in: tests."""
import collections
import random
import re
import subprocess

from dwarfs import Readers, output, place, plain
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


class NativeCode(Readers):
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

    def called(self, name):
        """(name, whether it was inlined) of a name as it is shown."""
        return self.short(re.sub(r" \(inlined\)$", "", name)), name.endswith(
            "(inlined)")

    def lines(self, text):
        """{(function, inlined, line): [Count, Hits]} of the source lines."""
        found, name = {}, None
        for line in text.split("  Instruction\n")[0].splitlines():
            head = re.match(r"(\S.*): /.*\.\w+$|(\S.*): /usr/include/", line)
            row = LINE.match(line)
            if head:
                name = head.group(1) or head.group(2)
            elif row and name:
                found[(*self.called(name), int(row.group(3)))] = [
                    int(row.group(1) or 0), int(row.group(2))]
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
                key = (self.short(name), 2 * number + 2 < len(chain),
                       int(place(where).split(":")[1]))
                if key not in seen:
                    found[key][1] += weights[address]
                if number == 0:
                    found[key][0] += weights[address]
                seen.add(key)
        return dict(found)
