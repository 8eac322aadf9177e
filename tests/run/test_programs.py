# SPDX-License-Identifier: MIT
"""Programs of the distribution run as ever under the library, and what they
write is the same to the byte.  Runs in: tests."""
import os
import unittest

from jprun import TICK_FLAGS, Case, need, quote, shell, weight_s


class Programs(Case):
    FLAGS = (TICK_FLAGS, TICK_FLAGS + " JP_STACK=libunwind",
             "JP_START JP_REALTIME JP_PERIOD=0.001")

    def same(self, *argv, env=None):
        """Runs it alone and under the library; returns its stdout."""
        plain = self.run_program(*argv, preload=False, env=env)
        self.assertEqual(plain.status, 0, plain.err)
        for flags in self.FLAGS:
            with self.subTest(flags=flags):
                done = self.run_program(*argv, flags=flags, env=env)
                self.assertEqual((done.status, done.out, done.err),
                                 (plain.status, plain.out, plain.err))
        runs = self.all_runs()
        self.assertGreater(sum(weight_s(run) for run in runs), 0)
        self.assertEqual([run.damage for run in runs if run.damage], [])
        return plain.out

    def input_file(self):
        """A few megabytes that compress."""
        path = self.path("input")
        with open(path, "wb") as target:
            for i in range(120000):
                target.write(b"line %d of %d\n" % (i * i, i % 977))
        return path

    def compress(self, name, *options):
        tool = need(name)
        self.input_file()
        text = "%s %s -c input | cksum && cksum input" % (
            quote(tool), " ".join(options))
        self.same(*shell(text))

    def test_xz(self):
        self.compress("xz", "-3", "-T2")

    def test_gzip(self):
        self.compress("gzip", "-9", "-n")

    def test_python(self):
        self.same(need("python3"), "-c", """if True:
            import threading, hashlib, subprocess, sys
            out = []
            def work(n):
                data = bytes(n)
                for _ in range(20):
                    data = hashlib.sha256(data * 1000).digest()
                out.append(data.hex())
            threads = [threading.Thread(target=work, args=(n + 1,))
                       for n in range(4)]
            [t.start() for t in threads]
            [t.join() for t in threads]
            print(sorted(out), sum(i * i for i in range(2000000)))
            print(subprocess.run([sys.executable, '-c', 'print(7)'],
                                 capture_output=True, text=True).stdout)
            """)

    def test_git(self):
        git = quote(need("git"))
        fresh = ("rm -rf repo && mkdir repo && cd repo && %s init -q && "
                 "cp ../input a && %s add a && %s -c user.name=a "
                 "-c user.email=a@b commit -q -m one && "
                 "%s gc -q && %s log --format=%%T && %s fsck 2>&1"
                 % ((git,) * 6))
        self.input_file()
        self.same(*shell(fresh), env={"HOME": self.dir})

    def test_sqlite(self):
        self.same(need("sqlite3"), ":memory:",
                  "create table t(a integer, b text);"
                  "with recursive n(i) as (select 1 union all select i+1 "
                  "from n where i < 200000) insert into t "
                  "select i * 7919 % 100003, hex(i) from n;"
                  "create index x on t(a);"
                  "select a, count(*), max(b) from t group by a % 10;")

    def test_gcc(self):
        gcc = need("gcc")
        source = os.path.join(os.path.dirname(__file__), "..", "programs",
                              "shares.c")
        self.same(*shell("%s -std=gnu11 -O2 -pthread -c -o o.o %s && "
                         "cksum <o.o" % (quote(gcc), quote(source))))

    def test_report_of_a_program_without_symbols(self):
        """xz has no .symtab: named where possible, unnamed by function."""
        xz = need("xz")
        self.input_file()
        self.run_program(*shell("exec %s -9 -c input" % quote(xz)),
                         flags=TICK_FLAGS)
        name = max(self.log_names(), key=lambda n: os.path.getsize(
            self.path(n)))
        summary = self.summary(xz, name)
        self.assertGreater(int(summary["samples"]), 20)


if __name__ == "__main__":
    unittest.main()
