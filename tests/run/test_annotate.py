# SPDX-License-Identifier: MIT
"""Annotated machine code: instructions with their Counts, source lines and
opcode listings between them, one block for each piece of code; from jitdumps,
from saved code with a perf map alone, and of a real Node program.

Runs in: tests."""
import glob
import html
import lzma
import os
import re
import struct
import unittest

from jprun import Case, ROOT, need
import pack         # the path is jprun's

MAP = """1000000000 jprof-map version=1 pid=7 start=1 log=jprof-log
1000000000 process pid=7 ppid=0 exe=/x/app comm=app cmdline=app%%00
1000000000 anon start=10000 end=90000
%s
9000000000 exit cpu=100000000
"""
DUMP_LINE = ("1000000000 jitdump path=/nowhere/jit-7.dump dev=0:1 inode=5 "
             "size=%d saved=jit.dump")
# push rbp; mov rbp, rsp; mov eax, 1; jmp to the ret; pop rbp; ret
CODE = bytes.fromhex("55" "4889e5" "b801000000" "eb01" "5d" "c3")


def load(time, start, name, code, machine_pid=7):
    if isinstance(name, str):
        name = name.encode()
    body = struct.pack("<IIQQQQ", machine_pid, 7, start, start, len(code), 1)
    body += name + b"\0" + code
    return struct.pack("<IIQ", 0, 16 + len(body), time) + body


def lines(time, start, entries):
    body = struct.pack("<QQ", start, len(entries))
    for address, line, column, name in entries:
        body += struct.pack("<Qii", address, line, column)
        body += name.encode() + b"\0"
    return struct.pack("<IIQ", 2, 16 + len(body), time) + body


def dump(*records, machine=62):
    return struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, machine, 0, 7, 0,
                       0) + b"".join(records)


class Files(Case):
    """Logs, maps and dumps made for the purpose."""

    def put(self, name, data):
        mode = "wb" if isinstance(data, bytes) else "w"
        with open(self.path(name), mode) as target:
            target.write(data)

    def profile(self, samples, data=None, jit=None, machine=62):
        """`samples`: (time in s, address, periods)."""
        text = "header pid=7 mono=1000000000 machine=%d\nchunk tid=7\n" % (
            machine)
        for at, (_, address, _) in enumerate(samples):
            text += "stack id=s%d frames=%#x\n" % (at, address)
        for at, (time, _, periods) in enumerate(samples):
            text += "sample time=%d tid=7 weight=%d stack=s%d\n" % (
                time * 1e9, periods * 4000000, at)
        self.put("jprof-log", pack.pack(text))
        if data is not None:
            self.put("jit.dump", data)
            jit = DUMP_LINE % len(data)
        self.put("jprof-map", MAP % jit)

    def blocks(self, *options):
        """The text of --annotate, a list of paragraphs."""
        return self.report("app", *options, "jprof-log").split("\n\n")


