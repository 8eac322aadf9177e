#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The launcher: what the program sees of it, and what it leaves behind.

Runs in: tests.  B names the build folder.
"""
import glob
import os
import pty
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("B", "build"))
JPROF = os.path.join(BUILD, "jprof")
# About half a second of CPU time in a shell.
BUSY = "i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done"
PATIENCE = 60   # seconds until something is taken for hung
NOBODY = 65534


def wait_until(condition, what):
    """Waits for a condition that must come true."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited in vain for {what}")
        time.sleep(0.02)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


class LauncherTest(unittest.TestCase):
    JPROF = JPROF

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="launcher-")
        self.addCleanup(shutil.rmtree, self.dir)
        self.env = {k: v for k, v in os.environ.items() if k not in
                    ("LD_PRELOAD", "JPROF_FLAGS", "JPROF_ISCHILD")}

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def jprof(self, *args, **more):
        """Runs the launcher in the scratch folder."""
        more.setdefault("env", self.env)
        return subprocess.run(
            [more.pop("jprof", JPROF), *args], cwd=self.dir, text=True,
            capture_output=True, timeout=PATIENCE, check=False,
            errors="surrogateescape", **more)

    def start(self, *args, **more):
        """Starts the launcher in a session of its own."""
        child = subprocess.Popen(
            [more.pop("jprof", JPROF), *args], cwd=self.dir, env=more.pop("env", self.env),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True, **more)

        def end():
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            child.communicate()
        self.addCleanup(end)
        return child

    def program(self, name, source, *flags):
        """Compiles a C program into the scratch folder."""
        subprocess.run([os.environ.get("CC", "cc"), "-x", "c", "-", "-o",
                        self.path(name), *flags], input=source, text=True,
                       check=True)
        return self.path(name)

    def folders(self):
        return sorted(glob.glob(self.path("jprof-*")))

    def maps(self, folder):
        return "".join(read(path) for path in
                       glob.glob(os.path.join(glob.escape(folder),
                                              "jprof-map*")))

    # ------------------------------------------------------ pass-through

    def test_room_that_killed_processes_left(self):
        """A reserve of 4 MiB, that nothing is in."""
        code = ("import os, time\n"
                "def spin():\n"
                "    end = time.process_time() + 0.1\n"
                "    while time.process_time() < end: pass\n"
                "spin(); os.setuid(os.getuid()); spin()\n"
                "os.kill(os.getpid(), 9)\n")
        done = self.jprof("-o", "out", "/usr/bin/python3", "-c", code)
        self.assertEqual(done.returncode, 128 + 9, done.stderr)
        log = os.stat(self.path("out", "jprof-log"))
        self.assertGreater(log.st_size, 4 << 20)
        self.assertLess(log.st_blocks * 512, 1 << 18)
        summary = self.jprof("report", "--format=summary", "out").stdout
        weight = float(re.search(r"covered_s: ([\d.]+)", summary)[1])
        self.assertGreater(weight, 0.17)

    def test_output_and_status_are_the_program_s(self):
        program = "cat; echo out; echo err >&2; exit 37"
        bare = subprocess.run(["sh", "-c", program], input="in\n", text=True,
                              capture_output=True, check=False)
        run = self.jprof("sh", "-c", program, input="in\n")
        self.assertEqual(run.returncode, 37)
        self.assertEqual(run.stdout, bare.stdout)
        others = [line for line in run.stderr.splitlines(True)
                  if not line.startswith("jprof: ")]
        self.assertEqual("".join(others), bare.stderr)
        # And nothing of the launcher's comes before the program's.
        self.assertTrue(run.stderr.startswith("err\n"), run.stderr)

    def test_report_is_where_it_says(self):
        run = self.jprof("sh", "-c", BUSY)
        self.assertEqual(run.returncode, 0)
        said = re.fullmatch(
            r"jprof: report: (jprof-sh-\d{8}-\d{6}-\d+)/report\.html\n",
            run.stderr)
        self.assertTrue(said, run.stderr)
        self.assertEqual(self.folders(), [self.path(said[1])])
        self.assertIn("Jprof Profile Report",
                      read(self.path(said[1], "report.html")))

    def test_arguments_and_descriptors_are_untouched(self):
        shown = self.path("shown")
        args = ["a b", "", "*", "$HOME", "x\ny", "-F", "--", "\\"]
        reader, writer = os.pipe()
        os.set_inheritable(writer, True)
        list_fds = ("for i in \"$@\"; do printf '<%s>' \"$i\"; done; "
                    "echo /proc/$$/fd/*")
        command = ["sh", "-c", list_fds, "sh", *args]
        bare = subprocess.run(command, stdout=subprocess.PIPE, text=True,
                              pass_fds=[writer], check=True,
                              stdin=subprocess.DEVNULL).stdout
        with open(shown, "w", encoding="ascii") as out:
            subprocess.run([JPROF, *command], cwd=self.dir, env=self.env,
                           stdout=out, pass_fds=[writer], check=True,
                           stdin=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        os.close(reader)
        os.close(writer)
        numbers = [re.sub(r"/proc/\d+/", "", text)
                   for text in (bare, read(shown))]
        self.assertEqual(numbers[0], numbers[1])

    def test_environment_gains_only_jprof_s(self):
        env = dict(self.env, status="1", dir="x", IFS_="y", jp="z",
                   JPROF_ISCHILD="/stale")
        bare = subprocess.run(["sh", "-c", "env"], env=env, text=True,
                              stdout=subprocess.PIPE, check=True).stdout
        run = self.jprof("sh", "-c", "env", env=env)
        ours = ("LD_PRELOAD=", "JPROF_", "PWD=", "OLDPWD=", "_=")
        kept = [sorted(line for line in text.splitlines()
                       if not line.startswith(ours))
                for text in (bare, run.stdout)]
        self.assertEqual(kept[0], kept[1])
        self.assertNotIn("JPROF_ISCHILD=/stale", run.stdout)

    def test_preload_and_flags_of_the_user_are_kept(self):
        env = dict(self.env, LD_PRELOAD="libm.so.6", JPROF_FLAGS="JP_DEPTH=99")
        run = self.jprof("-p", "0.5", "--wall", "env", env=env)
        self.assertRegex(run.stdout,
                         r"(?m)^LD_PRELOAD=libm\.so\.6:/.*libjprof\.so$")
        flags = re.search(r"(?m)^JPROF_FLAGS=(.*)$", run.stdout)[1].split()
        self.assertEqual(flags[:4], ["JP_START", "JP_PERIOD=0.500000000",
                                     "JP_REALTIME", "JP_DEPTH=99"])

    def test_closed_stdin_stays_closed(self):
        run = self.jprof("sh", "-c", "[ -e /proc/$$/fd/0 ] && echo open",
                         preexec_fn=lambda: os.close(0))
        self.assertEqual(run.stdout, "")

    # ------------------------------------------------------ rates

    def test_rate(self):
        for args, period in ((("-F", "100"), "0.010000000"),
                             (("-F1000"), "0.001000000"),
                             (("-F", "0.5"), "2.000000000"),
                             (("-p", "0.0001"), "0.000100000"),
                             (("-p", "08.5"), "8.500000000"),
                             ((), "0.004000000")):
            args = (args,) if isinstance(args, str) else args
            with self.subTest(args=args):
                run = self.jprof(*args, "env")
                self.assertIn(f"JP_PERIOD={period} ", run.stdout)

    def test_wrong_command_lines(self):
        for args in ((), ("-F", "0", "true"), ("-F", "x", "true"),
                     ("-F", "20000", "true"), ("-p", "4000", "true"),
                     ("-F", "9", "-p", "1", "true"), ("-o",), ("-F", "9"),
                     ("--nonsense", "true"), ("report",), ("pause",),
                     ("pause", "x"), ("start", "1", "2")):
            with self.subTest(args=args):
                run = self.jprof(*args)
                self.assertEqual(run.returncode, 64)
                self.assertRegex(run.stderr, "^jprof(-report)?: ")
        self.assertEqual(self.folders(), [])

    def test_version_is_the_library_s(self):
        header = read(os.path.join(ROOT, "include", "jp_limits.h"))
        version = re.search(r'JP_VERSION "(.*)"', header)[1]
        lines = self.jprof("--version").stdout.splitlines()
        self.assertEqual(lines[0], f"jprof {version}")
        said = dict(line.split(": ", 1) for line in lines[1:])
        self.assertEqual(said["architecture"], os.uname().machine)
        self.assertRegex(said["commit"], "^([0-9a-f]{7,40}|unknown)$")
        self.assertRegex(said["compiler"], r"^(gcc|clang) \d")
        self.assertIn("auto, cfi, fp", said["JP_STACK"])

    # ------------------------------------------------------ signals

    HANDLER = ("trap 'echo got; exit 9' INT TERM QUIT USR1; echo ready; "
               "while :; do sleep 0.05; done")
    PLAIN = BUSY + "; echo ready; while :; do :; done"

    def signal_ends(self, number, program, group):
        try:
            child = self.start("-o", "out", "sh", "-c", program)
            self.assertEqual(child.stdout.readline(), "ready\n")
            if group:
                os.killpg(child.pid, number)
            else:
                child.send_signal(number)
            out, err = child.communicate(timeout=PATIENCE)
        finally:    # the next signal's run needs the name
            shutil.rmtree(self.path("out"), ignore_errors=True)
        return child.returncode, out, err

    def test_signals_reach_the_program(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT,
                       signal.SIGUSR1):
            with self.subTest(signal=number):
                status, out, _ = self.signal_ends(number, self.HANDLER, False)
                self.assertEqual((status, out), (9, "got\n"))

    def test_death_by_signal(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                status, _, err = self.signal_ends(number, self.PLAIN,
                                                  number == signal.SIGINT)
                self.assertEqual(status, 128 + number)
                self.assertIn("signal " + number.name[3:], err)
                self.assertIn("jprof: report: out/report.html", err)

    def test_killed_program_is_reported(self):
        run = self.jprof("-o", "out", "sh", "-c", BUSY + "; kill -KILL $$")
        self.assertEqual(run.returncode, 128 + signal.SIGKILL)
        self.assertIn("signal KILL", run.stderr)
        self.assertIn("Jprof Profile Report",
                      read(self.path("out", "report.html")))

    @unittest.skipUnless(shutil.which("node"), "no node here")
    def test_perf_map_of_a_killed_program_is_kept(self):
        run = self.jprof(
            "-o", "out", "node", "--perf-basic-prof", "-e",
            "const end = Date.now() + 1000; let x = 0;"
            "function burnCycles() { for (let i = 0; i < 1e6; i++) x += i; }"
            "while (Date.now() < end) burnCycles();"
            "process.kill(process.pid, 'SIGKILL')")
        self.assertEqual(run.returncode, 128 + signal.SIGKILL)
        saved = glob.glob(self.path("out", "jprof-log*.perf-*.map"))
        self.assertEqual(len(saved), 1, os.listdir(self.path("out")))
        os.unlink("/tmp/perf-" + saved[0].rsplit(".perf-", 1)[1])
        text = self.jprof("report", "--format=text", "out").stdout
        self.assertIn("burnCycles", text)

    def on_terminal(self, program, typed):
        """Runs the launcher on a terminal; returns (status, output)."""
        try:
            for fd in os.openpty():
                os.close(fd)
        except OSError as error:
            self.skipTest("no terminals here: %s" % error)
        pid, master = pty.fork()
        if pid == 0:
            os.chdir(self.dir)
            os.execve(JPROF, [JPROF, "-o", "out", "sh", "-c", program],
                      self.env)
        shown = b""
        while b"ready\r\n" not in shown:
            shown += os.read(master, 1000)
        os.write(master, typed)
        try:
            while True:
                more = os.read(master, 1000)
                shown += more
                if not more:
                    break
        except OSError:  # EIO: the last process has gone
            pass
        os.close(master)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return status, shown.decode()

    def test_terminal_belongs_to_the_program(self):
        status, shown = self.on_terminal(
            "echo ready; read line; echo read $line; exit 5", b"typed\n")
        self.assertEqual(status, 5)
        self.assertIn("read typed", shown)

    def test_interrupt_key_comes_once(self):
        status, shown = self.on_terminal(
            "n=0; trap 'n=$((n + 1))' INT; echo ready; sleep 1; sleep 0.3; "
            "echo count $n; exit 6", b"\x03")
        self.assertEqual(status, 6)
        self.assertIn("count 1\r\n", shown)
        self.assertIn("jprof: ", shown)

    # ------------------------------------------------------ folders

    def test_nothing_is_overwritten(self):
        os.mkdir(self.path("full"))
        with open(self.path("full", "mine"), "w", encoding="ascii"):
            pass
        run = self.jprof("-o", "full", "touch", "ran")
        self.assertEqual(run.returncode, 2)
        self.assertIn("not empty", run.stderr)
        self.assertEqual(os.listdir(self.path("full")), ["mine"])
        self.assertFalse(os.path.exists(self.path("ran")))
        for _ in range(3):
            self.jprof("sh", "-c", BUSY)
        self.assertEqual(len(self.folders()), 3)
        for folder in self.folders():
            self.assertTrue(os.path.exists(os.path.join(folder,
                                                        "report.html")))

    def test_odd_folder_names(self):
        for name in ("a b", "c,d;e", "f%20g%", "t\tu", "h\ni"):
            with self.subTest(name=name):
                run = self.jprof("-o", name, "sh", "-c", BUSY)
                self.assertEqual(run.returncode, 0, run.stderr)
                names = os.listdir(self.path(name))
                self.assertIn("jprof-log", names)
                self.assertIn("jprof-map", names)
                self.assertIn("report.html", names)
        self.assertEqual(len(os.listdir(self.dir)), 5)

    def install(self, home):
        """A copy of the build in the folder HOME; its launcher."""
        os.makedirs(home)
        for name in ("jprof", "jprof-report", "libjprof.so"):
            shutil.copy2(os.path.join(BUILD, name), home)
        return os.path.join(home, "jprof")

    def links(self):
        """Those to this test's libraries: others' tests make some as well."""
        return [link for link in glob.glob("/tmp/jprof-??????/libjprof.so")
                if os.readlink(link).startswith(self.dir)]

    def test_library_in_an_odd_folder(self):
        launcher = self.install(self.path("my tools:x"))
        child = self.start("-o", "out", "sh", "-c", "read word; " + BUSY,
                           jprof=launcher)
        wait_until(lambda: os.path.exists(self.path("out")), "the start")
        # What has ended and was not waited for shows nothing of itself.
        bystander = subprocess.Popen(["true"])
        self.addCleanup(bystander.wait)
        wait_until(lambda: ") Z " in read(f"/proc/{bystander.pid}/stat"),
                   "its end")
        _, err = child.communicate("word\n", timeout=PATIENCE)
        self.assertIn("jprof: report: out/report.html", err)
        self.assertEqual(self.links(), [])

    def test_link_outlives_a_first_thread(self):
        """The process shows nothing of itself, but may start others."""
        launcher = self.install(self.path("my tools:x"))
        self.program("daemon", "#include <pthread.h>\n#include <stdio.h>\n"
                     "#include <unistd.h>\n"
                     "static void *rest(void *p) { pause(); return p; }\n"
                     "int main(void) { int pid = fork(); pthread_t id;"
                     " if (pid) return printf(\"%d\", pid) < 1;"
                     " pthread_create(&id, 0, rest, 0);"
                     " pthread_exit(0); }\n", "-pthread")
        run = self.jprof("-o", "out", "sh", "-c", "./daemon >pid 2>&1; " +
                         BUSY, jprof=launcher)
        self.addCleanup(os.kill, int(read(self.path("pid"))), signal.SIGKILL)
        links = self.links()
        for link in links:
            shutil.rmtree(os.path.dirname(link))
        self.assertEqual(len(links), 1, run.stderr)

    def test_installed_layout_and_link(self):
        self.install(self.path("bin"))
        os.makedirs(self.path("lib", "jprof"))
        os.rename(self.path("bin", "libjprof.so"),
                  self.path("lib", "jprof", "libjprof.so"))
        os.symlink("bin/jprof", self.path("link"))
        run = self.jprof("-o", "out", "sh", "-c", BUSY,
                         jprof=self.path("link"))
        self.assertIn("jprof: report: out/report.html", run.stderr)
        self.assertIn(self.path("lib", "jprof", "libjprof.so"),
                      self.maps(self.path("out")))

    # ------------------------------------------------------ refusals

    def test_not_found_and_not_executable(self):
        with open(self.path("plain"), "w", encoding="ascii"):
            pass
        for name, status in (("no-such-program", 127), ("./missing", 127),
                             ("./plain", 126), ("/tmp", 126)):
            with self.subTest(name=name):
                run = self.jprof(name)
                self.assertEqual(run.returncode, status)
                self.assertIn(name, run.stderr)
        self.assertEqual(self.folders(), [])

    def test_static_program(self):
        self.program("static", "int main(void) { return 3; }", "-static")
        run = self.jprof("./static")
        self.assertEqual(run.returncode, 3)
        self.assertIn("./static cannot be profiled: it is statically",
                      run.stderr)
        self.assertIn("no report", run.stderr)
        self.assertEqual(run.stderr.count("statically"), 1, run.stderr)
        self.assertEqual(self.folders(), [])

    def test_dynamic_program_is_not_called_static(self):
        for flags in (("-pie", "-fPIE"), ("-no-pie",)):
            self.program("dynamic", "int main(void) { return 4; }", *flags)
            run = self.jprof("./dynamic")
            self.assertEqual(run.returncode, 4)
            self.assertNotIn("cannot be profiled", run.stderr)

    def test_other_machine(self):
        for offset, value in ((4, 1), (18, 243)):  # ELFCLASS32; EM_RISCV
            program = bytearray(read_bytes(shutil.which("env")))
            program[offset] = value
            with open(self.path("other"), "wb") as out:
                out.write(program)
            os.chmod(self.path("other"), 0o755)
            run = self.jprof("./other")
            self.assertIn("another kind of machine", run.stderr)
            self.assertNotIn("libjprof.so", run.stdout)  # not preloaded
        self.assertEqual(run.returncode, 126)

    @unittest.skipUnless(os.getuid() == 0, "must be root to give files away")
    def test_set_uid_program(self):
        shutil.copy("/bin/true", self.path("suid"))
        os.chown(self.path("suid"), NOBODY, NOBODY)
        for mode, word in ((0o4755, "set-uid"), (0o2755, "set-gid")):
            os.chmod(self.path("suid"), mode)
            run = self.jprof("./suid")
            self.assertEqual(run.returncode, 0)
            self.assertIn(f"./suid cannot be profiled: it is {word}",
                          run.stderr)
        os.chmod(self.path("suid"), 0o755)
        self.assertNotIn("cannot be profiled", self.jprof("./suid").stderr)

    def test_script(self):
        with open(self.path("script"), "w", encoding="ascii") as out:
            out.write(f"#!/bin/sh -e\n{BUSY}\necho \"$1\"\nexit 8\n")
        os.chmod(self.path("script"), 0o755)
        run = self.jprof("./script", "an argument")
        self.assertEqual((run.returncode, run.stdout), (8, "an argument\n"))
        self.assertRegex(run.stderr, r"^jprof: report: jprof-script-")

    def test_no_samples(self):
        run = self.jprof("sleep", "0")
        self.assertEqual(run.returncode, 0)
        self.assertRegex(run.stderr, "no report: no samples|jprof: report: ")
        run = self.jprof("-p", "3600", "sh", "-c", "sleep 0")
        self.assertIn("no samples were taken", run.stderr)

    # ------------------------------------------------------ reports

    def test_process_tree_is_merged(self):
        run = self.jprof("-o", "out", "sh", "-c",
                         f"sh -c '{BUSY}'; python3 -c 'sum(range(9000000))';"
                         f"{BUSY}")
        self.assertIn("jprof: report: out/report.html", run.stderr)
        pids = set(re.findall(r"(?m)^\d+ process .*\bpid=(\d+)",
                              self.maps(self.path("out"))))
        self.assertGreaterEqual(len(pids), 3)
        html = read(self.path("out", "report.html"))
        for pid in pids:
            self.assertRegex(html, rf"\b{pid}\b")
        again = self.jprof("report", "--format=summary", "out").stdout
        self.assertIn(f"\nprocesses: {len(pids)}\n", again)

    def test_report_again(self):
        self.jprof("-o", "out", "sh", "-c", BUSY)
        for what in ("out", "out/", "out/jprof-log"):
            run = self.jprof("report", "-s", "5", "--format=summary", what)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertRegex(run.stdout, r"(?m)^samples: [1-9]")
        self.assertEqual(self.jprof("report", "nowhere").returncode, 2)
        os.mkdir(self.path("empty"))
        run = self.jprof("report", "empty")
        self.assertEqual(run.returncode, 2)
        self.assertIn("no log", run.stderr)

    # ------------------------------------------------------ control

    def running(self, env, wanted):
        """Starts a busy program; returns the pid of the program itself once
        its map has the words WANTED."""
        child = self.start("-o", "out", "sh", "-c",
                           "echo $$; while :; do :; done", env=env)
        pid = child.stdout.readline().strip()
        wait_until(lambda: wanted in self.maps(self.path("out")), wanted)
        return child, pid

    def count(self, word):
        return len(re.findall(rf"(?m)^\d+ {word}\b",
                              self.maps(self.path("out"))))

    def control(self, command, pid, word, wanted):
        run = self.jprof(command, pid)
        self.assertEqual((run.returncode, run.stdout, run.stderr),
                         (0, "", ""))
        wait_until(lambda: self.count(word) >= wanted, f"{word} in the map")
        self.assertEqual(self.count(word), wanted)

    def test_start_pause_clear_save(self):
        env = dict(self.env, JPROF_FLAGS="JP_CIRCULAR=1M")
        child, pid = self.running(env, " section ")
        self.control("pause", pid, "pause", 1)
        self.control("start", pid, "section", 2)
        self.control("clear", pid, "clear", 1)
        self.control("save", pid, "save", self.count("save") + 1)
        self.control("pause", pid, "pause", 2)
        child.send_signal(signal.SIGTERM)
        _, err = child.communicate(timeout=PATIENCE)
        self.assertEqual(child.returncode, 128 + signal.SIGTERM)
        self.assertIn("jprof: report: out/report.html", err)

    def test_control_refuses_what_it_would_kill(self):
        bare = subprocess.Popen(["sleep", "100"])
        self.addCleanup(bare.wait)
        self.addCleanup(bare.kill)
        library = os.path.join(BUILD, "libjprof.so")
        idle = subprocess.Popen(["sh", "-c", "echo; exec sleep 100"],
                                stdout=subprocess.PIPE,
                                env=dict(self.env, LD_PRELOAD=library))
        self.addCleanup(idle.stdout.close)
        self.addCleanup(idle.wait)
        self.addCleanup(idle.kill)
        idle.stdout.readline()
        wait_until(lambda: "sleep" in os.readlink(f"/proc/{idle.pid}/exe"),
                   "exec")
        wait_until(lambda: "libjprof" in read(f"/proc/{idle.pid}/maps"),
                   "the library")
        gone = subprocess.Popen(["true"])
        gone.wait()
        for pid, text in ((bare.pid, "not started with libjprof"),
                          (idle.pid, "does not listen"),
                          (gone.pid, "no process")):
            with self.subTest(text=text):
                run = self.jprof("pause", str(pid))
                self.assertEqual(run.returncode, 2)
                self.assertIn(text, run.stderr)
        self.assertIsNone(bare.poll())
        self.assertIsNone(idle.poll())


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


if __name__ == "__main__":
    unittest.main()
