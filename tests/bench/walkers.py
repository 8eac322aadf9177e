# SPDX-License-Identifier: MIT
#
# What the walkers cost and how many stacks they bring to the root.
# Runs in: `make bench`, called by bench.py.

import os
import shutil
import statistics
import subprocess
import sys

SIGNALS = 100000
REPEATS = 5
DEPTHS = (10, 50, 200)

JAVASCRIPT = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
const end = Date.now() + 5000;
while (Date.now() < end) {
    fib(20);
    const list = [];
    for (let i = 0; i < 2000; i++) list.push({a: i, b: 'x' + i});
    list.sort((p, q) => q.a - p.a);
    JSON.parse(JSON.stringify(list));
    'abc'.replace(/b/g, x => x + list.length);
}
"""
PYTHON = """
import json, re, time
end = time.time() + 5
while time.time() < end:
    json.loads(json.dumps({str(k): k for k in range(2000)}))
    re.findall('(a|b)+c', 'abab' * 200)
    sorted(range(3000), key=lambda x: -x)
"""
SQL = ("with recursive c(x) as (select 1 union all select x + 1 from c where "
       "x < 12000000) select sum(x * x % 7), count(distinct x % 1000) from c;")


def handler_ns(bench, tool, mode, env, depth):
    done = subprocess.run([bench.tool(tool), mode, str(SIGNALS), str(depth)],
                          env=env, text=True, capture_output=True, check=True)
    return float(done.stdout)


def bench_cost(bench, environment):
    """ns a frame, as the difference of two depths, and a whole sample."""
    preload = f"LD_PRELOAD={bench.library}"
    variants = {"empty": ("handler-nofp", "empty", [])}
    for walker, tool in (("fp", "handler"), ("cfi", "handler-nofp")):
        variants[walker] = (tool, "preloaded", [
            preload, bench.flags("walk-" + walker,
                                 f"JP_PERIOD=3600 JP_STACK={walker}")])
    variants["unw_backtrace"] = ("handler-nofp", "unw", [])
    times = {(name, depth): [] for name in variants for depth in DEPTHS}
    for _ in range(REPEATS):
        for name, (tool, mode, env) in variants.items():
            for depth in DEPTHS:
                times[name, depth].append(handler_ns(
                    bench, tool, mode, environment(env), depth))
    ns = {key: statistics.median(values) for key, values in times.items()}
    for low, high in ((10, 50), (50, 200)):
        frame = {name: (ns[name, high] - ns[name, low]
                        - ns["empty", high] + ns["empty", low])
                 / (high - low) for name in variants}
        bench.row(f"a frame more, depth {low} to {high}, log included",
                  ", ".join(f"{name} {frame[name]:.1f} ns" for name in
                            ("fp", "cfi", "unw_backtrace")),
                  "<= 2.5x fp", frame["cfi"] <= 2.5 * frame["fp"])
    ratio = ns["cfi", 50] / ns["empty", 50]
    bench.row("sample at depth 50 by CFI, against an empty handler",
              f"{ratio:.2f}x", "<= 1.40x", ratio <= 1.4)
    ratio = ns["fp", 50] / ns["empty", 50]
    bench.row("sample at depth 50 by frame pointers", f"{ratio:.2f}x")


def programs(bench):
    with open(bench.path("work.js"), "w", encoding="ascii") as out:
        out.write(JAVASCRIPT)
    with open(bench.path("many.c"), "w", encoding="ascii") as out:
        for i in range(4000):
            out.write(f"int f{i}(int a) {{ int s = 0; for (int i = 0; i < a; "
                      f"i++) {{ s += i * {i} ^ s >> 3; if (s % 7 == {i % 7}) "
                      "s -= a; } return s; }\n")
    with open(bench.path("random"), "wb") as out:
        out.write(os.urandom(24 << 20))
    js, c = bench.path("work.js"), bench.path("many.c")
    return {
        "node": ["node", "--perf-basic-prof", js],
        "node, native stack": ["node", "--interpreted-frames-native-stack",
                               js],
        "python3": ["/usr/bin/python3" if os.path.exists("/usr/bin/python3")
                    else sys.executable, "-c", PYTHON],
        "gcc": ["gcc", "-O2", "-c", c, "-o", bench.path("many.o")],
        "xz -T2": ["xz", "-T2", "-kf", bench.path("random")],
        "sqlite3": ["sqlite3", ":memory:", SQL],
    }


def ours(bench, command, environment):
    """Samples and those of them that reached the root."""
    log = bench.path("reach-log")
    env = environment([f"LD_PRELOAD={bench.library}",
                       f"JPROF_FLAGS=JP_START JP_PERIOD=0.001 JP_STACK=cfi "
                       f"JP_FILENAME={log}"])
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(
        __file__)), "..", "tools"))
    import decode
    folder, taken, good = os.path.dirname(log), 0, 0
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if not name.startswith("reach-log") or name.endswith("map"):
            continue
        for run in decode.load(path):
            taken += len(run.samples)
            good += sum(s[4] in ("root", "depth") for s in run.samples)
        os.unlink(path)
    return taken, good


def perf_fp(bench, command):
    """The same by perf's frame pointers: a stack whose outermost frame is
    _start, or a thread's start, or clone."""
    data = bench.path("reach.data")
    done = subprocess.run(
        ["perf", "record", "-q", "-o", data, "-e", "cpu-clock:u", "-F",
         "1000", "-g", "--"] + command, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        return None
    text = subprocess.run(["perf", "script", "-i", data, "-F", "ip,sym"],
                          text=True, errors="replace", check=False,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout
    stacks = [s.split("\n") for s in text.strip().split("\n\n") if s]
    ends = ("_start", "start_thread", "clone", "clone3", "main")
    good = sum(any(line.split()[1:2] and line.split()[1].lstrip("_").split(
        "+")[0] in [end.lstrip("_") for end in ends] for line in stack[-4:])
        for stack in stacks)
    return len(stacks), good


def bench_reach(bench, environment):
    for name, command in programs(bench).items():
        if not shutil.which(command[0]):
            bench.notes.append(f"root reached: no {command[0]} here")
            continue
        taken, good = ours(bench, command, environment)
        share = 100 * good / max(taken, 1)
        text = f"{share:.2f}% of {taken}"
        theirs = perf_fp(bench, command) if shutil.which("perf") else None
        if theirs and theirs[0]:
            text += (f"; perf fp {100 * theirs[1] / theirs[0]:.2f}% of "
                     f"{theirs[0]}")
        bench.row(f"root reached, {name}", text, ">= 99.90%", share >= 99.9)
