# SPDX-License-Identifier: MIT
"""CPython's perf trampolines and LLVM's lli, where the machine has them.
Runs in: tests."""
import collections
import glob
import os
import platform
import shutil
import signal
import subprocess
import unittest

from jprun import BUILD, REPORT, TICK_FLAGS, lacking, need
from runtimes import RuntimeCase, dump_loads

WORK = """
import time
def leaf_work(n):
    x = 1
    for i in range(n):
        x = (x * 1103515245 + 12345) % 2147483648
    return x
def middle_step(n):
    return sum(leaf_work(n) for _ in range(5))
def outer_loop(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        middle_step(2000)
outer_loop(1)
print("done")
"""
FORK = WORK.replace('print("done")', """
import os
child = os.fork()
def later():
    outer_loop(0.8)
later()
if child:
    os.waitpid(child, 0)
    print("done")
""")

FIB = """
#include <stdio.h>
#include <time.h>
__attribute__((noinline)) long leaf_work(long n)
{
    volatile long s = 0;
    for (long i = 0; i < n; i++)
        s = (s + i * 7L) % 1000003;
    return s;
}
__attribute__((noinline)) long middle_step(long n)
{
    return leaf_work(n) + 1;
}
int main(void)
{
    long t = 0;
    while (clock() < 1.2 * CLOCKS_PER_SEC)
        t += middle_step(20000);
    puts(t > 0 ? "done" : "");
    return 0;
}
"""


def works(path, *arguments):
    return path is not None and os.access(path, os.X_OK) and subprocess.run(
        [path, *arguments], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, check=False).returncode == 0


PHP = """<?php
function leaf_work($n) {
    $x = 1;
    for ($i = 0; $i < $n; $i++)
        $x = ($x * 1103515245 + 12345) % 2147483648;
    return $x;
}
function cpu() {
    $now = getrusage();
    return $now["ru_utime.tv_sec"] + $now["ru_utime.tv_usec"] / 1e6;
}
$end = cpu() + (float)$argv[1];
while (cpu() < $end)
    leaf_work(20000);
echo "done\\n";
"""


class CPython(RuntimeCase):
    def python(self, option, *names):
        """A python that knows `-X OPTION`, or the test is skipped."""
        places = [shutil.which(name) for name in names]
        for name in names:
            places += glob.glob(os.path.expanduser(
                "~/.pyenv/versions/*/bin/" + name))
        check = ("import sys; sys.exit(0 if sys.version_info >= (3, %d) and "
                 "getattr(sys, 'activate_stack_trampoline', None) else 1)"
                 % (13 if option == "perf_jit" else 12))
        for place in places:
            if works(place, "-c", check):
                return place
        self.skipTest("no python with -X %s here" % option)

    def profile(self, option, *names):
        self.write("work.py", WORK)
        self.unharmed(self.python(option, *names), "-X", option, "work.py",
                      out="done\n")
        run = self.main_run()
        self.check_roots(run)
        return run

    def check_names(self, run):
        self.remove_originals(run)
        stacks = self.stacks_of(run)
        self.assertGreater(self.share(
            stacks, "outer_loop", "middle_step", "leaf_work"), 0.5)

    def test_perf_map(self):
        self.check_names(self.profile("perf", "python3.12", "python3.13",
                                      "python3"))

    def test_jitdump(self):
        run = self.profile("perf_jit", "python3.13", "python3")
        self.assertTrue([load for load in
                         dump_loads(self.saved(run, "jitdump"))
                         if "leaf_work" in load.name])
        self.check_names(run)


    def check_fork(self, option, *names):
        """Parent and child run code that only the parent compiled."""
        self.write("fork.py", FORK)
        python = self.python(option, *names)
        self.run_program(python, "-X", option, "fork.py")
        logs = self.log_names()
        self.assertEqual(len(logs), 2)
        runs = {log: self.run_of(log) for log in logs}
        for run in runs.values():
            self.remove_originals(run)
        for log, run in runs.items():
            text = subprocess.run(
                [REPORT, "--format=summary", run.header["exe"], log],
                cwd=self.dir, stdout=subprocess.PIPE, check=False,
                stderr=subprocess.DEVNULL).stdout.decode()
            facts = dict(line.split(": ", 1) for line in text.splitlines())
            self.assertGreater(int(facts["jit_frames"]), 100, log)
            self.assertGreaterEqual(int(facts["jit_named"]),
                                    0.99 * int(facts["jit_frames"]), log)

    def test_forked_map(self):
        self.check_fork("perf", "python3.13", "python3.12", "python3")

    def test_forked_jitdump(self):
        self.check_fork("perf_jit", "python3.13", "python3")


