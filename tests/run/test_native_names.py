# SPDX-License-Identifier: MIT
"""Inlined functions and lines of native code, as other readers of DWARF find
them.  Runs in: tests."""
import json
import os
import re
import shutil
import subprocess
import unittest

from jprun import HANG_SECONDS, ROOT, Case, need
import exports
from dwarfs import LINES, SOURCE, Readers, instructions, output

# GNU C: clang, which builds tests/programs too, has no such functions.
NESTED = """
static inline __attribute__((always_inline)) unsigned mix(unsigned x)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < 50; i++)
        sum += (x ^ i) * 2654435761U >> 5;
    return sum;
}
static inline __attribute__((always_inline)) unsigned twice(unsigned x)
{
    return mix(x) + mix(x + 7);
}
__attribute__((noinline)) static unsigned around(unsigned from, unsigned to)
{
    unsigned seen = 0, sum = 0;
    __attribute__((noinline)) unsigned within(unsigned x)
    {
        seen++;
        return twice(x) + seen;
    }
    for (unsigned i = from; i < to; i++)
        sum += within(i);
    return sum;
}
int main(int argc, char **argv)
{
    return argv[0] && around((unsigned)argc, 1000) == 1;
}
"""

KEPT = """
#line 10 "%(name)s.h"
__attribute__((noinline)) inline unsigned shared(unsigned x)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < x; i++)
        sum += (x ^ i) * 2654435761U >> 5;
    return sum;
}
#line 1 "%(name)s.cc"
unsigned %(name)s(unsigned x)
{
    return shared(x);
}
__attribute__((weak)) int main(int argc, char **)
{
    return shared(argc) == 1;
}
"""

BLOCKS = """
unsigned turn(unsigned n)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned x = i * 2654435761U;
        sum += x >> 5;
    }
    return sum;
}
int main(int argc, char **argv)
{
    return argv[0] && turn((unsigned)argc) == 1;
}
"""


# GCC has no linkage names for what other units cannot see.
CLASSES = """
static volatile unsigned sink;
#define GET(name, number)                                                    \\
    struct name {                                                            \\
        __attribute__((always_inline)) unsigned get(unsigned x)              \\
        {                                                                    \\
            unsigned sum = 0;                                                \\
            for (unsigned i = 0; i < 50; i++)                                \\
                sum += (x ^ i) * number >> 5;                                \\
            return sum;                                                      \\
        }                                                                    \\
    };
namespace room
{
namespace
{
GET(A, 2654435761U)
GET(B, 2654435767U)
} // namespace
static inline __attribute__((always_inline)) unsigned both(unsigned x)
{
    A a;
    B b;
    return a.get(x) + b.get(x);
}
} // namespace room
namespace other
{
static inline __attribute__((always_inline)) unsigned both(unsigned x)
{
    GET(C, 2654435779U)
    C c;
    return c.get(x);
}
} // namespace other
int main(int argc, char **)
{
    auto add = [argc](unsigned x) { sink += x * (unsigned)argc; };
    for (unsigned i = 0; i < 100; i++)
        add(room::both(i) + other::both(i));
    return 0;
}
"""

# What OCaml and Haskell call their functions, in C.
ALIKE = """
#include <time.h>
#define SPIN(name)                                                           \\
    __attribute__((noinline)) void name(void)                                \\
    {                                                                        \\
        for (volatile unsigned i = 0; i < 1000000; i++)                      \\
            ;                                                                \\
    }
SPIN(camlFoo__bar_12)
SPIN(x_GHC_y_info)
#ifdef RUNTIMES
void caml_call_gc(void) {}
void stg_upd_frame_info(void) {}
#endif
int main(void)
{
    while (clock() < CLOCKS_PER_SEC / 4) {
        camlFoo__bar_12();
        x_GHC_y_info();
    }
    return 0;
}
"""


