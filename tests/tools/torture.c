/* SPDX-License-Identifier: MIT
 *
 * Makes a profile of a program whose compiler uses its memory again and again:
 *     torture FOLDER EVENTS SAMPLES DEPTH NAMES SEED
 * EVENTS loads and moves of code in a small arena, each of which ends what it
 * touches, as a jitdump; between them SAMPLES of up to DEPTH frames, all in
 * code that is there at that time; NAMES different names.  Writes jprof-log,
 * jprof-map and dump into FOLDER, and `truth`: a line `ROOT;...;LEAF NUMBER`
 * for each sample, as --format=collapsed has them.
 * Runs in: tests, bench. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "jp_log.h"

#define PID 7
#define TID 8
#define ARENA 0x7f0000000000ULL
#define UNIT 32U         /* bytes that a unit of the arena has */
#define UNITS (1U << 19) /* of the arena: 16 MiB */
#define LONGEST 24U      /* units of a piece */
#define DEPTH_MAX 64U    /* frames of a stack */
#define WEIGHT 4000000U
#define STEP_NS 1000U /* between two events or samples */

/* Code at a place; an id is its number from 1 on. */
struct piece {
    uint32_t unit, units; /* where; 0 units: it is not there */
    uint32_t name;
};

struct torture {
    struct piece *pieces;
    uint32_t npieces, last; /* how many; what was placed last */
    uint32_t owners[UNITS]; /* the id of what is there, or 0 */
    uint32_t names, depth;
    uint64_t now_ns, random, seq;
    FILE *log, *dump, *truth;
    uint8_t chunk[JP_CHUNK_MAX];
    size_t filled; /* bytes of the chunk */
};

static void fail(const char *what)
{
    fprintf(stderr, "torture: %s\n", what);
    exit(2);
}

static void put(FILE *file, const void *data, size_t size)
{
    if (fwrite(data, size, 1, file) != 1)
        fail("cannot write");
}

static FILE *make(const char *folder, const char *name)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "wb");
    if (!file)
        fail(path);
    return file;
}

static uint64_t address_of(uint32_t unit)
{
    return ARENA + (uint64_t)unit * UNIT;
}

static void remove_piece(struct torture *torture, uint32_t id)
{
    struct piece *piece = &torture->pieces[id];

    memset(&torture->owners[piece->unit], 0,
           piece->units * sizeof *torture->owners);
    piece->units = 0;
}

/* Puts a piece where there is none of it; what is touched is no more. */
static void place_piece(struct torture *torture, uint32_t id, uint32_t unit,
                        uint32_t units)
{
    for (uint32_t at = unit; at < unit + units; at++) {
        if (torture->owners[at])
            remove_piece(torture, torture->owners[at]);
    }
    for (uint32_t at = unit; at < unit + units; at++)
        torture->owners[at] = id;
    torture->pieces[id].unit = unit;
    torture->pieces[id].units = units;
    torture->last = id;
}

/* A piece that is there: the last one where it is hard to find another. */
static uint32_t draw_piece(struct torture *torture)
{
    for (int i = 0; i < 16; i++) {
        uint32_t id = torture->owners[draw_below(&torture->random, UNITS)];

        if (id)
            return id;
    }
    return torture->last;
}

static void put_load(struct torture *torture, uint32_t id)
{
    static const uint8_t code[LONGEST * UNIT];
    const struct piece *piece = &torture->pieces[id];
    struct {
        uint32_t type, size;
        uint64_t time_ns;
        uint32_t pid, tid;
        uint64_t vma, start, code_size, index;
    } load = {0,
              0,
              torture->now_ns,
              PID,
              TID,
              address_of(piece->unit),
              address_of(piece->unit),
              piece->units * UNIT,
              id};
    char name[32];
    size_t length =
        (size_t)snprintf(name, sizeof name, "method_%" PRIu32, piece->name) + 1;

    load.size = (uint32_t)(sizeof load + length + load.code_size);
    put(torture->dump, &load, sizeof load);
    put(torture->dump, name, length);
    put(torture->dump, code, load.code_size);
}

static void put_move(struct torture *torture, uint32_t id, uint32_t old)
{
    const struct piece *piece = &torture->pieces[id];
    struct {
        uint32_t type, size;
        uint64_t time_ns;
        uint32_t pid, tid;
        uint64_t vma, old_start, start, code_size, index;
    } move = {1,
              sizeof move,
              torture->now_ns,
              PID,
              TID,
              address_of(piece->unit),
              address_of(old),
              address_of(piece->unit),
              piece->units * UNIT,
              id};

    put(torture->dump, &move, sizeof move);
}

/* A load, or every fifth time a move, to anywhere or, as allocators do, to
 * where something began before. */
static void do_event(struct torture *torture)
{
    uint32_t id = draw_below(&torture->random, 5) ? 0 : draw_piece(torture);
    uint32_t units = id ? torture->pieces[id].units
                        : 1 + draw_below(&torture->random, LONGEST);
    uint32_t other = draw_below(&torture->random, 2) ? draw_piece(torture) : 0;
    uint32_t unit = other ? torture->pieces[other].unit
                          : draw_below(&torture->random, UNITS - LONGEST);
    uint32_t old = torture->pieces[id].unit;

    if (unit + units > UNITS)
        unit = UNITS - units;
    torture->now_ns += STEP_NS;
    if (id) {
        remove_piece(torture, id);
        place_piece(torture, id, unit, units);
        put_move(torture, id, old);
        return;
    }
    id = ++torture->npieces;
    torture->pieces[id].name = draw_below(&torture->random, torture->names);
    place_piece(torture, id, unit, units);
    put_load(torture, id);
}

