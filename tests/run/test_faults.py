# SPDX-License-Identifier: MIT
"""Memory that goes away under jprof: stacks, and logs that are cut short.  The
program lives; and faults of its own are what they were.  Runs in: tests."""
import os
import signal
import sys
import unittest

from jprun import TICK_FLAGS, Case, decode, program

FAST = "JP_START JP_PERIOD=0.001"

BLOCKED = """
import os, signal, time
number = signal.%s
signal.pthread_sigmask(signal.SIG_BLOCK, [number])
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
burn(0.2)
os.kill(os.getpid(), number)
burn(0.2)
assert number in signal.sigpending()
info = signal.sigwaitinfo([number])
assert (info.si_signo, info.si_pid) == (number, os.getpid())
assert signal.getsignal(number) == signal.SIG_DFL
burn(0.2)
print("through")
os.kill(os.getpid(), number)
burn(0.2)
print("pending")
signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
print("never here")
"""

HANDLED = """
import os, signal, time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
seen = []
for number in (signal.SIGSEGV, signal.SIGBUS):
    assert signal.getsignal(number) == signal.SIG_DFL
    old = signal.signal(number, lambda n, f: seen.append(n))
    assert old == signal.SIG_DFL
    burn(0.2)
    os.kill(os.getpid(), number)
    burn(0.2)
    signal.signal(number, signal.SIG_DFL)
    assert signal.getsignal(number) == signal.SIG_DFL
print(seen)
os.kill(os.getpid(), signal.SIGBUS)
time.sleep(10)
"""


class Stacks(Case):
    """Another thread takes away a part of a stack (programs/unstack.c)."""

    def check(self, how, flags=FAST):
        done = self.run_program(program("unstack"), "0.5", how, flags=flags)
        if done.status == 77:
            self.skipTest("no protection keys here")
        self.assertEqual((done.status, done.err), (0, ""))
        run = self.run_of()
        self.assertGreater(len(run.samples), 50)
        self.assertEqual(run.header["counters"][0:7].count(0), 7)

    def test_mprotect(self):
        self.check("mprotect")

    def test_mremap(self):
        self.check("mremap")

    def test_mapped_over(self):
        self.check("over")

    def test_by_syscall(self):
        self.check("syscall")

    def test_by_an_instruction(self):
        self.check("raw")

    def test_program_with_a_handler(self):
        self.check("own")

    def test_all_the_time(self):
        self.check("race")

    def test_key(self):
        self.check("key")

    def test_frame_pointers(self):
        for how in ("mprotect", "raw", "race"):
            self.check(how, FAST + " JP_STACK=fp")

    def test_stacks_lead_to_the_root_again(self):
        """What was given back is read as before."""
        self.run_program(program("unstack"), "1", "mprotect", flags=FAST)
        stacks = self.collapsed(program("unstack"), "jprof-log")
        deep = sum(weight for stack, weight in stacks
                   if stack.count("sink") > 80)
        total = sum(weight for _, weight in stacks)
        self.assertGreater(deep, total / 5)


class NoCode(Case):
    """A call of a function at NULL (programs/nullcall.c): the clock's signal
    comes together with SIGSEGV, so that the code below cannot be read."""

    def test_goes_on_behind_the_call(self):
        for walker in "auto", "fp", "cfi":
            with self.subTest(walker=walker):
                done = self.run_program(
                    program("nullcall"), "1",
                    flags="JP_START JP_PERIOD=0.00025 JP_STACK=" + walker)
                self.assertEqual((done.status, done.out, done.err),
                                 (0, "calls\n", ""))

    def test_caller_of_the_missing_function(self):
        self.run_program(program("nullcall"), "1", flags=FAST)
        stacks = self.collapsed(program("nullcall"), "jprof-log")
        missing = [stack for stack, _ in stacks if "[unknown]" in stack]
        self.assertGreater(len(missing), 0)
        for stack in missing:
            self.assertEqual(stack[stack.index("[unknown]") - 1], "main")