THREADS = FIB.replace("#include <time.h>", """#include <pthread.h>
#include <time.h>""").replace("int main(void)", """static void *begin_here(void *data)
{
    long t = 0;
    for (int i = 0; i < 5000; i++)
        t += middle_step(20000);
    if (t < 0)
        pthread_exit(data);
    return data;
}
int main(void)""").replace("    while (", """    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(threads + i, NULL, begin_here, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    while (""").replace("1.2 *", "0 *").replace("t > 0", "t == 0")


class Lli(RuntimeCase):
    def profile(self, text, *flags, walker="auto"):
        """Runs a program as its compiler wrote it; the run and its loads."""
        lli, clang = shutil.which("lli"), shutil.which("clang")
        if not works(lli, "--version") or not works(clang, "--version"):
            self.skipTest("no lli and clang here")
        self.write("fib.c", text)
        subprocess.run([clang, "-g", *flags, "-c", "-emit-llvm", "-o",
                        "fib.bc", "fib.c"], cwd=self.dir, check=True)
        self.unharmed(lli, "--jit-kind=mcjit", "fib.bc", out="done\n",
                      env={"JITDUMPDIR": self.dir},
                      flags=TICK_FLAGS + " JP_STACK=" + walker)
        run = self.main_run()
        return run, dump_loads(self.saved(run, "jitdump"))

    def test_jitdump(self):
        run, loads = self.profile(FIB, "-O1", "-fno-omit-frame-pointer")
        self.assertIn("leaf_work", [load.name for load in loads])
        self.remove_originals(run)
        stacks = self.stacks_of(run)
        self.assertGreater(self.leaf_share(stacks, "leaf_work"), 0.4)

    def check_threads(self, *flags, walker="auto"):
        """The share of the threads' stacks that count as complete.  Those
        have the function that the threads begin in (see Case)."""
        run, loads = self.profile(THREADS, *flags, walker=walker)
        self.threads_begin_in = [(load.start, load.start + load.size)
                                 for load in loads
                                 if load.name == "begin_here"]
        self.assertTrue(self.threads_begin_in)
        reasons = [sample[4] for sample in run.samples
                   if sample[1] != run.header["pid"]]
        self.assertGreater(len(reasons), 50)
        return reasons.count("root") / len(reasons)

    def test_threads_begin_in_jit_code(self):
        self.assertGreater(self.check_threads("-O0"), 0.95)
        self.assertGreater(self.check_threads(
            "-O2", "-fno-omit-frame-pointer", walker="fp"), 0.95)

    def test_threads_without_frames(self):
        """Where calls push, their code is followed to where it returns; by
        frame pointers alone their callers are not found, which must show."""
        share = self.check_threads("-O2")
        if platform.machine() == "x86_64":
            self.assertGreater(share, 0.9)
        else:
            self.assertLess(share, 0.1)
        self.assertLess(self.check_threads("-O2", walker="fp"), 0.1)


ERLANG = """-module(work).
-export([main/0, leaf_work/2, middle_step/1, hash_step/1]).
leaf_work(0, S) -> S;
leaf_work(N, S) -> leaf_work(N - 1, (S * 31 + N) rem 1000003).
middle_step(0) -> ok;
middle_step(N) -> leaf_work(20000, 1), middle_step(N - 1).
hash_step(0) -> ok;
hash_step(N) ->
    erlang:md5(binary:copy(<<N:64>>, 4000)),
    lists:sort([X * 7919 rem 1009 || X <- lists:seq(1, 300)]),
    hash_step(N - 1).
main() ->
    middle_step(40),
    hash_step(12),
    {T, _} = statistics(runtime),
    if T < 1200 -> main(); true -> io:format("done~n"), halt() end.
"""


