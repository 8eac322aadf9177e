# SPDX-License-Identifier: MIT
"""Process trees, and that a program never notices: each process that uses the
CPU has a log, and status and output stay what they are.  Runs in: tests."""
import os
import re
import signal
import subprocess
import unittest

from jprun import (LIBRARY, TICK_FLAGS, Case, need, program, quote, shell,
                   weight_s)


class Trees(Case):
    def logs_by_pid(self):
        return {run.header["pid"]: run for run in self.all_runs()}

    def tree(self):
        with open(self.path("jprof-tree"), encoding="utf-8") as source:
            return source.read()

    def test_fork_exec_vfork_spawn(self):
        done = self.run_program(program("forker"), "0.4")
        self.assertEqual((done.status, done.err), (0, ""))
        logs = self.logs_by_pid()
        children = {how: int(pid) for how, pid in re.findall(
            r"(?m)^(\w+) (\d+)$", done.out)}
        self.assertEqual(sorted(children), ["exec", "fork", "spawn", "vfork"])
        for how, pid in children.items():
            self.assertIn(pid, logs, how)
            self.assertLess(abs(weight_s(logs[pid]) - 0.4), 0.08, how)
            self.assertEqual(logs[pid].damage, [])
            self.assertEqual(
                int(logs[pid].events("process")[0][1]["pid"]), pid)

    def test_child_of_a_sampled_parent(self):
        """A child's samples go into a log of its own, not its parent's."""
        done = self.run_program(program("forker"), "0.4", "0.4")
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertEqual(self.run_of().header["pid"], done.pid)
        self.assertLess(abs(weight_s(self.run_of()) - 0.4), 0.08)
        logs = self.logs_by_pid()
        child = int(re.search(r"(?m)^fork (\d+)$", done.out).group(1))
        self.assertLess(abs(weight_s(logs[child]) - 0.4), 0.08)
        self.assertEqual({s[1] for s in logs[child].samples}, {child})
        self.assertEqual({s[1] for s in self.run_of().samples}, {done.pid})

    def test_child_is_reported_by_name(self):
        done = self.run_program(program("forker"), "0.4")
        app = program("forker")
        for pid in re.findall(r"(?m)^(?:fork|exec) (\d+)$", done.out):
            stacks = self.collapsed(app, "jprof-log-" + pid)
            total = sum(weight for _, weight in stacks)
            self.assertGreater(
                sum(w for s, w in stacks if "child_work" in s), 0.9 * total)

    def test_pipeline(self):
        """A log for every process of a shell pipeline that uses the CPU."""
        busy = quote(program("busy"))
        done = self.run_program(*shell(
            "%s 0.4 | (%s 0.5 && cat) | %s 0.6; echo end"
            % (busy, busy, busy)))
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertTrue(done.out.endswith("end\n"), done.out)
        weights = sorted(round(weight_s(run), 1) for run in self.all_runs()
                         if weight_s(run) > 0.1)
        self.assertEqual(weights, [0.4, 0.5, 0.6])

    def test_exec_in_the_same_process(self):
        # busy counts the CPU time that the shell has used as its own.
        busy = quote(program("busy"))
        done = self.run_program(*shell(
            "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; exec %s 1.5"
            % busy))
        self.assertEqual((done.status, done.err), (0, ""))
        runs = [run for run in self.all_runs()
                if run.header["pid"] == done.pid]
        self.assertEqual(len(runs), 2, self.files())
        self.assertEqual(len({run.header["exe"] for run in runs}), 2)

    def test_chdir_does_not_scatter_logs(self):
        os.mkdir(self.path("elsewhere"))
        busy = quote(program("busy"))
        self.run_program(*shell("cd elsewhere && %s 0.3; exit 0" % busy))
        self.assertEqual(os.listdir(self.path("elsewhere")), [])
        self.assertEqual(len([run for run in self.all_runs()
                              if weight_s(run) > 0.2]), 1)

    def test_program_that_a_wrapper_gives_its_own_preload(self):
        """The library is added again, whatever executes the program."""
        script = self.path("wrapper")
        with open(script, "w", encoding="ascii") as out:
            out.write("#!/bin/sh\nexport LD_PRELOAD=libm.so.6\nexec %s 0.4 9\n"
                      % quote(program("busy")))
        os.chmod(script, 0o755)
        done = self.run_program(script)
        self.assertEqual((done.status, done.err), (9, ""))
        self.assertGreater(sum(weight_s(run) for run in self.all_runs()
                               if run.header["exe"] == program("busy")), 0.2)
        # (The shell may have had no sample, so that there is no tree.)
        if os.path.exists(self.path("jprof-tree")):
            self.assertNotIn("why=preload", self.tree())

    def test_preload_is_changed_where_it_was_replaced_alone(self):
        """Not where it was removed or is empty, where the flags are missing,
        nor for a program that loads nothing."""
        shows = ["/bin/sh", "-c", "echo \"$LD_PRELOAD\""]
        asks = ("import ctypes, os, subprocess, sys\n"
                "def run(env, *argv):\n"
                "    base = {'PATH': os.environ['PATH']}\n"
                "    if 'no-flags' not in env:\n"
                "        base['JPROF_FLAGS'] = os.environ['JPROF_FLAGS']\n"
                "    env = dict(base, **env)\n"
                "    sys.stdout.flush()\n"
                "    subprocess.run(argv, env=env, check=True)\n"
                "    pid = os.posix_spawn(argv[0], argv, env)\n"
                "    os.waitpid(pid, 0)\n"
                "    pid = os.fork()\n"
                "    if pid == 0:\n"
                "        os.execvpe(argv[0], argv, env)\n"
                "    os.waitpid(pid, 0)\n"
                "    pid = os.fork()\n"
                "    if pid == 0:\n"
                "        os.environ.clear()\n"
                "        os.environ.update(env)\n"
                "        os.execv(argv[0], argv)\n"
                "    os.waitpid(pid, 0)\n"
                "for env in %r:\n    run(env, *sys.argv[1:])\n")
        mine = "libm.so.6:" + LIBRARY
        cases = [({"LD_PRELOAD": "libm.so.6"}, mine),
                 ({"A": "1", "LD_PRELOAD": "libm.so.6", "B": "2"}, mine),
                 ({"LD_PRELOAD": mine}, mine),
                 ({"LD_PRELOAD": ""}, ""), ({}, ""),
                 ({"LD_PRELOAD": "libm.so.6", "no-flags": "1"}, "libm.so.6")]
        done = self.run_program(need("python3"), "-c",
                                asks % [env for env, _ in cases], *shows)
        self.assertEqual(done.err, "")
        self.assertEqual(done.out.split("\n"),
                         [want for _, want in cases for _ in range(4)] + [""])
        static = self.path("static")
        subprocess.run(["cc", "-static", "-x", "c", "-", "-o", static],
                       check=True, text=True, input=(
                           "#include <stdio.h>\n#include <stdlib.h>\n"
                           "int main(void)\n{\n"
                           "    puts(getenv(\"LD_PRELOAD\"));\n}\n"))
        done = self.run_program(need("python3"), "-c",
                                asks % [cases[0][0]], static)
        self.assertEqual(done.out, "libm.so.6\n" * 4)

    def test_program_without_the_library_is_not_signalled(self):
        """No timer survives into a program that is executed without it."""
        done = self.run_program(*shell(
            "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; "
            "unset LD_PRELOAD; exec %s 0.4 9" % quote(program("busy"))))
        self.assertEqual((done.status, done.err), (9, ""))


