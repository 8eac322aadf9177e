# SPDX-License-Identifier: MIT
"""The symbols of a library, with their versions.  Runs in: tests."""
import re
import subprocess

from jprun import need


def exports(library):
    """NAME, NAME@@VERSION and NAME@VERSION of its dynamic symbols."""
    table = subprocess.run([need("readelf"), "-W", "--dyn-syms", library],
                           check=True, stdout=subprocess.PIPE).stdout.decode()
    return re.findall(r" (?:GLOBAL|WEAK) +DEFAULT +\d+ (\S+)$", table, re.M)


def first_version(library):
    """The version that a reference without one gets: at index 2."""
    table = subprocess.run([need("readelf"), "-W", "-V", library], check=True,
                           stdout=subprocess.PIPE).stdout.decode()
    return re.search(r"Flags: none +Index: 2 .*Name: (\S+)", table)[1]
