#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packs a reviewable text into a binary jprof-log (doc/FORMAT.md).

Runs in: tests.  Usage: pack.py TEXT LOG, or pack.pack(text) -> bytes.

One directive a line; `#` starts a comment; values may be quoted as in a shell;
numbers are decimal or 0x hex.  Everything has a sound default, and every field
can be set to something unsound, since many inputs are meant to be damaged.

  header [endian=big] [FIELD=V]... [counter.N=V]...   one run; fields as below
  chunk [size=4096] [tid=T] [pid=P] [seq=S] [offset=O] [opened=NS] [magic=M]
        [room=BYTES]      room: bytes really taken in the file, default size
  stack id=A frames=0x10,0x20 [gap=N] [base=B shared=K] [count=N] [words=N]
        base: the id of an earlier stack of the chunk, or a number
  sample time=NS tid=T weight=NS [event=cpu] [reason=root] [stack=A] [words=N]
        stack: an id or a number; event and reason: a name or a number
  mark time=NS tid=T kind=mark|begin|end|N name=TEXT [length=N] [words=N]
  raw HEX...              bytes as they are, in the open chunk or in the file
  free pages=N            N pages of zeros between chunks
  end                     closes the chunk (a new chunk or header does too)
  poke at=OFFSET hex=HEX  after all else: overwrites bytes of the file
  cut size=N              after all else: the file ends after N bytes
