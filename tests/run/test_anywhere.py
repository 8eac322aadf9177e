# SPDX-License-Identifier: MIT
"""What a user meets first, on whatever system: a compiler that warns of more
than ours do, a package that is called otherwise or that there is none of.
Runs in: tests."""
import os
import re
import shutil
import subprocess
import unittest

from jprun import BUILD, ROOT, TICK_FLAGS, Case, lacking, need

OBJECT = "analyzer/match.o"


class Warnings(Case):
    """A compiler that warns of every source: a header does that here."""

    def setUp(self):
        super().setUp()
        with open(self.path("warn.h"), "w", encoding="ascii") as header:
            header.write("static int not_used(void) { return 0; }\n")
        self.words = ("B=" + self.path("build"), "CC=" + need("gcc"),
                      "CFLAGS=-O1 -include " + self.path("warn.h"))

    def make(self, *arguments):
        """The exit status, and what make and the compiler said."""
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("MAKE", "MFLAGS", "WERROR"))}
        done = subprocess.run(
            [need("make"), *arguments, *self.words], cwd=ROOT, env=env,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout.decode()

    def test_a_build_goes_on(self):
        status, output = self.make(self.path("build/" + OBJECT))
        self.assertEqual(status, 0, output)
        self.assertIn("warning: ", output)

    def test_the_tests_do_not(self):
        """What was built before, with its warnings, is compiled again."""
        wanted = self.path("build/" + OBJECT)
        self.assertEqual(self.make(wanted)[0], 0)
        status, output = self.make(wanted, "WERROR=-Werror")
        self.assertNotEqual(status, 0)
        self.assertIn("not_used", output)

    def test_goals_of_the_tests_are_strict(self):
        for goal, strict in (("all", False), ("programs", False),
                             ("check-build", True), ("unit", True)):
            lines = [line for line in self.make("-n", goal)[1].splitlines()
                     if re.search(r" -c -o \S+/" + OBJECT, line)]
            self.assertTrue(lines or goal == "programs", goal)
            for line in lines:
                self.assertEqual("-Werror" in line, strict, line)


class Blanks(Case):
    """make cannot have blanks in the names of what it makes."""

    def output(self, *argv, **more):
        env = {name: value for name, value in os.environ.items()
               if name != "B" and not name.startswith(("MAKE", "MFLAGS"))}
        done = subprocess.run(
            argv, env=dict(env, **more), cwd=ROOT, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.stdout.decode()

    def test_the_build_folder(self):
        """One line says so."""
        output = self.output(need("make"), "-s", "B=" + self.path("a b"))
        self.assertRegex(output, r"\A\S+ \*\*\* make cannot have blanks .*\n\Z")

    def test_the_demo(self):
        """A folder of sources that has one is not in what make makes."""
        os.makedirs(self.path("a b/scripts"))
        shutil.copy(os.path.join(ROOT, "scripts/demo"),
                    self.path("a b/scripts"))
        os.symlink("/bin/true", self.path("a b/scripts/install-deps"))
        with open(self.path("a b/Makefile"), "w", encoding="ascii") as made:
            made.write("all: ; @echo builds in $(B)\n")
        self.assertIn("\nbuilds in build\n",
                      self.output(self.path("a b/scripts/demo")))


class Demo(Case):
    """README's first command: the compiler on jprof's own sources, and node."""

    def test_it_ends_well_and_shows_two_profiles(self):
        for name in ("ps", "xz", "gcc", "make", "node"):
            need(name)
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("MAKE", "MFLAGS"))}
        done = subprocess.run(
            [os.path.join(ROOT, "scripts", "demo")], cwd=self.dir,
            env=dict(env, B=BUILD, WERROR="-Werror"),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, check=False)
        output = done.stdout.decode()
        self.assertEqual(done.returncode, 0, output[-2000:])
        self.assertNotIn("error:", output)
        flat = output.split("the flat profile begins:")[1:]
        self.assertEqual(len(flat), 2, output[-2000:])
        self.assertRegex(flat[1], r"isPrime|countPrimes|compareRecords")
        for name in ("compiler", "javascript"):
            page = os.path.join(os.path.realpath(BUILD), "demo", name,
                                "report.html")
            self.assertIn("  %s\n" % page, output)
            self.assertGreater(os.path.getsize(page), 10000)


