# SPDX-License-Identifier: MIT
"""What the run tests share: a temporary folder, programs run in it under the
library, the logs that they leave, and reports of them.

Runs in: tests.  No time limit here measures anything: HANG_SECONDS ends what
does not end by itself, and only the process group that was started here.
"""
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "tools"))
import agree        # noqa: E402  (needs the path above)
import decode       # noqa: E402
import roots        # noqa: E402

BUILD = os.path.join(ROOT, os.environ.get("B", "build"))
LIBRARY = os.path.join(BUILD, "libjprof.so")
REPORT = os.path.join(BUILD, "jprof-report")
PROGRAMS = os.path.join(BUILD, "tests", "programs")
HANG_SECONDS = 120
AGREE_LOGS = 4      # logs of a test that are compared with their reports
TICK_FLAGS = "JP_START JP_PERIOD=0.004"     # 250 Hz
PERIOD_NS = 4000000


def program(name):
    return os.path.join(PROGRAMS, name)


def lacking(what):
    """What to raise where a test has not what it needs: it is skipped by
    name, but fails in continuous integration, which must have everything."""
    if os.environ.get("CI") == "true":
        return AssertionError("no %s here: run scripts/install-deps check"
                              % what)
    return unittest.SkipTest("no %s here" % what)


def need(name):
    """The path of a command, or the test is skipped."""
    path = shutil.which(name)
    if path is None:
        raise lacking(name)
    return path


def terminated(_number, _frame):
    sys.exit(1)         # unittest is ended, and with it every Live, below


signal.signal(signal.SIGTERM, terminated)
# A shell's job in the background ignores it, and so would all programs.
signal.signal(signal.SIGINT, signal.default_int_handler)


class Done:
    """How a command ended."""

    def __init__(self, status, out, err, pid=None):
        self.status, self.out, self.err, self.pid = status, out, err, pid


