# SPDX-License-Identifier: MIT
"""The launcher knows the runtimes, asks each for a description of its code,
and saves what is written.  Runs in: tests."""
import glob
import json
import lzma
import os
import shutil
import subprocess
import tempfile
import unittest

from test_launcher import BUSY, ROOT, LauncherTest as Base, read

# A program of any name that shows what it was given.
SHOW = "#!/bin/sh\nenv | grep -E '^(%s)=' | sort\n"
VARIABLES = "|".join((
    "NODE_OPTIONS", "JAVA_TOOL_OPTIONS", "PYTHONPERFSUPPORT",
    "PYTHON_PERF_JIT_SUPPORT", "PERF_SPEW_DIR", "IONPERF",
    "DOTNET_PerfMapEnabled", "COMPlus_PerfMapEnabled", "ERL_FLAGS",
    "DENO_V8_FLAGS",
    "MONO_ENV_OPTIONS", "MONO_DEBUG",
    "BUN_JSC_[A-Za-z]*", "JSC_[A-Za-z]*", "JITDUMPDIR", "ENABLE_JITPROFILING"))
NODE = "--perf-basic-prof --interpreted-frames-native-stack"
BURN = ("const end = Date.now() + 700; function burn() { let x = 0;"
        "for (let i = 0; i < 1e6; i++) x += i; return x; }"
        "while (Date.now() < end) burn();")

# A SpiderMonkey shell as far as its profiler's files go: a dump in
# PERF_SPEW_DIR, mapped executable while it is empty.
JS = """#!/usr/bin/env python3
import mmap, os, sys, time
detail = os.environ["IONPERF"]
folder = os.environ["PERF_SPEW_DIR"]
assert os.path.isdir(folder)
with open(sys.argv[1], "rb") as source:
    data = source.read()
with open("%s/jit-%d.dump" % (folder, os.getpid()), "w+b") as dump:
    dump.truncate(1)
    marker = mmap.mmap(dump.fileno(), 1, mmap.MAP_PRIVATE,
                       mmap.PROT_READ | mmap.PROT_EXEC)
    dump.truncate(0)
    dump.write(data[:4096])
    dump.flush()
    with open("%s/jitdump-script-1.%d.txt" % (folder, os.getpid()), "w") as ir:
        ir.write(detail + "\\n")
    while time.process_time() < 1.5:
        pass
    dump.write(data[4096:])
    marker.close()
print(detail)
"""


