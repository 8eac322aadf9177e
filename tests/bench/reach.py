# SPDX-License-Identifier: MIT
"""How many stacks of real programs reach the root, beside perf's.

What counts as reached is the same for all: the outermost frame is in _start,
or it is a return address in the C library's code that calls main or a
thread's function (tests/bench/roots.c finds those, so that names are not
needed).  jprof says itself why a walk ended; of the first thread's, its
"root" counts only when the outermost frame is one of these, too.  (Other
threads' end in jprof's own thread start, which is not recorded.)  For perf it
is looked for among the three outermost frames, since its chains may run on
into what lies above them.
Runs in: `make bench`, called by bench.py; alone: reach.py BUILD-FOLDER.
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "tools"))
import decode       # noqa: E402  (needs the path above)

SECONDS = 5
ENTRY_BYTES = 64    # of _start
PERF_SECONDS = 400  # for perf to unwind what it recorded
FLAGS = "JP_START JP_PERIOD=0.001 JP_DEPTH=4096"
JAVASCRIPT = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
const end = Date.now() + 1000 * %d;
while (Date.now() < end) {
    fib(20);
    const list = [];
    for (let i = 0; i < 2000; i++) list.push({a: i, b: 'x' + i});
    list.sort((p, q) => q.a - p.a);
    JSON.parse(JSON.stringify(list));
    'abc'.replace(/b/g, x => x + list.length);
}
"""
PYTHON = """
import json, re, time
end = time.time() + %d
while time.time() < end:
    json.loads(json.dumps({str(k): k for k in range(2000)}))
    re.findall('(a|b)+c', 'abab' * 200)
    sorted(range(3000), key=lambda x: -x)
"""
JAVA = """
import java.util.*;
public class Work {
    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    public static void main(String[] arguments) {
        long end = System.currentTimeMillis() + 1000 * %d, sum = 0;
        while (System.currentTimeMillis() < end) {
            sum += fib(20);
            Map<String, Integer> table = new TreeMap<>();
            for (int i = 0; i < 2000; i++) table.put("x" + i * 7919 %% 2003, i);
            List<String> names = new ArrayList<>(table.keySet());
            names.sort(Comparator.reverseOrder());
            sum += String.join(",", names).hashCode();
        }
        System.out.println(sum);
    }
}
"""
SQL = ("with recursive c(x) as (select 1 union all select x + 1 from c where "
       "x < %d) select sum(x * x %% 7), count(distinct x %% 1000) from c;")
GIT = ("end=$(($(date +%%s) + %d)); while [ $(date +%%s) -lt $end ]; do "
       "git -C '%s' log -p --stat >/dev/null; done")


def write(path, text):
    with open(path, "w", encoding="ascii") as out:
        out.write(text)
    return path


def programs(scratch):
    """{name: command}."""
    path = lambda name: os.path.join(scratch, name)     # noqa: E731
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    with open(path("many.c"), "w", encoding="ascii") as out:
        for i in range(4000):
            out.write(f"int f{i}(int a) {{ int s = 0; for (int i = 0; i < a; "
                      f"i++) {{ s += i * {i} ^ s >> 3; if (s % 7 == {i % 7}) "
                      "s -= a; } return s; }\n")
    with open(path("random"), "wb") as out:
        out.write(os.urandom(24 << 20))
    js = write(path("work.js"), JAVASCRIPT % SECONDS)
    if shutil.which("javac"):
        subprocess.run(["javac", "-d", scratch, write(
            path("Work.java"), JAVA % SECONDS)], check=True)
    return {
        "node": ["node", js],
        "node, native stack": ["node", "--interpreted-frames-native-stack",
                               js],
        "python3": ["/usr/bin/python3" if os.path.exists("/usr/bin/python3")
                    else sys.executable, "-c", PYTHON % SECONDS],
        "gcc": ["gcc", "-O2", "-c", path("many.c"), "-o", path("many.o")],
        "xz -T2": ["xz", "-T2", "-kf", path("random")],
        "git": ["sh", "-c", GIT % (SECONDS, os.path.abspath(top))],
        "sqlite3": ["sqlite3", ":memory:", SQL % 12000000],
        "java": ["java", "-XX:+PreserveFramePointer", "-cp", scratch, "Work"],
    }


class Roots:
    """Whether a frame is the root, by file and offset in it."""

    def __init__(self, build):
        done = subprocess.run([os.path.join(build, "tests/bench/roots")],
                              check=True, text=True, stdout=subprocess.PIPE)
        # perf shows the byte before a return address when it unwinds.
        self.libc = {int(line, 16) - before for line in done.stdout.split()
                     for before in (0, 1)}
        self.entries = {}

    def entry(self, path):
        """The file offset of a program's entry, or None."""
        if path not in self.entries:
            self.entries[path] = None
            try:
                with open(path, "rb") as source:
                    data = source.read(4096)
            except OSError:
                data = b""
            if data[:4] == b"\x7fELF" and len(data) > 64:
                entry, start = struct.unpack_from("<QQ", data, 24)
                size, count = struct.unpack_from("<HH", data, 54)
                for i in range(count):
                    kind, _, offset, address, _, length = \
                        struct.unpack_from("<IIQQQQ", data, start + i * size)
                    if kind == 1 and address <= entry < address + length:
                        self.entries[path] = entry - address + offset
        return self.entries[path]

    def is_root(self, path, offset):
        name = os.path.basename(path)
        if name.startswith("libc.so"):
            return offset in self.libc
        entry = self.entry(path) if not name.startswith("ld-linux") else None
        return name.startswith(("libjprof", "ld-linux")) or (
            entry is not None and 0 <= offset - entry < ENTRY_BYTES)


