# SPDX-License-Identifier: MIT
"""The report's page in a real browser: its numbers are those of the text
report with the same filter, for each selection that its address can say.

Runs in: tests.  Without a Chromium the tests are skipped by name."""
import base64
import json
import math
import random
import re
import subprocess
import unittest

from jprun import HANG_SECONDS, REPORT, Case, agree, decode, lacking
import browser
import pack

EVENTS = tuple(pack.EVENTS)
THREADS = (11, 12, 13, 14)
SECTIONS = 4
SECTION_NS = 1000700        # no whole microseconds
SAMPLES = 1500
ADDRESSES = range(0x10000, 0x10000 + 40 * 16, 16)
HIERARCHY = re.compile(r"^ *(?:\[\d+\] +(\d+) \(.*?%\))? *(\d+) \( *[\d.]+%\)"
                       r" +(\S+)")
READY = "document.getElementById('app').dataset.ready === 'true'"
# {function: [Count, Hits]} of the page's state, and the calls of one.
FUNCTIONS = """(() => {
    const sums = jprof.model.sums(jprof.state), p = jprof.profile, out = {};
    p.names.forEach((name, i) => { if (sums.hits[i] > 0)
        out[name] = [periods(p, sums.count[i]), periods(p, sums.hits[i])]; });
    return out; })()"""
CALLS = """(() => {
    const sums = jprof.model.sums(jprof.state), p = jprof.profile;
    const tree = jprof.model.tree(jprof.state), out = {};
    p.names.forEach((name, i) => { if (sums.hits[i] > 0) out[name] =
        [true, false].map((one) => Object.fromEntries(
            callsOf(tree, sums, i, one).map(([other, weight]) =>
                [p.names[other], periods(p, weight)]))); });
    return out; })()"""


def draw_log(random_, pid):
    """The text of a log of random samples, recursion among them."""
    lines = ["header pid=%d start=9 map=%s period=1 clock=2" % (pid,
                                                               agree.MAP)]
    stacks = [[random_.choice(ADDRESSES) for _ in range(
        random_.randint(1, 25))] for _ in range(60)]
    # On both sides of a section's start within a microsecond, too.
    times = [n * SECTION_NS + step for n in range(1, SECTIONS)
             for step in (-30, 30)]
    times += [random_.randrange(SECTIONS * SECTION_NS)
              for _ in range(SAMPLES - len(times))]
    for number, time in enumerate(times):
        if number % 300 == 0:
            lines.append("chunk size=65536 pid=%d tid=11" % pid)
            lines += ["stack id=s%d frames=%s" % (
                index, ",".join(map(hex, frames)))
                      for index, frames in enumerate(stacks)]
        lines.append("sample time=%d tid=%d weight=%d event=%s stack=s%d" % (
            time, random_.choice(THREADS),
            random_.randrange(1, 1 << random_.randrange(1, 36)),
            random_.choice(EVENTS), random_.randrange(len(stacks))))
    return "\n".join(lines)


