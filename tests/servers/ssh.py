# SPDX-License-Identifier: MIT
"""sshd: children with other rights behind a chroot and a filter, sessions with
and without a terminal, files handed over, its configuration read again.
Runs in: tests."""

import hashlib
import os
import signal

from stage import Program, free_port

CONFIGURATION = """
Port %(port)d
ListenAddress 127.0.0.1
HostKey %(folder)s/host
PidFile %(folder)s/sshd.pid
AuthorizedKeysFile %(folder)s/user.pub
StrictModes no
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
PrintMotd no
PrintLastLog no
Subsystem sftp internal-sftp
"""


class Ssh(Program):
    """A server and its clients; it takes root."""

    name, package = "sshd", "openssh-server openssh-client"
    commands = ("sshd", "ssh", "ssh-keygen", "sftp")

    def missing(self):
        """Root, too."""
        return super().missing() or ("" if os.geteuid() == 0 else "root")

    def run(self, stage):
        """Returns {what: result}."""
        results = {}
        port = free_port()
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
        for key in ("host", "user"):
            stage.must("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
                       stage.path(key))
        conf = stage.write("sshd_config", CONFIGURATION % {
            "port": port, "folder": stage.folder})
        server = stage.start("/usr/sbin/sshd", "-D", "-e", "-f", conf,
                             name="sshd")
        stage.answers(port)
        options = ["-F", "/dev/null", "-i", stage.path("user"), "-o",
                   "StrictHostKeyChecking=no", "-o", "LogLevel=ERROR", "-o",
                   "UserKnownHostsFile=" + stage.path("known")]
        ssh = ["ssh", *options, "-p", str(port), "root@127.0.0.1"]
        results["status"] = str(stage.run(*ssh, "echo there; exit 3"))
        results["errors"] = str(stage.run(*ssh, "echo wrong >&2; kill -9 $$"))
        results["terminal"] = str(stage.run(
            ssh[0], "-tt", *ssh[1:], "stty rows 10 cols 40; stty size"))
        text = "".join(f"line {i} {i * 7919 % 1000003}\n"
                       for i in range(200000))
        done = stage.run(*ssh, "sha256sum; head -c 5000000 /dev/zero", text=text)
        results["stream"] = str(done.status) + done.err + \
            hashlib.sha256(done.out.encode()).hexdigest()
        stage.write("sent", text)
        batch = stage.write("batch", f"put {stage.path('sent')} "
                            f"{stage.path('got')}\nls -1 {stage.folder}/got\n")
        results["sftp"] = str(stage.run(
            "sftp", *options, "-q", "-P", str(port), "-b", batch,
            "root@127.0.0.1")).replace(stage.folder, "")
        results["file"] = str(stage.read("got") == text)
        many = [stage.start(*ssh, f"sleep 0.2; echo {i}; exit {i}",
                            name=f"many{i}") for i in range(6)]
        results["many"] = str([stage.wait(child, "ssh") for child in many])
        server.send_signal(signal.SIGHUP)
        stage.until(lambda: stage.read("sshd.err").count(
            "Server listening") >= 2, "sshd to start again")
        results["after HUP"] = str(stage.run(*ssh, "echo again"))
        server.send_signal(signal.SIGTERM)
        results["end"] = str(stage.wait(server, "sshd"))
        results["log"] = str(sorted({
            line.split(" port ")[0].split(" from ")[0] for line in
            stage.read("sshd.err").replace("\r", "").splitlines()
            if "listening" not in line and "Connection closed" not in line
            and "Accepted" not in line and "disconnect" not in line.lower()}))
        return results


PROGRAM = Ssh()
