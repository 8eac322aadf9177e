# SPDX-License-Identifier: MIT
"""What the launcher asks of a runtime keeps none of the runtime's own features
from working: its profilers, its debugger, its snapshots.  Each program runs
alone and under jprof, and ends with the same status and output.  Further
builds of Node are tried with JPROF_NODES="/path/of/node /path/of/another".
Runs in: tests."""
import glob
import os
import re
import shutil
import signal
import subprocess
import unittest

from jprun import lacking, need
from test_launcher import PATIENCE, LauncherTest as Base

# Compiles all the time: V8 then holds the mutex of its code often.
CHURN = """function evals(n) { let s = 0;
for (let i = 0; i < n; i++) s += new Function('x', 'return x*' + i + '+1')(i);
return s; }
"""
INSPECTOR = CHURN + """const {Session} = require('inspector');
const s = new Session(); s.connect(); s.post('Profiler.enable');
s.post('Profiler.setSamplingInterval', {interval: 1000});
s.post('Profiler.start'); console.log(evals(40000));
s.post('Profiler.stop', (e, r) => console.log(r.profile.samples.length > 10));
"""
SNAPSHOT = """function f() { return 42; }
require('v8').startupSnapshot.setDeserializeMainFunction(() => {
let s = 0; for (let i = 0; i < 1e7; i++) s += f() % 5;
console.log('snapshot', s); });
"""
PYTHON = """import sys
def f(n): return sum(i % 7 for i in range(n))
def quiet(*_): pass
sys.setprofile(quiet); f(1000); sys.setprofile(None)
sys.settrace(quiet); f(1000); sys.settrace(None)
m = sys.monitoring
m.use_tool_id(4, "x"); m.set_events(4, m.events.PY_START)
m.register_callback(4, m.events.PY_START, quiet); f(1000); m.set_events(4, 0)
print(sum(f(50000) for _ in range(10)), flush=True)
try:
    import _interpreters as I
except ImportError:
    import _xxsubinterpreters as I
i = I.create()
I.run_string(i, "def g(n): return sum(range(n))\\nprint(g(1000))")
I.destroy(i)
"""
JAVA = """public class Busy {
static long f(int n) { long s = 0; for (int i = 0; i < n; i++) s += i % 7;
return s; }
public static void main(String[] a) { long s = 0;
for (int i = 0; i < 200; i++) s += f(100000 + i); System.out.println(s); } }
"""
WAITS = """public class Waits { public static void main(String[] a)
throws Exception { System.out.println(ProcessHandle.current().pid());
long s = 0; while (!new java.io.File(a[0]).exists()) s++;
System.out.println("end"); } }
"""
MONO = """class A { static long f(int n) { long s = 0;
for (int i = 0; i < n; i++) s += i % 7; return s; }
static void Main() { System.Console.WriteLine(f(30000000)); } }
"""
ERLANG = """f(0) -> 0; f(N) -> N rem 7 + f(N - 1).
main() -> erlang:trace_pattern({own, f, 1}, true, [local, call_count]),
f(10), {call_count, N} = erlang:trace_info({own, f, 1}, call_count),
erlang:trace_pattern({own, f, 1}, false, [local, call_count]),
io:format("~p ~p~n", [N, lists:sum([f(100000) || _ <- lists:seq(1, 20)])]),
halt().
"""


