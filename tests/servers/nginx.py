# SPDX-License-Identifier: MIT
"""nginx under load: a daemon whose workers run as another user, and whose
master is told by signals to read its configuration again, to open its logs
again, to change its program, and to end when all requests are answered.
Runs in: tests."""

import hashlib
import os
import re
import shutil
import signal
import urllib.request

from stage import Program, free_port

# Without `env` it clears the environment of the program that takes its place,
# which then has no library.
CONFIGURATION = """
%(user)s
env LD_PRELOAD;
env JPROF_FLAGS;
worker_processes %(workers)d;
pid %(folder)s/nginx.pid;
error_log %(folder)s/error.log notice;
events { worker_connections 256; }
http {
    access_log %(folder)s/access.log;
    client_body_temp_path %(folder)s/body;
    proxy_temp_path %(folder)s/proxy;
    fastcgi_temp_path %(folder)s/fastcgi;
    uwsgi_temp_path %(folder)s/uwsgi;
    scgi_temp_path %(folder)s/scgi;
    gzip on;
    gzip_types text/plain;
    gzip_min_length 0;
    server {
        listen 127.0.0.1:%(port)d;
        root %(folder)s/www;
        location /far/ { proxy_pass http://127.0.0.1:%(port)d/; }
    }
}
"""
# What its log says that depends on the time.
PASSING = re.compile(r"signal \d+ \(SIGIO\)|worker process \d+ exited|"
                     r"signal 17 \(SIGCHLD\)|start worker process|"
                     r"getrlimit|using the .* event method|OS: ")


class Nginx(Program):
    """One server, and a client with many connections."""

    name, package = "nginx", "nginx apache2-utils"
    commands = ("nginx", "ab")

    def __init__(self):
        self.port = 0
        self.path = ""

    def load(self, stage, path, *options):
        """ab's account of its requests."""
        done = stage.run("ab", "-q", "-n", "8000", "-c", "16", *options,
                         f"http://127.0.0.1:{self.port}{path}")
        kept = [line for line in done.out.splitlines() if re.match(
            r"(Complete|Failed|Write|Non-2xx) ?\w*:|"
            r"Document Length|HTML transferred", line)]
        return f"{done.status} {kept} {done.err}"

    def configure(self, stage, workers):
        """Writes its configuration."""
        user = "user www-data;" if os.geteuid() == 0 else ""
        return stage.write("nginx.conf", CONFIGURATION % {
            "user": user, "folder": stage.folder, "port": self.port,
            "workers": workers})

    def said(self, stage, text, count=1):
        """Waits until its log has so many lines with a text."""
        stage.until(lambda: stage.read("error.log").count(text) >= count,
                    f"{count} x {text} in nginx's log")

    def run(self, stage):
        """Returns {what: result}."""
        results = {}
        self.port = free_port()
        # It executes itself by the name that it was started with.
        self.path = shutil.which("nginx")
        os.mkdir(stage.path("www"))
        stage.write("www/page.txt", "".join(
            f"line {i} of a page\n" for i in range(1500)))
        conf = self.configure(stage, 2)
        results["test"] = re.sub(re.escape(stage.folder), "", str(
            stage.run("nginx", "-t", "-c", conf)))
        results["start"] = str(stage.run(self.path, "-c", conf))
        stage.answers(self.port)
        master = int(stage.until(lambda: stage.read("nginx.pid").strip(),
                                 "nginx's number"))
        results["load"] = self.load(stage, "/page.txt")
        results["kept alive"] = self.load(stage, "/page.txt", "-k", "-H",
                                          "Accept-Encoding: gzip")
        results["proxy"] = self.load(stage, "/far/page.txt")
        self.configure(stage, 3)
        done = stage.run("nginx", "-c", conf, "-s", "reload")
        results["reload"] = f"{done.status} {done.out} {done.err[20:]}"
        results["reload"] = re.sub(r"\d+#\d+", "", results["reload"])
        self.said(stage, "start worker process ", 5)
        # They close connections that a client would use again.
        self.said(stage, "exited with code 0", 2)
        results["after reload"] = self.load(stage, "/page.txt", "-k")
        os.rename(stage.path("access.log"), stage.path("access.old"))
        os.kill(master, signal.SIGUSR1)
        stage.until(lambda: os.path.exists(stage.path("access.log")),
                    "nginx to open its log again")
        results["after USR1"] = self.load(stage, "/page.txt", "-k")
        with urllib.request.urlopen(
                f"http://127.0.0.1:{self.port}/page.txt") as page:
            results["page"] = hashlib.sha256(page.read()).hexdigest()
        os.kill(master, signal.SIGUSR2)
        stage.until(lambda: os.path.exists(stage.path("nginx.pid.oldbin")),
                    "nginx to change its program")
        newer = int(stage.until(lambda: stage.read("nginx.pid").strip(),
                                "the new program's number"))
        os.kill(master, signal.SIGQUIT)
        stage.until(lambda: not os.path.exists(stage.path("nginx.pid.oldbin")),
                    "the old program's end")
        results["new program"] = self.load(stage, "/page.txt", "-k")
        os.kill(newer, signal.SIGQUIT)
        stage.until(lambda: not os.path.exists(stage.path("nginx.pid")),
                    "nginx's end")
        requests = (stage.read("access.old") +
                    stage.read("access.log")).splitlines()
        results["requests"] = str(len(requests))
        results["statuses"] = str({line.split()[8] for line in requests})
        results["log"] = str(sorted({
            re.sub(r"\d+#\d+: |\*\d+ |\d+", "", line[20:])
            for line in stage.read("error.log").splitlines()
            if not PASSING.search(line)}))
        return results


PROGRAM = Nginx()
