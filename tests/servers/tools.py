# SPDX-License-Identifier: MIT
"""Tools that look into or steer other programs, being profiled as these are:
gdb, strace, valgrind and tmux.
Runs in: tests."""

import os
import re

from stage import BUILD, Program

WORK = os.path.join(BUILD, "tests", "servers", "work")
GDB = """
set pagination off
set confirm off
set print thread-events off
break sorted
run 1
backtrace
info threads
delete
handle SIGUSR1 stop print pass
continue
continue
"""
# Of gdb's words those that name no address, thread number or time.
GDB_LINES = re.compile(r"Thread \d+ .*(received signal|hit Breakpoint)|child |"
                       r"\[Inferior 1 \(process|\d+ \d+ \d+, ")


class Gdb(Program):
    """gdb runs a program to a breakpoint, a signal, and its end."""

    name, package = "gdb", "gdb"
    commands = ("gdb",)

    def run(self, stage):
        """Returns {what: result}."""
        done = stage.run("gdb", "-q", "-batch", "-nx", "-x",
                         stage.write("commands", GDB), WORK)
        # Which of the threads comes first is not always the same.
        varies = r"Thread \d+ .*?(received|hit)|process \d+|seed=\d+"
        lines = [re.sub(varies, r"\1", line)
                 for line in done.out.splitlines() if GDB_LINES.search(line)]
        errors = [line for line in done.err.splitlines()
                  if not line.startswith("warning: Source file")]
        frames = [name for name in ("sorted", "thread") if re.search(
            rf"^#\d+ .*\b{name} \(", done.out, re.M)]
        return {"status": str(done.status), "lines": str(lines),
                "frames": str(frames), "err": str(errors)}


class Strace(Program):
    """strace follows a program's threads and children."""

    name, package = "strace", "strace"
    commands = ("strace",)

    def run(self, stage):
        """Returns {what: result}."""
        done = stage.run("strace", "-f", "-qq", "-o", stage.path("trace"),
                         "-e", "trace=execve,write", "-e",
                         "signal=SIGUSR1,SIGCHLD", WORK, "3", "30")
        lines = sorted(re.sub(r"^\d+ +|si_pid=\d+|si_.time=\d+|"
                              r"0x\w+|\d+ vars|, *$| = \d+$|"
                              # what strace adds to a time that is not 0
                              r" */\* [\d.]+ s \*/", "", line)
                       for line in stage.read("trace").splitlines()
                       if "unfinished" not in line and "resumed" not in line)
        return {"run": str(done), "trace": "\n".join(
            line for line in lines if not re.match(r"write\([3-9]", line))}


class Valgrind(Program):
    """valgrind finds nothing to complain of."""

    name, package = "valgrind", "valgrind"
    commands = ("valgrind",)

    def run(self, stage):
        """Returns {what: result}."""
        done = stage.run("valgrind", "-q", "--error-exitcode=99",
                         "--leak-check=full", WORK, "3", "8")
        threads = stage.run("valgrind", "-q", "--tool=none", WORK, "3", "20")
        return {"memcheck": str(done), "none": str(threads)}


class Tmux(Program):
    """tmux: a server that is a daemon, and shells on terminals of its own."""

    name, package = "tmux", "tmux"
    commands = ("tmux",)

    def run(self, stage):
        """Returns {what: result}."""
        tmux = ["tmux", "-f", "/dev/null", "-S", stage.path("tmux.sock")]
        env = {"TERM": "screen", "SHELL": "/bin/sh", "PS1": "", "ENV": ""}
        results = {}

        def does(step, *words):
            results[step] = str(stage.run(*tmux, *words, env=env))

        does("start", "new-session", "-d", "-s", "one", "-x", "80", "-y", "24",
             "/bin/sh")
        does("keys", "send-keys", "-t", "one",
             "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; "
             "echo counted $i; stty size; trap 'echo winch' WINCH", "Enter")
        stage.until(lambda: "24 80" in stage.run(
            *tmux, "capture-pane", "-p", "-t", "one", env=env).out, "the shell")
        # The server ignores SIGINT, and so does its child for a moment.
        does("split", "split-window", "-t", "one", "-h",
             "echo sleeping; exec sleep 1000")
        stage.until(lambda: "sleeping\n" in stage.run(
            *tmux, "capture-pane", "-p", "-t", "one", env=env).out, "the pane")
        does("interrupt", "send-keys", "-t", "one", "C-c", "")
        stage.until(lambda: stage.run(
            *tmux, "list-panes", "-t", "one", env=env).out.count("\n") == 1,
            "the other pane's end")
        does("ask", "send-keys", "-t", "one", "stty size; echo again", "Enter")
        stage.until(lambda: "\nagain\n" in stage.run(
            *tmux, "capture-pane", "-p", "-t", "one", env=env).out, "the shell")
        shown = stage.run(*tmux, "capture-pane", "-p", "-t", "one", env=env).out
        results["shown"] = str([line.strip() for line in shown.splitlines()
                                if re.fullmatch(r"counted \d+|\d+ \d+|again",
                                                line.strip())])
        does("end", "kill-server")
        stage.until(lambda: not stage.children(), "the server's end")
        return results


PROGRAMS = {"gdb": Gdb(), "strace": Strace(), "valgrind": Valgrind(),
            "tmux": Tmux()}