class Cut(Case):
    """Somebody cuts the log short while it is written."""

    def check(self, size, flags=FAST, argv=None):
        argv = argv or [program("busy"), "1.5", "7"]
        live = self.start(*argv, flags=flags)
        live.wait_until(lambda: "jprof-log" in self.log_names(), "the log")
        live.burn(0.4)
        os.truncate(self.path("jprof-log"), size)
        done = live.end()
        self.assertEqual(done.status, 7)
        lines = done.err.splitlines()
        self.assertEqual(len(lines), 1, done.err)
        self.assertIn("the log was cut short", lines[0])
        with open(self.path("jprof-map"), encoding="utf-8") as source:
            self.assertIn("cut%20short", source.read().replace(" ", "%20"))

    def test_to_nothing(self):
        self.check(0)

    def test_to_its_header(self):
        self.check(4096)
        self.assertEqual(len(decode.load(self.path("jprof-log"))), 1)

    def test_ring(self):
        self.check(0, FAST + " JP_CIRCULAR=1M")

    def test_threads_that_block_everything(self):
        self.check(0, argv=[sys.executable, "-c", (
            "import signal, sys, time\n"
            "all = signal.valid_signals()\n"
            "signal.pthread_sigmask(signal.SIG_BLOCK, all)\n"
            "while time.process_time() < 1.5: pass\n"
            "sys.exit(7)")])

    def test_children_go_on(self):
        live = self.start(
            sys.executable, "-c",
            "import os, sys, time\n"
            "def burn(s):\n"
            "    end = time.process_time() + s\n"
            "    while time.process_time() < end: pass\n"
            "burn(1)\n"
            "if os.fork() == 0:\n"
            "    burn(0.4)\n"
            "    os._exit(0)\n"
            "sys.exit(os.wait()[1])\n", flags=FAST)
        live.wait_until(lambda: "jprof-log" in self.log_names(), "the log")
        live.burn(0.2)
        os.truncate(self.path("jprof-log"), 0)
        done = live.end()
        self.assertEqual((done.status, len(done.err.splitlines())), (0, 1))


class Own(Case):
    """The program's own faults, and signals of these numbers."""

    def test_faults(self):
        for code, status in (
                ("import ctypes; ctypes.string_at(8)", -signal.SIGSEGV),
                ("import mmap, os, tempfile\n"
                 "file = tempfile.TemporaryFile(); file.truncate(8192)\n"
                 "memory = mmap.mmap(file.fileno(), 8192)\n"
                 "file.truncate(0); memory[5000]", -signal.SIGBUS)):
            done = self.run_program(
                sys.executable, "-c",
                "import time\nwhile time.process_time() < 0.3: pass\n" + code)
            self.assertEqual((done.status, done.err), (status, ""))

    def test_sent(self):
        for number in (signal.SIGSEGV, signal.SIGBUS):
            live = self.start(program("busy"), "600")
            live.line()
            live.burn(0.2)
            self.assertEqual(live.end(number).status, -number)

    def test_blocked_and_waited_for(self):
        for name in ("SIGSEGV", "SIGBUS"):
            done = self.run_program(sys.executable, "-uc", BLOCKED % name,
                                    flags=FAST)
            self.assertEqual((done.out, done.err),
                             ("through\npending\n", ""))
            self.assertEqual(done.status, -getattr(signal, name))

    def test_handlers(self):
        done = self.run_program(sys.executable, "-uc", HANDLED, flags=FAST)
        self.assertEqual((done.out, done.err), ("[%r, %r]\n" % (
            int(signal.SIGSEGV), int(signal.SIGBUS)), ""))
        self.assertEqual(done.status, -signal.SIGBUS)

    def test_other_programs_have_the_default(self):
        done = self.run_program(
            "/bin/sh", "-c", "env -u LD_PRELOAD sh -c 'kill -SEGV $$'; echo $?",
            flags=TICK_FLAGS)
        self.assertIn("139", done.out)


if __name__ == "__main__":
    unittest.main()