class Made(Files):
    """Every kind of code and file that an annotation may meet."""

    def test_versions_tiers_lines_and_counts(self):
        source = self.path("work.js")
        self.put("work.js", "first\nfunction work() {\n\treturn 1;\n}\n")
        name = "work %s:2:10" % source
        place = [(0x20000, 2, 10, source), (0x20004, 3, 3, source),
                 (0x2000b, 4, 1, source)]
        self.profile(
            [(2, 0x20004, 3), (2, 0x20009, 5), (4, 0x20004, 30),
             (6, 0x30001, 2), (6, 0x40000, 1)],
            dump(lines(1500000000, 0x20000, place),
                 load(1500000000, 0x20000, "JS:^" + name, CODE),
                 load(3000000000, 0x20000, "JS:*" + name, CODE),
                 load(5000000000, 0x30000, "JS:*" + name, CODE),
                 load(5000000000, 0x40000, "JS:*other /x.js:1:1", CODE)))
        whole = self.blocks("--annotate=work")
        found = list(whole)
        self.assertEqual(len(found), 7, found)
        self.assertEqual(found.pop(2).splitlines()[:3], [
            source, "   Count  %Total  +Inlined   Line",
            "%26s      1  first" % ""])
        self.assertEqual(found.pop(2), "Count of code without a known line: "
                         "32")
        self.assertIn("work (%s:2:10)\nCount 40, 97.6%% of the profile; "
                      "pieces of code: 3\n" % source, found[1])
        self.assertEqual([b.split(" (")[0] for b in found[2:]],
                         ["TurboFan, 30", "Sparkplug, 8", "TurboFan, 2"])
        self.assertIn("0x20000, 13 bytes, from 2.00 s, by jitdump", found[2])
        self.assertIn("from 500 ms to 2.00 s, by jitdump", found[3])
        self.assertNotIn("work.js", found[2].split("\n", 2)[2])
        old = [re.sub(r"\s+", " ", line).strip()
               for line in found[3].splitlines()[2:]]
        self.assertEqual(old, [
            "work.js:2:10 function work() {", "20000: push rbp",
            "20001: mov rbp, rsp", "work.js:3:3 return 1;",
            "3 7.5% 20004: mov eax, 1", "5 12.5% 20009: jmp 0x2000c",
            "work.js:4:1 }", "2000b: pop rbp"] + old[8:])
        # Any of the names will do; the rest is not listed.
        for other in ("JS:*" + name, "JS:^" + name,
                      "work (%s:2:10)" % source):
            self.assertEqual(self.blocks("--annotate", other), whole)

    def test_jumps_and_counts_in_html(self):
        self.profile([(2, 0x20004, 3), (2, 0x20009, 5)],
                     dump(lines(1500000000, 0x20000,
                                [(0x20004, 7, 0, "/no/<b>\"'.js")]),
                          load(1500000000, 0x20000,
                               "JS:*</td><script>x() /a.js:1:1", CODE)))
        page = self.report("--format=html-plain", "app", "jprof-log")
        code = page[page.index('<section class="code"'):]
        self.assertIn("<td>+9</td><td>jmp +c</td>", code)
        self.assertIn('<td>5</td><td>62.5%</td><td>+9</td>', code)
        self.assertIn(html.escape("<b>\"'.js").replace("&#x27;", "&#39;")
                      + ":7</span>", code)
        self.assertNotIn("<script>x", page)
        self.assertEqual(page.count("<script>"), 1)
        link = re.search(r'<a class="c" href="#(c\d+)">code</a>', page)
        self.assertEqual(page.count('id="%s"' % link.group(1)), 1)

    def test_nothing_of_that_name(self):
        self.profile([(2, 0x20004, 3)],
                     dump(load(1500000000, 0x20000, "f", CODE)))
        self.put("out", "")
        text = self.report("app", "--annotate=g", "jprof-log")
        self.assertIn("No sample is in code of such a name.", text)
        for line in ("--format=annotate", "--annotate=f --format=summary"):
            self.report("app", *line.split(), "jprof-log", status=64)

    def test_perf_map_and_saved_code(self):
        self.put("perf-7.map", "20000 d JS:*f /x.js:1:1\n30000 8 bare\n")
        self.put("code.bin", b"\0" * 16 + CODE)
        self.profile([(2, 0x20004, 3), (2, 0x30004, 2)], jit=(
            "1000000000 perfmap path=/tmp/perf-7.map dev=0:1 inode=5 size=9 "
            "saved=perf-7.map\n"
            "3000000000 code start=20000 end=2000d offset=10 "
            "saved=code.bin"))
        text = self.report("app", "--annotate=f", "jprof-log")
        self.assertRegex(text, r"3  100.0%  +20004:  mov eax, 1\n")
        text = self.report("app", "--annotate=bare", "jprof-log")
        self.assertRegex(text, r"2  100.0%  +30004:  \(code not kept\)\n")
        self.assertIn("The code itself was not kept", text)

    def test_code_that_is_too_long(self):
        data = dump(load(2000000000, 0x10000, "long", b"\x90" * (5 << 18)))
        self.profile([(3, 0x10001, 1), (3, 0x10000 + (9 << 17), 2)], data)
        text = self.report("app", "--annotate=long", "jprof-log")
        self.assertRegex(text, r"1 +33.3% +10001:  nop\n")
        self.assertRegex(text, r"2 +66.7% +130000:  \(too far into the code")
        self.assertNotIn("not kept", text)

    def test_aarch64(self):
        code = bytes.fromhex("fd7bbfa9" "20008052" "fd7bc1a8" "c0035fd6")
        self.profile([(2, 0x20004, 3)], machine=183, data=dump(
            load(1500000000, 0x20000, "f", code), machine=183))
        text = self.report("app", "--annotate=f", "jprof-log")
        self.assertRegex(text, r"3  100.0%  +20004:  movz? w0, #(0x)?1\n")
        self.assertRegex(text, r"20000:  stp x29, x30, \[sp, #-0x10\]!\n")
        self.profile([(2, 0x20004, 3)], machine=22, data=dump(
            load(1500000000, 0x20000, "f", code), machine=22))
        text = self.report("app", "--annotate=f", "jprof-log")
        self.assertIn("No disassembler for this machine", text)

    def test_hostile_names_and_code(self):
        """Long names, control characters, bytes that are no code, code cut
        off, sources that are no files: all bounded, nothing unescaped."""
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        names = ["x" * 200000, "</script><script>alert(1)</script>",
                 "\x01\x1b[31m\u202e", "JS:*" + "y" * 200000 + " /z.js:1:1"]
        records = []
        for at, name in enumerate(names):
            start = 0x20000 + at * 0x1000
            records.append(lines(1500000000, start, [
                (start, 1, 0, fifo), (start + 1, 2, 0, "/dev/zero"),
                (start + 2, 2 ** 31 - 1, 0, "a/../../etc/passwd"),
                (start + 3, 1, -1, "file://" + "q" * 5000)]))
            records.append(load(1500000000, start, name,
                                bytes(range(256)) * 12))
        data = dump(*records)
        self.profile([(2, 0x20000 + i * 0x1000 + j, 1 + j)
                      for i in range(4) for j in (0, 1, 2, 700)],
                     data[:-100])
        page = self.report("--format=html-plain", "app", "jprof-log")
        self.assertEqual(page.count("<script>"), 1)
        self.assertFalse(set(page) & set("\x01\x1b\u202e"))
        self.assertLess(len(page), 2000000)
        text = self.report("app", "--annotate=" + names[0][:20000],
                           "jprof-log")
        self.assertIn("No sample is in code", text)
        text = self.report("app", "--annotate=" + names[1], "jprof-log")
        self.assertIn(names[1], text)
        self.assertFalse(set(text) & set("\x01\x1b\u202e"))


