# SPDX-License-Identifier: MIT
"""PostgreSQL: a database is made, filled, and put under load by pgbench; its
backends meet time-outs, cancellations, dead locks and the death of one of
them; it reads its configuration again, and ends.
Runs in: tests."""

import glob
import os
import re
import signal

from stage import Program, free_port

CONFIGURATION = """
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
fsync = off
shared_buffers = 16MB
max_parallel_workers_per_gather = 2
min_parallel_table_scan_size = 0
parallel_setup_cost = 0
log_line_prefix = ''
work_mem = 4MB
deadlock_timeout = 200ms
"""
QUERIES = """
\\set VERBOSITY terse
CREATE EXTENSION pgcrypto;
SELECT encode(digest('jprof', 'sha256'), 'hex');
SELECT count(*), sum(abalance), sum(aid) FROM pgbench_accounts;
SELECT sum(tbalance) = (SELECT sum(bbalance) FROM pgbench_branches)
  FROM pgbench_tellers;
CREATE TABLE words AS SELECT i, md5(i::text) AS word
  FROM generate_series(1, 60000) i;
CREATE INDEX ON words (word);
ANALYZE words;
SELECT count(*), min(word), max(word) FROM words WHERE word LIKE '%ab%';
SELECT count(DISTINCT substr(word, 1, 3)) FROM words;
SET statement_timeout = '300ms';
SELECT pg_sleep(60);
SELECT count(*) FROM words a, words b, words c;
RESET statement_timeout;
LISTEN news;
NOTIFY news, 'one';
COPY (SELECT i FROM words WHERE i < 4 ORDER BY i) TO PROGRAM 'cat >copied';
DO $$ BEGIN PERFORM 1 / 0; EXCEPTION WHEN division_by_zero THEN
  RAISE NOTICE 'caught'; END $$;
VACUUM words;
SELECT 1 FROM pg_sleep(0.2);
"""
CYCLE = """
BEGIN;
UPDATE pair SET v = v + 1 WHERE k = %d;
SELECT 1 FROM pg_sleep(0.6);
UPDATE pair SET v = v + 1 WHERE k = %d;
COMMIT;
"""


class Server:
    """A server of its own for a test."""

    def __init__(self, stage):
        self.stage = stage
        # The user that the package makes; the server refuses to run as root.
        self.user = "postgres"
        self.port = free_port()
        folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        self.bin = folders[-1] if folders else "/usr/bin"
        self.data = stage.path("data")
        self.env = {"PGHOST": "127.0.0.1", "PGPORT": str(self.port),
                    "PGUSER": "postgres", "PGDATABASE": "postgres",
                    "PGDATA": self.data, "PGTZ": "UTC"}
        stage.give(self.user)

    def command(self, name, *arguments, must=False, **options):
        """One of the package's programs."""
        run = self.stage.must if must else self.stage.run
        return run(os.path.join(self.bin, name), *arguments, user=self.user,
                   env=self.env, **options)

    def begin(self, configuration=CONFIGURATION):
        """Makes the cluster and starts the server."""
        self.command("initdb", "-N", "-A", "trust", "-U", "postgres",
                     "--locale=C.UTF-8", must=True)
        with open(os.path.join(self.data, "postgresql.conf"), "a",
                  encoding="utf-8") as file:
            file.write(configuration)
        done = self.command("pg_ctl", "start", "-w", "-l",
                            self.stage.path("server.log"), must=True)
        return done.err

    def errors(self):
        """What its log has of errors, without what varies: how it answers
        who asks whether it is there yet says how far it is just then."""
        return sorted({re.sub(r"\d+", "N", line) for line in
                       self.stage.read("server.log").splitlines()
                       if re.match("ERROR|FATAL|PANIC|WARNING", line) and
                       not re.match("FATAL:  the database system is", line)})


class PostgreSQL(Program):
    """A server and its clients."""

    name, package = "postgresql", "postgresql postgresql-contrib"
    commands = ("psql", "pgbench")

    def missing(self):
        """A server as well as clients."""
        found = super().missing()
        if not glob.glob("/usr/lib/postgresql/*/bin/initdb"):
            found += " initdb"
        return found

    def prepare(self, logs):
        """The server's user writes its own profile."""
        os.chmod(logs, 0o1777)

    def bench(self, server, *options):
        """pgbench's account of its transactions."""
        done = server.command("pgbench", "-n", "--random-seed=7",
                              *options)
        return str([line for line in done.out.splitlines() if re.match(
            "number of transactions|number of failed", line)]) + done.err

    def dead_lock(self, server, results):
        """Two that wait for each other: one of them is told so."""
        server.command("psql", "-c", "CREATE TABLE pair AS SELECT k, 0 AS v "
                       "FROM generate_series(1, 2) k", must=True)
        pairs = [server.stage.start(
            os.path.join(server.bin, "psql"), "-f",
            server.stage.write(f"cycle{one}.sql", CYCLE % (one, 3 - one)),
            name=f"cycle{one}", user=server.user, env=server.env)
                 for one in (1, 2)]
        for child in pairs:
            server.stage.wait(child, "psql")
        text = "".join(server.stage.read(f"cycle{one}.err") for one in (1, 2))
        results["dead lock"] = str(text.count("deadlock detected"))

    def crash(self, server, results):
        """One backend is killed: the others start anew."""
        child = server.stage.start(
            os.path.join(server.bin, "psql"), "-c", "SELECT pg_sleep(600)",
            name="victim", user=server.user, env=server.env)
        backend = server.stage.until(
            lambda: server.command(
                "psql", "-Atc", "SELECT pid FROM pg_stat_activity WHERE query "
                "LIKE '%sleep(600)%' AND pid <> pg_backend_pid()").out.strip(),
            "the backend")
        os.kill(int(backend), signal.SIGKILL)
        results["killed"] = str(server.stage.wait(child, "psql"))
        server.stage.until(lambda: server.command(
            "psql", "-Atc", "SELECT 1").status == 0, "the server")

    def run(self, stage):
        """Returns {what: result}."""
        server = Server(stage)
        results = {"start": server.begin()}
        done = server.command("pgbench", "-i", "-s", "1", "-q")
        results["fill"] = f"{done.status} {done.out}"
        results["bench"] = self.bench(server, "-c", "6", "-j", "2", "-t", "500")
        results["selects"] = self.bench(server, "-S", "-M", "prepared", "-c",
                                        "4", "-t", "4000")
        results["connects"] = self.bench(server, "-S", "-C", "-c", "2", "-t",
                                         "40")
        done = server.command("psql", "-f", stage.write("queries.sql", QUERIES))
        results["queries"] = re.sub(r"PID \d+", "PID", done.out)
        results["query errors"] = done.err
        results["copied"] = stage.read("data/copied")
        self.dead_lock(server, results)
        with open(os.path.join(server.data, "postgresql.conf"), "a",
                  encoding="utf-8") as file:
            file.write("work_mem = 9MB\n")
        results["reload"] = str(server.command("pg_ctl", "reload"))
        results["reloaded"] = str(bool(stage.until(
            lambda: "9MB" in server.command("psql", "-Atc",
                                            "SHOW work_mem").out,
            "the new configuration")))
        self.crash(server, results)
        done = server.command("pg_ctl", "stop", "-m", "fast")
        results["stop"] = re.sub(r"\.+", "", str(done))
        results["log"] = str(server.errors())
        return results


PROGRAM = PostgreSQL()
