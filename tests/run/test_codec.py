# SPDX-License-Identifier: MIT
"""The packer and the decoder of logs, against each other.  Runs in: tests."""
import unittest

import decode
import pack
from jprun import Case


class Codec(Case):
    """What pack.py writes, decode.py reads, and damage is seen."""
    TEXT = """
    header pid=7 start=9 counter.1=3 counter.7=1000 exe=/x/a cleared=15
    chunk tid=7
    stack id=A frames=0x1000,0x2000,0x3000
    sample time=10 tid=7 weight=4000000 stack=A
    stack id=B frames=0x1500 base=A shared=2 gap=1
    sample time=20 tid=8 weight=8000000 event=raised reason=depth stack=B
    free pages=2
    chunk size=8192 tid=9
    sample time=30 weight=5 reason=no_stack
    raw 77 00 02 00 00000000 1122334455667788
    sample time=40 weight=5 event=blocked
    """

    def decode(self, text):
        with open(self.path("log"), "wb") as target:
            target.write(pack.pack(text))
        return decode.load(self.path("log"))

    def test_round_trip(self):
        for endian in ("little", "big"):
            run, = self.decode(self.TEXT.replace(
                "header ", "header endian=%s " % endian).replace(
                    "02 00", "02 00" if endian == "little" else "00 02"))
            self.assertEqual(run.samples, [
                (20, 8, 8000000, "raised", "depth", (0x1500, 0x2000, 0x3000)),
                (30, 1, 5, "cpu", "no_stack", ()),
                (40, 1, 5, "blocked", "root", ())])
            self.assertEqual(run.damage, [])
            self.assertEqual(run.lost(), 3)
            self.assertEqual(run.gaps, {(0x1500, 0x2000, 0x3000): 1})

    def test_damage(self):
        record = 4 * 4096 + 64 + 24 + 16 + 24   # after the second chunk's
        chunk = 6 * 4096
        for extra, where in (
                ("sample time=50 words=9000", record),
                ("sample time=50 event=9", record),
                ("stack frames=1 base=3 shared=1", record),
                ("chunk size=5000 room=4096", chunk),
                ("chunk pid=8", chunk), ("chunk offset=7", chunk)):
            run, = self.decode(self.TEXT + extra)
            self.assertEqual([at for at, _ in run.damage], [where], extra)
            self.assertEqual(len(run.samples), 3)

    def test_packer_refuses_what_it_does_not_know(self):
        for text in ("chunk colour=1", "frob", "sample time=x",
                     "header bogus=1"):
            with self.assertRaises(ValueError):
                pack.pack("header\nchunk\n" + text)

    def test_full_chunk(self):
        with self.assertRaises(ValueError):
            pack.pack("header\nchunk\n" + "sample time=1\n" * 169)


if __name__ == "__main__":
    unittest.main()
