# SPDX-License-Identifier: MIT
"""Stacks that a program made itself, and programs with little room.

Runs in: tests."""
import collections
import platform
import resource
import subprocess
import unittest

from jprun import LIBRARY, Case, program, weight_s


class Switched(Case):
    check_first_frames = False  # of stacks made by hand

    def walked(self, flags):
        """What is above in_coroutine and at_home, root first."""
        done = self.run_program(program("handswitch"), "1", flags="JP_START "
                                "JP_PERIOD=0.001" + flags)
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertRegex(done.out, r"\Aswitched [1-9]\d+\n\Z")
        run = self.run_of()
        self.assertEqual(run.lost(), 0)
        self.assertGreater(len(run.samples), 50)
        stacks = self.collapsed(program("handswitch"), "jprof-log")
        return run, {name: {tuple(stack) for stack, _ in stacks
                            if stack[-1] == name}
                     for name in ("in_coroutine", "at_home")}

    def test_by_call_frame_information(self):
        """A walk on a stack switched to by hand comes to the coroutine's base,
        which says that there is nothing above it."""
        run, stacks = self.walked("")
        self.assertEqual(stacks["in_coroutine"],
                         {("coroutine_base", "coroutine_body",
                           "in_coroutine")})
        self.assertTrue(all("main" in stack for stack in stacks["at_home"]))
        rooted = sum(s[4] in ("root", "fiber") for s in run.samples)
        self.assertGreaterEqual(rooted, 0.95 * len(run.samples))
        self.assertGreater(sum(s[4] == "fiber" for s in run.samples), 10)

    def test_by_frame_pointers(self):
        """Nothing tells the end there, but no walk leaves the stack."""
        run, stacks = self.walked(" JP_STACK=fp")
        self.assertTrue(stacks["in_coroutine"])
        self.assertTrue(all(stack[-2:] == ("coroutine_body", "in_coroutine")
                            and "main" not in stack
                            for stack in stacks["in_coroutine"]), stacks)


class Left(Case):
    """Code without call-frame information that goes on on another stack, as
    Go's and SBCL's: the frame pointer leads back to the stack that was left."""
    check_first_frames = False  # of stacks made by hand

    def test_callers(self):
        done = self.run_program(program("leftstack"), "0.5",
                                flags="JP_START JP_PERIOD=0.001")
        self.assertEqual((done.status, done.out, done.err), (0, "done\n", ""))
        stacks = self.collapsed(program("leftstack"), "jprof-log")
        begun = ("on_begun", "in_begun")
        kinds = {"lent": ("main", "by_lent", "on_lent", "in_lent")}
        if platform.machine() == "x86_64":
            for kind in ("bare", "near", "pushed"):
                kinds[kind] = ("by_" + kind, "on_" + kind, "in_" + kind)
            kinds["any"] = ("by_any", "on_bare", "in_any")
        for kind, callers in kinds.items():
            with self.subTest(kind=kind):
                found = [stack for stack, _ in stacks
                         if stack[-1] == "in_" + kind]
                self.assertTrue(found)
                self.assertEqual(
                    {tuple(stack[-len(callers):]) for stack in found},
                    {callers})
                self.assertTrue(all("main" in stack for stack in found))
        run = self.run_of()
        ends = collections.Counter(s[4] for s in run.samples)
        self.assertGreaterEqual(ends["root"] + ends["fiber"],
                                0.98 * len(run.samples), ends)
        self.assertEqual({tuple(stack) for stack, _ in stacks
                          if stack[-1] == "in_begun"},
                         {begun} if "bare" in kinds else set())


class ScantStack(Case):
    """Threads whose stacks have room for the frames of the program's own
    signals, and for no other; the kernel tells how large a frame is."""

    def test_frames_of_the_programs(self):
        """Nested 1 to 5 deep, and as deep as PTHREAD_STACK_MIN allows."""
        for nested in ("0", "1", "3", "5"):
            alone = self.run_program(program("scant"), nested, preload=None)
            self.assertEqual((alone.status, alone.out, alone.err),
                             (0, "\n1 1 1 1 1 1\n1\n", ""))
            for flags in ("JP_PERIOD=0.004", "JP_PERIOD=0.001",
                          "JP_PERIOD=0.004 JP_REALTIME",
                          "JP_PERIOD=0.001 JP_REALTIME"):
                with self.subTest(nested=nested, flags=flags):
                    done = self.run_program(program("scant"), nested,
                                            flags="JP_START " + flags)
                    self.assertEqual((done.status, done.out, done.err),
                                     (0, alone.out, ""))
                    # Of 0.3 s of CPU time, in as few samples as the kernel's
                    # ticks find the program at on a busy machine.
                    self.assertEqual(self.run_of().lost(), 0)
                    self.assertGreater(weight_s(self.run_of()), 0.25)

    def test_stacks(self):
        """Samples from there are whole."""
        self.run_program(program("scant"), "3",
                         flags="JP_START JP_PERIOD=0.001")
        stacks = [stack for stack, _ in
                  self.collapsed(program("scant"), "jprof-log")
                  if stack[-1] == "deepest"]
        self.assertTrue(stacks)
        for stack in stacks:
            self.assertEqual([f for f in stack
                              if f in ("thread_main", "handler", "deepest")],
                             ["thread_main"] + 3 * ["handler"] + ["deepest"])


class LittleRoom(Case):
    def under(self, kilobytes):
        """Runs busy with so much address space; (status, stderr, log)."""
        log = "log-%d" % kilobytes
        size = (kilobytes << 10, kilobytes << 10)
        done = subprocess.run(
            [program("busy"), "0.02"], text=True, capture_output=True,
            cwd=self.path("."), check=False,
            env=self.environment("JP_START JP_PERIOD=0.004 JP_FILENAME=" + log,
                                 LIBRARY, None),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, size))
        return done.returncode, done.stderr, log

    @staticmethod
    def loaded(done):
        """Whether there was room for the library; in less the program runs
        without it."""
        return done[0] != 127 and "cannot be preloaded" not in done[1]

    def test_limit_of_address_space(self):
        """Under `ulimit -v`, from where there is room to load the library at
        all, the program runs whatever else there is no room for."""
        kilobytes = 2048
        while not self.loaded(self.under(kilobytes)):
            kilobytes += 64
            self.assertLess(kilobytes, 1 << 20)
        # From there until all is well, and a little further.
        runs, well = [], 0
        while well < 16 and len(runs) < 260:
            done = self.under(kilobytes)
            kilobytes += 64
            # What the loader needs varies by some pages from run to run.
            if not self.loaded(done) and len(runs) < 4:
                runs = []
                continue
            runs.append(done)
            well = well + 1 if done[:2] == (0, "") else 0
        self.assertEqual({status for status, _, _ in runs}, {0})
        for _, error, _ in runs:
            self.assertRegex(error, r"\A(jprof: .*\n)?\Z")
        self.assertIn("out of memory", runs[0][1])
        self.assertEqual(runs[-1][1], "")
        run = self.run_of(runs[-1][2])
        self.assertEqual(run.lost(), 0)
        self.assertTrue(run.samples)


if __name__ == "__main__":
    unittest.main()
