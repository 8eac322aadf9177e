# SPDX-License-Identifier: MIT
"""--debuginfod: names from a server, and only when they are asked for; servers
that are dead, hang, or have nothing.  Debian's own server, on loopback.

Runs in: tests."""
import functools
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest
import urllib.request

from jprun import BUILD, HANG_SECONDS, REPORT, Case, need

SOURCE = """
static volatile unsigned sum;
static inline unsigned inner(unsigned n)
{
    for (int i = 0; i < 20; i++)
        n = n * 2654435761u ^ n >> 3;
    return n;
}
static __attribute__((noinline)) void hot_function(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        sum += inner(i);
}
int main(void)
{
    for (int i = 0; i < 40; i++)
        hot_function(1000000);
    return 0;
}
"""


class Debuginfod(Case):
    check_agreement = False

    def setUp(self):
        super().setUp()
        need("debuginfod-find")
        self.processes = []
        os.mkdir(self.path("home"))
        os.mkdir(self.path("served"))
        with open(self.path("app.c"), "w", encoding="utf-8") as file:
            file.write(SOURCE)
        for command in (
                "gcc -O2 -g -Wl,--build-id -o app app.c",
                "objcopy --only-keep-debug app served/app.debug",
                "strip app"):
            subprocess.run(command.split(), cwd=self.dir, check=True)
        done = self.run_program(os.path.join(BUILD, "jprof"), "run", "-o",
                                "out", "./app", preload=False, flags=None)
        self.assertEqual(done.status, 0, done.err)

    def tearDown(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        super().tearDown()

    def report_env(self, urls, extra=None):
        env = {**os.environ, "HOME": self.path("home"),
               "DEBUGINFOD_URLS": urls, **(extra or {})}
        for name in ("XDG_CACHE_HOME", "DEBUGINFOD_CACHE_PATH"):
            env.pop(name, None)
        return env

    def names(self, urls, *options, extra=None):
        """The text report, what was said, and how long it took."""
        start = time.monotonic()
        done = subprocess.run([REPORT, "--format=text", *options, "out"],
                              cwd=self.dir, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False,
                              env=self.report_env(urls, extra))
        self.assertEqual(done.returncode, 0, done.stderr)
        return (done.stdout.decode(), done.stderr.decode(),
                time.monotonic() - start)

    def annotated(self, urls, *options):
        """The code of hot_function, and what was said."""
        done = subprocess.run(
            [REPORT, *options, "--annotate", "hot_function", "out"],
            cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            check=True, env=self.report_env(urls), timeout=HANG_SECONDS)
        return done.stdout.decode(), done.stderr.decode()

    def build_id(self):
        return subprocess.run(
            ["readelf", "-n", "app"], cwd=self.dir, check=True,
            stdout=subprocess.PIPE).stdout.decode().split(
                "Build ID: ")[1].split()[0]

    def serve(self, asked="debuginfo"):
        """Debian's server of the folder, from when on it answers what is asked
        of the program; returns its URL."""
        server = need("debuginfod")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        log = open(self.path("server.log"), "wb")
        self.processes.append(subprocess.Popen(
            [server, "-F", "-Z", ".tar=cat", "-d", self.path("index.sqlite"),
             "-p", str(port), "-t", "1", "-v", self.path("served")],
            stdout=log, stderr=log,
            env={**os.environ, "DEBUGINFOD_URLS": ""}))
        log.close()
        url = "http://127.0.0.1:%d" % port
        build_id = self.build_id()
        until = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(
                    "%s/buildid/%s/%s" % (url, build_id, asked)
                    if asked else url + "/metrics").close()
                return url
            except OSError:
                self.assertLess(time.monotonic(), until, "no server")
                time.sleep(0.2)

    def requests(self):
        with open(self.path("server.log"), encoding="utf-8",
                  errors="replace") as file:
            return [line for line in file if "/buildid/" in line]

    def test_names_from_a_server(self):
        url = self.serve()
        before = len(self.requests())
        out, err, _ = self.names(url)
        self.assertNotIn("hot_function", out)
        self.assertIn("app", out)
        self.assertEqual(len(self.requests()), before,
                         "asked though nobody wanted it")
        self.assertEqual(os.listdir(self.path("home")), [])
        out, err, _ = self.names(url, "--debuginfod", "-v")
        self.assertIn("hot_function", out)
        self.assertIn("inner (inlined)", out)
        self.assertGreater(len(self.requests()), before)
        self.assertRegex(err, r"debuginfod: [1-9]\d* files fetched")
        # From the cache now, without a question.
        asked = len(self.requests())
        out, _, _ = self.names("http://127.0.0.1:1")
        self.assertIn("hot_function", out)
        self.assertEqual(len(self.requests()), asked)

    def test_sources(self):
        """A source that only the server has, in a package: fetched if the user
        wants that, then from the client's cache."""
        folder = "usr/src/jprof-" + os.path.basename(self.dir)
        os.makedirs(self.path("package/" + folder))
        for command in (
                "gcc -O2 -g -Wl,--build-id -ffile-prefix-map=%s=/%s -o app %s"
                % (self.dir, folder, self.path("app.c")),
                "objcopy --only-keep-debug app package/app.debug",
                "mv app.c package/" + folder,
                "tar -cf served/new.tar -C package .",
                "rm -rf package out served/app.debug",
                "strip app"):
            subprocess.run(command.split(), cwd=self.dir, check=True)
        done = self.run_program(os.path.join(BUILD, "jprof"), "run", "-o",
                                "out", "./app", preload=False, flags=None)
        self.assertEqual(done.status, 0, done.err)
        line = "sum += inner(i);"
        url = self.serve()
        self.names(url, "--debuginfod")
        asked = len(self.requests())
        text, _ = self.annotated(url)
        self.assertIn("/%s/app.c\n" % folder, text)
        self.assertNotIn(line, text)
        self.assertEqual(len(self.requests()), asked)
        text, said = self.annotated(url, "--debuginfod")
        self.assertIn(line, text)
        self.assertEqual(said, "")
        asked = len(self.requests())
        text, said = self.annotated("http://127.0.0.1:1")
        self.assertIn(line, text)
        self.assertEqual(said, "")
        self.assertEqual(len(self.requests()), asked)
        # A source of the user's own comes first; what is no file is left.
        os.makedirs(self.path("own"))
        with open(self.path("own/app.c"), "w", encoding="ascii") as own:
            own.write("// own\n" * 40)
        text, _ = self.annotated(url, "--source-map=/%s=own" % folder)
        self.assertIn("// own", text)
        cache = self.path("home/.cache/debuginfod_client")
        found = [os.path.join(place, name) for place, _, names in
                 os.walk(cache) for name in names
                 if name.startswith("source") and name.endswith("app.c")]
        self.assertEqual(len(found), 1)
        os.unlink(found[0])
        os.mkfifo(found[0])
        self.assertNotIn(line, self.annotated(url)[0])

    def test_sources_in_the_cache(self):
        """By the names that the client has given them: those of elfutils before
        0.192, where the file system has room for one, and since."""
        for folder in ("/usr/src/it+#1", "/usr/src" + 20 * "/long_name"):
            path = folder + "/app.c"
            hashed = functools.reduce(lambda hashed, byte: (
                hashed * 33 + byte) % (1 << 32), path.encode(), 5381)
            names = ["source-%08x-%s" % (hashed, re.sub(
                "[^-._a-zA-Z0-9]", "#", path[-117:]))]
            if len(path) < 100:
                names.append("source" + path.replace("#", "#_").replace(
                    "/", "##"))
            subprocess.run(
                ["gcc", "-O2", "-g", "-Wl,--build-id", "-o", "app",
                 "-ffile-prefix-map=%s=%s" % (self.dir, folder),
                 self.path("app.c")], cwd=self.dir, check=True)
            shutil.rmtree(self.path("out"))
            done = self.run_program(os.path.join(BUILD, "jprof"), "run", "-o",
                                    "out", "./app", preload=False, flags=None)
            self.assertEqual(done.status, 0, done.err)
            cache = self.path("home/.cache/debuginfod_client/" +
                              self.build_id())
            os.makedirs(cache)
            for name in names:
                place = os.path.join(cache, name)
                shutil.copy(self.path("app.c"), place)
                self.assertIn("sum += inner(i);",
                              self.annotated("http://127.0.0.1:1")[0], name)
                os.unlink(place)

    def test_by_the_environment(self):
        url = self.serve()
        out, _, _ = self.names(url, extra={"JPROF_DEBUGINFOD": "0"})
        self.assertNotIn("hot_function", out)
        out, _, _ = self.names(url, extra={"JPROF_DEBUGINFOD": "1"})
        self.assertIn("hot_function", out)

    def test_nothing_to_be_had(self):
        """A server that has not the file does not end the questions."""
        os.unlink(self.path("served/app.debug"))
        url = self.serve(asked=None)
        out, err, _ = self.names(url, "--debuginfod", "-v")
        self.assertNotIn("hot_function", out)
        self.assertIn("debuginfod: 0 files fetched", err)
        self.assertNotIn("nothing more is asked", err)
        self.assertGreaterEqual(len(self.requests()), 1)

    def test_dead(self):
        """One question, and the report at once."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            url = "http://127.0.0.1:%d" % free.getsockname()[1]
        out, err, seconds = self.names(url, "--debuginfod")
        self.assertIn("app", out)
        self.assertEqual(err.count("debuginfod"), 1, err)
        self.assertIn("nothing more is asked for", err)
        self.assertLess(seconds, 15)

    def test_no_server_named(self):
        _, err, _ = self.names("", "--debuginfod")
        self.assertIn("DEBUGINFOD_URLS names no server", err)

    def test_no_client(self):
        _, err, _ = self.names("http://127.0.0.1:1", "--debuginfod",
                               extra={"PATH": self.path("home")})
        self.assertIn("debuginfod-find: No such file or directory; "
                      "--debuginfod needs it (Debian's package debuginfod)",
                      err)

    def hanging(self):
        """A server that takes connections and says nothing; what it was asked
        stands in the list."""
        server = socket.create_server(("127.0.0.1", 0))
        taken = []

        def take():
            while True:
                try:
                    taken.append(server.accept()[0])
                except OSError:
                    return
        threading.Thread(target=take, daemon=True).start()

        def close():
            server.shutdown(socket.SHUT_RDWR)
            server.close()
            for connection in taken:
                connection.close()
        self.addCleanup(close)
        return "http://127.0.0.1:%d" % server.getsockname()[1], taken

    def test_hangs(self):
        """30 s for all questions together, then the report."""
        url, taken = self.hanging()
        out, err, seconds = self.names(url, "--debuginfod")
        self.assertIn("app", out)
        self.assertIn("no answer within 30 s; nothing more is asked for", err)
        self.assertGreater(seconds, 29)
        self.assertLess(seconds, 60)
        self.assertEqual(len(taken), 1)

    def test_interrupted(self):
        """As by Ctrl-C: to the whole group."""
        url, taken = self.hanging()
        report = subprocess.Popen(
            [REPORT, "--format=text", "--debuginfod", "out"], cwd=self.dir,
            env=self.report_env(url), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        self.processes.append(report)
        until = time.monotonic() + 60
        while not taken:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)
        os.killpg(report.pid, signal.SIGINT)
        self.assertEqual(report.wait(10), -signal.SIGINT)
        until = time.monotonic() + 10
        while taken[0].recv(4096):
            self.assertLess(time.monotonic(), until, "the client goes on")


if __name__ == "__main__":
    unittest.main()
