# SPDX-License-Identifier: MIT
"""Stacks that a program makes and switches itself: where call-frame
information leads back to the caller's, so does the walk; where nothing does,
the stack ends at the fiber's first frame, is complete, and is counted apart.
And other ends of stacks, and pcs that are no return addresses.
Runs in: tests."""
import os
import platform
import re
import subprocess
import unittest

from jprun import TICK_FLAGS, Case, program

LEADING = ("linked", "onstack", "marked", "computed", "effect")
ENDING = ("context", "local", "bare")


def nameless(name):
    """The name again, when it is of a function of the C library's that only
    its debug file (libc6-dbg) names."""
    return name if re.match(r"libc\.so\.6\+0x", name) else None


class Fibers(Case):
    def each(self, ways, check):
        for way in ways:
            if way not in ("context", "local") and \
                    platform.machine() != "x86_64":
                continue
            for where in ((), ("thread",)):
                with self.subTest(way=way, where=where):
                    check(way, where)
                    self.clear(way)

    def samples(self, way, where, flags=TICK_FLAGS):
        """The stacks with the fiber's function, by name, leaf first."""
        done = self.run_program(program("fibers"), way, "0.4", *where,
                                flags=flags + " JP_FILENAME=%s" % way)
        self.assertEqual((done.status, done.err), (0, ""))
        run = self.run_of(way)
        stacks = [(stack[::-1], weight) for stack, weight in
                  self.named(way) if "fiber_work" in stack]
        self.assertGreater(sum(weight for _, weight in stacks), 10)
        return run, stacks

    def named(self, log):
        text = self.report(program("fibers"), "--format=collapsed", log)
        for line in text.splitlines():
            stack, weight = line.rsplit(" ", 1)
            yield stack.split(";"), int(weight)

    def shares(self, run):
        """{why a stack ends: its share of the weight}."""
        found = {}
        for sample in run.samples:
            found[sample[4]] = found.get(sample[4], 0) + sample[2]
        whole = sum(found.values())
        return {reason: weight / whole for reason, weight in found.items()}

    def clear(self, way):
        for name in self.files():
            if name.startswith(way):
                os.unlink(self.path(name))

    def led_back(self, way, where):
        run, stacks = self.samples(way, where)
        self.assertGreaterEqual(self.shares(run).get("root", 0), 0.99)
        for stack, _ in stacks:
            names = [name for name in stack
                     if name in ("fiber_work", way, "run", "main")]
            self.assertEqual(names, ["fiber_work", way, "run"] +
                             ([] if where else ["main"]))

    def test_led_back(self):
        """99% reach the thread's root, and all of those on the fiber the
        functions that called it."""
        self.each(LEADING, self.led_back)

    def not_led_back(self, way, where):
        run, stacks = self.samples(way, where)
        shares = self.shares(run)
        # One may be of setcontext, called by code that has no call-frame
        # information where a context ends (1 in 15,000).
        self.assertGreaterEqual(
            shares.get("fiber", 0) + shares.get("root", 0),
            0.99 - 1 / len(run.samples), shares)
        self.assertGreaterEqual(shares["fiber"], 0.9)
        first = "bare_call" if way == "bare" else "__start_context"
        for stack, _ in stacks:
            self.assertIn(stack[-1], (first, nameless(stack[-1])))
        text = self.report(program("fibers"), "--format=summary", way)
        summary = dict(line.split(": ", 1) for line in text.splitlines()
                       if ": " in line)
        self.assertEqual(int(summary["fibers"]),
                         sum(s[4] == "fiber" for s in run.samples))
        self.assertLessEqual(int(summary["incomplete"]),
                             0.01 * len(run.samples) + 1)

    def test_not_led_back(self):
        """The stack ends at the fiber's first frame, which has its own name,
        and counts as complete."""
        self.each(ENDING, self.not_led_back)


