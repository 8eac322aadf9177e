# SPDX-License-Identifier: MIT
"""What says that a stack is complete: only the first frame of the thread, not
that a frame pointer happens to be zero or to lead to zeros.  Runs in: tests."""
import collections
import platform
import unittest

import generations
import roots
from jprun import Case, program

FLAGS = "JP_START JP_PERIOD=0.002 JP_STACK="


@unittest.skipUnless(platform.machine() == "x86_64", "code of x86-64")
class Scratch(Case):
    """JIT code without call-frame information, the frame pointer a register
    like any other: main is out of reach, and that is said."""

    # Of programs/scratchfp.c's code: from where the frame pointer is set to
    # something else, up to where sp is set back.  Elsewhere the caller is the
    # word at the stack's top, or the next one; or the frame pointer is where it
    # was pushed, which tells the caller too (Windows).
    HIDDEN = range(30, 42)

    def reasons(self, *words, walker="auto", within=range(4096)):
        """Of the samples in that code, why their stacks end."""
        done = self.run_program(program("scratchfp"), *words,
                                flags=FLAGS + walker)
        self.assertEqual((done.status, done.out, done.err), (0, "", ""))
        run = self.run_of()
        written = roots.Roots(run).written
        reasons = collections.Counter(
            sample[4] for sample in run.samples
            if any(start <= sample[5][0] < end and
                   sample[5][0] - start in within for start, end in written))
        self.assertGreater(sum(reasons.values()), 20)
        return reasons

    def incomplete(self, *words, walker="auto"):
        """None of them is said to be whole."""
        reasons = self.reasons(*words, walker=walker, within=self.HIDDEN)
        self.assertEqual(reasons["root"], 0)

    def test_followed(self):
        """Where what it does until it returns tells where its caller is, the
        stack is whole, and really is (see jprun.Case)."""
        for words in (("zero",), ("words",), ("zero", "thread")):
            reasons = self.reasons("followed", *words)
            self.assertGreater(reasons["root"], 0.9 * sum(reasons.values()))

    def test_zero(self):
        self.incomplete("zero")

    def test_zeros_on_the_stack(self):
        self.incomplete("words")

    def test_zero_in_a_thread(self):
        self.incomplete("zero", "thread")

    def test_zeros_in_a_thread(self):
        self.incomplete("words", "thread")

    def test_by_frame_pointers_alone(self):
        self.incomplete("zero", walker="fp")


@unittest.skipUnless(platform.machine() == "x86_64", "code of x86-64")
class Windows(Case):
    """JIT code that stays where it has not made its frame or has given it up:
    its caller is there, or the stack is not said to be whole."""

    def stacks(self, which, *words, walker="auto"):
        """The samples in that code: [(whether whole, the other frames)]."""
        done = self.run_program(program("windows"), which, *words,
                                flags=FLAGS + walker)
        self.assertEqual((done.status, done.out, done.err), (0, "", ""))
        found = [(sample.reason == 0, sample.frames[:-1])
                 for sample in generations.samples(self.path("jprof-log"))
                 if sample.frames and sample.frames[-1].startswith("u[jit]")]
        self.assertGreater(len(found), 20)
        return found

    def check(self, which, least):
        """The share of whole stacks, all of which have the caller."""
        for words in ((), ("thread",)):
            stacks = self.stacks(which, *words)
            whole = [frames for is_whole, frames in stacks if is_whole]
            for frames in whole:
                self.assertTrue(frames and "run" in frames[-1], frames)
            self.assertGreaterEqual(len(whole), least * len(stacks), words)

    def test_before_the_frame(self):
        self.check("entered", 0.98)
        self.check("pushed", 0.98)

    def test_frame_pointer_pushed_long_ago(self):
        self.check("reserved", 0.95)

    def test_no_frame(self):
        self.check("unframed", 0)

    def test_own_frame(self):
        self.check("framed", 0.95)

    def test_given_up(self):
        self.check("popped", 0.98)

    def test_by_frame_pointers_alone(self):
        """None begins its thread (see jprun.Case)."""
        for which in ("reserved", "unframed", "framed"):
            self.stacks(which, "thread", walker="fp")


class Checker(Case):
    """The check of every test's stacks sees what is wrong."""
    check_first_frames = False

    def test_sees_false_roots(self):
        self.busy(0.3)
        run = self.run_of()
        self.assertEqual(roots.false_roots(run), [])
        cut = [sample for sample in run.samples if len(sample[5]) > 3]
        self.assertGreater(len(cut), 20)
        run.samples = [sample[:5] + (sample[5][:1],) for sample in cut]
        self.assertTrue(roots.false_roots(run))


class Entry(Case):
    def test_the_entry_is_the_root(self):
        """Where sp is at the stack's very root, and above argc, the stack is
        the main thread's own, not one that the program made."""
        done = self.run_program(program("slow_entry"))
        self.assertEqual((done.status, done.out, done.err), (0, "main\n", ""))
        samples = self.run_of().samples
        reasons = collections.Counter(
            sample[4] for sample in samples if len(sample[5]) == 1)
        self.assertGreater(reasons["root"], 10)
        self.assertEqual(set(reasons), {"root"})


class Vforked(Case):
    def test_waits_in_vfork_have_callers(self):
        """While a child of vfork's lives, its parent's return address is in a
        register, and the caller's frame begins where sp is."""
        done = self.run_program(program("vforked"), "20", "20",
                                flags="JP_START JP_REALTIME JP_PERIOD=0.004")
        self.assertEqual((done.status, done.err), (0, ""))
        samples = self.run_of().samples
        self.assertGreater(sum(sample[2] for sample in samples), 0.3e9)
        self.assertEqual(
            collections.Counter(sample[4] for sample in samples),
            {"root": len(samples)})


@unittest.skipUnless(platform.machine() == "x86_64", "code of x86-64")
class EntryCode(Case):
    """Entry code written by hand, without call-frame information, as Free
    Pascal's, with a frame pointer of zero."""

    def reasons(self, *words):
        done = self.run_program(program("entrycode"), "0.3", *words,
                                flags=FLAGS + "auto")
        self.assertEqual((done.status, done.out, done.err), (0, "", ""))
        found = collections.Counter(s[4] for s in self.run_of().samples)
        self.assertGreater(sum(found.values()), 20)
        return found

    def test_call_that_never_returns(self):
        found = self.reasons()
        self.assertGreater(found["root"], 0.9 * sum(found.values()), found)

    def test_call_that_may_return(self):
        found = self.reasons("wrong")
        self.assertGreater(found["no_rule"], 0.9 * sum(found.values()), found)


if __name__ == "__main__":
    unittest.main()
