#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Inputs for tests/fuzz/fuzz_dwarf.c: a small program as gcc and clang and
what works on their files write it.  What a tool that is not here makes is left
out.

Runs in: tests.  Usage: dwarfseeds.py FOLDER
"""
import os
import re
import struct
import subprocess
import sys
import tempfile

# fuzz_dwarf.c has these two as well.
ALTERNATE = "/held/alternate"
DWO = b"/proc/self/fd/900"
SOURCE = """
typedef unsigned (*made)(unsigned);
namespace outer {
struct base { unsigned bits[3]; virtual unsigned mixed(unsigned x); };
template <typename T, int N> struct box : base {
    T kept[N];
    struct inner { T one; } in;
    enum { FIRST, SECOND } kind;
    __attribute__((always_inline)) T put(T x)
    {
        kept[x % N] = x;
        return in.one += kept[(x + 1) % N] ^ bits[kind];
    }
    static __attribute__((always_inline)) T twice(T x) { return x * x + N; }
};
}
template <typename T, int N>
static inline __attribute__((always_inline)) T innermost(T x)
{
    T sum = x;
    for (T i = 0; i < N; i++) {
        T again = x >> i ^ 3;
        sum += again;
    }
    return sum;
}
namespace {
inline __attribute__((always_inline)) unsigned middle(unsigned x)
{
    return innermost<unsigned, 9>(x) * outer::box<unsigned, 4>::twice(x);
}
}
extern "C" __attribute__((noinline, used)) unsigned NAME_left_out(unsigned x)
{
    return middle(x + 5);
}
extern "C" __attribute__((noinline, used)) unsigned NAME_same(unsigned x)
{
    return middle(x + 5);
}
extern "C" __attribute__((noinline, used)) unsigned NAME_work(unsigned x)
{
    outer::box<unsigned, 4> box;
    auto alone = [&](unsigned y) __attribute__((always_inline)) {
        return middle(y) + box.put(x);
    };
    box.in.one = x;
    box.kind = outer::box<unsigned, 4>::SECOND;
    return alone(x) ? alone(x + 1) : NAME_same(x);
}
#ifdef START
extern "C" unsigned two_work(unsigned x);
extern "C" void _start(void)
{
    for (unsigned x = 0;; x = one_work(x) + two_work(x))
        ;
}
#endif
"""
# One type, whose unit is shorter than that of the code.
SMALL = """
struct small {
    unsigned bits;
    virtual unsigned mixed(unsigned x);
    unsigned end;
};
static inline __attribute__((always_inline)) unsigned twice(unsigned x)
{
    return x * x + 3;
}
extern "C" unsigned NAME_work(small *data, unsigned x)
{
    return data->bits + twice(x + data->end);
}
""" + "".join("""
extern "C" unsigned NAME_more_%d(small *data, unsigned x, unsigned y)
{
    return NAME_work(data, twice(x) ^ twice(y)) + twice(x + y);
}
""" % number for number in range(4))
FLAGS = ("-O2", "-g", "-std=c++14", "-ffreestanding", "-fno-exceptions",
         "-fno-rtti", "-fno-asynchronous-unwind-tables", "-fno-pic", "-w",
         "-ffunction-sections", "-fno-stack-protector", "-DSTART")
LINK = ("-nostdlib", "-static", "-no-pie", "-Wl,--build-id=sha1",
        "-Wl,-Ttext=0x1000", "-Wl,-z,norelro", "-Wl,-z,max-page-size=4096",
        "-Wl,--unresolved-symbols=ignore-all")
GONE = "-Wl,--gc-sections"
# (name, compiler, options of compiling, of linking)
PLAIN = [("%s-%s" % (compiler, version), compiler, ("-gdwarf-" + version,),
          (GONE,)) for compiler in ("g++", "clang++") for version in "345"]
PLAIN += [("%s-%s-%s" % (compiler, word, version), compiler,
           ("-gdwarf-" + version, *options), ())
          for compiler in ("g++", "clang++") for version in "45"
          for word, options in (("types", ("-fdebug-types-section",)),
                                ("64", ("-gdwarf64",)))]
PLAIN += [
    ("lto", "g++", ("-flto",), ("-flto", "-O2")),
    ("o0", "g++", ("-O0",), ()),
    ("columns", "g++", ("-gno-column-info", "-gstatement-frontiers"), ()),
    ("pubnames", "clang++", ("-gpubnames", "-gno-inline-line-tables"), ()),
    ("simple", "clang++", ("-Xclang", "-gsimple-template-names=simple"), ()),
    ("lines", "clang++", ("-gline-tables-only",), ()),
    ("icf", "g++", (), ("-fuse-ld=gold", "-Wl,--icf=all")),
]
SPLIT = [("%s-split-%s%s" % (compiler, version, more), compiler,
          ("-gdwarf-" + version, "-gsplit-dwarf", *options))
         for compiler in ("g++", "clang++") for version in "45"
         for more, options in (("", ()),
                               ("-types", ("-fdebug-types-section",)),
                               ("-zlib", ("-gz=zlib",)))]
# In the head of a unit of types, in 64-bit DWARF 4 (7.5.1.2).
TYPE_OFFSET = 12 + 2 + 8 + 1 + 8
PACKED = ("zlib", "zlib-gnu", "zstd")


def quiet(*argv, cwd):
    """Whether the tool is there and did it."""
    try:
        return subprocess.run(argv, cwd=cwd, check=False, timeout=60,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0
    except FileNotFoundError:
        return False


def content(path):
    with open(path, "rb") as source:
        return source.read()


def keep(path, data):
    with open(path, "wb") as target:
        target.write(data)


def parts(*files):
    return b"".join(struct.pack("<I", len(data)) + data for data in files)


class Maker:
    def __init__(self, folder, scratch):
        self.folder, self.scratch = folder, scratch
        for name in ("one", "two"):
            text = SOURCE.replace("NAME", name)
            if name == "two":
                text = text.replace("#ifdef START", "#if 0")
            keep(self.path(name + ".cc"), text.encode())

    def path(self, name):
        return os.path.join(self.scratch, name)

    def run(self, *argv):
        return quiet(*argv, cwd=self.scratch)

    def linked(self, name, compiler, options, link, units=("one", "two")):
        """A program of both sources."""
        return all(self.run(compiler, *FLAGS, *options, "-c", unit + ".cc",
                            "-o", unit + ".o") for unit in units
                   ) and self.run(compiler, *LINK, *link, *(
                       unit + ".o" for unit in units), "-o", name)

    def give(self, name, data):
        keep(os.path.join(self.folder, "dwarf-" + name), data)

    def plain(self, name, compiler, options, link):
        if self.linked(name, compiler, options, link):
            self.give(name, content(self.path(name)))

    def split(self, name, compiler, options):
        """The .dwo file of the first source is named by the descriptor that
        has it; its name has as many bytes."""
        plain = b"one-%s.dwo" % (b"x" * (len(DWO) - len(b"one-.dwo")))
        unit = plain[:-len(b".dwo")].decode()
        keep(self.path(unit + ".cc"), content(self.path("one.cc")))
        if not self.run(compiler, *FLAGS, *options, "-c", unit + ".cc",
                        "-o", unit + ".o") or not self.run(
                            compiler, *LINK, unit + ".o", "-o", name):
            return
        self.give(name, parts(content(self.path(name)).replace(plain, DWO),
                              b"", content(self.path(plain.decode()))))

    def signed(self):
        """What was inlined is said to be a type of another unit.  In 64-bit
        DWARF both kinds of reference have eight bytes."""
        keep(self.path("small.cc"), SMALL.encode())
        if not self.linked("signed", "g++", ("-gdwarf-4", "-gdwarf64",
                                             "-fdebug-types-section",
                                             "-femit-class-debug-always"), (),
                           ("small",)):
            return
        text = subprocess.run(
            ("readelf", "-W", "-S", "--debug-dump=info", self.path("signed")),
            check=True, stdout=subprocess.PIPE, text=True,
            stderr=subprocess.DEVNULL).stdout
        info, abbreviations, types = (int(re.search(
            r"\.debug_%s +PROGBITS +\S+ +(\S+)" % name, text).group(1), 16)
                                      for name in ("info", "abbrev", "types"))
        kinds = []
        data = bytearray(content(self.path("signed")))
        for unit in text.split("Compilation Unit @ offset ")[1:]:
            if "Signature:" not in unit:
                continue
            # That type is the last entry of its unit with a name, so that all
            # others are passed over on the way to it.
            at = int(unit.split(":")[0], 16)
            entries = re.findall(r"<\d+><(\w+)>: .*\n.* DW_AT_name +:", unit)
            struct.pack_into("<Q", data, types + at + TYPE_OFFSET,
                             int(entries[-1], 16) - at)
            kinds.append(struct.unpack_from(
                "<Q", data, types + at + TYPE_OFFSET - 8)[0])
        for number, at in enumerate(re.findall(
                r"\(DW_TAG_inlined_subroutine\)\n +<(\S+)> +"
                r"DW_AT_abstract_origin: \(ref8\)", text)):
            struct.pack_into("<Q", data, info + int(at, 16),
                             kinds[number % len(kinds)])
        # The tag, whether it has children, the attribute and its form.
        data[abbreviations:] = re.sub(
            rb"(\x1d[\0\1]\x31)\x14", lambda found: found[1] + b"\x20",
            data[abbreviations:])
        self.give("signed", bytes(data))

    def packed(self, word):
        if self.linked(word, "g++", ("-gdwarf-5",), ()) and self.run(
                "objcopy", "--compress-debug-sections=" + word, word):
            self.give(word, content(self.path(word)))

    def moved(self, version):
        """What dwz moves, within one file and out of two."""
        names = ["dwz-%s-%s" % (version, word) for word in "ab"]
        for name in names:
            if not self.linked(name, "g++", ("-gdwarf-" + version,), ()):
                return
        if self.run("dwz", names[0]):
            self.give("dwz-" + version, content(self.path(names[0])))
        self.linked(names[0], "g++", ("-gdwarf-" + version,), ())
        if self.run("dwz", "-m", "alternate", "-M", ALTERNATE, *names):
            self.give("dwz-alternate-" + version, parts(
                content(self.path(names[0])),
                content(self.path("alternate")), b""))


def main(argv):
    with tempfile.TemporaryDirectory(prefix="jprof-seed-") as scratch:
        maker = Maker(argv[1], scratch)
        for case in PLAIN:
            maker.plain(*case)
        for case in SPLIT:
            maker.split(*case)
        maker.signed()
        for word in PACKED:
            maker.packed(word)
        for version in "45":
            maker.moved(version)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
