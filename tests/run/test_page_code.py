# SPDX-License-Identifier: MIT
"""Code in the report's page: its Counts, by instruction and by source line, are
those of --annotate with the same filter, for native and JIT code, for each
selection; inlined code folds; the launcher's page has the sources.

Runs in: tests.  Without a Chromium the tests are skipped by name."""
import os
import random
import re
import subprocess
import unittest

from dwarfs import SOURCE
from jprun import BUILD, need
from nativecode import BASE, MAP, RUN, NativeCode
from test_annotate import CODE, DUMP_LINE, dump, lines, load
from test_page import EVENTS, READY, InBrowser
import pack         # the path is jprun's

JPROF = os.path.join(BUILD, "jprof")
JIT = 0x20000
# What the page's code view has of the chosen function.
SHOWN = """(async () => {
    const view = jprof.views.code, p = jprof.profile;
    const code = await jprof.code(), out = {rows: [], lines: {}};
    const sums = weighLines(p, code, jprof.state.fn,
        jprof.spots(jprof.state, code));
    for (const group of sums.groups)
        for (const line of group.lines.values())
            if (line.total > 0)
                out.lines[group.text + ' ' + line.line] = [periods(p, line.self),
                        periods(p, line.total)];
    for (const item of view.items)
        if (item.kind === 'code' && item.self > 0)
            out.rows.push([item.place, periods(p, item.self)]);
    return out; })()"""


