# SPDX-License-Identifier: MIT
"""Readers of what jprof-report writes for other tools, and what is compared:
sums, self and total weights of functions, and threads.

Runs in: tests.  Each reader checks what the real ones do not say: ids, bounds,
lengths and order; it raises Wrong."""
import collections
import gzip
import itertools
import json
import re

NAME = re.compile(r"^(.*?)(?:  \(([^()]*(?:\([^()]*\))?[^()]*)\))?$")
INLINED = " (inlined)"
TIER = re.compile(r" \[[^\[\]]*\]$")


class Wrong(Exception):
    """The file is not what its format asks for."""


def want(condition, what, *details):
    if not condition:
        raise Wrong(what % details)


class Sums:
    """What a reader found; weights in the format's own unit."""

    def __init__(self):
        self.own = collections.Counter()    # by name: it is the leaf
        self.total = collections.Counter()  # by name: once a stack
        self.weight = 0
        self.threads = set()

    def add(self, names, weight):
        """A stack, the leaf first."""
        self.weight += weight
        if names:
            self.own[names[0]] += weight
        for name in set(names):
            self.total[name] += weight


def fields(data):
    """(number, value) of each field of a protobuf message."""
    at = 0

    def varint():
        nonlocal at
        number = shift = 0
        while True:
            want(at < len(data) and shift < 70, "a number is cut off")
            byte = data[at]
            at += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
            continue
        want(tag & 7 == 2, "wire type %d", tag & 7)
        size = varint()
        want(at + size <= len(data), "a field is cut off")
        yield tag >> 3, data[at:at + size]
        at += size


def packed(data):
    """The numbers of a packed field."""
    numbers, number, shift = [], 0, 0
    for byte in data:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(number)
            number = shift = 0
    want(shift == 0, "a packed number is cut off")
    return numbers


def message(data):
    """A message as {number: [values]}."""
    found = collections.defaultdict(list)
    for number, value in fields(data):
        found[number].append(value)
    return found


def one(found, number):
    want(len(found[number]) <= 1, "field %d is there twice", number)
    return found[number][0] if found[number] else 0


class Pprof:
    """A pprof profile, checked; value: index of the sample type that is
    summed up."""

    def __init__(self, path):
        with open(path, "rb") as source:
            data = source.read()
        want(data[4:8] == bytes(4), "gzip has a time in it")
        top = message(gzip.decompress(data))
        self.strings = [text.decode("utf-8") for text in top[6]]
        want(self.strings[:1] == [""], "the first string is not empty")
        want(len(set(self.strings)) == len(self.strings), "a string is twice")
        self.types = [self.text(one(message(kind), 1)) for kind in top[1]]
        self.comments = [self.text(index) for index in top[13]]
        self.default = self.text(one(top, 14))
        want(self.default in self.types, "no type %s", self.default)
        self.mappings = self.numbered(top[3])
        self.functions = self.numbered(top[5])
        self.locations = self.numbered(top[4])
        self.samples = [self.sample(message(data)) for data in top[2]]

    def text(self, index):
        want(index < len(self.strings), "string %d is not there", index)
        return self.strings[index]

    def numbered(self, items):
        """Messages whose ids must be 1, 2, 3."""
        items = [message(data) for data in items]
        for index, item in enumerate(items):
            want(one(item, 1) == index + 1, "id %d is out of order",
                 one(item, 1))
        return items

    def names_of(self, location):
        """The functions of a location, innermost first."""
        want(0 < location <= len(self.locations), "no location %d", location)
        found = self.locations[location - 1]
        want(one(found, 2) <= len(self.mappings), "no such mapping")
        want(found[4], "location %d has no line", location)
        names = []
        for line in found[4]:
            function = one(message(line), 1)
            want(0 < function <= len(self.functions), "no such function")
            name = self.text(one(self.functions[function - 1], 2))
            want(name, "function %d has no name", function)
            names.append(name)
        return names

    def sample(self, found):
        names = [name for location in packed(one(found, 1) or b"")
                 for name in self.names_of(location)]
        values = packed(one(found, 2))
        want(len(values) == len(self.types), "%d values", len(values))
        labels = {}
        for data in found[3]:
            label = message(data)
            key = self.text(one(label, 1))
            want(key not in labels, "label %s is there twice", key)
            labels[key] = (self.text(one(label, 2)) if label[2]
                           else one(label, 3))
        return names, values, labels

    def sums(self):
        sums, index = Sums(), self.types.index(self.default)
        for names, values, labels in self.samples:
            sums.add(names, values[index])
            # A process that called exec is two of one pid.
            sums.threads.add((labels["pid"], labels["tid"],
                              labels["process"]))
        return sums


