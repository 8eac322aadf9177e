# SPDX-License-Identifier: MIT
"""Marks of the program in the page and in the Firefox Profiler's format: each
is there as it is in the log, and selecting one gives the numbers of the text
report of its time.  Runs in: tests."""
import json
import random
import re
import unittest

from jprun import agree, decode
import exports
import pack
from test_page import READY, FUNCTIONS, InBrowser, draw_log
from test_page_safety import ELEMENTS, FOREIGN, NASTY

US = 1000
# (name, from, to or None, tid): times in us; tid 99 has no samples.
SPANS = [("request", 100, 900, 11), ("request", 300, 500, 12),
         ("query", 350, 420, 11), ("idle", 50, 60, 99)]
POINTS = [("tick", 200, 11), ("tick", 700, 13)]
MARKS = """(() => { const p = jprof.profile, m = p.marks;
    return [...m.name].map((name, i) => [m.names[name], m.from[i], m.to[i],
        m.kind[i], m.thread[i] < 0 ? -1 : p.threads[m.thread[i]].tid]); })()"""


def quoted(name):
    return "'" + name.replace("'", "'\"'\"'") + "'"


class PageMarks(InBrowser):
    def write_marks(self, names=()):
        lines = [draw_log(random.Random(3), 7),
                 "chunk size=65536 pid=7 tid=1"]
        for name, start, end, tid in SPANS:
            lines += ["mark time=%d tid=%d kind=begin name=%s" % (
                start * US, tid, name), "mark time=%d tid=%d kind=end name=%s"
                      % (end * US, tid, name)]
        lines += ["mark time=%d tid=%d name=%s" % (at * US, tid, name)
                  for name, at, tid in POINTS]
        lines += ["mark time=%d tid=11 name=%s" % ((500 + n) * US, quoted(name))
                  for n, name in enumerate(names)]
        log = self.path("jprof-log")
        with open(log, "wb") as target:
            target.write(pack.pack("\n".join(lines)))
        agree.write_map(decode.load(log), self.dir)
        # The profile begins at 0: times in the page are those of the marks.
        with open(self.path(agree.MAP), "a", encoding="ascii") as target:
            target.write("1 section n=0 cpu=0\n")
        return log

    def test_nested(self):
        """Spans that overlap lie below each other in a lane, and are chosen
        where they are drawn."""
        self.browser.open(self.write_page(self.write_marks()), READY)
        levels = ("(() => { const m = jprof.profile.marks; return "
                  "[...nestMarks(m, marksOf(jprof.profile, {process: %d, "
                  "thread: jprof.profile.threads.findIndex((one) => one.tid "
                  "=== %d)}))].map(([i, level]) => [m.names[m.name[i]], "
                  "m.from[i], level]); })()")
        self.assertEqual(self.browser.run(levels % (-1, 0)), [
            ["idle", 50, 0], ["request", 100, 0], ["request", 300, 1],
            ["query", 350, 2]])
        self.assertEqual(self.browser.run(levels % (0, 11)), [
            ["request", 100, 0], ["query", 350, 1]])
        chosen = self.browser.run("""(() => {
            const lane = document.querySelector('.timeline canvas.lane');
            const box = lane.getBoundingClientRect();
            const {marks, last} = jprof.profile;
            return [1, 4, 7].map((y) => { const i = jprof.timeline.markUnder({
                target: lane, clientX: box.left + 400 / last * box.width,
                clientY: box.top + y}); return marks.from[i]; }); })()""")
        self.assertEqual(chosen, [100, 300, 350])

    def test_measures_of_firefox(self):
        """What its file of markers says is there as the log's own marks are,
        hostile names too, and selects the same time."""
        log = self.write_marks()
        with open(self.path("marker-7.txt"), "w", encoding="utf-8") as target:
            for name in ["load", *NASTY]:
                if "\0" not in name:
                    target.write("%d %d %s\n" % (150 * US, 950 * US, name))
        self.browser.open(self.write_page(log), READY)
        marks = [mark[1:3] for mark in self.browser.run(MARKS)
                 if mark[0] == "load"]
        self.assertEqual(marks, [[150, 950]])
        self.browser.run("jprof.change({view: 'marks'})")
        self.browser.run("jprof.change({view: 'functions', range: markRange("
                         "jprof.profile, jprof.profile.marks.name.findIndex("
                         "(name) => jprof.profile.marks.names[name] === "
                         "'load'))})")
        self.assertEqual(self.browser.run(FUNCTIONS), self.text(
            log, "--from=0.00015", "--to=0.00095"))
        self.check_quiet()
        self.assertFalse(set(self.browser.run(ELEMENTS)) & FOREIGN)

    def text(self, log, *options):
        """{function: [Count, Hits]} of the text report."""
        out = self.output("text", (*options, "--limit=none"), [log]).decode()
        return {found[2]: [int(found[0]), int(found[1])] for found in
                re.findall(r"(?m)^ *\[\d+\] +(\d+) \(.*?%\) *(\d+) "
                           r"\( *[\d.]+%\) +(\S+)", out)}

    def test_all_there(self):
        self.browser.open(self.write_page(self.write_marks()), READY)
        wanted = [[name, start, end, 1, tid if tid < 20 else -1]
                  for name, start, end, tid in SPANS]
        wanted += [[name, at, at, 0, tid] for name, at, tid in POINTS]
        self.assertEqual(sorted(self.browser.run(MARKS)), sorted(wanted))
        self.check_quiet()

    def test_select(self):
        """A span in the list selects its time: the numbers are those of the
        text report with that --from and --to."""
        log = self.write_marks()
        self.browser.open(self.write_page(log), READY)
        self.browser.run("jprof.change({view: 'marks'})")
        for name, start, end, _ in SPANS[:3]:
            self.browser.run("""(() => { const v = jprof.views.marks;
                v.opened = new Set(v.groups.map((one) => one.name)); v.list();
                v.open(v.items.findIndex((one) => one.mark >= 0
                    && jprof.profile.marks.from[one.mark] === %d)); })()"""
                             % start)
            self.assertEqual(self.browser.run("jprof.state.range"),
                             [start, end], name)
            self.assertEqual(
                self.browser.run(FUNCTIONS),
                self.text(log, "--from=%.6f" % (start / 1e6),
                          "--to=%.6f" % (end / 1e6)), name)

    def test_click(self):
        """A click at the top of a lane selects the span that is drawn there,
        below them the shortest one of that time."""
        self.browser.open(self.write_page(self.write_marks()), READY)
        place = self.browser.run("""(() => {
            const row = [...document.querySelectorAll('.timeline [data-row]')]
                .find((one) => one.textContent.includes(' 11'));
            const box = row.querySelector('canvas').getBoundingClientRect();
            return [box.left, box.width, box.top,
                jprof.profile.last]; })()""")
        left, width, top, last = place
        for us, y, wanted in ((200, 3, [100, 900]), (380, 1, [100, 900]),
                              (380, 4, [350, 420]), (380, 8, [350, 420])):
            if us == 200:
                us = 150
            at = (left + us / last * width, top + y)
            self.browser.drag(at, at)
            self.browser.wait("jprof.state.range")
            if width * 70 / last > 10:  # wide enough to be hit alone
                self.assertEqual(self.browser.run("jprof.state.range"), wanted)

    def test_hostile_names(self):
        names = [name.replace("\0", "")[:200] for name in NASTY]
        self.browser.open(self.write_page(self.write_marks(
            [name for name in names if name])), READY)
        self.browser.run("jprof.change({view: 'marks'}); (() => {"
                         "const v = jprof.views.marks; v.opened = new Set("
                         "v.groups.map((one) => one.name)); v.list(); "
                         "v.rows.select(5); })()")
        self.check_quiet()
        self.assertFalse(set(self.browser.run(ELEMENTS)) & FOREIGN)
        self.assertNotRegex(self.browser.run("document.body.textContent"),
                            "[\u202a-\u202e\u2066-\u2069\x1b]")

    def test_firefox(self):
        log = self.write_marks()
        with open(self.path("firefox.json"), "wb") as target:
            target.write(self.output("firefox", (), [log]))
        exports.Firefox(self.path("firefox.json"))      # checks the tables
        with open(self.path("firefox.json"), encoding="utf-8") as source:
            profile = json.load(source)
        strings = profile["shared"]["stringArray"]
        schemas = {one["name"] for one in profile["meta"]["markerSchema"]}
        found = []
        for thread in profile["threads"]:
            rows = thread["markers"]
            for i in range(rows["length"]):
                self.assertIn(rows["data"][i]["type"], schemas)
                if rows["data"][i]["type"] == "jprof-mark":
                    self.assertEqual(rows["phase"][i],
                                     int(rows["endTime"][i] is not None))
                    found.append((
                        strings[rows["name"][i]], rows["startTime"][i],
                        rows["endTime"][i], thread["tid"]))
        first = profile["threads"][0]["tid"]
        wanted = [(name, start / US, end / US, tid if tid < 20 else first)
                  for name, start, end, tid in SPANS]
        wanted += [(name, at / US, None, tid) for name, at, tid in POINTS]
        self.assertEqual(sorted(found, key=str), sorted(wanted, key=str))


if __name__ == "__main__":
    unittest.main()
