# SPDX-License-Identifier: MIT
"""jprof push and jprof run --push: what arrives at a server is what the report
has, within the servers' limits, whatever the server answers meanwhile.

Runs in: tests.  The server is a stub on loopback (tests/tools/fleet.py)."""
import os
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
import unittest

from jprun import (BUILD, HANG_SECONDS, REPORT, ROOT, Case, Live, need,
                   program, wait_until)

sys.path[:0] = [os.path.join(ROOT, "tests", "tools"),
                os.path.join(ROOT, "tests", "bench")]
import exports      # noqa: E402  (needs the paths above)
import fleet        # noqa: E402
import model        # noqa: E402

JPROF = os.path.join(BUILD, "jprof")
# Says what it was given, and does it.
CURL = """#!/bin/sh
tr '\\0' '\\n' </proc/$$/cmdline >>%s/arguments
env >>%s/environment
exec %s "$@"
"""

WORK = """
import sys, time
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    sum(range(300000))
    time.sleep(.03)
"""
FOR_A_WHILE = [sys.executable, "-c", WORK, "9"]
FOR_LONG = [sys.executable, "-c", WORK, "600"]


def full():
    """What this process writes to files is refused, as where a disk is
    full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))


class Push(Case):
    check_agreement = False     # the logs of those that go on

    def setUp(self):
        super().setUp()
        self.server = fleet.Server()
        self.addCleanup(self.server.close)
        self.state = self.path("state")

    def jprof(self, *argv, env=None):
        return self.run_program(JPROF, *argv, preload=False, flags=None, env={
            "XDG_STATE_HOME": self.state, **(env or {})})

    def profile(self, *options, name="out"):
        done = self.jprof("run", *options, "-o", name, program("shares"),
                          "2", "0.3")
        self.assertEqual(done.status, 0, done.err)
        return self.path(name)

    def push(self, *argv, status=0, env=None):
        done = self.jprof("push", *argv, env=env)
        self.assertEqual(done.status, status, done.err)
        return done.err

    def spooled(self):
        folder = os.path.join(self.state, "jprof", "push")
        return sorted(os.listdir(folder)) if os.path.isdir(folder) else []

    def weight_ns(self, folder, *options):
        path = self.path("out.pb.gz")
        done = subprocess.run([REPORT, "--format=pprof", "-o", path, *options,
                               folder], timeout=HANG_SECONDS,
                              stderr=subprocess.PIPE, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return exports.Pprof(path).sums().weight

    def arrived(self, kind, folder, *options):
        """The weight of a kind is that of the report with these options."""
        self.assertEqual(self.server.broken, [])
        self.assertEqual(self.server.total(kind),
                         self.weight_ns(folder, *options))


class Once(Push):
    def test_both_servers(self):
        folder = self.profile()
        for to, path in (("pyroscope", "shares"), ("parca", "process_cpu")):
            with self.subTest(to=to):
                self.server.sent.clear()
                self.push("--to=" + to, "--label", "env=prod",
                          "--label=zone=eü", self.server.url, folder)
                self.arrived("cpu", folder)
                sent, = self.server.sent
                self.assertEqual(sent.name, path)
                self.assertEqual(sent.labels["env"], "prod")
                self.assertEqual(sent.labels["zone"], "eü")
                self.assertEqual(sent.profile.types, ["samples", "cpu"])
                self.assertEqual(self.spooled(), [])
        path = self.path("own.pb.gz")
        subprocess.run([REPORT, "--format=pprof", "-o", path, folder],
                       check=True, timeout=HANG_SECONDS)
        own, sent = exports.Pprof(path).sums(), self.server.sent[0]
        self.assertEqual(sent.profile.sums.own, own.own)
        self.assertEqual(sent.profile.sums.total, own.total)

    def test_cpu_and_wall_apart(self):
        folder = self.profile("--wall")
        self.push("--name=web", self.server.url, folder)
        self.arrived("cpu", folder, "--event=running")
        self.arrived("wall", folder)
        for sent in self.server.sent:
            self.assertEqual(len(sent.profile.types), 2)
            self.assertEqual(sent.name, "web")
        self.assertGreater(self.server.total("wall"),
                           self.server.total("cpu"))

    def test_large_profiles_are_split(self):
        os.mkdir(self.path("large"))
        model.make(BUILD, self.path("large"), {
            "samples": 20000, "stacks": 17000, "low": 3, "high": 12,
            "spread": 8}, 0, False)
        self.push(self.server.url, self.path("large"))
        self.arrived("cpu", self.path("large"))
        self.assertGreater(len(self.server.sent), 1)
        self.assertLess(len(self.server.sent), 9)

    def test_deep_stacks_are_cut(self):
        done = self.jprof("run", "-o", "out", program("deep"), "1900", "0.3",
                          env={"JPROF_FLAGS": "JP_DEPTH=4096"})
        self.assertEqual(done.status, 0, done.err)
        self.push(self.server.url, self.path("out"))
        self.arrived("cpu", self.path("out"))

    def test_what_is_refused(self):
        folder = self.profile()
        for status, words, kept in (
                (401, "--token-file", 1), (403, "token", 1),
                (404, "--to", 1), (413, "larger than", 0),
                (422, "invalid", 0), (400, "malformed", 0),
                (302, "elsewhere", 1)):
            with self.subTest(status=status):
                shutil.rmtree(self.state, ignore_errors=True)
                self.server.answers[:] = [(status, "no \x1b[31m good")]
                said = self.push(self.server.url, folder, status=1)
                self.assertIn(words, said)
                self.assertIn("(%d): no ?[31m good" % status, said)
                self.assertNotIn("\x1b", said)
                self.assertEqual(len(self.spooled()), kept)

    def test_tries_again(self):
        folder = self.profile()
        self.server.answers[:] = [(503, "busy"), (429, "")]
        self.push(self.server.url, folder)
        self.arrived("cpu", folder)
        self.assertEqual(len(self.server.headers), 3)

    def test_nothing_is_lost_while_the_server_is_away(self):
        folder, fast = self.profile(), self.path("bin")
        os.mkdir(fast)
        with open(os.path.join(fast, "curl"), "w", encoding="ascii") as out:
            out.write("#!/bin/sh\nexit 7\n")
        os.chmod(os.path.join(fast, "curl"), 0o755)
        away = {"PATH": fast + ":" + os.environ["PATH"]}
        said = self.push(self.server.url, folder, status=1, env=away)
        self.assertIn("curl ended with status 7", said)
        self.assertEqual(len(self.spooled()), 1)
        for name in self.spooled():
            self.assertEqual(stat.S_IMODE(os.stat(os.path.join(
                self.state, "jprof/push", name)).st_mode), 0o600)
        self.push("http://127.0.0.1:9", status=0)    # not for this one
        self.push(self.server.url, folder)
        self.assertEqual(self.spooled(), [])
        self.assertEqual(self.server.broken, [])
        self.assertEqual(self.server.total("cpu"), 2 * self.weight_ns(folder))

    def test_time_out(self):
        """A server that takes the connection and never answers; curl's limit
        is made shorter than jprof's."""
        folder, fast = self.profile(), self.path("bin")
        os.mkdir(fast)
        with open(os.path.join(fast, "curl"), "w", encoding="ascii") as out:
            out.write('#!/bin/sh\nexec %s "$@" --max-time 0.3\n'
                      % need("curl"))
        os.chmod(os.path.join(fast, "curl"), 0o755)
        with socket.create_server(("127.0.0.1", 0)) as silent:
            said = self.push("http://127.0.0.1:%d" % silent.getsockname()[1],
                             folder, status=1,
                             env={"PATH": fast + ":" + os.environ["PATH"]})
        self.assertRegex(said, r"\(28\) .*timed out")
        self.assertEqual(len(self.spooled()), 1)

    def test_curl_knows_each_option(self):
        """One that it does not know is a warning to some versions, and an
        error to others (8.14 of Debian 13)."""
        folder = self.profile()
        with open(self.path("curl"), "w", encoding="utf-8") as out:
            out.write('#!/bin/sh\n%s "$@" 2>%s\nstatus=$?\ncat %s >&2\n'
                      'exit $status\n' % (shutil.which("curl"),
                                          *[self.path("said")] * 2))
        os.chmod(self.path("curl"), 0o755)
        self.push(self.server.url, folder, env={
            "PATH": self.dir + ":" + os.environ["PATH"]})
        self.assertEqual(len(self.server.sent), 1)
        with open(self.path("said"), encoding="utf-8") as said:
            self.assertRegex(said.read(), r"^jprof-status 200\n\Z")

    def test_no_curl(self):
        folder = self.profile()
        os.mkdir(self.path("empty"))
        said = self.push(self.server.url, folder, status=2,
                         env={"PATH": self.path("empty")})
        self.assertIn("install the package curl", said)

    def test_the_spool_is_bounded(self):
        folder, spool = self.profile(), self.path("spool")
        os.mkdir(spool, 0o700)
        for index in range(3):
            with open("%s/message-%d" % (spool, index), "wb") as out:
                out.write(b"jprof-push 1\nurl http://other\npath /\ntype x\n\n"
                          + bytes(4 << 20))
        said = self.push("--spool=" + spool, "--spool-size=8M",
                         self.server.url, folder, status=1)
        self.assertIn("had to make room (--spool-size) and are lost: 2", said)
        self.assertEqual(os.listdir(spool), ["message-2"])
        self.arrived("cpu", folder)

    def test_strange_files_in_the_spool(self):
        spool = os.path.join(self.state, "jprof", "push")
        os.makedirs(spool, 0o700)
        for name, data in (("message-0", b""), ("message-1", b"\0" * 99),
                           ("message-2", b"jprof-push 1\nurl " + b"x" * 99999),
                           ("message-3", b"jprof-push 1\nurl a\npath b\n")):
            with open(os.path.join(spool, name), "wb") as out:
                out.write(data)
        os.symlink("/etc/passwd", os.path.join(spool, "message-4"))
        os.mkfifo(os.path.join(spool, "message-5"))
        said = self.push(self.server.url)
        self.assertEqual(said.count("is no message of jprof's"), 4, said)
        self.assertEqual(self.server.headers, [])

    def test_a_spool_that_is_full(self):
        """Nothing can be kept, so nothing is sent, and that is said."""
        folder, spool = self.profile(), self.path("spool")
        os.mkdir(spool, 0o700)
        done = subprocess.run(
            [JPROF, "push", "--spool=" + spool, self.server.url, folder],
            preexec_fn=full, cwd=self.dir, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
            timeout=HANG_SECONDS)
        said = done.stderr.decode()
        self.assertIn("could not be kept until it is sent, and is lost", said)
        self.assertNotIn("there is no sample", said)
        self.assertEqual(done.returncode, 1, said)
        self.assertEqual(os.listdir(spool), [])

    def test_a_curl_that_says_much(self):
        """What was sent is not sent again."""
        folder = self.profile()
        with open(self.path("config"), "w", encoding="ascii") as out:
            out.write("verbose\n")
            for index in range(40):
                out.write('header = "X-%d: %s"\n' % (index, "x" * 60))
        self.push("--curl-config=" + self.path("config"), self.server.url,
                  folder)
        self.assertEqual(len(self.server.headers), 1)
        self.assertEqual(self.spooled(), [])
        self.arrived("cpu", folder)

    def test_a_spool_for_others_is_refused(self):
        os.mkdir(self.path("open"), 0o755)
        os.chmod(self.path("open"), 0o755)
        said = self.push("--spool", self.path("open"), self.server.url,
                         status=2)
        self.assertIn("open to other users", said)

    def test_secrets_are_no_arguments(self):
        folder, bins = self.profile(), self.path("bin")
        os.mkdir(bins)
        with open(os.path.join(bins, "curl"), "w", encoding="ascii") as out:
            out.write(CURL % (self.dir, self.dir, need("curl")))
        os.chmod(os.path.join(bins, "curl"), 0o755)
        with open(self.path("token"), "w", encoding="ascii") as out:
            out.write("s3cret-t0ken\n")
        with open(self.path("config"), "w", encoding="ascii") as out:
            out.write('header = "X-More: s3cret-m0re"\n')
        self.push("--token-file", self.path("token"), "--tenant=team a",
                  "--curl-config=" + self.path("config"), self.server.url,
                  folder, env={"PATH": bins + ":" + os.environ["PATH"]})
        headers = self.server.headers[0]
        self.assertEqual(headers["Authorization"], "Bearer s3cret-t0ken")
        self.assertEqual(headers["X-Scope-OrgID"], "team a")
        self.assertEqual(headers["X-More"], "s3cret-m0re")
        for name in ("arguments", "environment"):
            with open(self.path(name), encoding="utf-8") as source:
                seen = source.read()
            self.assertIn("curl" if name == "arguments" else "PATH", seen)
            self.assertNotIn("s3cret", seen)

    def test_wrong_words(self):
        for words in (["--label", "a b=c"], ["--label=__name__=x"],
                      ["--label", "a="], ["--label", "a=b,c"],
                      ["--label", "a=\xff\x00"[:3] + "\udcff"],
                      ["--label", "1a=b"], ["--label", "k=1", "--label=k=2"],
                      ["--to=other"], ["--to=parca", "--label=a.b=c"],
                      ["--spool-size=1"], ["--unknown"], ["--label"]):
            with self.subTest(words=words):
                self.push(self.server.url, *words, status=64)
        for url in ("ftp://host", "http://", "http://user:pw@host", "host:1",
                    "http://host/?a", "http://:80", 'http://h"o'):
            with self.subTest(url=url):
                said = self.push(url, "x", status=64)
                self.assertNotIn("pw", said)
        self.assertEqual(self.server.headers, [])