class Transparent(Case):
    """stdout, stderr and exit status with and without the library."""

    def same(self, *argv, **options):
        plain = self.run_program(*argv, preload=False, **options)
        for flags in (TICK_FLAGS, "JP_DEFER", None,
                      TICK_FLAGS + " JP_REALTIME"):
            with self.subTest(flags=flags):
                done = self.run_program(*argv, flags=flags, **options)
                self.assertEqual((done.status, done.out, done.err),
                                 (plain.status, plain.out, plain.err))
        return plain

    def test_output_and_status(self):
        script = "echo out; echo err >&2; exit 42"
        plain = self.same(*shell(script))
        self.assertEqual((plain.status, plain.out, plain.err),
                         (42, "out\n", "err\n"))

    def test_death_by_signal(self):
        self.assertEqual(self.same(*shell("kill -TERM $$")).status,
                         -signal.SIGTERM)

    def test_closed_descriptors(self):
        self.same(*shell("exec <&- >&- 2>&-; ls -l /proc/self/fd"))

    def test_open_descriptors(self):
        """The program gets the descriptor numbers that it would get."""
        self.same(need("python3"), "-c",
                  "import os; print(os.open('/dev/null', 0))")

    def test_signals_of_python(self):
        self.same(need("python3"), "-c", """if True:
            import signal, os
            got = []
            for name in ('SIGTERM', 'SIGHUP', 'SIGCHLD', 'SIGWINCH'):
                number = getattr(signal, name)
                signal.signal(number, lambda n, f: got.append(n))
                os.kill(os.getpid(), number)
            print(got)
            """)

    def test_no_further_thread(self):
        """As many threads as without the library, while it is sampling."""
        for flags in (TICK_FLAGS, "JP_DEFER"):
            live = self.start(program("busy"), "600", flags=flags)
            live.line()
            live.burn(0.3)
            self.assertEqual(
                len(os.listdir("/proc/%d/task" % live.pid)), 1)
            live.end(signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
