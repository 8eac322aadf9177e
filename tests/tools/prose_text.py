# SPDX-License-Identifier: MIT
"""Reads sentences out of documents, man pages and comments, and identifiers
out of C sources, for tests/lint/prose.  Runs in: tests.

A unit is a paragraph, list item, heading or table cell: (line, text, kind).
Kind "cell" marks table cells and headings, whose lengths do not count."""
import io
import re
import tokenize

C_TOKEN = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|"""
                     r"""'(?:\\.|[^'\\\n])*'|^[ \t]*\#[ \t]*include[^\n]*""",
                     re.S | re.M)
NAME = re.compile(r"[A-Za-z_]\w*")
SENTENCE_END = re.compile(r"(?<=[.!?])[)\"'*_`]*\s+(?=[(\"'*_]*[A-Z0-9`\[])")
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|cf|vs|etc|No)\.$")
CODE = re.compile(r"`+[^`]*`+")
MAN_BREAK = re.compile(r"\.(TP|PP|P|IP|HP|SH|SS|Sh|Ss|Pp|It|Bl|El|br|sp|nf|fi|"
                       r"EX|EE|RS|RE|Bd|Ed|Nd|TQ)\b")
MAN_UNSEEN = re.compile(r"\.(TH|Dd|Dt|Os|In|ad|hy|if|ie|el|ds|de|nh|ta|in)\b")
MAN_HEADING = re.compile(r"\.(SH|SS|Sh|Ss|Nd)\b")
MAN_FONT = re.compile(r"\\f(\(..|\[[^]]*\]|.)|\\\*\(..")
MDOC_CALLS = re.compile(r"(?<!\S)(Fl|Ar|Pa|Ev|Fn|Fa|Xr|Er|Dv|Va|Nm|Li|Em|Sy|Ns|"
                        r"Op|Ft|Dq|Sq|Pq|Cm|Vt|No|Ap|Ic|Ql|Tn)(?=\s)")


def sentences(text):
    """The sentences of a unit's text."""
    whole = ""
    for part in SENTENCE_END.split(" ".join(text.split())):
        whole = (whole + " " + part).strip()
        if not ABBREVIATION.search(whole):
            yield whole
            whole = ""
    if whole:
        yield whole


def words(sentence):
    """How many words a sentence has; code in back quotes is one word."""
    return len([word for word in CODE.sub("code", sentence).split()
                if re.search(r"\w", word)])


class Units:
    """Collects units line by line."""

    def __init__(self):
        self.units, self.parts, self.first = [], [], 0

    def add(self, line, text):
        if not self.parts:
            self.first = line
        self.parts.append(text)

    def end(self, kind="text"):
        if self.parts:
            self.units.append((self.first, " ".join(self.parts), kind))
        self.parts = []

    def cell(self, line, text):
        self.end()
        self.add(line, text)
        self.end("cell")


def markdown(text):
    """The units of a Markdown page, without its blocks of code."""
    units, fenced, in_list = Units(), False, False
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if bare.startswith("```"):
            fenced = not fenced
            units.end()
        elif fenced:
            continue
        elif not bare:
            units.end()
            in_list = in_list and bool(units.units)
        elif bare.startswith("|"):
            units.end()
            for cell in re.split(r"(?<!\\)\|", bare.strip("|")):
                if re.search(r"\w", cell):
                    units.cell(number, cell.strip())
        elif bare.startswith("#"):
            units.cell(number, bare.lstrip("# "))
            in_list = False
        elif re.match(r"([-*+]|\d+\.) ", bare):
            units.end()
            units.add(number, re.sub(r"^([-*+]|\d+\.) +", "", bare))
            in_list = True
        elif line.startswith("    ") and not units.parts and not in_list:
            continue
        else:
            units.add(number, bare)
            in_list = in_list and line.startswith(" ")
    units.end()
    return units.units


def man_page(text):
    """The units of a manual page, man or mdoc."""
    units, literal = Units(), False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(('.\\"', "'")) or MAN_UNSEEN.match(line):
            continue
        if re.match(r"\.(nf|EX|Bd -literal)", line):
            literal = True
        elif re.match(r"\.(fi|EE|Ed)\b", line):
            literal = False
        if MAN_HEADING.match(line):
            units.cell(number, line.split(None, 1)[-1])
        elif MAN_BREAK.match(line) or not line.strip():
            units.end()
        elif not literal:
            bare = re.sub(r"^\.\w+ ", "", line)
            bare = MDOC_CALLS.sub("", MAN_FONT.sub("", bare))
            units.add(number, bare.replace("\\", ""))
    units.end()
    return units.units


def comment_units(line, text, units):
    """Adds the units of one comment, from the line on which it begins."""
    for offset, part in enumerate(text.splitlines()):
        bare = re.sub(r"^\s*(/\*+|\*/|\*|//+|#+:?)? ?", "", part)
        bare = bare.replace("*/", "").rstrip()
        if not bare.strip():
            units.end()
        elif bare.startswith("    ") and not units.parts:
            continue
        elif "SPDX-License" not in bare:
            bare = re.sub(r"Runs in:.*", "", bare).strip()
            if re.match(r"[-*] ", bare):
                units.end()
            if bare:
                units.add(line + offset, bare)
    units.end()


def c_comments(text):
    """The units of a C source's comments."""
    units = Units()
    for match in C_TOKEN.finditer(text):
        if match.group().startswith(("/*", "//")):
            comment_units(text.count("\n", 0, match.start()) + 1,
                          match.group(), units)
    return units.units


def c_identifiers(text):
    """{identifier: line of its first use} of a C source."""
    code = C_TOKEN.sub(lambda match: "\n" * match.group().count("\n"), text)
    names = {}
    for number, line in enumerate(code.splitlines(), 1):
        for name in NAME.findall(line):
            names.setdefault(name, number)
    return names


def python_comments(text):
    """The units of a Python source's comments and strings of its own line
    (docstrings)."""
    units, last, fresh = Units(), -1, True
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    for token in tokens:
        line = token.start[0]
        if token.type == tokenize.COMMENT and not token.string[:2] == "#!":
            if last != line - 1:
                units.end()
            last = line
            units.add(line, token.string.lstrip("# "))
        elif token.type == tokenize.STRING and fresh and \
                token.string.startswith(('"""', 'r"""')):
            units.end()
            comment_units(line, token.string.lstrip("r").strip('"'), units)
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            fresh = token.type in (tokenize.NEWLINE, tokenize.INDENT,
                                   tokenize.DEDENT)
    units.end()
    return [(line, re.sub("SPDX-License-Identifier: MIT", "", unit), kind)
            for line, unit, kind in units.units]
