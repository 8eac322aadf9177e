# SPDX-License-Identifier: MIT
"""Each system call that jprof makes is refused, one after the other, with each
answer that containers give: the program comes out as without jprof, and there
is a profile, or one line that says what is missing.  Runs in: tests."""
import errno
import glob
import os
import re
import subprocess
import unittest

from jprun import LIBRARY, ROOT, Case, need, program

ANSWERS = (errno.EPERM, errno.ENOSYS, errno.EAGAIN)
BUSY = ("busy", "0.03", "7")
# It never ends without a clock.
THREADS, THREADS_NEED = ("threads_many", "4", "0.01"), {"clock_gettime"}
# What every program begins or ends with.
VITAL = {"exit", "rt_sigreturn"}


def calls():
    """{name: number} of those in preload/sig."""
    names = set()
    for path in glob.glob(os.path.join(ROOT, "preload/sig/*.c")):
        with open(path, encoding="utf-8") as source:
            names |= set(re.findall(r"\bSYS_([a-z]\w*)", source.read()))
    text = "#include <sys/syscall.h>\n" + "".join(
        "=%s SYS_%s\n" % (name, name) for name in sorted(names))
    done = subprocess.run([need("gcc"), "-E", "-P", "-"], input=text,
                          stdout=subprocess.PIPE, check=True, text=True)
    return {name: int(number) for name, number in
            re.findall(r"(?m)^=(\w+) (\d+)$", done.stdout)
            if name not in VITAL}


def still(text):
    """Output without what differs from run to run."""
    return re.sub(r"\d+(\.\d+)?", "N", text)


class Refusals(Case):
    def outcome(self, call, answer, argv, preload):
        done = self.run_program(
            program("refuse"), "%d/%d" % (call, answer), program(argv[0]),
            *argv[1:], preload=None,
            flags="JP_START JP_PERIOD=0.004" if preload else None,
            env={"REFUSE_PRELOAD": LIBRARY} if preload else {})
        return (done.status, still(done.out)), done.err

    def check(self, argv, but=frozenset()):
        found = calls()
        self.assertGreater(len(found), 30)
        for name, number in sorted(found.items()):
            if name in but:
                continue
            for answer in ANSWERS:
                with self.subTest(call=name, answer=errno.errorcode[answer]):
                    alone, _ = self.outcome(number, answer, argv, False)
                    under, err = self.outcome(number, answer, argv, True)
                    self.assertEqual(under, alone, err)
                    said = [line for line in err.splitlines()
                            if line.startswith("jprof")]
                    self.assertLessEqual(len(said), 1, err)
                    for log in self.files():
                        os.unlink(self.path(log))

    def test_a_computing_program(self):
        self.check(BUSY)

    def test_threads(self):
        self.check(THREADS, THREADS_NEED)


if __name__ == "__main__":
    unittest.main()
