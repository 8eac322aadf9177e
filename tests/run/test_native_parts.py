# SPDX-License-Identifier: MIT
"""Parts that compilers and BOLT make of a function stand in its row, and files
without section headers have the names of their dynamic symbols.

Runs in: tests."""
import os
import re
import struct
import subprocess
import unittest

from jprun import BUILD, HANG_SECONDS, REPORT, Case

# A compiler makes such parts when it likes; these have their names.
PARTS = """
#define PART(name, symbol)                                                   \\
    __attribute__((noinline)) unsigned name(unsigned n) __asm__(symbol);     \\
    unsigned name(unsigned n)                                                \\
    {                                                                        \\
        for (volatile unsigned i = 0; i < n; i++)                            \\
            ;                                                                \\
        return n;                                                            \\
    }
PART(work, "work")
PART(cold, "work.cold")
PART(copy, "work.constprop.0.cold.1")
PART(other, "_Z5otheri.part.0")
PART(label, "work.partly")
int main(void)
{
    for (int i = 0; i < 400; i++) {
        work(2000000);
        cold(1500000);
        copy(1000000);
        other(1000000);
        label(500000);
    }
    return 0;
}
"""


class NativeParts(Case):
    check_agreement = False     # of names alone

    def build(self, name, *options):
        path, source = self.path(name), self.path(name + ".c")
        with open(source, "w", encoding="utf-8") as out:
            out.write(PARTS)
        subprocess.run(["cc", "-O1", *options, "-o", path, source], check=True,
                       timeout=HANG_SECONDS)
        return path

    def profile(self, path):
        folder = path + ".out"
        done = self.run_program(os.path.join(BUILD, "jprof"), "run", "-o",
                                folder, path, preload=False, flags=None)
        self.assertEqual(done.status, 0, done.err)
        return folder

    def text(self, *argv):
        done = subprocess.run([REPORT, *argv], cwd=self.dir, check=False,
                              stdin=subprocess.DEVNULL, timeout=HANG_SECONDS,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode("utf-8")

    @staticmethod
    def flat(text):
        """The names of the flat profile's rows."""
        rows = re.search(r"Count \(self\).*?\n\n", text, re.DOTALL).group()
        return re.findall(r"^ *\d+ +[\d.]+%  (.*?)  \(parts", rows,
                          re.MULTILINE)

    def test_one_row_a_function(self):
        for options in (["-g"], []):
            folder = self.profile(self.build("parts", *options))
            text = self.text("--format=text", folder)
            rows = self.flat(text)
            self.assertEqual(sorted(row.split(" [")[0] for row in rows),
                             ["other(int)", "work", "work.partly"])
            row = next(row for row in rows if row.startswith("work ["))
            for part in ("other", "cold", "constprop.0.cold.1"):
                self.assertRegex(row, r"[\[ ]%s \d+[,\]]" % re.escape(part))
            self.assertIn("other(int) [part.0]", rows)
            apart = self.flat(self.text("--format=text", "--jit-tiers=split",
                                        folder))
            self.assertEqual(sorted(apart), [
                "other(int) [part.0]", "work", "work [cold]",
                "work [constprop.0.cold.1]", "work.partly"])
            # these are no tiers of JIT code
            self.assertNotIn("jit_tier", self.text("--format=summary", folder))
            archive = self.path("parts.jprof")
            self.text("--format=archive", "-o", archive, folder)
            self.assertEqual(self.flat(self.text("--format=text", archive)),
                             rows)
            os.unlink(archive)
            subprocess.run(["rm", "-r", folder], check=True)

    def test_annotated_together(self):
        folder = self.profile(self.build("parts", "-g"))
        text = self.text("--annotate=work", folder)
        self.assertIn("cold, ", text)
        self.assertIn("constprop.0.cold.1, ", text)

    def test_without_section_headers(self):
        path = self.build("parts", "-rdynamic")
        with open(path, "r+b") as elf:
            head = elf.read(64)
            self.assertEqual(head[4], 2, "ELFCLASS64")
            elf.seek(40)                # e_shoff
            elf.write(bytes(8))
            elf.seek(58)                # e_shentsize, e_shnum, e_shstrndx
            elf.write(struct.pack("<HHH", 0, 0, 0))
        rows = self.flat(self.text("--format=text", self.profile(path)))
        self.assertIn("work.partly", rows)
        self.assertIn("work", [row.split(" [")[0] for row in rows])


if __name__ == "__main__":
    unittest.main()
