/* SPDX-License-Identifier: MIT
 *
 * What a file in an archive may be called.
 * Runs in: analyzer. */
#include "member.h"

#include <string.h>

#include "jp_limits.h"
#include "read/markers.h"
#include "read/names.h"

int jr_member_is_file(const char *name)
{
    const char *dot = strchr(name, '.');

    if (strchr(name, '/'))
        return 0;
    return jr_is_numbered(name, JP_LOG_NAME) ||
           jr_is_numbered(name, JP_MAP_NAME) ||
           strcmp(name, JP_TREE_NAME) == 0 || jr_is_kept_name(name) ||
           jr_markers_is_name(name) ||
           (dot && strncmp(name, JP_LOG_NAME, strlen(JP_LOG_NAME)) == 0 &&
            strncmp(dot, ".code-", 6) == 0);
}

static int is_source(const char *name)
{
    const size_t length = sizeof JR_MEMBER_SOURCE - 1;

    return strncmp(name, JR_MEMBER_SOURCE, length) == 0 && name[length] &&
           name[length + strspn(name + length, "0123456789")] == '\0';
}

int jr_member_is_known(const char *name)
{
    return is_source(name) || strcmp(name, JR_MEMBER_NAMES) == 0 ||
           jr_member_is_file(name);
}
