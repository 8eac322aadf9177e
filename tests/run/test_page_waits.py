# SPDX-License-Identifier: MIT
"""What blocked, in the report's page of a profile of real time: the page begins
with it, its numbers are those of the text report for each selection, and a
click leads to where it was.

Runs in: tests.  Without a Chromium the tests are skipped by name."""
import json
import random
import re
import unittest

from test_page import READY, InBrowser
from test_page_safety import CONTRAST
import pack

PERIOD = 4000000
LIBC = 0x700000             # of a file that is not there: names are modules
PLACES = {0x10000: "main", 0x10100: "take_lock", 0x10200: "ask_database",
          0x10300: "compute", 0x10400: "pool"}
# Of the functions above each, and whether the C library is below.
STACKS = {"lock": (0x10110, 0x10010), "ask": (0x10210, 0x10010),
          "compute": (0x10310, 0x10010), "idle": (0x10410,)}
WAITS = """(() => jprof.model.waits(jprof.state).map((row) =>
    [jprof.views.waits.name(row), row.time / 1e9, row.error / 1e9,
    row.threads, row.idle, row.idleTime / 1e9]))()"""
ROWS = """[...document.querySelectorAll('.waits .row')].map((row) =>
    [...row.children].map((one) => one.textContent))"""


class Waits(InBrowser):
    check_first_frames = False

    def setUp(self):
        super().setUp()
        self.random = random.Random(5)
        self.log = self.path("jprof-log")
        lines = ["header pid=7 start=9 map=jprof-map period=%d mono=1 "
                 "clock=3" % PERIOD]
        for tid in (11, 12, 13):
            lines += self.thread(tid, ("lock", "ask", "compute"), 300)
        lines += self.thread(14, ("idle",), 60)
        lines += self.thread(15, ("idle",), 60)
        with open(self.log, "wb") as target:
            target.write(pack.pack("\n".join(lines)))
        with open(self.path("names"), "w", encoding="ascii") as target:
            for address, name in PLACES.items():
                target.write("%x 100 %s\n" % (address, name))
            size = target.tell()
        with open(self.path("jprof-map"), "w", encoding="ascii") as target:
            target.write(
                "1 jprof-map version=1 pid=7 start=9\n"
                "1 process pid=7 ppid=1 exe=/bin/server cmdline=server%%00\n"
                "1 anon start=10000 end=20000\n"
                "1 module start=%x end=%x offset=0 dev=8:1 inode=6 path=/none/libc.so.6\n"
                "1 perfmap path=/x dev=0:1 inode=1 size=%d saved=names\n"
                "1 section n=0 cpu=0\n"
                "9000000000 exit cpu=0\n" % (LIBC, LIBC + 0x1000, size))
        self.open()

    def open(self, address=""):
        self.browser.open(self.write_page(self.log)
                          + ("#" + address if address else ""), READY)

    def thread(self, tid, kinds, count):
        """Stays of a few samples at one place each, as real time has them."""
        draw, time, lines = self.random, 1000000, []
        for number in range(count):
            if number % 200 == 0:
                lines.append("chunk size=65536 pid=7 tid=%d" % tid)
                lines += ["stack id=%s frames=%s" % (name, ",".join(map(hex, (
                    *((LIBC + 0x10,) if name != "compute" else ()), *frames))))
                          for name, frames in STACKS.items()]
            if number % 5 == 0:
                kind = draw.choice(kinds)
            weight = PERIOD * draw.choice((1, 1, 1, 4, 9))
            lines.append("sample time=%d tid=%d weight=%d event=%s stack=%s" % (
                time + draw.randrange(weight // 1000) * 1000, tid, weight,
                "running" if kind == "compute" else "blocked", kind))
            time += weight
        return lines + self.ending(tid, time, kinds)

    @staticmethod
    def ending(tid, time, kinds):
        """A long wait, another one that was found within its stratum, and the
        thread's end in that: the rest is proven, or guessed."""
        guessed = 1000 if tid % 2 else 0
        first, other = kinds[0], kinds[1 % len(kinds)]
        return ["sample time=%d tid=%d weight=%d event=blocked stack=%s" % (
            time + when, tid, periods * PERIOD, kind)
                for when, periods, kind in (
                    (90 * PERIOD, 100, first), (110 * PERIOD, 9, other),
                    (110 * PERIOD + guessed, 5, other))]

    def summary(self, *options):
        """[name, blocked s, error, threads, idle threads, their s] of each."""
        rows = []
        for line in self.output("summary", options, [self.log]).decode(
                ).splitlines():
            if line.startswith("wait: "):
                fields, name = line[6:].split(" name=", 1)
                values = dict(one.split("=") for one in fields.split())
                rows.append([name] + [float(values[one]) for one in (
                    "blocked_s", "error_s", "threads", "idle", "idle_s")])
        return rows

    def test_numbers(self):
        """For all, for a time, for threads, and of the event itself."""
        tids = self.browser.run("jprof.profile.threads.map((one) => one.tid)")
        for address, options in (
                ("", ()), ("t=0.3-1.7", ("--from=0.3", "--to=1.7")),
                ("th=11", ("--only-thread=11",)),
                ("th=14", ("--only-thread=14",)),
                ("t=2-2.5&th=12", ("--from=2", "--to=2.5",
                                   "--only-thread=12"))):
            with self.subTest(address=address):
                self.go(re.sub(r"th=(\d+)", lambda found: "th=%d" % tids.index(
                    int(found.group(1))), address))
                wanted, found = self.summary(*options), self.browser.run(WAITS)
                self.assertTrue(wanted)
                self.assertEqual([row[0] for row in found],
                                 [row[0] for row in wanted])
                for ours, theirs in zip(found, wanted):
                    for one, other in zip(ours[1:], theirs[1:]):
                        self.assertAlmostEqual(one, other, places=5)
        self.go("e=2")
        self.assertEqual(self.browser.run(WAITS), self.browser.run(
            WAITS.replace("(jprof.state)", "({...jprof.state, event: -1})")))
        self.go("e=1")
        self.assertEqual(self.browser.run(WAITS), [])
        self.check_quiet()

    def test_waits_that_were_none_there(self):
        """A place that blocked at another time, and where the selection has
        only waiting for a CPU, is outside of the wait."""
        lines = ["header pid=7 start=9 map=jprof-map period=%d mono=1 "
                 "clock=3" % PERIOD, "chunk size=65536 pid=7 tid=11",
                 "stack id=lock frames=%#x,0x10110,0x10010" % (LIBC + 0x10),
                 "stack id=other frames=%#x,0x10120,0x10010" % (LIBC + 0x20),
                 "stack id=compute frames=0x10310,0x10010"]
        for number in range(200):
            kind = ("lock", "other", "compute")[number // 2 % 3]
            event = ("running" if kind == "compute" else "ready"
                     if kind == "other" and number < 100 else "blocked")
            lines.append("sample time=%d tid=11 weight=%d event=%s stack=%s" % (
                1000000 + number * PERIOD, PERIOD, event, kind))
        with open(self.log, "wb") as target:
            target.write(pack.pack("\n".join(lines)))
        self.open()
        for address, options in (
                ("t=0-0.3", ("--from=0", "--to=0.3")), ("", ()),
                ("e=2", ("--event=blocked",)),
                ("e=2&t=0-0.3", ("--event=blocked", "--from=0", "--to=0.3"))):
            with self.subTest(address=address):
                self.go(address)
                wanted, found = self.summary(*options), self.browser.run(WAITS)
                self.assertEqual(len(wanted), 1)
                for one, other in zip(found[0][1:], wanted[0][1:]):
                    self.assertAlmostEqual(one, other, places=5)

    def test_the_page_begins_with_it(self):
        """On the first screen, wide and narrow: time, share, error, threads,
        and whose call it was; those that were idle in a row of their own."""
        for width, height in ((1400, 900), (390, 844)):
            self.browser.resize(width, height)
            self.open()
            self.assertEqual(self.browser.run("jprof.state.view"), "waits")
            self.assertEqual(self.browser.run(
                "document.querySelector('[role=tab]').textContent"), "Blocked")
            rows = self.browser.run(ROWS)
            self.assertEqual(len(rows), 3)
            for row, wait in zip(rows[:2], self.summary()):
                self.assertRegex(" ".join(row), r"^\d+\.\d{3} \d+\.\d%% "
                                 r"\d\.\d{3} 3 J%s$" % re.escape(wait[0]))
            self.assertIn("2 threads idle in pool: [libc.so.6]", rows[2][-1])
            self.assertLess(self.browser.run(
                "document.querySelector('.waits .row:last-child')"
                ".getBoundingClientRect().bottom"), height)
            self.assertLessEqual(self.browser.run(
                "document.documentElement.scrollWidth"), width)
        self.browser.resize(1400, 900)

    def test_a_click_leads_there(self):
        """To the blocked time of that function and who called it; Back leads
        back, and the address says all of it."""
        self.browser.run("document.querySelectorAll('.waits .row button')[1]"
                         ".click()")
        state = self.browser.run("[jprof.state.view, EVENTS[jprof.state.event],"
                                 " jprof.profile.names[jprof.state.fn]]")
        second = self.summary()[1]
        self.assertEqual(state, ["flame", "blocked", second[0].split(":")[0]])
        whole = self.browser.run("jprof.model.sums(jprof.state).whole / 1e9")
        self.assertAlmostEqual(whole, second[1], places=6)
        self.assertEqual(self.browser.run(
            "jprof.views.flame.boxes.map((box) => jprof.profile.names["
            "jprof.views.flame.tree.fn[box.node]] || '')"),
                         ["", "main", second[0].split(":")[0],
                          second[0].split(": ")[1]])
        address = self.browser.run("jprof.written")
        self.browser.run("jprof.back()")
        self.browser.wait("jprof.state.view === 'waits'")
        self.open(address)
        self.assertEqual(self.browser.run("jprof.state.view"), "flame")
        self.assertAlmostEqual(self.browser.run(
            "jprof.model.sums(jprof.state).whole / 1e9"), whole, places=6)

    def test_search(self):
        """Leaves the rows whose function or call it finds; their shares are of
        all that blocked."""
        rows = self.browser.run(ROWS)
        self.browser.run("jprof.change({search: 'lock'})")
        found = self.browser.run(ROWS)
        self.assertEqual(found, [row for row in rows if "lock" in row[-1]])
        self.assertEqual(len(found), 1)
        self.browser.run("jprof.change({search: 'libc'})")
        self.assertEqual(self.browser.run(ROWS), rows)
        self.browser.run("jprof.change({search: 'nowhere'})")
        self.assertEqual(self.browser.run(ROWS), [])
        self.assertIn("finds none of the 3 functions", self.browser.run(
            "document.querySelector('.waits .note').textContent"))
        self.browser.run("jprof.change({search: ''})")
        self.assertEqual(self.browser.run(ROWS), rows)

    def test_keys_and_roles(self):
        """The list is reached and used by keys; its figures are cells."""
        self.browser.key("2")
        self.assertEqual(self.browser.run("jprof.state.view"), "flame")
        self.browser.key("1")
        self.assertEqual(self.browser.run("jprof.state.view"), "waits")
        self.assertEqual(self.browser.run(
            "document.activeElement.getAttribute('role')"), "grid")
        self.browser.key("ArrowDown")
        self.assertIn(self.browser.run("jprof.profile.names[jprof.state.fn]")
                      + ":", self.summary()[1][0])
        self.browser.key("Enter")
        self.assertEqual(self.browser.run(
            "[jprof.state.view, jprof.state.event]"), ["flame", 2])
        self.assertTrue(self.browser.run("document.querySelector('.body')"
                                         ".contains(document.activeElement)"))
        self.go("v=waits")
        self.assertEqual(self.browser.run(
            "[...document.querySelector('.waits .row').children].map((one) => "
            "one.getAttribute('role'))"), ["gridcell"] * 5)

    def test_colours(self):
        for width in (1400, 390):
            for dark in (False, True):
                self.browser.resize(width, 844, dark)
                self.open()
                with self.subTest(width=width, dark=dark):
                    self.assertEqual(self.browser.run(CONTRAST), [])
        self.browser.resize(1400, 900)

    def test_other_profiles(self):
        """One of CPU time begins with the flame graph, and has no such tab;
        its address says so to one of real time as well."""
        with open(self.log, "wb") as target:
            target.write(pack.pack(
                "header pid=7 start=9 map=jprof-map period=4000000\n"
                "chunk size=4096 pid=7 tid=11\nstack id=s frames=0x10101\n"
                "sample time=5000000 tid=11 weight=4000000 event=cpu stack=s"))
        self.open()
        self.assertEqual(self.browser.run(
            "[jprof.state.view, jprof.profile.waits]"), ["flame", None])
        self.assertNotIn("Blocked", self.browser.run(
            "[...document.querySelectorAll('[role=tab]:not([hidden])')]"
            ".map((one) => one.textContent)"))
        self.go("v=waits")
        self.assertIn("--wall", self.browser.run(
            "document.querySelector('.waits .note').textContent"))
        self.check_quiet()

    def test_damage(self):
        """A flipped bit of the block leaves the tables and a sentence."""
        page = self.write_page(self.log)
        with open(page, "rb") as source:
            whole = bytearray(source.read())
        start = whole.index(b'id="jprof-waits">') + 17
        end = whole.index(b"<", start)
        for place in [start, end - 4] + [self.random.randrange(start, end)
                                         for _ in range(6)]:
            damaged = bytearray(whole)
            damaged[place] = ord("A") if damaged[place] != ord("A") else 66
            with open(self.path("damaged.html"), "wb") as target:
                target.write(damaged)
            with self.subTest(place=place):
                self.browser.open(
                    self.path("damaged.html"), "document."
                    "getElementById('lack').textContent.includes('damaged')")
                self.assertGreater(self.browser.run(
                    "document.querySelector('#waits').offsetHeight"), 50)
        self.assertEqual(json.dumps(self.browser.messages), "[]")


if __name__ == "__main__":
    unittest.main()
