# SPDX-License-Identifier: MIT
#
# The cost of each clock's signals, and the rate that an ordinary user gets.
# Runs in: `make bench`, called by bench.py.

import os
import statistics
import subprocess

import clocks

RUNS = 3            # medians of these
TURNS = 9           # of a fixed amount of work
WORK = "1500"       # million steps, about a second
NOBODY = 65534
# The bars of added CPU time: (mode of spin, Hz, most that may be added).
ADDED = (("work", 250, 0.01), ("work", 1000, 0.03), ("bursts", 250, 0.05),
         ("bursts", 1000, 0.05))


def handler_ns(bench, environment, flags):
    """(median CPU time of the handler in ns, clock) of a second at 1000 Hz."""
    times = bench.path("timers-times")
    log = bench.path("timers-log")
    command = [bench.tool("spin"), "cpu", "1", "1"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL,
                   env=environment([
                       f"LD_PRELOAD={bench.tool('timed.so')}",
                       f"JPROF_TIMED={times}",
                       bench.flags("timers-log", "JP_PERIOD=0.001 " + flags)]))
    with open(times, encoding="ascii") as source:
        median = int(source.read().split()[1])
    os.unlink(times)
    return median, clocks.taken(bench, log)[2]


def bench_handlers(bench, environment, empty_ns):
    """Each clock's handler beside an empty one, both with their signal."""
    for name, flags in (("hrtimer", "JP_CLOCK=hrtimer"),
                        ("perf", "JP_CLOCK=perf"), ("timer", "JP_CLOCK=timer"),
                        ("itimer", "JP_CLOCK=itimer"),
                        ("real time", "JP_REALTIME")):
        got = [handler_ns(bench, environment, flags) for _ in range(RUNS)]
        median = statistics.median(ns for ns, _ in got)
        bench.row(f"a sample of a computing thread, {name}, against an empty "
                  "handler", f"{1 + median / empty_ns:.2f}x "
                  f"(handler {median / 1000:.2f} us)")


def as_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def rate_of_nobody(bench, environment, mode, hz):
    """Samples a CPU second that the kernel lets an ordinary user have."""
    folder = bench.path("nobody")
    os.makedirs(folder, exist_ok=True)
    os.chmod(bench.scratch, 0o755)
    os.chmod(folder, 0o777)
    log = os.path.join(folder, "log")
    if os.path.exists(log):
        os.unlink(log)
    done = subprocess.run(
        [bench.tool("spin"), mode, "1", "2" if mode == "cpu" else WORK],
        env=environment([f"LD_PRELOAD={bench.library}",
                         bench.flags("nobody/log", f"JP_PERIOD={1 / hz:.9f}")]),
        preexec_fn=as_nobody if os.geteuid() == 0 else None,
        text=True, capture_output=True, check=True)
    return clocks.taken(bench, log)[0] / float(done.stdout.split()[0])


def bench_nobody(bench, environment):
    for mode, name in (("cpu", "computing"), ("bursts", "bursts of 0.7 ms")):
        for hz, least, most in ((250, 225, 275), (1000, 980, 1020),
                                (4000, 3600, 4400)):
            if mode == "bursts":
                least, most = 0.9 * hz, 1.1 * hz
            got = statistics.median(rate_of_nobody(bench, environment, mode,
                                                   hz) for _ in range(RUNS))
            bench.row(f"samples a CPU second as nobody at {hz} Hz, {name}",
                      f"{got:.0f}", f"{least:.0f} to {most:.0f}",
                      least <= got <= most)


def bench_added(bench, environment):
    """CPU time of a fixed amount of work, by turns."""
    preload = f"LD_PRELOAD={bench.library}"
    variants = {mode: {"plain": [], "plain again": []}
                for mode, _, _ in ADDED}
    for mode, hz, _ in ADDED:
        variants[mode][hz] = [preload, bench.flags("added-%p",
                                                   f"JP_PERIOD={1 / hz}")]
    times = {mode: {name: [] for name in ways}
             for mode, ways in variants.items()}
    for _ in range(TURNS):
        for mode, ways in variants.items():
            for name, env in ways.items():
                times[mode][name].append(clocks.numbers(
                    [bench.tool("spin"), mode, "1", WORK],
                    environment(env))[0])
    for mode, hz, bar in ADDED:
        plain = statistics.median(times[mode]["plain"])
        noise = abs(statistics.median(times[mode]["plain again"]) / plain - 1)
        added = statistics.median(times[mode][hz]) / plain - 1
        bench.row(f"CPU time added at {hz} Hz, {mode}",
                  f"{100 * added:+.2f}% (the program beside itself "
                  f"{100 * noise:.2f}%)", f"< {100 * bar:.0f}%, within noise",
                  added < bar + noise)


def bench_timers(bench, environment, empty_ns):
    bench_handlers(bench, environment, empty_ns)
    bench_nobody(bench, environment)
    bench_added(bench, environment)
