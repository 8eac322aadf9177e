# SPDX-License-Identifier: MIT
"""The CPU time of every process that ends, to the nanosecond, as the kernel
tells it (taskstats over netlink; include/uapi/linux/taskstats.h): what a
profile's weights are compared with.  It takes CAP_NET_ADMIN.
Runs in: tests."""

import os
import socket
import struct
import threading
import time

GENL_ID_CTRL = 0x10
CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 3, 1, 2
TASKSTATS_CMD_GET = 1
TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, TASKSTATS_CMD_ATTR_DEREGISTER_CPUMASK = 3, 4
TASKSTATS_TYPE_STATS, TASKSTATS_TYPE_AGGR_PID = 3, 4
# Offsets in struct taskstats; the thread group's id came with version 11.
CPU_RUN_VIRTUAL_TOTAL, AC_COMM, AC_PID, AC_PPID = 72, 80, 128, 132
AC_BTIME64, AC_TGID = 360, 368
AC_COMM_SIZE = 32
TGID_VERSION = 11
BUFFER = 1 << 24


def attributes(data):
    """(type, payload) of each netlink attribute in `data`."""
    at = 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, at)
        if length < 4:
            return
        yield kind, data[at + 4:at + length]
        at += (length + 3) & ~3


def attribute(kind, payload):
    """A netlink attribute."""
    pad = -len(payload) % 4
    return struct.pack("=HH", 4 + len(payload), kind) + payload + bytes(pad)


def request(family, command, payload, version=1):
    """A generic netlink request."""
    body = struct.pack("=BBH", command, version, 0) + payload
    return struct.pack("=IHHII", 16 + len(body), family, 1, 1, 0) + body


class Ended:
    """What the kernel said of a process that ended."""

    def __init__(self, pid, parent, began):
        self.pid, self.parent, self.began = pid, parent, began
        self.seconds = 0.0      # of CPU, all threads'
        self.names = set()      # as the threads were called when they ended
        self.leader = None      # when the first thread ended


class CpuTimes:
    """Listens from start() to stop(); `ended` has, for each number, those
    processes of the machine that had it and ended meanwhile, or some thread
    of which did.  `lost` says that the kernel could not tell us all."""

    def __init__(self):
        self.ended = {}
        self.lost = False
        self.socket = self.thread = None
        self.family = 0
        self.cpus = b"0-%d\0" % ((os.cpu_count() or 1) - 1)

    def start(self):
        """False where the kernel does not tell us."""
        try:
            self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW,
                                        16)             # NETLINK_GENERIC
            self.socket.bind((0, 0))
            self.socket.setsockopt(socket.SOL_SOCKET, 33, BUFFER)
            self.socket.send(request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY,
                                     attribute(CTRL_ATTR_FAMILY_NAME,
                                               b"TASKSTATS\0")))
            for kind, payload in attributes(self.socket.recv(65536)[20:]):
                if kind == CTRL_ATTR_FAMILY_ID:
                    self.family = struct.unpack_from("=H", payload)[0]
            if not self.family:
                return False
            self.register(TASKSTATS_CMD_ATTR_REGISTER_CPUMASK)
        except OSError:
            return False
        self.socket.settimeout(0.2)
        self.thread = threading.Thread(target=self.listen)
        self.thread.start()
        return True

    def register(self, how):
        """Asks for the threads that end on any processor, or no longer."""
        self.socket.send(request(self.family, TASKSTATS_CMD_GET,
                                 attribute(how, self.cpus)))

    def stop(self):
        """Takes what is left."""
        self.register(TASKSTATS_CMD_ATTR_DEREGISTER_CPUMASK)
        thread, self.thread = self.thread, None
        thread.join()
        self.socket.close()

    def listen(self):
        """The thread's: until stop(), and then until nothing comes."""
        while True:
            try:
                data = self.socket.recv(65536)
            except TimeoutError:
                if self.thread is None:
                    return
                continue
            except OSError:         # ENOBUFS
                self.lost = True
                continue
            length, kind = struct.unpack_from("=IH", data)
            if kind == self.family:
                for kind, payload in attributes(data[20:length]):
                    if kind == TASKSTATS_TYPE_AGGR_PID:
                        self.take(dict(attributes(payload)))

    def take(self, parts):
        """One thread's end."""
        stats = parts.get(TASKSTATS_TYPE_STATS, b"")
        if len(stats) < AC_TGID + 4 or \
                struct.unpack_from("=H", stats)[0] < TGID_VERSION:
            return
        def number(code, at):
            return struct.unpack_from("=" + code, stats, at)[0]

        began, parent = number("Q", AC_BTIME64), number("I", AC_PPID)
        process, thread = number("I", AC_TGID), number("I", AC_PID)
        all_ended = self.ended.setdefault(process, [])
        # Numbers are used again, even within a minute.
        if not all_ended or (all_ended[-1].leader is not None and
                             began > all_ended[-1].leader - 1):
            all_ended.append(Ended(process, parent, began))
        ended = all_ended[-1]
        ended.seconds += number("Q", CPU_RUN_VIRTUAL_TOTAL) / 1e9
        ended.names.add(stats[AC_COMM:AC_COMM + AC_COMM_SIZE].partition(
            b"\0")[0].decode("utf-8", "replace"))
        if thread == process:
            ended.leader, ended.parent = time.time(), parent
            ended.began = began

    def parent(self, ended):
        """The Ended of a process's parent, or None."""
        for other in self.ended.get(ended.parent, ()):
            # (Numbers are used again: one that began later is another.)
            if other.leader is None or (other.leader >= ended.began and
                                        other.began <= ended.began):
                return other
        return None

    def below(self, top):
        """The Ended of the processes that came from `top`.  As it takes in
        orphans (PR_SET_CHILD_SUBREAPER), all of their parents lead to it."""
        found = []
        for ended in [one for some in self.ended.values() for one in some]:
            at, steps = self.parent(ended), 0
            while at is not None and at.pid != top and steps < 100:
                at, steps = self.parent(at), steps + 1
            if at is not None and at.pid == top:
                found.append(ended)
        return found
