# SPDX-License-Identifier: MIT
"""Coverage: how much of all CPU time the samples stand for, and the processes
that are missing, each with its reason.

Runs in: tests.  B names the build folder.
"""
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import unittest

from jprun import (BUILD, Case, LIBRARY, TICK_FLAGS, need, program, quote,
                   shell, weight_s)

JPROF = os.path.join(BUILD, "jprof")
EDGES = 22          # the counter of threads' beginnings and ends
SPIN = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv)
{
    const double most = argc > 1 ? atof(argv[1]) : 0.4;
    volatile unsigned long n = 0;
    while ((double)clock() / CLOCKS_PER_SEC < most)
        for (int i = 0; i < 100000; i++)
            n++;
    return 0;
}
"""


# Touches so many MiB in small pages, and ends: the kernel takes them down.
LARGE = """
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    const size_t size = (size_t)atoi(argv[1]) << 20;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, size, MADV_NOHUGEPAGE);
    memset(memory, 1, size);
    if (argc > 2)
        _exit(0);
    return 0;
}
"""


# Threads that compute for 8 ms each, a part of a millisecond at a time, and are
# there when the process ends, by _exit if there is an argument.
BURSTS = """
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#define THREADS 20
static pthread_barrier_t barrier;
static double used(void)
{
    struct timespec cpu;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    return (double)cpu.tv_sec * 1e3 + (double)cpu.tv_nsec / 1e6;
}
static void *work(void *data)
{
    for (double next = 0.4; next <= 8; next += 0.4) {
        while (used() < next)
            ;
        usleep(1000 + (unsigned)random() % 5000);
    }
    pthread_barrier_wait(&barrier);
    pause();
    return data;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    (void)argv;
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread, NULL, work, NULL);
    pthread_barrier_wait(&barrier);
    if (argc > 1)
        _exit(0);
    return 0;
}
"""


# Makes so many threads, one after the other, that do next to nothing.
BRIEF = """
#include <pthread.h>
#include <stdlib.h>
static void *work(void *data)
{
    return data;
}
int main(int argc, char **argv)
{
    for (int i = 0; i < atoi(argv[1]); i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, NULL) == 0)
            pthread_join(thread, NULL);
    }
    return 0;
}
"""


class CoverageCase(Case):
    def compile(self, name, *flags, source=SPIN):
        path = self.path(name)
        subprocess.run([os.environ.get("CC", "cc"), "-x", "c", "-", "-o", path,
                        *flags], input=source, text=True, check=True)
        return path

    def merged(self):
        """(summary, [an uncovered process as {key: text}])."""
        logs = self.log_names()
        self.assertTrue(logs, self.files())
        text = self.report("x", "--merge", "--format=summary", *logs)
        summary = dict(line.split(": ", 1) for line in text.splitlines()
                       if ": " in line)
        gaps = [re.fullmatch(
            r"uncovered: processes=(?P<processes>\d+) pid=(?P<pid>\d+) "
            r"cpu_s=(?P<cpu_s>\S+) sampled_s=(?P<sampled_s>\S+) "
            r"log=(?P<log>\d) command=(?P<command>.*) why=(?P<why>.*)",
            line).groupdict() for line in text.splitlines()
                if line.startswith("uncovered: ")]
        return summary, gaps

    def report(self, app, *arguments, status=0):
        # The program's name goes before all of the logs.
        options = [a for a in arguments if a.startswith("-")]
        logs = [a for a in arguments if not a.startswith("-")]
        done = subprocess.run(
            [os.path.join(BUILD, "jprof-report"), *options, app, *logs],
            cwd=self.dir, stdin=subprocess.DEVNULL, capture_output=True,
            check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout.decode("utf-8", "surrogateescape")


class Missing(CoverageCase):
    """Processes without samples, by the library alone."""

    def gap(self, name, gaps):
        # The program itself, before one that is told to run it.
        found = [gap for gap in gaps if name in gap["command"].split()[0]] or [
            gap for gap in gaps if name in gap["command"]]
        self.assertEqual(len(found), 1, gaps)
        return found[0]

    def tree(self):
        """What the processes told of each other."""
        with open(self.path("jprof-tree"), encoding="utf-8",
                  errors="replace") as tree:
            return tree.read()

    def check(self, command, name, why):
        """Runs a shell that works itself and starts what is missing."""
        busy = quote(program("busy")) + " 0.4 >/dev/null; "
        done = self.run_program(*shell(busy + command + "; " + busy))
        self.assertEqual(done.status, 0, done.err)
        summary, gaps = self.merged()
        gap = self.gap(name, gaps)
        self.assertIn(why, gap["why"], (gaps, self.tree()))
        # On a busy machine env, which it was before, may have had a sample.
        self.assertLess(float(gap["sampled_s"]), 0.02)
        # The clock's word of itself, 0.4 s, and exec and exit.
        self.assertGreater(float(gap["cpu_s"]), 0.39)
        total = float(summary["cpu_all_s"])
        self.assertGreater(total, 1.19)
        self.assertAlmostEqual(float(summary["coverage"]),
                               float(summary["covered_s"]) / total, places=3)
        self.assertLess(float(summary["coverage"]), 0.75)
        return gap

    def test_static(self):
        self.compile("lone", "-static")
        gap = self.check("./lone 0.4", "lone", "statically linked")
        self.assertEqual(gap["command"], "./lone 0.4")

    def test_static_by_name_and_spawn(self):
        self.compile("lone", "-static")
        python = ("import os, subprocess; "
                  "os.environ['PATH'] = %r + ':' + os.environ['PATH']; "
                  "os.waitpid(os.posix_spawnp('lone', ['lone', '0.4'], "
                  "os.environ), 0)" % self.dir)
        self.check("%s -c %s" % (sys.executable, quote(python)), "lone",
                   "statically linked")

    def test_several_are_one_line(self):
        self.compile("lone", "-static")
        done = self.run_program(*shell(
            quote(program("busy")) + " 0.4 >/dev/null; "
            "for i in 1 2 3; do ./lone 0.2; done"))
        self.assertEqual(done.status, 0, done.err)
        gaps = self.merged()[1]
        self.assertEqual([gap["processes"] for gap in gaps], ["3"])

    def test_script_of_a_static_interpreter(self):
        self.compile("lone", "-static")
        with open(self.path("script"), "w", encoding="ascii") as file:
            file.write("#!%s 0.4\n" % self.path("lone"))
        os.chmod(self.path("script"), 0o755)
        self.check("./script", "script", "statically linked")

    def test_preload_not_handed_on(self):
        gap = self.check("env -i %s 0.4 >/dev/null" % quote(program("busy")),
                         "busy", "LD_PRELOAD was not passed on")
        # (On a busy machine env may have had a sample, and so a log.)
        self.assertEqual(gap["log"], str(int(float(gap["sampled_s"]) > 0)))

    def test_flags_not_handed_on(self):
        self.check("env -u JPROF_FLAGS %s 0.4 >/dev/null" %
                   quote(program("busy")), "busy", "JPROF_FLAGS")

    def test_flags_emptied(self):
        self.check("JPROF_FLAGS= %s 0.4 >/dev/null" % quote(program("busy")),
                   "busy", "because a seccomp filter forbids")

    def test_behind_a_filter_that_answers(self):
        """As firejail's and systemd's do: the program is profiled; not where
        perf_event_open is answered with 0, as if it had made descriptor 0."""
        opening = {"x86_64": 298}.get(platform.machine(), 241)
        for calls, profiled in (("process-vm-readv,perf-event-open", True),
                                ("%d/0" % opening, False),
                                ("process-vm-readv,fallocate", False)):
            with self.subTest(calls=calls):
                for name in self.files():
                    os.unlink(self.path(name))
                done = self.run_program(program("refuse"), calls,
                                        program("busy"), "0.4")
                self.assertEqual((done.status, done.err), (0, ""))
                weight = sum(weight_s(run) for run in self.all_runs()
                             if run.header["exe"].endswith("/busy"))
                self.assertEqual(weight > 0.3, profiled, weight)

    @unittest.skipUnless(os.geteuid() == 0, "only root gives files away")
    def test_set_uid(self):
        path = self.compile("other")
        os.chown(path, 65534, 65534)
        os.chmod(path, 0o4755)
        self.check("./other 0.4", "other", "set-uid")

    def test_later_program_of_a_process(self):
        self.compile("lone", "-static")
        done = self.run_program(*shell(
            "(i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; "
            "exec ./lone 3); i=0; while [ $i -lt 300000 ]; do i=$((i+1)); "
            "done"))
        self.assertEqual(done.status, 0, done.err)
        gaps = self.merged()[1]
        gap = self.gap("lone", gaps)
        self.assertIn("statically linked", gap["why"])
        self.assertEqual(gap["log"], "1")
        self.assertGreater(float(gap["sampled_s"]), 0)

    def test_threads_that_begin_and_end(self):
        """Before a thread's clock begins, and after it ended, it uses CPU time
        in the kernel: most of what a brief one uses."""
        self.compile("brief", "-O1", "-pthread", source=BRIEF)
        done = self.run_program(self.path("brief"), "8000",
                                flags="JP_START JP_PERIOD=0.001")
        self.assertEqual(done.status, 0, done.err)
        gaps = self.merged()[1]
        self.assertEqual(len(gaps), 1, gaps)
        self.assertRegex(gaps[0]["why"], "its threads used this time")

    def check_bursts(self, *how):
        """The share of CPU time in samples; without the periods that ended
        without a signal it is 65 to 85%."""
        self.compile("bursts", "-O1", "-pthread", source=BURSTS)
        covered = cpu = 0
        for _ in range(4):
            done = self.run_program(self.path("bursts"), *how)
            self.assertEqual(done.status, 0, done.err)
            run, = self.all_runs()
            covered += sum(sample[2] for sample in run.samples)
            cpu += (run.header["cpu_ns"] - run.header["cpu_before_ns"] -
                    run.header["counters"][EDGES])
        self.assertGreater(covered, 0.87 * cpu)
        self.assertLess(covered, 1.15 * cpu)

    def test_threads_that_the_end_finds_waiting(self):
        self.check_bursts()

    def test_threads_that_exit_finds_waiting(self):
        self.check_bursts("now")

    def test_what_the_end_takes(self):
        """Both at _exit and behind the destructors; of a killed process it is
        not known."""
        self.compile("large", "-O1", source=LARGE)
        done = self.run_program(*shell("./large 400; ./large 400 now; :"))
        self.assertEqual(done.status, 0, done.err)
        summary = self.merged()[0]
        after = float(summary["cpu_after_s"])
        missing = float(summary["cpu_all_s"]) - float(summary["covered_s"])
        self.assertGreater(after, 0.02, summary)
        self.assertLess(abs(missing - after - float(summary["cpu_before_s"])),
                        0.05, summary)
        for run in self.all_runs():
            self.assertEqual(run.header["cpu_ended"], 1)

    def test_first_process_of_a_namespace(self):
        """It has two numbers, and is one process."""
        done = self.run_program(*shell(
            "unshare -Urmpf --mount-proc %s 0.4 || exit 77" %
            quote(program("busy"))))
        if done.status == 77:
            self.skipTest("no namespaces here")
        summary, gaps = self.merged()
        self.assertEqual(gaps, [])
        self.assertLess(float(summary["cpu_all_s"]), 0.6)
        self.assertGreater(float(summary["coverage"]), 0.8)

    def test_made_past_the_hooks(self):
        done = self.run_program(program("rawchild"))
        self.assertEqual(done.status, 0, done.err)
        gaps = self.merged()[1]
        self.assertEqual(len(gaps), 1, gaps)
        self.assertIn("left no log", gaps[0]["why"])
        self.assertGreater(float(gaps[0]["cpu_s"]), 0.25)

    @unittest.skipUnless(os.geteuid() == 0, "only root becomes another")
    def test_log_that_cannot_be_made(self):
        os.chmod(self.dir, 0o755)
        code = ("import os, time\n"
                "def spin(s):\n"
                "    end = time.process_time() + s\n"
                "    while time.process_time() < end: pass\n"
                "spin(0.3)\n"
                "pid = os.fork()\n"
                "if pid == 0:\n"
                "    os.setgid(65534)\n"
                "    os.setuid(65534)\n"
                "    os.execv(%r, ['busy', '0.4'])\n"
                "os.waitpid(pid, 0)\n" % "/tmp/jprof-busy-copy")
        shutil.copy(program("busy"), "/tmp/jprof-busy-copy")
        self.addCleanup(os.unlink, "/tmp/jprof-busy-copy")
        library = "/tmp/libjprof.so"
        shutil.copy(LIBRARY, library)
        self.addCleanup(os.unlink, library)
        done = self.run_program(sys.executable, "-c", code, preload=library)
        self.assertEqual(done.status, 0, done.err)
        gaps = self.merged()[1]
        self.assertEqual(len(gaps), 1, gaps)
        self.assertRegex(gaps[0]["why"], "not permitted to write")


class Covered(CoverageCase):
    """What is no gap must not look like one."""

    def check(self, least=0.9):
        summary, gaps = self.merged()
        self.assertEqual(gaps, [])
        self.assertGreater(float(summary["coverage"]), least, summary)
        return summary

    def test_whole(self):
        self.busy(1)
        summary = self.check(0.95)
        self.assertGreater(float(summary["cpu_all_s"]), 0.99)

    def test_real_time(self):
        self.busy(1, flags=TICK_FLAGS + " JP_REALTIME")
        self.check()

    def test_paused(self):
        live = self.start(program("busy"), "3")
        live.line()
        live.burn(0.5)
        live.kill(signal.SIGUSR1)
        live.burn(1)
        live.kill(signal.SIGPROF)
        self.assertEqual(live.end().status, 0)
        summary = self.check()
        self.assertGreater(float(summary["cpu_paused_s"]), 0.9)
        self.assertLess(float(summary["cpu_all_s"]), 2.2)

    def test_paused_to_the_end(self):
        live = self.start(program("busy"), "2")
        live.line()
        live.burn(0.7)
        live.kill(signal.SIGUSR1)
        self.assertEqual(live.end().status, 0)
        summary = self.check()
        self.assertGreater(float(summary["cpu_paused_s"]), 0.5)

    def test_deferred(self):
        live = self.start(program("busy"), "2",
                          flags=TICK_FLAGS + " JP_DEFER")
        live.line()
        live.burn(0.7)
        live.kill(signal.SIGPROF)
        self.assertEqual(live.end().status, 0)
        summary = self.check()
        self.assertGreater(float(summary["cpu_paused_s"]), 0.6)

    def test_cleared_ring(self):
        live = self.start(program("busy"), "2",
                          flags=TICK_FLAGS + " JP_CIRCULAR=1M")
        live.line()
        live.burn(0.7)
        live.kill(signal.SIGUSR2)
        self.assertEqual(live.end().status, 0)
        summary = self.check()
        self.assertGreater(float(summary["cpu_paused_s"]), 0.5)

    def test_overwritten_ring_is_said(self):
        self.busy(2, flags="JP_START JP_PERIOD=0.001 JP_CIRCULAR=20000")
        summary, gaps = self.merged()
        self.assertEqual(gaps, [])
        self.assertGreater(float(summary["cpu_overwritten_s"]), 1.9)

    def test_exec(self):
        done = self.run_program(*shell(
            "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; exec %s 0.9" %
            quote(program("busy"))))
        self.assertEqual(done.status, 0, done.err)
        summary = self.check()
        self.assertLess(float(summary["cpu_all_s"]), 1.1)

    def test_without_destructors(self):
        for how, status in (("_exit", 0), ("kill", -signal.SIGKILL),
                            ("abort", -signal.SIGABRT)):
            with self.subTest(how=how):
                done = self.run_program(program("busy"), "2.5", "0", how)
                self.assertEqual(done.status, status)
                self.check()
                known = self.run_of().header["cpu_ns"] / 1e9
                # The last look at the clock is a second old at most; a
                # loaded machine may deliver the next sample late.
                self.assertGreater(known, 2.4 if how == "_exit" else 1.0)
                for name in self.log_names():
                    os.unlink(self.path(name))

    def test_kernel_s_word_of_a_killed_child(self):
        code = ("import os, signal, time\n"
                "def spin(s):\n"
                "    end = time.process_time() + s\n"
                "    while time.process_time() < end: pass\n"
                "pid = os.fork()\n"
                "if pid == 0:\n"
                "    spin(1.5)\n"
                "    os.kill(os.getpid(), signal.SIGKILL)\n"
                "os.waitpid(pid, 0)\n"
                "spin(0.2)\n")
        done = self.run_program(sys.executable, "-c", code)
        self.assertEqual(done.status, 0, done.err)
        summary = self.check()
        self.assertGreater(float(summary["cpu_all_s"]), 1.69)

    def test_one_log_of_several(self):
        done = self.run_program(*shell(
            "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; "
            "%s 0.9 >/dev/null; true" % quote(program("busy"))))
        self.assertEqual(done.status, 0, done.err)
        text = self.report("sh", "--format=text", "jprof-log")
        self.assertRegex(text, r"(?m)^Coverage .*; \d+ ms more of children"
                               r"|^Coverage .* s more of children")
        self.assertNotIn("Not covered", text)


class Launched(CoverageCase):
    """By the launcher, which knows the whole."""

    def jprof(self, *command):
        env = self.environment(None, False, None)
        return subprocess.run([JPROF, "-o", "out", *command], cwd=self.dir,
                              env=env, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, check=False)

    def text(self):
        done = subprocess.run([JPROF, "report", "--format=text", "out"],
                              cwd=self.dir, capture_output=True, text=True,
                              check=True)
        return done.stdout.split("Flat Profile")[0]

    def test_head(self):
        self.compile("lone", "-static")
        done = self.jprof("sh", "-c", "./lone 0.6; %s 0.6 >/dev/null; true" %
                          quote(program("busy")))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cover", done.stderr)
        text = self.text()
        match = re.search(r"(?m)^Coverage +(\d+\.\d)% of (\S+) (m?s) of CPU "
                          r"time$", text)
        self.assertTrue(match, text)
        self.assertLess(float(match[1]), 60)
        self.assertRegex(text, r"(?m)^Command +sh -c \./lone 0\.6; ")
        self.assertRegex(text, r"(?m)^Not covered +\./lone 0\.6 \(pid \d+\): "
                               r".* of CPU time, no samples: it is statically")
        self.assertRegex(text, r"(?m)^Wall time +\d")

    def test_good_coverage_says_nothing(self):
        done = self.jprof(program("busy"), "1")
        self.assertEqual(done.stderr, "jprof: report: out/report.html\n")
        self.assertNotIn("Not covered", self.text())

    def test_shim_and_what_it_led_to(self):
        with open(self.path("tool"), "w", encoding="ascii") as file:
            file.write("#!/bin/sh\nexec %s \"$@\"\n" % program("busy"))
        os.chmod(self.path("tool"), 0o755)
        self.jprof("./tool", "0.5")
        text = self.text()
        self.assertRegex(text, r"(?m)^Program +\S*/busy \(started as "
                               r"\./tool\)$")
        self.assertRegex(text, r"(?m)^Command +\./tool 0\.5$")

    def test_nothing_but_static(self):
        self.compile("lone", "-static")
        # A second's period: the shell itself is not sampled either.
        done = self.jprof("-p", "1", "sh", "-c", "./lone 0.2; true")
        self.assertEqual(done.returncode, 0)
        self.assertIn("no report", done.stderr)
        self.assertIn("lone (static)", done.stderr)

    def test_folder_out_of_reach(self):
        """bwrap's child makes mounts of its own, in which the profile's folder
        is read-only, or not there, and executes a program, which is handed the
        folder, and what that one executes its log, unless it was closed
        before.  In a pid namespace nobody can tell of the child."""
        bwrap = [need("bwrap"), "--ro-bind", "/", "/", "--proc", "/proc",
                 "--dev", "/dev"]
        if subprocess.run(bwrap + ["true"], capture_output=True,
                          check=False).returncode != 0:
            self.skipTest("no namespaces here")
        for options, busy, why in (
                ([], program("busy"), "read-only"),
                (["--unshare-pid"], program("busy"), "read-only"),
                (["--tmpfs", self.dir, "--ro-bind", program("busy"),
                  self.path("it")], self.path("it"), "not")):
            named = (r"(?m)^Not covered +.*python.* [56]\d\d ms of CPU time"
                     r".*the profile's folder was %s there" % why)
            for command, check, words in (
                    ([busy, "0.5"], self.assertNotRegex, "(?m)^Not covered "),
                    (["sh", "-c", "exec " + quote(busy) + " 0.5"],
                     self.assertNotRegex, "(?m)^Not covered "),
                    ([sys.executable, "-SEc", "import os; os.closerange(3, 999)"
                      "\nos.execv(%r, [%r, '0.5'])" % (busy, busy)],
                     self.assertRegex, named)):
                with self.subTest(options=options, command=command):
                    done = self.jprof(*bwrap, *options, *command)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertIn("cpu 0.5", done.stdout)
                    check(self.text(), words)
                    shutil.rmtree(self.path("out"))

    def test_wall_time_is_no_sum(self):
        busy = quote(program("busy")) + " 0.5 >/dev/null"
        self.jprof("sh", "-c", "%s & %s & %s & %s; wait" % ((busy,) * 4))
        logs = sorted(name for name in os.listdir(self.path("out"))
                      if name.startswith("jprof-log"))
        walls = []
        for name in logs:
            text = self.report("x", "--format=summary", "out/" + name)
            walls.append(float(re.search(r"(?m)^wall_s: (.*)$", text)[1]))
        text = self.report("x", "--merge", "--format=summary",
                           *("out/" + name for name in logs))
        merged = float(re.search(r"(?m)^wall_s: (.*)$", text)[1])
        self.assertLess(merged, sum(walls) * 0.9)
        self.assertGreaterEqual(merged, max(walls) * 0.999)


class Waiting(CoverageCase):
    """The hooks on wait and its kin change nothing."""

    def test_same_with_and_without(self):
        bare = self.run_program(program("waits"), preload=None, flags=None)
        with_it = self.run_program(program("waits"))
        self.assertEqual(bare.status, 0, bare.err)
        self.assertEqual((with_it.status, with_it.out, with_it.err),
                         (bare.status, bare.out, bare.err))
        self.assertIn("cancelled", bare.out)

    def test_a_tracer_is_told_of_threads(self):
        """Their ends are no children's, nor is their time."""
        done = self.run_program(program("tracer"), flags=TICK_FLAGS)
        self.assertEqual((done.status, done.out), (0, "4 ends\n"), done.err)
        with open(self.path("jprof-tree"), encoding="ascii") as tree:
            children = [line for line in tree if " jprof-child " in line]
        self.assertEqual(len(children), 1, children)


if __name__ == "__main__":
    unittest.main()
