# SPDX-License-Identifier: MIT
"""PostgreSQL's regression tests (of Debian's source package, which servers.mk
unpacks) against the server that is installed: the same pass and fail.
Runs in: tests."""

import glob
import os
import re
import subprocess

from postgresql import CONFIGURATION, PostgreSQL, Server
from stage import BUILD, Failure

SOURCES = os.path.join(BUILD, "suites", "postgresql-*")
LINE = re.compile(r"^(?:test|    ) (\S+) +\.\.\. (ok|FAILED\b.*|failed\b.*?)\b")


class Regress(PostgreSQL):
    """pg_regress with the schedule of the source."""

    name, package = "pgregress", "postgresql postgresql-server-dev-all"

    def missing(self):
        """The tests, and who runs them."""
        found = super().missing()
        if not glob.glob(SOURCES):
            found += " source of postgresql"
        if not self.runner():
            found += " pg_regress"
        return found

    def runner(self):
        """pg_regress's path, or ''."""
        done = subprocess.run(["pg_config", "--pgxs"], capture_output=True,
                              text=True, check=False)
        path = os.path.join(os.path.dirname(done.stdout.strip()),
                            "..", "test", "regress", "pg_regress")
        return path if os.path.exists(path) else ""

    def run(self, stage):
        """Returns {test: outcome}."""
        server = Server(stage)
        server.begin(CONFIGURATION.replace("work_mem = 4MB", "").replace(
            "min_parallel_table_scan_size = 0", "").replace(
                "parallel_setup_cost = 0", ""))
        tests = os.path.join(sorted(glob.glob(SOURCES))[-1], "src", "test", "regress")
        include = subprocess.run(["pg_config", "--includedir-server"],
                                 capture_output=True, text=True,
                                 check=True).stdout.strip()
        # Under the library like the rest: its time is counted like theirs.
        stage.must("gcc", "-O2", "-w", "-shared", "-fPIC", "-I", include,
                   "-I", tests, "-o", stage.path("regress.so"),
                   os.path.join(tests, "regress.c"))
        done = server.command(
            self.runner(), "--inputdir=" + tests, "--outputdir=" + stage.folder,
            "--dlpath=" + stage.folder, "--bindir=" + server.bin,
            "--max-concurrent-tests=20", "--schedule=" + os.path.join(
                tests, "parallel_schedule"))
        found = {}
        for line in done.out.splitlines():
            match = LINE.match(line)
            if match:
                found[match[1]] = match[2].split()[0]
        if len(found) < 150:
            raise Failure(f"{len(found)} tests: {done}")
        found["exit"] = str(done.status)
        done = server.command("pg_ctl", "stop", "-m", "fast")
        found["stop"] = str(done.status)
        return found


PROGRAM = Regress()