def flat(data):
    """Bytes of a file, gzipped or not."""
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


class Speedscope:
    """A speedscope file, checked."""

    def __init__(self, path):
        with open(path, "rb") as source:
            self.top = json.loads(flat(source.read()).decode("utf-8"))
        self.frames = [frame["name"] for frame in
                       self.top["shared"]["frames"]]
        profiles = self.top["profiles"]
        want(0 <= self.top["activeProfileIndex"] < max(len(profiles), 1),
             "no such profile")
        self.sums = Sums()
        for profile in profiles:
            self.read(profile)

    def read(self, profile):
        samples, weights = profile["samples"], profile["weights"]
        want(profile["type"] == "sampled", "type %s", profile["type"])
        want(len(samples) == len(weights), "%d weights", len(weights))
        want(sum(weights) == profile["endValue"] - profile["startValue"],
             "the weights do not add up to the time")
        self.sums.threads.add(profile["name"])
        for stack, weight in zip(samples, weights):
            want(weight >= 0, "a weight of %d", weight)
            want(all(0 <= frame < len(self.frames) for frame in stack),
                 "a frame is not there")
            if stack:
                self.sums.add([self.frames[frame] for frame in stack[::-1]],
                              weight)


class Firefox:
    """A processed profile for the Firefox Profiler, version 66, checked."""
    COLUMNS = {
        "stackTable": "frame prefixOffset",
        "frameTable": "address inlineDepth category subcategory func "
                      "nativeSymbol innerWindowID line column "
                      "originalLocation",
        "funcTable": "name isJS relevantForJS resource source lineNumber "
                     "columnNumber originalLocation",
        "resourceTable": "name host type lib",
        "nativeSymbols": "libIndex address name functionSize",
        "sources": "id filename startLine startColumn sourceMapURL content",
        "sourceLocationTable": "source line column",
    }

    def __init__(self, path):
        with open(path, "rb") as source:
            self.top = json.loads(flat(source.read()).decode("utf-8"))
        self.meta, self.shared = self.top["meta"], self.top["shared"]
        want(self.meta["preprocessedProfileVersion"] == 66, "another version")
        self.categories = self.meta["categories"]
        want([one["name"] for one in self.categories
              if one["color"] == "grey"] == ["Other"], "no grey category")
        self.strings = self.shared["stringArray"]
        self.tables()
        self.stacks = self.read_stacks()
        self.sums, self.idle_ms, self.samples = Sums(), 0, 0
        self.times = {}     # in microseconds, by (pid, tid); of a process
                            # that called exec those of both programs
        for thread in self.top["threads"]:
            self.thread(thread)

    def column(self, table, name, bound, least=0):
        """The values of a column, null or within bounds."""
        values = self.shared[table][name]
        want(all(value is None or least <= value < bound for value in values),
             "%s.%s is out of bounds", table, name)
        return values

    def tables(self):
        for name, columns in self.COLUMNS.items():
            table = self.shared[name]
            want(set(table) == set(columns.split()) | {"length"},
                 "%s has other columns", name)
            for column in columns.split():
                want(len(table[column]) == table["length"],
                     "%s.%s has another length", name, column)
        strings, libs = len(self.strings), len(self.top["libs"])
        for table in ("funcTable", "resourceTable"):
            self.column(table, "name", strings)
        self.column("sources", "filename", strings)
        self.column("resourceTable", "lib", libs)
        self.column("funcTable", "resource",
                    self.shared["resourceTable"]["length"], -1)
        self.column("funcTable", "source", self.shared["sources"]["length"])
        self.column("frameTable", "address", 1 << 32, -1)
        self.column("frameTable", "func", self.shared["funcTable"]["length"])
        kinds = self.column("frameTable", "category", len(self.categories))
        for kind, sub in zip(kinds, self.shared["frameTable"]["subcategory"]):
            want(0 <= sub < len(self.categories[kind]["subcategories"]),
                 "no subcategory %d", sub)

    def read_stacks(self):
        """(prefix or None, name, category) of each stack."""
        frames, stacks = self.shared["frameTable"], []
        offsets = self.shared["stackTable"]["prefixOffset"]
        functions = self.shared["funcTable"]["name"]
        for index, frame in enumerate(self.column("stackTable", "frame",
                                                  frames["length"])):
            want(0 <= offsets[index] <= index, "a stack before its caller")
            stacks.append((index - offsets[index] if offsets[index] else None,
                           self.strings[functions[frames["func"][frame]]],
                           frames["category"][frame]))
        return stacks

    def thread(self, thread):
        samples, markers = thread["samples"], thread["markers"]
        want(isinstance(thread["pid"], str), "a pid that is no text")
        for table in (samples, markers):
            for name, values in table.items():
                want(not isinstance(values, list) or
                     len(values) == table["length"],
                     "%s has another length", name)
        want(all(delta >= 0 for delta in samples["timeDeltas"]),
             "a time before the one before it")
        self.sums.threads.add((thread["pid"], thread["tid"]))
        self.samples += samples["length"]
        self.times.setdefault((int(thread["pid"].split(".")[0]),
                               thread["tid"]), []).extend(
            1000 * time for time in
            itertools.accumulate(samples["timeDeltas"]))
        for stack, weight in zip(samples["stack"], samples["weight"]):
            want(0 <= stack < len(self.stacks), "no stack %d", stack)
            if self.categories[self.stacks[stack][2]]["name"] == "Idle":
                self.idle_ms += weight
            names = []
            while stack is not None:
                names.append(self.stacks[stack][1])
                stack = self.stacks[stack][0]
            self.sums.add(names, weight)


