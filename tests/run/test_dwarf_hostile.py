# SPDX-License-Identifier: MIT
"""DWARF that was made to break its reader, as each file here once did, and
functions that are one.  More such files are in tests/fuzz/corpus/dwarf.
Runs in: tests."""
import os
import re
import resource
import struct
import subprocess
import unittest

from dwarfs import LINES, Readers, instructions, output
from jprun import need

PAGE = 4096
TEXT = 1 << 22              # bytes of a text
FILES = 1 << 19             # that are called by it
HEAD = 20                   # bytes, of a table of range lists, in 64-bit DWARF
MEMORY = 1 << 30            # bytes; it was more than 8 GiB
SECTIONS = 10000
CPU_SECONDS = 10            # it was more than 50
TWINS = """
#define CODE(name, line) \\
    __attribute__((noinline, used)) unsigned name(unsigned x, unsigned y)
static inline __attribute__((always_inline)) unsigned mixed(unsigned x)
{
    return x * 2654435761U >> 3;
}
#line 100
CODE(first, 100)
{
    return mixed(x) ^ mixed(y + 1);
}
#line 200
CODE(second, 200)
{
    return mixed(x) ^ mixed(y + 1);
}
#line 300
CODE(third, 300)
{
    return mixed(x) ^ mixed(y + 1);
}
int main(int argc, char **)
{
    return first(argc, 1) + second(argc, 2) + third(argc, 3) == 1;
}
"""


def twins(case, text=TWINS):
    source = case.path("twins.cc")
    with open(source, "w", encoding="ascii") as target:
        target.write(text)
    return source


def elfutils():
    """The version that libdw and its tools have."""
    return tuple(int(word) for word in re.search(
        r"elfutils\) (\d+)\.(\d+)",
        output(need("eu-addr2line"), "--version")).groups())


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


