# SPDX-License-Identifier: MIT
"""Exports in the tools that users open them with: what each of them shows of
the heaviest functions is what the text report says.

Runs in: tests, `make check-readers`; READERS is the folder of
tests/readers/install.  A tool that is not there is skipped by name."""
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "run"))
from jprun import HANG_SECONDS, lacking, need       # noqa: E402
import exports                                      # noqa: E402
from test_exports import Exports                    # noqa: E402

READERS = os.environ.get("READERS", "")
MODULES = os.path.join(READERS, "npm", "node_modules")
CLI = os.path.join(MODULES, ".bin", "profiler-cli")


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
        return (self.in_pprof, self.in_profiler_cli, self.in_speedscope,
                self.in_inferno, self.in_gprof2dot)

    def test_real_time(self):
        self.same(self.profile("--wall", self.target, "6"))

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
        return sums, 1, 0

    def in_profiler_cli(self, folder, options):
        reader("npm", "node_modules", ".bin", "profiler-cli")
        path = self.export("firefox", folder, *options, name="o.json.gz")
        env = dict(os.environ, PROFILER_CLI_SESSION_DIR=self.dir)
        found, sums = exports.Firefox(path), exports.Sums()
        session = ("--session", "s")
        output(CLI, "load", path, *session, env=env)
        try:
            for index, thread in enumerate(found.top["threads"]):
                sums.threads.add((thread["pid"], thread["tid"]))
                listed = json.loads(output(
                    CLI, "thread", "functions", *session, "--thread",
                    "t-%d" % index, "--include-idle", "--json", "--limit",
                    "1000000", env=env))
                for one in listed["functions"]:
                    sums.own[one["name"]] += one["selfSamples"]
                    sums.total[one["name"]] += one["totalSamples"]
                    sums.weight += one["selfSamples"]
        finally:
            output(CLI, "stop", "s", env=env)
        return sums, 1000000, 500 * found.samples + 1

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
        browser = shutil.which("chromium") or need("chromium-browser")
        done = subprocess.run(
            [browser, "--headless=new", "--no-sandbox", "--disable-gpu",
             "--user-data-dir=" + self.path("browser"),
             "--allow-file-access-from-files", "--enable-logging=stderr",
             "--virtual-time-budget=8000", "--dump-dom",
             "file://%s/index.html#localProfilePath=%s" % (release, page)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=HANG_SECONDS, check=False)
        said = done.stderr.decode(errors="replace")
        self.assertIn("Importing as speedscope json file", said)
        self.assertNotRegex(said, r"ERROR:CONSOLE|Uncaught")
        return exports.Speedscope(path).sums, 1, 0

    def in_inferno(self, folder, options):
        """It cuts names short, so only the sum is compared."""
        path = self.export("perf-script", folder, *options)
        lines = output(reader("bin", "inferno-collapse-perf"), "--all",
                       path).splitlines()
        found = exports.PerfScript(path).sums
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in lines),
                         found.weight)
        return found, 1, 0

    def in_gprof2dot(self, folder, options):
        """As inferno; a graph with the heaviest function."""
        path = self.export("perf-script", folder, *options)
        found = exports.PerfScript(path).sums
        for form in ("perf", "callgrind"):
            path = self.export(form.replace("perf", "perf-script"), folder,
                               *options)
            graph = output(reader("venv", "bin", "gprof2dot"), "-f", form,
                           "-n0", "-e0", path)
            self.assertIn("digraph", graph)
        return found, 1, 0


del Exports     # not a second time here

if __name__ == "__main__":
    unittest.main()
