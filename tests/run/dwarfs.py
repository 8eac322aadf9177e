# SPDX-License-Identifier: MIT
"""What tests of native names share: a program with inlined functions, and what
jprof-report and other readers of DWARF say of its addresses.  Runs in: tests."""
import os
import re
import subprocess

from jprun import BUILD, ROOT, Case, need

LINES = os.path.join(BUILD, "tests/tools/lines")
SOURCE = os.path.join(ROOT, "tests/programs/inlined.cc")
CLONE = re.compile(r"(\.(cold|isra|part|constprop|lto_priv)(\.\d+)?|\.\d+)+$| "
                   r"\[clone [^]]*\]|\(.*")
# Of Rust: which of the crates of a name, and of the functions.
HASH = re.compile(r"\[[0-9a-f]{8,16}\]|::h[0-9a-f]{16}$")
LEVELS = ("outermost", "middle", "innermost")


def output(*argv, text=None, check=True):
    return subprocess.run(argv, input=text, stdout=subprocess.PIPE,
                          check=check, text=True).stdout


def instructions(path):
    """The addresses of a file's instructions, padding left out."""
    found = re.findall(r"(?m)^\s+([0-9a-f]+):\t(?!\S*nop|data16|xchg +%ax,%ax)",
                       output("objdump", "-d", "--no-show-raw-insn",
                              "--dwarf=no-follow-links", path))
    return [int(word, 16) for word in found]


def chains(text):
    """{address: [(name, FILE:LINE)]} of what a reader writes."""
    found, now = {}, None
    for line in text.splitlines():
        if re.fullmatch("0x[0-9a-f]+", line):
            now = found.setdefault(int(line, 16), [])
        elif line:
            now.append(line)
    return {at: [(CLONE.sub("", HASH.sub("", bare(name))), place(where))
                 for name, where in zip(lines[::2], lines[1::2])]
            for at, lines in found.items()}


def bare(name):
    """Without what is around it, where its file has no linkage name of it:
    other readers do not tell that."""
    return name.rsplit("::", 1)[-1] if re.search(r"\(anonymous|<lambda",
                                                 name) else name


def alike(names, others):
    return len(names) == len(others) and all(
        name == other or name.endswith("::" + other)
        for name, other in zip(names, others))


def place(where):
    """FILE:LINE of FILE:LINE:COLUMN (note)."""
    path, line = re.match(r"(.*?):(\d+|\?)", where).groups()
    return "%s:%s" % (os.path.normpath(path), line)


def plain(name):
    """Without what tells C++ functions of one name apart."""
    return re.split(r"::|\.| ", re.sub("<.*>", "", name))[-1]


class Readers(Case):
    def build(self, name, *options, source=SOURCE, compiler="g++"):
        path = self.path(name)
        subprocess.run([need(compiler), "-O2", "-g", "-o", path, source]
                       + list(options), check=True, cwd=self.dir)
        return path

    def asked(self, path, *reader, style="auto"):
        addresses = "".join("%#x\n" % at for at in instructions(path))
        return chains(output("c++filt", "-s", style,
                             text=output(*reader, text=addresses)))

    def compare(self, path, least=0.97, style="auto"):
        """Each place is as elfutils or LLVM have it, and nearly all as
        elfutils: it takes another function where two overlap.  `style` is
        how the compiler mangles names."""
        ours = self.asked(path, LINES, path)
        text = output(need("eu-addr2line"), "-a", "-f", "-i", "-e", path,
                      text="".join("%#x\n" % at for at in ours), check=False)
        elfutils = chains(output("c++filt", "-s", style, text=re.sub(
            r"(?m) inlined at .*$", "", text)))
        llvm = self.asked(path, need("llvm-symbolizer"), "-e", path, "-i",
                          "--no-demangle", "--addresses", style=style)
        deep, good, wrong = 0, 0, []
        for at, chain in ours.items():
            if not chain or chain[0][1].endswith(":0"):
                continue
            lines = [where for _, where in chain]
            good += lines == [where for _, where in elfutils[at]]
            wrong += [(hex(at), chain)] if lines not in (
                [where for _, where in llvm[at]],
                [where for _, where in elfutils[at]]) else []
            names = [name for name, _ in chain[:-1]]
            wrong += [(hex(at), names)] if not any(
                alike(names, [name for name, _ in other[at][:-1]])
                for other in (llvm, elfutils)) else []
            deep += [plain(name) for name, _ in chain[:3]] == list(
                LEVELS[::-1])
        self.assertEqual(wrong[:3], [])
        self.assertGreater(deep, 4)
        self.assertGreaterEqual(good, least * sum(
            bool(chain) and not chain[0][1].endswith(":0")
            for chain in ours.values()))
        return ours
