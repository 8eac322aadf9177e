# SPDX-License-Identifier: MIT
"""Whether a stack that is said to be complete has its thread's first frame.

Runs in: tests; after every run test.  The first frame of the main thread is
the program's entry, or the loader's, or (by frame pointers, which the C
library's start-up code has not) where the C library calls main; that of any
other thread, which in a forked child is the first one, is a function of a
file, not of memory that code was written to, unless the test says where that
function is."""
import struct

# Of code: _start, and _dl_start_user right behind it.  glibc 2.43's on aarch64,
# which turns shadow stacks on in between, calls the constructors at 132.
ENTRY_BYTES = 160
ANY = (0, 1 << 64)


def entry_of(path):
    """e_entry of an ELF file, or None."""
    try:
        with open(path, "rb") as source:
            head = source.read(64)
    except OSError:
        return None
    if head[:4] != b"\x7fELF" or head[4] != 2 or len(head) < 64:
        return None
    return struct.unpack_from("<Q" if head[5] == 1 else ">Q", head, 24)[0]


class Roots:
    """Where first frames may be, of one run."""

    def __init__(self, run, forked=False, begins=()):
        self.forked, self.begins = forked, begins
        self.entries, self.library, self.written, self.files = [], [], [], []
        self.code = [] # (start, end, file offset) of the program's
        self.pid = run.header["pid"]
        self.exe = run.header["exe"]
        for _, event, keys in run.map:
            if event not in ("module", "anon"):
                continue
            span = int(keys["start"], 16), int(keys["end"], 16)
            if event == "anon":
                self.written.append(span)
                continue
            self.files.append(span)
            path = keys.get("path", "")
            name = path.rsplit("/", 1)[-1]
            if name.startswith(("libc.so", "libc-", "libpthread")):
                self.library.append(span)
            if path == self.exe:
                self.code.append((*span, int(keys["offset"], 16)))
            if path == self.exe or name.startswith("ld-"):
                entry = entry_of(path)
                if entry is not None and "bias" in keys:
                    start = entry + int(keys["bias"], 16)
                    self.entries.append((start, start + ENTRY_BYTES))

    def halts(self, address):
        """Is there hlt (x86-64) behind the call?  Entry code that a program
        has of its own calls the program, which does not return."""
        for start, end, offset in self.code:
            if start <= address < end:
                with open(self.exe, "rb") as source:
                    source.seek(address - start + offset)
                    return source.read(1) == b"\xf4"
        return False

    def is_first(self, tid, stack):
        """May this be the first frame of a thread?  A return address is
        behind its call, the interrupted one is not."""
        def within(spans):
            at = stack[-1] - (len(stack) > 1)
            return any(start <= at < end for start, end in spans)

        if within(self.written) and not within(self.files):
            return tid != self.pid and within(self.begins)
        if tid != self.pid or self.forked or not self.entries:
            return True
        return (within(self.entries) or within(self.library) or
                (len(stack) > 1 and self.halts(stack[-1])))


def is_child(run):
    """Whether a process is not the first of its tree, and so may go on in the
    program of its parent, on the stack of any of its threads."""
    return run.header["root_pid"] not in (0, run.header["pid"])


def false_roots(run, begins=()):
    """[(tid, stack)] of the samples that say `root` and are wrong.  Of
    logs of programs that there are, not of made-up ones.  `begins`: [(start,
    end)] of JIT code that threads begin in."""
    if entry_of(run.header["exe"]) is None:
        return []
    roots, found, seen = Roots(run, is_child(run), begins), [], set()
    for _, tid, _, _, reason, stack in run.samples:
        if reason != "root" or (tid, stack) in seen:
            continue
        seen.add((tid, stack))
        if not stack or not roots.is_first(tid, stack):
            found.append((tid, [hex(frame) for frame in stack[-3:]],
                          len(stack)))
    return found
