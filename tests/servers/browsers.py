#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shows a page of JavaScript, layout and canvas in Firefox and Chromium, as a
user would, without jprof, beside the idle library and under the launcher, and
compares the screenshots, exit statuses and messages; then holds what the
report says of its own quality against issue 11's bars:
    browsers.py [--rounds N] [--keep FOLDER] [--mode TEXT] [BROWSER...]
Root runs them as the user nobody, since Chromium's sandbox refuses root.  A
browser that is not installed is skipped by name.  B is the build folder.
Runs in: tests."""

import argparse
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from stage import BUILD, ROOT, Failure, Stage

sys.path.insert(0, os.path.join(ROOT, "tests", "tools"))
import decode       # noqa: E402  (needs the path above)

LAUNCHER = os.path.join(BUILD, "jprof")
REPORT = os.path.join(BUILD, "jprof-report")
USER = "nobody"
# The bars: shares of CPU time, samples lost, and stacks that reach the root.
COVERED, LOST, WHOLE_FIRST, WHOLE = 0.97, 0.005, 0.99, 0.97
LOOKED_AT = 0.05                # seconds of CPU time of a process
# Rounds of the page's work that take a browser's engine about 10 s.
ROUNDS = {"firefox-esr": 700, "chromium": 1150}
EDGES = 22                      # the counter of threads' beginnings and ends
# What chance makes of a process's share: its threads' last periods; in real
# time, also that threads which mostly wait are found computing at some of their
# moments, by chance, so many standard deviations.  And of its stacks: of N,
# each of which reaches the root with the bar's probability P, as many standard
# deviations, sqrt(N P (1 - P)), fewer may do so: of 15, one does not.
PERIODS, DEVIATIONS = 3, 2
# A process behind a filter has a ring of 4 MiB for its samples, which lasts for
# this long, in seconds, and more.  Where a starved machine needs longer and it
# runs over, the share of CPU time in samples is what the ring keeps (the report
# leaves such a process out of its sum, too): that is said, and not judged.
RING_LASTS, OVERWRITTEN = 60, 10
PAGE = """<html><head><style>
.box { float: left; width: 30px; margin: 1px; border: 1px solid #888 }
</style></head><body><canvas id=c width=300 height=200></canvas><div id=d></div>
<p id=t>working</p><script>
let seed = 7, sum = 0;
function random() {
  return seed = (seed * 1103515245 + 12345) & 0x7fffffff;
}
function crunch(n) {
  const seen = new Map();
  let s = 0;
  for (let i = 0; i < n; i++) {
    const key = 'k' + random() % 997;
    seen.set(key, (seen.get(key) || 0) + i);
    s = (s * 31 + i) | 0;
  }
  return s + seen.size;
}
function layout(n) {
  const all = document.getElementById('d');
  let height = 0;
  for (let i = 0; i < n; i++) {
    const box = document.createElement('div');
    box.className = 'box';
    box.textContent = 'w' + random() % 1000;
    all.appendChild(box);
    if (i % 10 == 0) height += box.offsetTop;
  }
  while (all.children.length > 300) all.removeChild(all.firstChild);
  return height;
}
function paint(n) {
  const to = document.getElementById('c').getContext('2d');
  for (let i = 0; i < n; i++) {
    to.fillStyle = `rgb(${random() % 256},${random() % 256},${random() % 256})`;
    to.fillRect(random() % 300, random() % 200, 20, 10);
    to.beginPath();
    to.arc(random() % 300, random() % 200, 15, 0, 6.3);
    to.fill();
  }
  return to.getImageData(0, 0, 300, 200).data[77];
}
for (let i = 0; i < %ROUNDS%; i++)
  sum = (sum + crunch(20000) + layout(100) + paint(200)) | 0;
document.getElementById('t').textContent = 'done ' + sum;
</script></body></html>
"""
OURS = re.compile(r"^(jprof|jprof-report): .*\n", re.M)
# What names a process, an address or a time, and what Chromium says in one run
# and not in the next, on a machine without a bus and a graphics card.
PASSING = re.compile(r"^\[?\d+.*(ERROR|WARNING|INFO).*\n|.*unexpected operator\n",
                     re.M)


def firefox(stage, flags):
    """Firefox's command but for the page; a profile of its own, as used."""
    shutil.copytree(stage.path("..", "firefox"), stage.path("home"),
                    dirs_exist_ok=True, symlinks=True)
    stage.give(USER, "home")
    subprocess.run(["chown", "-R", USER, stage.path("home")], check=os.geteuid()
                   == 0, stderr=subprocess.DEVNULL)
    return ["firefox-esr", "--headless", "--no-remote", "--profile",
            stage.path("home"), *flags, "--screenshot", stage.path("x.png")]


def chromium(stage, flags):
    """Chromium's command but for the page."""
    return ["chromium", "--headless", "--no-first-run",
            "--user-data-dir=" + stage.path("home"), *flags,
            "--window-size=1000,700", "--virtual-time-budget=60000",
            "--screenshot=" + stage.path("x.png")]


NAMES = ["--no-sandbox", "--js-flags=--perf-basic-prof"]
# Of each browser: its command, and its runs: words for jprof, and for itself.
MODES = {"without": None, "library idle": "", "profile": [],
         "real time": ["--wall"]}
BROWSERS = {
    "firefox-esr": (firefox, {name: (words, [])
                              for name, words in MODES.items()}),
    "chromium": (chromium, {name: (words, [])
                            for name, words in MODES.items()}),
    "chromium --no-sandbox": (chromium, {
        **{name: (words, ["--no-sandbox"]) for name, words in MODES.items()},
        "names": ([], NAMES)}),
}


def run_once(make, top, name, words, flags):
    """The Stage of a run, and what came of it."""
    folder = os.path.join(top, re.sub(r"\W+", "-", name))
    os.mkdir(folder)
    stage = Stage(folder, words if words == "" else None)
    stage.give(USER)
    argv = make(stage, flags)
    command = argv[0]
    if words:
        argv = [LAUNCHER, "-o", stage.path("out"), *words, *argv]
    elif words == []:
        argv = [LAUNCHER, "-o", stage.path("out"), *argv]
    try:
        done = stage.run(*argv, f"file://{top}/{command}.html", user=USER)
    except BaseException:
        stage.settle(0)         # a browser that does not end is ended here
        raise
    stage.settle()
    said = PASSING.sub("", OURS.sub("", done.out + done.err))
    found = {"status": str(done.status),
             "said": said.replace(folder, "FOLDER")}
    try:
        with open(stage.path("x.png"), "rb") as file:
            found["screenshot"] = hashlib.sha256(file.read()).hexdigest()[:16]
    except FileNotFoundError:
        found["screenshot"] = "none"
    return stage, found


def summary(folder):
    """The report's figures of its own quality."""
    done = subprocess.run([REPORT, "--format=summary", folder],
                          capture_output=True, text=True, check=True)
    return dict(line.split(": ", 1) for line in done.stdout.splitlines()
                if ": " in line)


def role(run):
    """What a browser's process is for, by its command line."""
    told = [keys.get("cmdline", "").replace("\0", " ").split()
            for _, keys in run.events("process")]
    told = [words for words in told if words]   # not yet given its own
    if not told:
        return "?"
    if "-contentproc" in told[-1]:
        return told[-1][-1]
    types = [word[7:] for word in told[-1] if word.startswith("--type=")]
    return types[0] if types else os.path.basename(told[-1][0])


def measure(folder):
    """A line for each process that used enough, and what is below a bar.  A
    share is of all of its CPU time, and then of that without what is known
    exactly and no sample can be of: before its profile began, and of threads
    before their clocks began and after these ended.  The parent is the process
    that the launcher started, the first of its tree."""
    rows, wrong = [], []
    for name in sorted(os.listdir(folder)):
        if not name.startswith("jprof-log") or "." in name:
            continue
        for run in decode.load(os.path.join(folder, name)):
            header = run.header
            looking = header["counters"][20] / 1e9
            cpu = header["cpu_ns"] / 1e9 - looking
            mine = [one for one in run.samples if one[3] in ("cpu", "running")]
            weight = sum(one[2] for one in mine) / 1e9
            whole = sum(one[4] == "root" for one in run.samples)
            count = len(run.samples)
            if cpu < LOOKED_AT or not count:
                continue
            parent = header["proc_pid"] == header["root_pid"]
            bar = WHOLE_FIRST if parent else WHOLE
            before = header["cpu_before_ns"] / 1e9
            edges = header["counters"][EDGES] / 1e9
            due = cpu - before - edges
            rows.append(f"{role(run)}{' (parent)' * parent}, {name}: {weight:.3f} of {cpu:.3f} s "
                        f"({100 * weight / cpu:.1f}%; {before:.3f} s before "
                        f"it, {edges:.3f} s at threads' edges: "
                        f"{100 * weight / due:.1f}% of the rest; "
                        f"{looking:.3f} s of looking besides), "
                        f"{count} samples, "
                        f"{100 * whole / count:.2f}% to the root, "
                        f"{run.lost()} lost")
            lasted = (max(one[0] for one in run.samples) -
                      header["mono_ns"]) / 1e9
            ran_over = header["counters"][OVERWRITTEN] != 0 and \
                lasted > RING_LASTS
            if ran_over:
                rows[-1] += f"; NOT JUDGED: ring ran over in {lasted:.0f} s"
            period = header["period_ns"] / 1e9
            chance = PERIODS * period
            if mine and mine[0][3] == "running":
                chance += DEVIATIONS * (due * period) ** 0.5
            if weight < COVERED * due - chance and not ran_over:
                wrong.append(f"coverage of {role(run)}, {name}")
            if whole < bar * count - DEVIATIONS * (count * bar *
                                                   (1 - bar)) ** 0.5:
                wrong.append(f"roots of {role(run)}, {name}")
    return rows, wrong


def judge(stage):
    """The rows of a profile's table, and what is below a bar."""
    figures = summary(stage.path("out"))
    rows, wrong = measure(stage.path("out"))
    samples = int(figures["samples"])
    beyond = {key: float(figures[f"cpu_{key}_s"])
              for key in ("before", "after", "edges")}
    due = float(figures["cpu_all_s"]) - sum(beyond.values())
    covered = float(figures["covered_s"])
    rows.insert(0, f"report: {100 * float(figures['coverage']):.1f}% of "
                f"{float(figures['cpu_all_s']):.2f} s covered; "
                f"{beyond['before']:.3f} s before profiles began (exec, loader, "
                f"jprof), {beyond['after']:.3f} s after these ended, "
                f"{beyond['edges']:.3f} s at threads' edges: "
                f"{100 * covered / due:.1f}% of the rest; {samples} "
                f"samples, {figures['lost']} lost, {figures['incomplete']} "
                f"incomplete, JIT frames {figures['jit_frames']}, named "
                f"{figures['jit_named']}")
    if covered < COVERED * due:
        wrong.append("coverage")
    if int(figures["lost"]) > LOST * samples:
        wrong.append("samples lost")
    return rows, wrong, figures


def examine(name, top, options):
    """Shows the page in the modes that are asked for; returns how many runs
    were wrong."""
    make, runs = BROWSERS[name]
    wrong = 0
    without, keep = None, options.keep
    for mode, (words, flags) in runs.items():
        if mode != "without" and options.mode not in mode:
            continue
        try:
            stage, found = run_once(make, top, f"{name} {mode}", words, flags)
        except Failure as failure:
            print(f"NOT SO: {name}, {mode}: {failure}", flush=True)
            wrong += 1
            if without is None:
                break           # there is nothing to compare with
            continue
        without = without or found
        texts = [f"{key}: {found[key]!r}, without {without[key]!r}"
                 for key in found if found[key] != without[key] and
                 not (mode == "names" and key == "said")]
        rows = []
        if isinstance(words, list):
            rows, below, figures = judge(stage)
            texts += below
            if mode == "names" and figures["jit_frames"] != \
                    figures["jit_named"]:
                texts.append("JIT frames without a name")
        print(f"{'NOT SO' if texts else 'ok'}: {name}, {mode}: screenshot "
              f"{found['screenshot']}, status {found['status']}", flush=True)
        for row in rows + ["WRONG " + text for text in texts]:
            print("    " + row, flush=True)
        wrong += bool(texts)
        if keep:
            to = os.path.join(keep, os.path.basename(stage.folder))
            shutil.rmtree(to, ignore_errors=True)
            shutil.copytree(stage.folder, to, symlinks=True)
    return wrong


def warm(top):
    """A profile of Firefox's that it has used once."""
    stage = Stage(os.path.join(top, "firefox"), None)
    os.mkdir(stage.folder)
    stage.give(USER)
    stage.run("firefox-esr", "--headless", "--no-remote", "--profile",
              stage.folder, "--screenshot", os.path.join(top, "firefox.png"),
              "about:blank", user=USER)
    stage.settle()


def main():
    """Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, help="of the page's work, "
                        "instead of as many as take about 10 s")
    parser.add_argument("--mode", default="", help="only those whose name has "
                        "this in it, beside the run without jprof")
    parser.add_argument("--keep", help="folder for what the runs leave behind")
    parser.add_argument("browser", nargs="*", choices=[[], *BROWSERS])
    options = parser.parse_args()
    # Also one that is ended ends what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    top = tempfile.mkdtemp(prefix="jprof-br-")
    try:
        os.chmod(top, 0o755)
        wrong = examine_all(top, options)
    finally:
        shutil.rmtree(top, ignore_errors=True)
    return 1 if wrong else 0


def examine_all(top, options):
    """Returns how many runs of all browsers that are here were wrong."""
    for command, rounds in ROUNDS.items():
        with open(os.path.join(top, command + ".html"), "w",
                  encoding="utf-8") as file:
            file.write(PAGE.replace("%ROUNDS%", str(options.rounds or rounds)))
    wrong = 0
    for name in options.browser or BROWSERS:
        command = name.split()[0]
        if not shutil.which(command):
            print(f"skipped: {name}: not here (package {command})")
            continue
        if command == "firefox-esr":
            warm(top)
        wrong += examine(name, top, options)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
