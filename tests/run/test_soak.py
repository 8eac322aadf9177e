# SPDX-License-Identifier: MIT
"""Everything at once (tests/soak): exceptions, libraries, memory, children of
every kind, threads, cancellation, signals, calls that wait, other stacks,
sandboxes; at 10 kHz and 1 kHz, of CPU and real time.  Nothing hangs, each
activity finds its results right, nothing grows, the logs are sound, and the
weights are the time.  SOAK_SECONDS says how long in all: `make check-soak` takes
an hour.  Runs in: tests."""
import os
import re
import statistics
import time
import unittest

from jprun import BUILD, Case, decode, program, weight_s

SECONDS = float(os.environ.get("SOAK_SECONDS", "60")) / 4
STORM = os.path.join(BUILD, "tests", "soak", "storm")
LIBRARIES = program("swap_a.so"), program("swap_b.so")
HANG_SECONDS = 120          # besides the time that it is to take
LOOK_SECONDS = 1
# What the activities themselves make more or less of, at any moment.
ROOM = {"descriptors": 40, "mappings": 150, "timers": 12, "KiB": 16384}


def lines_of(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as source:
            return source.read().splitlines()
    except OSError:
        return []


def look(pid):
    """What a process holds: {kind: number}."""
    status = dict(line.split(":", 1) for line in lines_of(
        "/proc/%d/status" % pid) if ":" in line)
    try:
        descriptors = len(os.listdir("/proc/%d/fd" % pid))
    except OSError:
        descriptors = 0
    return {"descriptors": descriptors,
            "mappings": len(lines_of("/proc/%d/maps" % pid)),
            "timers": sum(line.startswith("ID:") for line in lines_of(
                "/proc/%d/timers" % pid)),
            "KiB": int(status.get("RssAnon", "0 kB").split()[0])}


class Soak(Case):
    def setUp(self):
        super().setUp()
        self.logs = self.damaged = 0

    def check_children(self, pid):
        """Reads the logs of processes that have ended, and removes them."""
        for name in self.files():
            number = name.rsplit("-", 1)[-1]
            if not name.startswith("jprof-log-") or not number.isdigit() or \
                    os.path.exists("/proc/" + number):
                continue
            try:
                runs = decode.load(self.path(name))
            except FileNotFoundError:
                continue
            self.logs += 1
            bad = [run.damage for run in runs if run.damage]
            self.damaged += bool(bad)
            for other in (name, name.replace("log", "map", 1)):
                if os.path.exists(self.path(other)):
                    os.unlink(self.path(other))

    def watch(self, live):
        """What it holds, each second, until it ends."""
        seen, end = [], time.monotonic() + SECONDS + HANG_SECONDS
        while live.process.poll() is None:
            self.assertLess(time.monotonic(), end, "it hangs")
            found = look(live.pid)
            if found["mappings"]:
                seen.append(found)
            self.check_children(live.pid)
            time.sleep(LOOK_SECONDS)
        return seen

    def does_not_grow(self, seen):
        """The last third beside the second: the first warms up."""
        third = len(seen) // 3
        if third < 2:
            return
        for kind, room in ROOM.items():
            before, after = (statistics.median(
                s[kind] for s in seen[at:at + third])
                             for at in (third, 2 * third))
            self.assertLess(after, before + room, kind)

    def storm(self, flags):
        live = self.start(STORM, str(SECONDS), *LIBRARIES, flags=flags)
        seen = self.watch(live)
        done = live.end()
        self.check_children(live.pid)
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertNotIn("wrong ", re.sub(r"(?m)^activity.*\n", "", done.out))
        activities = re.findall(r"activity (\S+) rounds (\d+) wrong (\d+)",
                                done.out)
        self.assertGreater(len(activities), 25)
        for name, rounds, wrong in activities:
            self.assertGreater(int(rounds), 0, name)
            self.assertEqual(int(wrong), 0, name)
        self.assertEqual(self.damaged, 0)
        self.assertGreater(self.logs, 0)
        self.does_not_grow(seen)
        cpu, wall = map(float, re.search(
            r"(?m)^cpu ([\d.]+) wall ([\d.]+)", done.out).groups())
        threads = {int(found[0]): (tuple(map(float, found[1:3])),
                                   tuple(map(float, found[3:5])))
                   for found in re.findall(
                       r"tid (\d+) cpu ([\d.]+) to ([\d.]+) "
                       r"wall ([\d.]+) to ([\d.]+)", done.out)}
        return self.run_of(), cpu, wall, threads

    def weights(self, run, threads, which):
        """The weights of each thread that lasted are its time: no less than
        that of its rounds, and no more than until its last destructor.  (On a
        busy machine a second may pass between the two.)"""
        seen = dict.fromkeys(threads, 0)
        for sample in run.samples:
            if sample[1] in seen:
                seen[sample[1]] += sample[2] / 1e9
        for tid, times in threads.items():
            least, most = times[which]
            self.assertGreater(seen[tid], 0.98 * least - 0.05, (tid, times))
            self.assertLess(seen[tid], 1.02 * most + 0.05, (tid, times))
        weight = sum(seen.values())
        self.assertGreater(weight,
                           0.98 * sum(t[which][0] for t in threads.values()))
        self.assertLess(weight,
                        1.02 * sum(t[which][1] for t in threads.values()))

    def cpu_time(self, period):
        """Most other threads live for less than a tick: what the kernel does
        for them before they begin and after they end is in no sample."""
        run, cpu, _, threads = self.storm("JP_START JP_PERIOD=" + period)
        self.weights(run, threads, 0)
        self.assertGreater(weight_s(run), 0.85 * cpu)
        self.assertLess(weight_s(run), 1.02 * cpu)

    def real_time(self, period):
        run, _, _, threads = self.storm("JP_START JP_REALTIME JP_PERIOD=" +
                                        period)
        self.weights(run, threads, 1)

    def test_cpu_10_khz(self):
        self.cpu_time("0.0001")

    def test_cpu_1_khz(self):
        self.cpu_time("0.001")

    def test_real_10_khz(self):
        self.real_time("0.0001")

    def test_real_1_khz(self):
        self.real_time("0.001")


if __name__ == "__main__":
    unittest.main()