class Erlang(RuntimeCase):
    """As the launcher starts it."""

    def launch(self, jit):
        self.write("work.erl", ERLANG)
        subprocess.run([need("erlc"), "work.erl"], cwd=self.dir,
                       check=True, stdin=subprocess.DEVNULL)
        done = subprocess.run(
            [os.path.join(BUILD, "jprof"), "-o", "out", "--jit=" + jit, "erl",
             "-noshell", "-s", "work", "main"], cwd=self.dir,
            env=self.environment(None, None, None), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, b"done\n"),
                         done.stderr)
        for name in os.listdir(self.path("out")):
            os.rename(self.path("out/" + name), self.path(name))
        log = [name for name in self.log_names()
               if "beam" in self.run_of(name).header["exe"]][0]
        run = self.run_of(log)
        self.check_jit_named(run, 1, log)
        self.assertGreater(self.leaf_share(self.stacks_of(run, log),
                                           "work:leaf_work/2"), 0.3)
        return run, log

    def test_map(self):
        self.launch("map")

    def test_dump(self):
        run, log = self.launch("dump")
        text = self.report(run.header["exe"],
                           "--annotate=work:leaf_work/2", log)
        self.assertRegex(text, r"work\.erl:4")

    @unittest.skipUnless(platform.machine() == "x86_64", "reads its code")
    def test_c_functions(self):
        """They run on the stack of the scheduler's thread, and their callers
        are on that of an Erlang process."""
        run, log = self.launch("map")
        stacks = self.stacks_of(run, log)
        self.assertGreater(self.share(
            stacks, "normal_exit", "work:hash_step/1", "bif_shared"), 0.05)
        called = [(stack, weight) for stack, weight in stacks
                  if any("bif_shared" in frame for frame in stack[:-1])]
        # (The garbage collector may be moving the stack just then.)
        self.assertGreater(self.share(called, "normal_exit"), 0.9)
        ends = collections.Counter(sample[4] for sample in run.samples)
        self.assertGreater(ends["fiber"], 0.5 * len(run.samples), ends)
        self.assertGreater(ends["fiber"] + ends["root"],
                           0.97 * len(run.samples), ends)


class Nameless(RuntimeCase):
    """Runtimes that describe nothing: the report says so, by the program."""
    LUA = ("local t, s = os.clock(), 0 while os.clock() - t < 0.5 do "
           "for i = 1, 1e5 do s = (s * 31 + i) % 1000003 end end")
    RUBY = ("def fib(n) n < 2 ? n : fib(n - 1) + fib(n - 2) end\n"
            "t = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)\n"
            "fib(18) while Process.clock_gettime("
            "Process::CLOCK_PROCESS_CPUTIME_ID) - t < 0.8")
    LISP = ("(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))"
            "(let ((e (+ (get-internal-run-time) 500000))) "
            "(loop while (< (get-internal-run-time) e) do (fib 20)))")

    def check_note(self, text, source, *argv):
        self.write("work", source)
        self.run_program(need(argv[0]), *argv[1:], "work")
        run = self.run_of()
        shown = subprocess.run(
            [REPORT, "--format=text", run.header["exe"], "jprof-log"],
            cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            check=False).stdout.decode()
        self.assertRegex(shown, r"frames have no name: .*" + text)

    def test_luajit(self):
        self.check_note("LuaJIT writes no map", self.LUA, "luajit")

    def test_ruby(self):
        """Ruby may have been built without its compiler, as Debian's 3.3 is;
        it says so on stderr, and interprets."""
        said = subprocess.run([need("ruby"), "--yjit", "-e", "1"],
                              stderr=subprocess.PIPE, check=False).stderr
        if b"without YJIT" in said:
            raise lacking("YJIT in ruby")
        self.check_note("--yjit-perf", self.RUBY, "ruby", "--yjit")

    def test_sbcl(self):
        self.check_note("in its core", self.LISP, "sbcl", "--script")