static void begin_chunk(struct torture *torture)
{
    struct jp_chunk_header head = {.magic = JP_CHUNK_MAGIC,
                                   .size = sizeof torture->chunk,
                                   .seq = ++torture->seq,
                                   .offset = (uint64_t)ftell(torture->log),
                                   .pid = PID,
                                   .tid = TID,
                                   .run = 1};

    memset(torture->chunk, 0, sizeof torture->chunk);
    memcpy(torture->chunk, &head, sizeof head);
    torture->filled = sizeof head;
}

static void end_chunk(struct torture *torture)
{
    put(torture->log, torture->chunk, sizeof torture->chunk);
}

static void put_sample(struct torture *torture, const uint64_t *frames,
                       unsigned depth)
{
    size_t size = sizeof(struct jp_stack_record) + depth * sizeof *frames;
    struct jp_stack_record stack = {
        .head = {JP_RECORD_STACK, 0, (uint16_t)(2 + depth)},
        .count = (uint16_t)depth};
    struct jp_sample_record sample = {
        .head = {JP_RECORD_SAMPLE, JP_SAMPLE_INFO(JP_EVENT_CPU, JP_REASON_ROOT),
                 3},
        .tid = TID,
        .time_ns = torture->now_ns};

    if (torture->filled + size + sizeof sample > sizeof torture->chunk) {
        end_chunk(torture);
        begin_chunk(torture);
    }
    sample.weight_stack = JP_SAMPLE_PACK(WEIGHT, torture->filled / 8);
    memcpy(torture->chunk + torture->filled, &stack, sizeof stack);
    memcpy(torture->chunk + torture->filled + sizeof stack, frames,
           depth * sizeof *frames);
    torture->filled += size;
    memcpy(torture->chunk + torture->filled, &sample, sizeof sample);
    torture->filled += sizeof sample;
}

static void do_sample(struct torture *torture)
{
    unsigned depth = 1 + draw_below(&torture->random, torture->depth);
    uint64_t frames[DEPTH_MAX];

    torture->now_ns += STEP_NS;
    for (unsigned i = depth; i-- > 0;) {
        uint32_t id = draw_piece(torture);
        const struct piece *piece = &torture->pieces[id];

        /* Return addresses are behind the call, the last one at the end. */
        frames[i] = address_of(piece->unit) + (i > 0) +
                    draw_below(&torture->random, piece->units * UNIT);
        fprintf(torture->truth, "method_%" PRIu32 "%c", piece->name,
                i ? ';' : ' ');
    }
    fprintf(torture->truth, "1\n");
    put_sample(torture, frames, depth);
}

static void begin(struct torture *torture, const char *folder)
{
    const uint32_t header[10] = {0x4A695444, 1, 40, 62, 0, PID};
    struct jp_log_header head = {.byte_order = JP_LOG_BYTE_ORDER,
                                 .version = JP_LOG_VERSION,
                                 .header_size = JP_LOG_HEADER_SIZE,
                                 .machine = 62,
                                 .address_size = 8,
                                 .page_size = 4096,
                                 .pid = PID,
                                 .start_ticks = 9,
                                 .period_ns = WEIGHT,
                                 .clock = JP_CLOCK_THREAD_CPU,
                                 .depth = 1024,
                                 .map_name = "jprof-map",
                                 .exe = "/x/app",
                                 .flags = "JP_START"};
    FILE *map = make(folder, "jprof-map");

    fputs("1 jprof-map version=1 pid=7 start=9 log=jprof-log\n"
          "2 jitdump path=/x/dump inode=5 size=40 saved=dump\n"
          "3 exit cpu=0\n",
          map);
    fclose(map);
    torture->dump = make(folder, "dump");
    torture->truth = make(folder, "truth");
    torture->log = make(folder, "jprof-log");
    put(torture->dump, header, sizeof header);
    memcpy(head.magic, JP_LOG_MAGIC, sizeof head.magic);
    put(torture->log, &head, sizeof head);
    torture->now_ns = 1000000000;
    begin_chunk(torture);
}

int main(int argc, char **argv)
{
    static struct torture made;
    struct torture *torture = &made;
    uint32_t events, samples, done = 0;

    if (argc != 7)
        fail("usage: torture FOLDER EVENTS SAMPLES DEPTH NAMES SEED");
    events = (uint32_t)strtoul(argv[2], NULL, 0);
    samples = (uint32_t)strtoul(argv[3], NULL, 0);
    torture->pieces = calloc(events + 1, sizeof *torture->pieces);
    if (!torture->pieces || events == 0)
        fail("no memory");
    torture->depth = (uint32_t)strtoul(argv[4], NULL, 0);
    torture->names = (uint32_t)strtoul(argv[5], NULL, 0);
    if (torture->depth == 0 || torture->depth > DEPTH_MAX)
        fail("no such depth");
    torture->random = strtoul(argv[6], NULL, 0) * 0x9e3779b97f4a7c15ULL + 1;
    begin(torture, argv[1]);
    for (uint32_t i = 0; i < events; i++) {
        do_event(torture);
        for (; (uint64_t)done * events < (uint64_t)(i + 1) * samples; done++)
            do_sample(torture);
    }
    end_chunk(torture);
    if (fclose(torture->log) || fclose(torture->dump) || fclose(torture->truth))
        fail("cannot write");
    return 0;
}
