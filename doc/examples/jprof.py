# SPDX-License-Identifier: MIT
"""Lets a Python program steer its own profile and mark moments in it.

Works where libjprof.so is preloaded (`jprof python3 app.py`); elsewhere each
function does nothing and returns False.  Any thread may call them."""
import contextlib
import ctypes

_process = ctypes.CDLL(None)


def _function(name, *arguments):
    """The library's function of that name, or None."""
    try:
        found = getattr(_process, name)
    except AttributeError:
        return None
    found.argtypes, found.restype = arguments, ctypes.c_int
    return found


_COMMANDS = {name: _function("jprof_" + name)
             for name in ("start", "pause", "clear", "save")}
_MARKS = {name: _function("jprof_" + name, ctypes.c_char_p)
          for name in ("mark", "span_begin", "span_end")}


def _command(name):
    return _COMMANDS[name] is not None and _COMMANDS[name]() == 0


def _mark(kind, name):
    return _MARKS[kind] is not None and _MARKS[kind](
        name.encode("utf-8", "replace").replace(b"\0", b"?")) == 0


def start():
    """Starts or resumes the profile, in a new section."""
    return _command("start")


def pause():
    """Pauses it."""
    return _command("pause")


def clear():
    """Empties the ring (JP_CIRCULAR)."""
    return _command("clear")


def save():
    """Keeps what is in the ring, and goes on in a new one."""
    return _command("save")


def mark(name):
    """Gives this moment a name."""
    return _mark("mark", name)


@contextlib.contextmanager
def span(name):
    """Gives the time within `with` a name."""
    begun = _mark("span_begin", name)
    try:
        yield begun
    finally:
        _mark("span_end", name)