class LinkTime(Case):
    def test_assets(self):
        """What embeds files is assembled at once, also with -flto."""
        assets = self.path("build/analyzer/write/page/assets.o")
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("MAKE", "MFLAGS", "WERROR"))}
        subprocess.run(
            [need("make"), "-s", "B=" + self.path("build"), "CC=gcc",
             "CFLAGS=-O2 -flto", assets], cwd=ROOT, env=env, check=True,
            stdin=subprocess.DEVNULL)
        sections = subprocess.run(
            [need("readelf"), "-SW", assets], check=True, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout
        self.assertNotIn(".gnu.lto_", sections)


class Musl(Case):
    """Programs of another C library, which a profiled one may execute: they
    come out as without jprof, and what there is no profile of is said."""

    def setUp(self):
        super().setUp()
        self.made = self.path("made")
        subprocess.run(
            [need("musl-gcc"), "-O1", "-w", "-pthread", "-Iinclude",
             "tests/programs/attempts.c", "-o", self.made], cwd=ROOT,
            check=True, stdin=subprocess.DEVNULL)

    def test_preloaded_by_hand(self):
        alone = self.run_program(self.made, preload=False, flags=None)
        self.assertIn("spawn 0", alone.out)
        for flags in (None, TICK_FLAGS):
            under = self.run_program(self.made, flags=flags)
            self.assertEqual((under.status, under.out),
                             (alone.status, alone.out))
            lines = under.err.splitlines()
            # A line of each process.
            self.assertEqual(bool(lines), flags is not None, lines)
            for line in lines:
                self.assertRegex(line, "^jprof: profiling is off: .*glibc$")
        self.assertEqual(self.log_names(), [])

    def test_built_for_it(self):
        """One line says what the library needs, and not each source."""
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("MAKE", "MFLAGS", "WERROR"))}
        done = subprocess.run(
            [need("make"), "-s", "-k", "-j2", "B=" + self.path("build"),
             "CC=musl-gcc", self.path("build/libjprof.so")], cwd=ROOT, env=env,
            check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 2, done.stdout)
        lines = [line for line in done.stdout.splitlines()
                 if not line.startswith("make")]
        self.assertEqual(len(lines), 1, lines)
        self.assertRegex(lines[0], "needs the GNU C library")

    def test_executed_by_a_profiled_program(self):
        alone = self.run_program(self.made, preload=False, flags=None)
        done = self.run_program(
            os.path.join(BUILD, "jprof"), "-o", self.path("out"), "sh", "-c",
            'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; '
            '"$0"; exec "$0"', self.made, preload=False, flags=None)
        self.assertEqual((done.status, done.out),
                         (alone.status, 2 * alone.out))
        self.assertNotIn("profiling is off", done.err)
        with open(self.path("out/jprof-tree"), encoding="utf-8") as source:
            self.assertEqual(source.read().count(" why=musl "), 2)


