# SPDX-License-Identifier: MIT
"""Run-time generated code is named from the runtime's perf map, now and when
the map in /tmp is gone.  Runs in: tests."""
import html
import os
import re
import signal
import subprocess
import time
import unittest

import roots
from jprun import REPORT, TICK_FLAGS, Case, need, program
from runtimes import uninlined

NASTY = '</script>&"hot" (loop.js:1)'   # its raw name: JS:*... loop.js:1

SCRIPT = """
'use strict';
function leafWork(n) { let x = 1; for (let i = 0; i < n; i++)
  x = (x * 1103515245 + 12345) % 2147483648; return x; }
function middleStep(n) { let s = 0; for (let i = 0; i < 50; i++)
  s += leafWork(n); return s; }
function outerLoop() { const end = process.cpuUsage().user + 2000000;
  let s = 0; while (process.cpuUsage().user < end) s += middleStep(20000);
  return s; }
console.log(typeof outerLoop());
"""


class Jitter(Case):
    def test_names_in_every_format(self):
        done = self.run_program(program("jitter"), "1")
        self.assertEqual((done.status, done.err), (0, ""))
        app = program("jitter")
        page = self.report(app, "jprof-log")
        self.assertNotIn(NASTY, page)
        self.assertNotIn("JS:*</script>", page)
        self.assertIn("jit_second", page)
        self.assertIn(html.escape(NASTY), page.replace("&#34;", "&quot;"))
        text = self.report(app, "--format=text", "jprof-log")
        self.assertIn(NASTY + " [TurboFan]  ([jit])", text)
        self.assertNotIn("JS:*", text)
        stacks = self.collapsed(app, "--jit-tiers=raw", "jprof-log")
        total = sum(weight for _, weight in stacks)
        first = sum(w for s, w in stacks if "JS:*" in s[-1])
        second = sum(w for s, w in stacks if "jit_second" in s[-1])
        self.assertLess(abs(first / total - 0.75), 0.15)
        self.assertLess(abs(second / total - 0.25), 0.15)
        self.assertTrue(all("run_code" in s for s, w in stacks
                            if "jit_second" in s[-1]))

    def test_map_is_saved_beside_the_log(self):
        done = self.run_program(program("jitter"), "0.5")
        saved = [keys["saved"] for _, keys in self.run_of().events("perfmap")
                 if "saved" in keys]
        self.assertTrue(saved)
        self.assertTrue(os.path.exists(self.path(saved[-1])), saved)
        os.unlink("/tmp/perf-%d.map" % done.pid)
        stacks = self.collapsed(program("jitter"), "jprof-log")
        self.assertTrue(any("jit_second" in s[-1] for s, _ in stacks))

    def test_killed_before_the_copy(self):
        """Without an orderly end the map in /tmp itself is read.  (Where a
        sample came before the exec, the shell's child has a log as well.)"""
        done = self.run_program("/bin/sh", "-c", "exec %s 600 & "
                                "sleep 1.5; kill -9 $!; wait; echo $!"
                                % program("jitter"))
        pid = int(done.out.split()[-1])
        names = [n for n in self.log_names()
                 if re.search("-%d(-2)?$" % pid, n)]
        stacks = self.collapsed(program("jitter"), max(names, key=len))
        self.assertTrue(any("jit_second" in s[-1] for s, _ in stacks))


