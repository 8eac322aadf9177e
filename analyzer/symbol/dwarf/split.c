/* SPDX-License-Identifier: MIT
 *
 * libdw opens a .dwo file by itself, whatever is there: so it is asked to only
 * after a look.
 * Runs in: analyzer. */
#include "split.h"

#include <dwarf.h>
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

/* Whether libdw may look for the .dwo file: each place that it tries has a
 * regular file or nothing, and one has a file. */
static int may_open(const char *path, const char *folder, const char *name)
{
    const char *slash = strrchr(path, '/');
    int beside = 0, named;

    if (name[0] == '/')
        return look_at(jr_strdup(name)) > 0;
    beside = look_at(
        jr_printf("%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, name));
    if (!folder || folder[0] != '/')
        return beside > 0;
    named = look_at(jr_printf("%s/%s", folder, name));
    return beside >= 0 && named >= 0 && (beside > 0 || named > 0);
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
    if (may_open(path, string_of(head, DW_AT_comp_dir), name) &&
        dwarf_cu_info(head->cu, NULL, NULL, NULL, &found, NULL, NULL, NULL) ==
            0 &&
        found.addr) {
        *tree = found;
        return;
    }
    if (split->missing++ == 0)
        jr_say("%s: %s cannot be read, where it keeps its inlined functions "
               "(.dwp files are not read); their callers stand for them",
               path, name);
}
