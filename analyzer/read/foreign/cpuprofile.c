/* SPDX-License-Identifier: MIT
 *
 * CPU profiles of gperftools (its docs/cpuprofile-fileformat.adoc): words of
 * the program's size and byte order, then text as /proc/PID/maps has it.
 * Runs in: analyzer. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "jp_log.h"
#include "foreign.h"

#define HEADER_WORDS 5U
#define HEADER_MOST 64U      /* words after the second; 3 today */
#define PERIOD_MOST 10000000 /* microseconds */
#define US_NS 1000U
#define MAPPINGS_MOST 65536U

struct words {
    const uint8_t *at, *end;
    unsigned size; /* of a word: 4 or 8 */
    int is_big;
};

/* Takes a word; -1: the end is there. */
static int take(struct words *words, uint64_t *word)
{
    if ((size_t)(words->end - words->at) < words->size)
        return -1;
    *word = 0;
    for (unsigned i = 0; i < words->size; i++)
        *word |= (uint64_t)words->at[i]
                 << 8 * (words->is_big ? words->size - 1 - i : i);
    words->at += words->size;
    return 0;
}

/* Reads the header: 0, the number of words after this one, the version 0, the
 * period, padding. */
static int take_header(struct words *words, uint64_t *period_us)
{
    uint64_t header[HEADER_WORDS];

    for (unsigned i = 0; i < HEADER_WORDS; i++)
        if (take(words, &header[i]) != 0)
            return -1;
    *period_us = header[3];
    if (header[0] != 0 || header[1] < 3 || header[1] > HEADER_MOST ||
        header[2] != 0 || header[3] == 0 || header[3] > PERIOD_MOST ||
        (header[1] == 3 && header[4] != 0))
        return -1;
    for (uint64_t skipped = 3; skipped < header[1]; skipped++)
        if (take(words, &header[4]) != 0)
            return -1;
    return 0;
}

/* Finds the size and order of words with which the header is one. */
static int find_words(const uint8_t *data, size_t size, struct words *words,
                      uint64_t *period_us)
{
    for (unsigned i = 0; i < 4; i++) {
        *words = (struct words){data, data + size, i & 1 ? 4 : 8, i > 1};
        if (take_header(words, period_us) == 0)
            return 0;
    }
    return -1;
}

int jr_foreign_is_cpuprofile(const uint8_t *data, size_t size)
{
    struct words words;
    uint64_t period_us;

    return find_words(data, size, &words, &period_us) == 0;
}

/* Takes a record: how often a stack was seen, how many addresses it has, and
 * these, the leaf first.  Callers are return addresses: their place is one byte
 * before.  Returns 1 behind a record, 0 behind the trailer (0, 1, 0), -1 where
 * the file is cut off or damaged. */
static int take_record(struct jr_foreign *foreign,
                       struct jr_foreign_known *known, struct words *words)
{
    struct jr_foreign_sample sample = {
        .first = foreign->nstacks, .tid = 1, .event = JP_EVENT_CPU};
    const struct jr_foreign_frame frame = {.is_unnamed = 1};
    uint64_t count, depth, address;
    int is_good = 1;

    if (take(words, &count) != 0 || take(words, &depth) != 0 || depth == 0 ||
        depth > (uint64_t)(words->end - words->at) / words->size)
        return -1;
    for (uint64_t i = 0; i < depth; i++) {
        uint32_t place;

        take(words, &address);
        if (count == 0 && depth == 1 && address == 0)
            return 0;
        if (i >= JR_FOREIGN_DEPTH)
            continue;
        place = jr_foreign_place_of(foreign, known, &frame, 1,
                                    address - (i > 0 && address > 0));
        if (place == JR_NO_ITEM)
            is_good = 0;
        else
            jr_foreign_push(foreign, &sample, place);
    }
    foreign->cut += depth > JR_FOREIGN_DEPTH;
    if (__builtin_mul_overflow(count, foreign->period_ns, &sample.weight_ns))
        sample.weight_ns = UINT64_MAX;
    jr_foreign_add(foreign, &sample, is_good && count > 0);
    return 1;
}