class Live:
    """A program that runs while the test goes on."""

    def __init__(self, argv, env, cwd, stdin):
        self.err = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            argv, env=env, cwd=cwd, stdin=stdin, stdout=subprocess.PIPE,
            stderr=self.err, start_new_session=True)
        self.pid = self.process.pid

    def line(self):
        """Its next line on stdout."""
        return self.process.stdout.readline().decode().rstrip("\n")

    def kill(self, number):
        os.kill(self.pid, number)

    def cpu_seconds(self):
        with open("/proc/%d/stat" % self.pid, encoding="utf-8",
                  errors="replace") as source:
            fields = source.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def burn(self, seconds):
        """Waits until it has used so much more CPU time."""
        start = self.cpu_seconds()
        self.wait_until(lambda: self.cpu_seconds() - start >= seconds,
                        "the program to use the CPU")

    def wait_until(self, condition, what):
        """As wait_until(), for as long as the program lives."""
        def or_dead():
            return condition() or self.process.poll() is not None

        wait_until(or_dead, what)
        if self.process.returncode is not None and not condition():
            raise AssertionError("the program ended (%d) before %s" % (
                self.process.returncode, what))

    def end(self, number=None):
        """Sends a signal, waits for the end."""
        if number is not None:
            self.kill(number)
        try:
            out = self.process.communicate(timeout=hang_seconds())[0]
        finally:
            self.stop()
        self.err.seek(0)
        return Done(self.process.returncode, out.decode(errors="replace"),
                    self.err.read().decode(errors="replace"), self.pid)

    def stop(self):
        """Ends its process group, when any of it is left."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        self.process.wait()
        self.process.stdout.close()


def hang_seconds():
    """HANG_SECONDS, and more where many others want the CPUs: a program that
    gets a fifth of one takes five times as long, and hangs no more than
    before."""
    waiting = os.getloadavg()[0] / (os.cpu_count() or 1)
    return HANG_SECONDS * min(max(waiting, 1), 5)


def wait_until(condition, what):
    """Polls until the condition holds; a hang is a failure."""
    begin = time.monotonic()
    while not condition():
        if time.monotonic() - begin > hang_seconds():
            raise AssertionError("waited in vain for " + what)
        time.sleep(0.01)


def kernel_tick_hz():
    """Timer signals a CPU second that this kernel gives to a fast CPU timer:
    the most that a thread CPU timer can sample at."""
    count = 0

    def handler(_number, _frame):
        nonlocal count
        count += 1

    before = signal.signal(signal.SIGPROF, handler)
    start = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, 0.0005, 0.0005)
    while time.process_time() - start < 1:
        pass
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)
    return count / (time.process_time() - start)


class Case(unittest.TestCase):
    """A test in a folder of its own.  Stacks that are said to be complete have
    their thread's first frame, but in programs that make stacks by hand.  What
    jprof-report makes of the logs is what the tests' own reader reads."""
    check_first_frames = True
    check_agreement = True
    threads_begin_in = ()   # [(start, end)] of JIT code

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="jprof-run-")
        self.live = []

    def tearDown(self):
        for live in self.live:
            live.stop()
            live.err.close()
        wrong, differ, compared = [], [], 0
        for log in self.every_log():
            runs = decode.load(log)
            for run in runs:
                path = "/tmp/perf-%d.map" % run.header["pid"]
                # A folder of this name is what another test plants there.
                if os.path.isfile(path):
                    os.unlink(path)
                if self.check_first_frames:
                    wrong += roots.false_roots(run, self.threads_begin_in)
            if (self.check_agreement and compared < AGREE_LOGS and runs and
                    os.path.exists(REPORT)):
                differ += agree.agree(log, REPORT, runs)
                compared += 1
        shutil.rmtree(self.dir, ignore_errors=True)
        self.assertEqual(wrong[:5], [], "complete, but not to the first frame")
        self.assertEqual(differ[:5], [], "jprof-report reads something else")

    def path(self, name):
        return os.path.join(self.dir, name)

    def environment(self, flags, preload, extra):
        env = dict(os.environ)
        for name in ("LD_PRELOAD", "JPROF_FLAGS", "JPROF_ISCHILD"):
            env.pop(name, None)
        if preload:
            env["LD_PRELOAD"] = preload
        if flags is not None:
            env["JPROF_FLAGS"] = flags
        env.update(extra or {})
        return env

    # preload: False runs it alone.
    def start(self, *argv, flags=TICK_FLAGS, preload=LIBRARY, env=None,
              stdin=subprocess.PIPE):
        live = Live(list(argv), self.environment(flags, preload, env),
                    self.dir, stdin)
        self.live.append(live)
        return live

    def run_program(self, *argv, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        return self.start(*argv, **options).end()

    def busy(self, seconds, **options):
        """Runs `busy`; returns (Done, the CPU seconds that it says)."""
        done = self.run_program(program("busy"), str(seconds), **options)
        self.assertEqual((done.status, done.err), (0, ""))
        return done, float(re.search(r"(?m)^cpu ([\d.]+)$",
                                     done.out).group(1))

    def files(self):
        return sorted(os.listdir(self.dir))

    def every_log(self):
        """All logs in the folder and in those that launchers made in it."""
        for folder, _, _ in os.walk(self.dir):
            for name in self.log_names(folder):
                yield os.path.join(folder, name)

    def log_names(self, folder=""):
        """The logs among the folder's files, by their magic."""
        names = []
        for name in sorted(os.listdir(self.path(folder))):
            path = os.path.join(self.path(folder), name)
            if not os.path.isfile(path) or os.path.islink(path):
                continue
            try:
                with open(path, "rb") as source:
                    if source.read(8) == b"JPROFLOG":
                        names.append(name)
            except FileNotFoundError:
                pass        # a program has removed an older profile
        return names

    def all_runs(self):
        return [run for name in self.log_names()
                for run in decode.load(self.path(name))]

    def run_of(self, name="jprof-log"):
        """The only run of a log, which must be undamaged."""
        runs = decode.load(self.path(name))
        self.assertEqual(len(runs), 1, "runs in " + name)
        self.assertEqual(runs[0].damage, [])
        return runs[0]

    def report(self, app, *arguments, status=0):
        """stdout of jprof-report; its exit status must be `status`."""
        done = subprocess.run(
            [REPORT] + list(arguments[:-1]) + [app] + list(arguments[-1:]),
            cwd=self.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=hang_seconds(), check=False)
        self.assertEqual(done.returncode, status,
                         done.stderr.decode(errors="replace"))
        return done.stdout.decode("utf-8", "surrogateescape")

    def summary(self, app, *arguments):
        """The summary as {key: text}."""
        text = self.report(app, "--format=summary", *arguments)
        return dict(line.split(": ", 1) for line in text.splitlines()
                    if ": " in line)

    def collapsed(self, app, *arguments, inlined=False):
        """[([root, ..., leaf], weight in periods)].  The programs have helpers
        that are always inlined: they are told apart where that is asked."""
        text = self.report(app, "--format=collapsed",
                           *([] if inlined else ["--no-inline"]), *arguments)
        stacks = []
        for line in text.splitlines():
            stack, weight = line.rsplit(" ", 1)
            stacks.append((stack.split(";"), int(weight)))
        return stacks


def weight_s(run):
    """The weight of a run's samples in seconds."""
    return sum(sample[2] for sample in run.samples) / 1e9


def share_bound(share, count):
    """Four standard deviations of a share measured with `count` samples."""
    return 4 * (share * (1 - share) / count) ** 0.5


def shell(text):
    return ["/bin/sh", "-c", text]


def quote(path):
    return shlex.quote(path)