class SpiderMonkey(Files):
    """Its listings of opcodes stand where source would be."""

    def test_opcode_listing(self):
        path = os.path.join(ROOT, "tests/data/jit/spidermonkey",
                            "prog-ir.jit.dump.xz")
        with lzma.open(path) as source:
            data = source.read()
        at, table, found = 40, None, None
        while at + 16 <= len(data) and not found:
            kind, size, _ = struct.unpack_from("<IIQ", data, at)
            if kind == 2:
                table = at
            elif kind == 0:
                name = data[at + 56:data.index(b"\0", at + 56)].decode()
                if name.startswith("Ion: nestedLoops"):
                    found = struct.unpack_from("<Q", data, at + 32)[0]
            at += size
        entries, place = [], table + 32
        for _ in range(struct.unpack_from("<Q", data, table + 24)[0]):
            address, line, _ = struct.unpack_from("<Qii", data, place)
            end = data.index(b"\0", place + 16)
            if data[place + 16:end] != b"\xff":
                listing = data[place + 16:end].decode()
            entries.append((address, line))
            place = end + 1
        self.assertRegex(listing, r"/jitdump-script-\d+\.\d+\.txt$")
        count = max(line for _, line in entries)
        self.put(os.path.basename(listing),
                 "".join("opcode%d\n" % (n + 1) for n in range(count)))
        last = data[:at]
        line = [line for address, line in entries
                if address == entries[1][0]][-1]
        time = struct.unpack_from("<Q", data, table + 8)[0]
        self.profile([((time + 1e9) / 1e9, entries[1][0], 9)], last)
        self.put("jprof-map", (MAP % (DUMP_LINE % len(last))).replace(
            "start=10000 end=90000", "start=1000 end=7fffffffffff"))
        text = self.report("app", "--annotate=nestedLoops", "jprof-log")
        self.assertIn("Ion, 9 (100.0%%): %#x" % found, text)
        self.assertRegex(text, r"\.txt:%d:\d+  opcode%d\n *9  100.0%%"
                         % (line, line))
        self.assertIn("opcode", self.report("--format=html-plain", "app",
                                            "jprof-log"))


