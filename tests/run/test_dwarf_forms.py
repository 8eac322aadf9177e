# SPDX-License-Identifier: MIT
"""Forms of DWARF that GCC and clang do not write, but others do: what is behind
them is read, and nothing is called damaged.

Runs in: tests."""
import os
import subprocess
import unittest

from jprun import BUILD, HANG_SECONDS, REPORT, Case

CODE = """
__attribute__((noinline)) unsigned work(unsigned n)
{
    for (volatile unsigned i = 0; i < n; i++)
        ;
    return n;
}
int main(void)
{
    for (int i = 0; i < 60; i++)
        work(3000000);
    return 0;
}
"""

# An enumerator and a function have values whose form stands in front of them
# (DW_FORM_indirect, 0x16: DWARF 5, 7.5.3), as Zig's own compiler writes
# constants; `inner` is inlined into the function behind them.
DWARF = """
    .section .debug_abbrev, "", @progbits
    .uleb128 1, 0x11            # compile unit: name, low_pc, high_pc
    .byte 1
    .uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0
    .uleb128 2, 0x28            # enumerator: name, const_value
    .byte 0
    .uleb128 0x03, 0x08, 0x1c, 0x16, 0, 0
    .uleb128 3, 0x2e            # subprogram: name, inline
    .byte 0
    .uleb128 0x03, 0x08, 0x20, 0x0b, 0, 0
    .uleb128 4, 0x2e            # subprogram: line, name, low_pc, high_pc
    .byte 1
    .uleb128 0x3b, 0x16, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0
    .uleb128 5, 0x1d            # inlined: abstract_origin, low_pc, high_pc
    .byte 0
    .uleb128 0x31, 0x13, 0x11, 0x01, 0x12, 0x07, 0, 0
    .uleb128 0
    .section .debug_info, "", @progbits
head:
    .long end - begin
begin:
    .short 4
    .long 0
    .byte 8
    .uleb128 1
    .asciz "unit.zig"
    .quad work
    .quad main_end - work
    .uleb128 2
    .asciz "large"
    .uleb128 0x%(form)x         # the form of the value
    .byte 3, 1, 2, 3            # as a block (0x0a): a length, and bytes
inner:
    .uleb128 3
    .asciz "inner"
    .byte 1
    .uleb128 4
    .uleb128 0x05               # data2
    .short 300
    .asciz "work"
    .quad work
    .quad main_end - work
    .uleb128 5
    .long inner - head
    .quad work
    .quad main_end - work
    .byte 0
    .byte 0
end:
"""


class DwarfForms(Case):
    check_agreement = False     # of names alone

    def report(self, form):
        path = self.path("forms")
        source, code = path + ".c", path + ".s"
        with open(source, "w", encoding="utf-8") as out:
            out.write(CODE)
        subprocess.run(["cc", "-O1", "-S", "-o", code, source], check=True,
                       timeout=HANG_SECONDS)
        with open(code, "a", encoding="utf-8") as out:
            out.write(".text\nmain_end:\n" + DWARF % {"form": form})
        subprocess.run(["cc", "-no-pie", "-o", path, code], check=True,
                       timeout=HANG_SECONDS)
        done = self.run_program(
            os.path.join(BUILD, "jprof"), "run", "-o", path + ".out", path,
            preload=False, flags=None)
        self.assertEqual(done.status, 0, done.err)
        done = subprocess.run(
            [REPORT, "--format=text", path + ".out"], check=False,
            stdin=subprocess.DEVNULL, timeout=HANG_SECONDS,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode("utf-8"), done.stderr.decode("utf-8")

    def test_indirect(self):
        text, said = self.report(0x0a)
        self.assertEqual(said, "")
        self.assertRegex(text, r"%  inner \(inlined\)  \(forms\)")

    def test_indirect_without_sense(self):
        """A form that leads to another, one that has no bytes, an unknown."""
        for form in (0x16, 0x21, 0x7f, 0x1f99):
            text, said = self.report(form)
            self.assertIn("its DWARF is damaged", said)
            self.assertNotIn("inner", text)
            subprocess.run(["rm", "-r", self.path("forms.out")], check=True)


if __name__ == "__main__":
    unittest.main()
