# SPDX-License-Identifier: MIT
"""Which sources a report reads: those below the working directory that an own
profile recorded, and where --source-map says; never a planted private file.

Runs in: tests."""
import os
import shutil
import subprocess
import unittest

from jprun import BUILD, REPORT, Case

SOURCE = """
static volatile unsigned sum;
int main(void)
{
    for (unsigned i = 0; i < 150000000; i++)
        sum += i ^ sum; /* THE LINE */
    return 0;
}
"""
BOOT_ID_AT = 136                # doc/FORMAT.md, "Header"


class Sources(Case):
    check_agreement = False

    def setUp(self):
        super().setUp()
        for name in ("work", "elsewhere", "home"):
            os.mkdir(self.path(name))
        with open(self.path("work/app.c"), "w", encoding="utf-8") as file:
            file.write(SOURCE)
        subprocess.run(["gcc", "-O1", "-g", "-o", self.path("elsewhere/app"),
                        self.path("work/app.c")], check=True)
        done = subprocess.run(
            [os.path.join(BUILD, "jprof"), "run", "-o", self.path("out"),
             self.path("elsewhere/app")], cwd=self.path("work"),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def annotated(self, *options, folder="out", user=None, report=REPORT):
        done = subprocess.run(
            [report, "--profile", "--annotate=main", *options,
             self.path(folder)], cwd="/", stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, check=False, user=user,
            env={key: value for key, value in os.environ.items()
                 if key != "JPROF_WORK_FOLDER"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode(), done.stderr.decode()

    def change(self, at, data):
        with open(self.path("out/jprof-log"), "r+b") as log:
            log.seek(at)
            log.write(data)

    def test_recorded_folder(self):
        out, err = self.annotated()
        self.assertIn("THE LINE", out)
        self.assertEqual(err, "")

    def test_profile_of_another_machine(self):
        """What it names as its working directory is not believed."""
        self.change(BOOT_ID_AT, os.urandom(16))
        out, err = self.annotated()
        self.assertNotIn("THE LINE", out)
        self.assertIn("work/app.c: the profile names it as a source; it is "
                      "not read", err)
        self.change(BOOT_ID_AT, bytes(16))
        self.assertNotIn("THE LINE", self.annotated()[0])

    def test_profile_that_others_write_to(self):
        """To root, files of such a log are closed anyway: an ordinary user
        reads here, to whom root's folders are closed."""
        user = os.getuid() or 65534
        report = shutil.copy(REPORT, self.path("report"))

        def read():
            return self.annotated(user=user, report=report)[0]

        if user == 65534:
            for folder, _, names in os.walk(self.dir):
                for name in [folder] + [os.path.join(folder, name)
                                        for name in names]:
                    os.chown(name, user, user)
        for name in ("jprof-log", "jprof-map"):
            self.assertIn("THE LINE", read(), name)
            os.chmod(self.path("out/" + name), 0o666)
            self.assertNotIn("THE LINE", read(), name)
            os.chmod(self.path("out/" + name), 0o600)
        if os.getuid() == 0:
            os.chmod(self.path("out/jprof-map"), 0o644)
            os.chown(self.path("out/jprof-map"), 65533, 65533)
            self.assertNotIn("THE LINE", read())

    def test_private_files(self):
        """Links that lead out, hidden files, and the root as a folder."""
        os.rename(self.path("work/app.c"), self.path("home/id_rsa"))
        os.symlink(self.path("home/id_rsa"), self.path("work/app.c"))
        self.assertNotIn("THE LINE", self.annotated()[0])
        map_path = self.path("out/jprof-map")
        with open(map_path, encoding="utf-8") as file:
            text = file.read()
        self.assertIn(" cwd=" + self.path("work"), text)
        with open(map_path, "w", encoding="utf-8") as file:
            file.write(text.replace(" cwd=" + self.path("work"), " cwd=/"))
        self.assertNotIn("THE LINE", self.annotated()[0])
        os.unlink(self.path("work/app.c"))
        os.rename(self.path("work"), self.path(".hidden"))
        os.rename(self.path("home/id_rsa"), self.path(".hidden/app.c"))
        os.symlink(self.path(".hidden"), self.path("work"))
        with open(map_path, "w", encoding="utf-8") as file:
            file.write(text.replace(" cwd=" + self.path("work"),
                                    " cwd=" + self.dir))
        self.assertNotIn("THE LINE", self.annotated()[0])

    def test_source_map(self):
        shutil.move(self.path("work"), self.path("moved"))
        self.assertNotIn("THE LINE", self.annotated()[0])
        for value in ("%s=%s" % (self.path("work"), self.path("moved")),
                      "%s/=%s/moved" % (self.path("work"), self.dir),
                      "%s=%s" % (self.dir + "/w", "/nowhere")):
            out, _ = self.annotated("--source-map=" + value)
            self.assertEqual("THE LINE" in out, "nowhere" not in value, value)
        for value in ("x", "=x", "x=", ""):
            done = subprocess.run([REPORT, "--source-map=" + value, "out"],
                                  cwd=self.dir, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, 64, value)
            self.assertIn(b"must be FROM=TO", done.stderr)

    def test_archive_names_no_folder(self):
        """Of a packed profile only its own sources are read."""
        done = subprocess.run([os.path.join(BUILD, "jprof"), "pack", "out"],
                              cwd=self.dir, stderr=subprocess.PIPE,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn("THE LINE", self.annotated(folder="out.tar.zst")[0])
        shutil.move(self.path("work"), self.path("moved"))
        subprocess.run([os.path.join(BUILD, "jprof"), "pack", "-o", "bare",
                        "out"], cwd=self.dir, stderr=subprocess.DEVNULL,
                       check=True)
        shutil.move(self.path("moved"), self.path("work"))
        self.assertNotIn("THE LINE", self.annotated(folder="bare")[0])


if __name__ == "__main__":
    unittest.main()
