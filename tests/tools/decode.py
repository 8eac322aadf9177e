#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Decodes a jprof-log and its map, from doc/FORMAT.md alone.

Runs in: tests.  Shares no code with jprof, so that the two can be compared.
As a module: load(path) -> list of Run, totals(runs) -> what their samples sum
up to.  As a program: decode.py [--json] LOG prints `TIME TID WEIGHT EVENT
REASON FRAME,FRAME...` a sample, leaf first; decode.py --totals LOG prints `PID
TID EVENT SAMPLES WEIGHT GAP FRAME,FRAME...` for each thread, event and stack.
"""
import collections
import json
import os
import re
import struct
import sys
from urllib.parse import unquote

PAGE = 4096
SIZES = (4096, 8192, 16384, 32768, 65536)
MAX_FRAMES = 4096
MAX_LINE = 8192
BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
EVENTS = "cpu running blocked raised ready".split()
MARKS = "mark begin end".split()
MAX_NAME = 255
REASONS = "root depth bad_fp no_rule bounds no_stack walker fiber".split()
FIELDS = [field.split(":") for field in (
    "byte_order:8:I version:12:H header_size:14:H machine:16:H pid:24:I "
    "address_size:18:B build_id_size:19:B page_size:20:I proc_pid:28:I "
    "start_ticks:32:Q mono_ns:40:Q real_ns:48:Q boot_ns:56:Q period_ns:64:Q "
    "clock:72:I walker:76:I options:80:I depth:84:I ring_bytes:88:Q "
    "cleared_ns:96:Q owner_pid:2968:I owner_ticks:2976:Q cpu_ns:2984:Q "
    "children_ns:2992:Q cpu_read_ns:3000:Q cpu_before_ns:3008:Q "
    "root_pid:3016:I off:3020:I base_run:4072:Q forked_ns:4080:Q "
    "owner_space:3280:I owner_ended:3292:I cpu_ended:3296:I "
    "root_space:3300:I root_ticks:3304:Q").split()]
STRINGS = (("map_name", 664, 256), ("exe", 920, 1024), ("flags", 1944, 1024),
           ("tree_name", 3024, 256))


class Run:
    """One process image: its header, samples, map and what was damaged."""

    def __init__(self, header, order, offset):
        self.header = header
        self.order = order
        self.offset = offset    # of the header in the file
        self.samples = []       # (time, tid, weight, event, reason, stack)
        self.gaps = {}          # stack -> index before which frames miss
        self.gap_of = []        # of each sample: that index, or 0
        self.marks = []         # (time, tid, kind, name)
        self.map = []           # (time, event, {key: value})
        self.damage = []        # (offset, what)
        self.chunks = []        # (seq, offset, size, tid)
        self.text = []          # lines of the map that stand in the log,
        self.text_at = []       # and where their records are

    def lost(self):
        return sum(self.header["counters"][:7])

    def events(self, name):
        """The map's events of one kind: [(time, {key: value})]."""
        return [(when, keys) for when, event, keys in self.map if event == name]


def text(data):
    return data.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")


def read_header(page):
    """(header dict, byte order), or None when it is not a header."""
    order = {b"\4\3\2\1": "<", b"\1\2\3\4": ">"}.get(page[8:12])
    if order is None:
        return None
    header = {name: struct.unpack_from(order + code, page, int(at))[0]
              for name, at, code in FIELDS}
    for name, at, size in STRINGS:
        header[name] = text(page[at:at + size])
    header["build_id"] = page[104:104 + min(header["build_id_size"], 32)].hex()
    header["boot_id"] = page[136:152].hex()
    header["counters"] = list(struct.unpack_from(order + "64Q", page, 152))
    return header, order


def skip(_at, _words):
    """Passes over a record of an unknown type."""


