# SPDX-License-Identifier: MIT
"""runit and s6: supervisors that start services again when they end, hand on
signals, and put down all of them.
Runs in: tests."""

import os
import signal

from stage import Program

STEADY = """#!/bin/sh
trap 'echo hup >>%(events)s' HUP
trap 'echo usr1 >>%(events)s' USR1
trap 'echo term >>%(events)s; exit 0' TERM
echo began >>%(events)s
while :; do
    i=0
    while [ $i -lt 2000 ]; do i=$((i + 1)); done
    sleep 0.05
done
"""
BRIEF = """#!/bin/sh
echo brief >>%(events)s
i=0
while [ $i -lt 20000 ]; do i=$((i + 1)); done
exit 5
"""


class Supervisor(Program):
    """A steady service and one that ends, under one supervisor."""

    def __init__(self, name, package, scan, control):
        self.name, self.package = name, package
        self.scan, self.control = scan, control
        self.commands = (scan, control[0][0])

    def steer(self, stage, results, step, arguments):
        """A command to the steady service."""
        done = stage.run(*[word.replace("STEADY", stage.path("sv/steady"))
                           for word in arguments])
        results[step] = f"{done.status} {done.err}"

    def run(self, stage):
        """Returns {what: result}."""
        results = {}
        for name, script in (("steady", STEADY), ("brief", BRIEF)):
            os.makedirs(stage.path("sv", name))
            stage.write(f"{name}.events", "")
            stage.write(f"sv/{name}/run", script % {
                "events": stage.path(name + ".events")}, 0o755)
        supervisor = stage.start(self.scan, stage.path("sv"), name="scan")

        def seen(name, text, count=1):
            stage.until(lambda: stage.read(name + ".events").count(text) >=
                        count, f"{count} x {text}")

        seen("steady", "began")
        seen("brief", "brief", 3)
        hang_up, user, down, up = self.control
        self.steer(stage, results, "hup", hang_up)
        seen("steady", "hup")
        self.steer(stage, results, "usr1", user)
        seen("steady", "usr1")
        self.steer(stage, results, "down", down)
        seen("steady", "term")
        self.steer(stage, results, "up", up)
        seen("steady", "began", 2)
        supervisor.send_signal(signal.SIGHUP if self.scan == "runsvdir"
                               else signal.SIGTERM)
        results["status"] = str(stage.wait(supervisor, self.scan))
        if self.scan == "runsvdir":     # it leaves its supervisors alive
            for name in ("steady", "brief"):
                stage.run("sv", "force-shutdown", stage.path("sv", name))
        results["steady"] = str(sorted(set(
            stage.read("steady.events").split())))
        results["output"] = stage.read("scan.out") + stage.read("scan.err")
        return results


RUNIT = Supervisor("runit", "runit", "runsvdir", (
    ("sv", "hup", "STEADY"), ("sv", "1", "STEADY"), ("sv", "down", "STEADY"),
    ("sv", "up", "STEADY")))
S6 = Supervisor("s6", "s6", "s6-svscan", (
    ("s6-svc", "-h", "STEADY"), ("s6-svc", "-1", "STEADY"),
    ("s6-svc", "-d", "STEADY"), ("s6-svc", "-u", "STEADY")))