class SharedMemory(Case):
    """Code in memory that has a file without a name is JIT code."""

    def check_way(self, way):
        """Killed: what is known of the map was seen while it ran."""
        live = self.start(program("jitter"), "30", way)
        live.line()
        live.burn(0.6)
        self.assertEqual(live.end(signal.SIGKILL).err, "")
        run = self.run_of()
        self.assertTrue(run.events("perfmap"))
        self.assertTrue(run.events("code"))
        done = subprocess.run(
            [REPORT, "--format=collapsed", program("jitter"), "jprof-log"],
            cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn(b"jit_second", done.stdout)
        leaf = [sample[5][0] for sample in run.samples]
        written = roots.Roots(run).written
        self.assertTrue(any(start <= pc < end for pc in leaf
                            for start, end in written))

    def test_shared(self):
        self.check_way("shared")

    def test_memfd(self):
        self.check_way("memfd")

    def test_mapped_twice(self):
        self.check_way("dual")

    def test_sysv(self):
        self.check_way("sysv")

    def test_deleted(self):
        self.check_way("deleted")


class Forked(Case):
    """A child without exec has the code of its parent, and the parent's map up
    to the fork."""

    def names(self, log):
        return {stack[-1] for stack, _ in
                self.collapsed(program("jitter"), log)}

    def test_child(self):
        done = self.run_program(program("jitter"), "0.6", "fork")
        self.assertEqual((done.status, done.err), (0, ""))
        child = [name for name in self.log_names() if name != "jprof-log"]
        self.assertEqual(len(child), 1)
        os.unlink("/tmp/perf-%s.map" % done.out.split()[1])
        named = self.names(child[0])
        self.assertIn("jit_second", named)
        self.assertFalse([name for name in named if "parent" in name or
                          "[jit]" in name], named)
        facts = self.summary(program("jitter"), child[0])
        self.assertEqual(facts["jit_named"], facts["jit_frames"])
        self.assertIn("of_the_parent_alone", self.names("jprof-log"))


    def test_daemon(self):
        """It forks twice, and the first process's map is only beside that one's
        log when the last one runs."""
        done = self.run_program(program("jitter"), "0.6", "daemon")
        self.assertEqual((done.status, done.err), (0, ""))
        child = [name for name in self.log_names() if name != "jprof-log"]
        self.assertEqual(len(child), 1)
        self.assertFalse(
            os.path.exists("/tmp/perf-%s.map" % done.out.split()[1]))
        self.assertIn("jit_second", self.names(child[0]))
        facts = self.summary(program("jitter"), child[0])
        self.assertGreater(int(facts["jit_frames"]), 0)
        self.assertEqual(facts["jit_named"], facts["jit_frames"])


class WrittenOver(Case):
    """A later process with the same pid, as the next in a container, opens the
    perf map that is there and writes over it."""

    def write_over(self, pid):
        """The same addresses, other names; as many seconds later as no
        process's end can be put off by."""
        path = "/tmp/perf-%d.map" % pid
        with open(path, "rb") as source:
            text = source.read()
        with open(path, "r+b") as target:   # the same inode
            target.truncate(0)
            target.write(b"100 10 somebody_elses_first_line\n")
            target.write(text.replace(b"jit_", b"other_"))
        later = time.time() + 60
        os.utime(path, (later, later))

    def test_ended(self):
        done = self.run_program(program("jitter"), "0.5")
        self.write_over(int(done.out.split()[1]))
        stacks = self.collapsed(program("jitter"), "jprof-log")
        self.assertTrue(any("jit_second" in s[-1] for s, _ in stacks))

    def test_killed(self):
        live = self.start(program("jitter"), "30")
        live.burn(0.5)
        live.end(signal.SIGKILL)
        before = self.report(program("jitter"), "--format=text", "jprof-log")
        self.assertIn("jit_second", before)
        self.write_over(live.pid)
        done = subprocess.run([REPORT, "--format=text", program("jitter"),
                               "jprof-log"], cwd=self.dir,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        self.assertIn(b"another process has written to it", done.stderr)
        for word in (b"other_", b"somebody_else"):
            self.assertNotIn(word, done.stdout)


class Node(Case):
    """A Node program's own functions stand in both reports by name."""

    def test_functions_by_name(self):
        node = need("node")
        with open(self.path("work.js"), "w", encoding="utf-8") as target:
            target.write(SCRIPT)
        done = self.run_program(
            node, *uninlined(node), "work.js",
            env={"NODE_OPTIONS": "--perf-basic-prof "
                                 "--interpreted-frames-native-stack"},
            flags=TICK_FLAGS)
        self.assertEqual((done.status, done.out, done.err),
                         (0, "number\n", ""))
        self.assertFalse([run.damage for run in self.all_runs()
                          if run.damage])
        page = html.unescape(self.report(node, "jprof-log"))
        flat = page[page.index("Flat Profile"):]
        for name in ("leafWork", "middleStep", "outerLoop"):
            self.assertIn(name, page)
        self.assertIn("leafWork", flat)
        stacks = self.collapsed(node, "jprof-log")
        total = sum(weight for _, weight in stacks)
        leaf = sum(w for s, w in stacks if "leafWork" in s[-1])
        self.assertGreater(leaf, 0.5 * total)
        whole = [s for s, _ in stacks if "leafWork" in s[-1]
                 and any("middleStep" in f for f in s)
                 and any("outerLoop" in f for f in s)]
        self.assertTrue(whole)
        self.assertGreater(int(self.summary(node, "jprof-log")
                               ["jit_frames"]), 0)
        saved = [keys["saved"] for run in self.all_runs()
                 for _, keys in run.events("perfmap") if "saved" in keys]
        self.assertTrue(set(saved) & set(self.files()), self.files())


if __name__ == "__main__":
    unittest.main()