class Hostile(Readers):
    def content(self, name):
        with open(self.path(name), "rb") as source:
            return source.read()

    def keep(self, name, data):
        with open(self.path(name), "wb") as target:
            target.write(data)
        return self.path(name)

    def changed(self, path, **sections):
        """The file with other sections of DWARF."""
        argv = ["objcopy"]
        for name, data in sections.items():
            argv += ["--update-section", ".debug_%s=%s" % (
                name, self.keep(name, data))]
        subprocess.run(argv + [path], check=True, stderr=subprocess.DEVNULL)

    def section(self, path, name):
        """Where it is in the file, and its size."""
        return tuple(int(word, 16) for word in re.search(
            r" \.debug_%s +PROGBITS +\S+ +(\S+) +(\S+)" % name,
            output("readelf", "-SW", path)).groups())

    def piece(self, path, name):
        at, size = self.section(path, name)
        return self.content(path)[at:at + size]

    def ask(self, path):
        """What the reader says of all places; it must not be ended."""
        asked = subprocess.run(
            [LINES, path], preexec_fn=limit, check=False, text=True,
            input="".join("%#x\n" % at for at in instructions(path)),
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.assertEqual(asked.returncode, 0)
        return asked.stdout

    def test_long_text(self):
        """Many files that are called by one text."""
        path = self.build("files", "-gdwarf-5")
        table = (struct.pack("<BBBbBB", 1, 1, 1, -5, 14, 13) +
                 bytes((0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1)) +
                 bytes((1, 1, 0x1f, 1)) + bytes(4) +
                 bytes((1, 1, 0x1f)) + bytes((
                     FILES & 127 | 128, FILES >> 7 & 127 | 128, FILES >> 14)) +
                 bytes(4 * FILES))
        head = struct.pack("<HBBI", 5, 8, 0, len(table))
        self.changed(path, line=struct.pack("<I", len(head) + len(table)) +
                     head + table, line_str=b"a" * TEXT + b"\0")
        self.ask(path)

    def ask_names(self, path, names):
        """Where names have no end, they go on to the section's, or are not
        given, as by libdw from 0.189 on."""
        text = self.ask(path)
        found = {name for name in text.splitlines()
                 if re.match("(_Z5first|mixed)", name) and len(name) > 20}
        wrong = {name for name in found
                 if not names.decode().endswith(name)}
        self.assertFalse(wrong)
        if elfutils() < (0, 189):
            self.assertTrue(found)
        self.assertIn("twins.cc:", text)

    def test_names_up_to_the_end_of_the_file(self):
        """None has an end, and the file is whole pages."""
        path = self.build("names", "-gdwarf-4", source=twins(self))
        at, size = self.section(path, "str")
        data = self.content("names")
        names = data[at:at + size].replace(b"\0", b"_")
        start = struct.unpack_from("<Q", data, 40)[0]
        where = len(data) + -(len(data) + size) % PAGE
        moved = bytearray(data.ljust(where, b"x") + names)
        for header in range(start, len(data) - 63, 64):
            if struct.unpack_from("<QQ", data, header + 24) == (at, size):
                struct.pack_into("<Q", moved, header + 24, where)
        self.keep("names", moved)
        self.ask_names(path, names)

    def test_range_list_out_of_the_section(self):
        path = self.build("lists", "-gdwarf-5", "-gdwarf64",
                          compiler="clang++")
        lists = bytearray(self.piece(path, "rnglists"))
        count = struct.unpack_from("<I", lists, 16)[0]
        self.assertGreater(count, 0)
        # Before the section, if it is added to its address.
        for number in range(count):
            struct.pack_into("<q", lists, HEAD + 8 * number, -1 << 62)
        self.changed(path, rnglists=bytes(lists))
        self.ask(path)

    def test_two_sections_of_range_lists(self):
        """libdw takes the first one, whose lists lead out of it."""
        path = self.build("two", "-gdwarf-5", "-gdwarf64", compiler="clang++")
        lists = self.piece(path, "rnglists")
        subprocess.run(["objcopy", "--add-section", ".debug_rnglistz=" +
                        self.keep("second", lists), path], check=True)
        data = bytearray(self.content("two"))
        at = self.section(path, "rnglists")[0]
        for number in range(struct.unpack_from("<I", lists, 16)[0]):
            struct.pack_into("<q", data, at + HEAD + 8 * number, -1 << 62)
        self.keep("two", data.replace(b".debug_rnglistz\0",
                                      b".debug_rnglists\0"))
        self.ask(path)

    def test_sections_that_overlap(self):
        """Thousands up to the end of the file; memory is bounded by its
        size."""
        path = self.build("many")
        data = bytearray(self.content("many"))
        start = struct.unpack_from("<Q", data, 40)[0]
        count = struct.unpack_from("<H", data, 60)[0]
        at, size = self.section(path, "str")
        heads = data[start:start + 64 * count]
        one = next(heads[i:i + 64] for i in range(0, len(heads), 64)
                   if struct.unpack_from("<QQ", heads, i + 24) == (at, size))
        end = len(data) + 64 * (count + SECTIONS)
        struct.pack_into("<QQ", one, 24, 64, end - 64)
        struct.pack_into("<Q", data, 40, len(data))
        struct.pack_into("<H", data, 60, count + SECTIONS)
        self.keep("many", data + heads + one * SECTIONS)
        self.ask(path)

    def test_packed_names_without_an_end(self):
        path = self.build("split", "-gdwarf-5", "-gsplit-dwarf",
                          "-dumpbase", "split", source=twins(self))
        found = [name for name in os.listdir(self.dir)
                 if name.endswith(".dwo")]
        self.assertEqual(len(found), 1)
        dwo = self.path(found[0])
        names = self.piece(dwo, r"str\.dwo").replace(b"\0", b"_")
        subprocess.run(["objcopy", "--update-section", ".debug_str.dwo=" +
                        self.keep("text", names), dwo], check=True)
        subprocess.run(["objcopy", "--compress-debug-sections=zlib", dwo],
                       check=True)
        self.ask_names(path, names)


class Twins(Readers):
    def made_one(self, text, first):
        """Functions that the linker made one have the name and the lines of
        the first; `first` is what its places look like."""
        source = twins(self, text)
        for compiler in ("g++", "clang++"):
            path = self.build("twins", "-ffunction-sections", "-fuse-ld=gold",
                              "-Wl,--icf=all", "-fno-inline-functions",
                              source=source, compiler=compiler)
            symbols = {name: int(at, 16) for at, name in re.findall(
                r"(\S+) t \S*?(first|second|third)E?jj",
                output("nm", path).replace(" T ", " t "))}
            self.assertEqual(len(set(symbols.values())), 1, symbols)
            start = symbols["first"]
            found = {at: chain for at, chain in self.asked(
                path, LINES, path).items() if start <= at < start + 64}
            outer = {chain[-1][1] for at, chain in found.items()
                     if at < start + 16 and chain}
            with self.subTest(compiler=compiler):
                self.assertTrue(outer)
                self.assertFalse([place for place in outer
                                  if not re.search(first, place)])

    def test_made_one(self):
        self.made_one(TWINS, r"/twins\.cc:10\d$")

    def test_made_one_of_several_files(self):
        """The last one is declared behind the first in another file."""
        self.made_one(TWINS.replace("#line 100", '#line 100 "one.h"')
                      .replace("#line 200", '#line 101 "two.h"')
                      .replace("#line 300", '#line 102 "three.h"'),
                      r"/one\.h:10\d$")


if __name__ == "__main__":
    unittest.main()