class Callgrind:
    """A callgrind profile, checked.  value: index of the event."""
    NAMED = re.compile(r"(c?fn)=\((\d+)\)(?: (.*))?$")
    FILE = re.compile(r"(?:fl|cfi)=\((\d+)\)(?: (.*))?$")

    def __init__(self, path, value):
        self.names, self.files, self.value = {}, {}, value
        self.sums, self.sums.threads = Sums(), None
        # Functions of several modules may have one name: by number.
        self.events, self.callee, self.function = [], None, None
        self.called, self.out = collections.Counter(), collections.Counter()
        total = None
        with open(path, "rb") as source:
            lines = flat(source.read()).decode("utf-8").splitlines()
        want(lines[0] == "# callgrind format", "another first line")
        for line in lines:
            if line.startswith("totals: "):
                total = int(line.split()[1 + value])
            else:
                self.line(line)
        want(total == self.sums.weight, "the total is %s", total)
        costs = collections.Counter()
        for number, cost in self.out.items():
            costs[self.names[number]] += cost
        for number, cost in self.called.items():
            name = self.names[number]
            want(cost == self.out[number], "%s: called %d, costs %d", name,
                 cost, self.out[number])
            once = name[:-2] if name.endswith("'2") else name
            want(cost <= costs[once], "%s counts more than once", name)

    def line(self, line):
        named = self.NAMED.match(line)
        if line.startswith("events: "):
            self.events = line.split()[1:]
        elif named:
            kind, number, name = named.groups()
            want((name is None) == (number in self.names),
                 "name %s is there twice or never", number)
            self.names.setdefault(number, name)
            if kind == "cfn":
                self.callee = number
            else:
                self.function = number
        elif (file := self.FILE.match(line)):
            self.files.setdefault(file.group(1), file.group(2))
        elif re.match(r"0x[0-9a-f]+ \d+", line):
            numbers = line.split()[2:]
            want(len(numbers) == len(self.events), "%s", line)
            self.cost(int(numbers[self.value]))
        else:
            want(re.match(r"(ob|fl|cob|cfi|calls|desc|cmd|event|pid|version|"
                          r"creator|positions|#)|$", line), "%s", line)

    def cost(self, cost):
        """A cost of the function's own, or of a call."""
        name = self.names[self.function]
        repeated = name.endswith("'2")
        name = name[:-2] if repeated else name
        if self.callee is None:
            self.sums.own[name] += cost
            self.sums.weight += cost
        if not repeated and name != "(root)":
            self.sums.total[name] += cost
        if self.callee is not None:
            self.called[self.callee] += cost
        self.out[self.function] += cost
        self.callee = None

    def name_of(self, label):
        """The function of FILE:FUNCTION, where each may have colons."""
        names, files = set(self.names.values()), set(self.files.values())
        found = {label[end + 1:] for end, letter in enumerate(label)
                 if letter == ":" and label[:end] in files
                 and label[end + 1:] in names}
        want(len(found) == 1, "%s is %d functions", label, len(found))
        return found.pop()


