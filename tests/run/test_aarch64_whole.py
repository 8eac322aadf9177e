# SPDX-License-Identifier: MIT
"""Whole programs on aarch64, under qemu-user, with signed return addresses:
threads, processes, pauses, both kinds of time, stacks of each kind and JIT
code; and jprof-report there and here on the logs of both machines.  What
qemu-user cannot show is listed in doc/platforms.md.  Runs in: tests."""
import os
import re
import stat
import subprocess
import unittest

from crosswalk import SIGNS
from jprun import (BUILD, REPORT, ROOT, TICK_FLAGS, Case, need, program,
                   quote, share_bound, weight_s)

FOLDER = os.path.join(BUILD, "aarch64")
LOADER = "/usr/aarch64-linux-gnu"
SYSROOT = os.path.join(ROOT, "build-arm64")
OTHER_REPORT = os.path.join(FOLDER, "jprof-report")
FORMATS = ("text", "collapsed", "html", "summary", "cleo")
ELSEWHERE = b"written on another kind of machine"


def there(name):
    """A program of the other machine."""
    return os.path.join(FOLDER, "tests", "programs", name)


class Whole(Case):
    def setUp(self):
        super().setUp()
        need("aarch64-linux-gnu-gcc")
        self.qemu = need("qemu-aarch64")

    def command(self, flags, *argv, name=None):
        """What runs a program there; name: its argv[0]."""
        return [self.qemu, *SIGNS, "-L", LOADER,
                "-E", "JPROF_FLAGS=" + flags,
                "-E", "LD_PRELOAD=" + os.path.join(FOLDER, "libjprof.so"),
                "-0", name or there(argv[0]), there(argv[0]), *argv[1:]]

    def profile(self, *argv, flags=TICK_FLAGS, name=None):
        done = self.run_program(*self.command(flags, *argv, name=name),
                                preload=None, flags=None)
        self.assertEqual(done.status, 0, done.err)
        return done

    def complete(self, run, share=0.98):
        """To the root of a thread, or of a stack that the program made."""
        good = sum(sample[4] in ("root", "fiber") for sample in run.samples)
        self.assertGreater(len(run.samples), 10)
        self.assertGreaterEqual(good, share * len(run.samples))
        return run

    def share(self, app, *names):
        """The part of the weight whose stacks have all these frames, each
        nearer to the leaf than the one before."""
        total = part = 0
        for stack, weight in self.collapsed(there(app), "jprof-log"):
            total += weight
            rest = iter(stack)
            part += weight * all(any(name == frame for frame in rest)
                                 for name in names)
        return part / total


