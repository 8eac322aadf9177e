# SPDX-License-Identifier: MIT
"""Debug files: by build-id, by link, in debuginfod's cache, of dwz, of another
system.  Runs in: tests."""
import os
import re
import shutil
import subprocess
import unittest

from jprun import need
from dwarfs import LINES, Readers, instructions, output


class DebugFiles(Readers):
    """Debug information in a file of its own."""

    def found(self, path, **env):
        done = subprocess.run(
            [LINES, path], input=self.addresses, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True,
            timeout=60, env=dict(os.environ, HOME=self.dir,
                                 XDG_CACHE_HOME="", **env))
        self.said = done.stderr
        return done.stdout

    def setUp(self):
        super().setUp()
        self.whole = self.build("whole", "-Wl,--build-id")
        self.addresses = "".join("%#x\n" % at
                                 for at in instructions(self.whole))
        self.expected = self.found(self.whole)
        self.assertIn("innermost", self.expected)
        self.hex = re.search(r"Build ID: (\w+)", output(
            "readelf", "-n", self.whole)).group(1)

    def objcopy(self, *arguments):
        subprocess.run(["objcopy"] + list(arguments), check=True, cwd=self.dir)

    def stripped(self, name, link=None, source=None):
        """Takes the debug information out; returns the program."""
        self.objcopy("--only-keep-debug", source or self.whole, name + ".debug")
        self.objcopy("--strip-all", *(
            ["--add-gnu-debuglink=" + link] if link else []),
                     source or self.whole, name)
        return self.path(name)

    def test_build_id(self):
        app = self.stripped("app")
        self.assertNotIn("innermost", self.found(app))
        for folder in ("plain", "root/usr/lib/debug"):
            place = self.path("%s/.build-id/%s" % (folder, self.hex[:2]))
            os.makedirs(place)
            shutil.copy(self.path("app.debug"),
                        "%s/%s.debug" % (place, self.hex[2:]))
            self.assertEqual(self.found(app, JPROF_DEBUG_PATH="/nowhere:" +
                                        self.path(folder.split("/")[0])),
                             self.expected)
        # The name is right, the file another's.
        other = self.build("other", "-Wl,--build-id=0x" + "ab" * 20)
        shutil.copy(other, "%s/%s.debug" % (place, self.hex[2:]))
        self.assertNotIn("innermost", self.found(
            app, JPROF_DEBUG_PATH=self.path("root")))
        self.is_passed_over("%s/%s.debug" % (place, self.hex[2:]), "app",
                            "its build-id is another")

    def is_passed_over(self, path, file, why):
        """That is said once, and nothing else."""
        self.assertEqual(self.said.split(": ", 1)[1], (
            "%s: not used for %s, for %s; debug information is looked for "
            "elsewhere\n" % (path, file, why)))

    def test_cache(self):
        """What debuginfod's client fetched is found, without a network."""
        app = self.stripped("app")
        place = self.path(".cache/debuginfod_client/" + self.hex)
        os.makedirs(place)
        shutil.copy(self.path("app.debug"), place + "/debuginfo")
        self.assertEqual(self.found(
            app, DEBUGINFOD_URLS="http://127.0.0.1:9"), self.expected)
        self.assertNotIn("innermost", self.found(
            app, DEBUGINFOD_CACHE_PATH=self.path("elsewhere")))

    def test_link(self):
        bare = self.build("bare", "-Wl,--build-id=none")
        expected = self.found(bare)
        self.stripped("linked", source=bare)
        app = self.stripped("linked", link="linked.debug", source=bare)
        self.assertEqual((self.found(app), self.said), (expected, ""))
        os.makedirs(self.path("sys" + self.dir))
        os.rename(self.path("linked.debug"),
                  self.path("sys" + self.dir + "/linked.debug"))
        self.assertNotIn("innermost", self.found(app))
        self.assertEqual(self.found(app, JPROF_DEBUG_PATH=self.path("sys")),
                         expected)
        # Its checksum counts.
        with open(self.path("sys" + self.dir + "/linked.debug"), "ab") as end:
            end.write(b"x")
        self.assertNotIn("innermost", self.found(
            app, JPROF_DEBUG_PATH=self.path("sys")))
        self.is_passed_over(self.path("sys" + self.dir + "/linked.debug"), app,
                            "its checksum is another than the one asked for")

    def test_packed(self):
        """A debug file that is packed, each way."""
        for way in ("zlib", "zlib-gnu", "zstd"):
            with self.subTest(way=way):
                app = self.stripped("app")
                self.objcopy("--compress-debug-sections=" + way, "app.debug")
                self.objcopy("--add-gnu-debuglink=app.debug", "app")
                self.assertEqual(self.found(app), self.expected)
                self.assertEqual(self.said, "")

    def test_link_of_another(self):
        """The checksum is right and the build-id is not."""
        other = self.build("other", "-Wl,--build-id=0x" + "ab" * 20)
        self.stripped("app", source=other)
        self.objcopy("--strip-all", "--add-gnu-debuglink=app.debug",
                     self.whole, "app")
        self.assertNotIn("innermost", self.found(self.path("app")))
        self.is_passed_over(self.path("app.debug"), self.path("app"),
                            "its build-id is another")

    def test_common_file(self):
        """dwz moves what files have in common to another one."""
        shutil.copy(self.whole, self.path("one"))
        shutil.copy(self.whole, self.path("two"))
        subprocess.run([need("dwz"), "-m", "common", "-r", "one", "two"],
                       check=True, cwd=self.dir)
        one = self.path("one")
        self.assertEqual(self.found(one), self.expected)
        self.objcopy("--compress-debug-sections=zstd", "common")
        self.assertEqual(self.found(one), self.expected)
        os.rename(self.path("common"), self.path("kept"))
        for make in (lambda _: None, os.mkfifo):
            make(self.path("common"))
            self.assertNotIn("innermost", self.found(one))
            self.assertEqual(self.said.count("is missing"), 1)
        identity = re.search(r"Build ID: (\w+)", output(
            "readelf", "-n", self.path("kept"))).group(1)
        os.makedirs(self.path(".build-id/" + identity[:2]))
        os.rename(self.path("kept"), self.path(
            ".build-id/%s/%s.debug" % (identity[:2], identity[2:])))
        self.assertEqual(self.found(one, JPROF_DEBUG_PATH=self.dir),
                         self.expected)

    def test_too_large(self):
        """What says that it unpacks to a thousand times as much is left."""
        path = self.build("packed", "-gz=zlib", "-Wl,--build-id")
        with open(path, "rb") as source:
            data = bytearray(source.read())
        line = [line.split() for line in output(
            "readelf", "-SW", path).splitlines() if ".debug_info" in line][0]
        at = int(line[line.index("PROGBITS") + 2], 16)
        data[at + 8:at + 16] = (1 << 34).to_bytes(8, "little")
        with open(path, "wb") as target:
            target.write(data)
        self.assertNotIn("innermost", self.found(path))
        self.assertIn("its DWARF is not read", self.said)

    def test_system_root(self):
        """The program has changed; the folder has it as it was."""
        self.check_first_frames = False     # it reads the program, too
        app = self.path("app")
        shutil.copy(self.whole, app)
        done = self.run_program(app, "0.3")
        self.assertEqual(done.status, 0)
        os.makedirs(self.path("sys" + self.dir))
        shutil.copy(self.whole, self.path("sys" + app))
        self.build("app", "-O1", "-Wl,--build-id")
        self.assertNotIn("innermost", self.report(
            app, "--format=text", "jprof-log"))
        self.assertIn("innermost (inlined)", self.report(
            app, "--format=text", "--debug-dir=" + self.path("sys"),
            "jprof-log"))


if __name__ == "__main__":
    unittest.main()
