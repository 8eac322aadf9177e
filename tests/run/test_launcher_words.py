# SPDX-License-Identifier: MIT
"""The launcher's and the reporter's words: options of jprof report, profiles
without a program's name, and command lines in reports.

Runs in: tests.  B names the build folder.
"""
import os
import shutil
import signal
import subprocess
import unittest

from test_launcher import BUILD, BUSY, PATIENCE, LauncherTest as Base, read

REPORT = os.path.join(BUILD, "jprof-report")
SECRET = "hunter2"


class WordsTest(Base):
    # Its tests are run from its own module.
    for name in dir(Base):
        if name.startswith("test_"):
            locals()[name] = None
    del name

    def report(self, *args, **more):
        return subprocess.run([REPORT, *args], cwd=self.dir, text=True,
                              capture_output=True, timeout=PATIENCE,
                              check=False, env=self.env, **more)

    def profile(self, *options, name="out", args=(), env=None):
        run = self.jprof("-o", name, *options, "sh", "-c", BUSY, "sh", *args,
                         env=env or self.env)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_options_as_separate_words(self):
        self.profile()
        for words in (["--jit-tiers", "split"], ["--annotate", "nothing"],
                      ["--format", "text"], ["-s", "5"], ["-vs5"],
                      ["--only-thread", "1"], ["--start", "0", "--end", "1"],
                      ["-e", "main", "-i", "nothing"]):
            with self.subTest(words=words):
                run = self.jprof("report", *words, "out")
                self.assertIn(run.returncode, (0, 1), run.stderr)
                self.assertNotEqual(run.stdout, "", run.stderr)
                joined = self.jprof("report", "out", *words)
                self.assertEqual(joined.stdout, run.stdout)
        run = self.jprof("report", "-o", "there", "out")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("Jprof Profile Report", read(self.path("there")))

    def test_folder_without_the_launcher(self):
        self.profile()
        want = self.jprof("report", "--format=text", "out").stdout
        for what in ("out", "out/", "./out", "out/jprof-log"):
            run = self.report("--format=text", what)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(run.stdout, want)
        run = self.report("--format=text", "sh", "out")
        self.assertEqual((run.returncode, run.stdout), (0, want))
        os.mkdir(self.path("empty"))
        run = self.report("empty")
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn("no log (jprof-log) in empty", run.stderr)

    def test_program_by_a_link(self):
        """php is a link to php8.2: nobody says that another program ran."""
        os.mkdir(self.path("bin"))
        shutil.copy(os.path.join(BUILD, "tests", "programs", "busy"),
                    self.path("bin", "busy8.2"))
        os.symlink("busy8.2", self.path("bin", "busy"))
        self.env["PATH"] = self.path("bin") + ":" + self.env["PATH"]
        run = self.jprof("-o", "out", "busy", "0.3")
        self.assertIn("report: out/report.html", run.stderr)
        os.unlink(self.path("out", "jprof-tree"))   # as without the launcher
        for name in ("busy", "bin/busy", self.path("bin", "busy")):
            run = self.report("--format=text", name, "out/jprof-log")
            self.assertEqual((run.returncode, run.stderr), (0, ""), name)
        run = self.report("--format=text", "sh", "out/jprof-log")
        self.assertIn("busy8.2", run.stderr)

    def reports(self, *options):
        return [self.report("--format=" + form, *options, "out").stdout
                for form in ("html", "text", "summary")]

    def test_passwords_are_masked(self):
        words = ("--password=" + SECRET, "--api-token", SECRET,
                 "DB_PASSWD=" + SECRET, "https://me:%s@host/x" % SECRET,
                 "--user=kept", "Authorization: Bearer " + SECRET)
        self.profile(args=words)
        html = read(self.path("out", "report.html"))
        self.assertNotIn(SECRET, html)
        self.assertIn("--user=kept", html)
        self.assertIn("--password=***", html)
        for text in self.reports():
            self.assertNotIn(SECRET, text)
        self.assertIn(SECRET, self.reports("--unmask")[0])

    def everything(self, folder):
        text = b""
        for name in os.listdir(self.path(folder)):
            with open(self.path(folder, name), "rb") as source:
                text += source.read()
        return text.replace(b"%", b"")

    def test_no_arguments_at_all(self):
        """By the flag and by the option: in no file of the profile."""
        child = "sh -c '%s' sh %s; env -i sh -c '%s' sh %s" % (
            BUSY, SECRET, BUSY, SECRET)
        found = []
        for options, flags in (((), None), (("--no-args",), None),
                               ((), "JP_NO_ARGS")):
            env = dict(self.env)
            if flags:
                env["JPROF_FLAGS"] = flags
            self.script_runs(child, options, env)
            text = self.everything("out")
            shutil.rmtree(self.path("out"))
            found.append(SECRET.encode() in text or
                         SECRET.encode().hex().encode() in text)
        self.assertEqual(found, [True, False, False])

    def test_a_folder_with_the_flag_in_its_name(self):
        """The flag is a word of JPROF_FLAGS, not a part of one."""
        found = []
        for folder, flags in (("out", "JP_DEPTH=64,JP_NO_ARGS"),
                              ("JP_NO_ARGS", ""),
                              ("out-JP_NO_ARGS.d", "JP_DEPTH=64")):
            run = self.jprof("-o", folder, "sh", "-c", BUSY, SECRET,
                             env=dict(self.env, JPROF_FLAGS=flags))
            self.assertEqual(run.returncode, 0, run.stderr)
            with open(self.path(folder, "jprof-tree"), "rb") as tree:
                found.append(SECRET.encode().hex().encode()
                             in tree.read().replace(b"%", b""))
        self.assertEqual(found, [False, True, True])

    def script_runs(self, text, options, env):
        """The secret is an argument of its children and of itself."""
        with open(self.path("script"), "w", encoding="ascii") as out:
            out.write("#!/bin/sh\n%s\n%s\n" % (BUSY, text))
        os.chmod(self.path("script"), 0o755)
        run = self.jprof("-o", "out", *options, "./script", SECRET, env=env)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn("is no flag", run.stderr)

    def test_a_file_size_limit(self):
        """The program's status is told whatever cannot be written."""
        for limit, said in ((0, "no report"), (8, "no report"),
                            ("unlimited", "report: ")):
            run = subprocess.run(
                ["sh", "-c", "ulimit -f %s; exec %s -o out%s sh -c '%s; exit "
                 "42'" % (limit, self.JPROF, limit, BUSY)], cwd=self.dir,
                env=self.env, text=True, capture_output=True, check=False,
                timeout=PATIENCE)
            self.assertEqual(run.returncode, 42, run.stderr)
            self.assertIn(said, run.stderr)
            if limit == 0:
                self.assertIn("jprof-tree: File too large", run.stderr)
        # The program has the signal as it was.
        run = self.jprof("sh", "-c", "kill -XFSZ $$")
        self.assertEqual(run.returncode, 128 + signal.SIGXFSZ, run.stderr)

    def test_env_that_leads_elsewhere(self):
        """What is asked for its version is what runs, or nothing is."""
        os.mkdir(self.path("app"))
        for name in ("python3", "app/python3"):
            with open(self.path(name), "w", encoding="ascii") as out:
                out.write("#!/bin/sh\necho $0 $1 >>%s\n" % self.path("asked"))
            os.chmod(self.path(name), 0o755)
        app = self.path("app")
        for words in (["--chdir=" + app, "./python3"], ["-C", app, "./python3"],
                      ["-C" + app, "./python3"], ["--chdir", app, "./python3"],
                      ["--ch=" + app, "./python3"], ["-iC", app, "./python3"],
                      ["-vStrue", "./python3"], ["-Strue", "./python3"],
                      ["--split-string=true", "./python3"],
                      ["-S", "true ./python3"], ["A=1", "PATH=/none", "python3"],
                      ["--argv0", "./python3", "true"], ["-i", "./python3"],
                      ["-u", "PATH", "python3"], ["-uPATH", "python3"]):
            self.env["PATH"] = self.dir + ":" + os.environ["PATH"]
            with open(self.path("asked"), "w", encoding="ascii"):
                pass
            self.jprof("--jit=map", "env", *words)
            self.assertNotIn("--version", read(self.path("asked")), words)
        for words in (["./python3"], ["-u", "X", "A=1", "python3"],
                      ["--", "./python3"], ["nice", "-n", "1", "./python3"],
                      ["nohup", "setsid", "-w", "./python3"]):
            with open(self.path("asked"), "w", encoding="ascii"):
                pass
            self.jprof("--jit=map", "env", *words)
            self.assertIn("--version", read(self.path("asked")), words)

    def test_words_that_env_changes(self):
        """A script's, by env -S: a program of the unchanged name, planted in
        the working directory, is not executed."""
        real = self.path("real")
        planted = ["${REAL}/python3", '"%s/python3"' % real, "'%s'/python3" %
                   real, "%s\\_/python3" % real]
        for path in [real + "/python3"] + [self.path(p) for p in planted]:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="ascii") as out:
                out.write('#!/bin/sh\necho "$0" $1 >>%s\n' %
                          self.path("asked"))
            os.chmod(path, 0o755)
        for word in planted + [real + "/python3"]:
            for start in ("#!/usr/bin/env -S ", "#!/usr/bin/env\t-S A=1 "):
                with open(self.path("asked"), "w", encoding="ascii"):
                    pass
                with open(self.path("script"), "w", encoding="ascii") as out:
                    out.write(start + word + "\n")
                os.chmod(self.path("script"), 0o755)
                self.jprof("--jit=map", "./script",
                           env=dict(self.env, REAL=real))
                said = read(self.path("asked"))
                self.assertEqual("--version" in said, word[0] == "/" and
                                 "\\" not in word, said)

    def test_variables_before_the_program(self):
        """As for env, and the launcher's own environment stays."""
        show = "echo $V1,${V2-unset},${V3-unset}"
        self.env.update(V1="1", V3="2")
        for words, said in (((), "1,unset,2"), (("V2=x=y z",), "1,x=y z,2"),
                            (("V1=3", "V3="), "3,unset,"),
                            (("--", "V1=3", "V1=4"), "4,unset,2")):
            run = self.jprof(*words, "sh", "-c", show)
            self.assertEqual(run.stdout, said + "\n", run.stderr)
        run = self.jprof("run", "--no-args", "V1=3", "sh", "-c", show)
        self.assertEqual(run.stdout, "3,unset,2\n", run.stderr)
        # The launcher's reporter, too, would have to load it.
        run = self.jprof("LD_LIBRARY_PATH=" + self.path(),
                         "JPROF_FLAGS=JP_DEPTH=7", "-F", "9")
        self.assertEqual(run.returncode, 127)
        self.assertIn("jprof: -F: not found", run.stderr)

    def test_words_that_are_no_variables(self):
        for name in ("1=2", "a-b=c", "=x"):
            shutil.copy("/bin/true", self.path(name))
            for word, path in (("./" + name, os.environ["PATH"]),
                               (name, self.dir)):
                run = self.jprof(word, env=dict(self.env, PATH=path))
                self.assertEqual(run.returncode, 0, run.stderr)
        for words in (("A=1",), ("--", "A=1", "B=2")):
            run = self.jprof(*words)
            self.assertEqual(run.returncode, 64, run.stderr)
            self.assertIn("no program given behind " + words[-1], run.stderr)

    def test_variables_that_the_launcher_uses(self):
        """PATH finds the program, and flags are its flags."""
        with open(self.path("own"), "w", encoding="ascii") as out:
            out.write("#!/bin/sh\n%s\n" % BUSY)
        os.chmod(self.path("own"), 0o755)
        self.assertEqual(self.jprof("own").returncode, 127)
        run = self.jprof("-o", "out", "PATH=%s:%s" % (self.dir,
                                                      os.environ["PATH"]),
                         "JPROF_FLAGS=JP_NO_ARGS", "own", SECRET)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn(SECRET.encode().hex().encode(),
                         self.everything("out"))
        self.assertNotIn(SECRET.encode(), self.everything("out"))
        run = self.jprof("PATH=/none", "sh", "-c", "true")
        self.assertEqual(run.returncode, 127, run.stderr)

    def test_help_of_one_command(self):
        everything = self.jprof("--help").stdout
        for command, usage, option in (
                ("run", "[run] [-F HZ", "--wall "),
                ("view", "view [--with=", "opens the report"),
                ("pack", "pack [-o FILE] DIR", "DIR.tar.zst"),
                ("push", "push [--to=", "--tenant=NAME"),
                ("start", "start|pause|clear|save PID", "steer"),
                ("save", "start|pause|clear|save PID", "steer")):
            for word in ("--help", "-h"):
                run = self.jprof(command, word)
                self.assertEqual((run.returncode, run.stderr), (0, ""))
                self.assertTrue(run.stdout.startswith(
                    "Usage: jprof " + usage), run.stdout)
                self.assertIn(option, run.stdout)
                self.assertIn(usage, everything)
                self.assertEqual(run.stdout.count("Usage"), 1)
        run = self.jprof("report", "--help")
        self.assertIn("Usage: jprof-report", run.stdout)
        # Behind other options, and not behind the end of them.
        self.assertEqual(self.jprof("-F", "9", "--help").returncode, 0)
        self.assertEqual(self.jprof("push", "--name", "x", "-h").returncode, 0)
        self.assertEqual(self.jprof("--", "--help").returncode, 127)
        with open("/dev/full", "w", encoding="ascii") as full:
            run = subprocess.run([self.JPROF, "view", "--help"], stdout=full,
                                 stderr=subprocess.PIPE, check=False,
                                 timeout=PATIENCE)
        self.assertEqual(run.returncode, 2, run.stderr)


del Base    # not to be run from here

if __name__ == "__main__":
    unittest.main()