def add_annotated(sums, text, inclusive, profile):
    """Adds what callgrind_annotate lists of a Callgrind; the last of its
    numbers counts."""
    for line in text.splitlines():
        found = re.match(r" *(?:[\d,]+ +(?:\( *[\d.]+%\))? +)*([\d,]+) "
                         r"\( *[\d.]+%\)  (.*?:.*?)(?: \[(\S+)\])?$",
                         line)
        if not found or not re.match(r" *[\d,]+ ", line):
            continue
        cost = int(found.group(1).replace(",", ""))
        name = profile.name_of(found.group(2))
        repeated = name.endswith("'2")
        name = name[:-2] if repeated else name
        if inclusive and not repeated:
            sums.total[name] += cost
        elif not inclusive:
            sums.own[name] += cost
            sums.weight += cost


class PerfScript:
    """Text as of perf script, checked."""
    HEAD = re.compile(r"(\S+) (\d+)/(\d+) \[\d+\] (\d+\.\d{9}): (\d+) "
                      r"([\w-]+):u:$")
    FRAME = re.compile(r"\t *[0-9a-f]+ (.+)\+0x0 \((\S+)\)$")

    def __init__(self, path):
        self.sums, last, stack, weight = Sums(), {}, [], 0
        self.inlined = set()    # names of functions that are, somewhere
        with open(path, "rb") as source:
            lines = flat(source.read()).decode("utf-8").splitlines()
        for line in lines:
            head, frame = self.HEAD.match(line), self.FRAME.match(line)
            if head:
                pid, time = head.group(2), float(head.group(4))
                want(last.get(pid, 0) <= time, "a time before the last")
                last[pid], weight = time, int(head.group(5))
                self.sums.threads.add(head.groups()[:3])
            elif frame:
                stack.append(frame.group(1))
                if frame.group(2) == "inlined":
                    self.inlined.add(frame.group(1))
            else:
                want(line == "" or line.startswith("#"), "%s", line)
                if line == "":
                    self.sums.add(stack, weight)
                    stack = []


def of_text(text):
    """{name: (self, total)} of a text report, and [(name, self)] in the order
    of its flat profile.  Functions of one name are added up."""
    rows, flat = collections.defaultdict(lambda: [0, 0, 0]), []
    for line in text.splitlines():
        found = re.match(r" *\[\d+\] *(\d+) \( *[\d.]+%\) *(\d+) "
                         r"\( *[\d.]+%\)  (.*)$", line)
        if found:
            row = rows[NAME.match(found.group(3)).group(1)]
            row[0] += int(found.group(1))
            row[1] += int(found.group(2))
            row[2] += 1
        found = re.match(r" *(\d+) +[\d.]+%  (.*)$", line)
        if found:
            flat.append((NAME.match(found.group(2)).group(1),
                         int(found.group(1))))
    return rows, flat


def plain(name, known):
    """The name without what the text report adds to it: tiers, a mark."""
    name = name.removesuffix(INLINED)
    while name not in known and TIER.search(name):
        name = TIER.sub("", name)
    return name


def allowed(slack, ns):
    """What a reader may lose of so much: a number, or one for each."""
    return slack(ns) if callable(slack) else slack


def differences(sums, text, unit=1, slack=0, has_stacks=True):
    """What differs in the heaviest 50 functions, in lines.  The text's numbers
    are nanoseconds, `unit` of them are one of the reader's; `slack` is what a
    reader may lose, in nanoseconds (see allowed)."""
    rows, flat = of_text(text)
    own, total = collections.Counter(), collections.Counter()
    count, wrong = collections.Counter(), []
    for name, (self_ns, total_ns, lines) in rows.items():
        name = plain(name, sums.total)
        own[name] += self_ns
        total[name] += total_ns
        count[name] += lines
    for name, _ in flat[:50]:
        name = plain(name, sums.total)
        if (abs(sums.own[name] * unit - own[name])
                > allowed(slack, own[name])):
            wrong.append("Count of %r: %s, text %d"
                         % (name, sums.own[name] * unit, own[name]))
        # Functions of one name in two modules may share a stack.
        least = total[name] if count[name] == 1 else own[name]
        lost = allowed(slack, total[name])
        if has_stacks and not (least - lost <= sums.total[name] * unit
                               <= total[name] + lost):
            wrong.append("Hits of %r: %s, text %d"
                         % (name, sums.total[name] * unit, total[name]))
    return wrong
