#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the report's page with a log of a million samples: bytes, CPU time
of the page's main thread (DevTools' TaskDuration in ticks of the thread),
memory and elements, in a headless Chromium; each figure is the median of
--runs.

Runs in: `make bench-report`.
    tests/bench/page.py BUILD [--scale=N] [--runs=N]
The logs are made by tests/tools/modellog in a folder of TMPDIR: 200,000
stacks of 50,000 functions (real ones of this machine and JIT code), 200
threads."""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import model

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "tools"))
import browser      # noqa: E402  (needs the path above)

KEYS = {"samples": 1000000, "stacks": 200000, "threads": 200, "low": 18,
        "high": 26, "spread": 24, "zipf": 1}
JIT = 62000
READY = "document.getElementById('app').dataset.ready === 'true'"
# What is done by turns: {name: (bar in ms, scripts)}.
ACTIONS = (
    ("range", 100, ["jprof.change({range: [%d * jprof.profile.last / 10, "
                    "(%d + 3) * jprof.profile.last / 10].map(Math.round)})"
                    % (n, n) for n in range(5)]),
    ("range, call tree", 100, [
        "jprof.change({view: 'tree', range: [%d * jprof.profile.last / 10, "
        "(%d + 3) * jprof.profile.last / 10].map(Math.round)})" % (n, n)
        for n in range(5)]),
    ("range, bottom-up", 100, [
        "jprof.change({view: 'bottom', range: [%d * jprof.profile.last / 10, "
        "(%d + 3) * jprof.profile.last / 10].map(Math.round)})" % (n, n)
        for n in range(5)]),
    ("range, functions", 100, [
        "jprof.change({view: 'functions', range: [%d * jprof.profile.last "
        "/ 10, (%d + 3) * jprof.profile.last / 10].map(Math.round)})" % (n, n)
        for n in range(5)]),
    ("all time again", 100, ["jprof.change({view: 'flame', range: %s})" % one
                             for one in ("null", "[0, 1e6]") * 3]),
    ("thread", 100, ["jprof.change({range: null, process: 0, thread: %d})" % n
                     for n in range(5)]),
    ("search", 100, ["jprof.change({process: -1, thread: -1, search: '%s'})"
                     % text for text in ("std", "map", "/^_Z/", "alloc",
                                         "read")]),
    ("compare", 100, ["jprof.change({search: '', range: [0, jprof.profile.last"
                      " >> 1], base: [jprof.profile.last >> 1, "
                      "jprof.profile.last - %d]})" % (n + 1)
                      for n in range(5)]),
    ("hide, first time", 200, ["jprof.change({range: null, base: null, ops: "
                               "[{kind: 'h', id: %d, text: ''}]})" % n
                               for n in range(5)]),
    ("focus, first time", 200, ["jprof.change({ops: [{kind: 'f', id: %d, "
                                "text: ''}]})" % n for n in range(5)]),
    ("collapse, first time", 200, ["jprof.change({ops: [{kind: 'h', id: %d, "
                                   "text: ''}], collapse: true})" % n
                                   for n in range(5)]),
    ("range while hidden", 60, ["jprof.change({range: [%d * jprof.profile.last"
                                " / 10, (%d + 3) * jprof.profile.last / 10]"
                                ".map(Math.round)})" % (n, n)
                                for n in range(5)]),
    ("zoom", 16, ["jprof.change({ops: [], collapse: false, range: null, zoom: "
                  "[]})"] + ["jprof.change({zoom: jprof.views.flame.path("
                             "jprof.views.flame.boxes[%d].node)})" % n
                             for n in (1, 0, 2, 0, 3)]),
    ("scroll", 16, ["jprof.change({view: 'functions', zoom: []})"] + [
        "document.querySelector('.body .rows').scrollTop = %d" % (n * 7000)
        for n in range(1, 6)]),
)


def make(build, folder, keys):
    """A log's page: (path, CPU seconds of html, of collapsed)."""
    os.mkdir(folder)
    model.make(build, folder, keys, JIT)
    report = os.path.join(build, "jprof-report")
    costs = []
    for form in ("html", "collapsed"):
        path = os.path.join(folder, "page." + form)
        start = os.times()
        subprocess.run([report, "--format=" + form, "-o", path, folder],
                       check=True, stdin=subprocess.DEVNULL)
        end = os.times()
        costs.append(end.children_user + end.children_system
                     - start.children_user - start.children_system)
    return (os.path.join(folder, "page.html"), *costs)