class LauncherJitTest(Base):
    # Its tests are run from its own module.
    for name in dir(Base):
        if name.startswith("test_"):
            locals()[name] = None
    del name

    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp(prefix="jprof-bin-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.env["PATH"] = self.folder + ":" + self.env["PATH"]
        for name in VARIABLES.split("|"):
            self.env.pop(name, None)

    def script(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="ascii") as out:
            out.write(text)
        os.chmod(path, 0o755)
        return path

    def shown(self, *words, env=None):
        """({variable: value} that the program was given, stderr)"""
        run = self.jprof(*words, env=dict(self.env, **(env or {})))
        self.assertEqual(run.returncode in (0, 1), True, run.stderr)
        pairs = [line.split("=", 1) for line in run.stdout.splitlines()]
        for folder in self.folders():
            shutil.rmtree(folder)
        return dict(pairs), run.stderr

    def check(self, name, jit, want, version=None):
        answer = ('[ "$1" != --version ] || { echo "Python %s"; exit; }\n' %
                  version if version else "")
        self.script(name, SHOW.replace("\n", "\n" + answer, 1) % VARIABLES)
        env, said = self.shown("--jit=" + jit, name)
        spew = [key for key, value in env.items()
                if value.endswith("/jit") and "/jprof-" in value]
        for key in spew:
            env[key] = "%D"
        self.assertEqual(env, want, name)
        lines = [line for line in said.splitlines() if " added " in line]
        self.assertEqual(len(lines), 1 if want else 0, said)
        for key in want:
            self.assertIn(" " + key + "=", lines[0])

    def test_refused_options(self):
        """What a runtime does not start with is left out, and said."""
        for name, pattern, wanted, left_out in (
                ("erl", "*true*", {}, "+JPperf true"),
                ("node", "*native*",
                 {"NODE_OPTIONS": "--perf-prof --perf-basic-prof"},
                 "--interpreted-frames-native-stack"),
                ("deno", "*perf-prof*",
                 {"DENO_V8_FLAGS": NODE.replace(" ", ",")}, "--perf-prof")):
            flags = next(iter(wanted), "ERL_FLAGS")
            self.script(name, "#!/bin/sh\ncase $%s in %s) exit 9 ;; esac\n%s"
                        % (flags, pattern, SHOW % VARIABLES))
            env, said = self.shown("--jit=dump", name)
            self.assertEqual(env, wanted)
            refused = [line for line in said.splitlines() if "refuses" in line]
            self.assertEqual(refused, [
                "jprof: %s refuses %s: left out; version %s and later do not" %
                ({"erl": "erlang"}.get(name, name), left_out,
                 {"erl": "24.0", "node": "10.0", "deno": "1.41"}[name])])

    def test_never_starts(self):
        """One that does not start without options either keeps them."""
        self.script("node", "#!/bin/sh\n[ \"$1\" != --version ] || exit 9\n" +
                    SHOW % VARIABLES)
        env, said = self.shown("node")
        self.assertEqual(env, {"NODE_OPTIONS": NODE})
        self.assertNotIn("refuses", said)

    def test_each_runtime(self):
        dump = "--perf-prof " + NODE
        spew = {"PERF_SPEW_DIR": "%D", "IONPERF": "src"}
        bun = {"BUN_JSC_useJITDump": "1", "BUN_JSC_jitDumpDirectory": "%D"}
        mono = {"MONO_ENV_OPTIONS": "--jitmap",
                "MONO_DEBUG": "disable_omit_fp"}
        dotnet = "DOTNET_PerfMapEnabled", "COMPlus_PerfMapEnabled"
        for name, jit, want in (
                ("node", "map", {"NODE_OPTIONS": NODE}),
                ("node", "dump", {"NODE_OPTIONS": dump}),
                ("node", "off", {}),
                ("npm", "map", {"NODE_OPTIONS": NODE}),
                ("python3.13", "map", {}), ("python3.8", "map", {}),
                ("python3.12", "dump", {"PYTHONPERFSUPPORT": "1"}),
                ("python3.11", "map", {}), ("python2.7", "map", {}),
                ("js", "map", spew), ("js140", "dump", spew),
                ("dotnet", "map", dict.fromkeys(dotnet, "3")),
                ("dotnet", "dump", dict.fromkeys(dotnet, "1")),
                ("mono", "map", mono), ("mcs", "dump", mono),
                ("erl", "map", {"ERL_FLAGS": "+JPperf true"}),
                ("mix", "dump", {"ERL_FLAGS": "+JPperf true"}),
                ("elixirc", "map", {"ERL_FLAGS": "+JPperf true"}),
                ("rabbitmq-server", "map", {"ERL_FLAGS": "+JPperf true"}),
                ("rabbitmq-tool", "map", {}),
                ("deno", "map", {"DENO_V8_FLAGS": NODE.replace(" ", ",")}),
                ("bun", "map", bun), ("bun", "dump", bun),
                ("jsc", "map", {"JSC_useJITDump": "1",
                                "JSC_jitDumpDirectory": "%D"}),
                ("lli-14", "map", {"JITDUMPDIR": "%D"}),
                ("julia", "dump", {"ENABLE_JITPROFILING": "1",
                                   "JITDUMPDIR": "%D"}),
                ("nodelike", "map", {}), ("mypython", "map", {})):
            self.check(name, jit, want)
        # Of what its name says nothing, it is asked itself.
        for version, jit, want in (
                ("3.14.0", "dump", {"PYTHON_PERF_JIT_SUPPORT": "1"}),
                ("3.14.0", "map", {"PYTHONPERFSUPPORT": "1"}),
                ("3.13.7", "map", {}),
                ("3.12.7", "dump", {"PYTHONPERFSUPPORT": "1"}),
                ("3.11.2", "map", {}), ("2.7.18", "map", {}), ("x", "map", {})):
            self.check("python3", jit, want, version)

    def asked(self, request, wanted=None):
        """The variables by which a row's request is asked; `wanted`: whether
        a word is."""
        env = {}
        for setting in request["settings"]:
            words = [word for word in setting["words"]
                     if wanted is None or wanted(word)]
            value = setting["separator"].join(words)
            if value:
                env[setting["variable"]] = {"%L": "src"}.get(value, value)
        return env

    def given(self, jit, name, text=""):
        """What a script of this name gets, with %D for the folder; stderr."""
        self.script(name, "#!/bin/sh\n" + text + SHOW[10:] % VARIABLES)
        env, said = self.shown("--jit=" + jit, name)
        return {key: "%D" if value.endswith("/jit") else value
                for key, value in env.items()}, said

    def old_or_new(self, row, jit, name):
        """One that tells its version: just too old, and old enough."""
        answer = 'if [ "$1" = %s ]; then echo "%s%d.%d"; exit; fi\n'
        before = {}     # what the one before that version is asked
        for request in (row["map"], row[jit]):
            major, minor = request["from"]
            self.assertTrue(minor > 0)
            for version, want in ((minor - 1, before),
                                  (minor, self.asked(request)),
                                  (minor + 1, self.asked(request))):
                env, _ = self.given("map" if request is row["map"] else jit,
                                    name, answer % (row["argument"],
                                                    row["printed"], major,
                                                    version))
                if request is row["map"] and (
                        row["read"][0] <= [major, version] < row["read"][1]):
                    want = {}   # the library reads its functions itself
                self.assertEqual(env, want, (name, jit, version))
            before = self.asked(request)
            if row[jit] is row["map"]:
                break

    def ends(self, row, jit, name):
        """One that does not start with a word: each in its turn."""
        self.assertEqual(row["trial"][0], name)
        for setting in row[jit]["settings"]:
            for word in setting["words"]:
                env, said = self.given(jit, name, (
                    'case "$1,%s$%s%s" in %s,*"%s%s%s"*) exit 9 ;; esac\n' % (
                        setting["separator"], setting["variable"],
                        setting["separator"], row["trial"][1],
                        setting["separator"], word, setting["separator"])))
                self.assertEqual(env, self.asked(
                    row[jit], lambda one, out=word: one != out))
                self.assertIn("%s refuses %s: left out; version %d.%d and later"
                              % (row["name"], word, *row[jit]["from"]), said)

    def lacks_word(self, row, jit, name):
        """A build without the word, and one with it."""
        busy = os.path.join(os.path.dirname(self.JPROF), "tests", "programs",
                            "busy")
        shutil.copy(busy, os.path.join(self.folder, name))
        run = self.jprof("--jit=" + jit, "-o", "out", name, "0.1")
        self.assertNotIn(" added ", run.stderr)
        self.assertIn("this %s does not tell of its JIT code; some builds do" %
                      row["name"], read(self.path("out", "report.html")))
        shutil.rmtree(self.path("out"))
        with open(os.path.join(self.folder, name), "ab") as out:
            out.write(row["mark"].encode())
        run = self.jprof("--jit=" + jit, "-o", "out", name, "0.1")
        self.assertIn(" added ", run.stderr)
        shutil.rmtree(self.path("out"))

    def test_the_table(self):
        """Each row in both ways: what it is asked, from which version on, and
        what is done where it is refused.  The rows are the launcher's own."""
        done = subprocess.run(
            [os.path.join(os.path.dirname(self.JPROF), "tests", "tools",
                          "runtimes")], check=True, stdout=subprocess.PIPE)
        rows = json.loads(done.stdout)
        self.assertGreater(len(rows), 10)
        refusals = {"tells version": self.old_or_new, "ends": self.ends,
                    "lacks word": self.lacks_word}
        for row in rows:
            name = row["programs"].split()[0]
            for jit in ("map", "dump"):
                with self.subTest(runtime=name, jit=jit):
                    if row["refusal"] in refusals:
                        refusals[row["refusal"]](row, jit, name)
                    if row["refusal"] == "tells version":
                        continue
                    lacks = jit == "dump" and row["agents"] and not [
                        path for pattern in row["agents"]
                        for path in glob.glob(pattern)]
                    request = row["map" if lacks else jit]
                    env, said = self.given(jit, name)
                    if "%A" not in json.dumps(request):
                        self.assertEqual(env, self.asked(request))
                    self.assertIn("jprof: %s: added to the environment: " %
                                  row["name"], said)
        self.assertEqual({row["refusal"] for row in rows},
                         set(refusals) | {"passes over"})

    def test_asked_in_vain(self):
        """JIT code without names, of a runtime that passes over the wish."""
        self.script("bun", "#!/bin/sh\nexec node -e '%s'\n" % BURN)
        run = self.jprof("-o", "out", "bun")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("JIT code has no names: bun was asked to "
                      "write them, and did not; version 1.1 and later do; see",
                      run.stderr)

    def test_build_that_tells_of_no_code(self):
        """A SpiderMonkey without the variable in it is asked for nothing, and
        the report says so."""
        busy = os.path.join(os.path.dirname(self.JPROF), "tests", "programs",
                            "busy")
        shutil.copy(busy, os.path.join(self.folder, "js"))
        run = self.jprof("-o", "out", "js", "0.3")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn(" added ", run.stderr)
        self.assertFalse(os.path.exists(self.path("out", "jit")))
        self.assertIn("this spidermonkey does not tell of its JIT code; some "
                      "builds do; see doc/jit",
                      read(self.path("out", "report.html")))

    def test_interpreter_without_a_compiler(self):
        """Of an old Python nobody says that it has JIT code."""
        busy = os.path.join(os.path.dirname(self.JPROF), "tests", "programs",
                            "busy")
        shutil.copy(busy, os.path.join(self.folder, "python3.7"))
        run = self.jprof("-o", "out", "python3.7", "0.3")
        self.assertEqual(run.returncode, 0, run.stderr)
        text = read(self.path("out", "report.html"))
        self.assertIn("this python does not tell of its Python functions; "
                      "version 3.8 and later do; see doc/jit", text)
        self.assertNotIn("tell of its JIT code", text)

    def test_jit_code_without_names(self):
        run = self.jprof("--jit=off", "-o", "out", "node", "-e", BURN)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("JIT code has no names", run.stderr)
        self.assertIn("node describes its code with --perf-basic-prof",
                      read(self.path("out", "report.html")))

    def test_java(self):
        self.script("java", SHOW % VARIABLES)
        env, said = self.shown("java")
        words = env["JAVA_TOOL_OPTIONS"].split()
        self.assertIn("-XX:+PreserveFramePointer", words)
        self.assertIn("-XX:+DumpPerfMapAtExit", words)
        self.assertLess(words.index("-XX:+UnlockDiagnosticVMOptions"),
                        words.index("-XX:+DumpPerfMapAtExit"))
        self.assertIn("jprof: java: added to the environment: ", said)
        # What the user has switched off stays off.
        env, _ = self.shown("java", env={
            "JAVA_TOOL_OPTIONS": "-Xmx1g -XX:-PreserveFramePointer"})
        self.assertTrue(env["JAVA_TOOL_OPTIONS"].startswith(
            "-Xmx1g -XX:-PreserveFramePointer -XX:+"))
        self.assertNotIn("+PreserveFramePointer", env["JAVA_TOOL_OPTIONS"])

    def test_java_s_start_scripts(self):
        for name in ("gradlew", "mvnw", "kafka-topics.sh"):
            self.script(name, SHOW % VARIABLES)
            env, _ = self.shown(name)
            self.assertIn("-XX:+PreserveFramePointer",
                          env["JAVA_TOOL_OPTIONS"], name)

    def test_detail(self):
        self.script("js", SHOW % VARIABLES)
        for detail in ("func", "src", "ir", "ir-ops"):
            env, _ = self.shown("--jit=dump", "--jit-detail=" + detail, "js")
            self.assertEqual(env["IONPERF"], detail)
        # The user's own settings are not changed.
        env, said = self.shown("js", env={"IONPERF": "ir",
                                          "PERF_SPEW_DIR": "/else"})
        self.assertEqual(env, {"IONPERF": "ir", "PERF_SPEW_DIR": "/else"})
        self.assertNotIn(" added ", said)

    def test_variables_of_the_command_line(self):
        """They win as those of the environment do."""
        self.script("js", SHOW % VARIABLES)
        env, said = self.shown("PERF_SPEW_DIR=/else", "IONPERF=ir", "js")
        self.assertEqual(env, {"IONPERF": "ir", "PERF_SPEW_DIR": "/else"})
        self.assertNotIn(" added ", said)
        env, _ = self.shown("IONPERF=func", "js")
        self.assertEqual(env["IONPERF"], "func")
        self.assertIn("/jprof-", env["PERF_SPEW_DIR"])
        self.script("node", SHOW % VARIABLES)
        env, _ = self.shown("NODE_OPTIONS=--no-warnings", "node")
        self.assertEqual(env["NODE_OPTIONS"], "--no-warnings " + NODE)

    def test_runtimes_found_by_the_command_line(self):
        """The program's own PATH and variables lead to the runtime."""
        folder = self.path("apart")
        os.mkdir(folder)
        os.rename(self.script("node", SHOW % VARIABLES), folder + "/node")
        self.script("tool", "#!/usr/bin/env node\n")
        self.script("start", '#!/bin/sh\nexec $TOOL "$@"\n')
        path = "PATH=%s:%s:/usr/bin:/bin" % (folder, self.folder)
        bare = {"PATH": self.folder + ":/usr/sbin"}
        for words in ((path, "node"), (path, "tool"),
                      (path, "TOOL=%s/node" % folder, "start")):
            env, _ = self.shown(*words, env=bare)
            self.assertEqual(env, {"NODE_OPTIONS": NODE}, words)

    def test_appends(self):
        self.script("node", SHOW % VARIABLES)
        for had, want in (
                ("--max-old-space-size=100",
                 "--max-old-space-size=100 " + NODE),
                (NODE, NODE),
                ("--perf-basic-prof-only-functions",
                 "--perf-basic-prof-only-functions "
                 "--interpreted-frames-native-stack")):
            env, said = self.shown("node", env={"NODE_OPTIONS": had})
            self.assertEqual(env["NODE_OPTIONS"], want)
            self.assertEqual(" added " in said, had != want, said)

    def test_wrong_words(self):
        for word, kinds in (("--jit=", "--jit=off, map or dump"),
                            ("--jit=all", "--jit=off, map or dump"),
                            ("--jit", "--jit=off, map or dump"),
                            ("--jit-detail=x", "--jit-detail=func, src")):
            run = self.jprof(word, "true")
            self.assertEqual(run.returncode, 64, word)
            self.assertIn(word + ": must be " + kinds, run.stderr)

    def test_recognised_through_links_and_scripts(self):
        node = self.script("node", SHOW % VARIABLES)
        os.symlink(node, os.path.join(self.folder, "runner"))
        os.symlink(node, os.path.join(self.folder, "js"))
        self.script("tool", "#!/usr/bin/env node\n")
        self.script("direct", "#! %s --flag\n" % node)
        self.script("split", "#!/usr/bin/env -S A=1 node --flag\n")
        self.script("twice", "#!%s/tool\n" % self.folder)
        self.script("shell", "#!/bin/sh\nexec node\n")
        for words in (["node"], [node], ["runner"], ["js"], ["tool"],
                      ["direct"], ["split"], ["twice"],
                      ["env", "node"], ["env", "-u", "X", "A=1", "node"],
                      ["nice", "-n", "1", "node"], ["env", "tool"],
                      ["shell"]):
            env, said = self.shown(*words)
            self.assertEqual(env, {"NODE_OPTIONS": NODE}, (words, said))
        for words in (["env"], ["env", "missing-thing"]):
            run = self.jprof(*words)
            self.assertNotIn(" added ", run.stderr)

    def test_start_scripts_are_read(self):
        """Shell scripts of unknown names, in the forms of RabbitMQ, Elixir,
        Gradle, Maven, pnpm, pip, Tomcat and Elasticsearch."""
        self.script("node", SHOW % VARIABLES)
        os.mkdir(os.path.join(self.folder, "lib"))
        self.script("lib/settings", "RUNNER=node\n")
        self.script("lib/inner", "#!/bin/sh\n. ./settings\nexec $RUNNER\n")
        scripts = {
            "plain": "exec >&2\nexec nohup \\\n  node -x \"$@\"\n",
            "prefix": "start() {\n  exec ${ERL_DIR}node \"$@\"\n}\nstart\n",
            "arguments": "DIR=\nset -- \"$1\" x\nset -- \"$DIR$WHAT\" -x\n"
                         "exec \"$@\"\nWHAT=no\"de\"\n",
            "variable": "if [ -n \"$J\" ]; then\n CMD=\"$J/bin/node\"\n"
                        "else CMD=node\nfi\nexec \"$CMD\" \"$@\"\n",
            "found": "CMD=\"`\\unset -f command; \\command -v node`\"\n"
                     "exec \"$CMD\" x\n",
            "sibling": "D=$(dirname \"$0\")\nexec \"$D\"/lib/inner \"$@\"\n",
            "no_exec": "test -d x && exit 1\nA=1 node x \"$@\"\n",
            "eval": "eval exec \"\\\"$RUN\\\"\" x\nRUN=\"$H\"/node\n",
            "array": "CMD=( node x )\nexec \"${CMD[@]}\"\n",
            "default": "exec ${CMD:-node} x\n",
            "quoted": "'''exec' node \"$0\" \"$@\"\n' '''\n",
        }
        for name, text in scripts.items():
            self.script(name, "#!/usr/bin/env bash\n" + text)
            run = self.jprof(name)
            self.assertIn("node: added to the environment", run.stderr, name)
        # A shell that is given the script starts the same.
        run = self.jprof("sh", os.path.join(self.folder, "variable"))
        self.assertIn("node: added to the environment", run.stderr)

    def test_scripts_that_only_use_a_runtime(self):
        self.script("node", SHOW % VARIABLES)
        for name, text in (("uses", "node --version\necho node \"$@\"\n"),
                           ("tests", "if [ -x node ]; then exec true; fi\n"),
                           ("comment", "# exec node\ntrue\n"),
                           ("itself", "exec \"$0\" --help \"$@\"\n" * 100),
                           ("other", "NODE=node\nexec true \"$NODE\"\n")):
            self.script(name, "#!/bin/sh\n" + ("exit\n" if name == "itself"
                                               else "") + text)
            run = self.jprof(name)
            self.assertNotIn(" added ", run.stderr, name)

    def test_spidermonkey_s_files(self):
        self.script("js", JS)
        sample = self.path("sample")
        with lzma.open(os.path.join(
                ROOT, "tests", "data", "jit", "spidermonkey",
                "prog-ir.jit.dump.xz")) as source:
            data = source.read()
        with open(sample, "wb") as out:
            out.write(data)
        run = self.jprof("--jit=dump", "--jit-detail=ir", "-o", "out", "js",
                         sample)
        self.assertEqual((run.returncode, run.stdout), (0, "ir\n"), run.stderr)
        saved = glob.glob(self.path("out", "jprof-log*.jit-*.dump"))
        self.assertEqual(len(saved), 1, os.listdir(self.path("out")))
        with open(saved[0], "rb") as source:
            self.assertEqual(source.read(), data)
        # The dump has moved, the listing that it names stays.
        left = os.listdir(self.path("out", "jit"))
        self.assertEqual([name.split(".")[0] for name in left],
                         ["jitdump-script-1"])

    def test_spidermonkey_s_documented_command(self):
        """The user's own dump is in the profile, and stays where it is."""
        self.script("js", JS)
        sample, spew = self.path("sample"), self.path("spew")
        with lzma.open(os.path.join(
                ROOT, "tests", "data", "jit", "spidermonkey",
                "prog-src.jit.dump.xz")) as source, open(sample, "wb") as out:
            shutil.copyfileobj(source, out)
        os.mkdir(spew)
        run = self.jprof("-o", "out", "PERF_SPEW_DIR=" + spew, "IONPERF=src",
                         "js", sample)
        self.assertEqual((run.returncode, run.stdout), (0, "src\n"),
                         run.stderr)
        self.assertNotIn(" added ", run.stderr)
        for path in (spew + "/jit-*.dump",
                     self.path("out", "jprof-log*.jit-*.dump")):
            (dump,) = glob.glob(path)
            with open(dump, "rb") as have, open(sample, "rb") as want:
                self.assertEqual(have.read(), want.read())

    def test_killed_program_s_dump(self):
        """On another file system: the library could not link it, and the
        program died before it could be copied."""
        other = tempfile.mkdtemp(prefix="jprof-run-", dir="/dev/shm")
        self.addCleanup(shutil.rmtree, other)
        dumper = os.path.join(os.path.dirname(self.JPROF), "tests", "programs",
                              "dumper")
        name = os.path.join(other, "a dump%")
        run = self.jprof("-o", "out", "sh", "-c",
                         '"$@" & sleep 1.5; kill -9 $!', "sh", dumper, "600",
                         "plain:" + name)
        self.assertEqual(run.returncode, 0, run.stderr)
        saved = glob.glob(self.path("out", "jprof-log*.jit-*.dump"))
        self.assertEqual(len(saved), 1, os.listdir(self.path("out")))
        with open(saved[0], "rb") as have, open(name, "rb") as want:
            self.assertEqual(have.read(), want.read())
        self.assertIn(" saved=" + os.path.basename(saved[0]),
                      self.maps(self.path("out")))

    def test_killed_runtime_s_files_are_private(self):
        """A dump that was linked has its runtime's mode no longer."""
        program = ("const end = Date.now() + 900; function burn() { let x = 0;"
                   "for (let i = 0; i < 1e6; i++) x += i; return x; }"
                   "while (Date.now() < end) burn();"
                   "process.kill(process.pid, 'SIGKILL')")
        run = self.jprof("--jit=dump", "-o", "out", "node", "-e", program)
        self.assertEqual(run.returncode, 137, run.stderr)
        self.assertEqual(len(glob.glob(self.path("out", "*.dump"))), 1)
        for name in os.listdir(self.path("out")):
            mode = os.stat(self.path("out", name)).st_mode
            self.assertEqual((name, mode & 0o777), (name, 0o600))

    def test_nothing_is_left_behind(self):
        """What was written for our sake alone is in the profile's folder."""
        program = ("const end = Date.now() + 700; function burn() { let x = 0;"
                   "for (let i = 0; i < 1e6; i++) x += i; return x; }"
                   "while (Date.now() < end) burn();"
                   "console.log(process.pid)")
        for jit, kept in (("map", "perf"), ("dump", "jit")):
            run = self.jprof("--jit=" + jit, "-o", jit, "node", "-e", program)
            self.assertEqual(run.returncode, 0, run.stderr)
            pid = run.stdout.strip()
            self.assertFalse(os.path.exists("/tmp/perf-%s.map" % pid))
            self.assertEqual(len(glob.glob(self.path(
                jit, "jprof-log*.%s-%s.*" % (kept, pid)))), 1)
        self.assertEqual(sorted(os.listdir(self.dir)), ["dump", "map"])
        # A file that the user asked for stays where it is.
        run = self.jprof("-o", "own", "node", "--perf-basic-prof", "-e",
                         program)
        path = "/tmp/perf-%s.map" % run.stdout.strip()
        self.addCleanup(os.unlink, path)
        self.assertIn("burn", read(path))

    def test_other_programs_gain_nothing(self):
        run = self.jprof("--jit=dump", "sh", "-c", BUSY + "; env")
        for name in ("NODE_OPTIONS", "PERF_SPEW_DIR", "JITDUMPDIR"):
            self.assertNotIn(name, run.stdout)


del Base    # not to be run from here

if __name__ == "__main__":
    unittest.main()
