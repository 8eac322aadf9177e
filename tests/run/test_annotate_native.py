# SPDX-License-Identifier: MIT
"""Annotated code of files: instructions as objdump has them, their Counts, and
source lines as addr2line has them; what is said where symbols, debug
information or the file itself are missing, and which sources are read.

Runs in: tests."""
import os
import re
import subprocess
import unittest

from dwarfs import LEVELS, output
from nativecode import PLAIN, ROW, RUN, NativeCode


class Native(NativeCode):
    def test_instructions_and_lines(self):
        app = self.build("app", "-Wl,--build-id")
        start, end = self.extent(app, RUN + "(")
        code = self.code(app, start, end)
        weights = self.some(code[::2])
        self.profile(app, weights)
        text = self.annotate(RUN)
        shown = [int(at, 16) for at, _ in PLAIN.findall(text)]
        self.assertEqual(shown, code)
        rows = {int(at, 16): int(count) for count, at, _ in ROW.findall(text)}
        self.assertEqual(rows, weights)
        self.assertIn("%#x, %d bytes of app" % (start, end - start), text)
        expected = self.expected_lines(app, weights)
        self.assertGreater(len(expected), 20)
        self.assertEqual(self.lines(text), expected)
        self.assertIn("Count %d, 100.0%% of the profile; pieces of code: 1\n"
                      % sum(weights.values()), text)
        # The source itself, by --source-dir alone.
        self.assertNotIn("unsigned run(", text)
        text = self.annotate(RUN, "--source-dir=" + os.path.dirname(
            re.search(r": (/.*/inlined.cc)$", text, re.M).group(1)))
        self.assertIn("unsigned run(", text)

    def test_recursion(self):
        """A line that is several times in one chain of inlined calls has a
        sample once."""
        with open(self.path("sum.cc"), "w", encoding="ascii") as source:
            source.write("""
                struct Node { Node *left, *right; unsigned value; };
                static unsigned sum(const Node *n)
                {
                    return n ? n->value + sum(n->left) + sum(n->right) : 0;
                }
                int main(int, char **argv)
                {
                    return sum((Node *)argv);
                }
                """)
        # GCC inlines such a function in itself, clang does not.
        app = self.build("sum", "-Wl,--build-id", "-O3",
                         source=self.path("sum.cc"), compiler="g++")
        weights = self.some(self.code(app, *self.extent(app, "sum(")))
        self.profile(app, weights)
        expected = self.expected_lines(app, weights)
        self.assertTrue(any(inlined for _, inlined, _ in expected))
        self.assertEqual(self.lines(self.annotate("sum")), expected)

    def test_inlined_function(self):
        """Of one that was inlined, its own code is listed."""
        app = self.build("app", "-Wl,--build-id")
        weights = self.some(self.code(app, *self.extent(app, RUN + "(")))
        self.profile(app, weights)
        whole = self.expected_lines(app, weights)
        name = LEVELS[2]
        text = self.annotate(name)
        inside = sum(count for (function, _, _), (count, _) in whole.items()
                     if function == name)
        self.assertGreater(inside, 0)
        self.assertEqual(sum(int(count) for count, _, _
                             in ROW.findall(text)), inside)
        self.assertIn("%s (inlined)\n" % name, text)
        self.assertEqual({key: value for key, value in whole.items()
                          if key[0] == name}, self.lines(text))
        self.assertIn("instructions\n", text)

    def test_processes_share_a_file(self):
        """Code of one file is one piece, wherever it was mapped."""
        app = self.build("app", "-Wl,--build-id")
        code = self.code(app, *self.extent(app, RUN + "("))
        first, second = self.some(code), self.some(code[:9])
        self.profile(app, first)
        self.profile(app, second, pid=8)
        text = self.annotate(RUN, logs=("jprof-log", "jprof-log-8"))
        self.assertIn("pieces of code: 1\n", text)
        rows = {int(at, 16): int(count) for count, at, _ in ROW.findall(text)}
        self.assertEqual(rows, {at: weight + second.get(at, 0)
                                for at, weight in first.items()})
        kept = self.annotate(RUN, "--process=8",
                             logs=("jprof-log", "jprof-log-8"))
        self.assertEqual({int(at, 16): int(count) for count, at, _
                          in ROW.findall(kept)}, second)

    def test_without_names_or_debug_information(self):
        app = self.build("app", "-Wl,--build-id")
        start, end = self.extent(app, RUN + "(")
        weights = self.some(self.code(app, start, end)[:5])
        self.profile(app, weights)
        subprocess.run(["strip", "-g", app], check=True)
        text = self.annotate(RUN)
        self.assertEqual({int(at, 16) for _, at, _ in ROW.findall(text)},
                         set(weights))
        self.assertEqual(text.count("No debug information tells the source "
                                    "lines of this code.\n"), 1)
        subprocess.run(["strip", app], check=True)
        text = self.annotate("app+%#x" % start)
        self.assertIn("%#x, %d bytes of app" % (start, end - start), text)
        self.assertEqual({int(at, 16): int(count) for count, at, _
                          in ROW.findall(text)}, weights)

    def test_without_the_file(self):
        """Gone, changed, or only its debug file at hand."""
        app = self.build("app", "-Wl,--build-id")
        weights = self.some(self.code(app, *self.extent(app, RUN + "("))[:5])
        self.profile(app, weights)
        number = re.search(r"Build ID: (\w+)", output(
            "readelf", "-n", app)).group(1)
        folder = self.path("debug/.build-id/" + number[:2])
        os.makedirs(folder)
        subprocess.run(["objcopy", "--only-keep-debug", app, "%s/%s.debug" % (
            folder, number[2:])], check=True)
        os.rename(app, self.path("gone"))
        text = self.annotate(RUN, "--debug-dir=" + self.path("debug"))
        self.assertIn("Only the debug file is here", text)
        self.assertEqual(self.lines(text), self.expected_lines(
            self.path("gone"), weights))
        text = self.annotate("[app]")
        self.assertIn("The file is not here or has changed", text)
        self.assertEqual({int(at, 16): int(count) for count, at, _
                          in ROW.findall(text)}, weights)
        os.rename(self.path("gone"), app)
        self.profile(app, weights, build="ab" * 20)
        text = self.annotate("[app]")
        self.assertIn("The file is not here or has changed", text)
        self.assertNotIn(" bytes of app", text)

    def test_damaged_files(self):
        """Cut anywhere, and with sections that lie: no crash, no endless
        listing."""
        app = self.build("app", "-Wl,--build-id")
        weights = self.some(self.code(app, *self.extent(app, RUN + "("))[:5])
        self.profile(app, weights)
        with open(app, "rb") as source:
            data = source.read()
        self.random.seed(11)
        for part in range(40):
            broken = bytearray(data[:len(data) * (part % 10 + 11) // 20])
            for _ in range(30 if part >= 10 else 0):
                at = self.random.choice((
                    self.random.randrange(64, 900),
                    self.random.randrange(len(broken))))
                broken[at] = self.random.randrange(256)
            with open(app, "wb") as target:
                target.write(broken)
            text = self.annotate(RUN, status=(0, 1))
            self.assertLess(len(text), 3000000, part)

    def test_planted_source(self):
        """A private file that debug information names is not shown."""
        folder = self.path("private")
        os.mkdir(folder)
        with open(self.path("private/hidden.cc"), "w",
                  encoding="ascii") as target:
            target.write("int main(void)\n{\n    return 0;\n}\n"
                         "__attribute__((noinline)) unsigned secret(unsigned "
                         "x)\n{\n    return x * 31; /* pass word */\n}\n")
        app = self.build("app", "-Wl,--build-id",
                         source=self.path("private/hidden.cc"))
        self.profile(app, self.some(self.code(app, *self.extent(
            app, "secret("))))
        os.mkdir(self.path("elsewhere"))
        os.rename(self.path("jprof-log"), self.path("elsewhere/jprof-log"))
        os.rename(self.path("jprof-map"), self.path("elsewhere/jprof-map"))
        os.symlink(folder, self.path("elsewhere/hidden"))
        text = self.annotate("secret", cwd="elsewhere")
        self.assertRegex(text, r"hidden\.cc:\d+")
        self.assertNotIn("pass word", text)
        text = self.annotate("secret", "--source-dir=" + folder,
                             cwd="elsewhere")
        self.assertIn("pass word", text)


if __name__ == "__main__":
    unittest.main()
