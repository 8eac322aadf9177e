# SPDX-License-Identifier: MIT
"""Code whose file is gone when the report is written: the launcher keeps it
beside the log while it is there.

Runs in: tests.  B names the build folder.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from jprun import BUILD, Case, program

JPROF = os.path.join(BUILD, "jprof")
LIBRARY = """
unsigned lib_work(unsigned n)
{
    unsigned sum = n;
    for (unsigned i = 0; i < 300000; i++)
        sum = sum * 1664525u + i;
    return sum;
}
"""

# Loads a copy of a library from a folder that it removes: now or at its end.
LOADS = """
import ctypes, os, shutil, sys, tempfile, time
folder = tempfile.mkdtemp(dir="/tmp")
work = ctypes.CDLL(shutil.copy(sys.argv[1], folder)).lib_work
if sys.argv[2] == "now":
    shutil.rmtree(folder)
end = time.process_time() + 1.5
while time.process_time() < end:
    work(3)
if sys.argv[2] == "end":
    shutil.rmtree(folder)
print(folder)
"""

# Executes a program out of memory.
MEMORY = """
import os, sys
fd = os.memfd_create("program", 0)
with open(sys.argv[1], "rb") as file:
    os.write(fd, file.read())
os.execve(fd, sys.argv[1:], os.environ)
"""


class Gone(Case):
    def setUp(self):
        super().setUp()
        subprocess.run([os.environ.get("CC", "cc"), "-x", "c", "-", "-O2",
                        "-shared", "-fPIC", "-Wl,--build-id", "-o",
                        self.path("lib.so")],
                       input=LIBRARY, text=True, check=True)

    def run_script(self, script, *arguments):
        """(what it printed, what jprof said)."""
        done = subprocess.run(
            [JPROF, "run", "-o", self.path("d"), sys.executable, "-c", script,
             *arguments], stdin=subprocess.DEVNULL, capture_output=True,
            text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip(), done.stderr

    def kept(self):
        return [name for name in os.listdir(self.path("d"))
                if ".elf-" in name]

    def names(self):
        """The functions of the report, heaviest first, and what is said."""
        done = subprocess.run([JPROF, "report", "--format=collapsed",
                               self.path("d")], capture_output=True, text=True,
                              check=True)
        weights = {}
        for line in done.stdout.splitlines():
            stack, weight = line.rsplit(" ", 1)
            leaf = stack.split(";")[-1]
            weights[leaf] = weights.get(leaf, 0) + int(weight)
        return sorted(weights, key=weights.get, reverse=True), done.stderr

    def test_removed_at_the_end(self):
        folder = self.run_script(LOADS, self.path("lib.so"), "end")[0]
        self.assertFalse(os.path.exists(folder))
        self.assertEqual(len(self.kept()), 1)
        names, said = self.names()
        self.assertIn("lib_work", names[0])
        self.assertNotIn("unnamed", said)

    @unittest.skipUnless(os.geteuid() == 0, "the kernel lets only root do it")
    def test_removed_before_the_first_sample(self):
        self.run_script(LOADS, self.path("lib.so"), "now")
        self.assertIn("lib_work", self.names()[0][0])

    def test_too_large(self):
        """More than 64 MiB of a process are not kept, and that is said."""
        with open(self.path("lib.so"), "ab") as library:
            library.truncate((64 << 20) + 1)
        said = self.run_script(LOADS, self.path("lib.so"), "end")[1]
        self.assertEqual(self.kept(), [])
        self.assertIn("1 files of code that the program removed were not kept",
                      said)

    def test_lost(self):
        """Without the copy, the report says why."""
        self.run_script(LOADS, self.path("lib.so"), "now")
        for name in self.kept():
            os.unlink(self.path(os.path.join("d", name)))
        names, said = self.names()
        self.assertIn("[lib.so]", names[0])
        self.assertIn("lib.so: was removed while the program ran", said)

    def test_other_file_of_the_name(self):
        self.run_script(LOADS, self.path("lib.so"), "end")
        for name in self.kept():
            path = self.path(os.path.join("d", name))
            os.unlink(path)
            shutil.copy(program("busy"), path)
        self.assertIn("[lib.so]", self.names()[0][0])

    def test_still_there(self):
        folder = self.run_script(LOADS, self.path("lib.so"), "never")[0]
        self.addCleanup(shutil.rmtree, folder)
        self.assertEqual(self.kept(), [])
        self.assertIn("lib_work", self.names()[0][0])

    def test_program_in_memory(self):
        self.run_script(MEMORY, program("busy"), "0.5")
        self.assertEqual(len(self.kept()), 1)
        self.assertNotIn("unnamed", self.names()[1])

    def test_line_that_names_what_is_not_mapped(self):
        """A map is data: its lines alone have nothing copied."""
        with tempfile.NamedTemporaryFile(dir="/tmp") as secret:
            shutil.copy(program("busy"), secret.name)
            inode = os.stat(secret.name).st_ino
            self.run_script(
                "import os, sys, time\n"
                "end = time.process_time() + 0.4\n"
                "while time.process_time() < end: pass\n"
                "with open(sys.argv[1] + '/jprof-map', 'a') as file:\n"
                "    file.write('1 module start=1000 end=2000 offset=0 inode=' "
                "+ sys.argv[2] + ' path=' + sys.argv[3] + chr(10))\n"
                "time.sleep(1)\n"
                "os.unlink(sys.argv[3])\n"
                "open(sys.argv[3], 'x').close()\n",
                self.path("d"), str(inode), secret.name)
            self.assertEqual(self.kept(), [])


class WindowsPrograms(Case):
    """Modules that are Windows programs, as Wine maps them."""

    def test_said_once(self):
        self.busy(0.3)
        with open(self.path("jprof-map"), encoding="ascii") as source:
            lines = source.readlines()
        modules = [line for line in lines if " module " in line]
        self.assertGreater(len(modules), 2)
        for number, line in enumerate(modules):
            path = self.path("%d.dll" % number)
            with open(path, "wb") as out:
                out.write(b"MZ\x90\0")
            # (Without a build-id no debug file has names for it.)
            lines[lines.index(line)] = re.sub(
                r" path=\S+", " path=" + path,
                re.sub(r" build_id=\S+", "", line))
        with open(self.path("jprof-map"), "w", encoding="ascii") as out:
            out.writelines(lines)
        done = subprocess.run(
            [os.path.join(BUILD, "jprof-report"), "--format=text",
             self.path("0.dll"), "jprof-log"], cwd=self.dir,
            capture_output=True, text=True, check=False)
        told = [line for line in done.stderr.splitlines()
                if "stay unnamed" in line]
        self.assertEqual(len(told), 1, done.stderr)
        self.assertIn("is a Windows program; its functions, and those of "
                      "other Windows programs, stay unnamed", told[0])
        unnamed = set(re.findall(r"\[(\d+\.dll)\]", done.stdout))
        self.assertGreater(len(unnamed), 1, done.stdout)


if __name__ == "__main__":
    unittest.main()
