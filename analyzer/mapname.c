/* SPDX-License-Identifier: MIT
 *
 * Finds the map of a log.  The header is untrusted: the map is a file beside
 * the log and nowhere else.
 * Runs in: analyzer. */
#include "mapname.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

char *jr_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return jr_strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
}

static int is_sound(const char *name)
{
    return name[0] != '\0' && strchr(name, '/') == NULL &&
           strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* folder + name, when it can be read; else NULL.  Frees `name`. */
static char *try_name(const char *folder, char *name)
{
    char *path = jr_printf("%s%s", folder, name);

    free(name);
    if (access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* Bytes of `name` without a trailing -NUMBER; all of them when it has none. */
static size_t without_number(const char *name, size_t length)
{
    size_t end = length;

    while (end > 0 && isdigit((unsigned char)name[end - 1]))
        end--;
    return end > 1 && end < length && name[end - 1] == '-' ? end - 1 : length;
}

/* The map's name when the log's is the first `length` bytes of `name` and the
 * rest was appended to both. */
static char *map_name_of(const char *name, size_t length)
{
    const char *rest = name + length;

    if (length >= 3 && memcmp(name + length - 3, "log", 3) == 0)
        return jr_printf("%.*smap%s", (int)length - 3, name, rest);
    return jr_printf("%.*s-map%s", (int)length, name, rest);
}

/* NAME, NAME-PID and NAME-PID-2 are the forms of a log's name. */
static char *conventional(const char *folder, const char *name)
{
    size_t length = strlen(name);
    char *path = NULL;

    for (int i = 0; i < 3 && path == NULL; i++) {
        size_t shorter = without_number(name, length);

        path = try_name(folder, map_name_of(name, length));
        if (shorter == length)
            break;
        length = shorter;
    }
    return path;
}

char *jr_file_beside(const char *log_path, const char *name)
{
    char *folder = jr_folder_of(log_path);
    char *path = is_sound(name) ? try_name(folder, jr_strdup(name)) : NULL;

    free(folder);
    return path;
}

char *jr_map_path(const char *log_path, const char *map_name)
{
    const char *slash = strrchr(log_path, '/');
    char *folder = jr_folder_of(log_path);
    char *path = jr_file_beside(log_path, map_name);

    if (path == NULL)
        path = conventional(folder, slash ? slash + 1 : log_path);
    free(folder);
    return path;
}
