# SPDX-License-Identifier: MIT
"""Redis under load: its own benchmark, background saves (which fork), a daemon,
and an orderly end.
Runs in: tests."""

import hashlib
import re

from stage import Program, free_port


class Redis(Program):
    """One server, several clients."""

    name, package = "redis", "redis-server redis-tools"
    commands = ("redis-server", "redis-cli", "redis-benchmark")

    def serve(self, stage, results, daemon):
        """A server's life; `daemon`: it puts itself into the background."""
        port = free_port()
        kind = "daemon" if daemon else "server"
        server = stage.start(
            "redis-server", "--port", str(port), "--bind", "127.0.0.1",
            "--dir", stage.folder, "--dbfilename", kind + ".rdb",
            "--daemonize", "yes" if daemon else "no", "--logfile",
            stage.path(kind + ".log"), "--pidfile", stage.path(kind + ".pid"),
            "--save", "", name=kind)
        stage.answers(port)
        client = ["redis-cli", "-p", str(port)]
        lines = "".join(f"SET key:{i} {'v' * (i % 97)}\n" for i in range(2000))
        done = stage.run(*client, text=lines)
        results[kind + ": sets"] = f"{done.status} {done.out.count('OK')}" \
            + done.err
        done = stage.run("redis-benchmark", "-p", str(port), "-q", "-n",
                         "20000", "-P", "8", "-t", "set,get,incr,lpush,lrange",
                         "--csv")
        results[kind + ": benchmark"] = str(
            [line.split(",")[0] for line in done.out.splitlines()]) + done.err
        stage.must(*client, "BGSAVE")
        stage.until(lambda: "rdb_bgsave_in_progress:0" in stage.run(
            *client, "INFO", "persistence").out, "the background save")
        info = stage.run(*client, "INFO", "persistence").out
        results[kind + ": save"] = str([
            line.strip() for line in info.splitlines()
            if line.startswith("rdb_last_bgsave_status")])
        values = stage.run(*client, text="".join(
            f"GET key:{i}\n" for i in range(2000)))
        results[kind + ": values"] = hashlib.sha256(
            values.out.encode()).hexdigest()
        done = stage.run(*client, "SHUTDOWN", "SAVE")
        results[kind + ": shutdown"] = str(done)
        results[kind + ": status"] = str(stage.wait(server, kind))
        results[kind + ": output"] = stage.read(kind + ".out") + \
            stage.read(kind + ".err")
        stage.until(lambda: "bye bye" in stage.read(kind + ".log"), "the end")
        results[kind + ": log"] = str([
            re.sub(r"pid=\d+", "", line.split(" ", 5)[-1]) for line in
            stage.read(kind + ".log").splitlines()
            if " # " in line and "overcommit" not in line
            and "oO0Oo" not in line])

    def run(self, stage):
        """Returns {what: result}."""
        results = {}
        self.serve(stage, results, False)
        self.serve(stage, results, True)
        return results


PROGRAM = Redis()