class Programs(Whole):
    def test_signed(self):
        """They do sign: paciasp (Arm ARM, C6.2.209)."""
        for path in (there("busy"), os.path.join(FOLDER, "libjprof.so")):
            with open(path, "rb") as source:
                self.assertIn(b"\x3f\x23\x03\xd5", source.read(), path)

    def test_threads(self):
        self.profile("threads_many", "12", "0.05")
        run = self.complete(self.run_of())
        self.assertEqual(len({sample[1] for sample in run.samples} - {
            run.header["pid"]}), 12)
        self.assertGreater(self.share("threads_many", "brief"), 0.5)

    def test_stacks(self):
        """Code without frame pointers: small and large frames, alloca,
        libc's functions, signals' handlers, the linker's stubs."""
        self.profile("noframe", "0.3",
                     flags="JP_START JP_PERIOD=0.001 JP_DEPTH=4000")
        run = self.run_of()
        # glibc 2.41's swapcontext puts an address of its own into x30, which
        # its call-frame information does not say: stacks end there, and say
        # that they are incomplete.
        known = sum(weight for stack, weight in self.collapsed(
            there("noframe"), "jprof-log") if stack[0] != "swapcontext")
        self.complete(run, 0.9)
        self.assertLessEqual(
            sum(sample[2] for sample in run.samples
                if sample[4] not in ("root", "fiber")) / 1e6,
            1.02 * weight_s(run) * 1000 - known)
        for names in (("main", "everything", "hot"),
                      ("main", "everything", "in_alloca", "hot"),
                      ("main", "on_signal", "hot")):
            self.assertGreater(self.share("noframe", *names), 0, names)

    def test_frame_pointers(self):
        self.profile("deep", "20", "0.4", flags=TICK_FLAGS + " JP_STACK=fp")
        self.complete(self.run_of())
        self.assertGreater(self.share("deep", "main", *["descend"] * 20), 0.5)

    def test_processes(self):
        """Children by fork, and by exec after fork, vfork and posix_spawn:
        the name that they execute is a script which starts qemu again."""
        script = self.path("again")
        with open(script, "w", encoding="utf-8") as target:
            target.write("#!/bin/sh\nunset LD_PRELOAD\nexec %s \"$@\"\n" %
                         " ".join(quote(word) for word in self.command(
                             TICK_FLAGS, "forker", name=script)))
        os.chmod(script, stat.S_IRWXU)
        done = self.profile("forker", "0.15", name=script)
        ways = dict(line.split() for line in done.out.splitlines())
        self.assertEqual(sorted(ways), ["exec", "fork", "spawn", "vfork"])
        for way, pid in ways.items():
            run = self.run_of("jprof-log-" + pid)
            self.assertGreater(sum(sample[2] for sample in run.samples),
                               0.1e9, way)

    def test_pause_and_sections(self):
        live = self.start(*self.command(TICK_FLAGS, "busy", "60"),
                          preload=None, flags=None)
        live.line()
        live.wait_until(self.log_names, "a log")
        live.burn(0.1)
        live.kill(10)                       # SIGUSR1: pause
        live.wait_until(lambda: self.events("pause") == 1, "a pause")
        live.kill(27)                       # SIGPROF: a new section
        live.wait_until(lambda: self.events("section") == 2, "a section")
        live.burn(0.2)
        live.kill(15)
        live.end()
        paused, resumed = [
            [keys for name, keys in map_events if name]
            for map_events in (self.run_of().events("pause"),
                               self.run_of().events("section")[1:])]
        self.assertEqual((len(paused), len(resumed)), (1, 1))
        self.assertEqual(self.summary(there("busy"), "jprof-log")["sections"],
                         "2")
        self.assertTrue(self.report(there("busy"), "--last", "jprof-log"))

    def events(self, name):
        with open(self.path("jprof-map"), encoding="utf-8") as source:
            return len(re.findall(r"(?m)^\d+ %s\b" % name, source.read()))

    def test_real_time(self):
        done = self.profile("phases", "2", "0.5", "0.1",
                            flags="JP_START JP_PERIOD=0.01 JP_REALTIME")
        self.complete(self.run_of(), 0.95)
        waited = float(re.search(r"waited ([\d.]+)", done.out).group(1))
        seen = sum(weight for stack, weight in self.collapsed(
            there("phases"), "--event=blocked", "jprof-log")
                   if "wait_for_byte" in stack) / 100
        self.assertLess(abs(seen - waited), 0.1 + 0.15 * waited)

    def test_jit(self):
        """Machine code made at run time, named by a perf map."""
        for seconds in ("0.4", "0.8", "1.6", "3.2"):
            self.profile("jitter", seconds)
            code = self.report(there("jitter"), "--annotate=jit_second",
                               "jprof-log")
            # Mappings are read as text there, and where that takes long,
            # seldom: code may be unknown, or not kept, till the end.
            # (On a busy machine signals merge: there may be few samples.)
            if "not kept" not in code and int(self.summary(
                    there("jitter"), "jprof-log")["incomplete"]) == 0 and \
                    len(self.run_of().samples) > 10:
                break
        self.complete(self.run_of())
        first = self.share("jitter", "main", "run_code",
                           '</script>&"hot" (loop.js:1)')
        second = self.share("jitter", "main", "run_code", "jit_second")
        count = len(self.run_of().samples)
        self.assertLess(abs(first / (first + second) - 0.75),
                        share_bound(0.75, count) + 0.02)
        self.assertRegex(code, r"subs\s+x0, x0, #(0x)?1")


class Reports(Whole):
    """Each machine's logs, on each machine."""

    def setUp(self):
        super().setUp()
        if not os.path.exists(OTHER_REPORT):
            # Also in continuous integration: mirrors may have one machine's
            # packages alone.
            raise unittest.SkipTest("no arm64 libraries here: run "
                                    "scripts/arm64-sysroot")

    def each(self, app, *options):
        """What jprof-report of either machine prints, and what it says."""
        outputs = []
        for command in ([REPORT], [self.qemu, "-L", SYSROOT, OTHER_REPORT]):
            done = subprocess.run(
                command + list(options) + [app, "jprof-log"], cwd=self.dir,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, timeout=120, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            said = [line for line in done.stderr.splitlines()
                    if ELSEWHERE not in line]
            outputs.append((done.stdout, said))
        return outputs

    def both(self, app, *options):
        """The same, which is the same of both."""
        outputs = self.each(app, *options)
        self.assertEqual(outputs[0], outputs[1], options)
        return outputs[0][0]

    def compare(self, app, annotate):
        for form in FORMATS:
            with self.subTest(format=form):
                self.assertTrue(self.both(app, "--format=" + form))
        self.assertIn(annotate.encode(), self.both(
            app, "--annotate=" + annotate))

    def test_their_logs(self):
        self.profile("jitter", "0.8")
        self.compare(there("jitter"), "jit_second")

    def test_our_logs(self):
        """The vdso's names are known on its own machine alone; a run with a
        sample there, which is rare, is not compared."""
        for _ in range(10):
            done = self.run_program(program("jitter"), "0.2")
            self.assertEqual(done.status, 0, done.err)
            theirs = self.each(program("jitter"), "--format=collapsed")[1][0]
            if b"[vdso]" not in theirs:
                break
        self.compare(program("jitter"), "jit_second")


if __name__ == "__main__":
    unittest.main()
