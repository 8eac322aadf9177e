# SPDX-License-Identifier: MIT
"""Exports in the tools that users open them with: what each of them shows of
the heaviest functions is what the text report says.

Runs in: tests, `make check-readers`; READERS is the folder of
tests/readers/install.  A tool that is not there is skipped by name."""
import base64
import json
import os
import re
import signal
import subprocess
import sys
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "run"))
from jprun import (HANG_SECONDS, lacking, need, program,   # noqa: E402
                   wait_until)
import browser                                             # noqa: E402
import exports                                             # noqa: E402
from test_exports import SCRIPT, Exports                   # noqa: E402
from test_page import FUNCTIONS                            # noqa: E402

READERS = os.environ.get("READERS", "")
MODULES = os.path.join(READERS, "npm", "node_modules")
CLI = os.path.join(MODULES, ".bin", "profiler-cli")
# What speedscope shows: the profile's number, of how many, its rows.
ROWS = """(() => {
  const title = document.body.innerText.match(/\\((\\d+)\\/(\\d+)\\)/);
  const rows = [...document.querySelectorAll("table tr")].map(
    row => [...row.children].map(cell => cell.textContent));
  return [title ? +title[1] : 1, title ? +title[2] : 1,
          rows.filter(row => / \\(.*%\\)$/.test(row[0]))];
})()"""
UNITS = {"s": 1e9, "ms": 1e6, "\u00b5s": 1e3, "ns": 1}


def reader(*parts):
    path = os.path.join(READERS, *parts)
    if not os.path.exists(path):
        raise lacking(parts[-1])
    return path


def output(*argv, **options):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=HANG_SECONDS, **options)
    if done.returncode != 0:
        raise AssertionError("%s: %d: %s" % (
            argv[0], done.returncode, done.stderr.decode(errors="replace")))
    return done.stdout.decode("utf-8", "replace")