/* Takes a hexadecimal number of the text that ends in `end`. */
static int take_hex(struct jr_slice *text, char end, uint64_t *number)
{
    static const char digits[] = "0123456789abcdef";
    size_t at = 0;

    *number = 0;
    for (; at < text->length && text->text[at] != '\0' && at < 16; at++) {
        const char *digit = strchr(digits, text->text[at]);

        if (!digit)
            break;
        *number = *number << 4 | (uint64_t)(digit - digits);
    }
    if (at == 0 || at == text->length || text->text[at] != end)
        return -1;
    text->text += at + 1;
    text->length -= at + 1;
    return 0;
}

/* Takes "start-end perms offset device inode path" (proc_pid_maps(5)), where it
 * is code.  Other lines, such as "build=...", are left out. */
static void take_mapping(struct jr_foreign *foreign, struct jr_slice line)
{
    struct jr_foreign_mapping mapping;
    int is_code;

    line = jr_foreign_trim(line);
    if (take_hex(&line, '-', &mapping.start) != 0 ||
        take_hex(&line, ' ', &mapping.end) != 0 || line.length < 5)
        return;
    is_code = line.text[2] == 'x';
    line.text += 5;
    line.length -= 5;
    if (take_hex(&line, ' ', &mapping.offset) != 0)
        return;
    for (int skipped = 0; skipped < 2; skipped++) { /* device and inode */
        const char *blank;

        line = jr_foreign_trim(line);
        blank = line.length ? memchr(line.text, ' ', line.length) : NULL;
        if (!blank)
            return;
        line.length -= (size_t)(blank + 1 - line.text);
        line.text = blank + 1;
    }
    mapping.path = jr_foreign_trim(line);
    if (is_code && mapping.start < mapping.end && mapping.path.length > 0 &&
        foreign->nmappings < MAPPINGS_MOST)
        *JR_PUSH(foreign->mappings, foreign->nmappings,
                 foreign->mappings_room) = mapping;
}

static int by_start(const void *left, const void *right)
{
    const struct jr_foreign_mapping *a = left, *b = right;

    return a->start < b->start ? -1 : a->start > b->start;
}

/* Gives each place the file that is mapped at its address. */
static void find_modules(struct jr_foreign *foreign)
{
    qsort(foreign->mappings, foreign->nmappings, sizeof *foreign->mappings,
          by_start);
    for (size_t i = 0; i < foreign->nplaces; i++) {
        const uint64_t address = foreign->places[i].address;
        size_t low = 0, high = foreign->nmappings;

        while (low < high) {
            const size_t middle = low + (high - low) / 2;

            if (foreign->mappings[middle].end <= address)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < foreign->nmappings && foreign->mappings[low].start <= address)
            foreign->frames[foreign->places[i].first].module =
                foreign->mappings[low].path;
    }
}

int jr_foreign_cpuprofile(struct jr_foreign *foreign, const char *path,
                          struct jr_diag *diag)
{
    struct jr_foreign_known known = {0};
    struct jr_slice text, line;
    struct words words;
    uint64_t period_us;
    int result;

    if (find_words(foreign->data, foreign->size, &words, &period_us) != 0)
        return -1;
    foreign->period_ns = period_us * US_NS;
    foreign->is_time = 1;
    foreign->type = (struct jr_slice){"cpu", 3};
    foreign->unit = (struct jr_slice){"nanoseconds", 11};
    *JR_PUSH(foreign->processes, foreign->nprocesses, foreign->processes_room) =
        (struct jr_foreign_process){0};
    *JR_PUSH(foreign->threads, foreign->nthreads, foreign->threads_room) =
        (struct jr_foreign_thread){.tid = 1};
    do
        result = take_record(foreign, &known, &words);
    while (result > 0);
    jr_index_free(&known.by_hash);
    if (result < 0)
        jr_warn(diag, path, (uint64_t)(words.at - foreign->data),
                "the profile is cut off or damaged here; what is before that "
                "is read, without the list of files that gives names");
    text = (struct jr_slice){(const char *)words.at,
                             result < 0 ? 0 : (size_t)(words.end - words.at)};
    while (jr_foreign_line(&text, &line))
        take_mapping(foreign, line);
    if (foreign->nmappings > 0)
        find_modules(foreign);
    if (foreign->nsamples > 0)
        return 0;
    jr_warn(diag, path, JR_NO_OFFSET, "no sample is in it; it is left out");
    return -1;
}