class LeftAloneTest(Base):
    # Its tests are run from its own module.
    for name in dir(Base):
        if name.startswith("test_"):
            locals()[name] = None
    del name

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as out:
            out.write(text)

    def outcome(self, *words, said=""):
        """(status, stdout, stderr) without what jprof, or the runtime about
        its being asked, says; a program that hangs is ended."""
        child = subprocess.Popen(
            words, cwd=self.dir, env=self.env, text=True, errors="replace",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True)
        try:
            out, err = child.communicate(said, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            self.fail("hangs: %s" % " ".join(words))
        self.said = err
        err = "".join(line for line in err.splitlines(True) if not re.match(
            "jprof(-report)?: |Picked up JAVA_TOOL_OPTIONS", line))
        return child.returncode, out, err

    def same(self, *words, said="", jits=("map",), varies=None):
        """The program does under jprof what it does alone; `varies`: what
        differs from run to run."""
        def cut(outcome):
            return [re.sub(varies, "", part) if varies and
                    isinstance(part, str) else part for part in outcome]

        alone = self.outcome(*words, said=said)
        self.assertEqual(alone[0], 0, alone)
        for jit in jits:
            with self.subTest(words=words, jit=jit):
                under = self.outcome(self.JPROF, "--jit=" + jit, "-o", "out",
                                     *words, said=said)
                shutil.rmtree(self.path("out"), ignore_errors=True)
                self.assertEqual(cut(under), cut(alone))
        return alone

    def nodes(self):
        """Each Node, by names that its version can be told from."""
        return os.environ.get("JPROF_NODES", need("node")).split()

    def version(self, node):
        return [int(n) for n in subprocess.run(
            [node, "--version"], stdout=subprocess.PIPE, text=True,
            check=True).stdout.strip("v\n").split(".")]

    def test_node_s_profilers(self):
        self.write("churn.js", CHURN + "console.log(evals(50000));\n")
        self.write("inspector.js", INSPECTOR)
        for node in self.nodes():
            self.same(node, "--cpu-prof", "--cpu-prof-dir=cpu", "churn.js",
                      jits=("map", "dump"))
            with open(glob.glob(self.path("cpu", "*"))[0], "rb") as profile:
                self.assertEqual(profile.read(1), b"{")
            self.same(node, "inspector.js")
            self.same(node, "--heap-prof", "--heap-prof-dir=heap", "churn.js")
            self.same(node, "--inspect=127.0.0.1:0", "churn.js",
                      varies="ws://.*")

    def test_node_s_log_is_the_user_s(self):
        """What --prof writes stays, and its own reader reads it."""
        self.write("churn.js", """function f(n) { let s = 0;
for (let i = 0; i < n; i++) s += i % 7; return s; }
let s = 0; for (let i = 0; i < 300; i++) s += f(1e6 + i); console.log(s);
""")
        for node in self.nodes():
            self.same(node, "--prof", "churn.js")
            logs = glob.glob(self.path("isolate-*.log"))
            self.assertEqual(len(logs), 2, logs)    # alone, and under jprof
            for log in logs:
                out = self.outcome(node, "--prof-process", log)
                self.assertEqual(out[0], 0, out)
                self.assertTrue(
                    re.search(r"\n +\d\d+ [^\n]*JS: [*~^]?f ", out[1]),
                    out[1][:400])
                os.unlink(log)

    def test_node_s_snapshots(self):
        """One that was built with the options, or without, serves in both."""
        self.write("snapshot.js", SNAPSHOT)
        for node in self.nodes():
            if self.version(node) < [18, 20]:
                continue
            load = (node, "--snapshot-blob", "blob", "x.js")
            for jit in ("map", "dump"):
                jprof = (self.JPROF, "--jit=" + jit, "-o", "out")
                for builds in ((), jprof):
                    built = self.outcome(*builds, node, "--snapshot-blob",
                                         "blob", "--build-snapshot",
                                         "snapshot.js")
                    self.assertEqual(built[0], 0, built)
                    shutil.rmtree(self.path("out"), ignore_errors=True)
                    self.same(*load, jits=(jit,))

    def test_one_line_says_what_is_left_out(self):
        self.write("churn.js", CHURN + "console.log(evals(100));\n")
        for node in self.nodes():
            hangs = [18, 0] <= self.version(node)[:2] < [21, 0]
            self.outcome(self.JPROF, node, "churn.js")
            lines = [line for line in self.said.splitlines()
                     if "left out" in line]
            self.assertEqual(len(lines), int(hangs), self.said)
            self.assertEqual("native-stack is left out" in self.said, hangs)
            # Who sets it himself has it, and nothing is said.
            self.env["NODE_OPTIONS"] = "--interpreted-frames-native-stack"
            self.outcome(self.JPROF, node, "churn.js")
            self.assertNotIn("left out", self.said)
            self.assertIn("NODE_OPTIONS=--interpreted-frames-native-stack "
                          "--perf-basic-prof", self.said)
            del self.env["NODE_OPTIONS"]

    def python(self):
        """The file itself: a script of pyenv may not lead to one."""
        places = [shutil.which("python3.12")] + glob.glob(
            os.path.expanduser("~/.pyenv/versions/*/bin/python3.12"))
        for place in places:
            if place and "shims" not in place:
                return place
        raise lacking("python3.12")

    def test_python_s_tools(self):
        self.write("tools.py", PYTHON)
        self.write("busy.py", "def f(n): return sum(range(n))\n"
                   "print(sum(f(50000) for _ in range(99)))\n")
        python = self.python()
        self.same(python, "tools.py", jits=("map", "dump"))
        self.same(python, "-m", "cProfile", "-o", "profile", "busy.py")
        self.same(python, "-m", "trace", "--count", "-C", "counts", "busy.py")
        self.same(python, "-m", "pdb", "busy.py", said="b f\nc\ncl 1\nc\nq\n")

    def test_python_s_helpers_leave_no_maps(self):
        """The resource tracker and the fork server end after the program."""
        self.write("many.py", """import multiprocessing, sys
def f(n): return sum(i % 7 for i in range(n))
if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    with multiprocessing.Pool(2) as pool:
        print(sum(pool.map(f, [3000000] * 2)))
""")
        for method in ("spawn", "forkserver"):
            done = self.outcome(self.JPROF, "-o", method, self.python(),
                                "many.py", method)
            self.assertEqual(done, (0, "17999988\n", ""))
            pids = [name.split("-")[-1] for name in
                    os.listdir(self.path(method))
                    if re.fullmatch(r"jprof-map-\d+", name)]
            self.assertGreater(len(pids), 1, method)
            left = [pid for pid in pids
                    if os.path.exists("/tmp/perf-%s.map" % pid)]
            self.assertEqual(left, [], method)

    def test_no_advice_to_do_what_was_done(self):
        """A library's code has no names in a Python that describes its own."""
        if os.uname().machine != "x86_64":
            raise lacking("machine code for this processor")
        self.write("code.py", """import ctypes, mmap
# mov $6e8, %rcx; 1: dec %rcx; jne 1b; ret
code = bytes.fromhex("48b9") + (6 * 10**8).to_bytes(8, "little") + \\
    bytes.fromhex("48ffc975fbc3")
room = mmap.mmap(-1, 4096, prot=7)
room.write(code)
call = ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(room)))
def burn(n): return sum(i % 7 for i in range(n))
call(), burn(3000000)
""")
        python = self.python()
        needless = "functions of CPython need no description, and libraries"
        for jit, advice in (("dump", "CPython described its code; of libraries"),
                            ("map", needless), ("off", needless)):
            done = self.outcome(self.JPROF, "--jit=" + jit, "-o", jit, python,
                                "code.py")
            self.assertEqual(done, (0, "", ""))
            with open(self.path(jit, "report.html"), encoding="utf-8") as page:
                self.assertIn("frames have no name: " + advice, page.read())

    def test_java_s_recorder_and_debugger(self):
        self.write("Busy.java", JAVA)
        subprocess.run([need("javac"), "Busy.java"], cwd=self.dir, check=True)
        java = need("java")
        self.same(java, "-XX:StartFlightRecording=filename=rec.jfr", "-cp",
                  ".", "Busy", varies=r"\[[\d.]+s\]|jcmd \d+")
        self.assertTrue(os.path.getsize(self.path("rec.jfr")))
        self.same(java, "-agentlib:jdwp=transport=dt_socket,server=y,"
                  "suspend=n,address=127.0.0.1:0", "-cp", ".", "Busy",
                  varies=r"address: \d+")

    def test_java_s_archives(self):
        """One that was made with the options, or without, serves in both."""
        self.write("Busy.java", JAVA)
        subprocess.run([need("javac"), "Busy.java"], cwd=self.dir, check=True)
        java = need("java")
        for builds in ((), (self.JPROF, "-o", "out")):
            built = self.outcome(*builds, java,
                                 "-XX:ArchiveClassesAtExit=classes.jsa", "-cp",
                                 ".", "Busy")
            self.assertEqual(built[0], 0, built)
            shutil.rmtree(self.path("out"), ignore_errors=True)
            self.same(java, "-XX:SharedArchiveFile=classes.jsa", "-Xshare:on",
                      "-cp", ".", "Busy")
            os.unlink(self.path("classes.jsa"))

    def test_java_that_takes_no_questions(self):
        """Asked for its map, it would print its threads where its own output
        goes."""
        self.write("Waits.java", WAITS)
        subprocess.run([need("javac"), "Waits.java"], cwd=self.dir, check=True)
        child = self.start("-o", "out", need("java"),
                           "-XX:+DisableAttachMechanism", "-XX:-UsePerfData",
                           "-cp", ".", "Waits", "go", jprof=self.JPROF)
        pid = child.stdout.readline().strip()
        paused = self.jprof("pause", pid)
        self.write("go", "")
        self.assertEqual(child.communicate(timeout=PATIENCE)[0], "end\n")
        self.assertIn("the JVM %s does not listen to jcmd" % pid,
                      paused.stderr)

    def test_mono_s_compiler_and_profiler(self):
        self.write("a.cs", MONO)
        subprocess.run([need("mcs"), "a.cs"], cwd=self.dir, check=True)
        mono = need("mono")
        code = []
        for builds in ((), (self.JPROF, "-o", "out")):
            built = self.outcome(*builds, mono, "--aot", "a.exe")
            self.assertEqual(built[0], 0, built)
            shutil.rmtree(self.path("out"), ignore_errors=True)
            text = subprocess.run(["objdump", "-d", "a.exe.so"], cwd=self.dir,
                                  check=True, stdout=subprocess.PIPE).stdout
            code.append(text)
            os.unlink(self.path("a.exe.so"))
        self.assertEqual(code[0], code[1])
        self.same(mono, "--debug", "a.exe")
        self.same(mono, "--profile=log:sample,output=x.mlpd", "a.exe")

    def test_erlang_s_tracing(self):
        self.write("own.erl", "-module(own).\n-export([main/0]).\n" + ERLANG)
        subprocess.run([need("erlc"), "own.erl"], cwd=self.dir, check=True)
        self.same(need("erl"), "-noshell", "-s", "own", "main")


del Base    # not to be run from here

if __name__ == "__main__":
    unittest.main()
