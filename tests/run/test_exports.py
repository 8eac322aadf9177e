# SPDX-License-Identifier: MIT
"""Profiles in the formats of other tools: sums, functions, stacks and threads
are those of the text report, in a program with recursion and templates, one of
Node with workers and tiers, real time with a thread that waits, and processes
that are merged; names are hostile in all.

Runs in: tests.  The logs are given a period of 1 ns, so that the text report
shows each weight to the nanosecond."""
import gzip
import os
import re
import struct
import subprocess
import sys
import unittest

from jprun import BUILD, HANG_SECONDS, ROOT, Case, need, program
from runtimes import whole_files

sys.path.insert(0, os.path.join(ROOT, "tests", "tools"))
import decode       # noqa: E402  (needs the paths above)
import exports      # noqa: E402

HOSTILE = "evil \\\"</script>;\\%x \u202e name"
SCRIPT = """
const worker = require("worker_threads"), util = require("util");
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
function sorted(n) {
  const a = [];
  for (let i = 0; i < n; i++) a.push((i * 7919) % 10007);
  return a.sort((x, y) => x - y)[0];
}
const odd = { 'x"</script>;\\\\ \u202e'(n) {
  let s = 0;
  for (let i = 0; i < n; i++) s += Math.sqrt(i);
  return s;
} };
let sum = 0;
for (let i = 0; i < 12; i++)
  sum += fib(24) + sorted(20000) + odd['x"</script>;\\\\ \u202e'](1e5);
// Node's own files have colons in their names.
for (let i = 0; worker.isMainThread && i < 15000; i++)
  sum += util.inspect({ i, list: [i, "one", null], at: { x: i } }).length;
if (worker.isMainThread) { new worker.Worker(__filename);
                           new worker.Worker(__filename); }
process.exitCode = sum > 0 ? 0 : 1;
"""


