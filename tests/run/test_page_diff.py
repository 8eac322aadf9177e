# SPDX-License-Identifier: MIT
"""The page of jprof-report --diff in a real browser: each side's numbers are
those of its own text report, what is called sure is what the text calls sure,
and what has vanished is there to be seen.  Runs in: tests."""
import json
import re
import subprocess
import unittest

from jprun import HANG_SECONDS, REPORT
from test_diff import STACKS, drawn, write_side
from test_page import READY, InBrowser
from test_page_safety import CONTRAST, ELEMENTS, FOREIGN, NASTY

# [{function: [Count, Hits]} after, before] of the page's state.
SIDES = """(() => {
    const p = jprof.profile, m = jprof.model, s = jprof.state;
    return [m.sums(s), m.base(s)].map((sums) => Object.fromEntries(
        p.names.map((name, i) => [name, [periods(p, sums.count[i]),
            periods(p, sums.hits[i])]]).filter(([, one]) => one[1] > 0)));
    })()"""
CHANGES = """(() => { const {comparison, sure, others} = changedFunctions(
    jprof, jprof.state, 'hits'); return [...sure, ...others].map((fn) => {
        const change = comparison.ofFunction('hits', fn);
        return [jprof.profile.names[fn], change.step, change.isSure]; });
    })()"""
BOXES = """(() => { const f = jprof.views.flame;
    return f.boxes.map((box) => [f.name(box.node), box.node === 0 ? ''
        : f.difference(box.node).text, box.width]); })()"""


class PageDiff(InBrowser):
    def output_of(self, *arguments):
        done = subprocess.run(
            [REPORT, *arguments], cwd=self.dir, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            timeout=HANG_SECONDS, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def open_diff(self, *arguments):
        with open(self.path("diff.html"), "w", encoding="utf-8") as target:
            target.write(self.output_of(*arguments))
        self.browser.open(self.path("diff.html"), READY)

    def own(self, folder, *options):
        return {name: [int(count), int(hits)] for count, hits, name in
                re.findall(r"(?m)^ *\[\d+\] +(\d+) \(.*?%\) *(\d+) "
                           r"\( *[\d.]+%\)  (\S+)",
                           self.output_of("--format=text", "--limit=none",
                                          *options, folder))}

    def write_both(self):
        write_side(self.path("a"), drawn(
            {**STACKS, "main;via;gone": 90}, 1500, 5))
        write_side(self.path("b"), drawn(
            {**STACKS, "main;beta": 400, "main;fresh": 80}, 2300, 6),
                   shift=0x3330)

    def test_numbers(self):
        self.write_both()
        self.open_diff("--diff", "a", "b")
        self.assertEqual(self.browser.run(SIDES),
                         [self.own("b"), self.own("a")])
        self.browser.run("jprof.change({range: [0, 3000000]})")
        self.assertEqual(self.browser.run(SIDES), [
            self.own("b", "--to=3"), self.own("a", "--to=3")])
        # A process of one side leaves the other whole.
        for process, wanted in ((0, 0), (1, 1)):
            self.browser.run("jprof.change({range: null, process: %d})"
                             % process)
            self.assertEqual(self.browser.run(SIDES)[wanted],
                             [self.own("b"), self.own("a")][wanted])
            self.assertEqual(self.browser.run(SIDES)[1 - wanted],
                             [self.own("b"), self.own("a")][1 - wanted])
        self.check_quiet()

    def sure_of_text(self, *options):
        """Names that the text calls surely different by Hits, in order."""
        lines = self.output_of("--format=text", *options, "--diff", "a",
                               "b").splitlines()
        at = next(i for i, line in enumerate(lines)
                  if line.startswith("Hits (total) by Difference"))
        end = lines.index("Vanished Call Paths")
        return [line.split(" *  ")[1].split()[0] for line in lines[at:end]
                if " *  " in line]

    def test_sure(self):
        """The page calls sure what the text does, in shares and for a unit of
        work."""
        self.write_both()
        for options in ((), ("--per=15,23",)):
            self.open_diff(*options, "--diff", "a", "b")
            sure = [name for name, _, is_sure in self.browser.run(CHANGES)
                    if is_sure]
            self.assertEqual(sorted(sure), sorted(self.sure_of_text(*options)))
            self.assertLessEqual({"beta", "gone", "fresh"}, set(sure))
        write_side(self.path("b"), drawn(STACKS, 900, 8))
        write_side(self.path("a"), drawn(STACKS, 700, 9))
        self.open_diff("--diff", "a", "b")
        self.assertEqual([one for one in self.browser.run(CHANGES) if one[2]],
                         [])

    def test_flame(self):
        """What has vanished and what is new has boxes of its own, and the
        table of functions has them by difference."""
        self.write_both()
        self.open_diff("--diff", "a", "b")
        boxes = {name: (text, width)
                 for name, text, width in self.browser.run(BOXES)}
        self.assertRegex(boxes["gone"][0], r"^\u2212\d.* vanished$")
        self.assertRegex(boxes["fresh"][0], r"^\+\d.* new$")
        self.assertGreater(boxes["gone"][1], 10)
        self.browser.run("jprof.change({view: 'functions'})")
        rows = self.browser.run(
            "[...document.querySelectorAll('.list [data-row]')].map((one) =>"
            " one.textContent)")
        self.assertTrue([row for row in rows if re.search(
            r"^\+[\d.]+% \*.*beta", row)])
        self.assertTrue([row for row in rows if re.search(
            r"\*.*gone.*vanished", row)])
        self.browser.run("jprof.change({view: 'tree'})")
        for view in self.browser.run("VIEWS"):
            self.browser.run("jprof.change({view: '%s', fn: 1})" % view)
        self.check_quiet()

    def test_address(self):
        """The state is in the address, the way of comparing too."""
        self.write_both()
        self.open_diff("--per=15,23", "--diff", "a", "b")
        self.assertEqual(self.browser.run("[jprof.state.work, "
                                          "writeState(jprof.state)]"),
                         [True, ""])
        self.browser.run("jprof.change({work: false, sort: 'count'})")
        address = self.browser.run("location.hash")
        self.go("")
        self.assertTrue(self.browser.run("jprof.state.work"))
        self.go(address)
        self.assertEqual(self.browser.run("[jprof.state.work, "
                                          "jprof.state.sort]"),
                         [False, "count"])

    def test_hostile_names_and_contrast(self):
        stacks = {"main;x" + name.replace("\n", "").replace(";", ""): 9
                  for name in NASTY if "\0" not in name}
        write_side(self.path("a"), {**stacks, "main;gone": 40})
        write_side(self.path("b"), {**stacks, "main;fresh": 40})
        for width, dark in ((1400, False), (390, True)):
            self.browser.resize(width, 900, dark)
            self.open_diff("--diff", "a", "b")
            for view in self.browser.run("VIEWS"):
                self.browser.run("jprof.change({view: %s})" % json.dumps(view))
                self.assertEqual(self.browser.run(CONTRAST), [], view)
                self.assertLessEqual(self.browser.run(
                    "document.documentElement.scrollWidth"), width)
            self.check_quiet()
            self.assertFalse(set(self.browser.run(ELEMENTS)) & FOREIGN)
        self.browser.resize(1400, 900)

    def test_without_script(self):
        """The plain text of the comparison is in the page."""
        self.write_both()
        page = self.output_of("--diff", "a", "b")
        self.assertIn("Vanished Call Paths", page)
        self.assertIn("Jprof Difference Report", page)


if __name__ == "__main__":
    unittest.main()