class InstallDeps(Case):
    """On made-up systems."""

    COMMANDS = ("tr", "sed", "sort", "cat", "env", "uname", "id")

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("bin"))
        for name in self.COMMANDS:
            os.symlink(need(name), self.path("bin/" + name))

    def command(self, name, text=""):
        with open(self.path("bin/" + name), "w", encoding="ascii") as target:
            target.write("#!/bin/sh\n" + text)
        os.chmod(self.path("bin/" + name), 0o755)

    def install(self, kind, **more):
        done = subprocess.run(
            ["/bin/sh", os.path.join(ROOT, "scripts/install-deps"), kind],
            env=dict({"PATH": self.path("bin")}, **more),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout.decode()

    def test_other_package_managers(self):
        """One line that can be run as it stands, in the manager's names."""
        for manager, start, names in (
                ("dnf", "dnf install", ("gcc-c++", "xz", "php-cli")),
                ("pacman", "pacman -S --needed", ("jdk21-openjdk", "php")),
                ("zypper", "zypper install", ("dbus-1", "php8-cli")),
                ("apk", "apk add", ("g++", "openjdk21-jdk", "xz"))):
            self.command(manager)
            status, output = self.install("check")
            os.unlink(self.path("bin/" + manager))
            self.assertEqual(status, 1)
            lines = output.splitlines()
            self.assertEqual(len(lines), 1, output)
            self.assertTrue(lines[0].startswith(
                "install-deps: please run as root: " + start + " "), output)
            words = lines[0].split()
            for name in names + ("gcc", "make"):
                self.assertIn(name, words)
            self.assertNotIn("xz-utils", words)
            self.assertNotIn("-", words)

    def test_what_another_manager_has_not(self):
        """There is no command for it: the tests do without, but not in CI."""
        self.command("dpkg-query", "echo installed\n")
        for name in re.findall(r"(?m)^\S+ e:(\S+)$", self.table()):
            if name != "musl-gcc":
                self.command(name)
        self.command("zypper")
        status, output = self.install("check")
        self.assertEqual((status, output),
                         (0, "install-deps: not to be had here: musl-tools\n"))
        status, output = self.install("check", CI="true")
        self.assertEqual(status, 1, output)
        self.assertIn("still missing: musl-tools", output)

    def apt(self, known):
        """An apt that has these packages, and installs what it is told."""
        self.command("apt-cache", "for p do case ' %s ' in *\" $p \"*) "
                     "echo x ;; esac; done\n" % " ".join(known))
        self.command("dpkg-query", "for p do :; done\n"
                     "case \" $(cat %s) \" in *\" $p \"*) printf installed ;; "
                     "esac\n" % self.path("installed"))
        self.command("apt-get", "case $* in *install*) ;; *) exit 0 ;; esac\n"
                     "for p do case ' %s ' in *\" $p \"*) ;; *) case $p in "
                     "-* | install) ;; *) exit 100 ;; esac ;; esac; done\n"
                     "echo \"$*\" >>%s\n" % (
                         " ".join(known), self.path("installed")))
        self.command("sudo", "exec \"$@\"\n")
        for name in re.findall(r"(?m)^\S+ e:(\S+)$", self.table()):
            self.command(name)
        with open(self.path("installed"), "w", encoding="ascii"):
            pass

    @staticmethod
    def table():
        with open(os.path.join(ROOT, "scripts/install-deps"),
                  encoding="utf-8") as source:
            return source.read()

    def packages(self, but, instead=()):
        """All that the table has, but these; and some more."""
        lines = re.findall(r"(?m)^([\w.+|-]+) [ceh]:", self.table())
        names = {line.split("|")[0] for line in lines}
        return sorted(names - set(but) | set(instead))

    def test_what_is_called_otherwise(self):
        """Debian 13 and later have none of these, but successors."""
        self.apt(self.packages(
            ("openjdk-17-jdk-headless", "libpython3.11-testsuite"),
            ("openjdk-25-jdk-headless", "libpython3.13-testsuite")))
        os.unlink(self.path("bin/javac"))
        status, output = self.install("check", CI="true")
        self.assertIn(" openjdk-25-jdk-headless ", output)
        self.assertIn(" libpython3.13-testsuite ", output)
        self.assertIn("still missing: openjdk-17", output)
        self.command("javac")
        self.assertEqual(self.install("check", CI="true")[0], 0)
        self.assertEqual(status, 1)

    def test_what_there_is_none_of(self):
        """Only the tests want it: they do without, but not in CI; a build
        does not."""
        self.apt(self.packages(("cppcheck", "cmake")))
        status, output = self.install("check")
        self.assertEqual(status, 0, output)
        self.assertIn("not to be had here: cppcheck", output)
        self.assertEqual(self.install("check", CI="true")[0], 1)
        self.apt(self.packages(("libdw-dev",)))
        status, output = self.install("build")
        self.assertEqual(status, 1, output)
        self.assertIn("libdw-dev", output)


# What Debian's essential and required packages have, or these bring.
ALWAYS = {
    "bash", "env", "mount", "nm", "prlimit", "setpriv", "sh", "strip", "tr",
    "cc", "erlc", "java", "dpkg-query", "objcopy", "objdump", "llvm-symbolizer",
    "callgrind_annotate"}


class Lacking(Case):
    """A test without its program."""

    def test_every_program_is_of_the_table(self):
        """CI fails where one is missing that `install-deps check` does not
        bring, and a machine that has it by chance hides that."""
        with open(os.path.join(ROOT, "scripts/install-deps"),
                  encoding="utf-8") as source:
            table = source.read().split("BENCH='")[0]
        brought = set(re.findall(r"(?m)^[\w.+|-]+ [ce]:(\S+)$", table))
        here = os.path.dirname(os.path.abspath(__file__))
        wanted = set()
        for name in os.listdir(here):
            if name.endswith(".py"):
                with open(os.path.join(here, name), encoding="utf-8") as test:
                    wanted |= set(re.findall(r'\bneed\("([^"]+)"\)',
                                             test.read()))
        self.assertIn("node", wanted)
        self.assertEqual(wanted - brought - ALWAYS, set())

    def test_is_a_failure_in_ci_alone(self):
        before = os.environ.pop("CI", None)
        try:
            self.assertIsInstance(lacking("x"), unittest.SkipTest)
            os.environ["CI"] = "true"
            self.assertIsInstance(lacking("x"), AssertionError)
        finally:
            os.environ.pop("CI", None)
            if before is not None:
                os.environ["CI"] = before


if __name__ == "__main__":
    unittest.main()