class InBrowser(Case):
    check_agreement = False

    @classmethod
    def setUpClass(cls):
        if browser.find() is None:
            raise lacking("chromium")
        cls.browser = browser.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def write_page(self, *logs):
        """The page of these logs; returns its path."""
        with open(self.path("page.html"), "wb") as target:
            target.write(self.output("html", (), logs))
        return self.path("page.html")

    def output(self, form, options, logs):
        """A report of them all."""
        done = subprocess.run(
            [REPORT, "--format=" + form, "--merge", *options, "app", *logs],
            cwd=self.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=HANG_SECONDS, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def go(self, address):
        """The page's state is that of an address."""
        self.browser.run("location.hash = %s; jprof.read()"
                         % json.dumps(address))

    def check_quiet(self):
        self.assertEqual(self.browser.messages, [])
        self.assertEqual(self.browser.dialogs, [])
        self.assertEqual([url for url in self.browser.requests
                          if not url.startswith(("file:", "about:"))], [])


class Numbers(InBrowser):
    def setUp(self):
        super().setUp()
        random_ = random.Random(7)
        runs = []
        for pid in (7, 8):
            name = self.path("jprof-log" + ("" if pid == 7 else "-8"))
            with open(name, "wb") as target:
                target.write(pack.pack(draw_log(random_, pid)))
            runs += decode.load(name)
        agree.write_map(runs, self.dir)
        with open(self.path(agree.MAP), encoding="ascii") as source:
            lines = source.read().splitlines()
        sections = ["%d section n=%d cpu=0" % (max(n * SECTION_NS, 1), n)
                    for n in range(SECTIONS)]
        with open(self.path(agree.MAP), "w", encoding="ascii") as target:
            for line in lines:
                target.write(line + "\n")
                if "perfmap" in line:
                    target.write("\n".join(sections) + "\n")
        self.logs = (self.path("jprof-log"), self.path("jprof-log-8"))
        self.browser.open(self.write_page(*self.logs), READY)

    def text(self, *options):
        """({function: [Count, Hits]}, {function: [callers, callees]}) of the
        text report."""
        found, calls, above, below, at = {}, {}, {}, {}, None
        lines = self.output("text", (*options, "--limit=none"),
                            self.logs).decode().splitlines()
        start = [i for i, line in enumerate(lines)
                 if line == "Hierarchical Profile"]
        for line in lines[start[0] + 4:] if start else []:
            match = HIERARCHY.match(line)
            if line.startswith("----"):
                above, below, at = {}, {}, None
            elif match and match.group(1):
                at = match.group(3)
                found[at] = [int(match.group(1)), int(match.group(2))]
                calls[at] = [above, below]
            elif match:
                (above if at is None else below)[match.group(3)] = int(
                    match.group(2))
            elif found:
                break
        return found, calls

    def test_selections(self):
        """For all, a process, a thread, a section, an event and a time."""
        selections = [("", ()), ("p=0", ("--process=7",)),
                      ("p=1", ("--process=8",)),
                      ("t=0.0011-0.0025", ("--from=0.0011", "--to=0.0025")),
                      ("t=0.000001-0.000999&p=1", ("--process=8",
                       "--from=0.000001", "--to=0.000999"))]
        selections += [("s=%d" % n, ("--start=%d" % n, "--end=%d" % (n + 1)))
                       for n in range(SECTIONS)]
        selections += [("e=%d" % n, ("--event=" + event,))
                       for n, event in enumerate(EVENTS)]
        for n, tid in enumerate(self.browser.run(
                "jprof.profile.threads.map((one) => one.process === 0 "
                "? one.tid : 0)")):
            if tid:
                selections.append(("th=%d" % n, (
                    "--process=7", "--only-thread=%d" % tid)))
        for address, options in selections:
            with self.subTest(address=address):
                self.go(address)
                found, calls = self.text(*options)
                self.assertGreater(len(found), 10)
                self.assertEqual(self.browser.run(FUNCTIONS), found)
                self.assertEqual(self.browser.run(CALLS), calls)
        self.check_quiet()

    def test_disjoint_ranges(self):
        """Sums over ranges, threads and sections are the whole."""
        whole = self.browser.run("jprof.model.sums(jprof.state).whole")
        cuts = [0, 0.000317, 0.0011, 0.002222, 0.9]
        lists = [["t=%s-%s" % pair for pair in zip(cuts, cuts[1:])],
                 ["th=%d" % n for n in range(2 * len(THREADS))],
                 ["s=%d" % n for n in range(SECTIONS)],
                 ["e=%d" % n for n in range(len(EVENTS))]]
        for addresses in lists:
            parts = 0
            for address in addresses:
                self.go(address)
                parts += self.browser.run(
                    "jprof.model.sums(jprof.state).whole")
            self.assertEqual(parts, whole, addresses)

    def test_operations(self):
        """Keep and drop are -i and -e; what hiding and collapsing leave adds
        up to the whole; the table shows what was counted."""
        whole = self.browser.run("jprof.model.sums(jprof.state).whole")
        for fn in (0, 5, 11):
            name = self.browser.run("jprof.profile.names[%d]" % fn)
            for op, option in (("k", "-i"), ("d", "-e")):
                self.go("o=%s%d" % (op, fn))
                self.assertEqual(self.browser.run(FUNCTIONS),
                                 self.text(option, name)[0])
            self.go("o=h%d&c=1" % fn)
            sums = self.browser.run(FUNCTIONS)
            self.assertNotIn(name, sums)
            self.assertEqual(self.browser.run(
                "jprof.model.sums(jprof.state).whole"), whole)
            self.go("o=f%d" % fn)
            self.assertEqual(self.browser.run(
                "jprof.model.sums(jprof.state).whole"),
                self.text("-i", name)[0][name][1])
        self.go("c=1")
        collapsed = self.browser.run(FUNCTIONS)
        found = self.text()[0]
        self.assertEqual({name: one[0] for name, one in collapsed.items()},
                         {name: one[0] for name, one in found.items()})
        self.go("v=functions")
        rows = self.browser.run(
            "[...document.querySelectorAll('.body .row')].map((row) => "
            "[row.querySelector('.name').textContent, "
            "row.querySelector('.n').textContent.replaceAll(',', '')])")
        self.assertGreater(len(rows), 10)
        for name, count in rows:
            self.assertEqual(int(count), found[name][0])

    def test_compare(self):
        """Functions by the difference of their shares, what chance may have
        made in grey; stacks that are in one of two ranges alone."""
        ranges = ("0.0011-0.0012", "0.002-0.0021")
        sums, stacks = [], []
        for one in ranges:
            self.go("t=" + one)
            sums.append(self.browser.run(
                "(() => { const s = jprof.model.sums(jprof.state); return "
                "{count: [...s.count], hits: [...s.hits], whole: s.whole, "
                "samples: s.samples}; })()"))
            begin, end = one.split("-")
            text = self.output("collapsed", ("--from=" + begin, "--to=" + end),
                               self.logs).decode()
            paths = [tuple(line.rsplit(" ", 1)[0].split(";"))
                     for line in text.splitlines()]
            stacks.append({path[:n] for path in paths
                           for n in range(1, len(path) + 1)})
        self.go("v=functions&t=%s&b=%s" % ranges)
        items = self.browser.run(
            "jprof.compared.items.map((one) => one.node ? {path: pathTo("
            "jprof.compared.tree, one.node).map((fn) => jprof.profile.names["
            "fn]), now: one.sums === jprof.compared.now} : one.title ? one : "
            "{fn: one.fn, ...Object.fromEntries(['count', 'hits'].map((by) => "
            "[by, jprof.compared.comparison.ofFunction(by, one.fn)]))})")
        rows = [one for one in items if "fn" in one]
        self.assertEqual(len(rows), sum(
            a > 0 or b > 0 for a, b in zip(sums[0]["hits"], sums[1]["hits"])))
        for row in rows:
            for by in ("count", "hits"):
                self.check_difference(row[by], sums, by, row["fn"], len(rows))
        self.assertEqual({row["count"]["isSure"] for row in rows},
                         {False, True})
        order = [(not row["count"]["isSure"], -abs(row["count"]["step"]))
                 for row in rows]
        self.assertEqual(order, sorted(order))
        for number, is_now in ((0, True), (1, False)):
            alone = {path for path in stacks[number] - stacks[1 - number]
                     if path[:-1] in stacks[1 - number] or len(path) == 1}
            shown = {tuple(one["path"]) for one in items
                     if one.get("now") is is_now}
            self.assertTrue(shown)
            self.assertLessEqual(shown, alone)
            self.assertEqual(len(shown), min(len(alone), 40))
        self.check_quiet()

    def check_difference(self, row, sums, by, fn, comparisons):
        """A difference of shares and whether it is sure, as anew."""
        a, b = (one[by][fn] / one["whole"] for one in sums)
        n, m = (one["samples"] for one in sums)
        mean = (a * n + b * m) / (n + m)
        error = math.sqrt(max(mean * (1 - mean), 1e-12) * (1 / n + 1 / m))
        self.assertAlmostEqual(row["step"], 100 * (a - b), places=9)
        self.assertEqual(row["isSure"], abs(a - b) > error * math.sqrt(
            4 + 2 * math.log(comparisons)))

    def test_search(self):
        """What matches is what -i keeps."""
        self.go("q=%2Fa100%5B02%5D0%2F")
        marked = self.browser.run(
            "jprof.model.matched(jprof.state).weight")
        kept = self.text("-i", "a10000", "-i", "a10020")[0]
        self.go("q=&o=q%2Fa100%5B02%5D0%2F")
        self.assertEqual(self.browser.run(FUNCTIONS), kept)
        self.assertEqual(self.browser.run(
            "jprof.model.sums(jprof.state).whole"), marked)

    def test_marked_on_the_timeline(self):
        """The samples of the chosen function are marked there, those of a
        search where there is one."""
        marked = ("(() => { const by = jprof.timeline.matched(jprof.state); "
                  "const p = jprof.profile; let sum = 0; for (let i = 0; i < "
                  "p.stack.length; i++) sum += by[p.stack[i]] ? p.weight[i] "
                  ": 0; return periods(p, sum); })()")
        found = self.text()[0]
        for fn in (0, 5, 11):
            name = self.browser.run("jprof.profile.names[%d]" % fn)
            self.go("f=%d" % fn)
            self.assertEqual(self.browser.run(marked), found[name][1])
        self.go("f=5&q=" + name)
        self.assertEqual(self.browser.run(marked), found[name][1])
        self.go("f=-1")
        self.assertIsNone(self.browser.run(
            "jprof.timeline.matched(jprof.state)"))

    def test_address(self):
        """Opening the address again gives the same view and numbers, and
        going back undoes."""
        address = "v=functions&t=0.0011-0.0025&th=2&o=h3&c=1&sort=hits"
        self.go(address)
        state = self.browser.run("writeState(jprof.state)")
        sums = self.browser.run(FUNCTIONS)
        self.browser.open(self.path("page.html") + "#" + state, READY)
        self.assertEqual(self.browser.run("writeState(jprof.state)"), state)
        self.assertEqual(self.browser.run(FUNCTIONS), sums)
        self.browser.run("jprof.operate('h', 5)")
        self.assertNotEqual(self.browser.run(FUNCTIONS), sums)
        self.browser.run("jprof.back()")
        self.browser.wait("writeState(jprof.state) === %s"
                          % json.dumps(state))
        self.assertEqual(self.browser.run(FUNCTIONS), sums)

    def test_drag(self):
        """Dragging on the timeline selects the time under it."""
        place = self.browser.run(
            "(() => { const r = jprof.timeline.element.getBoundingClientRect()"
            ", {label, width} = jprof.timeline.place(); return [r.left + label,"
            " width, r.top + 40]; })()")
        left, width, top = place
        self.browser.drag((left + width * 0.25, top), (left + width * 0.5,
                                                       top))
        self.browser.wait("jprof.state.range")
        last = self.browser.run("jprof.profile.last")
        first, end = self.browser.run("jprof.state.range")
        self.assertAlmostEqual(first / last, 0.25, delta=0.01)
        self.assertAlmostEqual(end / last, 0.5, delta=0.01)

    def test_drag_from_behind_the_end(self):
        """A drag that begins right of the end is one step to go back."""
        right, top = self.browser.run(
            "(() => { const r = jprof.timeline.element.getBoundingClientRect()"
            "; return [r.right, r.top + 10]; })()")
        self.browser.run("jprof.change({search: '1'})")
        for kind, x in (("mousePressed", right - 2), ("mouseMoved", right - 8),
                        ("mouseReleased", right - 8)):
            self.browser.call("Input.dispatchMouseEvent", type=kind, x=x,
                              y=top, button="left", buttons=1, clickCount=1)
        self.assertIsNone(self.browser.run("jprof.state.range"))
        for kind, x in (("mousePressed", right - 2), ("mouseMoved", right - 8),
                        ("mouseMoved", right - 300),
                        ("mouseReleased", right - 300)):
            self.browser.call("Input.dispatchMouseEvent", type=kind, x=x,
                              y=top, button="left", buttons=1, clickCount=1)
        self.browser.wait("jprof.state.range")
        self.browser.run("jprof.back()")
        self.browser.wait("!jprof.state.range")
        self.assertEqual(self.browser.run("jprof.state.search"), "1")


class Print(InBrowser):
    def test_pages(self):
        """On paper it is the plain tables, on 20 pages at most, however many
        functions there are and however long their names."""
        random_ = random.Random(9)
        log = self.path("jprof-log")
        text = draw_log(random_, 7)
        # Each address becomes 30: about 1,000 functions.
        text = re.sub(r"0x[0-9a-f]+", lambda found: hex(
            int(found.group(), 16) * 64 + random_.randrange(30)), text)
        with open(log, "wb") as target:
            target.write(pack.pack(text))
        agree.write_map(decode.load(log), self.dir)
        with open(self.path(agree.NAMES), encoding="ascii") as source:
            names = source.read().splitlines()
        self.assertGreater(len(names), 600)
        with open(self.path(agree.NAMES), "w", encoding="ascii") as target:
            for line in names:
                target.write(line + "::word<int>" * 400 + "()\n")
            size = target.tell()
        with open(self.path(agree.MAP), encoding="ascii") as source:
            lines = source.read()
        with open(self.path(agree.MAP), "w", encoding="ascii") as target:
            target.write(re.sub(r"size=\d+", "size=%d" % size, lines))
        self.browser.open(self.write_page(log), READY)
        paper = base64.b64decode(self.browser.call("Page.printToPDF")["data"])
        pages = len(re.findall(rb"/Type\s*/Page\b", paper))
        self.assertIn("word", self.browser.run("jprof.profile.names[0]"))
        self.assertGreater(pages, 3)
        self.assertLessEqual(pages, 20)


if __name__ == "__main__":
    unittest.main()
