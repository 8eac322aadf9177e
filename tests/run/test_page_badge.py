# SPDX-License-Identifier: MIT
"""What the page's badge says of a profile: quiet for what is small or makes
nothing doubtful, loud for what does.  Runs in: tests."""
import re
import subprocess
import unittest

from jprun import HANG_SECONDS, REPORT, Case
import pack

NAMED, OTHER = 0x10014, 0x10024
BARE, BARER = 0x700014, 0x700024    # of a file that is not there
MAP = """1 jprof-map version=1 pid=7 start=9
1 process pid=7 ppid=1 exe=/bin/app cmdline=app%%00
1 anon start=10000 end=20000
1 module start=700000 end=701000 offset=0 dev=8:1 inode=6 path=/none/libx.so
1 perfmap path=/x dev=0:1 inode=1 size=%d saved=names
1 section n=0 cpu=0
"""
NAMES = "10010 8 work\n10020 8 run\n"
# (what is said, level, {stack: samples}, reason of the first)
CASES = (
    ("nothing lost", 0, {(NAMED, OTHER): 200}, "root"),
    # A library's thread root without a name, on each stack.
    ("nothing lost", 0, {(NAMED, OTHER, BARE): 200}, "root"),
    # A library's inner functions: it is known who called them.
    ("40.0% of the time in code without names", 0,
     {(BARE, NAMED): 80, (NAMED, OTHER): 120}, "root"),
    # They may hide the hot spot all the same.
    ("75.0% of the time in code without names", 1,
     {(BARE, NAMED): 150, (NAMED, OTHER): 50}, "root"),
    ("3.0% of the time in code without names", 1,
     {(BARE, BARER, OTHER): 6, (NAMED, OTHER): 194}, "root"),
    ("30.0% of the time in code without names", 2,
     {(BARE, BARER, OTHER): 60, (NAMED, OTHER): 140}, "root"),
    ("30.0% of the time in code without names", 2,
     {(BARE,): 60, (NAMED, OTHER): 140}, "root"),
    ("0.5% of the stacks incomplete", 0,
     {(NAMED,): 1, (NAMED, OTHER): 199}, "no_rule"),
    ("5.0% of the stacks incomplete", 1,
     {(NAMED,): 10, (NAMED, OTHER): 190}, "no_rule"),
    ("15.0% of the stacks incomplete", 2,
     {(NAMED,): 30, (NAMED, OTHER): 170}, "no_rule"),
    ("20.0% of the stacks cut", 1,
     {(NAMED,): 40, (NAMED, OTHER): 160}, "depth"),
    ("only 40 samples", 1, {(NAMED, OTHER): 40}, "root"),
    ("only 1 sample", 2, {(NAMED, OTHER): 1}, "root"),
)
WORDS = ("Sound", "Mostly sound", "Doubtful")


class Badge(Case):
    check_agreement = False

    def badge(self, stacks, reason, event="cpu"):
        """(level, word, what is said)"""
        lines = ["header pid=7 start=9 map=jprof-map period=4000000",
                 "chunk size=65536 pid=7 tid=7"]
        time = 1000000
        for number, (frames, count) in enumerate(stacks.items()):
            lines.append("stack id=s%d frames=%s" % (
                number, ",".join(map(hex, frames))))
            for _ in range(count):
                lines.append("sample time=%d tid=7 weight=4000000 event=%s "
                             "reason=%s stack=s%d" % (
                                 time, event, "root" if number else reason,
                                 number))
                time += 4000000
        with open(self.path("jprof-log"), "wb") as target:
            target.write(pack.pack("\n".join(lines)))
        with open(self.path("jprof-map"), "w", encoding="ascii") as target:
            target.write(MAP % len(NAMES))
        with open(self.path("names"), "w", encoding="ascii") as target:
            target.write(NAMES)
        page = subprocess.run(
            [REPORT, "app", "jprof-log"], cwd=self.dir, check=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, timeout=HANG_SECONDS).stdout.decode()
        level, word, said = re.search(
            r'class="badge l(\d)"><b>([\w ]+)</b>: (.*)</summary>',
            page).groups()
        return int(level), word, said

    def test_levels(self):
        for said, level, stacks, reason in CASES:
            with self.subTest(said=said, stacks=stacks):
                self.assertEqual(self.badge(stacks, reason),
                                 (level, WORDS[level], said))

    def test_few_samples_of_real_time(self):
        """Its numbers have errors of their own beside them."""
        self.assertEqual(self.badge({(NAMED, OTHER): 9}, "root", "blocked")[0],
                         0)


if __name__ == "__main__":
    unittest.main()
