# SPDX-License-Identifier: MIT
"""One run of a program under the library, in a folder of its own.

Runs in: tests."""
import os
import shutil
import subprocess
import tempfile

from jprun import LIBRARY, REPORT, decode

NOBODY = 65534


def as_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


class Run:
    """Runs the program at once; the folder lives as long as the `with` block.
    out: what it printed."""

    def __init__(self, argv, hertz, flags="", nobody=False, env=None):
        self.argv, self.out = argv, ""
        self.folder = tempfile.mkdtemp(prefix="jprof-rhythm-")
        os.chmod(self.folder, 0o777)
        whole = dict(os.environ, LD_PRELOAD=LIBRARY, JPROF_FLAGS="JP_START "
                     "JP_PERIOD=%g %s" % (1 / hertz, flags), **(env or {}))
        try:
            self.out = subprocess.run(
                argv, env=whole, cwd=self.folder, check=True,
                stdout=subprocess.PIPE,
                preexec_fn=as_nobody if nobody else None).stdout.decode()
        except BaseException:
            shutil.rmtree(self.folder)
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def stacks(self, *options):
        """[([root, ..., leaf], periods)]."""
        text = subprocess.run(
            [REPORT, "--format=collapsed", "--no-inline", *options,
             self.argv[0], "jprof-log"], cwd=self.folder, check=True,
            stdout=subprocess.PIPE).stdout.decode()
        lines = [line.rsplit(" ", 1) for line in text.splitlines()]
        return [(stack.split(";"), int(weight)) for stack, weight in lines]

    def samples(self):
        """The samples of the log's first run: (time, tid, weight, ...)."""
        return decode.load(os.path.join(self.folder, "jprof-log"))[0].samples
