# SPDX-License-Identifier: MIT
"""What the tests of real runtimes share: a program is run alone and under the
library, and what the reports say of its JIT code is looked at.

Runs in: tests.  They come with scripts/install-deps check and
scripts/wasmtime-venv; what cannot be had is skipped by name (jprun.need)."""
import collections
import os
import struct
import subprocess

from jprun import TICK_FLAGS, Case, lacking

DumpLoad = collections.namedtuple("DumpLoad", "time start size name code")


def without(node, *options):
    """The options by which this node leaves out those of these that it has."""
    known = subprocess.run([node, "--v8-options"], stdout=subprocess.PIPE,
                           check=True, text=True).stdout
    return ["--no-" + option for option in options
            if "--%s " % option in known]


def uninlined(node):
    """The options by which functions stay what they are in the source; Maglev,
    which compiles from Node 22 on, inlines as well."""
    return without(node, "turbo-inlining", "maglev-inlining")


def slow(node):
    """The options by which nothing is compiled but by Sparkplug."""
    return without(node, "opt", "maglev")


def whole_files(node):
    """Skips what has workers where they do not take turns: up to Node 18 lines
    of the perf map are torn then, without jprof as well."""
    version = subprocess.run([node, "--version"], stdout=subprocess.PIPE,
                             check=True, text=True).stdout
    if int(version.strip("v\n").split(".")[0]) < 20:
        raise lacking("node whose workers write whole lines")


def dump_loads(path):
    """The LOAD records of a jitdump of this machine's byte order, up to the
    first that is cut; and {address: (line, file)} of its DEBUG_INFO."""
    with open(path, "rb") as source:
        data = source.read()
    if len(data) < 40 or struct.unpack_from("<I", data)[0] != 0x4A695444:
        raise AssertionError("no jitdump: " + path)
    loads, at = [], struct.unpack_from("<I", data, 8)[0]
    while at + 16 <= len(data):
        kind, size, time = struct.unpack_from("<IIQ", data, at)
        if size < 16 or at + size > len(data):
            break
        if kind == 0:
            start, length = struct.unpack_from("<QQ", data, at + 32)
            name = data[at + 56:at + size - length].split(b"\0")[0]
            loads.append(DumpLoad(time, start, length, name.decode(
                "utf-8", "replace"), data[at + size - length:at + size]))
        at += size
    return loads


class RuntimeCase(Case):
    """A test of one runtime."""

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as out:
            out.write(text)

    def unharmed(self, *argv, out, env=None, flags=TICK_FLAGS):
        """Runs a program under the library, which must end well, with this
        output and no errors."""
        done = self.run_program(*argv, env=env, flags=flags)
        self.assertEqual((done.status, done.out, done.err), (0, out, ""))
        self.assertFalse([run.damage for run in self.all_runs()
                          if run.damage])
        return done

    def main_run(self, name="jprof-log"):
        run = self.run_of(name)
        self.assertEqual(run.lost(), 0)
        return run

    def check_roots(self, run, least=0.95):
        """Stacks reach the thread's root."""
        reasons = collections.Counter(sample[4] for sample in run.samples)
        total = len(run.samples)
        self.assertGreater(total, 50)
        self.assertGreaterEqual(reasons["root"] / total, least, reasons)

    def saved(self, run, event):
        """The file that the last event of a kind says was saved."""
        names = [keys["saved"] for _, keys in run.events(event)
                 if "saved" in keys]
        self.assertTrue(names, "no %s was saved" % event)
        return self.path(names[-1])

    def stacks_of(self, run, name="jprof-log", *options):
        return self.collapsed(run.header["exe"], *options, name)

    def share(self, stacks, *names):
        """The share of the weight whose stack has functions whose names hold
        these words, the last one innermost."""
        def holds(stack):
            at = 0
            for frame in stack:
                if at < len(names) and names[at] in frame:
                    at += 1
            return at == len(names)

        total = sum(weight for _, weight in stacks)
        return sum(w for stack, w in stacks if holds(stack)) / total

    def leaf_share(self, stacks, name):
        total = sum(weight for _, weight in stacks)
        return sum(w for stack, w in stacks if name in stack[-1]) / total

    def check_jit_named(self, run, least=0.99, name="jprof-log"):
        """Nearly all frames of JIT code have a name."""
        numbers = self.summary(run.header["exe"], name)
        frames = int(numbers["jit_frames"])
        self.assertGreater(frames, 50)
        self.assertGreaterEqual(int(numbers["jit_named"]) / frames, least,
                                numbers)
        return numbers

    def remove_originals(self, run):
        """Takes away what the runtime wrote: the profile must do."""
        for event in ("perfmap", "jitdump"):
            for _, keys in run.events(event):
                if os.path.exists(keys["path"]):
                    os.unlink(keys["path"])
