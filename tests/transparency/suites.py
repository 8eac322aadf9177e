# SPDX-License-Identifier: MIT
"""Test suites that others wrote, as their packages install them: which units
a suite has, how one is run, what each of its tests came to, and how long it
took.
Runs in: tests."""

import configparser
import os
import pwd
import re
import shutil
import subprocess
import threading
import time
import xml.etree.ElementTree


class Suite:
    """A suite: `units()` names its parts, `run()` runs one of them."""

    # One unit may take this long; what runs on is ended and counts as "hang".
    seconds = 400
    # Who runs it where we are root; None: we do.
    user = None
    # The process groups that run now, for who must end before they do.
    groups = set()
    # The calling thread's: {command or test: seconds}.
    local = threading.local()

    def __init__(self, name, package):
        self.name = name
        self.package = package

    def execute(self, argv, folder, environment):
        """Runs argv in `folder`; returns (exit status or "hang", output)."""
        options = {}
        if self.user and os.geteuid() == 0:
            account = pwd.getpwnam(self.user)
            options = {"user": account.pw_uid, "group": account.pw_gid,
                       "extra_groups": []}
        begin = time.monotonic()
        child = subprocess.Popen(
            argv, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True, **options)
        self.groups.add(child.pid)
        try:
            output, _ = child.communicate(timeout=self.seconds)
        except subprocess.TimeoutExpired:
            # The session that we made: the unit and what it left behind.
            os.killpg(child.pid, 9)
            output, _ = child.communicate()
            return "hang", output
        finally:
            self.groups.discard(child.pid)
            self.took(argv[-1], time.monotonic() - begin)
        return child.returncode, output

    def took(self, name, seconds):
        """Notes how long something took in this thread's run of a unit."""
        times = vars(self.local).setdefault("times", {})
        times[name] = times.get(name, 0) + seconds

    def hand_over(self, folder):
        """Gives a folder of ours, and what is in it, to the suite's user."""
        if self.user and os.geteuid() == 0:
            account = pwd.getpwnam(self.user)
            for place, _, names in os.walk(folder):
                for path in [place] + [os.path.join(place, name)
                                       for name in names]:
                    os.chown(path, account.pw_uid, account.pw_gid)


class Cpython(Suite):
    """CPython's own tests (`python3 -m test`), by module."""

    # What deals with signals, threads, processes, calls that block, and time.
    MODULES = """
        test_asyncio test_asyncore test_atexit test_concurrent_futures
        test_contextlib test_dbm test_docxmlrpc test_eintr test_epoll
        test_exceptions test_faulthandler test_fcntl test_file test_fileio
        test_fork1 test_ftplib test_gc test_httplib test_httpservers
        test_importlib test_io test_ioctl test_json test_kqueue test_largefile
        test_logging test_mailbox test_mmap test_multiprocessing_fork
        test_multiprocessing_forkserver test_multiprocessing_main_handling
        test_multiprocessing_spawn test_openpty test_os test_pathlib test_pipes
        test_poll test_popen test_poplib test_posix test_pty test_queue
        test_regrtest test_resource test_runpy test_sched test_select
        test_selectors test_shutil test_signal test_site test_smtplib
        test_socket test_socketserver test_sqlite3 test_ssl test_subprocess
        test_sys test_syslog test_sys_settrace test_tempfile test_thread
        test_threadedtempfile test_threading test_threading_local
        test_threadsignals test_time test_timeout test_tracemalloc test_unittest
        test_urllib2_localnet test_venv test_wait3 test_wait4 test_weakref
        test_xmlrpc test_zipfile""".split()
    SHORT = ["test_fork1", "test_posix", "test_thread"]
    PYTHON = "/usr/bin/python3"

    def __init__(self):
        super().__init__("cpython", "libpython3-testsuite")

    def present(self):
        """Whether the suite is installed."""
        done = subprocess.run([self.PYTHON, "-c", "import test.test_signal"],
                              capture_output=True, check=False)
        return done.returncode == 0

    def units(self, short):
        """The modules of this Python among those named above."""
        code = "import test, os; print(os.path.dirname(test.__file__))"
        folder = subprocess.run([self.PYTHON, "-c", code], text=True,
                                capture_output=True, check=True).stdout.strip()
        there = {name.removesuffix(".py") for name in os.listdir(folder)}
        return [name for name in (self.SHORT if short else self.MODULES)
                if name in there]

    def run(self, unit, folder, environment):
        """Returns {test: outcome}, and the output."""
        report = os.path.join(folder, "junit.xml")
        status, output = self.execute(
            [self.PYTHON, "-m", "test", "--junit-xml", report, unit], folder,
            environment)
        found = {unit: f"exit {status}"}
        if os.path.exists(report):
            try:
                tree = xml.etree.ElementTree.parse(report)
            except xml.etree.ElementTree.ParseError:
                return found, output
            for case in tree.iter("testcase"):
                kinds = {child.tag for child in case}
                outcome = "pass" if case.get("result") == "completed" else "?"
                for kind in ("skipped", "failure", "error"):
                    if kind in kinds or case.get("status") == kind:
                        outcome = kind
                found[case.get("name", "?")] = outcome
        return found, output


class Glib(Suite):
    """GLib's installed tests, programs that print TAP."""

    FOLDER = "/usr/share/installed-tests/glib"
    LINE = re.compile(r"^\s*(not ok|ok)\b *\d* *-? *(.*?)\s*$")
    SHORT = ["spawn-multithreaded", "thread", "unix", "socket"]
    # Needs a machine of its own: these write gigabytes or look at mounts.
    LEFT_OUT = {"live-g-file", "mem-overflow"}

    def __init__(self):
        super().__init__("glib", "libglib2.0-tests")

    def present(self):
        """Whether the suite is installed."""
        return os.path.isdir(self.FOLDER)

    def units(self, short):
        """All its programs."""
        names = sorted(name.removesuffix(".test")
                       for name in os.listdir(self.FOLDER)
                       if name.endswith(".test"))
        return [name for name in names
                if (name in self.SHORT if short else name not in self.LEFT_OUT)]

    def run(self, unit, folder, environment):
        """Returns {test: outcome}, and the output."""
        parser = configparser.ConfigParser(interpolation=None)
        parser.read(os.path.join(self.FOLDER, unit + ".test"))
        command = parser["Test"]["Exec"]
        environment = dict(environment, G_TEST_SRCDIR="/usr/libexec/"
                           "installed-tests/glib", HOME=folder)
        argv = ["/bin/sh", "-c", f"exec {command}"]
        if shutil.which("dbus-run-session"):
            argv = ["dbus-run-session", "--"] + argv
        status, output = self.execute(argv, folder, environment)
        found = {unit: f"exit {status}"}
        for line in output.decode("utf-8", "replace").splitlines():
            match = self.LINE.match(line)
            if match:
                outcome = "pass" if match[1] == "ok" else "failure"
                name, _, directive = match[2].partition("#")
                if directive.strip().upper().startswith("SKIP"):
                    outcome = "skipped"
                found[f"{unit}: {name.strip()}"] = outcome
        return found, output


INSTALLED = [Cpython(), Glib()]
