/* SPDX-License-Identifier: MIT
 *
 * Keeps the files that were read last open; opens the others anew.
 * Runs in: analyzer. */
#include "source.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "mem.h"

#define PLACES 8

/* Open files, and when each was used last. */
static struct place {
    const struct jr_source *source;
    uint64_t used;
    int fd;
} places[PLACES];
static uint64_t uses;

static void drop(struct place *place)
{
    if (place->source)
        close(place->fd);
    place->source = NULL;
}

static struct place *place_of(const struct jr_source *source)
{
    struct place *oldest = &places[0];

    for (size_t i = 0; i < PLACES; i++) {
        if (places[i].source == source)
            return &places[i];
        if (!places[i].source ||
            (oldest->source && places[i].used < oldest->used))
            oldest = &places[i];
    }
    drop(oldest);
    return oldest;
}

/* Opens the file when it is not open.  Returns -1 when it is not the one that
 * was there first. */
static int descriptor_of(const struct jr_source *source)
{
    struct place *place = place_of(source);
    struct stat info;
    const char *why;

    place->used = ++uses;
    if (place->source)
        return place->fd;
    place->fd = jr_file_open(source->path, &info, &why);
    if (place->fd < 0)
        return -1;
    place->source = source;
    if ((uint64_t)info.st_dev != source->device ||
        (uint64_t)info.st_ino != source->inode) {
        drop(place);
        return -1;
    }
    return place->fd;
}

int jr_source_open(struct jr_source *source, const char *path,
                   struct stat *info, const char **why)
{
    struct stat own;
    int fd;

    memset(source, 0, sizeof *source);
    fd = jr_file_open(path, &own, why);
    if (fd < 0)
        return -1;
    close(fd);
    source->path = jr_strdup(path);
    source->size = (uint64_t)own.st_size;
    source->device = (uint64_t)own.st_dev;
    source->inode = (uint64_t)own.st_ino;
    jr_file_read_for(&own);
    if (info)
        *info = own;
    return 0;
}

void jr_source_memory(struct jr_source *source, const uint8_t *data,
                      size_t size)
{
    memset(source, 0, sizeof *source);
    source->memory = data;
    source->size = size;
}

void jr_source_free(struct jr_source *source)
{
    for (size_t i = 0; i < PLACES; i++) {
        if (places[i].source == source)
            drop(&places[i]);
    }
    free(source->path);
    memset(source, 0, sizeof *source);
}

size_t jr_source_read(const struct jr_source *source, void *to, size_t size,
                      uint64_t offset)
{
    int fd;

    if (offset >= source->size)
        return 0;
    if (size > source->size - offset)
        size = (size_t)(source->size - offset);
    if (!source->path) {
        memcpy(to, source->memory + offset, size);
        return size;
    }
    fd = descriptor_of(source);
    return fd < 0 ? 0 : jr_file_pread(fd, to, size, offset);
}

uint64_t jr_source_data(const struct jr_source *source, uint64_t offset)
{
    int fd = source->path ? descriptor_of(source) : -1;

    return fd < 0 ? offset : jr_file_data(fd, offset, source->size);
}
