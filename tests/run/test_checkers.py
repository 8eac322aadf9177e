# SPDX-License-Identifier: MIT
"""The checkers themselves: each passes a good tree and fails a bad one.
Runs in: tests."""
import os
import re
import subprocess
import unittest

from jprun import ROOT, Case, need

LONG_BODY = "    x++;\n" * 79
SMALL = "/* SPDX */\nint f(int x);\nint f(int x)\n{\n    return x;\n}\n"


class Checker(Case):
    """A tree in the temporary folder, made of {path: text}."""

    def tree(self, files):
        for name, text in files.items():
            path = self.path(name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as target:
                target.write(text)

    def check(self, script, *arguments):
        """(exit status, output) of a checker on the tree."""
        done = subprocess.run(
            [os.path.join(ROOT, "scripts", script), self.dir] +
            list(arguments), stdin=subprocess.DEVNULL, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout.decode()

    def refused(self, word, *arguments):
        status, output = self.check(*arguments)
        self.assertEqual(status, 1, output)
        self.assertIn(word, output)

    def accepted(self, *arguments):
        self.assertEqual(self.check(*arguments), (0, ""))


class Shape(Checker):
    def test_good(self):
        self.tree({"analyzer/a.c": SMALL,
                   "tests/x.py": "def f():\n    return 1\n"})
        self.accepted("check-shape")

    def test_long_file(self):
        self.tree({"analyzer/a.c": SMALL, "analyzer/b.c": "int x;\n" * 601})
        self.refused("analyzer/b.c: 601 lines", "check-shape")

    def test_file_at_the_limit(self):
        self.tree({"analyzer/b.c": "int x;\n" * 600})
        self.accepted("check-shape")

    def test_long_function(self):
        self.tree({"preload/a.c":
                   "void f(int x)\n{\n" + LONG_BODY + "}\n"})
        self.refused("preload/a.c:2: function of 81 lines", "check-shape")

    def test_long_python_function(self):
        self.tree({"tests/a.py": "def f(x):\n" + "    x += 1\n" * 80
                   + "\n\nx = 1\n"})
        self.refused("tests/a.py:1: function of 81 lines", "check-shape")

    def test_long_method_at_the_end(self):
        self.tree({"tests/a.py": "class A:\n    def f(x):\n"
                   + "        x += 1\n" * 80})
        self.refused("tests/a.py:2: function of 81 lines", "check-shape")

    def test_empty_tree_is_no_success(self):
        self.assertEqual(self.check("check-shape")[0], 2)


class Layers(Checker):
    GOOD = {
        "include/jp_log.h": "",
        "preload/flags.c": '#include "sig/state/config.h"\n'
                           "#include <stdio.h>\n",
        "preload/hooks/signals/s.h": '#include "hooks/base/real.h"\n',
        "preload/hooks/base/real.h": '#include "sig/arch/arch.h"\n',
        "preload/sig/state/config.h": '#include "jp_log.h"\n',
        "preload/sig/a.c": '#include "sig/arch/arch.h"\n'
                           '#include "sig/unwind/w.h"\n',
        "preload/sig/unwind/w.h": '#include "sig/state/config.h"\n',
        "preload/sig/arch/arch.h": "#include <stdint.h>\n",
        "analyzer/main.c": '#include "write/w.h"\n#include "read/r.h"\n',
        "analyzer/base/b.h": "",
        "analyzer/read/r.h": '#include "../base/b.h"\n',
        "analyzer/symbol/elf/e.h": '#include "read/r.h"\n',
        "analyzer/symbol/s.h": '#include "symbol/elf/e.h"\n',
        "analyzer/model/m.h": '#include "symbol/s.h"\n',
        "analyzer/write/w.h": '#include "../model/m.h"\n',
        "analyzer/launcher/os/o.h": '#include "read/r.h"\n',
    }
    BAD = (
        ("preload/sig/x.c", '#include "../flags.h"\n'),
        ("preload/sig/x.c", "#include <stdio.h>\n"),
        ("preload/sig/unwind/x.c", "#include <pthread.h>\n"),
        ("preload/x.c", "#include <elfutils/libdw.h>\n"),
        ("preload/x.c", "#  include <libelf.h>\n"),
        ("preload/x.c", '#include "../analyzer/base/b.h"\n'),
        ("preload/sig/os/x.c", '#include "sig/state/config.h"\n'),
        ("preload/sig/clock/x.c", '#include "sig/unwind/w.h"\n'),
        ("preload/sig/jit/x.c", '#include "hooks/base/real.h"\n'),
        ("preload/hooks/base/x.c", '#include "hooks/signals/s.h"\n'),
        ("preload/hooks/calls/x.c", '#include "hooks/signals/s.h"\n'),
        ("preload/new/x.c", '#include "sig/state/config.h"\n'),
        ("analyzer/base/x.c", '#include "../read/r.h"\n'),
        ("analyzer/read/x.c", '#include "symbol/s.h"\n'),
        ("analyzer/read/x.c", '#include "../model/m.h"\n'),
        ("analyzer/symbol/x.c", '#include "../model/m.h"\n'),
        ("analyzer/symbol/jit/x.c", '#include "symbol/elf/e.h"\n'),
        ("analyzer/symbol/elf/x.c", '#include "symbol/s.h"\n'),
        ("analyzer/model/x.c", '#include "../write/w.h"\n'),
        ("analyzer/write/x.c", '#include "../main.h"\n'),
        ("analyzer/launcher/os/x.c", '#include "symbol/s.h"\n'),
        ("analyzer/read/x.c", '#include "sig/state/config.h"\n'),
        ("analyzer/main.c", '#include "../preload/flags.h"\n'),
        ("analyzer/read/x.c", '#include "nowhere.h"\n'),
        ("preload/sig/os/x.c", "#include <sig/state/config.h>\n"),
        ("preload/sig/os/x.c", "#include <../preload/flags.h>\n"),
        ("preload/sig/os/x.c", "#include UP\n"),
        ("preload/sig/os/x.c", '#include/**/"sig/state/config.h"\n'),
        ("preload/sig/os/x.c", '/**/#include "sig/state/config.h"\n'),
        ("preload/sig/os/x.c", '#include "sig/state/config.h" //\n'),
        ("preload/sig/os/x.c", '#inc\\\nlude "sig/state/config.h"\n'),
        ("preload/sig/os/x.c", '#include_next "sig/state/config.h"\n'),
        ("preload/sig/os/x.c", '%:include "sig/state/config.h"\n'),
        ("preload/sig/os/x.c", '#include "up.inc"\n'),
    )
    FINE = ('/* #include "sig/state/config.h" */\n'
            '// #include "sig/state/config.h"\n'
            '/*\n#include "sig/state/config.h"\n*/\n'
            'const char *text = "/*";\n'
            '#include <stdint.h> /* integers */\n')

    def test_good(self):
        self.tree(self.GOOD)
        self.accepted("check-layers")

    def test_bad(self):
        for name, text in self.BAD:
            with self.subTest(name=name, text=text):
                self.tree(self.GOOD)
                self.tree({"preload/flags.h": "", "analyzer/main.h": "",
                           "preload/sig/os/up.inc": ""})
                self.accepted("check-layers")
                self.tree({name: "\n" + text})
                self.refused("check-layers: %s:2: " % name, "check-layers")
                os.unlink(self.path(name))

    def test_comments_and_texts(self):
        self.tree(self.GOOD)
        self.tree({"preload/sig/os/x.c": self.FINE})
        self.accepted("check-layers")

    def test_crowded(self):
        files = {"preload/sig/os/f%d.c" % i: "" for i in range(16)}
        self.tree(files)
        self.accepted("check-layers")
        self.tree({"preload/sig/os/one_more.c": ""})
        self.refused("preload/sig/os: 17 source files", "check-layers")

    def test_circle_of_includes(self):
        self.tree({"analyzer/a.h": '#include "b.h"\n',
                   "analyzer/b.h": '#include "c.h"\n', "analyzer/c.h": ""})
        self.accepted("check-layers")
        self.tree({"analyzer/c.h": '#include "a.h"\n'})
        self.refused("analyzer/a.h, analyzer/b.h, analyzer/c.h: they include "
                     "each other", "check-layers")

    def test_circle_of_headers_and_files(self):
        """No circle by file: a.c, b.c -> b.h -> a.h."""
        self.tree({"analyzer/a.c": '#include "a.h"\n#include "b.h"\n',
                   "analyzer/a.h": "", "analyzer/b.h": ""})
        self.accepted("check-layers")
        self.tree({"analyzer/b.h": '#include "a.h"\n'})
        self.refused("analyzer/a, analyzer/b: they need each other",
                     "check-layers")

    def compiled(self, files):
        cc = need("gcc")
        self.tree(files)
        for name in files:
            if not name.endswith(".c"):
                continue
            target = self.path("build/" + name[:-2] + ".o")
            os.makedirs(os.path.dirname(target), exist_ok=True)
            subprocess.run([cc, "-w", "-c", "-o", target, self.path(name)],
                           check=True)

    def test_circle_of_calls(self):
        self.compiled({"preload/a.c": "int b(void); int a(void)"
                                      "{ return b(); }\n",
                       "preload/b.c": "int b(void) { return 1; }\n"})
        self.accepted("check-layers", self.path("build"))
        self.compiled({"preload/b.c": "int a(void); int b(void)"
                                      "{ return a(); }\n"})
        self.refused("preload/a.c, preload/b.c: they call each other",
                     "check-layers", self.path("build"))

    def test_circle_of_includes_and_calls(self):
        """b.c calls a, which is declared for it in the room's header."""
        base = "analyzer/base/"
        self.compiled({base + "a.c": '#include "b.h"\n'
                       "int a(void) { return sizeof(struct b); }\n",
                       base + "b.c": "int b(void) { return 1; }\n",
                       base + "b.h": "struct b { int b; };\n",
                       base + "base.h": "int a(void), b(void);\n"})
        self.accepted("check-layers", self.path("build"))
        self.compiled({base + "b.c": '#include "base.h"\n'
                       "int b(void) { return a(); }\n"})
        self.refused("analyzer/base/a, analyzer/base/b: they include and "
                     "call each other", "check-layers", self.path("build"))

    def test_declared_elsewhere(self):
        base = "analyzer/base/"
        code = ("struct s { int (*one)(int a); }; int a(int b, char *c);\n"
                "extern int list[];\n")
        for header, is_good in ((base + "a.h", 1), (base + "base.h", 1),
                                (base + "b.h", 0), ("analyzer/b.h", 0),
                                ("analyzer/analyzer.h", 1)):
            self.compiled({base + "a.c": "int list[2];\n"
                           "int a(int b, char *c) { return b; }\n",
                           base + "b.c": "int b(void) { return 1; }\n"
                           "int s(void) { return 1; }\n"})
            self.tree({header: code})
            if is_good:
                self.accepted("check-layers", self.path("build"))
            else:
                self.refused("%s: it declares what other files define: "
                             "analyzer/base/a.c" % header,
                             "check-layers", self.path("build"))
            os.unlink(self.path(header))
        # A room's header with a source of its own is only that one's.
        self.tree({base + "base.h": code})
        self.compiled({base + "base.c": ""})
        self.refused("base.h: it declares", "check-layers",
                     self.path("build"))

    def test_listed_exceptions(self):
        """One that is gone must leave the list."""
        state = "preload/sig/state/"
        self.compiled({state + "process.c": ""})
        self.tree({state + "config.h": ""})
        self.refused("config.h: DECLARES of check-layers says 1, there are 0",
                     "check-layers", self.path("build"))

    UPPER = "int up(void) { return 1; }\n"

    def upward(self, lower):
        """The lower room's source needs the upper room's symbol `up`."""
        self.compiled({"preload/sig/a.c": self.UPPER,
                       "preload/sig/os/x.c": lower})
        self.refused("preload/sig/os/x.c: preload/sig/os may not use "
                     "preload/sig (up of preload/sig/a.c)",
                     "check-layers", self.path("build"))

    def test_call_downwards(self):
        self.compiled({"preload/sig/os/x.c": self.UPPER,
                       "preload/sig/a.c": "int up(void); int a(void)"
                                          "{ return up(); }\n"})
        self.accepted("check-layers", self.path("build"))

    def test_call_upwards_by_a_prototype_of_its_own(self):
        self.upward("int up(void); int x(void) { return up(); }\n")

    def test_weak_need_upwards(self):
        self.upward("__attribute__((weak)) int up(void);"
                    "int x(void) { return up ? up() : 0; }\n")

    def test_address_taken_upwards(self):
        self.upward("int up(void); int (*x)(void) = up;\n")

    def test_writers_read_no_file(self):
        """Not by include, nor by call, though the model between may."""
        self.tree({"analyzer/read/log.h": "",
                   "analyzer/model/m.h": '#include "read/log.h"\n',
                   "analyzer/write/w.c": '#include "model/m.h"\n'})
        self.accepted("check-layers")
        for room in ("write", "write/text"):
            self.tree({"analyzer/%s/x.c" % room: '#include "read/log.h"\n'})
            self.refused("analyzer/%s may not include analyzer/read" % room,
                         "check-layers")
            os.unlink(self.path("analyzer/%s/x.c" % room))
        self.compiled({"analyzer/read/r.c": self.UPPER,
                       "analyzer/write/w.c": "int up(void); int w(void)"
                                             "{ return up(); }\n"})
        self.refused("analyzer/write may not use analyzer/read (up of",
                     "check-layers", self.path("build"))

    def test_every_definition_counts(self):
        for second in ("preload/hooks/calls/z.c", "preload/sig/arch/b.c"):
            with self.subTest(second=second):
                self.compiled({second: self.UPPER})
                self.upward("int up(void); int x(void) { return up(); }\n")

    def test_same_name_in_the_other_program(self):
        self.compiled({"analyzer/write/a.c": self.UPPER,
                       "preload/sig/os/x.c": "int up(void); int x(void)"
                                             "{ return up(); }\n"})
        self.accepted("check-layers", self.path("build"))

    def test_build_without_objects(self):
        self.tree({"preload/sig/a.c": self.UPPER})
        os.mkdir(self.path("build"))
        status, output = self.check("check-layers", self.path("build"))
        self.assertEqual(status, 2, output)
        self.assertIn("preload/sig/a.o: build it first", output)

    def test_build_of_headers_alone(self):
        self.tree({"preload/sig/a.h": ""})
        self.assertEqual(self.check("check-layers", self.path("build"))[0], 2)

    def test_empty_tree_is_no_success(self):
        self.assertEqual(self.check("check-layers")[0], 2)


class Paths(Checker):
    GOOD = ("See doc/A.md, `sig/a.c`, sig/a, preload/sig, tests/jit/*.dump, "
            "sig/*.o, (sig/a.c).\nA.md, ./sig/gone, /sig/gone, other/sig/x, "
            "http://a.b/sig/gone, 3/4.\n")
    BAD = ("sig/gone.c", "sig/gone", "`preload/a.c`", "sig/b*.c", "sig/a.c/x",
           "(tests/sig)", "B.md", "[b](B.md)", "doc/B.md")

    def setUp(self):
        super().setUp()
        self.tree({"doc/A.md": self.GOOD, "preload/sig/README.md": self.GOOD,
                   "preload/sig/a.c": "", "tests/jit/a.dump.xz": "",
                   "build/sig/gone.c": "", "other.md": "sig/gone.c"})

    def test_good(self):
        self.accepted("check-paths")

    def test_bad(self):
        for page in ("doc/A.md", "preload/sig/README.md"):
            for path in self.BAD:
                with self.subTest(page=page, path=path):
                    self.tree({page: "\nBy %s.\n" % path})
                    self.refused("check-paths: %s:2: no " % page,
                                 "check-paths")
            self.tree({page: self.GOOD})

    def test_empty_tree_is_no_success(self):
        os.unlink(self.path("doc/A.md"))
        os.unlink(self.path("preload/sig/README.md"))
        self.assertEqual(self.check("check-paths")[0], 2)


class Recipes(Checker):
    """A tree in which five files know the newest format, and its row."""
    NAMES = ("analyzer/a.c", "analyzer/b.c", "doc/c.1", "scripts/d", "tests/e")

    def recipes(self, row):
        with open(os.path.join(ROOT, "scripts/check-recipes"),
                  encoding="utf-8") as file:
            text = file.read()
        rows = re.findall(r'^    "(an? [\w ]+)": ', text, re.M)
        files = {name: "speedscope recvmsg riscv64 mono-sgen clock_itimer "
                 "py:: outlives_exec jit-tiers JP_NOTE_LOG_CUT page_marks\n"
                 for name in self.NAMES}
        files["README.md"] = files["doc/DESIGN.md"] = ""
        for name in rows:
            files["doc/DESIGN.md"] += "| %s | x | %s |\n" % (
                name, row if name == "a format" else " ".join(self.NAMES))
        self.tree(files)

    def test_good(self):
        for row in (" ".join(self.NAMES), "analyzer/a.c, b.c; doc/ scripts/ "
                    "`tests/e`."):
            self.recipes(row)
            self.accepted("check-recipes")

    def test_bad(self):
        self.recipes("analyzer/a.c, doc/ scripts/ tests/")
        self.refused("a format: analyzer/b.c knows one", "check-recipes")

    def test_row_is_gone(self):
        self.recipes(" ".join(self.NAMES))
        self.tree({"doc/DESIGN.md": ""})
        self.refused("no row for a hook", "check-recipes")


class Options(Checker):
    ROWS = {
        "analyzer/options_parse.c":
        "static const struct jr_option rows[] = {\n"
        "    {'t', \"--threads\", NULL, FLAG(filter.by_thread), .help = \"x\"},\n"
        "    {0, \"--source-map\", \"FROM=TO\", JR_VALUE(take_map)},\n};\n",
        "analyzer/launcher/base/options.c":
        "    {'F', NULL, \"HZ\",\n     JR_VALUE(take_rate)},\n"
        "    {0, \"--jit\", \"KIND\", CHOICE(jit, kinds)},\n",
        "doc/jprof-report.1":
        ".Sh NAME\n.It Fl t , -threads\nx\n"
        ".It Fl -source-map Ns = Ns Ar from Ns = Ns Ar to\nx\n",
        "doc/jprof.1":
        ".TP\n.BI \\-F \" hz\"\nx\n.TP\n.BR \\-\\-jit= \"\\fIkind\\fR\"\n"
        ".TP\n.B \\-\\-\nx\n"}

    def test_good(self):
        self.tree(self.ROWS)
        self.accepted("check-options")

    def test_bad(self):
        for name, old, new, word in (
                ("doc/jprof-report.1", ".It Fl t , -threads\n", "",
                 "jprof-report.1: no entry for t, threads"),
                ("doc/jprof-report.1", "from Ns", "old Ns",
                 "no entry for source-map from to"),
                ("doc/jprof.1", "kind", "word", "no entry for jit kind"),
                ("doc/jprof.1", "\\-F", "\\-G", "no row for G hz"),
                ("analyzer/launcher/base/options.c", "'F'", "'G'",
                 "no row for F hz"),
                ("analyzer/options_parse.c", "{", "[",
                 "no rows of options")):
            self.tree(self.ROWS)
            self.tree({name: self.ROWS[name].replace(old, new)})
            self.refused(word, "check-options")


class Symbols(Checker):
    """On a library of two small sources, built here."""
    SIG = "void *memset(void *, int, unsigned long);\n" \
        "void f_sig(char *x, int n);\n" \
        "void f_sig(char *x, int n) { memset(x, n, 4096 + n); }\n"

    STUB = "__attribute__((section(\".text.jp_entry_stubs\"))) "

    def build(self, sig=SIG, library="", options=(), stub=STUB):
        cc = need("gcc")
        self.tree({"a.c": sig, "b.c": library + stub + "void api(void);\n"
                   "void api(void) {}\n",
                   "preload/sig/allowed-symbols": "memset  # compilers call\n",
                   "preload/exported-symbols": "# the API\napi\n"})
        self.tree({"c.c": ""})
        for room in ("state", "unwind/cfi"):
            os.makedirs(self.path("build/preload/sig/" + room), exist_ok=True)
        for source, target in (("a.c", "build/preload/sig/unwind/cfi/a.o"),
                               ("c.c", "build/preload/sig/state/gate.o"),
                               ("b.c", "build/preload/b.o")):
            subprocess.run([cc, "-O0", "-w", "-fno-builtin", "-fPIC",
                            "-fno-stack-protector", "-c", "-o",
                            self.path(target), self.path(source)], check=True)
        subprocess.run([cc, "-shared", "-o", self.path("build/libjprof.so"),
                        self.path("build/preload/b.o"),
                        "-Wl,--no-as-needed"]
                       + list(options), check=True)

    def run_check(self):
        return self.check("check-symbols", self.path("build"))

    def test_good(self):
        self.build()
        self.assertEqual(self.run_check(), (0, ""))

    def test_no_entry_stub(self):
        self.build(stub="")
        status, output = self.run_check()
        self.assertEqual(status, 1)
        self.assertIn("exported without an entry stub before it: api", output)

    def test_entry_stub_touches_thread_local_memory(self):
        self.build(library="static __thread int local\n"
                   "__attribute__((tls_model(\"initial-exec\")));\n" +
                   self.STUB +
                   "static int f(void) { return local; }\n"
                   "int (*g)(void) __attribute__((visibility(\"hidden\")));\n"
                   "int (*g)(void) = f;\n")
        status, output = self.run_check()
        self.assertEqual(status, 1)
        self.assertIn("an entry stub touches thread-local memory", output)

    def test_handler_calls_malloc(self):
        self.build(sig=self.SIG + "void *malloc(unsigned long);\n"
                   "void *g_sig(void) { return malloc(1); }\n")
        status, output = self.run_check()
        self.assertEqual(status, 1)
        self.assertIn("malloc", output)
        self.assertNotIn("memset", output)

    def test_export_that_is_not_listed(self):
        self.build(library="void leak(void) {}\n")
        status, output = self.run_check()
        self.assertEqual(status, 1)
        self.assertIn("leak", output)

    def test_listed_name_that_is_not_exported(self):
        self.build()
        self.tree({"preload/exported-symbols": "api\njprof_start\n"})
        status, output = self.run_check()
        self.assertEqual(status, 1)
        self.assertIn("does not export: jprof_start", output)

    def test_listed_version_that_is_not_exported(self):
        self.build()
        self.tree({"preload/exported-symbols": "api 2.34\n"})
        status, output = self.run_check()
        self.assertEqual(status, 1)
        self.assertIn("does not export: api@@GLIBC_2.34", output)

    def test_needed_library(self):
        self.build(options=["-lm"])
        status, output = self.run_check()
        self.assertEqual(status, 1)
        self.assertIn("libm.so.6", output)

    def test_lists_that_are_missing(self):
        self.build()
        os.unlink(self.path("preload/sig/allowed-symbols"))
        os.unlink(self.path("preload/exported-symbols"))
        status, output = self.run_check()
        self.assertEqual(status, 1)
        self.assertIn("allowed-symbols is missing", output)
        self.assertIn("exported-symbols is missing", output)

    def test_build_that_is_missing(self):
        status, output = self.run_check()
        self.assertEqual(status, 1)
        self.assertIn("build first", output)


class Versions(Checker):
    """On a library and a C library, built here."""
    SCRIPT = "GLIBC_2.2.5 { };\nGLIBC_2.30 { };\nGLIBC_2.34 { f; };\n"
    # f is the same function in the last two versions, not in the first.
    LIBC = ("int f(void) { return 1; }\nint f_30(void);\nint f_25(void);\n"
            "__asm__(\".globl f_30\\n.set f_30,f+1\\n"
            ".symver f_30,f@GLIBC_2.30\");\n"
            "int f_25(void) { return 2; }\n"
            "__asm__(\".symver f_25,f@GLIBC_2.2.5\");\n")
    LIBRARY = "const char door[] = \"f@GLIBC_2.2.5\";\n"
    LISTED = "f 2.2.5* 2.30* 2.34  # comment\nnone 2.5\njprof_f\n"

    def build(self, listed=LISTED, library=LIBRARY):
        cc = need("gcc")
        self.tree({"libc.c": self.LIBC, "libc.map": self.SCRIPT,
                   "ours.c": library, "preload/exported-symbols": listed})
        for name, options in (("libc", ["-Wl,--version-script=" +
                                        self.path("libc.map")]),
                              ("ours", [])):
            subprocess.run([cc, "-shared", "-nostdlib", "-fPIC", "-o",
                            self.path(name + ".so"), self.path(name + ".c")] +
                           options, check=True)

    def arguments(self):
        return ("check-versions", self.path("ours.so"), self.path("libc.so"))

    def test_good(self):
        self.build(library=self.LIBRARY +
                   "const char second[] = \"f@GLIBC_2.30\";\n")
        self.accepted(*self.arguments())

    def test_version_that_is_not_exported(self):
        self.build(listed="f 2.2.5* 2.34\n")
        self.refused("f@GLIBC_2.30 is not exported", *self.arguments())

    def test_version_that_is_not_there(self):
        self.build(listed="f 2.2.5* 2.29 2.30 2.34\n")
        self.refused("there is no f@GLIBC_2.29", *self.arguments())

    def test_version_newer_than_the_c_library(self):
        self.build(listed="f 2.2.5* 2.30* 2.34* 2.35\n")
        status, output = self.check(*self.arguments())
        self.assertEqual(status, 1)
        self.assertNotIn("2.35", output)

    def test_function_without_a_hook_of_its_own(self):
        self.build()
        self.refused("f@GLIBC_2.30 has no hook of its own", *self.arguments())

    def test_function_of_its_own_without_a_star(self):
        self.build(listed="f 2.2.5 2.30* 2.34\n")
        self.refused("f@GLIBC_2.2.5 is not the same function",
                     *self.arguments())

    def test_other_default_version(self):
        self.build(listed="f 2.2.5* 2.34 2.30*\n")
        self.refused("the default version of f is GLIBC_2.34",
                     *self.arguments())


if __name__ == "__main__":
    unittest.main()
