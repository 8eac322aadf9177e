/* SPDX-License-Identifier: MIT
 *
 * Makes a large jitdump out of small ones:
 *     jitgig BYTES OUT DUMP...
 * The records of the given dumps, again and again, each time at other
 * addresses and later, until OUT has BYTES; all in the byte order of this
 * machine.  On stdout, for some LOADs, lines `ADDRESS TIME` of a moment at
 * which the code is there.
 * Runs in: bench. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PID 7
#define SHOWN 997 /* every so many LOADs one is shown */

struct dump {
    uint8_t *data, *copy;
    size_t size;
    uint64_t first_ns, last_ns;
};

static void fail(const char *what)
{
    fprintf(stderr, "jitgig: %s\n", what);
    exit(2);
}

static uint32_t get32(const uint8_t *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

static uint64_t get64(const uint8_t *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

static void add64(uint8_t *at, uint64_t more)
{
    more += get64(at);
    memcpy(at, &more, sizeof more);
}

/* Reads a dump; keeps its whole records and the times they span. */
static struct dump load(const char *path)
{
    struct dump dump = {.first_ns = UINT64_MAX};
    FILE *file = fopen(path, "rb");
    size_t at;

    if (!file || fseek(file, 0, SEEK_END) != 0)
        fail(path);
    dump.size = (size_t)ftell(file);
    rewind(file);
    dump.data = malloc(dump.size);
    dump.copy = malloc(dump.size);
    if (!dump.data || !dump.copy ||
        fread(dump.data, 1, dump.size, file) != dump.size)
        fail(path);
    fclose(file);
    for (at = 40; at + 16 <= dump.size; at += get32(dump.data + at + 4)) {
        uint64_t time_ns = get64(dump.data + at + 8);

        if (get32(dump.data + at + 4) < 16 ||
            get32(dump.data + at + 4) > dump.size - at)
            break;
        dump.first_ns = time_ns < dump.first_ns ? time_ns : dump.first_ns;
        dump.last_ns = time_ns > dump.last_ns ? time_ns : dump.last_ns;
    }
    dump.size = at < dump.size ? at : dump.size;
    return dump;
}

static void move_lines(uint8_t *record, uint32_t size, uint64_t by)
{
    uint64_t count = get64(record + 24);
    uint32_t at = 32;

    add64(record + 16, by);
    for (; count > 0 && at + 17 <= size; count--) {
        add64(record + at, by);
        at += 16;
        at += (uint32_t)strnlen((char *)record + at, size - at) + 1;
    }
}

/* A copy of the records, `by` further up and `later`. */
static void move_records(struct dump *dump, uint64_t by, uint64_t later)
{
    static uint64_t loads;
    const uint32_t pid = PID;
    uint32_t size;

    memcpy(dump->copy, dump->data, dump->size);
    for (size_t at = 40; at < dump->size; at += size) {
        uint8_t *record = dump->copy + at;

        size = get32(record + 4);
        add64(record + 8, later - dump->first_ns);
        switch (get32(record)) {
        case 0:
            memcpy(record + 16, &pid, sizeof pid);
            add64(record + 24, by);
            add64(record + 32, by);
            if (loads++ % SHOWN == 0)
                printf("%" PRIu64 " %" PRIu64 "\n", get64(record + 32),
                       get64(record + 8));
            break;
        case 2:
            move_lines(record, size, by);
            break;
        case 3:
            /* No end of all the code; a record that a reader skips. */
            record[0] = 99;
            break;
        default:
            break;
        }
    }
}

int main(int argc, char **argv)
{
    uint32_t header[10] = {0x4A695444, 1, 40, 62, 0, PID};
    struct dump dumps[32];
    uint64_t wanted, written = sizeof header, now = 1000000000, copies = 0;
    FILE *out;

    if (argc < 4 || argc > 35)
        fail("usage: jitgig BYTES OUT DUMP...");
    wanted = strtoull(argv[1], NULL, 0);
    out = fopen(argv[2], "wb");
    for (int i = 3; i < argc; i++)
        dumps[i - 3] = load(argv[i]);
    if (!out || fwrite(header, sizeof header, 1, out) != 1)
        fail(argv[2]);
    for (int i = 3; written < wanted; i = i + 1 < argc ? i + 1 : 3) {
        struct dump *dump = &dumps[i - 3];
        /* Not in order of address, as memory is given out and back. */
        uint64_t place = copies++ * 0x9e3779b1U % 1021;

        move_records(dump, (place << 34) + (copies << 20), now);
        now += dump->last_ns - dump->first_ns + 1000;
        if (fwrite(dump->copy + 40, dump->size - 40, 1, out) != 1)
            fail(argv[2]);
        written += dump->size - 40;
    }
    return fclose(out) == 0 ? 0 : 2;
}
