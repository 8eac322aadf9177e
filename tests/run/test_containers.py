# SPDX-License-Identifier: MIT
"""Containers: Docker's own seccomp profile, and kernels in user space that
know few system calls.  The profile is whole; what it could not have, it
names.  Runs in: tests."""
import errno
import glob
import os
import re
import unittest

from jprun import BUILD, program
from refusing import FLAGS, Refusing, answers, calls, processes, turns

# What Docker's default profile does not allow a container that was given no
# capability besides the usual, of the calls of x86-64 and aarch64: with EPERM,
# and all calls later than its own.  (moby/profiles, seccomp/default.json, of
# 2025; its older form was moby/moby, profiles/seccomp/default.json.)
DOCKER = """_sysctl acct add_key afs_syscall bpf clock_settime create_module
delete_module fanotify_init finit_module fsconfig fsmount fsopen fspick
get_kernel_syms get_mempolicy getpmsg init_module io_uring_enter
io_uring_register io_uring_setup ioperm iopl kcmp kexec_file_load kexec_load
keyctl lookup_dcookie lsm_get_self_attr lsm_list_modules lsm_set_self_attr
mbind migrate_pages mount mount_setattr move_mount move_pages nfsservctl
open_by_handle_at open_tree perf_event_open pidfd_getfd pivot_root
process_madvise putpmsg query_module quotactl quotactl_fd reboot request_key
security set_mempolicy set_mempolicy_home_node setdomainname sethostname setns
settimeofday swapoff swapon sysfs syslog tuxcall umount2 unshare uselib
userfaultfd ustat vhangup vserver""".split()
# mseal is the last that it names by number, setxattrat and its kin behind.
DOCKER_LAST = 466
# Its usual capabilities have none of CAP_SYS_PTRACE.
PTRACE = ["process_vm_readv", "process_vm_writev", "ptrace"]
# Without these the loader and threads do not work.
LOADER = {"close", "exit", "futex", "mmap", "munmap", "newfstatat", "openat",
          "pread64", "read", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn",
          "write"}
# And without these jprof has no profile: room in a file, whose it is; a clock.
NEEDED = {"fallocate", "ftruncate", "getpid"}
CLOCK = {"setitimer", "gettid"}


def docker():
    """As tests/programs/refuse takes it; clone3 is ENOSYS there, so that the
    C library takes clone, which makes no namespaces."""
    return ",".join((answers(DOCKER, errno.EPERM),
                     answers(["clone3"], errno.ENOSYS), "namespaces",
                     "%d-/%d" % (DOCKER_LAST + 1, errno.EPERM)))


class Containers(Refusing):
    def whole(self, refused, flags=FLAGS, notes=0):
        summary = self.attempts(refused, flags)
        self.assertEqual((summary["lost"], summary["notes"]),
                         ("0", str(notes)))
        self.assertIn(int(summary["processes"]), self.there)
        self.assertEqual(self.there.start, 4)
        # One may be in the loader's first instructions.
        self.assertLessEqual(int(summary["incomplete"]), 1)
        return summary

    def test_docker(self):
        self.whole(docker())

    def test_docker_at_a_high_rate(self):
        """The default clock needs no perf event."""
        summary = self.whole(docker(), "JP_START JP_PERIOD=0.001")
        self.assertEqual(summary["clock"], "hrtimer")

    def test_docker_without_the_perf_clock(self):
        """It is asked for and refused, which is said."""
        summary = self.whole(docker(), "JP_START JP_PERIOD=0.001 "
                                       "JP_CLOCK=perf", 1)
        self.assertEqual(summary["clock"], "thread-cpu")

    def test_docker_on_an_old_kernel(self):
        """Before 4.8 its profile refused what reads memory; before 6.11
        nobody could ask for one mapping."""
        self.whole(",".join((docker(), answers(PTRACE, errno.EPERM),
                             "procmap-query")))

    def test_perf_events_refused(self):
        """kernel.perf_event_paranoid of 2, and 3 and 4 where a distribution
        knows those: EACCES to who has no CAP_PERFMON (perf_event_open(2))."""
        for answer in (errno.EACCES, errno.EPERM, errno.ENOSYS):
            with self.subTest(answer=errno.errorcode[answer]):
                self.whole(answers(["perf_event_open"], answer),
                           "JP_START JP_PERIOD=0.001 JP_CLOCK=perf", 1)

    def test_the_launcher_in_docker(self):
        done = self.run_program(
            program("refuse"), docker(), os.path.join(BUILD, "jprof"), "-o",
            self.path("out"), program("attempts"), turns(), preload=None)
        self.assertEqual(done.status, 5, done.err)
        self.assertTrue(os.path.exists(self.path("out/report.html")))
        logs = [path for path in glob.glob(self.path("out/*"))
                if re.search(r"jprof-log[-0-9]*$", path)]
        self.assertIn(len(logs), processes(done.out), logs)

    def test_pidfds_refused(self):
        """A running program is steered without them."""
        live = self.start(program("busy"), "60", flags=FLAGS + " JP_DEFER")
        live.line()
        done = self.run_program(
            program("refuse"), answers(["pidfd_open", "pidfd_send_signal"],
                                       errno.EPERM),
            os.path.join(BUILD, "jprof"), "start", str(live.pid), preload=None)
        self.assertEqual(done.status, 0, done.err)
        live.wait_until(self.log_names, "the profile to start")
        live.stop()

    def test_few_calls_known(self):
        """All at once, as where a kernel in user space (gVisor) knows them
        not, or a filter of few words allows none."""
        known = LOADER | NEEDED | CLOCK
        for error in (errno.ENOSYS, errno.EPERM):
            with self.subTest(error=errno.errorcode[error]):
                summary = self.attempts(answers(calls() - known, error))
                self.assertEqual(summary["clock"], "itimer")
                self.assertIn(int(summary["processes"]), self.there)

    def silent(self, refused):
        """No profile: one line a process says why."""
        self.assertEqual(self.attempts(refused), {})

    def test_no_clock(self):
        self.silent(answers(calls() - LOADER - NEEDED, errno.ENOSYS))
        self.silent(answers(["setitimer", "timer_settime"], errno.EPERM))

    def test_no_thread_is_known(self):
        """The one clock that is left sends a signal that does not say which
        thread it came to."""
        self.silent(answers(["gettid", "timer_settime"], errno.EPERM))

    def test_nobody_knows_the_cpu_time(self):
        summary = self.attempts(answers(["clock_gettime", "getrusage"],
                                        errno.EPERM))
        self.assertNotIn("coverage", summary)
        self.assertEqual(summary["notes"], "1")


if __name__ == "__main__":
    unittest.main()
