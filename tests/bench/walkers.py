# SPDX-License-Identifier: MIT
#
# What the walkers cost.
# Runs in: `make bench`, called by bench.py.

import statistics
import subprocess

SIGNALS = 100000
REPEATS = 5
DEPTHS = (10, 50, 200)


def handler_ns(bench, tool, mode, env, depth):
    done = subprocess.run([bench.tool(tool), mode, str(SIGNALS), str(depth)],
                          env=env, text=True, capture_output=True, check=True)
    return float(done.stdout)


def walk_ns(bench, tool, walker, depth, environment):
    """(ns of a walk, ns of one from scratch, ns of unw_backtrace)."""
    done = subprocess.run(
        [bench.tool(tool), str(2000), str(depth)], text=True,
        env=environment([bench.flags("only-%p", f"JP_PERIOD=3600 "
                                     f"JP_STACK={walker}")]),
        capture_output=True, check=True)
    words = done.stdout.split()
    assert words[5] == "0", "the walk reaches the root"
    return [float(word) for word in words[:3]]


def bench_walk(bench, environment):
    """The walk alone, a frame: the difference of two depths."""
    tools = {"fp": "walk", "auto": "walk-nofp"}
    ns = {(name, depth): [[], [], []] for name in tools for depth in DEPTHS}
    for _ in range(REPEATS):
        for name, tool in tools.items():
            for depth in DEPTHS:
                for kept, value in zip(ns[name, depth], walk_ns(
                        bench, tool, name, depth, environment)):
                    kept.append(value)
    for low, high in ((10, 50), (50, 200)):
        frame = {name: [(statistics.median(a) - statistics.median(b))
                        / (high - low) for a, b in
                        zip(ns[name, high], ns[name, low])]
                 for name in tools}
        hot, scratch, unw = frame["auto"]
        bench.row(f"a frame, walk alone, depth {low} to {high}",
                  f"auto {hot:.1f} ns (without the last walk's cache "
                  f"{scratch:.1f}), fp {frame['fp'][0]:.1f}, unw_backtrace "
                  f"{unw:.1f}", "<= 6 ns, 2.5x fp, unw/2",
                  hot <= 6 and hot <= 2.5 * frame["fp"][0]
                  and hot <= unw / 2)


def bench_cost(bench, environment):
    """ns a frame, as the difference of two depths, and a whole sample."""
    preload = f"LD_PRELOAD={bench.library}"
    variants = {"empty": ("handler-nofp", "empty", [])}
    for walker, tool in (("fp", "handler"), ("auto", "handler-nofp")):
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
                            ("fp", "auto", "unw_backtrace")),
                  "<= 2.5x fp", frame["auto"] <= 2.5 * frame["fp"])
    ratio = ns["auto", 50] / ns["empty", 50]
    bench.row("sample at depth 50 without frame pointers, against an empty handler",
              f"{ratio:.2f}x", "<= 1.40x", ratio <= 1.4)
    ratio = ns["fp", 50] / ns["empty", 50]
    bench.row("sample at depth 50 by frame pointers", f"{ratio:.2f}x",
              "<= 1.25x", ratio <= 1.25)
    bench_walk(bench, environment)
