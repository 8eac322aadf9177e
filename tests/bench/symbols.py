#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what inlined functions and lines of native code cost, beside the
addr2line crate's own program and llvm-symbolizer.

Runs in: `make bench-symbols FILE=PATH`.
    tests/bench/symbols.py BUILD FILE [--addresses=N,...] [--runs=N]
FILE is an ELF file with its DWARF, such as ceph-osd after
    eu-unstrip -o osd /usr/bin/ceph-osd /usr/lib/debug/.build-id/XX/YY.debug
of Debian's ceph-osd and ceph-osd-dbg.  The crate's program is found in PATH as
addr2line (cargo install addr2line --features bin) or by CRATE_ADDR2LINE;
binutils' program of that name is not taken for it.

The addresses are random in .text.  By turns each reader runs on the same list;
the least CPU time of its runs counts, and its highest peak of memory.  A chain
is the list of FILE:LINE at an address; of paths the crate joins what is not
whole to a folder that is not either, so the ends of paths are compared.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile


def crate():
    """The crate's program, or None."""
    path = os.environ.get("CRATE_ADDR2LINE") or shutil.which("addr2line")
    if path is None:
        return None
    version = subprocess.run([path, "--version"], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, check=False).stdout
    return None if b"Binutils" in version else path


def text_range(path):
    out = subprocess.run(["readelf", "-SW", path], stdout=subprocess.PIPE,
                         check=True, text=True).stdout
    start, size = re.search(r"\] \.text\s+\S+\s+(\w+)\s+\w+\s+(\w+)",
                            out).groups()
    return int(start, 16), int(size, 16)


def run(argv, source):
    """(CPU seconds, peak MB, output) of one run."""
    with open(source, "rb") as addresses, tempfile.TemporaryFile() as out:
        child = subprocess.Popen(argv, stdin=addresses, stdout=out,
                                 stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return (usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024,
                out.read().decode(errors="replace"))


def chains(text):
    """{address: [FILE:LINE]}; no line, no chain."""
    found, now, at = {}, None, 0
    for line in text.splitlines():
        if re.fullmatch("0x[0-9a-f]+", line):
            now, at = found.setdefault(int(line, 16), []), 0
        elif now is not None:
            at += 1
            place = re.match(r"(.*?):(\d+|\?)", line)
            if at % 2 == 0 and place and not place.group(1).startswith("?"):
                now.append((place.group(1), place.group(2).replace("?", "0")))
    return found


def same(one, other):
    return len(one) == len(other) and all(
        a[1] == b[1] and (tail(a[0]).endswith(tail(b[0])) or
                          tail(b[0]).endswith(tail(a[0])))
        for a, b in zip(one, other))


def tail(path):
    """The path without "./", which some spell and some do not."""
    return os.path.normpath(path).lstrip("./")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("file")
    parser.add_argument("--addresses", default="1000,20000")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    lines = os.path.join(options.build, "tests/tools/lines")
    readers = {"jprof": [lines, options.file]}
    if crate():
        readers["crate"] = [crate(), "-e", options.file, "-f", "-i", "-a"]
    if shutil.which("llvm-symbolizer"):
        readers["llvm"] = ["llvm-symbolizer", "-e", options.file, "-i",
                           "--no-demangle", "--addresses"]
    start, size = text_range(options.file)
    print("%-9s %-6s %8s %8s %9s %7s" % ("addresses", "reader", "CPU s",
                                         "ratio", "peak MB", "same"))
    for count in (int(word) for word in options.addresses.split(",")):
        chosen = random.Random(count)
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as source:
            for _ in range(count):
                source.write("%#x\n" % (start + chosen.randrange(size)))
            source.flush()
            cpu, peak, found = {}, {}, {}
            for _ in range(options.runs):
                for name, argv in readers.items():
                    took, most, text = run(argv, source.name)
                    cpu[name] = min(took, cpu.get(name, took))
                    peak[name] = max(most, peak.get(name, 0))
                    found[name] = text
        ours = chains(found["jprof"])
        for name in readers:
            theirs = chains(found[name])
            equal = sum(same(chain, theirs.get(at, []))
                        for at, chain in ours.items())
            print("%-9d %-6s %8.2f %8.2f %9.0f %6.2f%%" % (
                count, name, cpu[name], cpu["jprof"] / cpu[name], peak[name],
                100 * equal / max(len(ours), 1)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
