# SPDX-License-Identifier: MIT
"""What tests/tools/modellog samples: functions of real ELF files of this
machine, with the lines of a map that say where they are, and of JIT code with
a perf map.

Runs in: tests, `make bench-model`.
"""
import glob
import os
import struct
import subprocess

FIRST = 0x7F0000000000      # where the first file is mapped, and
APART = 0x20000000          # how far above it the next one
JIT = 0x500000000000
JIT_FUNCTION = 512          # bytes of code
PT_LOAD, PT_NOTE, PF_X = 1, 4, 1
MOST = 4000                 # functions of a file
PERF_MAP = "jprof-log.perf-1000.map"    # as the library calls its copy


def segments_of(data):
    """[(type, flags, offset, address, size in the file, in memory)]."""
    at, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    found = []
    for index in range(count):
        kind, flags, offset, address, _, in_file, in_memory, _ = (
            struct.unpack_from("<IIQQQQQQ", data, at + index * size))
        found.append((kind, flags, offset, address, in_file, in_memory))
    return found


def build_id_of(data, segments):
    """The build-id in hex, or None."""
    for kind, _, offset, _, size, _ in segments:
        at = offset
        while kind == PT_NOTE and at + 12 <= offset + size:
            name, length, note = struct.unpack_from("<III", data, at)
            body = at + 12 + (name + 3) // 4 * 4
            if note == 3 and data[at + 12:at + 16] == b"GNU\0":
                return data[body:body + length].hex()
            at = body + (length + 3) // 4 * 4
    return None


def functions_of(path):
    """[(address, size)] of a file's code, by its symbols."""
    found = set()
    for option in ([], ["-D"]):
        done = subprocess.run(["nm", "-S", "--defined-only", *option, path],
                              stdout=subprocess.PIPE, check=False,
                              stderr=subprocess.DEVNULL, text=True)
        for line in done.stdout.splitlines():
            words = line.split()
            if len(words) == 4 and words[2] in "tTwWi":
                found.add((int(words[0], 16), int(words[1], 16)))
    found = sorted(item for item in found if item[1] >= 4)
    return found[::max(1, len(found) // MOST)][:MOST]


def image_of(path, base):
    """(the module's numbers and keys, [(address, size)]) when mapped there."""
    with open(path, "rb") as source:
        data = source.read()
    info = os.stat(path)
    segments = segments_of(data)
    _, _, offset, address, _, size = next(
        item for item in segments if item[0] == PT_LOAD and item[1] & PF_X)
    keys = "dev=%d:%d inode=%d mtime=%d" % (
        os.major(info.st_dev), os.minor(info.st_dev), info.st_ino,
        info.st_mtime_ns)
    build_id = build_id_of(data, segments)
    if build_id:
        keys += " build_id=" + build_id
    numbers = ((base + address) & ~4095, (base + address + size + 4095) & ~4095,
               offset & ~4095, base)
    functions = [(base + start, length)
                 for start, length in functions_of(path)
                 if address <= start and start + length <= address + size]
    return "%x %x %x %x %s path=%s" % (*numbers, keys, path), functions


def files(build):
    """The ELF files: a program with lines, and libraries in C and C++."""
    found = [os.path.join(os.path.abspath(build), "jprof-report")]
    for name in ("libc.so.6", "libpython3*.so.1.0", "libcrypto.so.3",
                 "libstdc++.so.6"):
        found += sorted(glob.glob("/usr/lib/*/" + name) +
                        glob.glob("/usr/lib64/" + name))[:1]
    return [os.path.realpath(path) for path in found]


def put_jit(folder, count, lines):
    """A perf map of so many functions in `folder`; its lines for the map."""
    with open(os.path.join(folder, PERF_MAP), "w", encoding="ascii") as out:
        for index in range(count):
            out.write("%x %x JS:%sscript%d /srv/app/file%d.js:%d:7\n" % (
                JIT + index * JIT_FUNCTION, JIT_FUNCTION,
                "*^~"[index % 3], index // 2, index % 97, index % 1013))
        size = out.tell()
    lines.append("anon %x %x" % (JIT, JIT + count * JIT_FUNCTION))
    lines.append("line perfmap path=/tmp/perf-1000.map dev=0:1 inode=5 "
                 "size=%d saved=%s" % (size, PERF_MAP))
    return [(JIT + index * JIT_FUNCTION, JIT_FUNCTION)
            for index in range(count)]


def write(build, folder, jit=0, swapped=False):
    """Writes the text that modellog reads to folder/code; returns its path.

    jit: how many functions of JIT code there are beside those of the files.
    swapped: the last two files take turns in one range, and nearly all
    functions are in there."""
    lines, code = [], []
    paths = files(build)
    for index, path in enumerate(paths):
        last = swapped and index >= len(paths) - 2
        module, functions = image_of(
            path, FIRST + APART * min(index, len(paths) - 2 if swapped
                                      else index))
        lines.append(("swap " if last else "module ") + module)
        if swapped and not last:
            functions = functions[:50]
        if not swapped or index != len(paths) - 1:
            code += functions
    if jit:
        code += put_jit(folder, jit, lines)
    path = os.path.join(folder, "code")
    with open(path, "w", encoding="utf-8") as out:
        out.write("\n".join(lines + ["code %x %x" % item for item in code]))
        out.write("\n")
    return path
