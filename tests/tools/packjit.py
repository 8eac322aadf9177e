#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packs a reviewable text into a jitdump, and lists the records of one.

Runs in: tests.  Usage: packjit.py TEXT DUMP, or packjit.pack(text) -> bytes.

One directive a line; `#` starts a comment; values may be quoted as in a shell;
numbers are decimal or 0x hex.

  header [endian=big] [version=1] [size=40] [machine=62] [pid=7] [flags=0]
  load at=A size=S name=N [time=T] [pid=P] [tid=T] [vma=V]
  move from=A to=B size=S [time=T]
  debug at=A [time=T] [lines=ADDRESS:LINE:COLUMN:FILE,...]
  close [time=T]            unwinding [time=T]
  raw HEX...                bytes as they are
  cut less=N                takes the last N bytes away
"""
import re
import shlex
import struct
import sys

MAGIC = 0x4A695444


class Packer:
    def __init__(self):
        self.out = bytearray()
        self.order = "<"

    def fields(self, code, *values):
        return struct.pack(self.order + code, *values)

    def record(self, kind, args, body):
        self.out += self.fields("IIQ", kind, 16 + len(body),
                                number(args, "time", 0))
        self.out += body

    def do_header(self, args):
        self.order = ">" if args.get("endian") == "big" else "<"
        size = number(args, "size", 40)
        head = self.fields("IIIIIIQQ", MAGIC, number(args, "version", 1), size,
                           number(args, "machine", 62), 0,
                           number(args, "pid", 7), 0,
                           number(args, "flags", 0))
        self.out += head[:size].ljust(size, b"\0")

    def do_load(self, args):
        start, size = number(args, "at"), number(args, "size")
        name = args["name"].encode("utf-8", "surrogateescape")
        self.record(0, args, self.fields(
            "IIQQQQ", number(args, "pid", 7), number(args, "tid", 7),
            number(args, "vma", start), start, size, 1) + name + b"\0" +
            b"\x90" * size)

    def do_move(self, args):
        source, target = number(args, "from"), number(args, "to")
        self.record(1, args, self.fields(
            "IIQQQQQ", number(args, "pid", 7), 7, target, source, target,
            number(args, "size"), 1))

    def do_debug(self, args):
        lines = [line.split(":", 3) for line in
                 args.get("lines", "").split(",") if line]
        body = self.fields("QQ", number(args, "at"), len(lines))
        for address, line, column, name in lines:
            body += self.fields("QII", int(address, 0), int(line, 0),
                                int(column, 0)) + name.encode() + b"\0"
        self.record(2, args, body)

    def do_close(self, args):
        self.record(3, args, b"")

    def do_unwinding(self, args):
        self.record(4, args, self.fields("QQQ", 0, 0, 0))

    def do_cut(self, args):
        del self.out[len(self.out) - number(args, "less"):]

    def line(self, text):
        words = shlex.split(text, comments=True)
        if not words:
            return
        if words[0] == "raw":
            self.out += bytes.fromhex("".join(words[1:]))
            return
        getattr(self, "do_" + words[0])(
            dict(word.split("=", 1) for word in words[1:]))


def number(args, key, default=None):
    return int(args[key], 0) if key in args or default is None else default


def pack(text):
    """The jitdump that `text` describes."""
    packer = Packer()
    for line in text.splitlines():
        packer.line(line)
    return bytes(packer.out)


def loads(data):
    """(time, start, size, name) of each whole LOAD, in the file's order."""
    order = "<" if struct.unpack_from("<I", data)[0] == MAGIC else ">"
    at = struct.unpack_from(order + "I", data, 8)[0]
    while at + 16 <= len(data):
        kind, size, time = struct.unpack_from(order + "IIQ", data, at)
        if size < 16 or at + size > len(data):
            return
        if kind == 0:
            start, length = struct.unpack_from(order + "QQ", data, at + 32)
            name = data[at + 56:data.index(b"\0", at + 56)]
            yield time, start, length, name.decode("utf-8", "replace")
        at += size


# What may call a function of tests/programs/codechurn.js.  Frame pointers miss
# the caller of a function that has not pushed its own yet: the one after the
# next is as right, and has the number too.
CALLERS = {"f": r"\b[gh]_%s ", "g": r"\bh_%s |\bdriver ",
           "h": r"\bdriver |^(?!.*\b[fgh]_\d)"}


def churned(stack):
    """(name, caller, whether that is right) of each generated function on a
    stack of tests/programs/codechurn.js, root first; what the interpreter
    called, under its own name for all, is left out, and what code without a
    name did: that is no wrong one, and jit_named counts it."""
    for caller, name in zip(stack, stack[1:]):
        found = re.search(r"\b([fgh])_(\d+) ", name)
        if found and caller != "[jit]" and \
                "InterpreterEntryTrampoline" not in caller:
            wanted = CALLERS[found[1]].replace("%s", found[2])
            yield name, caller, bool(re.search(wanted, caller))


def main(argv):
    if len(argv) != 3:
        print(__doc__, file=sys.stderr)
        return 64
    with open(argv[1], encoding="utf-8") as source, \
            open(argv[2], "wb") as target:
        target.write(pack(source.read()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