class Readers(Exports):
    """Each test of Exports again, with the tools instead of our readers."""

    def checks(self):
        return (self.in_pprof, self.in_pprof_s_page, self.in_profiler_cli,
                self.in_speedscope, self.in_callgrind_annotate,
                self.in_inferno, self.in_gprof2dot)

    def test_real_time(self):
        self.same(self.profile("--wall", self.target, "6"))

    def test_one_run_in_all(self):
        """The same hottest functions with the same shares, whatever a run is
        opened in, and our own page is one of these."""
        script = self.path("odd.js")
        with open(script, "w", encoding="utf-8") as target:
            target.write(SCRIPT)
        folder = self.profile("--jit=dump", need("node"), script)
        known, shares = exports.of_text(self.text(folder))[0], {}
        for check in (self.in_our_page, self.in_pprof_s_page,
                      self.in_profiler_cli, self.in_speedscope,
                      self.in_callgrind_annotate):
            sums = check(folder, ())[0]
            own = {}
            for name, weight in sums.own.items():
                name = exports.plain(name, known)
                own[name] = own.get(name, 0) + weight / sums.weight
            shares[check.__name__] = sorted(
                own.items(), key=lambda item: -item[1])[:10]
        ours = dict(shares["in_our_page"])
        self.assertIn("fib", " ".join(ours))
        for name, found in shares.items():
            with self.subTest(name=name):
                least = found[-1][1]
                for function, share in found:
                    self.assertAlmostEqual(share, ours.get(function, least),
                                           delta=0.001, msg=function)

    def test_markers(self):
        """Spans of the program's in profiler-cli.  It shows no mark that is
        before the first sample, and files have no time before the profile's
        start."""
        reader("npm", "node_modules", ".bin", "profiler-cli")
        folder = self.profile(program("marks"), "plain")
        with open(self.export("summary", folder), encoding="utf-8") as source:
            text = source.read()
        counts, sums_ms, marks = {}, {}, 0
        for _, listed in self.of_threads(
                self.export("firefox", folder, name="o.json.gz"),
                dict(os.environ, PROFILER_CLI_SESSION_DIR=self.dir),
                "markers"):
            for one in listed["byType"]:
                name, count = one["markerName"], one["count"]
                if one["isInterval"]:
                    counts[name] = counts.get(name, 0) + count
                    sums_ms[name] = (sums_ms.get(name, 0)
                                     + count * one["durationStats"]["avg"])
                elif name == "frame":
                    marks += count
        spans = {name: (int(count), float(total)) for count, total, name in
                 re.findall(r"^span: count=(\d+) total_s=(\S+) .* name=(.*)$",
                            text, re.MULTILINE) if float(total) > 0}
        self.assertEqual(counts, {name: one[0]
                                  for name, one in spans.items()})
        for name, (count, total) in spans.items():
            self.assertAlmostEqual(sums_ms[name], 1000 * total,
                                   delta=1 if name == "handed over"
                                   else 0.001 * count + 0.001, msg=name)
        self.assertIn(marks, (3, 4))

    def in_our_page(self, folder, options):
        path = self.export("html", folder, *options, name="o.html")
        one = browser.Browser()
        self.addCleanup(one.close)
        one.open(path, "document.getElementById('app').dataset.ready "
                       "=== 'true'")
        sums, sums.threads = exports.Sums(), None
        for name, (own, total) in one.run(FUNCTIONS).items():
            sums.own[name] += own
            sums.total[name] += total
            sums.weight += own
        return sums, 1, 0

    def in_pprof(self, folder, options):
        pprof, path = reader("bin", "pprof"), self.export("pprof", folder,
                                                          *options)
        output(reader("bin", "valid"), path)
        self.assertIn("thread:", output(pprof, "-tags", path))
        sums, sums.threads = exports.Sums(), None
        for line in output(pprof, "-top", "-nodecount=100000", "-unit=ns",
                           "-nodefraction=0", "-edgefraction=0",
                           path).splitlines():
            found = re.match(r" *(\d+)(?:ns)? +[\d.]+% +[\d.]+% +"
                             r"(\d+)(?:ns)? +[\d.]+%  (.*)$", line)
            if found:
                name = re.sub(r" \(inline\)$", "", found.group(3))
                sums.own[name] += int(found.group(1))
                sums.total[name] += int(found.group(2))
                sums.weight += int(found.group(1))
        traces = output(pprof, "-traces", "-unit=ns", path)
        self.assertEqual(sum(int(number) for number in re.findall(
            r"^ *(\d+)ns   ", traces, re.MULTILINE)), sums.weight)
        return sums, 1, 0

    def in_pprof_s_page(self, folder, options):
        path = self.export("pprof", folder, *options)
        server = subprocess.Popen(
            [reader("bin", "pprof"), "-http=127.0.0.1:", "-no_browser",
             "-nodefraction=0", "-edgefraction=0", path],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)
        try:
            for line in server.stderr:
                found = re.search(r"http://\S+:\d+", line)
                if found:
                    break
            pages = {page: self.page(found.group(0) + "/ui/" + page)
                     for page in ("top", "flamegraph")}
        finally:
            server.kill()
            server.wait()
            server.stderr.close()
        self.assertIn("stackViewer", pages["flamegraph"])
        sums, sums.threads = exports.Sums(), None
        rows = re.search(r"makeTopTable\(\s*(\d+)\s*, (\[.*\])\)",
                         pages["top"])
        for row in json.loads(rows.group(2)):
            name = row["Name"]
            sums.own[name] += row["Flat"]
            sums.total[name] += row["Cum"]
        sums.weight = int(rows.group(1))
        return sums, 1, 0

    def page(self, url):
        """What a server on loopback answers, once it does."""
        got = []

        def ask():
            try:
                with urllib.request.urlopen(url) as answer:
                    got.append(answer.read().decode("utf-8"))
            except urllib.error.URLError:
                pass
            return got

        wait_until(ask, url)
        return got[0]

    def in_profiler_cli(self, folder, options):
        reader("npm", "node_modules", ".bin", "profiler-cli")
        path = self.export("firefox", folder, *options, name="o.json.gz")
        env = dict(os.environ, PROFILER_CLI_SESSION_DIR=self.dir)
        found, sums = exports.Firefox(path), exports.Sums()
        for thread, listed in self.of_threads(path, env, "functions",
                                              "--include-idle"):
            sums.threads.add((thread["pid"], thread["tid"]))
            for one in listed["functions"]:
                sums.own[one["name"]] += one["selfSamples"]
                sums.total[one["name"]] += one["totalSamples"]
                sums.weight += one["selfSamples"]
        return sums, 1000000, 500 * found.samples + 1

    def of_threads(self, path, env, *words):
        """What profiler-cli lists, thread by thread."""
        session = ("--session", self.load(path, env), "--json", "--limit",
                   "1000000")
        try:
            for thread in json.loads(output(CLI, "thread", "list", *session,
                                            env=env))["threads"]:
                yield thread, json.loads(output(
                    CLI, "thread", *words, *session, "--thread",
                    thread["threadHandle"], env=env))
        finally:
            output(CLI, "stop", session[1], env=env)

    def load(self, path, env):
        """The name of a session that has the file.  `load` gives its daemon
        half a second to start, and fails on a busy machine while that goes
        on; what it does afterwards is asked then."""
        def ask(*words):
            return subprocess.run(
                [CLI, *words, "--session", "s"], check=False, env=env,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, timeout=HANG_SECONDS, text=True)

        done = ask("load", path)
        if done.returncode != 0:
            self.assertIn("most likely still starting", done.stderr)
            wait_until(lambda: ask("status").returncode == 0, "profiler-cli")
        return "s"

    def in_speedscope(self, folder, options):
        """Its schema, and that its page takes the file without an error."""
        release = reader("npm", "node_modules", "speedscope", "dist",
                         "release")
        path = self.export("speedscope", folder, *options, name="o.json")
        output(reader("venv", "bin", "python3"), "-c",
               "import json, jsonschema, sys\n"
               "jsonschema.validate(json.load(open(sys.argv[1])),"
               "json.load(open(sys.argv[2])))", path,
               os.path.join(release, "file-format-schema.json"))
        page = self.path("page.js")
        with open(path, "rb") as source, open(page, "w",
                                              encoding="ascii") as target:
            target.write('speedscope.loadFileFromBase64("o.speedscope.json",'
                         '"%s")' % base64.b64encode(source.read()).decode())
        if not browser.find():
            raise lacking("chromium")
        one = browser.Browser(1600, 12000)
        self.addCleanup(one.close)
        one.open("%s/index.html#localProfilePath=%s&view=sandwich"
                 % (release, page), "(%s)[2].length > 0" % ROWS)
        found = exports.Speedscope(path)
        sums, sums.threads = exports.Sums(), set()
        # It begins with the main thread, which need not be the first.
        for number in range(one.run(ROWS)[0] - 1, 0, -1):
            one.key("p")
            one.wait("(%s)[0] === %d" % (ROWS, number))
        while True:
            number, count, rows = one.run(ROWS)
            sums.threads.add(number)
            for total, own, name in rows:
                sums.own[name] += self.shown_ns(own)
                sums.total[name] += self.shown_ns(total)
            if number == count:
                break
            one.key("n")
            one.wait("(%s)[0] === %d" % (ROWS, number + 1))
        self.assertTrue([said for said in one.messages
                         if "Importing as speedscope json file" in said])
        self.assertFalse([said for said in one.messages
                          if "rror" in said], one.messages)
        sums.weight = found.sums.weight
        # Two digits behind the point, of milliseconds or of seconds.
        return sums, 1, lambda ns: count * (5000 if ns < 10**9 else 5000000)

    def shown_ns(self, cell):
        """The weight in a cell as "12.34ms (5.6%)"."""
        found = re.match(r"([\d.]+)(\D+) \(", cell)
        return round(float(found.group(1)) * UNITS[found.group(2)])

    def in_inferno(self, folder, options):
        """It cuts names short, so only the sum is compared."""
        path = self.export("perf-script", folder, *options)
        lines = output(reader("bin", "inferno-collapse-perf"), "--all",
                       path).splitlines()
        found = exports.PerfScript(path).sums
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in lines),
                         found.weight)
        graph = output(reader("bin", "inferno-flamegraph"),
                       self.export("collapsed", folder, *options))
        whole = re.search(r"<title>all \(([\d,]+) samples, 100%\)", graph)
        self.assertEqual(int(whole.group(1).replace(",", "")), found.weight)
        return found, 1, 0

    def in_gprof2dot(self, folder, options):
        """As inferno; a graph with the heaviest function."""
        path = self.export("perf-script", folder, *options)
        found = exports.PerfScript(path).sums
        for form, ours in (("perf", "perf-script"), ("callgrind", "callgrind"),
                           ("collapse", "collapsed")):
            path = self.export(ours, folder, *options)
            graph = output(reader("venv", "bin", "gprof2dot"), "-f", form,
                           "-n0", "-e0", path)
            self.assertIn("digraph", graph)
        return found, 1, 0


del Exports     # not a second time here

if __name__ == "__main__":
    unittest.main()