class Code(InBrowser, NativeCode):
    def setUp(self):
        super().setUp()
        self.random = random.Random(3)
        self.app = self.build("app", "-Wl,--build-id")
        self.code_at = self.code(self.app, *self.extent(self.app, RUN + "("))

    def draw(self, pid, start):
        """A log of samples in native and JIT code, in two threads, of each
        event, at any time of four seconds."""
        draw = self.random
        text = "header pid=%d mono=1000000000 machine=62\n" % pid
        mains = self.code(self.app, *self.extent(self.app, "main"))
        for number in range(600):
            if number % 50 == 0:
                text += "chunk size=65536 tid=%d\n" % pid
            leaf = start + draw.choice(self.code_at)
            if draw.random() < 0.3:
                leaf = JIT + draw.choice((0, 1, 4, 9, 11, 12))
            frames = [leaf] + [start + draw.choice(mains) for _ in range(
                draw.randint(1, 3))]
            text += ("stack id=s%d frames=%s\nsample time=%d tid=%d weight=%d "
                     "event=%s stack=s%d\n" % (
                         number, ",".join(map(hex, frames)),
                         1500000000 + draw.randrange(4000000) * 1000,
                         pid + draw.randrange(2) * 100,
                         draw.randrange(1, 1 << 28), draw.choice(EVENTS),
                         number))
        name = "jprof-log" if pid == 7 else "jprof-log-%d" % pid
        with open(self.path(name), "wb") as target:
            target.write(pack.pack(text))
        return name

    def mixed_profile(self):
        """Two processes with the same program, and JIT code at one address."""
        source = self.path("work.js")
        with open(source, "w", encoding="ascii") as target:
            target.write("first\nfunction work() {\n\treturn 1;\n}\n")
        data = dump(
            lines(1500000000, JIT, [(JIT, 2, 10, source),
                                    (JIT + 4, 3, 3, source),
                                    (JIT + 11, 4, 1, source)]),
            load(1400000000, JIT, "JS:*work %s:2:10" % source, CODE))
        with open(self.path("jit.dump"), "wb") as target:
            target.write(data)
        logs = []
        number = re.search(r"Build ID: (\w+)", subprocess.run(
            ["readelf", "-n", self.app], stdout=subprocess.PIPE, check=True,
            text=True).stdout).group(1)
        with open(self.path("jprof-map"), "w", encoding="utf-8") as target:
            for pid, start in ((7, BASE), (8, 2 * BASE)):
                text = MAP % {"pid": pid, "log": "jprof-log", "app": self.app,
                              "start": start, "end": start + 0x100000,
                              "id": number}
                target.write(text.replace("9000000000 exit", (
                    "1000000000 anon start=10000 end=90000\n%s\n"
                    "9000000000 exit") % (DUMP_LINE % len(data))))
                logs.append(self.draw(pid, start))
        return logs

    def shown(self, name, address):
        """(rows, lines) of the page for the function at that address."""
        fn = self.browser.run(
            "jprof.profile.names.findIndex((one) => one.startsWith(%r))"
            % name)
        self.assertGreaterEqual(fn, 0)
        self.go("v=code&f=%d&%s" % (fn, address))
        self.browser.wait("jprof.views.code.fn === %d" % fn)
        self.browser.run("jprof.code().then(() => 0)")
        found = self.browser.run(SHOWN)
        return found["rows"], {
            (*self.called(key.rsplit(" ", 1)[0]), int(key.rsplit(" ", 1)[1])):
            two for key, two in found["lines"].items()}

    def test_selections(self):
        logs = self.mixed_profile()
        self.browser.open(self.write_page(*logs), READY)
        mains = self.browser.run("jprof.profile.names.findIndex((one) => "
                                 "one === 'main')")
        selections = [("", ()), ("p=1", ("--process=8",)),
                      ("t=1.1-2.5", ("--from=1.1", "--to=2.5")),
                      ("t=0.2-0.9&p=0", ("--process=7", "--from=0.2",
                                         "--to=0.9")),
                      ("o=k%d" % mains, ("-i", "main")),
                      ("o=d%d" % mains, ("-e", "main"))]
        selections += [("e=%d" % number, ("--event=" + event,))
                       for number, event in enumerate(EVENTS)]
        for number, (process, tid) in enumerate(self.browser.run(
                "jprof.profile.threads.map((one) => [one.process, one.tid])")):
            selections.append(("th=%d" % number, (
                "--process=%d" % (7 + process), "--only-thread=%d" % tid)))
        for name in (RUN + "(", "innermost (inlined)", "work ("):
            for address, options in selections:
                with self.subTest(name=name, address=address):
                    text = self.annotate(
                        name.split(" ")[0].rstrip("("), *options, logs=logs)
                    self.compare_code(name, address, text)
        self.check_quiet()

    def compare_code(self, name, address, text):
        rows, found = self.shown(name, address)
        shown = [(at, int(count)) for count, at in re.findall(
            r"(?m)^ *(\d+) +[0-9.]+% +([0-9a-f]+):  ", text)]
        if "o=d" not in address:
            self.assertGreater(len(shown), 3)
        # JIT code is at one address in both processes.
        self.assertEqual(sorted((at, count) for at, count in rows if count),
                         sorted(one for one in shown if one[1]))
        if not name.startswith("work"):
            self.assertEqual({key: two for key, two in found.items() if two[1]},
                             {key: two for key, two in self.lines(text).items()
                              if two[1]})

    def test_damaged(self):
        """Damage anywhere in the block of code is a sentence in its view, and
        the other views have their numbers."""
        page = self.write_page(*self.mixed_profile())
        self.browser.open(page, READY)
        whole = self.browser.run("jprof.model.sums(jprof.state).whole")
        with open(page, "rb") as source:
            data = source.read()
        start = data.index(b'id="jprof-code">') + len(b'id="jprof-code">')
        end = data.index(b"<", start)
        draw = random.Random(11)
        for place in [start, start + 6, end - 1] + [
                draw.randrange(start, end) for _ in range(6)]:
            damaged = bytearray(data)
            damaged[place] = ord("A" if data[place] != ord("A") else "B")
            with open(self.path("damaged.html"), "wb") as target:
                target.write(damaged)
            self.browser.open(self.path("damaged.html#v=code&f=0"), READY)
            self.browser.run("jprof.code().catch(() => 0)")
            with self.subTest(place=place):
                self.assertIn("its data is damaged", self.browser.run(
                    "document.querySelector('.body').textContent"))
                self.assertEqual(self.browser.run(
                    "jprof.model.sums(jprof.state).whole"), whole)
                self.check_quiet()

    def test_fold_and_find(self):
        """Inlined code folds; the hottest line is chosen at first; keys go
        through the rows; a function without code says so."""
        logs = self.mixed_profile()
        self.browser.open(self.write_page(*logs), READY)
        self.shown(RUN + "(", "")
        at = self.browser.run("jprof.views.code.items[jprof.views.code.rows"
                              ".at].self")
        self.assertEqual(at, self.browser.run(
            "Math.max(...jprof.views.code.items.filter((one) => one.kind === "
            "'line').map((one) => one.self))"))
        before = self.browser.run("jprof.views.code.items.length")
        found = self.browser.run(
            "jprof.views.code.items.findIndex((one) => one.isInlined)")
        self.browser.run("jprof.views.code.rows.select(%d)" % found)
        self.browser.run("document.querySelector('.code .rows').focus()")
        self.browser.key("ArrowLeft")
        folded = self.browser.run("jprof.views.code.items.length")
        self.assertLess(folded, before)
        self.browser.key("ArrowRight")
        self.assertEqual(self.browser.run("jprof.views.code.items.length"),
                         before)
        self.go("v=code&f=%d" % self.browser.run(
            "jprof.profile.names.indexOf('main')"))
        self.browser.wait("document.querySelector('.code .note').textContent"
                          ".includes('--annotate=NAME')")
        self.check_quiet()


