# SPDX-License-Identifier: MIT
"""The checkers themselves: each passes a good tree and fails a bad one; the
packer, the decoder and the runner too.  Runs in: tests."""
import os
import re
import signal
import subprocess
import sys
import unittest

import decode
import pack
from jprun import BUILD, ROOT, Case, need

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

    def compiled(self, files):
        cc = need("gcc")
        self.tree(files)
        for name in files:
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


class Symbols(Checker):
    """On a library of two small sources, built here."""
    SIG = "void *memset(void *, int, unsigned long);\n" \
        "void f_sig(char *x, int n);\n" \
        "void f_sig(char *x, int n) { memset(x, n, 4096 + n); }\n"

    DOOR = "__attribute__((section(\".text.jp_doors\"))) "

    def build(self, sig=SIG, library="", options=(), door=DOOR):
        cc = need("gcc")
        self.tree({"a.c": sig, "b.c": library + door + "void api(void);\n"
                   "void api(void) {}\n",
                   "preload/sig/allowed-symbols": "memset  # compilers call\n",
                   "preload/exported-symbols": "# the API\napi\n"})
        os.makedirs(self.path("build/preload/sig/state"), exist_ok=True)
        for source, target in (("a.c", "build/preload/sig/state/gate.o"),
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

    def test_no_door(self):
        self.build(door="")
        status, output = self.run_check()
        self.assertEqual(status, 1)
        self.assertIn("exported without a door before it: api", output)

    def test_door_touches_thread_local_memory(self):
        self.build(library="static __thread int local\n"
                   "__attribute__((tls_model(\"initial-exec\")));\n" +
                   self.DOOR +
                   "static int f(void) { return local; }\n"
                   "int (*g)(void) __attribute__((visibility(\"hidden\")));\n"
                   "int (*g)(void) = f;\n")
        status, output = self.run_check()
        self.assertEqual(status, 1)
        self.assertIn("a door touches thread-local memory", output)

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


class Codec(Case):
    """What pack.py writes, decode.py reads, and damage is seen."""
    TEXT = """
    header pid=7 start=9 counter.1=3 counter.7=1000 exe=/x/a cleared=15
    chunk tid=7
    stack id=A frames=0x1000,0x2000,0x3000
    sample time=10 tid=7 weight=4000000 stack=A
    stack id=B frames=0x1500 base=A shared=2 gap=1
    sample time=20 tid=8 weight=8000000 event=raised reason=depth stack=B
    free pages=2
    chunk size=8192 tid=9
    sample time=30 weight=5 reason=no_stack
    raw 05 00 02 00 00000000 1122334455667788
    sample time=40 weight=5 event=blocked
    """

    def decode(self, text):
        with open(self.path("log"), "wb") as target:
            target.write(pack.pack(text))
        return decode.load(self.path("log"))

    def test_round_trip(self):
        for endian in ("little", "big"):
            run, = self.decode(self.TEXT.replace(
                "header ", "header endian=%s " % endian).replace(
                    "02 00", "02 00" if endian == "little" else "00 02"))
            self.assertEqual(run.samples, [
                (20, 8, 8000000, "raised", "depth", (0x1500, 0x2000, 0x3000)),
                (30, 1, 5, "cpu", "no_stack", ()),
                (40, 1, 5, "blocked", "root", ())])
            self.assertEqual(run.damage, [])
            self.assertEqual(run.lost(), 3)
            self.assertEqual(run.gaps, {(0x1500, 0x2000, 0x3000): 1})

    def test_damage(self):
        record = 4 * 4096 + 64 + 24 + 16 + 24   # after the second chunk's
        chunk = 6 * 4096
        for extra, where in (
                ("sample time=50 words=9000", record),
                ("sample time=50 event=9", record),
                ("stack frames=1 base=3 shared=1", record),
                ("chunk size=5000 room=4096", chunk),
                ("chunk pid=8", chunk), ("chunk offset=7", chunk)):
            run, = self.decode(self.TEXT + extra)
            self.assertEqual([at for at, _ in run.damage], [where], extra)
            self.assertEqual(len(run.samples), 3)

    def test_packer_refuses_what_it_does_not_know(self):
        for text in ("chunk colour=1", "frob", "sample time=x",
                     "header bogus=1"):
            with self.assertRaises(ValueError):
                pack.pack("header\nchunk\n" + text)

    def test_full_chunk(self):
        with self.assertRaises(ValueError):
            pack.pack("header\nchunk\n" + "sample time=1\n" * 169)


class Make(Case):
    """Targets that build nothing, in a folder of links to the tree, so that
    a word torn apart leaves nothing in the tree itself."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("tree"))
        for name in ("Makefile", "analyzer", "tests", "include", "doc",
                     "scripts"):
            os.symlink(os.path.join(ROOT, name), self.path("tree/" + name))

    def make(self, *arguments):
        """stdout; what is built already is taken as it is."""
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("MAKE", "MFLAGS"))}
        return subprocess.run(
            [need("make"), "-s", "-o", "all", "B=" + BUILD, *arguments],
            cwd=self.path("tree"), env=env, check=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE).stdout.decode()

    def test_help_names_every_documented_target(self):
        shown = re.findall(r"(?m)^  make (\S+)", self.make("help"))
        for name in ("Makefile", "tests/tests.mk", "tests/bench/bench.mk"):
            with open(os.path.join(ROOT, name), encoding="utf-8") as source:
                targets = re.findall(r"(?m)^([a-z-]+):.*## ", source.read())
            self.assertTrue(targets, name)
            self.assertLessEqual(set(targets), set(shown), name)
        self.assertEqual(len(shown), len(set(shown)))

    def installed(self):
        return sorted(os.path.join(os.path.relpath(folder, self.dir), name)
                      for folder, _, names in os.walk(self.dir)
                      for name in names if name != "Makefile")

    def test_install_and_uninstall_with_blanks(self):
        """And what else a shell would make something of."""
        words = ("DESTDIR=" + self.path("my root"),
                 "PREFIX=/opt/it's  x")
        top = "my root/opt/it's  x/"
        self.make("install", *words)
        self.assertEqual(self.installed(), sorted(
            top + name for name in (
                "bin/jprof", "bin/jprof-report", "include/jprof.h",
                "lib/jprof/libjprof.so", "lib/pkgconfig/jprof.pc",
                "share/bash-completion/completions/jprof",
                "share/bash-completion/completions/jprof-report",
                "share/fish/vendor_completions.d/jprof.fish",
                "share/fish/vendor_completions.d/jprof-report.fish",
                "share/man/man1/jprof.1", "share/man/man1/jprof-report.1",
                "share/man/man3/libjprof.3", "share/man/man7/JPROF_FLAGS.7",
                "share/zsh/site-functions/_jprof")))
        with open(self.path(top + "bin/keep"), "w", encoding="ascii"):
            pass
        self.make("uninstall", *words)
        self.assertEqual(self.installed(), [top + "bin/keep"])
        self.assertFalse(os.path.exists(self.path(top + "lib/jprof")))


class InstallDeps(Case):
    """On a made-up system without apt whose packages are all there."""

    def check(self):
        done = subprocess.run(
            ["/bin/sh", os.path.join(ROOT, "scripts/install-deps"), "check"],
            env={"PATH": self.path("bin")}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout.decode()

    def command(self, name, text):
        with open(self.path("bin/" + name), "w", encoding="ascii") as target:
            target.write("#!/bin/sh\n" + text)
        os.chmod(self.path("bin/" + name), 0o755)

    def test_node_may_come_from_anywhere(self):
        os.mkdir(self.path("bin"))
        os.symlink(need("tr"), self.path("bin/tr"))
        for name in ("jcmd", "javac", "lli", "python3", "rustc", "php",
                     "erl", "luajit", "sbcl", "ruby"):
            self.command(name, "")
        self.command("dpkg-query", "case $* in *nodejs*) exit 1 ;; esac\n"
                     "echo installed\n")
        status, output = self.check()
        self.assertEqual(status, 1)
        self.assertTrue(output.endswith("bring: nodejs\n"), output)
        self.command("node", "")
        self.assertEqual(self.check()[0], 0)


class Runner(Case):
    """The runner's last line and exit status, on tests made here."""

    def runner(self, kind, **more):
        """(exit status, last line) of the runner on one kind of test."""
        os.makedirs(self.path("tests/tools"))
        for name in ("check.py", "golden.py", "tools/pack.py"):
            with open(os.path.join(ROOT, "tests", name),
                      encoding="utf-8") as source:
                self.write("tests/" + name, source.read())
        done = subprocess.run(
            [sys.executable, "-B", self.path("tests/check.py"), "--only",
             kind], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, check=False,
            env=dict(os.environ, B="build"), **more)
        self.lines = done.stdout.decode().splitlines()
        return done.returncode, self.lines[-1]

    def run_with(self, body, **more):
        os.makedirs(self.path("tests/run"))
        self.write("tests/run/test_x.py", "import unittest\n"
                   "class T(unittest.TestCase):\n" + body)
        return self.runner("run", **more)

    def tap(self, text, status=0):
        """The same for a unit test that prints `text`."""
        for folder in ("tests/unit", "build/tests/unit"):
            os.makedirs(self.path(folder))
        self.write("tests/unit/test_x.c", "")
        self.write("build/tests/unit/test_x",
                   "#!/bin/sh\ncat <<'END'\n%sEND\nexit %d\n" % (text,
                                                                status))
        os.chmod(self.path("build/tests/unit/test_x"), 0o755)
        return self.runner("unit")

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as target:
            target.write(text)

    def test_counts(self):
        self.assertEqual(self.run_with(
            "    def test_a(self): pass\n"
            "    def test_b(self): self.fail()\n"
            "    def test_c(self): self.skipTest('no')\n"
            "    def test_d(self): raise KeyError\n"),
            (1, "1 passed, 2 failed, 1 skipped"))

    def test_success(self):
        self.assertEqual(self.run_with("    def test_a(self): pass\n"),
                         (0, "1 passed, 0 failed, 0 skipped"))

    def test_fails_beside_others_passes_alone(self):
        self.assertEqual(self.run_with(
            "    def test_a(self):\n"
            "        import os\n"
            "        if not os.path.exists('been'):\n"
            "            open('been', 'w').close()\n"
            "            self.fail()\n"),
            (0, "1 passed, 0 failed, 0 skipped"))
        self.assertEqual(self.lines[-2], "again: 1")

    def test_says_what_failed(self):
        """In few lines: a long output may be cut."""
        self.run_with("    def test_a(self): pass\n"
                      "    def test_b(self): self.fail()\n")
        self.assertEqual(self.lines[-3:-1], ["failed: run test_x", "again: 0"])
        self.assertFalse([line for line in self.lines if "... ok" in line])

    def test_tap_lines_count_once(self):
        """A skip is "ok" in TAP's specification, "not ok" in cmocka 1.1.5."""
        self.assertEqual(
            self.tap("1..5\nok 1 - a\nnot ok 2 # SKIP b\nok 3 # skip c\n"
                     "not ok 4 - d\n# not ok it says\nok 5 - e\n", 1),
            (1, "2 passed, 1 failed, 2 skipped"))

    def test_tap_with_skips_alone_is_no_failure(self):
        self.assertEqual(self.tap("1..2\nnot ok 1 # SKIP a\nok 2 - b\n"),
                         (0, "1 passed, 0 failed, 1 skipped"))

    def test_tap_that_ends_early(self):
        self.assertEqual(self.tap("1..3\nok 1 - a\n", 139),
                         (1, "1 passed, 2 failed, 0 skipped"))

    def test_ignored_signals_are_restored(self):
        def ignore():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGQUIT, signal.SIG_IGN)

        self.assertEqual(self.run_with(
            "    def test_a(self):\n        import signal\n"
            "        for n in (signal.SIGINT, signal.SIGQUIT):\n"
            "            self.assertNotEqual(signal.getsignal(n),\n"
            "                                signal.SIG_IGN)\n",
            preexec_fn=ignore), (0, "1 passed, 0 failed, 0 skipped"))

    def test_module_that_dies(self):
        self.assertEqual(self.run_with(
            "    def test_a(self):\n        import os; os._exit(0)\n"),
            (1, "0 passed, 1 failed, 0 skipped"))


if __name__ == "__main__":
    unittest.main()