@unittest.skipIf(platform.machine() != "x86_64", "made of x86's code")
class OwnStack(Case):
    def test_counted_apart(self):
        """A stack that lacks the callers which the language has on a stack of
        its own leads to main, and does not count as one that has them."""
        done = self.run_program(program("ownstack"), "1",
                                flags="JP_START JP_PERIOD=0.001")
        self.assertEqual((done.status, done.err), (0, ""))
        inside = [stack for stack, _ in
                  self.collapsed(program("ownstack"), "jprof-log")
                  if stack[-1] == "hs_work"]
        self.assertTrue(inside)
        for stack in inside:
            self.assertEqual(stack[-2:], ["main", "hs_work"])
        samples = self.run_of().samples
        apart = sum(s[2] for s in samples if s[4] == "fiber")
        self.assertGreater(apart, 0.9 * sum(s[2] for s in samples))
        # What runs on the thread's stack alone is whole.
        self.assertEqual({s[4] for s in samples}, {"fiber", "root"})


class Ends(Case):
    def test_first_instruction(self):
        """A function interrupted by the program's own signal at its first
        instruction has its own name above the signal's frame, not that of
        the function before it; and so has what the handler returns to."""
        for walker in ("auto", "libunwind"):
            done = self.run_program(
                program("firstbyte"), "0.4", flags=TICK_FLAGS +
                " JP_FILENAME=%s JP_STACK=%s" % (walker, walker))
            self.assertEqual(done.status, 0)
            text = self.report(program("firstbyte"), "--format=collapsed",
                               walker)
            stacks = [line.rsplit(" ", 1)[0].split(";")
                      for line in text.splitlines()]
            handled = [stack for stack in stacks if "in_handler" in stack]
            self.assertTrue(handled, text)
            for stack in handled:
                self.assertNotIn("before_it", stack)
                at = stack.index("at_first")
                self.assertEqual(stack[at - 1], "main")
                if walker == "auto" and platform.machine() == "x86_64":
                    self.assertIn(stack[at + 1], ("__restore_rt",
                                                  nameless(stack[at + 1])))

    @unittest.skipIf(platform.machine() != "x86_64", "made of x86's code")
    def test_zero_in_the_frame_pointer(self):
        """A frame pointer of zero in code without information is no root
        where no frame pointer led there."""
        done = self.run_program(program("zerofp"), "0.4", flags=TICK_FLAGS)
        self.assertEqual(done.status, 0)
        short = [s for s in self.run_of().samples if len(s[5]) == 1]
        self.assertGreater(sum(s[2] for s in short), 200000000)
        self.assertEqual({s[4] for s in short}, {"bad_fp"})


class Copied(Case):
    """greenlet copies a fiber's part of the thread's stack there and away: its
    first functions are known by name, in a module of that name."""

    LIBRARY = """
void g_initialstub(void (*run)(void));
void g_initialstub(void (*run)(void)) { run(); __asm__ volatile(""); }
"""
    PROGRAM = """
#include <time.h>
void g_initialstub(void (*run)(void));
static volatile unsigned long n;
__attribute__((noinline)) static void spin(void)
{
    const clock_t end = clock() + CLOCKS_PER_SEC / 5;
    while (clock() < end)
        for (int i = 0; i < 100000; i++)
            n++;
}
int main(void) { spin(); g_initialstub(spin); return 0; }
"""

    def compile(self, source, *arguments):
        subprocess.run([os.environ.get("CC", "cc"), "-x", "c", "-", "-O1", "-g",
                        *arguments], input=source, text=True, check=True)

    def test_greenlets(self):
        library = self.path("_greenlet.so")
        self.compile(self.LIBRARY, "-shared", "-fPIC", "-o", library)
        self.compile(self.PROGRAM, "-o", self.path("app"), "-x", "none",
                     library, "-Wl,-rpath," + self.dir)
        done = self.run_program(self.path("app"), flags=TICK_FLAGS)
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertEqual({s[4] for s in self.run_of().samples}, {"root"})
        summary = self.summary(self.path("app"), "jprof-log")
        fibers, samples = int(summary["fibers"]), int(summary["samples"])
        self.assertGreater(fibers, 0.3 * samples, summary)
        self.assertLess(fibers, 0.7 * samples, summary)
        self.assertEqual(summary["incomplete"], "0")
        firsts = {line.split(";")[0] for line in self.report(
            self.path("app"), "--format=collapsed",
            "jprof-log").splitlines()}
        self.assertIn("g_initialstub", firsts)


if __name__ == "__main__":
    unittest.main()
