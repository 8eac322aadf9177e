/* SPDX-License-Identifier: MIT
 *
 * libdw opens a .dwo file by itself, whatever is there: so it is asked to only
 * after a look.
 * Runs in: analyzer. */
#include "split.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/mem.h"

static const char *string_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;

    return dwarf_formstring(dwarf_attr(die, name, &attribute));
}

/* 1: a regular file that may be read; 0: nothing there; -1: something else. */
static int look_at(char *path)
{
    struct stat info;
    const char *why;
    int fd = jr_file_open(path, &info, &why);
    int exists = fd >= 0 || access(path, F_OK) == 0;

    if (fd >= 0)
        close(fd);
    free(path);
    return fd >= 0 ? 1 : -exists;
}

/* The file with the units of all .dwo files of a program (DWARF 5, 7.3.5). */
static char *package_of(const struct jr_dwarf_split *split)
{
    return jr_printf("%s.dwp", split->file ? split->file : "");
}

/* Whether this libdw reads .dwp files (elfutils' NEWS, 0.191). */
static int reads_packages(void)
{
    const char *version = dwfl_version(NULL);
    const char *dot = strchr(version, '.');

    return version[0] != '0' || (dot && strtoul(dot + 1, NULL, 10) >= 191);
}

/* Whether libdw may look for the tree: each place that it tries has a regular
 * file or nothing, and one has a file. */
static int may_open(const struct jr_dwarf_split *split, const char *folder,
                    const char *name)
{
    const char *path = split->file ? split->file : "";
    const char *slash = strrchr(path, '/');
    int packed = reads_packages() ? look_at(package_of(split)) : 0;
    int beside = 0, named = 0;

    if (name[0] == '/')
        named = look_at(jr_strdup(name));
    else
        beside = look_at(jr_printf(
            "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, name));
    if (name[0] != '/' && folder && folder[0] == '/')
        named = look_at(jr_printf("%s/%s", folder, name));
    return packed >= 0 && beside >= 0 && named >= 0 &&
           (packed > 0 || beside > 0 || named > 0);
}

static void say_missing(struct jr_dwarf_split *split, const char *path,
                        const char *name)
{
    char *package;

    if (split->missing++ > 0)
        return;
    package = package_of(split);
    if (!reads_packages() && access(package, F_OK) == 0)
        jr_say("%s: its inlined functions are in %s, which libdw reads from "
               "0.191 on (this is %s); their callers stand for them",
               path, package, dwfl_version(NULL));
    else
        jr_say("%s: %s cannot be read, where it keeps its inlined functions; "
               "their callers stand for them",
               path, name);
    free(package);
}

void jr_split_find(struct jr_dwarf_split *split, const char *path,
                   Dwarf_Die *head, Dwarf_Die *tree)
{
    const char *name = string_of(head, DW_AT_dwo_name);
    Dwarf_Die found = {0};

    if (!name)
        name = string_of(head, DW_AT_GNU_dwo_name);
    if (!name || !*name)
        return;
    if (may_open(split, string_of(head, DW_AT_comp_dir), name) &&
        dwarf_cu_info(head->cu, NULL, NULL, NULL, &found, NULL, NULL, NULL) ==
            0 &&
        found.addr &&
        jr_texts_end_dwo(&split->texts, dwarf_cu_getdwarf(found.cu)) == 0) {
        *tree = found;
        return;
    }
    say_missing(split, path, name);
}

void jr_split_free(struct jr_dwarf_split *split)
{
    free(split->file);
    jr_texts_free(&split->texts);
}
