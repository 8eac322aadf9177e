# SPDX-License-Identifier: MIT
"""Golden cases: recorded inputs against the expected output of jprof-report.

Runs in: tests.  A case is a folder below tests/golden:

  *.pack     text that tests/tools/pack.py turns into the file without .pack
             (jprof-log.pack -> jprof-log)
  *.jit      text that tests/tools/packjit.py turns into a jitdump, likewise
  X.cmd      a command: its first line holds the arguments of jprof-report,
             quoted as in a shell; a further line `status N` the exit status
             when it is not 0
  X.out      expected stdout of X.cmd      (absent: nothing is written); of a
             page without its style sheet and script
  X.err      expected stderr of X.cmd      (absent: nothing is written)
  the rest   copied as it is (jprof-map, a saved perf map, ...)

The command runs in a temporary folder that holds the inputs.
"""
import difflib
import glob
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "tools"))
import pack         # noqa: E402  (needs the path above)
import packjit      # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SECONDS = 120       # a hung reader, not a measure
EXPECTED = (".cmd", ".out", ".err")


def cases(top):
    """(folder, command name) of every command below `top`."""
    for path in sorted(glob.glob(os.path.join(top, "*", "*.cmd"))):
        yield os.path.dirname(path), os.path.basename(path)[:-len(".cmd")]


def prepare(case, scratch):
    """Puts the inputs of a case into `scratch`."""
    for name in os.listdir(case):
        path = os.path.join(case, name)
        if name.endswith(".pack"):
            with open(path, encoding="utf-8") as source, \
                    open(os.path.join(scratch, name[:-5]), "wb") as target:
                target.write(pack.pack(source.read()))
        elif name.endswith(".jit"):
            with open(path, encoding="utf-8") as source, \
                    open(os.path.join(scratch, name[:-4]), "wb") as target:
                target.write(packjit.pack(source.read()))
        elif os.path.isdir(path):
            shutil.copytree(path, os.path.join(scratch, name))
        elif not name.endswith(EXPECTED):
            shutil.copy(path, scratch)


def read(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8", errors="surrogateescape",
              newline="") as source:
        return source.read()


def write(path, text):
    if text:
        with open(path, "w", encoding="utf-8", errors="surrogateescape",
                  newline="") as target:
            target.write(text)
    elif os.path.exists(path):
        os.unlink(path)


def without_assets(text):
    """A page whose style sheet and script are those of the source tree has
    their names in their place."""
    for name in ("report.css", "report.js"):
        asset = read(os.path.join(ROOT, "analyzer", "write", "html", name))
        text = text.replace(">\n" + asset + "</", ">\n(%s)\n</" % name, 1)
    return text


def compare(path, got, update):
    """What differs from the expected text at `path`, as a diff."""
    if update:
        write(path, got)
        return ""
    lines = difflib.unified_diff(
        read(path).splitlines(), got.splitlines(),
        os.path.basename(path), "got", lineterm="")
    text = "\n".join(lines)
    if not text and read(path) != got:
        text = os.path.basename(path) + ": line ends differ"
    return text + "\n" if text else ""


def run_case(case, command, report, update=False):
    """What is wrong with a command's output; empty when nothing is."""
    base = os.path.join(case, command)
    lines = read(base + ".cmd").splitlines()
    options = dict(line.split(None, 1) for line in lines[1:] if line.strip())
    with tempfile.TemporaryDirectory(prefix="jprof-golden-") as scratch:
        prepare(case, scratch)
        done = subprocess.run(
            [report] + shlex.split(lines[0]), cwd=scratch,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=SECONDS, check=False,
            env={"PATH": os.environ.get("PATH", "/usr/bin:/bin"),
                 "LC_ALL": "C.UTF-8", "TZ": "UTC"})
    problem = ""
    if done.returncode != int(options.get("status", 0)):
        problem = "exit status %d, expected %s\n" % (
            done.returncode, options.get("status", "0"))
    for suffix, data in ((".out", done.stdout), (".err", done.stderr)):
        text = data.decode("utf-8", "surrogateescape")
        problem += compare(base + suffix, without_assets(text), update)
    return problem.encode("utf-8", "replace").decode("utf-8")
