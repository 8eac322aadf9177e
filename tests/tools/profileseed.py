#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Inputs for tests/fuzz/fuzz_profile.c: golden cases with JIT code, each as
one file of log, map, perf map and jitdumps.

Runs in: tests.  Usage: profileseed.py FOLDER
"""
import os
import struct
import sys
import tempfile

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TESTS)
import golden       # noqa: E402  (needs the path above)

NAMES = ("jprof-log", "jprof-map", "perf-7.map", "perf-1.map", "one", "two")
CASES = ("jit", "report", "tiers", "nameless")
# A log of more is cut there, at the end of a process: an input takes as long as
# its log is, and the second process is told apart as the fourteenth is.
LOG_MOST = 16384


def content(path):
    """Its bytes; of what a case does not have, none."""
    if not os.path.exists(path):
        return b""
    with open(path, "rb") as source:
        return source.read()


def main(argv):
    for case in CASES:
        with tempfile.TemporaryDirectory(prefix="jprof-seed-") as scratch:
            golden.prepare(os.path.join(TESTS, "golden", case), scratch)
            parts = [content(os.path.join(scratch, name)) for name in NAMES]
            parts[0] = parts[0][:LOG_MOST]
        with open(os.path.join(argv[1], "profile-" + case), "wb") as out:
            for part in parts:
                out.write(struct.pack("<I", len(part)) + part)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