class Names(Readers):
    def test_versions(self):
        first = self.compare(self.build("v5", "-gdwarf-5"))
        for options in (("-gdwarf-4",), ("-gdwarf-3",), ("-gdwarf64",),
                        ("-gz=zlib",), ("-gz=zlib-gnu",),
                        ("-fdebug-types-section",)):
            with self.subTest(options=options):
                path = self.build("other", "-gdwarf-5", *options)
                # LLVM and elfutils do not read all of them.
                self.assertEqual(self.asked(path, LINES, path), first)
        # What GCC 12 does not make itself.
        path = self.path("zstd")
        subprocess.run(["objcopy", "--compress-debug-sections=zstd",
                        self.path("v5"), path], check=True)
        self.assertIn("ZSTD", output("readelf", "-t", path))
        self.assertEqual(self.asked(path, LINES, path), first)
        self.spoil(path, ".debug_info", 24, 8)
        found, said = self.lines_and_words(path)
        self.assertNotIn("innermost", found)
        self.assertEqual(said.count("packed by zstd is damaged"), 1, said)

    def lines_and_words(self, path):
        """What is found at the file's instructions, and what is said."""
        done = subprocess.run(
            [LINES, path], input="".join(
                "%#x\n" % at for at in instructions(path)), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True,
            timeout=60)
        return done.stdout, done.stderr

    @staticmethod
    def spoil(path, section, start=0, size=None):
        """Overwrites bytes of a section."""
        with open(path, "rb") as source:
            data = bytearray(source.read())
        found = re.search(r" %s +PROGBITS +\S+ +(\S+) +(\S+)" % re.escape(
            section), output("readelf", "-SW", path))
        at, whole = (int(word, 16) for word in found.groups())
        size = size or whole
        data[at + start:at + start + size] = b"\xff" * size
        with open(path, "wb") as target:
            target.write(data)

    def test_link_time(self):
        # elfutils loses inlined functions that other units have.
        self.compare(self.build("lto", "-flto"), least=0.2)

    def test_clang(self):
        # elfutils finds units by this table alone.
        self.compare(self.build("clang", "-gdwarf-aranges",
                                compiler="clang++"), least=0.4)
        path = self.build("bare", compiler="clang++")
        whole = self.asked(self.path("clang"), LINES, self.path("clang"))
        self.assertEqual(self.asked(path, LINES, path), whole)

    def test_rust(self):
        """Into functions of the core library as well."""
        path = self.path("library")
        subprocess.run([need("rustc"), "-O", "-g", "-C", "panic=abort",
                        "--crate-type=cdylib", "-o", path,
                        os.path.join(ROOT, "tests/programs/inlined.rs")],
                       check=True, cwd=self.dir)
        # rustc, as clang, writes no such table as elfutils finds units by.
        self.compare(path, least=0)

    def test_d(self):
        path = self.path("library")
        subprocess.run([need("gdc"), "-O2", "-g", "-shared", "-fPIC",
                        "-fno-druntime", "-nophoboslib", "-o", path,
                        os.path.join(ROOT, "tests/programs/inlined.d")],
                       check=True)
        self.compare(path, style="dlang")

    def test_split(self):
        """In .dwo files, plain and packed each way."""
        whole = self.build("whole")
        expected = self.asked(whole, LINES, whole)
        dwo = self.path("split-inlined.dwo")
        for version in ("-gdwarf-5", "-gdwarf-4"):
            path = self.build("split", version, "-gsplit-dwarf")
            shutil.copy(dwo, self.path("plain.dwo"))
            for way in ("none", "zlib", "zlib-gnu"):
                with self.subTest(version=version, way=way):
                    subprocess.run(
                        ["objcopy", "--compress-debug-sections=" + way,
                         self.path("plain.dwo"), dwo], check=True)
                    self.assertEqual(self.asked(path, LINES, path), expected)
        # Without its file lines are left; a FIFO there is not waited for.
        os.rename(dwo, self.path("gone"))
        for make in (lambda _: None, os.mkfifo):
            make(dwo)
            found, said = self.lines_and_words(path)
            self.assertEqual(said.count("cannot be read"), 1)
            self.assertIn("split-inlined.dwo", said)
            self.assertIn("inlined.cc:", found)
            self.assertNotIn("innermost", found)

    def test_package(self):
        """The .dwo files of a program in a .dwp file."""
        version = re.search(r"0\.(\d+)", output("eu-readelf", "--version"))
        is_read = int(version.group(1)) >= 191
        # LLVM's packer (21) never ends with the location views of g++ 16.
        views = "-gno-variable-location-views"
        whole = self.build("whole", views)
        expected = self.asked(whole, LINES, whole)
        # binutils' packs no DWARF 5.
        for option, packer in (("-gdwarf-5", "llvm-dwp"),
                               ("-gdwarf-4", "dwp")):
            with self.subTest(option=option):
                path = self.build("app", option, "-gsplit-dwarf", views)
                subprocess.run([need(packer), "-e", path, "-o", path + ".dwp"],
                               check=True, cwd=self.dir, timeout=HANG_SECONDS)
                os.unlink(self.path("app-inlined.dwo"))
                if is_read:
                    self.assertEqual(self.asked(path, LINES, path), expected)
                    continue
                found, said = self.lines_and_words(path)
                self.assertEqual(said.count(path + ".dwp"), 1, said)
                self.assertEqual(said.count("\n"), 1, said)
                self.assertIn("inlined.cc:", found)
                self.assertNotIn("innermost", found)
        os.unlink(path + ".dwp")
        os.mkfifo(path + ".dwp")
        self.assertNotIn("innermost", self.lines_and_words(path)[0])

    def test_classes(self):
        """Functions of one name in several classes are apart, also in what
        dwz moved, and when all units were compiled as one."""
        with open(self.path("classes.cc"), "w", encoding="ascii") as source:
            source.write(CLASSES)
        names = {"room::(anonymous namespace)::A::get",
                 "room::(anonymous namespace)::B::get", "other::both",
                 "room::both", "other::both::C::get"}
        for options in ((), ("-gdwarf-4",), ("-flto",)):
            with self.subTest(options=options):
                path = self.build("classes", *options,
                                  source=self.path("classes.cc"))
                found = set(self.lines_and_words(path)[0].splitlines())
                self.assertEqual(names - found, set())
                self.assertTrue([one for one in found if re.fullmatch(
                    r"main::.*operator\(\)", one)], found)
                self.assertFalse({"get", "both", "operator()"} & found)
        subprocess.run([need("dwz"), path], check=True)
        self.assertEqual(names - set(
            self.lines_and_words(path)[0].splitlines()), set())
        with open(self.path("second.cc"), "w", encoding="ascii") as source:
            source.write(CLASSES.replace("int main", "int second"))
        for name in ("moved", "others"):
            path = self.build(name, "-gdwarf-4", "second.cc",
                              source=self.path("classes.cc"))
        before = self.lines_and_words(path)
        subprocess.run([need("dwz"), "-m", "common", "moved", "others"],
                       check=True, cwd=self.dir)
        self.assertIn("DW_TAG_partial_unit", output(
            "readelf", "--debug-dump=info", self.path("common")))
        self.assertEqual(self.lines_and_words(path), before)
        path = self.build("clang", source=self.path("classes.cc"),
                          compiler="clang++")
        found = self.lines_and_words(path)[0].splitlines()
        for name in ("A::get", "B::get", "C::get"):
            self.assertTrue([one for one in found if name + "(" in one], name)

    def test_nested_function(self):
        with open(self.path("nested.c"), "w", encoding="ascii") as source:
            source.write(NESTED)
        path = self.build("nested", source=self.path("nested.c"),
                          compiler="gcc")
        found = self.asked(path, LINES, path)
        self.assertIn(["mix", "twice", "within"],
                      [[name for name, _ in chain] for chain in
                       found.values()])

    def test_blocks_apart(self):
        """GHC's functions, which say of their first block that it is all."""
        with open(self.path("a.c"), "w", encoding="ascii") as source:
            source.write(BLOCKS)
        subprocess.run([need("gcc"), "-O0", "-gdwarf-3", "-gstrict-dwarf",
                        "-dA", "-S", "a.c"], check=True, cwd=self.dir)
        with open(self.path("a.s"), encoding="utf-8") as source:
            text = source.read()
        text, found = re.subn(r"\.byte\t0x\w+(\t# DW_AT_language)",
                              r".byte\t0x18\1", text)
        self.assertEqual(found, 1)
        text, found = re.subn(r"\.quad\t\.LFE0(\t# DW_AT_high_pc)",
                              r".quad\t.LFB0+1\1", text)
        self.assertEqual(found, 1)
        with open(self.path("a.s"), "w", encoding="utf-8") as target:
            target.write(text)
        subprocess.run(["gcc", "-o", "a", "a.s"], check=True, cwd=self.dir)
        path = self.path("a")
        self.assertEqual({name for chain in self.asked(
            path, LINES, path).values() for name, where in chain
                          if where.endswith("a.c:7")}, {"turn"})

    def test_kept_copy(self):
        """Of a function that two units have, the linker keeps the first."""
        for name in ("one", "other"):
            with open(self.path(name + ".cc"), "w",
                      encoding="ascii") as source:
                source.write(KEPT % {"name": name})
        for first, second in (("one", "other"), ("other", "one")):
            path = self.build(
                "kept", self.path(second + ".cc"),
                source=self.path(first + ".cc"))
            found = {where.split("/")[-1].split(":")[0]
                     for chain in self.asked(path, LINES, path).values()
                     for name, where in chain if name == "shared"}
            self.assertEqual(found, {first + ".h"})

    def test_file_in_the_root(self):
        source = self.path("rooted.cc")
        with open(source, "w", encoding="ascii") as target:
            target.write('#line 5 "/rooted.h"\nint main() { return 0; }\n')
        for compiler in ("g++", "clang++"):
            for version in ("-gdwarf-4", "-gdwarf-5"):
                path = self.build("rooted", version, source=source,
                                  compiler=compiler)
                places = {where for chain in self.asked(
                    path, LINES, path).values() for _, where in chain}
                with self.subTest(compiler=compiler, version=version):
                    self.assertIn("/rooted.h:5", places)
                    self.assertNotIn("//rooted.h:5", places)

    def test_damaged(self):
        """What DWARF does not tell is said to be missing, once."""
        path = self.build("broken")
        whole = self.asked(path, LINES, path)
        self.spoil(path, ".debug_abbrev")
        done = subprocess.run([LINES, path], input="".join(
            "%#x\n" % one for one in whole), text=True, check=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.stderr.count("its DWARF is damaged"), 1,
                         done.stderr)
        self.assertNotIn("its DWARF", subprocess.run(
            [LINES, self.build("sound")], input="".join(
                "%#x\n" % one for one in whole), text=True, check=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE).stderr)

    def test_truncated(self):
        """A file that is cut anywhere gives less, and no crash."""
        path = self.build("whole")
        with open(path, "rb") as source:
            data = source.read()
        addresses = "".join("%#x\n" % at for at in instructions(path))
        for part in range(1, 20):
            with open(self.path("cut"), "wb") as target:
                target.write(data[:len(data) * part // 20])
            done = subprocess.run([LINES, self.path("cut")], input=addresses,
                                  text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, check=False)
            self.assertIn(done.returncode, (0, 2), part)


class Profiles(Case):
    def profile(self, compiler="g++", source=SOURCE):
        app = self.path("app")
        subprocess.run([need(compiler), "-O2", "-g", "-o", app, source],
                       check=True)
        done = self.run_program(app, "0.5", flags="JP_START JP_PERIOD=0.001")
        self.assertEqual((done.status, done.err), (0, ""))
        return app

    def test_frames(self):
        app = self.profile()
        stacks = self.collapsed(app, "jprof-log", inlined=True)
        marked = ["%s (inlined)" % name for name in (
            "outermost<unsigned int>", "middle", "innermost")]
        found = sum(weight for stack, weight in stacks
                    if [re.sub(r"^\S* (?=outermost)|\(unsigned int\)", "", name)
                        for name in stack[-3:]] == marked)
        total = sum(weight for _, weight in stacks)
        self.assertGreater(found, total / 20)
        summary = self.summary(app, "jprof-log")
        self.assertGreater(int(summary["inlined_frames"]), found)
        self.assertGreater(int(summary["lines_known"]), total / 2)
        self.assertLessEqual(int(summary["lines_known"]),
                             int(summary["frames"]))
        # Count and Hits: once a stack, whatever is inlined into itself.
        text = self.report(app, "--format=text", "jprof-log")
        hits = [int(line.split()[3]) for line in text.splitlines()
                if re.match(r"\s+\[\d+\]", line) and line.count("(") > 1
                for line in [line.replace("(", " ")]]
        self.assertLessEqual(max(hits), total)
        self.assertIn("innermost (inlined)", text)
        self.assertIn(">innermost</a> (inlined)", self.report(app, "jprof-log"))

    def test_options(self):
        app = self.profile("clang++")
        folded = self.collapsed(app, "jprof-log")
        self.assertFalse([stack for stack, _ in folded
                          if any("(inlined)" in name for name in stack)])
        self.assertEqual(
            self.summary(app, "--no-inline", "jprof-log")["inlined_frames"],
            "0")
        whole = self.collapsed(app, "jprof-log", inlined=True)
        self.assertEqual(sum(weight for _, weight in folded),
                         sum(weight for _, weight in whole))
        name = "innermost(unsigned int)"
        kept = self.collapsed(app, "-i", name, "jprof-log", inlined=True)
        left = self.collapsed(app, "-e", name, "jprof-log", inlined=True)
        self.assertTrue(kept)
        self.assertTrue(all(any(frame.startswith("innermost")
                                for frame in stack) for stack, _ in kept))
        self.assertFalse([stack for stack, _ in left
                          if any(frame.startswith("innermost")
                                 for frame in stack)])

    def test_mangled_names_and_first_lines(self):
        """Viewers have the symbol beside the name, and where the function
        begins."""
        app = self.profile("clang++")
        with open(SOURCE, encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.report(app, "--format=pprof", "-o", self.path("p"), "jprof-log")
        profile = exports.Pprof(self.path("p"))
        begun = 0
        for function in profile.functions:
            name, symbol = (profile.text(exports.one(function, number))
                            for number in (2, 3))
            short = re.match(r"(?:\S+ )?(\w+)(<.*>)?\(", name)
            if short and short.group(1) in ("innermost", "middle",
                                            "outermost"):
                self.assertRegex(symbol, "^_Z.*" + short.group(1))
                self.assertIn(short.group(1) + "(",
                              lines[exports.one(function, 5) - 1])
                begun += 1
        self.assertGreater(begun, 1)
        self.report(app, "--format=firefox", "-o", self.path("f"), "jprof-log")
        with open(self.path("f"), encoding="utf-8") as file:
            shared = json.load(file)["shared"]
        table = shared["funcTable"]
        known = {shared["stringArray"][name]: line for name, line
                 in zip(table["name"], table["lineNumber"])}
        self.assertIn("int main(", lines[known["main"] - 1])
        # A symbol is a name for options, too.
        symbol = "_ZL9innermostj"
        self.assertEqual(
            self.collapsed(app, "-i", symbol, "jprof-log"),
            self.collapsed(app, "-i", "innermost(unsigned int)", "jprof-log"))

    def test_d(self):
        """Names of D, of a real program."""
        app = self.path("app")
        subprocess.run([need("gdc"), "-O2", "-g", "-fno-inline", "-o", app,
                        os.path.join(ROOT, "tests/programs/shapes.d")],
                       check=True)
        done = self.run_program(app, flags="JP_START JP_PERIOD=0.001")
        self.assertEqual((done.status, done.err), (0, ""))
        leaves = {stack[-1] for stack, _ in self.collapsed(app, "jprof-log")}
        for name in ("shapes.Matrix!(double).Matrix.sum()",
                     "shapes.Circle.area(int)", "shapes.spin(ulong)"):
            self.assertIn(name, leaves)
        roots = {name for stack, _ in self.collapsed(app, "jprof-log")
                 for name in stack}
        self.assertIn("D main", roots)
        # libiberty has no rule for a thunk (_DT) or a parameter that is both
        # `return` and `scope` (NkM): what c++filt leaves as it is may stay.
        raw = [name.removesuffix("@plt") for name in roots
               if name.startswith("_D")]
        self.assertEqual(raw, subprocess.run(
            ["c++filt", "-s", "dlang", *raw], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, text=True,
            check=True).stdout.splitlines())

    def test_alike(self):
        """C functions that are called as OCaml's and Haskell's are; only where
        those run-time systems are, they are theirs."""
        with open(self.path("alike.c"), "w", encoding="ascii") as source:
            source.write(ALIKE)
        for options, names in (
                ((), {"camlFoo__bar_12", "x_GHC_y_info"}),
                (("-DRUNTIMES",), {"Foo.bar_12", "x:GHC.y"})):
            app = self.path("app")
            subprocess.run([need("gcc"), "-O1", "-o", app,
                            self.path("alike.c"), *options], check=True)
            done = self.run_program(app, flags="JP_START JP_PERIOD=0.001")
            self.assertEqual((done.status, done.err), (0, ""))
            leaves = {stack[-1]
                      for stack, _ in self.collapsed(app, "jprof-log")}
            self.assertEqual(names - leaves, set(), leaves)

    def test_real_time(self):
        """What blocked, and time by function, mark them too."""
        app = self.path("app")
        with open(app + ".c", "w", encoding="ascii") as source:
            source.write("""
                #include <time.h>
                static inline __attribute__((always_inline)) void rest(void)
                {
                    struct timespec little = {0, 20000000};
                    nanosleep(&little, 0);
                }
                int main(void)
                {
                    for (int i = 0; i < 40; i++)
                        rest();
                    return 0;
                }
                """)
        subprocess.run([need("gcc"), "-O2", "-g", "-o", app, app + ".c"],
                       check=True)
        done = self.run_program(app, flags="JP_START JP_REALTIME "
                                "JP_PERIOD=0.001")
        self.assertEqual(done.status, 0)
        for form in ("text", "html", "summary"):
            self.assertRegex(self.report(app, "--format=" + form, "jprof-log"),
                             r"\brest \(inlined\)")


if __name__ == "__main__":
    unittest.main()