class Exports(Case):
    check_agreement = False     # the period is changed
    inlined = None              # functions that perf-script says are

    def setUp(self):
        super().setUp()
        self.target = self.hostile("recurse", "hostile")
        os.mkdir(self.path("empty"))

    def hostile(self, name, symbol):
        """A program of which a function has a hostile name."""
        target = self.path(name)
        subprocess.run([need("objcopy"), "--redefine-sym",
                        symbol + "=" + HOSTILE, program(name), target],
                       check=True)
        return target

    def profile(self, *argv):
        """A profile's folder by the launcher, its periods 1 ns."""
        folder = self.path("profile")
        done = self.run_program(os.path.join(BUILD, "jprof"), "run", "-o",
                                folder, *argv, preload=False, flags=None)
        self.assertEqual(done.status, 0, done.err)
        for name in self.log_names("profile"):
            path = os.path.join(folder, name)
            for run in decode.load(path):
                with open(path, "r+b") as log:
                    log.seek(run.offset + 64)
                    log.write(struct.pack(run.order + "Q", 1))
        return folder

    def export(self, form, folder, *options, name="out"):
        """The path of the profile in that format."""
        path = self.path(name)
        done = subprocess.run(
            [os.path.join(BUILD, "jprof-report"), "--format=" + form, "-o",
             path, *options, folder], cwd=self.dir, timeout=HANG_SECONDS,
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def text(self, folder, *options):
        with open(self.export("text", folder, *options), "rb") as source:
            return source.read().decode("utf-8")

    def checks(self):
        """What gives (Sums, their unit in ns, what may be lost in ns)."""
        return (self.same_pprof, self.same_speedscope, self.same_firefox,
                self.same_callgrind, self.in_callgrind_annotate,
                self.same_perf_script)

    def same(self, folder, *options):
        """All formats against the text report."""
        text = self.text(folder, *options)
        summary = self.export("summary", folder, *options)
        with open(summary, encoding="utf-8") as source:
            figures = dict(line.rstrip("\n").split(": ", 1)
                           for line in source if ": " in line)
        self.samples = int(figures["samples"])
        for check in self.checks():
            with self.subTest(check=check.__name__, options=options):
                sums, unit, slack = check(folder, options)
                self.assertEqual(
                    exports.differences(sums, text, unit, slack), [])
                if sums.threads is not None:
                    self.assertEqual(len(sums.threads),
                                     int(figures["threads"]))
                weight = int(figures["weight"])
                self.assertAlmostEqual(sums.weight * unit, weight,
                                       delta=exports.allowed(slack, weight))

    def same_pprof(self, folder, options):
        found = exports.Pprof(self.export("pprof", folder, *options))
        self.assertIn("Lost samples: none", found.comments)
        self.assertEqual(sum(values[0] for _, values, _ in found.samples),
                         self.samples)
        # The file is smaller where neighbours are alike.
        addresses = [exports.one(item, 3) for item in found.locations]
        self.assertEqual(addresses, sorted(addresses))
        self.waiting_ns = sum(
            values[-1] for _, values, labels in found.samples
            if labels["event"] in ("blocked", "ready"))
        self.threads = {(labels["pid"], labels["tid"])
                        for _, _, labels in found.samples}
        return found.sums(), 1, 0

    def same_speedscope(self, folder, options):
        plain = self.export("speedscope", folder, *options)
        found = exports.Speedscope(plain)
        titles = [re.search(r"(?:\(pid (\d+)\): .*)?\(tid (\d+)\)$", title)
                  for title in found.sums.threads]
        only = next(iter(self.threads))[0]
        self.assertEqual({(int(title[1] or only), int(title[2]))
                          for title in titles}, self.threads)
        zipped = self.export("speedscope", folder, *options, name="out.gz")
        with open(zipped, "rb") as one, open(plain, "rb") as other:
            self.assertEqual(gzip.decompress(one.read()), other.read())
        return found.sums, 1, 0

    def check_times(self, folder, times):
        """Samples are as far apart as in the log."""
        logged = {}
        for name in self.log_names("profile"):
            for run in decode.load(os.path.join(folder, name)):
                for sample in run.samples:
                    logged.setdefault((run.header["pid"], sample[1]),
                                      []).append(sample[0])
        self.assertEqual(set(logged), set(times))
        for key, shown in times.items():
            here, shown = sorted(logged[key]), sorted(shown)
            self.assertEqual(len(shown), len(here))
            for one, other in zip(shown, here):
                self.assertAlmostEqual(one - shown[0],
                                       (other - here[0]) / 1000, delta=2)

    def same_firefox(self, folder, options):
        found = exports.Firefox(self.export("firefox", folder, *options,
                                            name="out.json.gz"))
        entries = found.meta["extra"][0]["entries"]
        self.assertIn(("Lost samples", "none"),
                      [(one["label"], one["value"]) for one in entries])
        self.idle_ms = found.idle_ms
        if not options:
            self.check_times(folder, found.times)
        return found.sums, 1000000, 500 * found.samples + 1

    def same_callgrind(self, folder, options):
        return self.callgrind(folder, options)[1].sums, 1, 0

    def callgrind(self, folder, options):
        """The path and what is read of it."""
        path = self.export("callgrind", folder, *options)
        with open(path, encoding="utf-8") as source:
            is_real = "\nevents: Cpu Wall\n" in source.read()
        return path, exports.Callgrind(path, int(is_real))

    def in_callgrind_annotate(self, folder, options):
        """What the tool of valgrind's package shows."""
        path, profile = self.callgrind(folder, options)
        found = exports.Sums()
        found.threads = None
        for form in ("no", "yes"):
            done = subprocess.run(
                [need("callgrind_annotate"), "--inclusive=" + form,
                 "--threshold=100", "--auto=no", path], cwd=self.path("empty"), check=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
            exports.add_annotated(found, done.stdout.decode(), form == "yes",
                                  profile)
        self.files = set(profile.files.values())
        return found, 1, 0

    def same_perf_script(self, folder, options):
        found = exports.PerfScript(self.export("perf-script", folder,
                                               *options))
        self.inlined = found.inlined
        return found.sums, 1, 0

    def test_recursion_and_templates(self):
        folder = self.profile("-F", "500", self.target, "6")
        self.same(folder)
        self.same(folder, "-e", "fib(int)")
        self.same(folder, "-s", "3")

    def test_real_time(self):
        folder = self.profile("--wall", self.target, "6")
        self.same(folder)
        done = self.export("summary", folder)
        with open(done, encoding="utf-8") as source:
            figures = dict(line.rstrip("\n").split(": ", 1)
                           for line in source if ": " in line)
        self.assertGreater(self.idle_ms, 0)
        waiting = float(figures["blocked_s"]) + float(figures["ready_s"])
        self.assertAlmostEqual(self.idle_ms / 1000, waiting, delta=0.001)
        self.assertAlmostEqual(self.waiting_ns / 1e9, waiting, delta=0.001)

    def test_merged(self):
        folder = self.profile("-F", "500", "/bin/sh", "-c",
                              "for i in 1 2 3; do %s 3; done; exit 0"
                              % self.target)
        self.same(folder)

    def test_inlined(self):
        folder = self.profile("-F", "500", self.hostile("inlined", "main"),
                              "0.6")
        text = self.text(folder)
        for name in ("middle (inlined)  ", "</script>"):
            self.assertIn(name, text)
        self.same(folder)
        if self.inlined is not None:    # perf-script was read
            self.assertLessEqual({"innermost", "middle"}, self.inlined)
            self.assertNotIn("_start", self.inlined)

    def test_many_processes(self):
        folder = self.profile(
            "-F", "500", "/bin/sh", "-c", "for i in 0 1 2 3 4 5 6 7 8 9; do "
            "for j in 0 1 2 3 4 5 6 7 8 9; do %s 1 & done; wait; done"
            % self.target)
        self.assertGreaterEqual(len(self.log_names("profile")), 100)
        self.same(folder)

    def test_threads_at_the_same_work(self):
        """In pprof rows of one stack stand together, whoever's they are: its
        size is that of the stacks, not of stacks and threads."""
        folder = self.profile("-F", "500", program("threads_many"), "12",
                              "0.1")
        rows = exports.Pprof(self.export("pprof", folder)).samples
        brief = [row for row in rows if "brief" in row[0]]
        self.assertGreater(len({labels["tid"] for _, _, labels in brief}), 6)
        stacks = [tuple(names) for names, _, _ in brief]
        self.assertGreater(len(stacks), 2 * len(set(stacks)))
        changes = sum(one != other for one, other in zip(stacks, stacks[1:]))
        self.assertLess(changes, 2 * len(set(stacks)))

    def test_node(self):
        whole_files(need("node"))
        script = self.path("odd.js")
        with open(script, "w", encoding="utf-8") as target:
            target.write(SCRIPT)
        folder = self.profile("--jit=dump", need("node"), script)
        self.same(folder)
        self.assertTrue([one for one in self.files
                         if one.startswith("node:")], self.files)
        self.same(folder, "--jit-tiers=split")


if __name__ == "__main__":
    unittest.main()
