#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Inputs for tests/fuzz/fuzz_cfi.c, of the call-frame information of real
libraries: a few of each one's entries, with a table of their own.

Runs in: tests.  Usage: cfiseeds.py FOLDER [LIBRARY...]
"""
import glob
import os
import random
import struct
import sys

ADDRESS = 0x10000000    # fuzz_cfi.c has it too
ENTRIES = 10            # of a library, in an input
INPUTS = 4              # of a library
LIBRARIES = ("libc.so.6", "libstdc++.so.6", "libcrypto.so.3", "libm.so.6",
             "ld-linux-x86-64.so.2", "libgcc_s.so.1", "libgmp.so.10",
             "libz.so.1", "libelf.so.1")
PT_LOAD, PT_GNU_EH_FRAME = 1, 0x6474e550
# In instructions: def_cfa_expression, expression, val_expression,
# remember_state.  Data may hold these bytes as well: no harm.
RARE = b"\x0f\x10\x16\x0a"


class Section:
    """The bytes of the segment around .eh_frame_hdr, and where they load."""

    def __init__(self, path):
        with open(path, "rb") as source:
            data = source.read()
        start, size, count = (
            struct.unpack_from("<Q", data, 32)[0],
            *struct.unpack_from("<HH", data, 54))
        self.header = None
        segments = []
        for i in range(count):
            kind, _, offset, address, _, filesz, _, _ = struct.unpack_from(
                "<IIQQQQQQ", data, start + i * size)
            if kind == PT_GNU_EH_FRAME:
                self.header = address
            elif kind == PT_LOAD:
                segments.append((offset, address, filesz))
        for offset, address, filesz in segments:
            if self.header is not None and \
                    address <= self.header < address + filesz:
                self.address = address
                self.bytes = data[offset:offset + filesz]

    def i32(self, address):
        return struct.unpack_from("<i", self.bytes, address - self.address)[0]

    def entry(self, address):
        """A CIE or FDE with its length word."""
        length = self.i32(address)
        at = address - self.address
        return self.bytes[at:at + 4 + length]

    def table(self):
        """Addresses of the FDEs."""
        if self.bytes[self.header - self.address:][:4] != b"\x01\x1b\x03\x3b":
            return []
        return [self.header + self.i32(self.header + 16 + i * 8)
                for i in range(self.i32(self.header + 8))]


def lay_out(section, fdes):
    """An input: head, header, table, then CIEs and FDEs with the distances in
    them made right.  Code goes near ADDRESS + 1 MiB."""
    base = 12 + 8 * len(fdes)
    out, cies, pairs = bytearray(), {}, []
    code = ADDRESS + 0x100000
    for fde in fdes:
        cie = fde + 4 - section.i32(fde + 4)
        if cie not in cies:
            cies[cie] = base + len(out)
            out += section.entry(cie)
        entry = bytearray(section.entry(fde))
        at = base + len(out)
        struct.pack_into("<I", entry, 4, at + 4 - cies[cie])
        struct.pack_into("<i", entry, 8, code - (ADDRESS + at + 8))
        pairs.append((code - ADDRESS, at))
        code += struct.unpack_from("<I", entry, 12)[0]
        out += entry
    out += bytes(4)
    head = struct.pack("<I", 0)
    head += bytes(i % len(fdes) for i in range(6))
    head += bytes(random.randrange(64) for _ in range(6))
    table = struct.pack("<4BiI", 1, 0x1b, 3, 0x3b, base - 4, len(fdes))
    for code, at in pairs:
        table += struct.pack("<ii", code, at)
    return head + table + bytes(out)


def seeds(path):
    section = Section(path)
    fdes = section.table() if section.header is not None else []
    if not fdes:
        return
    rare = [fde for fde in fdes if any(
        byte in section.entry(fde)[17:].rstrip(b"\0") for byte in RARE)]
    signals = [fde for fde in fdes if b"zRS" in section.entry(
        fde + 4 - section.i32(fde + 4))]
    for _ in range(INPUTS):
        chosen = signals[:1] + random.sample(rare, min(4, len(rare)))
        chosen += random.sample(fdes, min(ENTRIES - len(chosen), len(fdes)))
        yield lay_out(section, chosen)


def find(name):
    for folder in ("/lib64", "/usr/lib64", "/lib/*-linux-gnu",
                   "/usr/lib/*-linux-gnu", "/usr/lib"):
        for path in glob.glob(os.path.join(folder, name)):
            return path
    return None


def main():
    random.seed(1)
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    made = 0
    for name in sys.argv[2:] or LIBRARIES:
        path = name if "/" in name else find(name)
        for i, seed in enumerate(seeds(path) if path else ()):
            with open(os.path.join(folder, "%s-%d" % (
                    os.path.basename(name), i)), "wb") as out:
                out.write(seed)
            made += 1
    print("%d inputs" % made)
    return 0 if made else 1


if __name__ == "__main__":
    sys.exit(main())
