# SPDX-License-Identifier: MIT
"""OpenJDK: the map of its code on demand and at its end, frame pointers, and
a code cache that is flushed.  Runs in: tests."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from jprun import BUILD, HANG_SECONDS, PERIOD_NS, need
from runtimes import RuntimeCase

WORK = """
public class Work {
    static long leafWork(int n) {
        long x = 1;
        for (int i = 0; i < n; i++)
            x = (x * 1103515245 + 12345) % 2147483648L;
        return x;
    }
    static long middleStep(int n) {
        long s = 0;
        for (int i = 0; i < 50; i++)
            s += leafWork(n);
        return s;
    }
    static long outerLoop(double seconds) {
        var clock = java.lang.management.ManagementFactory.getThreadMXBean();
        long s = 0;
        while (clock.getCurrentThreadCpuTime() < seconds * 1e9)
            s += middleStep(20000);
        return s;
    }
    public static void main(String[] arguments) throws Exception {
        System.out.println("ready");
        if (outerLoop(Double.parseDouble(arguments[0])) == 0)
            System.exit(1);
        System.out.println("done");
    }
}
"""

# Classes in loaders of their own, which are thrown away: their code goes, and
# the code cache is too small for all of it.  The map that the JVM writes at its
# end has the code that lives then, and just after a collection that may be none
# of partWork's; so the last class stays, and works for a while.
CHURN = """
import java.nio.file.*;
public class Churn {
    static class Loader extends ClassLoader {
        Class<?> define(byte[] bytes) {
            return defineClass("Part", bytes, 0, bytes.length);
        }
    }
    public static void main(String[] arguments) throws Exception {
        byte[] bytes = Files.readAllBytes(Path.of("Part.class"));
        var clock = java.lang.management.ManagementFactory.getThreadMXBean();
        long sum = 0;
        int turns = 0;
        while (clock.getCurrentThreadCpuTime() < 2e9) {
            var method = new Loader().define(bytes).getMethod("run", int.class);
            for (int i = 0; i < 3000; i++)
                sum += (Long) method.invoke(null, i);
            if (++turns % 10 == 0)
                System.gc();
        }
        System.gc();
        var last = new Loader().define(bytes).getMethod("run", int.class);
        System.out.println(System.nanoTime());
        while (clock.getCurrentThreadCpuTime() < 3e9)
            sum += (Long) last.invoke(null, turns);
        System.out.println(turns > 2);
    }
}
"""
PART = """
public class Part {
    static long partWork(int x) {
        long z = x;
        for (int i = 0; i < 200; i++)
            z = z * 31 + i;
        return z;
    }
    public static long run(int n) {
        long s = 0;
        for (int i = 0; i < 3; i++)
            s += partWork(n + i);
        return s;
    }
}
"""
OPTIONS = ("-XX:+UseSerialGC", "-XX:+UnlockDiagnosticVMOptions",
           "-XX:+PreserveFramePointer")


class Java(RuntimeCase):
    @classmethod
    def setUpClass(cls):
        """Compiles the programs once."""
        cls.classes = tempfile.mkdtemp(prefix="jprof-java-")
        cls.addClassCleanup(shutil.rmtree, cls.classes)
        sources = {"Work": WORK, "Part": PART,
                   "Churn": CHURN}
        for name, text in sources.items():
            with open(os.path.join(cls.classes, name + ".java"), "w",
                      encoding="ascii") as out:
                out.write(text)
        subprocess.run([need("javac"), "-J-XX:TieredStopAtLevel=1",
                        *[name + ".java" for name in sources]],
                       cwd=cls.classes, check=True)

    def setUp(self):
        super().setUp()
        for name in os.listdir(self.classes):
            shutil.copy(os.path.join(self.classes, name), self.dir)

    def check_work(self, run, least=0.5):
        stacks = self.stacks_of(run)
        self.assertGreater(self.leaf_share(stacks, "leafWork"), least)
        self.assertGreater(self.share(stacks, "middleStep", "leafWork"), least)

    def test_map_at_the_end(self):
        self.unharmed(need("java"), *OPTIONS, "-XX:+DumpPerfMapAtExit",
                      "-cp", ".", "Work", "1.5", out="ready\ndone\n")
        run = self.main_run()
        # The interpreter, too, keeps frame pointers.
        self.check_roots(run, 0.9)
        self.remove_originals(run)
        self.check_work(run)

    def test_map_on_demand(self):
        """jprof pause asks the JVM; nothing was asked for before."""
        live = self.start(need("java"), *OPTIONS, "-cp", ".", "Work",
                          "600")
        self.assertEqual(live.line(), "ready")
        live.burn(1.5)
        done = subprocess.run(
            [os.path.join(BUILD, "jprof"), "pause", str(live.pid)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=HANG_SECONDS, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, b""))
        live.wait_until(lambda: self.run_of().events("pause"), "the pause")
        live.end(15)
        run = self.run_of()
        perfmaps = run.events("perfmap")
        self.assertTrue(perfmaps)
        self.assertLess(perfmaps[0][0], run.events("pause")[0][0])
        with open(self.saved(run, "perfmap"), encoding="utf-8") as source:
            self.assertRegex(source.read(), r"leafWork")
        self.remove_originals(run)
        self.check_work(run)
        # The map says nothing of the time before it was asked for.
        numbers = self.check_jit_named(run, 0.9)
        self.assertGreater(int(numbers["jit_late"]),
                           0.9 * int(numbers["jit_named"]))

    def test_launcher_adds_the_options(self):
        done = subprocess.run(
            [os.path.join(BUILD, "jprof"), "-o", "out", need("java"),
             "-XX:+UseSerialGC", "-cp", ".", "Work", "1.5"], cwd=self.dir,
            env=self.environment(None, None, {}), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            timeout=HANG_SECONDS, check=False)
        said = done.stderr.decode()
        self.assertEqual((done.returncode, done.stdout),
                         (0, b"ready\ndone\n"), said)
        self.assertIn("JAVA_TOOL_OPTIONS=-XX:+IgnoreUnrecognizedVMOptions",
                      said)
        with open(self.path("out/report.html"), encoding="utf-8") as source:
            page = source.read()
        self.assertTrue(re.search("leafWork", page))
        run = self.run_of("out/jprof-log")
        self.assertFalse(os.path.exists(run.events("perfmap")[-1][1]["path"]))
        self.check_roots(run, 0.9)

    def test_small_code_cache(self):
        done = self.run_program(
            need("java"), *OPTIONS, "-XX:+DumpPerfMapAtExit",
            "-XX:ReservedCodeCacheSize=2496k", "-XX:CompileCommand=quiet",
            # Or it becomes a part of the accessor that calls it.
            "-XX:CompileCommand=dontinline,Part::partWork", "-cp", ".",
            "Churn")
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertRegex(done.out, r"^\d+\ntrue\n$")
        run = self.main_run()
        self.check_roots(run, 0.9)
        # nanoTime is CLOCK_MONOTONIC: what ran behind it was still there when
        # the map was written, and has its name.
        with open(self.saved(run, "perfmap"), encoding="utf-8") as source:
            ranges = [(int(start, 16), int(start, 16) + int(size, 16))
                      for start, size, name in
                      (line.split(" ", 2) for line in source)
                      if "partWork" in name]
        self.assertTrue(ranges)
        at_last = sum(
            sample[2] for sample in run.samples
            if sample[0] > int(done.out.split()[0]) and sample[5] and
            any(low <= sample[5][0] < high for low, high in ranges))
        self.assertGreater(at_last, 0.1e9)
        stacks = self.stacks_of(run)
        named = sum(weight for stack, weight in stacks
                    if "partWork" in stack[-1])
        self.assertGreaterEqual(named + 1, at_last // PERIOD_NS)


if __name__ == "__main__":
    unittest.main()