class Mono(RuntimeCase):
    """C# by the launcher's own default."""
    SOURCE = """
using System; using System.Threading;
class Work {
    static int Leaf(int n) { return n < 2 ? n : Leaf(n - 1) + Leaf(n - 2); }
    static int Middle(int n) { return Leaf(n) + 1; }
    static void Outer() { for (int i = 0; i < 1000; i++) Middle(26); }
    static void Main() {
        var other = new Thread(Outer);
        other.Start();
        Outer();
        other.Join();
        Console.WriteLine("done");
    }
}
"""

    def test_names_and_stacks(self):
        self.write("work.cs", self.SOURCE)
        subprocess.run([need("mcs"), "work.cs"], cwd=self.dir, check=True,
                       stdout=subprocess.DEVNULL)
        done = self.run_program(os.path.join(BUILD, "jprof"), "run", "-o",
                                self.path("out"), need("mono"), "work.exe",
                                preload=False, flags=None)
        self.assertEqual((done.status, done.out), (0, "done\n"), done.err)
        for name in os.listdir(self.path("out")):
            os.rename(self.path("out/" + name), self.path(name))
        run = self.main_run()
        numbers = self.check_jit_named(run, 0.99)
        # The code by which Mono compiles a method at its first call has no line
        # in the map: a sample may be in it, which nothing is called from.
        self.assertEqual(int(numbers["jit_frames"]) - int(numbers["jit_named"]),
                         self.unlisted(run))
        self.assertEqual(int(numbers["truncated"]), 0)
        self.assertLess(int(numbers["incomplete"]),
                        int(numbers["samples"]) / 100)
        stacks = self.stacks_of(run)
        # Enough of them that Mono's start counts for little.
        self.assertGreater(sum(weight for _, weight in stacks), 100)
        self.assertGreater(self.leaf_share(stacks, "Work:Leaf (int)"), 0.9)

    def unlisted(self, run):
        """How many samples are in JIT code that no line of the map has."""
        lines = []
        with open(self.path(self.saved(run, "perfmap")), encoding="utf-8",
                  errors="replace") as kept:
            for line in kept:
                start, size = (int(word, 16) for word in line.split()[:2])
                lines.append((start, start + size))
        code = [(int(keys["start"], 16), int(keys["end"], 16))
                for _, keys in run.events("anon")]

        def is_in(ranges, address):
            return any(start <= address < end for start, end in ranges)

        leaves = [stack[0] for *_, stack in run.samples
                  if stack and is_in(code, stack[0])]
        found = sum(not is_in(lines, leaf) for leaf in leaves)
        self.assertLessEqual(found, 2, run.header)
        return found

    def test_a_map_that_the_user_asked_for(self):
        """It stays where mono writes it."""
        self.write("pid.cs", "class Pid { static void Main() { System.Console."
                   "WriteLine(System.Diagnostics.Process.GetCurrentProcess()."
                   "Id); } }")
        subprocess.run([need("mcs"), "pid.cs"], cwd=self.dir, check=True,
                       stdout=subprocess.DEVNULL)
        done = self.run_program(os.path.join(BUILD, "jprof"), "run", "-o",
                                self.path("out"), need("mono"), "--jitmap",
                                "pid.exe", preload=False, flags=None)
        path = "/tmp/perf-%d.map" % int(done.out)
        self.addCleanup(lambda: os.path.exists(path) and os.unlink(path))
        with open(path, encoding="utf-8", errors="replace") as kept:
            self.assertIn("Pid:Main", kept.read())


class Php(RuntimeCase):
    """Its code lies in memory that its processes share."""

    def command(self, how, seconds):
        self.write("work.php", PHP)
        return [need("php"), "-d", "opcache.enable_cli=1", "-d",
                "opcache.jit_buffer_size=16M", "-d", "opcache.jit=" + how,
                "-d", "opcache.file_update_protection=0", "-d",
                "opcache.jit_debug=0x10", "work.php", seconds]

    def check_named(self, run):
        self.remove_originals(run)
        numbers = self.check_jit_named(run, 1)
        # What ran before its line was in the map, if anything did.
        self.assertLess(int(numbers["jit_late"]),
                        int(numbers["jit_frames"]) / 50)
        self.assertGreater(self.leaf_share(self.stacks_of(run), "leaf_work"),
                           0.5)

    def test_functions(self):
        self.unharmed(*self.command("function", "1"), out="done\n")
        self.check_named(self.main_run())

    def test_traces(self):
        self.unharmed(*self.command("tracing", "1"), out="done\n")
        self.check_named(self.main_run())

    def test_killed(self):
        live = self.start(*self.command("function", "60"))
        live.burn(1)
        self.assertEqual(live.end(signal.SIGKILL).err, "")
        self.check_named(self.main_run())


if __name__ == "__main__":
    unittest.main()
