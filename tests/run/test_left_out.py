# SPDX-License-Identifier: MIT
"""Functions that the linker left out: their DWARF stays, and begins where no
code is.  The answers are those of a program that never had them.  Runs in:
tests."""
import glob
import os
import re
import shutil
import subprocess
import unittest

from jprun import need
from dwarfs import LINES, SOURCE, Readers, instructions, output

# Longer than the address of the code that is there.
LONG = """
#line 1 "dropped.h"
%s unsigned %s(volatile unsigned *data)
{
    unsigned sum = innermost(data[1]);
%s    return outermost(sum);
}
""" % ("%s", "%s", "".join("    sum += data[%d] * %d;\n" % (at % 7, at)
                           for at in range(2000)))
UNUSED = """
#include "%s"
#ifdef WITH
%s
#endif
""" % (SOURCE, LONG % ("__attribute__((noinline))", "dropped"))
HEAD = """
static inline __attribute__((always_inline)) unsigned innermost(unsigned x)
{
    return x * 2654435761U >> 3;
}
static inline __attribute__((always_inline)) unsigned outermost(unsigned x)
{
    return innermost(x) ^ innermost(x + 1);
}
"""
SHARED = LONG % ("__attribute__((noinline, noipa)) inline", "shared")
FIRST = HEAD + SHARED + """
#line 1 "first.cc"
unsigned later(volatile unsigned *data);
int main(int argc, char **)
{
    volatile unsigned data[8] = {(unsigned)argc};
    return shared(data) + later(data) == 1;
}
"""
SECOND = HEAD + """
#ifdef WITH
%s
#else
unsigned shared(volatile unsigned *data);
#endif
#line 1 "second.cc"
unsigned later(volatile unsigned *data)
{
    return outermost(data[2]) + shared(data);
}
""" % SHARED


class LeftOut(Readers):
    def write(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as target:
            target.write(text)
        return self.path(name)

    def objects(self, sources, *options, compiler="g++"):
        """Compiles them with what will be left out, and without."""
        found = []
        for kind, more in (("with", ("-DWITH",)), ("without", ())):
            names = [self.path("%s-%d.o" % (kind, number))
                     for number, _ in enumerate(sources)]
            for name, source in zip(names, sources):
                subprocess.run(
                    [need(compiler), "-O2", "-g", "-w", "-ffunction-sections",
                     "-c", "-o", name, source, *options, *more], check=True)
            found.append(names)
        return found

    def pair(self, objects, *options):
        """A program and the same one that never had what was left out: the
        code is the same."""
        paths = [self.build(name, *some[1:], *options, source=some[0])
                 for name, some in zip(("with", "without"), objects)]
        self.assertEqual(*map(instructions, paths))
        self.assertIn("dropped.h", output(
            "readelf", "--debug-dump=decodedline", paths[0]))
        return paths

    def check(self, path, without):
        found = self.asked(path, LINES, path)
        truth = self.asked(without, LINES, without)
        wrong = {hex(at): (chain, truth[at]) for at, chain in found.items()
                 if chain != truth[at]}
        self.assertEqual(wrong, {})
        self.assertGreater(len({where for chain in found.values()
                                for _, where in chain}), 5)

    @staticmethod
    def linkers():
        """Options for each linker that is here."""
        root = output(need("rustc"), "--print", "sysroot").strip()
        found = [("-fuse-ld=bfd",), ("-fuse-ld=gold",)]
        if shutil.which("ld.lld"):
            found.append(("-fuse-ld=lld",))
        else:
            found += [("-fuse-ld=lld", "-B" + os.path.dirname(lld))
                      for lld in glob.glob(os.path.join(
                          root, "lib/rustlib/*/bin/gcc-ld/ld.lld"))]
        return found

    def test_unused(self):
        source = self.write("unused.cc", UNUSED)
        for compiler, version in (("g++", "-gdwarf-5"), ("g++", "-gdwarf-4"),
                                  ("clang++", "-gdwarf-5")):
            objects = self.objects((source,), version, "-fPIE",
                                   compiler=compiler)
            for linker in self.linkers():
                with self.subTest(compiler=compiler, version=version,
                                  linker=linker):
                    self.check(*self.pair(objects, "-pie",
                                          "-Wl,--gc-sections", *linker))
        # Elsewhere, and by the last compiler's objects.
        self.check(*self.pair(objects, "-no-pie", "-Wl,--gc-sections",
                              "-Wl,-Ttext-segment=0x1000"))

    def test_readers(self):
        """As LLVM has it, where it has what is there."""
        path, _ = self.pair(self.objects((
            self.write("unused.cc", UNUSED),)), "-Wl,--gc-sections")
        ours = self.asked(path, LINES, path)
        llvm = self.asked(path, need("llvm-symbolizer"), "-e", path, "-i",
                          "--no-demangle", "--addresses")
        same = 0
        for at, chain in ours.items():
            lines = [where for _, where in chain]
            theirs = [where for _, where in llvm[at]]
            same += bool(chain) and lines == theirs
            self.assertFalse([where for where in lines
                              if "dropped.h" in where])
        self.assertGreater(same, len(ours) / 2)

    def test_second_copy(self):
        """Of a function that two units have, one is left out."""
        sources = (self.write("first.cc", FIRST),
                   self.write("second.cc", SECOND))
        for compiler, version in (("g++", "-gdwarf-5"),
                                  ("clang++", "-gdwarf-4")):
            with self.subTest(compiler=compiler):
                self.check(*self.pair(self.objects(
                    sources, version, compiler=compiler)))

    def test_other_marks(self):
        """What linkers write besides 0."""
        whole, without = self.pair(self.objects((
            self.write("unused.cc", UNUSED),)), "-Wl,--gc-sections")
        with open(whole, "rb") as source:
            data = source.read()
        at, size = (int(word, 16) for word in re.search(
            r" \.debug_line +PROGBITS +\S+ +(\S+) +(\S+)",
            output("readelf", "-SW", whole)).groups())
        table = data[at:at + size]
        mark = b"\0\x09\x02"
        self.assertIn(mark + bytes(8), table)
        for number in (1, 2 ** 64 - 1, 2 ** 64 - 2, 0x250):
            with self.subTest(number=number):
                path = self.path("marked")
                with open(path, "wb") as target:
                    target.write(data[:at] + table.replace(
                        mark + bytes(8), mark + number.to_bytes(8, "little"))
                                 + data[at + size:])
                subprocess.run(["readelf", "-h", path], check=True,
                               stdout=subprocess.DEVNULL)
                self.check(path, without)


if __name__ == "__main__":
    unittest.main()
