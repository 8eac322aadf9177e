#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What threads that only wait cost in real time: CPU a minute of the whole
process, samples, and the log's bytes for each.

Runs in: tests.  Usage: B=build tests/wall/idle.py [--seconds N]
[--threads N,N] [--hz N] [--flags TEXT] [--by-turns] [LIBRARY...].  A line a
run of `loads idle`; several libraries run side by side, or by turns.  The main
thread counts: 51 threads are 50 and it.
"""
import argparse
import os
import shutil
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "tools"))
import decode       # noqa: E402  (needs the path above)

BUILD = os.path.join(ROOT, os.environ.get("B", "build"))
LOADS = os.path.join(BUILD, "tests", "programs", "loads")


class Idle:
    """A process with so many threads that wait, under a library or none."""

    def __init__(self, threads, library, args):
        self.threads, self.library = threads, library
        self.seconds = args.seconds
        self.folder = tempfile.mkdtemp(prefix="jprof-idle-")
        env = dict(os.environ)
        if library:
            env["LD_PRELOAD"] = os.path.abspath(library)
            env["JPROF_FLAGS"] = "JP_START JP_REALTIME JP_PERIOD=%g %s" % (
                1 / args.hz, args.flags)
        null = os.open(os.devnull, os.O_WRONLY)
        self.pid = os.fork()
        if self.pid == 0:
            os.dup2(null, 1)
            os.chdir(self.folder)
            os.execve(LOADS, [LOADS, "idle", str(args.seconds),
                              str(threads - 1)], env)
        os.close(null)

    def end(self):
        """The line of it."""
        _, status, usage = os.wait4(self.pid, 0)
        cpu = (usage.ru_utime + usage.ru_stime) * 60 / self.seconds * 1e3
        log = os.path.join(self.folder, "jprof-log")
        line = "%4d threads %8.1f ms a minute" % (self.threads, cpu)
        if os.path.exists(log):
            run = decode.load(log)[0]
            size = os.stat(log).st_blocks * 512
            found = len(run.samples)
            line += ", %6d samples (%.1f a thread), %5.1f bytes a sample" % (
                found, found / self.threads, size / max(found, 1))
        shutil.rmtree(self.folder)
        print("%s  %s%s" % (line, self.library or "none",
                            " STATUS %d" % status if status else ""),
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--threads", default="2,51,201,501")
    parser.add_argument("--hz", type=float, default=250)
    parser.add_argument("--flags", default="")
    parser.add_argument("--by-turns", action="store_true")
    parser.add_argument("library", nargs="*")
    args = parser.parse_args()
    libraries = args.library or [os.path.join(BUILD, "libjprof.so")]
    live = []
    for threads in map(int, args.threads.split(",")):
        for library in libraries:
            live.append(Idle(threads, "" if library == "none" else library,
                             args))
            if args.by_turns:
                live.pop().end()
    for idle in live:
        idle.end()


if __name__ == "__main__":
    sys.exit(main())