class Lacking(InBrowser):
    """Where a user looks for lines that are not there, it says what brings
    them."""
    check_first_frames = False

    def write_profile(self, name):
        with open(self.path("names"), "w", encoding="ascii") as target:
            target.write("10000 100 %s\n" % name)
        with open(self.path("jprof-map"), "w", encoding="ascii") as target:
            target.write("1 jprof-map version=1 pid=7 start=9\n"
                         "1 anon start=10000 end=20000\n"
                         "1 perfmap path=/x dev=0:1 inode=1 size=%d "
                         "saved=names\n" % (len(name) + 11))
        with open(self.path("jprof-log"), "wb") as target:
            target.write(pack.pack(
                "header pid=7 start=9 map=jprof-map period=4000000\n"
                "chunk size=4096 pid=7 tid=11\nstack id=s frames=0x10008\n"
                "sample time=5000000 tid=11 weight=4000000 event=cpu stack=s"))
        self.browser.open(self.write_page(self.path("jprof-log")), READY)

    def test_perf_map(self):
        """A perf map has no lines inside a function."""
        for name, begins in (("JS:*sort /srv/app.js:4:23", True),
                             ("work", False)):
            self.write_profile(name)
            self.go("f=0")
            self.browser.wait("document.querySelector('aside').textContent"
                              ".includes('profile with jprof --jit=dump')")
            self.assertEqual(self.browser.run(
                "document.querySelector('aside').textContent.includes("
                "'Its name says at which line it begins.')"), begins)
            self.go("f=0&v=code")
            self.browser.wait("document.querySelector('.code .note')"
                              ".textContent.includes('--jit=dump')")
            self.assertNotIn("Count 0", self.browser.run(
                "document.querySelector('.code .note').textContent"))
        self.check_quiet()

    def test_native(self):
        self.write_profile("work")
        self.assertRegex(self.browser.run(
            "lineHint({kind: [1], modules: ['cc1'], module: [0], names: ['x']},"
            " 0, {})"), "cc1 has no debug information.*--debuginfod")


class Launched(InBrowser):
    def test_sources_of_the_working_directory(self):
        """The page of `jprof ./app` has the lines that the user compiled."""
        with open(SOURCE, encoding="utf-8") as source:
            text = source.read()
        with open(self.path("mine.cc"), "w", encoding="utf-8") as target:
            target.write(text)
        subprocess.run([need("g++"), "-O2", "-g", "-o", "app", "mine.cc"],
                       cwd=self.dir, check=True)
        subprocess.run([JPROF, "-o", "prof", "./app", "0.5"], cwd=self.dir,
                       check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        self.browser.open(os.path.join(self.path("prof"), "report.html"), READY)
        texts = self.browser.run(
            "jprof.code().then((code) => code.texts.map((one) => "
            "[...one.values()].join('\\n')).join('\\n'))")
        self.assertIn("sum += (x ^ i) * 2654435761U >> 3;", texts)
        self.check_quiet()


if __name__ == "__main__":
    unittest.main()
