# SPDX-License-Identifier: MIT
"""Runtimes and servers that live by signals, unharmed: Node's inspector, a
Java virtual machine, CPython's signal module, threads that stop each other,
processes that call each other.  Runs in: tests."""
import signal
import subprocess
import sys
import unittest

from jprun import Case, need, program, weight_s

CPU = "JP_START JP_PERIOD=0.001"
REAL = "JP_START JP_REALTIME JP_PERIOD=0.002"

NODE = """
let n = 0;
process.on('SIGUSR2', () => { n++; });
function spin() {
  let s = 0;
  for (let i = 0; i < 1e6; i++) s += i % 7;
  if (n < 1) setTimeout(spin, 1); else process.exit(0);
}
console.log('ready');
spin();
"""

JAVA = """
import java.util.*;

public class Busy {
    static void allocate() {
        long sum = 0;
        for (int i = 0; i < 1000; i++) {
            List<byte[]> list = new ArrayList<>();
            for (int k = 0; k < 200; k++)
                list.add(new byte[1000]);
            sum += list.size();
        }
        System.out.println("sum " + sum);
    }
    public static void main(String[] arguments) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++)
            threads.add(new Thread(Busy::allocate));
        for (Thread thread : threads)
            thread.start();
        for (Thread thread : threads)
            thread.join();
        Integer nothing = arguments.length > 9 ? 1 : null;
        int faults = 0;
        for (int i = 0; i < 100000; i++) {
            try {
                faults += nothing;
            } catch (NullPointerException fault) {
                faults++;
            }
        }
        System.out.println("faults " + faults);
        Thread.sleep(100);
        Runtime.getRuntime().addShutdownHook(
            new Thread(() -> System.out.println("hook")));
        System.out.println("ready");
        while (true)
            Thread.sleep(1000);
    }
}
"""


class Unharmed(Case):
    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as out:
            out.write(text)
        return self.path(name)

    def notes(self):
        return " ".join(str(event) for run in self.all_runs()
                        for event in run.events("note"))

    def test_node_takes_sigusr1_for_its_inspector(self):
        node = need("node")
        script = self.write("spin.js", NODE)
        for flags in (CPU, REAL):
            live = self.start(node, script, flags=flags,
                              env={"NODE_OPTIONS": "--inspect-port=0"})
            self.assertEqual(live.line(), "ready")
            live.burn(0.2)
            live.kill(signal.SIGUSR1)

            def said(live=live):
                live.err.seek(0)
                return b"Debugger listening" in live.err.read()

            live.wait_until(said, "the inspector")
            done = live.end(signal.SIGUSR2)
            self.assertEqual((done.status, done.out), (0, ""))
            self.assertNotIn("jprof", done.err)
            self.assertIn("SIGUSR1", self.notes())
            run = self.all_runs()[0]
            self.assertGreater(weight_s(run), 0.1)

    def test_java_virtual_machine(self):
        self.write("Busy.java", JAVA)
        subprocess.run([need("javac"), "Busy.java"], cwd=self.dir, check=True,
                       stdin=subprocess.DEVNULL)
        for flags in (CPU, REAL):
            live = self.start(need("java"), "-Xcheck:jni", "-Xmx64m", "-cp",
                              self.dir, "Busy", flags=flags)
            lines = [live.line() for _ in range(6)]
            self.assertEqual(lines, ["sum 200000"] * 4 +
                             ["faults 100000", "ready"])
            live.kill(signal.SIGQUIT)
            dump = ""
            while "JNI global refs" not in dump:
                dump = live.line()
            done = live.end(signal.SIGTERM)
            self.assertEqual(done.status, 128 + signal.SIGTERM)
            self.assertRegex(done.out, r"(?m)^hook$")
            self.assertEqual(done.err, "")
            self.assertGreater(sum(weight_s(r) for r in self.all_runs()), 0.3)

    def test_signal_module_of_cpython(self):
        """Its own tests, of those that take little time."""
        argv = [sys.executable, "-m", "test", "test_signal", "-m",
                "PendingSignalsTests", "-m", "WakeupSignalTests", "-m",
                "SiginterruptTest", "-m", "PosixTests"]
        for flags, preload in ((None, None), (CPU, True), (REAL, True)):
            options = {} if preload else {"preload": None}
            done = self.run_program(*argv, flags=flags, **options)
            self.assertEqual(done.status, 0, done.out + done.err)

    def test_threads_that_stop_each_other(self):
        """On stacks of 16 KiB."""
        for flags in (CPU, REAL):
            done = self.run_program(program("suspend"), "60", flags=flags)
            self.assertEqual((done.status, done.out, done.err),
                             (0, "rounds 60 moved 0\n", ""))
            self.assertGreater(len({s[1] for s in self.run_of().samples}), 3)

    def test_processes_that_call_each_other(self):
        for flags in (CPU, REAL):
            done = self.run_program(program("neighbours"), flags=flags)
            self.assertEqual((done.status, done.out, done.err),
                             (0, "0\n0\n0\n", ""))
        self.assertGreater(len(self.log_names()), 2)


if __name__ == "__main__":
    unittest.main()
