# SPDX-License-Identifier: MIT
"""What is installed works from there: the launcher finds the library wherever
distributions have it, pkg-config the header, and bash, zsh and fish complete
what the programs' own --help has.  Runs in: tests."""
import hashlib
import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import time
import unittest

from jprun import (BUILD, HANG_SECONDS, LIBRARY, ROOT, Case, need, program,
                   wait_until)


class Install(Case):
    def setUp(self):
        super().setUp()
        self.top = self.path("root/usr")

    def make(self, *words, old=("all",)):
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("MAKE", "MFLAGS"))}
        subprocess.run([need("make"), "-s",
                        *[word for name in old for word in ("-o", name)],
                        "B=" + BUILD, *words],
                       cwd=ROOT, env=env, check=True, timeout=HANG_SECONDS,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def install(self, *words):
        self.make("install", "DESTDIR=" + self.path("root"), "PREFIX=/usr",
                  *words)

    def output(self, *argv, **more):
        return subprocess.run(
            argv, check=True, cwd=self.dir, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, **more).stdout


class Places(Install):
    def test_library_folders(self):
        """lib, lib64, and that of the architecture."""
        machine = os.uname().machine
        for number, folder in enumerate(("lib", "lib64",
                                         "lib/%s-linux-gnu" % machine)):
            self.install("LIBDIR=/usr/" + folder)
            out = "out%d" % number
            self.output(self.path("root/usr/bin/jprof"), "-o", out,
                        program("busy"), "0.2")
            self.assertTrue(os.path.exists(self.path(out + "/report.html")))
            self.make("uninstall", "DESTDIR=" + self.path("root"),
                      "PREFIX=/usr", "LIBDIR=/usr/" + folder)
            left = [name for _, _, names in os.walk(self.path("root"))
                    for name in names]
            self.assertEqual(left, [])

    def build_and_install(self, *words):
        """With a launcher that is built for them: of the build folder's
        objects just the one that knows LIBDIR is compiled again."""
        build = self.path("build")
        for part in ("jprof", "jprof-report", "libjprof.so", "commit",
                     "strict"):
            if os.path.exists(os.path.join(BUILD, part)):
                os.makedirs(build, exist_ok=True)
                shutil.copy2(os.path.join(BUILD, part), build)
        for part in ("launcher", "base", "read"):
            shutil.copytree(os.path.join(BUILD, "analyzer", part),
                            os.path.join(build, "analyzer", part),
                            dirs_exist_ok=True)
        self.make("B=" + build, "install", *words, old=(
            build + "/jprof-report", build + "/libjprof.so"))

    def library(self, prefix):
        """What the launcher there says of the library's place."""
        run = subprocess.run(
            [os.path.join(prefix, "bin/jprof"), "--library"], cwd=self.dir,
            check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        return run.stdout, run.stderr

    def test_any_library_folder(self):
        """Below PREFIX, also when all is moved, and elsewhere."""
        self.build_and_install("DESTDIR=" + self.path("root"), "PREFIX=/usr",
                               "LIBDIR=/usr/libs")
        found = self.path("root/usr/libs/jprof/libjprof.so")
        self.assertEqual(self.library(self.top), (found + "\n", ""))
        os.rename(self.path("root"), self.path("moved"))
        self.assertEqual(
            self.library(self.path("moved/usr")),
            (self.path("moved/usr/libs/jprof/libjprof.so") + "\n", ""))
        shutil.rmtree(self.path("moved/usr/libs"))
        self.assertIn("libs/jprof", self.library(self.path("moved/usr"))[1])
        self.build_and_install("PREFIX=" + self.path("here"),
                               "LIBDIR=" + self.path("there"))
        self.assertEqual(self.library(self.path("here")), (
            self.path("there/jprof/libjprof.so") + "\n", ""))

    def test_a_path_that_cannot_be_preloaded(self):
        """--library says so; the launcher goes by a link."""
        prefix = self.path("odd: 'one\" \\")
        self.build_and_install("PREFIX=" + prefix, "LIBDIR=%s/my libs" % prefix)
        path, said = self.library(prefix)
        self.assertEqual(path, prefix + "/my libs/jprof/libjprof.so\n")
        self.assertRegex(said, "(?s)^jprof: LD_PRELOAD .*blanks.*link")
        self.output(os.path.join(prefix, "bin/jprof"), "-o", "out",
                    program("busy"), "0.2")
        self.assertTrue(os.path.exists(self.path("out/report.html")))

    def test_for_all_users(self):
        """Whatever the umask of who installs."""
        before = os.umask(0o077)
        try:
            self.install()
        finally:
            os.umask(before)
        for folder, names, files in os.walk(self.top):
            for name in names + files:
                mode = os.stat(os.path.join(folder, name)).st_mode
                self.assertEqual(mode & 0o044, 0o044, name)

    def test_the_library_is_small(self):
        """It is mapped into every program of a tree."""
        small = self.path("small.so")
        self.output(need("strip"), "-o", small, LIBRARY)
        self.assertLess(os.path.getsize(small), 327680)

    def test_package_configuration(self):
        self.install("LIBDIR=/usr/lib64")
        env = dict(os.environ,
                   PKG_CONFIG_PATH=self.path("root/usr/lib64/pkgconfig"))
        tool = need("pkg-config")
        flags = self.output(tool, "--cflags", "jprof", env=dict(
            env, PKG_CONFIG_ALLOW_SYSTEM_CFLAGS="1"))
        self.assertIn("/usr/include", flags)
        version = self.output(self.path("root/usr/bin/jprof"), "--version")
        self.assertIn(self.output(tool, "--modversion", "jprof",
                                  env=env).strip(), version)
        self.assertEqual(
            self.output(tool, "--variable=library", "jprof",
                        env=env).strip(), "/usr/lib64/jprof/libjprof.so")

    def test_manual_pages(self):
        """JPROF_FLAGS(7) has every flag of README's table, and no other."""
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            table = set(re.findall(r"(?m)^\| (JP_\w+)", file.read()))
        with open(os.path.join(ROOT, "doc/JPROF_FLAGS.7"),
                  encoding="utf-8") as file:
            page = set(re.findall(r"(?m)^\.It (JP_\w+)", file.read()))
        self.assertTrue(table)
        self.assertEqual(page, table)

    def test_example_of_the_flags(self):
        """JPROF_FLAGS(7)'s example profiles a program wherever the library
        was put."""
        with open(os.path.join(ROOT, "doc/JPROF_FLAGS.7"),
                  encoding="utf-8") as file:
            example = re.search(r"(?m)^\.Dl (LD_PRELOAD=.*)", file.read())[1]
        with open(self.path("app"), "w", encoding="utf-8") as app:
            app.write("#!/bin/sh\nexec %s 0.2\n" % shlex.quote(
                program("busy")))
        os.chmod(self.path("app"), 0o755)
        self.install("LIBDIR=/usr/lib/%s-linux-gnu" % os.uname().machine)
        self.output("/bin/sh", "-c", example, env=dict(
            os.environ, PATH=self.path("root/usr/bin:") + os.environ["PATH"]))
        self.assertTrue(os.path.getsize(self.path("jprof-log")))

    def test_built_with(self):
        """--version names libdeflate just where the program needs it."""
        reporter = os.path.join(BUILD, "jprof-report")
        version, libraries = self.output(reporter, "--version").splitlines()
        self.assertRegex(version, r"^jprof-report \d")
        self.assertEqual(
            "libdeflate" in libraries,
            "libdeflate" in self.output(need("readelf"), "-d", reporter))

    def test_tarball_is_reproducible(self):
        if not os.path.exists(os.path.join(ROOT, ".git")):
            self.skipTest("no git repository here")
        need("git")
        sums = []
        for _ in range(2):
            self.make("dist", "B=" + self.path("build"))
            name = [name for name in os.listdir(self.path("build"))
                    if name.endswith(".tar.gz")][0]
            with open(self.path("build/" + name), "rb") as file:
                sums.append(hashlib.sha256(file.read()).hexdigest())
            os.unlink(self.path("build/" + name))
            time.sleep(1.1)         # a time of its own would show
        self.assertEqual(sums[0], sums[1])


class Completion(Install):
    """In each shell, by what the user would type."""

    def setUp(self):
        super().setUp()
        self.env = dict(os.environ, HOME=self.dir, TERM="dumb",
                        PATH=BUILD + ":" + os.environ["PATH"])
        os.mkdir(self.path("folder"))
        with open(self.path("file"), "w", encoding="ascii"):
            pass

    def terminal(self, *argv, **more):
        """A shell in a terminal: a function that types, and one that reads
        until what it shows has a mark, and gives that."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.dir)
            os.execve(argv[0], argv, dict(self.env, **more))
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.close, terminal)

        def send(text):
            os.write(terminal, text.encode())

        def until(mark):
            out, end = "", time.monotonic() + HANG_SECONDS
            while not re.search(mark, out):
                self.assertLess(time.monotonic(), end, out)
                if select.select([terminal], [], [], 1)[0]:
                    out += os.read(terminal, 65536).decode(errors="replace")
            return out

        return send, until

    def check_typed(self, send, until):
        """Files and folders after options that want them, a value that there
        is once, and no file where values are known."""
        send("jprof report --form\tte\t --diff=fi\t --debug-dir=f\t "
             "--event=ra\t --jit-tiers=f\t \x01printf '<%s>' "
             "\x05; echo do''ne\n")
        self.assertRegex(
            until("done"), "<report><--format=text><--diff=file>"
            "<--debug-dir=folder/?><--event=raised><--jit-tiers=f>done")

    def options(self, name):
        """The long options that its --help lists, at the start of a line."""
        text = self.output(os.path.join(BUILD, name), "--help")
        return set(re.findall(r"(?m)^  (?:-\w, )?(--[a-z-]+)", text))

    def check(self, complete):
        """complete(words) gives the candidates for the last of the words."""
        for words, name in ((["jprof", "--"], "jprof"),
                            (["jprof", "report", "--"], "jprof-report"),
                            (["jprof-report", "--"], "jprof-report")):
            found = {word.rstrip("=") for word in complete(words)}
            wanted = self.options(name)
            self.assertTrue(wanted)
            self.assertLessEqual(wanted, found, words)
        self.assertEqual([word.split("=")[-1] for word in complete(
            ["jprof", "report", "--format=coll"])], ["collapsed"])
        self.assertEqual({word.split("=")[-1] for word in complete(
            ["jprof", "--jit="])}, {"off", "map", "dump"})
        self.assertEqual({word.split("=")[-1] for word in complete(
            ["jprof-report", "--event="])},
            {"cpu", "running", "blocked", "ready", "raised"})
        live = self.start(program("idle"), flags="JP_DEFER", preload=LIBRARY)
        live.wait_until(lambda: self.has_library(live.pid), "the library")
        self.assertIn(str(live.pid), complete(["jprof", "pause", ""]))
        live.end(9)

    def check_taken(self, complete):
        """Each option that is offered is one of that command's; a program's
        own are none of jprof's."""
        for words in (["jprof", "-"], ["jprof", "--wall", "-"],
                      ["jprof", "run", "-"], ["jprof", "push", "-"],
                      ["jprof", "view", "-"], ["jprof", "pack", "-"],
                      ["jprof", "report", "-"], ["jprof-report", "-"]):
            found = [word for word in complete(words) if word[:1] == "-"]
            self.assertTrue(found, words)
            for word in found:
                value = "1" if word.endswith("=") else ""
                said = subprocess.run(
                    [os.path.join(BUILD, words[0]), *words[1:-1],
                     word + value], cwd=self.dir, check=False,
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE, text=True).stderr
                self.assertNotIn("option " + word.rstrip("="), said)
        for words in (["jprof", "ls", "-"], ["jprof", "-F", "9", "ls", "-"],
                      ["jprof", "--push=http://[::1]:9", "ls", "-"],
                      ["jprof", "run", "A=1", "-"]):
            self.assertEqual([word for word in complete(words)
                              if word.startswith("-")], [], words)

    def has_library(self, pid):
        with open("/proc/%d/maps" % pid, encoding="utf-8",
                  errors="replace") as maps:
            return "libjprof.so" in maps.read()

    def test_bash(self):
        bash = need("bash")
        script = os.path.join(ROOT, "scripts/completion/jprof.bash")

        def complete(words):
            # As bash does it: = and : are words of their own.
            parts = []
            for word in words:
                parts += [part for part in re.split("([=:])", word) if part] \
                    or [word]
            return self.output(
                bash, "--norc", "-c", ". %s; COMP_LINE=$1; shift; "
                "COMP_POINT=${#COMP_LINE}; COMP_WORDS=(\"$@\"); "
                "COMP_CWORD=$(($# - 1)); _jprof \"$1\"; "
                "printf '%%s\\n' \"${COMPREPLY[@]}\"" % shlex.quote(script),
                "bash", " ".join(words), *parts, env=self.env).split()

        self.check(complete)
        self.check_taken(complete)

    def test_bash_in_a_terminal(self):
        """readline adds its own: no = is quoted, a value follows at once, and
        a folder has its slash."""
        bash = need("bash")
        script = os.path.join(ROOT, "scripts/completion/jprof.bash")
        send, until = self.terminal(bash, "--norc", "--noprofile", "-i",
                                    TERM="xterm")
        send(". %s; echo re''ady\n" % shlex.quote(script))
        until("ready")
        send("jprof report fol\t\x01printf '<%s>' \x05; echo fi''rst\n")
        self.assertIn("<report><folder/>first", until("first"))
        self.check_typed(send, until)
        send("exit\n")

    def test_fish(self):
        fish = need("fish")
        script = os.path.join(ROOT, "scripts/completion/jprof.fish")

        def complete(words):
            lines = self.output(
                fish, "--no-config", "-c",
                "source %s; complete -C %s" % (
                    shlex.quote(script), shlex.quote(" ".join(words))),
                env=self.env).splitlines()
            return [line.split("\t")[0] for line in lines]

        self.check(complete)
        self.check_taken(complete)
        for last, wanted in (("--diff=fi", ["--diff=file"]),
                             ("--debug-dir=f", ["--debug-dir=folder/"]),
                             ("--jit-tiers=f", [])):
            self.assertEqual(complete(["jprof", "report", last]), wanted)

    def added(self):
        with open(self.path("added"), encoding="utf-8") as added:
            return added.read().split()

    def test_zsh(self):
        """A terminal: what stands in the list, or in the line."""
        zsh = need("zsh")
        send, until = self.terminal(zsh, "-f", "-i")
        send("fpath=(%s $fpath); autoload -Uz compinit; compinit -u -D; "
             "compdef _jprof jprof jprof-report; "
             "listed() { compadd() { print -rl -- "
             "\"${(@)@[$@[(i)--]+1,-1]}\" >>%s; builtin compadd \"$@\" }; "
             "_main_complete; unfunction compadd; echo -- >>%s }; "
             "zle -C listed list-choices listed; bindkey -e; "
             "bindkey '^T' listed; "
             "echo re''ady\n" % (
                 shlex.quote(os.path.join(ROOT, "scripts/completion")),
                 *[shlex.quote(self.path("added"))] * 2))
        until("ready")

        def complete(words):
            with open(self.path("added"), "w", encoding="ascii"):
                pass
            send(" ".join(words) + "\x14")
            wait_until(lambda: "--" in self.added(), "the completion")
            send("\x15echo do''ne\n")
            until("done")
            last = words[-1].rsplit("=", 1)[-1]
            return [word for word in self.added()[:-1]
                    if word.startswith(last)]

        self.check(complete)
        self.check_taken(complete)
        self.check_typed(send, until)
        send("exit\n")


if __name__ == "__main__":
    unittest.main()
