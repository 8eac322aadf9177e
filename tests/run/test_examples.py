# SPDX-License-Identifier: MIT
"""The examples of doc/examples are built as their page says and run: a script
starts, pauses, clears and saves its profile, and marks it.  Runs in: tests."""
import glob
import os
import subprocess
import sys
import unittest

from jprun import HANG_SECONDS, ROOT, Case, lacking, need

EXAMPLES = os.path.join(ROOT, "doc", "examples")
RING = "JP_DEFER JP_PERIOD=0.004 JP_CIRCULAR=1M"
# What a script does in each language; SAY prints.
SCRIPT = """
function burn(ms) {
    const end = Date.now() + ms;
    let sum = 0;
    // So much work, too, if the machine is busy.
    for (let i = 0; i < 3e7 || Date.now() < end; i++)
        sum += Math.sqrt(sum + i);
    return sum;
}
function forgotten() { return burn(150); }
function wanted() { return burn(250); }
function unseen() { return burn(150); }
function saved() { return burn(250); }
const said = [JProfStartProfiling(), JProfStartProfiling()];
forgotten();
said.push(JProfClearCircular(), JProfSpanBegin('work \\u00fc'));
wanted();
said.push(JProfSpanEnd('work \\u00fc'), JProfStopProfiling());
unseen();
said.push(JProfStartProfiling());
saved();
said.push(JProfSaveCircular(), JProfMark('end'));
SAY(said.join(' '));
"""
PYTHON = """
import time
import jprof

def burn(seconds):
    end = time.process_time() + seconds
    total = 0
    while time.process_time() < end:
        total += sum(range(200))
    return total

said = [jprof.start(), jprof.start()]
burn(0.15)
said.append(jprof.clear())
with jprof.span("work \\u00fc") as begun:
    said.append(begun)
    burn(0.25)
said += [True, jprof.pause()]
burn(0.15)
said.append(jprof.start())
burn(0.25)
said += [jprof.save(), jprof.mark("end")]
print(*[str(one).lower() for one in said])
"""
DONE = "true false true true true true true true true\n"
ALONE = " ".join(["false"] * 9) + "\n"


class Examples(Case):
    check_agreement = False

    def build(self, *command):
        done = subprocess.run(command, cwd=self.dir, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=HANG_SECONDS,
                              check=False)
        self.assertEqual((done.returncode, done.stdout), (0, b""))

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as target:
            target.write(text)
        return self.path(name)

    def check_run(self, *argv, env=None):
        """Alone nothing is done; under the library all is, and the profile
        has what the script asked for."""
        done = self.run_program(*argv, preload=False, flags=None, env=env)
        self.assertEqual((done.status, done.err), (0, ""))
        # Of a span's end Python's `with` tells nothing.
        self.assertEqual(done.out.replace("true", "false"), ALONE)
        done = self.run_program(*argv, flags=RING, env=env)
        self.assertEqual((done.status, done.err, done.out), (0, "", DONE))
        run = self.run_of()
        self.assertEqual([mark[2:] for mark in sorted(run.marks)],
                         [("begin", "work \u00fc"), ("end", "work \u00fc"),
                          ("mark", "end")])
        begin, end = sorted(run.marks)[:2]
        pause = run.events("pause")[0][0]
        sections = [when for when, _ in run.events("section")]
        self.assertEqual(len(sections), 2)
        self.assertEqual(len(run.events("clear")), 1)
        self.assertEqual(len(run.events("save")), 1)
        times = [sample[0] for sample in run.samples]
        cleared = run.header["cleared_ns"]
        self.assertGreater(cleared, sections[0])
        self.assertFalse([one for one in times if one < cleared])
        # A signal's sample may come a moment after the pause.
        self.assertFalse([one for one in times
                          if pause + 5e6 < one < sections[1]])
        self.assertGreater(len([one for one in times
                                if begin[0] <= one < end[0]]), 10)
        self.assertGreater(len([one for one in times
                                if one > sections[1]]), 10)

    def test_node(self):
        need("node")
        include = [folder for folder in (
            os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(
                need("node")))), "include", "node"),
            "/usr/include/node", "/usr/include/nodejs/src")
                   if os.path.exists(os.path.join(folder, "node_api.h"))]
        if not include:
            raise lacking("node_api.h")
        self.build(need("cc"), "-Wall", "-Wextra", "-Werror", "-shared",
                   "-fPIC", "-I" + include[0], "-o", "jprof.node",
                   os.path.join(EXAMPLES, "node_jprof.c"))
        self.check_run("node", self.write("script.js", (
            "Object.assign(globalThis, require('./jprof.node'));\n" +
            SCRIPT.replace("SAY", "console.log"))))
        done = self.run_program("node", "-e", "require('./jprof.node')"
                                ".JProfMark()", flags="JP_START")
        self.assertIn("a mark needs a name", done.err)

    def test_spidermonkey(self):
        found = sorted(glob.glob("/usr/lib/*/pkgconfig/mozjs-*.pc") +
                       glob.glob("/usr/lib*/pkgconfig/mozjs-*.pc"))
        if not found:
            raise lacking("mozjs-*.pc")
        name = os.path.basename(found[-1])[:-3]
        flags = subprocess.run(
            [need("pkg-config"), "--cflags", "--libs", name],
            stdout=subprocess.PIPE, check=True).stdout.decode().split()
        self.build(need("g++"), "-w", "-O1",
                   os.path.join(EXAMPLES, "mozjs_jprof.cpp"), "-o", "shell",
                   *flags, "-ldl")
        self.check_run(self.path("shell"), self.write(
            "script.js", SCRIPT.replace("SAY", "print")))

    def test_python(self):
        self.check_run(sys.executable, "-B", self.write("script.py", PYTHON),
                       env={"PYTHONPATH": EXAMPLES})


if __name__ == "__main__":
    unittest.main()