def busy(tab):
    return 1000 * tab.metrics()["TaskDuration"]


def memory_of(tab):
    """MiB of anonymous memory of the browser's largest renderer."""
    most = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as source:
                if b"--type=renderer" not in source.read():
                    continue
            if os.getpgid(int(pid)) != tab.process.pid:
                continue
            with open("/proc/%s/status" % pid, encoding="ascii") as source:
                most = max([most] + [int(line.split()[1]) for line in source
                                     if line.startswith("RssAnon:")])
        except (OSError, ProcessLookupError):
            continue
    return most / 1024


def settle(tab):
    """Waits until what is under way has been painted."""
    tab.run("new Promise((done) => requestAnimationFrame(() => "
            "requestAnimationFrame(() => setTimeout(done))))")


def listen(tab):
    """Has the main thread's CPU time told, and nothing that costs it."""
    for domain in ("Network", "Log", "Performance"):
        tab.call(domain + ".disable")
    tab.call("Performance.setTimeDomain", timeDomain="threadTicks")
    tab.call("Performance.enable")


def load(page):
    """(ms of the main thread, MiB of memory, elements) of a load."""
    with browser.Browser() as tab:
        listen(tab)
        start = busy(tab)
        tab.open(page, READY)
        settle(tab)
        cost = busy(tab) - start
        tab.call("HeapProfiler.collectGarbage")
        return cost, memory_of(tab), tab.run("document.querySelectorAll('*').length")


def act(tab, scripts):
    """ms of each script, of the first as well where it is one of five."""
    costs = []
    for script in scripts:
        settle(tab)
        start = busy(tab)
        tab.run("(() => { %s; })()" % script)
        settle(tab)
        costs.append(busy(tab) - start)
    return statistics.median(costs if len(costs) == 5 else costs[1:])


def say(what, figure, bar, unit):
    print("%-34s %9.1f %-3s %s" % (what, figure, unit, "" if bar is None
                                   else "bar %g%s" % (bar, "" if figure <= bar
                                                      else "  MISSED")),
          flush=True)


def idle_cost(tab):
    """What measuring itself costs."""
    return act(tab, ["0"] * 5)


def measure_actions(page):
    with browser.Browser() as tab:
        listen(tab)
        tab.open(page, READY)
        time.sleep(1)
        own = idle_cost(tab)
        for what, bar, scripts in ACTIONS:
            say(what, max(act(tab, scripts) - own, 0), bar, "ms")
        say("rows alive, at most", tab.run(
            "Math.max(...[...document.querySelectorAll('.rows')].map((one) => "
            "one.querySelectorAll('.row').length))"), 80, "")
        say("elements after all", tab.run(
            "document.querySelectorAll('*').length"), 6000, "")
        tab.call("HeapProfiler.collectGarbage")
        say("memory after all", memory_of(tab), 350, "MiB")


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build")
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args(argv[1:])
    if browser.find() is None:
        print("bench-report: no chromium here", file=sys.stderr)
        return 0
    build = os.path.abspath(arguments.build)
    scratch = tempfile.mkdtemp(prefix="jprof-page-")
    keys = {key: max(value // arguments.scale, 20) if value > 100 else value
            for key, value in KEYS.items()}
    try:
        small, _, _ = make(build, os.path.join(scratch, "small"),
                           {**keys, "samples": 1000, "stacks": 200})
        page, html, collapsed = make(build, os.path.join(scratch, "whole"),
                                     keys)
        four, _, _ = make(build, os.path.join(scratch, "four"),
                          {**keys, "samples": 4 * keys["samples"]})
        say("CPU of html / of collapsed", html / collapsed, 1.5, "")
        say("file", os.path.getsize(page) / 1e6, 7, "MB")
        say("file of 4 times the samples", os.path.getsize(four)
            / os.path.getsize(page), 4.5, "x")
        loads = {path: [load(path) for _ in range(arguments.runs)]
                 for path in (small, page, four)}
        medians = {path: [statistics.median(one) for one in zip(*costs)]
                   for path, costs in loads.items()}
        say("load, main thread", medians[page][0], 700, "ms")
        say("load of 1,000 samples", medians[small][0], None, "ms")
        say("load / that", medians[page][0] / medians[small][0], 2.5, "x")
        say("load of 4 times the samples", medians[four][0]
            / medians[page][0], 3, "x")
        say("memory, loaded", medians[page][1], 350, "MiB")
        say("elements", medians[page][2], 6000, "")
        measure_actions(page)
    finally:
        shutil.rmtree(scratch)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