class Node(Case):
    """The report of a program that makes and drops functions."""

    SCRIPT = """
const end = process.cpuUsage().user + 800000;
function round(k) { let t = 0;
  const f = new Function('n', `let z = ${k};
    for (let i = 0; i < n; i++) z = (z * 31 + i ^ ${k}) | 0; return z;`);
  for (let i = 0; i < 400; i++) t = (t + f(300)) | 0;
  for (let i = 0; i < 60000; i++)
    t = (t * 31 + (i ^ k)) | 0;  // the hot line
  return t; }
let k = 0, t = 0;
while (process.cpuUsage().user < end) { t = (t + round(k++)) | 0;
  if (k % 20 === 0) gc(); }
console.log(typeof t);
"""

    def has_lines(self, dump):
        """Whether the dump says whole names of files in the lines of optimized
        round(): Node 18 mostly writes freed memory into the first."""
        with open(dump, "rb") as file:
            data = file.read()
        at = struct.unpack_from("<I", data, 8)[0]
        lines, found = {}, False
        while at + 16 <= len(data):
            kind, size = struct.unpack_from("<II", data, at)
            if kind == 2:  # JIT_CODE_DEBUG_INFO: the first line's file
                address = struct.unpack_from("<Q", data, at + 16)[0]
                lines[address] = data[at + 48:at + size].split(b"\0")[0]
            elif kind == 0:  # JIT_CODE_LOAD
                address = struct.unpack_from("<Q", data, at + 32)[0]
                name = data[at + 56:at + size].split(b"\0")[0]
                if b"*round " in name:
                    found = True
                    if not lines.get(address, b"").endswith(b"/churn.js"):
                        return False
            at += size
        return found

    def run_churn(self):
        """Runs the program.  Is its log."""
        for _ in range(12):
            done = self.run_program(need("node"), "--expose-gc", "--perf-prof",
                                    "churn.js")
            self.assertEqual((done.status, done.out), (0, "number\n"), done.err)
            log = self.log_names()[0]
            dump = glob.glob(self.path(log + ".jit-*.dump"))[0]
            if self.has_lines(dump):
                return log
            for name in os.listdir(self.dir):
                if name != "churn.js":
                    os.remove(self.path(name))
        raise AssertionError("no run of twelve had lines in its dump")

    def test_names_tiers_lines_and_code(self):
        with open(self.path("churn.js"), "w", encoding="utf-8") as target:
            target.write(self.SCRIPT)
        log = self.run_churn()
        page = self.report("--format=html-plain", "node", log)
        code = page[page.index('<section class="code"'):]
        self.assertRegex(code, r"\">round \(.*churn\.js:3(:15)?\)</span></h4>")
        self.assertIn("<em>TurboFan</em>", code)
        self.assertIn("// the hot line</code>", code)
        self.assertRegex(code, r'<tr class="h" style="--w:1.000"><td>\d+</td>'
                         r"<td>[0-9.]+%</td><td>\+[0-9a-f]+</td><td>[a-z]")
        text = self.report("node", "--annotate=round", log)
        self.assertIn("round (", text)
        self.assertRegex(text, r"churn\.js:8:\d+ +t = \(t \* 31")
        weights = [int(n) for n in re.findall(r"^ +(\d+) +[0-9.]+%  +[0-9a-f]"
                                              r"+:  ", text, re.M)]
        whole = int(re.search(r"^Count (\d+)", text, re.M).group(1))
        self.assertLess(abs(sum(weights) - whole), 0.1 * whole + 20)


if __name__ == "__main__":
    unittest.main()
