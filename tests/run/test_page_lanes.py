# SPDX-License-Identifier: MIT
"""The lanes of the report's page: who began whom, what a process is called, and
whose time a folded lane shows.

Runs in: tests.  Without a Chromium the tests are skipped by name."""
import unittest

from test_page import READY, InBrowser
import pack

PERIOD = 4000000
OPTIONS = "-quiet -O2 -o /tmp/x%d.s"
# {pid: (parent, program, arguments, samples)}; 21 has no log.
PROCESSES = {10: (1, "make", "-j2 all", 3),
             20: (10, "gcc-driver-of-a-long-name", "-c dir/a.c", 2),
             12: (20, "cc1", "dir/a.c -dumpbase a.c " + OPTIONS % 1, 900),
             13: (21, "cc1", "-I include other/b.c -dumpbase b.c "
                  + OPTIONS % 2, 500),
             14: (99, "sh", "-c :", 400)}
TREE = ((100 * PERIOD, 11, 55), (3000 * PERIOD, 21, 10), (1, 21, 14))
LANES = """(() => {
    const out = [];
    for (const {lane, level} of listLanes(jprof.timeline.lanes))
        out.push([level, lane.name, Math.round(binLane(jprof.profile, lane, 10,
            {event: -1, matched: null}).running.reduce((a, b) => a + b, 0)
            / %d)]);
    return out; })()""" % (PERIOD // 1000)


class Lanes(InBrowser):
    check_first_frames = False
    def setUp(self):
        super().setUp()
        logs = []
        with open(self.path("jprof-tree"), "w", encoding="ascii") as tree:
            for time, pid, parent in TREE:
                tree.write("%d jprof-child root=10 pid=%d ppid=%d cpu=9000000\n"
                           % (time, pid, parent))
        for pid, (parent, program, arguments, samples) in PROCESSES.items():
            name = "jprof-map-%d" % pid
            with open(self.path(name), "w", encoding="ascii") as target:
                target.write(
                    "1 jprof-map version=1 pid=%d start=9\n1 process pid=%d "
                    "ppid=%d exe=/bin/%s cmdline=%s%%00\n1 anon start=0 "
                    "end=ffffffffffffffff\n" % (
                        pid, pid, parent, program, "%00".join(
                            [program] + arguments.split())))
            lines = ["header pid=%d root=10 start=9 map=%s mono=%d exe=/bin/%s "
                     "period=%d tree=jprof-tree" % (
                         pid, name, 2 + len(logs), program, PERIOD),
                     "chunk size=65536 pid=%d tid=%d" % (pid, pid),
                     "stack id=s frames=0x10001"]
            lines += ["sample time=%d tid=%d weight=%d stack=s" % (
                n * PERIOD, pid, PERIOD) for n in range(1, samples + 1)]
            logs.append(self.path("jprof-log-%d" % pid))
            with open(logs[-1], "wb") as target:
                target.write(pack.pack("\n".join(lines)))
        self.browser.open(self.write_page(*logs), READY)

    def test_who_began_whom(self):
        """Also through processes that have no log; each has the argument that
        the others of its program have not, and a folded lane the time of
        those below it."""
        self.assertEqual(self.browser.run(LANES), [
            [0, "All", 1805], [1, "make all 10", 3],
            [2, "\u2026ng-name a.c 20", 2], [3, "cc1 a.c 12", 900],
            [2, "cc1 b.c 13", 500], [1, "sh : 14", 400]])
        self.browser.run("jprof.timeline.toggle(1)")
        self.assertEqual(self.browser.run(LANES), [
            [0, "All", 1805], [1, "make all 10", 1405], [1, "sh : 14", 400]])
        self.check_quiet()

    def test_a_folded_lane_selects_what_is_below(self):
        """And an open one its process alone; the address says which."""
        periods = "periods(jprof.profile, jprof.model.sums(jprof.state).whole)"
        self.browser.run("jprof.timeline.pick(1)")
        self.assertEqual(self.browser.run(periods), 3)
        self.browser.run("jprof.timeline.pick(1)")
        self.assertEqual(self.browser.run(periods), 1805)
        self.browser.run("jprof.timeline.toggle(1)")
        self.browser.run("jprof.timeline.pick(1)")
        self.assertEqual(self.browser.run(periods), 1405)
        self.assertIn("and below", self.browser.run(
            "document.querySelector('.chip').textContent"))
        address = self.browser.run("jprof.written")
        self.browser.open(self.path("page.html") + "#" + address, READY)
        self.assertEqual(self.browser.run(periods), 1405)
        self.browser.run("document.querySelector('.chip').click()")
        self.assertEqual(self.browser.run(periods), 1805)
        self.check_quiet()


if __name__ == "__main__":
    unittest.main()
