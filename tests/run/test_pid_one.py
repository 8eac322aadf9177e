# SPDX-License-Identifier: MIT
"""Two programs that run one after the other as the first process of a
container, in one /tmp: both write /tmp/perf-1.map, at the same addresses.  The
first profile's names stay what they were.  Runs in: tests."""
import os
import re
import shutil
import signal
import subprocess
import unittest

from jprun import BUILD, HANG_SECONDS, REPORT, TICK_FLAGS, Case, need

WORK = """function %s(n) {
  let x = 1;
  for (let i = 0; i < n; i++) x = (x * 1103515245 + 12345) %% 2147483648;
  return x;
}
while (process.cpuUsage().user < %d) %s(20000);
"""
UNSHARE = ("unshare", "-Urmpf", "--mount-proc")
# Its own first process is the program, not bwrap.
BWRAP = ("bwrap", "--unshare-user", "--unshare-pid", "--as-pid-1", "--bind",
         "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc")


class Container(Case):
    """The folder of the test is /tmp there, so that links can be made, and has
    jprof, as the one of this build may lie below /tmp."""

    def setUp(self):
        super().setUp()
        for name in ("jprof", "jprof-report", "libjprof.so"):
            shutil.copy(os.path.join(BUILD, name), self.dir)

    def contain(self, how, folder, command):
        """The words that run a command in a container, in a folder of it."""
        os.mkdir(self.path(folder))
        if how is BWRAP:
            words = [need("bwrap"), *BWRAP[1:], "--bind", self.dir, "/tmp",
                     "--chdir", "/tmp/" + folder]
            enter = ""
        else:
            words = [need("unshare"), *how[1:]]
            enter = "mount --bind '%s' /tmp && cd /tmp/%s && " % (
                self.dir, folder)
        words += ["/bin/sh", "-c", enter + command]
        probe = subprocess.run(
            words[:-1] + [enter + "true"], check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=HANG_SECONDS)
        if probe.returncode != 0:
            self.skipTest("no %s here: %r" % (how[0], probe.stdout))
        return words

    def node(self, name, micro=900000):
        """A program's command, without what differs from run to run."""
        with open(self.path(name + ".js"), "w", encoding="ascii") as out:
            out.write(WORK % (name, micro, name))
        need("setarch")
        return ("setarch -R %s --random-seed=7 --perf-basic-prof "
                "--interpreted-frames-native-stack /tmp/%s.js" % (
                    need("node"), name))

    def preloaded(self, command):
        return "export LD_PRELOAD=%s JPROF_FLAGS='%s'; exec %s" % (
            "/tmp/libjprof.so", TICK_FLAGS, command)

    def run_in(self, how, folder, command):
        done = self.run_program(*self.contain(how, folder, command),
                                preload=None, flags=None)
        self.assertEqual((done.status, done.out), (0, ""), done.err)

    def names(self, log, status=0):
        """{name of ours: weight}, and what the report says on stderr."""
        done = subprocess.run(
            [REPORT, "--format=collapsed", log], cwd=self.dir,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=HANG_SECONDS, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        found = {}
        for line in done.stdout.decode(errors="replace").splitlines():
            stack, weight = line.rsplit(" ", 1)
            for name in set(re.findall(r"\b(?:first|second)_work\b", stack)):
                found[name] = found.get(name, 0) + int(weight)
        said = [line for line in
                done.stderr.decode(errors="replace").splitlines()
                if "/tmp/libjprof.so" not in line]     # which is not there
        return found, said

    def log_in(self, folder):
        """The log of node in a folder."""
        logs = [log for log in self.every_log()
                if log.startswith(self.path(folder)) and
                self.run_of(log).events("perfmap")]
        self.assertEqual(len(logs), 1, logs)
        return logs[0]

    def check_two(self, how, first, second, pid):
        """Runs both; `pid` is what each is there."""
        self.run_in(how, "one", first)
        log = self.log_in("one")
        run = self.run_of(log)
        self.assertEqual(run.header["pid"], pid)
        path = "/tmp/perf-%d.map" % pid
        self.assertEqual(run.events("perfmap")[-1][1]["path"], path)
        names, said = self.names(log)
        self.assertGreater(names["first_work"], 50)
        self.assertEqual((set(names), said), ({"first_work"}, []))
        self.run_in(how, "two", second)
        self.assertEqual(self.names(log), (names, []))
        later, said = self.names(self.log_in("two"))
        self.assertEqual((set(later), said), ({"second_work"}, []))

    def test_preloaded(self):
        self.check_two(UNSHARE, self.preloaded(self.node("first_work")),
                       self.preloaded(self.node("second_work")), 1)

    def test_preloaded_in_bwrap(self):
        self.check_two(BWRAP, self.preloaded(self.node("first_work")),
                       self.preloaded(self.node("second_work")), 1)

    def launched(self, name):
        return "exec /tmp/jprof -o out -- %s 2>err" % self.node(name)

    def test_launched(self):
        """jprof itself is the first process; the second was node --version."""
        self.check_two(UNSHARE, self.launched("first_work"),
                       self.launched("second_work"), 3)

    def test_killed(self):
        """Nobody copied the map: what was written over gives no names, and
        that is said."""
        live = self.start(*self.contain(UNSHARE, "one", self.preloaded(
            self.node("first_work", 600000000))), preload=None, flags=None)
        live.wait_until(lambda: os.path.exists(self.path("perf-1.map")),
                        "the map")
        children = "/proc/%d/task/%d/children" % (live.pid, live.pid)
        with open(children, encoding="ascii") as source:
            child = int(source.read().split()[0])
        # What ran before node in its process may have a log of its own.
        live.wait_until(
            lambda: any(len(self.run_of(log).samples) > 100
                        for log in self.every_log()), "samples")
        os.kill(child, signal.SIGKILL)
        live.end()
        log = self.log_in("one")
        names, said = self.names(log)
        self.assertGreater(names["first_work"], 50)
        self.assertEqual((set(names), said), ({"first_work"}, []))
        self.run_in(UNSHARE, "two", self.preloaded(self.node("second_work")))
        names, said = self.names(log, 1)
        self.assertEqual(names, {})
        self.assertEqual(len(said), 1, said)
        self.assertIn("perf map: another process has written to it since",
                      said[0])


if __name__ == "__main__":
    unittest.main()