class Running(Push):
    def go(self, *argv, every="1", flags=None):
        live = Live([JPROF, "run", "-o", self.path("out"), "--label=env=test",
                     "--push=" + self.server.url, "--every=" + every, *argv],
                    self.environment(flags, False,
                                     {"XDG_STATE_HOME": self.state}),
                    self.dir, subprocess.DEVNULL)
        self.started.append(live)
        return live

    def setUp(self):
        super().setUp()
        self.started = []
        self.addCleanup(lambda: [live.stop() for live in self.started])

    def test_intervals_add_up(self):
        done = self.go(*FOR_A_WHILE).end()
        self.assertEqual(done.status, 0, done.err)
        self.arrived("cpu", self.path("out"))
        self.assertGreater(len(self.server.sent), 1)
        times = [sent.profile.time_ns for sent in self.server.sent]
        self.assertEqual(times, sorted(set(times)))
        self.assertRegex(done.err, r"pushed \d+ messages")

    def test_wall_clock(self):
        done = self.go("--wall", *FOR_A_WHILE).end()
        self.assertEqual(done.status, 0, done.err)
        self.arrived("wall", self.path("out"))
        self.arrived("cpu", self.path("out"), "--event=running")

    def test_killed_with_its_launcher(self):
        live = self.go(*FOR_LONG)
        wait_until(lambda: self.server.sent, "the first interval")
        # What it does after the launcher's end nobody sends.
        program_pids = self.children(live.pid)
        for pid in program_pids:
            self.end_program(pid, signal.SIGSTOP)
        live.kill(signal.SIGKILL)
        for pid in program_pids:
            self.end_program(pid)
        wait_until(lambda: not self.of_group(live.pid), "the sender's end")
        self.arrived("cpu", self.path("out"))

    def test_interrupted_at_the_terminal(self):
        """Ctrl-C is for all of the group; the sender has the rest to send."""
        live = self.go(*FOR_LONG)
        wait_until(lambda: self.server.sent, "the first interval")
        os.killpg(live.pid, signal.SIGINT)
        done = live.end()
        self.assertNotEqual(done.status, 0, done.err)
        self.arrived("cpu", self.path("out"))

    def test_killed_altogether(self):
        """Program, launcher and sender: what is lost is of after the start of
        the last interval that arrived."""
        live = self.go(*FOR_LONG)
        wait_until(lambda: len(self.server.sent) > 2, "three intervals")
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in self.of_group(live.pid):
                os.kill(pid, number)
        now_ns = time.time_ns()
        live.end()
        wait_until(lambda: not self.of_group(live.pid), "the end of all")
        self.assertEqual(self.server.broken, [])
        lost = self.weight_ns(self.path("out")) - self.server.total("cpu")
        self.assertGreaterEqual(lost, 0)
        self.assertLess(lost, now_ns - max(
            sent.profile.time_ns for sent in self.server.sent))

    def children(self, group):
        return [pid for pid in self.of_group(group) if pid != group]

    @staticmethod
    def of_group(group):
        pids = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/stat" % pid, encoding="utf-8",
                          errors="replace") as source:
                    fields = source.read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[2]) == group and fields[0] != "Z":
                pids.append(int(pid))
        return pids

    @staticmethod
    def end_program(pid, number=signal.SIGKILL):
        """If it is the program: a sender's curl that is killed may have had
        its message taken, which is sent again then."""
        try:
            with open("/proc/%d/cmdline" % pid, "rb") as source:
                if not source.read().startswith(sys.executable.encode()):
                    return
        except FileNotFoundError:
            return
        os.kill(pid, number)

    def test_killed_program(self):
        live = self.go(*FOR_LONG)
        wait_until(lambda: self.server.sent, "the first interval")
        for pid in self.children(live.pid):
            self.end_program(pid)
        done = live.end()
        self.assertEqual(done.status, 137, done.err)
        self.arrived("cpu", self.path("out"))

    def test_server_away_for_a_while(self):
        self.server.answers[:] = [(503, "away")]
        done = self.go(*FOR_A_WHILE).end()
        self.assertEqual(done.status, 0, done.err)
        self.assertIn("the server failed (503): away; profiles wait in",
                      done.err)
        self.assertIn("takes profiles again", done.err)
        self.arrived("cpu", self.path("out"))
        self.assertEqual(self.spooled(), [])

    def test_logs_of_ended_processes_go(self):
        script = ("import subprocess, time\n"
                  "for _ in range(12):\n"
                  "    subprocess.run([%r, '0.05'], stdout=-3)\n"
                  "    time.sleep(.9)\n" % program("busy"))
        done = self.go(sys.executable, "-c", script).end()
        self.assertEqual(done.status, 0, done.err)
        logs = self.log_names("out")
        self.assertLess(len(logs), 12)
        self.assertGreater(self.server.total("cpu"), 4 * 10**8)
        self.assertGreater(self.server.total("cpu"),
                           self.weight_ns(self.path("out")))
        self.assertEqual(self.server.broken, [])

    def test_small_ring_is_said(self):
        done = self.go("-F", "8000", program("busy"), "2", every="3600",
                       flags="JP_CIRCULAR=64k").end()
        self.assertEqual(done.status, 0, done.err)
        self.assertIn("the ring is too small for an interval", done.err)
        said = self.push(self.server.url, self.path("out"))
        self.assertIn("the rings of the profile have lost", said)

    def test_nothing_runs_without_curl(self):
        os.mkdir(self.path("empty"))
        done = self.jprof("run", "--push=" + self.server.url, "-o", "out",
                          program("busy"), "0.1",
                          env={"PATH": self.path("empty")})
        self.assertEqual((done.status, done.out), (2, ""))


if __name__ == "__main__":
    unittest.main()
