/* SPDX-License-Identifier: MIT
 *
 * Reads files of /proc.
 * Runs in: launcher. */
#include "proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "read/line.h"

#define FILE_MAX ((size_t)64 << 20)
#define PIECE ((size_t)1 << 16)

/* The next number in [*at, end), which blanks precede; -1: there is none. */
static int next_number(const char **at, const char *end, unsigned base,
                       uint64_t *number)
{
    const char *start;

    while (*at < end && (**at == ' ' || **at == '\t'))
        ++*at;
    start = *at;
    while (*at < end && **at != ' ' && **at != '\t')
        ++*at;
    return jr_parse_number(start, (size_t)(*at - start), base, number);
}

static int read_ids(const char *at, const char *end, uint32_t *ids)
{
    for (int i = 0; i < 4; i++) {
        uint64_t number;

        if (next_number(&at, end, 10, &number) < 0 || number > UINT32_MAX)
            return 0;
        ids[i] = (uint32_t)number;
    }
    return 1;
}

static int is_key(const char *line, const char *end, const char *key)
{
    size_t length = strlen(key);

    return (size_t)(end - line) > length && memcmp(line, key, length) == 0;
}

void jl_status_read(struct jl_status *status, const char *text, size_t size)
{
    const char *end = text + size;

    *status = (struct jl_status){0};
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        const char *value;

        if (!stop)
            stop = end;
        if (is_key(text, stop, "SigCgt:")) {
            value = text + strlen("SigCgt:");
            status->has_caught =
                next_number(&value, stop, 16, &status->caught) == 0;
        } else if (is_key(text, stop, "Uid:")) {
            status->has_uids =
                (uint8_t)read_ids(text + strlen("Uid:"), stop, status->uids);
        } else if (is_key(text, stop, "Gid:")) {
            status->has_gids =
                (uint8_t)read_ids(text + strlen("Gid:"), stop, status->gids);
        }
        text = stop + 1;
    }
}

int jl_maps_have(const char *maps, size_t size, const char *name)
{
    char *slashed = jr_printf("/%s", name);
    int found = memmem(maps, size, slashed, strlen(slashed)) != NULL;

    free(slashed);
    return found;
}

char *jl_proc_read(int dir, const char *name, size_t *size)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    char *text = NULL;
    size_t room = 0;
    ssize_t got = fd < 0 ? -1 : 1;

    *size = 0;
    while (got > 0 && *size < FILE_MAX) {
        if (room - *size < PIECE) {
            room = room ? 2 * room : 4 * PIECE;
            text = jr_realloc(text, room + 1, 1);
        }
        got = read(fd, text + *size, room - *size);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            *size += (size_t)got;
    }
    if (got < 0) {
        int reason = errno;

        if (fd >= 0)
            close(fd);
        free(text);
        errno = reason;
        return NULL;
    }
    close(fd);
    text[*size] = '\0';
    return text;
}

uint64_t jl_proc_stat(int dir, int field)
{
    size_t size;
    char *text = jl_proc_read(dir, "stat", &size);
    /* The name before may have blanks and brackets; the third field is next. */
    const char *at = text ? strrchr(text, ')') : NULL;
    uint64_t number;

    for (int i = 3; at && i <= field; i++)
        at = strchr(at + 1, ' ');
    number = at ? strtoull(at + 1, NULL, 10) : 0;
    free(text);
    return number;
}
