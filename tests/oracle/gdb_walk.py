# SPDX-License-Identifier: MIT
"""The third opinion: gdb takes a program under oracle.so to random places,
steps on from there by instructions, has both walkers walk at each, walks the
same stack itself and writes how the three compare.

Runs in: tests (inside gdb).  ORACLE_GDB is the file that it writes to, a line
a stop: `ours VERDICT theirs VERDICT | ...`; ORACLE_PLACES and ORACLE_STEPS
say how many.
"""
import os

import gdb

SKIPPED = (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME)
# The order of gregs in a ucontext_t (REG_R8 is 0).
REGISTERS = ("r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rdi",
             "rsi", "rbp", "rbx", "rdx", "rax", "rcx", "rsp", "rip", "eflags")
SYSCALL = b"\x0f\x05"


def memory(address, size):
    return gdb.selected_inferior().read_memory(address, size).tobytes()


def chain(variable):
    """[addresses] of a struct chain of oracle.c."""
    value = gdb.parse_and_eval(variable)
    depth = int(value["depth"])
    return list(memoryview(memory(int(value["frames"].address),
                                  8 * depth)).cast("Q"))


def walked(behind_signal):
    """[addresses] of gdb's frames, or of those behind the signal's."""
    frames, found = [], not behind_signal
    frame = gdb.newest_frame()
    while frame is not None and len(frames) < 2000:
        if found and frame.type() not in SKIPPED:
            frames.append(frame.pc())
        found = found or frame.type() == gdb.SIGTRAMP_FRAME
        frame = frame.older()
    return frames


def agreed(a, b):
    """A frame of ours that is no return address is stored plus one."""
    count = 0
    for x, y in zip(a, b):
        if x != y and (count == 0 or x != y + 1):
            break
        count += 1
    return count


def verdict(other, frames):
    """How a chain compares with gdb's."""
    i = agreed(other, frames)
    if i == len(other) == len(frames):
        return "same"
    return ("short" if i == len(other) else
            "long" if i == len(frames) else "differ")


def name(address):
    text = gdb.execute("info symbol %#x" % address, to_string=True)
    return text.strip().replace("|", "!") if "No symbol" not in text \
        else "?+%x" % address


def names(frames, start):
    return ", ".join(name(a) for a in frames[start:start + 3])


def start_frame(address):
    return ".jp_thread_start" in name(address) or \
        "jp_thread_start of" in name(address)


def cut(frames):
    """What lies behind jprof's thread start is of no interest."""
    for i, address in enumerate(frames[1:], 1):
        if start_frame(address):
            return frames[:i]
    return frames


def guessed(ours, frames):
    """Whether they part where gdb can but guess: behind a frame whose code has
    neither a name, by which gdb would find the function's first instructions,
    nor call-frame information.  It takes such a function for one that has made
    no frame yet (amd64_frame_cache, of gdb's amd64-tdep.c)."""
    i = agreed(ours, frames)
    if i == 0 or i == len(ours) == len(frames):
        return False
    at = frames[i - 1] - (i > 1)
    return name(at).startswith("?+") and not int(gdb.parse_and_eval(
        "(int)oracle_has_cfi(%#x)" % at))


def report(out, kind, frames):
    frames = cut(frames)
    ours, theirs = chain("oracle_ours"), chain("oracle_theirs")
    i = agreed(ours, frames)
    out.write("ours %s theirs %s | %s %d | %s | ours %s | gdb %s\n" % (
        "guessed" if guessed(ours, frames) else verdict(ours, frames),
        verdict(theirs, frames), kind, i,
        name(ours[0]), names(ours, i), names(frames, i)))
    out.flush()


def settings():
    for words in ("pagination off", "confirm off", "backtrace past-main on",
                  "backtrace past-entry on", "breakpoint pending on",
                  "startup-with-shell off",
                  "environment LD_PRELOAD " + os.environ["ORACLE_SO"]):
        gdb.execute("set " + words, to_string=True)
    gdb.execute("handle all nostop noprint pass", to_string=True)
    gdb.execute("handle SIGTRAP stop noprint nopass", to_string=True)


def alive():
    return bool(gdb.selected_inferior().pid) and \
        gdb.selected_thread() is not None


def at_step(out):
    """Has the stack walked as it is here."""
    address = int(gdb.parse_and_eval(
        "&oracle_context.uc_mcontext.gregs[0]"))
    values = [int(gdb.parse_and_eval("$" + register)) & (1 << 64) - 1
              for register in REGISTERS]
    gdb.selected_inferior().write_memory(
        address, b"".join(value.to_bytes(8, "little") for value in values))
    frames = walked(False)
    if int(gdb.parse_and_eval("oracle_at()")):
        report(out, "step", frames)


def place(out, steps):
    """To a random place, and on from it."""
    gdb.execute("continue", to_string=True)
    if not alive() or gdb.newest_frame().name() != "oracle_stop":
        return False
    frames = walked(True)
    report(out, "tick", frames)
    gdb.execute("tbreak *%#x thread %d" % (
        frames[0], gdb.selected_thread().num), to_string=True)
    gdb.execute("continue", to_string=True)
    for _ in range(steps):
        if not alive() or memory(gdb.newest_frame().pc(), 2) == SYSCALL:
            break
        gdb.execute("stepi", to_string=True)
        at_step(out)
    if alive():
        gdb.execute("call oracle_arm()", to_string=True)
    return alive()


def main():
    settings()
    gdb.execute("break oracle_arm", to_string=True)
    gdb.execute("run", to_string=True)      # armed for the first time
    gdb.execute("delete", to_string=True)
    # The names below are C's, whatever language the program stops in.
    gdb.execute("set language c", to_string=True)
    gdb.execute("set scheduler-locking step", to_string=True)
    gdb.execute("break oracle_stop", to_string=True)
    with open(os.environ["ORACLE_GDB"], "w", encoding="utf-8") as out:
        for _ in range(int(os.environ["ORACLE_PLACES"])):
            if not place(out, int(os.environ["ORACLE_STEPS"])):
                break
    if alive():
        gdb.execute("kill", to_string=True)


main()