def find(mappings, address):
    """(path, offset) of an address among [(start, end, offset, path)], of
    which the last fitting counts."""
    for start, end, offset, path in reversed(mappings):
        if start <= address < end:
            return path, address - start + offset
    return "", 0


def modules(path):
    """The mappings that a jprof-map tells of."""
    found = []
    with open(path, encoding="utf-8", errors="replace") as source:
        for line in source:
            match = re.search(r" module start=(\w+) end=(\w+) offset=(\w+) "
                              r".*path=(.*)", line)
            if match:
                found.append(tuple(int(match.group(i), 16) for i in (1, 2, 3))
                             + (match.group(4),))
    return found


def ours(library, scratch, command, roots):
    """(samples, of them complete, {why not: number})."""
    folder = os.path.join(scratch, "ours")
    os.makedirs(folder)
    env = dict(os.environ, LD_PRELOAD=library, JPROF_FLAGS=FLAGS +
               " JP_FILENAME=" + os.path.join(folder, "jprof-log"))
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, cwd=scratch)
    taken = good = 0
    reasons = {}
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        with open(path, "rb") as source:
            if source.read(8) != b"JPROFLOG":
                continue
        mappings = modules(path.replace("jprof-log", "jprof-map"))
        for run in decode.load(path):
            for sample in run.samples:
                taken += 1
                reason = sample[4]
                if reason == "root" and sample[1] == run.header["pid"] and \
                        not roots.is_root(
                        *find(mappings, sample[5][-1])):
                    reason = "root, not one"
                if reason in ("root", "fiber"):
                    good += 1
                else:
                    reasons[reason] = reasons.get(reason, 0) + 1
    shutil.rmtree(folder)
    return taken, good, reasons


def count_perf(lines, roots):
    """(samples, complete) of perf script's text: an address in it is the
    offset in the file (perf 6.1)."""
    taken = good = 0
    stack = []
    for line in [*lines, ""]:
        frame = re.match(r"\s+([0-9a-f]+) .*\((.*)\)$", line)
        if frame:
            stack.append((frame.group(2), int(frame.group(1), 16)))
        elif not line.strip() and stack:
            taken += 1
            good += any(roots.is_root(*place) for place in stack[-3:])
            stack = []
    return taken, good


def perf(scratch, command, graph, roots):
    """(samples, complete) by perf's way `graph`, or None."""
    data = os.path.join(scratch, "perf.data")
    done = subprocess.run(
        ["perf", "record", "-q", "-o", data, "-e", "cpu-clock:u", "-F",
         "1000", "--call-graph", graph, "--"] + command, cwd=scratch,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        return None
    script = subprocess.Popen(
        ["perf", "script", "-i", data, "--no-inline", "--max-stack", "4096",
         "-F", "pid,tid,ip,sym,dso"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        errors="replace")
    try:
        text = script.communicate(timeout=PERF_SECONDS)[0]
    except subprocess.TimeoutExpired:
        script.kill()
        script.communicate()
        return None
    return count_perf(text.splitlines(), roots)


def share(pair):
    return 100 * pair[1] / pair[0] if pair and pair[0] else None


def measure(build, scratch):
    """Yields (name, ours, reasons, {way: (samples, complete)})."""
    roots = Roots(build)
    library = os.path.join(build, "libjprof.so")
    for name, command in programs(scratch).items():
        if not shutil.which(command[0]):
            continue
        taken, good, reasons = ours(library, scratch, command, roots)
        theirs = {way: perf(scratch, command, way, roots)
                  if shutil.which("perf") else None
                  for way in ("fp", "dwarf")}
        yield name, (taken, good), reasons, theirs


def bench_reach(bench):
    for name, mine, reasons, theirs in measure(bench.build, bench.scratch):
        text = f"{share(mine) or 0:.2f}% of {mine[0]}"
        best = 0
        for way, pair in theirs.items():
            if share(pair) is not None:
                best = max(best, share(pair))
                text += f"; perf {way} {share(pair):.2f}% of {pair[0]}"
        bench.row(f"root reached, {name}", text, ">= 99.90%, perf's best",
                  (share(mine) or 0) >= max(99.9, best))
        if reasons:
            bench.notes.append(f"{name}: not complete: " + ", ".join(
                f"{count} {why}" for why, count in sorted(reasons.items())))


def table(build):
    """The table of doc/bench.md."""
    def cell(pair):
        return "-" if share(pair) is None else \
            f"{share(pair):.2f}% of {pair[0]}"
    print("| program | jprof | perf fp | perf dwarf |\n"
          "| --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory(prefix="jprof-reach-") as scratch:
        for name, mine, reasons, theirs in measure(build, scratch):
            print("| %s | %s | %s | %s |" % (
                name, cell(mine), cell(theirs["fp"]), cell(theirs["dwarf"])),
                  flush=True)
            if reasons:
                print(name, reasons, file=sys.stderr, flush=True)


if __name__ == "__main__":
    table(os.path.abspath(sys.argv[1]))