class Chunk:
    """The records of one chunk; data is cut at the end of the file."""

    def __init__(self, run, data, offset):
        self.run, self.data, self.offset = run, data, offset
        self.stacks = {}        # offset / 8 -> (frames, gap)
        self.first = {}         # offset / 8 -> (tid, offset / 8 of a stack)

    def get(self, code, at):
        return struct.unpack_from(self.run.order + code, self.data, at)

    def stack(self, at, words):
        """Keeps a stack; returns what is wrong with it, or None."""
        count, shared, base, gap = self.get("4H", at + 4)
        if words != 2 + count:
            return "stack size"
        frames = self.get("%dQ" % count, at + 16)
        whole = self.stacks.get(base, ((), 0))[0] if shared else ()
        if shared > len(whole):
            return "stack base"
        frames += whole[len(whole) - shared:]
        if len(frames) > MAX_FRAMES or gap > len(frames):
            return "stack length"
        self.stacks[at // 8] = frames, gap
        return None

    def add(self, at, tid, time, weight, stack):
        """Adds a sample to the run; returns what is wrong, or None."""
        event, reason = self.data[at + 1] & 15, self.data[at + 1] >> 4
        frames, gap = self.stacks.get(stack, ((), 0))
        if event >= len(EVENTS) or reason >= len(REASONS):
            return "sample event or reason"
        if stack and stack not in self.stacks:
            return "sample stack"
        self.run.gaps.update({frames: gap} if gap else {})
        if time >= self.run.header["cleared_ns"]:
            self.run.samples.append((time, tid, weight, EVENTS[event],
                                     REASONS[reason], frames))
            self.run.gap_of.append(gap)
        return None

    def sample(self, at, words):
        """Adds a sample that may be repeated."""
        if words != 3:
            return "sample size"
        tid, time, packed = self.get("IQQ", at + 4)
        wrong = self.add(at, tid, time, packed & (1 << 48) - 1, packed >> 48)
        if not wrong:
            self.first[at // 8] = tid, packed >> 48
        return wrong

    def again(self, at, words):
        """Adds one of the thread and stack of an earlier sample."""
        if words != 2:
            return "repeated sample size"
        place, time_high, weight_high, time, weight = self.get("HBBII", at + 4)
        if place not in self.first:
            return "repeated sample"
        tid, stack = self.first[place]
        opened, = self.get("Q", 24)
        return self.add(at, tid, (opened + (time_high << 32 | time)) % (1 << 64),
                        weight_high << 32 | weight, stack)

    def text(self, at, words):
        """Keeps a line of the map; returns what is wrong, or None."""
        length, = self.get("I", at + 4)
        if not 0 <= words * 8 - 8 - length < 8 or length >= MAX_LINE:
            return "text length"
        self.run.text_at.append(self.offset + at)
        self.run.text.append(self.data[at + 8:at + 8 + length])
        return None

    def mark(self, at, words):
        """Adds a mark to the run; returns what is wrong, or None."""
        kind = self.data[at + 1]
        if words < 3:
            return "mark size"
        tid, time, length = self.get("IQI", at + 4)
        if not 1 <= length <= MAX_NAME or words != (20 + length + 7) // 8:
            return "mark length"
        if kind >= len(MARKS) or b"\0" in self.data[at + 20:at + 20 + length]:
            return "mark kind or name"
        if time >= self.run.header["cleared_ns"]:
            self.run.marks.append((
                time, tid, MARKS[kind],
                self.data[at + 20:at + 20 + length].decode(errors="replace")))
        return None

    def records(self, size):
        at = 64
        while at + 8 <= len(self.data):
            kind, _, words = self.get("BBH", at)
            if kind == 0:
                break
            cut = words == 0 or at + words * 8 > min(size, len(self.data))
            wrong = "record size" if cut else {
                1: self.stack, 2: self.sample, 3: self.text,
                4: self.mark, 5: self.again}.get(kind, skip)(at, words)
            if wrong:
                self.run.damage.append((self.offset + at, wrong))
            if cut:
                break
            at += words * 8


def read_chunk(run, data, at):
    """Bytes to go on by: the chunk's size, or a page when it is damaged."""
    size, seq, offset, _, pid, tid = struct.unpack_from(
        run.order + "4xIQQQII", data, at)
    if size not in SIZES or offset != at or pid != run.header["pid"]:
        run.damage.append((at, "chunk header"))
        return PAGE
    run.chunks.append((seq, offset, size, tid))
    Chunk(run, data[at:at + size], at).records(size)
    return size


def read_lines(lines, header=None):
    """The events in lines of a map: of one run's, or of this header's."""
    events, ours = [], header is None
    for line in lines:
        words = line.split(b" ")
        if len(words) < 2 or not words[0].isdigit() or BAD_ESCAPE.search(line):
            continue
        pairs = [text(word).partition("=") for word in words[2:]]
        keys = {key: unquote(value, errors="surrogateescape")
                for key, _, value in reversed(pairs)}
        if words[1] == b"jprof-map":
            ours = (int(keys["pid"]), int(keys["start"])) == (
                header["pid"], header["start_ticks"])
        if ours:
            events.append((int(words[0]), text(words[1]), keys))
    return events


def read_map(path, run, runs):
    """A run's map in order of time: its file's part, or its base's code, and
    the log's text."""
    events = read_lines(run.text)
    base = runs.get(run.header["base_run"] - 1)
    if base is not None:
        run.header["exe"] = run.header["exe"] or base.header["exe"]
        events += [event for event in base.map
                   if event[0] <= run.header["forked_ns"] and
                   event[1] in ("module", "anon", "unmap")]
    name = os.path.join(os.path.dirname(path), run.header["map_name"])
    if run.header["map_name"] and os.path.exists(name):
        with open(name, "rb") as source:
            lines = source.read().split(b"\n")[:-1]     # no half last line
        events = read_lines(lines, run.header) + events
    return sorted(events, key=lambda event: event[0])


def load(path):
    """All runs of the log at `path`, each with its map where there is one."""
    with open(path, "rb") as source:
        data = source.read()
    runs = {}                   # by offset
    for at in range(0, len(data) - PAGE + 1, PAGE):
        found = read_header(data[at:at + PAGE]) if (
            data[at:at + 8] == b"JPROFLOG") else None
        if found and found[0]["version"] in (1, 2, 3) and (
                found[0]["header_size"], found[0]["address_size"]) == (PAGE, 8):
            runs[at] = Run(*found, at)
    order = next(iter(runs.values())).order if runs else "<"
    at, last = 0, None
    while at < len(data):
        step = PAGE
        if data[at:at + 8] == b"JPROFLOG":
            last = runs.get(at)
        if at + 64 <= len(data) and data[at:at + 4] == struct.pack(
                order + "I", 0x4B43504A):
            owner, = struct.unpack_from(order + "Q", data, at + 40)
            run = runs.get(owner - 1) if owner else last
            if run:
                step = read_chunk(run, data, at)
        at += step
    for run in sorted(runs.values(), key=lambda run: run.header["mono_ns"]):
        run.map = read_map(path, run, runs)
    return [runs[at] for at in sorted(runs)]


SCRIPT, RUNNER = 0x4A50, 0x4A51     # a frame's upper 16 bits


def line_at(table, first, at):
    """The line of a place in a script's function, by its table; None."""
    line, end, answer = first, 0, None
    for length, sign, delta in re.findall(r"(\d+)([-+?])(\d*)", table):
        line += int(sign + delta) if sign != "?" else 0
        answer = line if sign != "?" else None
        end += int(length)
        if at < end:
            break
    return answer


def scripts(run):
    """{id: [name, file, first line, table of lines]} of a run's map."""
    functions = {}
    for _, keys in run.events("script"):
        known = functions.setdefault(int(keys["id"]), [
            keys.get("name"), keys.get("file"), int(keys.get("line", 0)), ""])
        known[3] += ("," if known[3] else "") + keys.get("lines", "")
    return functions


def script_frames(stack, functions):
    """[(name, file, line, first line)] of a stack's script frames."""
    found = []
    for place, frame in enumerate(stack):
        if frame >> 48 == SCRIPT:
            frame -= place > 0
            name, file, first, table = functions[frame >> 24 & 0xFFFFFF]
            found.append((name, file, line_at(table, first, frame & 0xFFFFFF),
                          first))
    return found


def totals(runs):
    """{(pid, tid, event, gap, stack): [samples, weight in ns]} of all runs."""
    sums = collections.defaultdict(lambda: [0, 0])
    for run in runs:
        for (_, tid, weight, event, _, stack), gap in zip(run.samples,
                                                          run.gap_of):
            total = sums[run.header["pid"], tid, event, gap, stack]
            total[0] += 1
            total[1] += weight
    return dict(sums)


def main(argv):
    paths = [word for word in argv[1:] if word not in ("--json", "--totals")]
    if len(paths) != 1:
        print(__doc__, file=sys.stderr)
        return 64
    if "--totals" in argv:
        for (*key, gap, stack), total in totals(load(paths[0])).items():
            print(*key, *total, gap, ",".join("%x" % frame for frame in stack))
        return 0
    for run in load(paths[0]):
        if "--json" in argv:
            print(json.dumps({"header": run.header, "samples": run.samples,
                              "marks": run.marks, "map": run.map,
                              "damage": run.damage}))
            continue
        for *fields, stack in run.samples:
            print(*fields, ",".join("%x" % frame for frame in stack))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
