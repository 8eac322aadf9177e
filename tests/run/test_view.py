# SPDX-License-Identifier: MIT
"""jprof view: the report, and exports in viewers that are there or are not.
Viewers are scripts in a PATH of the test's own.

Runs in: tests."""
import gzip
import json
import os
import re
import shutil
import sys
import unittest

from jprun import BUILD, Case, program

BROWSER = """#!%s
import os, re, sys, urllib.error, urllib.parse, urllib.request
page = sys.argv[1]
url = urllib.parse.unquote(page.split("/from-url/")[1])
def ask(url, method="GET"):
    request = urllib.request.Request(
        url, method=method, headers={"Origin": "https://profiler.firefox.com"})
    return urllib.request.urlopen(request)
try:
    ask(url + "0")
    sys.exit(3)
except urllib.error.HTTPError as error:
    assert error.code == 404, error
assert ask(url, "OPTIONS").status == 204
if os.getuid() == 0:
    other = os.fork()
    if other == 0:
        os.setuid(65534)
        try:
            ask(url)
        except OSError:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(other, 0)[1] == 0, "another user has the file"
answer = ask(url)
assert answer.headers["Access-Control-Allow-Origin"] == (
    "https://profiler.firefox.com")
open("got", "wb").write(answer.read())
open("url", "w").write(page)
"""


class View(Case):
    check_agreement = False

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("bin"))
        done = self.jprof("run", "-o", "out", program("busy"), "0.2")
        self.assertEqual(done.status, 0, done.err)

    def jprof(self, *argv, display=""):
        return self.run_program(
            os.path.join(BUILD, "jprof"), *argv, preload=False, flags=None,
            env={"PATH": self.path("bin"), "DISPLAY": display,
                 "WAYLAND_DISPLAY": ""})

    def viewer(self, name, text="#!/bin/sh\necho \"$0 $*\" | "
               "/bin/sed 's:.*bin/::' >seen\n"):
        with open(self.path("bin/" + name), "w", encoding="utf-8") as target:
            target.write(text)
        os.chmod(self.path("bin/" + name), 0o755)

    def seen(self):
        with open(self.path("seen"), encoding="utf-8") as source:
            return source.read().rstrip("\n")

    def test_report(self):
        done = self.jprof("view", "out")
        self.assertEqual((done.status, done.out, done.err),
                         (0, "out/report.html\n", ""))
        os.unlink(self.path("out/report.html"))
        self.viewer("xdg-open")
        done = self.jprof("view", "out/", display=":9")
        self.assertEqual((done.status, done.out), (0, ""), done.err)
        self.assertEqual(self.seen(), "xdg-open out/report.html")
        self.assertTrue(os.path.exists(self.path("out/report.html")))

    def test_viewers_that_are_missing(self):
        for name, path in (("pprof", "out/profile.pb.gz"),
                           ("speedscope", "out/profile.speedscope.json"),
                           ("firefox", "out/profile.firefox.json.gz")):
            with self.subTest(name=name):
                done = self.jprof("view", "--with=" + name, "out",
                                  display=":9")
                self.assertEqual((done.status, done.out), (0, path + "\n"))
                # The report may say that sources are not read.
                told = [line for line in done.err.splitlines()
                        if line.startswith("jprof: ")]
                self.assertEqual(len(told), 1, done.err)
                self.assertRegex(told[0], r"^jprof: .* is not here: .+$")
                self.assertGreater(os.path.getsize(self.path(path)), 100)

    def test_viewers_that_are_there(self):
        self.viewer("pprof")
        self.viewer("speedscope")
        self.assertEqual(self.jprof("view", "out", "--with=pprof").status, 0)
        self.assertEqual(self.seen(),
                         "pprof -http=localhost: out/profile.pb.gz")
        self.jprof("view", "--with=speedscope", "out")
        self.assertEqual(self.seen(),
                         "speedscope out/profile.speedscope.json")

    def test_page_gets_the_file(self):
        self.viewer("firefox", BROWSER % sys.executable)
        done = self.jprof("view", "--with=firefox", "out", display=":9")
        self.assertEqual(done.status, 0, done.err)
        with open(self.path("got"), "rb") as source:
            got = source.read()
        with open(self.path("out/profile.firefox.json.gz"), "rb") as source:
            self.assertEqual(got, source.read())
        self.assertIn("meta", json.loads(gzip.decompress(got)))
        with open(self.path("url"), encoding="utf-8") as source:
            self.assertTrue(re.match(
                r"https://profiler\.firefox\.com/from-url/"
                r"http%3A%2F%2F127\.0\.0\.1%3A\d+%2F[0-9a-f]{32}$",
                source.read()))

    def test_page_that_fails(self):
        """A browser that does not start ends the server."""
        self.viewer("firefox", "#!/bin/sh\nexit 7\n")
        done = self.jprof("view", "--with=firefox", "out", display=":9")
        self.assertEqual(done.status, 7, done.err)

    def test_at_the_end_of_a_run(self):
        """The status is the program's, and so is stdout."""
        self.viewer("xdg-open")
        self.viewer("pprof", "#!/bin/sh\necho \"$@\" >seen\n"
                    "echo shown\nexit 9\n")
        work = ["/bin/sh", "-c", "%s 0.2 >/dev/null; echo mine; exit 7" %
                program("busy")]
        for options, path in (
                (("--view",), "report.html"),
                (("--with=pprof",), "-http=localhost: new/profile.pb.gz"),
                (("--view", "--with=pprof"),
                 "-http=localhost: new/profile.pb.gz")):
            done = self.jprof("run", "-o", "new", *options, *work,
                              display=":9")
            self.assertEqual((done.status, done.out), (7, "mine\n"), done.err)
            self.assertTrue(self.seen().endswith(path), self.seen())
            self.assertEqual("shown" in done.err, len(path) > 11)
            shutil.rmtree(self.path("new"))
        done = self.jprof("--view", "-o", "new", *work)
        self.assertEqual((done.status, done.out), (7, "mine\n"))
        self.assertIn("jprof: the report is not opened: xdg-open or a display "
                      "is missing", done.err)
        # Without a report there is nothing to open.
        os.unlink(self.path("seen"))
        done = self.jprof("--view", "/bin/true", display=":9")
        self.assertEqual((done.status, done.out), (0, ""), done.err)
        self.assertFalse(os.path.exists(self.path("seen")))
        self.assertEqual(self.jprof("--with=emacs", *work).status, 64)

    def test_usage(self):
        for words in ((), ("out", "out"), ("--with=emacs", "out"),
                      ("--width", "out")):
            self.assertEqual(self.jprof("view", *words).status, 64, words)
        self.assertEqual(self.jprof("view", "--with=pprof", "no").status, 2)


if __name__ == "__main__":
    unittest.main()
