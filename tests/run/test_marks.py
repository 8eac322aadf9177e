# SPDX-License-Identifier: MIT
"""Marks of the program (include/jprof.h): what it gives is in the log, read by
the tests' own reader, and in the reports.  Runs in: tests."""
import collections
import re
import unittest

from jprun import Case, program, share_bound

RING = "JP_START JP_PERIOD=0.004 JP_CIRCULAR=65536"


def names(run, kind="mark"):
    return collections.Counter(mark[3] for mark in run.marks
                               if mark[2] == kind)


class Marks(Case):
    def marked(self, what, *arguments, flags="JP_START JP_PERIOD=0.004"):
        done = self.run_program(program("marks"), what, *arguments,
                                flags=flags)
        self.assertEqual((done.status, done.err), (0, ""))
        return done.out

    def spans(self):
        """{name: (count, total seconds, without begin or end)}"""
        text = self.report(program("marks"), "--format=summary", "jprof-log")
        return {found[3]: (int(found[0]), float(found[1]), int(found[2]))
                for found in re.findall(
                    r"(?m)^span: count=(\d+) total_s=([\d.]+) \S+ \S+ "
                    r"open=(\d+) name=(.*)$", text)}

    def test_spans(self):
        """All marks are there, by the threads that gave them, in order; begins
        and ends are matched."""
        self.marked("plain")
        run = self.run_of()
        self.assertEqual(names(run), {"frame": 4})
        self.assertEqual(names(run, "begin"), {
            "handed over": 1, "worker": 1, "load": 4, "draw": 4,
            "never ended": 1})
        self.assertEqual(names(run, "end"), {
            "handed over": 1, "worker": 1, "load": 4, "draw": 4,
            "never begun": 1})
        main = run.header["pid"]
        threads = {(mark[3], mark[2]): mark[1] for mark in run.marks}
        self.assertEqual(threads["frame", "mark"], main)
        self.assertNotEqual(threads["worker", "begin"], main)
        self.assertEqual(threads["handed over", "begin"], main)
        self.assertEqual(threads["handed over", "end"],
                         threads["worker", "begin"])
        spans = self.spans()
        self.assertEqual({name: (count, missing) for name, (count, _, missing)
                          in spans.items()}, {
            "draw": (4, 0), "load": (4, 0), "worker": (1, 0),
            "handed over": (1, 0), "never ended": (1, 1),
            "never begun": (1, 1)})
        # The same as by the tests' own reader.
        draws = [mark for mark in run.marks if mark[3] == "draw"]
        took = sum((-1 if mark[2] == "begin" else 1) * mark[0]
                   for mark in draws) / 1e9
        self.assertAlmostEqual(spans["draw"][1], took, delta=1e-5)
        self.assertGreater(spans["draw"][1], spans["load"][1])

    def test_samples_of_a_span(self):
        """--span has the samples of the span's own thread, as many as the
        tests' reader finds in it."""
        self.marked("plain")
        run = self.run_of()
        open_at, inside = None, []
        for mark in sorted(run.marks):
            if mark[3] == "draw" and mark[2] == "begin":
                open_at = mark[0]
            elif mark[3] == "draw":
                inside.append((open_at, mark[0], mark[1]))
        wanted = sum(sample[2] for sample in run.samples for of in inside
                     if of[0] <= sample[0] < of[1] and sample[1] == of[2])
        got = self.collapsed(program("marks"), "--span=draw", "jprof-log")
        weight = sum(one for _, one in got)
        self.assertEqual(weight, round(wanted / 4e6))
        self.assertGreater(weight, 50)
        drawn = sum(one for stack, one in got if "draw" in stack)
        self.assertGreater(drawn / weight, 0.95)
        self.assertEqual(
            [stack for stack, _ in got if "work" in stack or "load" in stack],
            [])
        whole = sum(one for _, one in self.collapsed(program("marks"),
                                                     "jprof-log"))
        both = sum(one for name in ("draw", "load")
                   for _, one in self.collapsed(
                       program("marks"), "--span=" + name, "jprof-log"))
        # 0.8 s of work of 1.15 s.
        share = 0.8 / 1.15
        self.assertAlmostEqual(both / whole, share,
                               delta=share_bound(share, whole) + 0.05)

    def test_no_such_span(self):
        self.marked("plain")
        done = self.summary(program("marks"), "--span=nothing", "jprof-log")
        self.assertEqual((done["samples"], done["filters"]),
                         ("0", "--span nothing"))

    def test_in_a_handler(self):
        """Marks from a handler that interrupts marks: none is lost, and the
        chunks are sound."""
        said = dict(zip(*[iter(self.marked("signal").split())] * 2))
        found = names(self.run_of())
        self.assertEqual(found["outside"], int(said["outside"]))
        self.assertEqual(found["in handler"], int(said["inside"]))
        self.assertGreater(found["in handler"], 100)

    def test_threads_at_once(self):
        """Eight threads that mark at the same time: each mark is there once,
        whole, of its thread, and in the order in which that gave them."""
        self.marked("threads", "2000")
        run = self.run_of()
        self.assertEqual(run.header["counters"][21], 0)
        found = collections.defaultdict(list)
        for _, tid, _, name in sorted(run.marks, key=lambda one: one[0]):
            found[tid].append(name)
        self.assertEqual(len(found), 8)
        self.assertEqual(
            sorted(found.values()),
            [["%d %d %s" % (k, i, chr(ord("a") + k) * ((i * 7 + k) % 200))
              for i in range(2000)] for k in range(8)])

    def test_ring(self):
        """A ring keeps the last marks, as it does samples, and is no larger."""
        self.marked("flood", "20000", flags=RING)
        run = self.run_of()
        count = len(run.marks)
        self.assertGreater(count, 0.6 * 65536 / 32)
        self.assertLess(count, 20000)
        self.assertEqual(run.header["counters"][21], 0)
        self.assertGreater(run.header["counters"][10], 0)

    def test_real_time(self):
        self.marked("plain", flags="JP_START JP_REALTIME JP_PERIOD=0.004")
        self.assertEqual(names(self.run_of()), {"frame": 4})
        self.assertEqual(self.spans()["draw"][0], 4)

    def test_refused(self):
        """Bad names are refused, long ones cut; without a profile nothing is
        recorded."""
        self.assertEqual(self.marked("refused"), "null -22 empty -22 long 0\n")
        self.assertEqual([mark[3] for mark in self.run_of().marks],
                         ["x" * 255])
        done = self.run_program(program("marks"), "refused", flags="")
        self.assertEqual(done.out, "null -38 empty -38 long -38\n")
        done = self.run_program(program("marks"), "refused", flags="JP_DEFER")
        self.assertEqual(done.out, "null -22 empty -22 long -11\n")

    def test_fork(self):
        """A forked child's marks are in its own log."""
        self.marked("fork")
        found = {run.header["pid"]: names(run) for run in self.all_runs()}
        self.assertEqual(sorted(map(dict, found.values()), key=str),
                         [{"child": 1}, {"parent": 1}])


if __name__ == "__main__":
    unittest.main()