"""
import shlex
import struct
import sys

# name, offset, struct code; strings are given their field's size.
HEADER = {
    "magic": (0, "8s"), "byte_order": (8, "I"), "version": (12, "H"),
    "header_size": (14, "H"), "machine": (16, "H"), "address_size": (18, "B"),
    "build_id_size": (19, "B"), "page_size": (20, "I"), "pid": (24, "I"),
    "proc_pid": (28, "I"), "start": (32, "Q"), "mono": (40, "Q"),
    "real": (48, "Q"), "boot": (56, "Q"), "period": (64, "Q"),
    "clock": (72, "I"), "walker": (76, "I"), "options": (80, "I"),
    "depth": (84, "I"), "ring": (88, "Q"), "cleared": (96, "Q"),
    "build_id": (104, "32x"), "boot_id": (136, "16x"), "map": (664, "256s"),
    "exe": (920, "1024s"), "flags": (1944, "1024s"),
    "owner_pid": (2968, "I"), "owner_ticks": (2976, "Q"),
    "cpu": (2984, "Q"), "children": (2992, "Q"), "cpu_read": (3000, "Q"),
    "cpu_before": (3008, "Q"), "root": (3016, "I"), "off": (3020, "I"),
    "tree": (3024, "256s"),
}
DEFAULTS = {
    "magic": "JPROFLOG", "byte_order": 0x01020304, "version": 1,
    "header_size": 4096, "machine": 62, "address_size": 8, "page_size": 4096,
    "pid": 1, "start": 1, "period": 4000000, "clock": 1, "depth": 1024,
    "map": "jprof-map", "exe": "/x/app", "flags": "JP_START",
}
EVENTS = {"cpu": 0, "running": 1, "blocked": 2, "raised": 3, "ready": 4}
REASONS = {"root": 0, "depth": 1, "bad_fp": 2, "no_rule": 3, "bounds": 4,
           "no_stack": 5, "walker": 6, "fiber": 7}
MARKS = {"mark": 0, "begin": 1, "end": 2}
CHUNK_HEADER = 64


def number(text, names=None):
    """A number, or what `names` says that the name stands for."""
    if names and text in names:
        return names[text]
    return int(text, 0)


class Packer:
    def __init__(self):
        self.out = bytearray()
        self.order = "<"
        self.pid = 1
        self.seq = 0
        self.chunk = None       # the open chunk: bytearray, limit, stack ids
        self.edits = []         # pokes and cuts, done last

    def put(self, data):
        """Appends to the open chunk, which must hold it, or to the file."""
        if self.chunk is None:
            self.out += data
            return
        if len(self.chunk) + len(data) > self.limit:
            raise ValueError("the chunk is full")
        self.chunk += data

    def close(self):
        if self.chunk is not None:
            self.out += self.chunk.ljust(self.limit, b"\0")
            self.chunk = None

    def do_header(self, args):
        self.close()
        self.order = ">" if args.pop("endian", "little") == "big" else "<"
        page = bytearray(4096)
        values = dict(DEFAULTS)
        if "build_id" in args:
            values["build_id_size"] = len(bytes.fromhex(args["build_id"]))
        values.update(args)
        self.pid = number(str(values["pid"]))
        self.seq = 0
        for key, value in values.items():
            if key.startswith("counter."):
                at = 152 + 8 * int(key[len("counter."):])
                struct.pack_into(self.order + "Q", page, at, number(value))
                continue
            at, code = HEADER[key]
            if code.endswith("s"):
                data = value.encode("utf-8", "surrogateescape")
                struct.pack_into(code, page, at, data)
            elif code.endswith("x"):
                data = bytes.fromhex(value)[:int(code[:-1])]
                page[at:at + len(data)] = data
            else:
                struct.pack_into(self.order + code, page, at,
                                 number(str(value)))
        self.out += page

    def do_chunk(self, args):
        self.close()
        self.seq = number(args.pop("seq", str(self.seq + 1)))
        size = number(args.pop("size", "4096"))
        self.limit = number(args.pop("room", str(size)))
        self.ids = {}
        self.chunk = bytearray()
        self.put(struct.pack(
            self.order + "IIQQQII24x",
            number(args.pop("magic", "0x4b43504a")), size, self.seq,
            number(args.pop("offset", str(len(self.out)))),
            number(args.pop("opened", "0")),
            number(args.pop("pid", str(self.pid))),
            number(args.pop("tid", "1"))))
        unknown(args)

    def do_stack(self, args):
        frames = [number(f) for f in args.pop("frames", "").split(",") if f]
        at = len(self.chunk)
        base = number(args.pop("base", "0"), self.ids)
        self.put(struct.pack(
            self.order + "BBHHHHHI%dQ" % len(frames), 1, 0,
            number(args.pop("words", str(2 + len(frames)))),
            number(args.pop("count", str(len(frames)))),
            number(args.pop("shared", "0")), base,
            number(args.pop("gap", "0")), 0, *frames))
        if "id" in args:
            self.ids[args.pop("id")] = at // 8
        unknown(args)

    def do_sample(self, args):
        event = number(args.pop("event", "cpu"), EVENTS)
        reason = number(args.pop("reason", "root"), REASONS)
        weight = number(args.pop("weight", "0"))
        stack = number(args.pop("stack", "0"), self.ids)
        self.put(struct.pack(
            self.order + "BBHIQQ", 2, event | reason << 4,
            number(args.pop("words", "3")), number(args.pop("tid", "1")),
            number(args.pop("time", "0")), weight | stack << 48))
        unknown(args)

    def do_mark(self, args):
        name = args.pop("name").encode("utf-8", "surrogateescape")
        words = (20 + len(name) + 7) // 8
        self.put(struct.pack(
            self.order + "BBHIQI", 4, number(args.pop("kind", "mark"), MARKS),
            number(args.pop("words", str(words))),
            number(args.pop("tid", "1")), number(args.pop("time", "0")),
            number(args.pop("length", str(len(name)))))
                 + name.ljust(8 * words - 20, b"\0"))
        unknown(args)

    def do_free(self, args):
        self.close()
        self.put(bytes(4096 * number(args.pop("pages", "1"))))
        unknown(args)

    def do_end(self, args):
        self.close()
        unknown(args)

    def do_poke(self, args):
        at, data = number(args.pop("at")), bytes.fromhex(args.pop("hex"))
        self.edits.append((at, data))
        unknown(args)

    def do_cut(self, args):
        self.edits.append((number(args.pop("size")), None))
        unknown(args)

    def line(self, text):
        words = shlex.split(text, comments=True)
        if not words:
            return
        if words[0] == "raw":
            self.put(bytes.fromhex("".join(words[1:])))
            return
        handler = getattr(self, "do_" + words[0], None)
        if handler is None:
            raise ValueError("unknown directive " + words[0])
        handler(dict(word.split("=", 1) for word in words[1:]))

    def finish(self):
        self.close()
        for at, data in self.edits:
            if data is None:
                del self.out[at:]
            else:
                self.out[at:at + len(data)] = data
        return bytes(self.out)


def unknown(args):
    """Refuses keys that no directive has taken."""
    if args:
        raise ValueError("unknown key " + ", ".join(sorted(args)))


def pack(text):
    """The binary log that `text` describes."""
    packer = Packer()
    for index, line in enumerate(text.splitlines(), 1):
        try:
            packer.line(line)
        except (ValueError, KeyError, TypeError, struct.error) as error:
            raise ValueError("line %d: %s" % (index, error)) from error
    return packer.finish()


def main(argv):
    if len(argv) != 3:
        print(__doc__, file=sys.stderr)
        return 64
    try:
        with open(argv[1], encoding="utf-8") as source:
            data = pack(source.read())
    except ValueError as error:
        print("pack.py: %s: %s" % (argv[1], error), file=sys.stderr)
        return 2
    with open(argv[2], "wb") as target:
        target.write(data)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
