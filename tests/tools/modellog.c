/* SPDX-License-Identifier: MIT
 *
 * Makes profiles of a given size, laid out as the library would have done it:
 *     modellog FOLDER CODE [KEY=NUMBER]...
 * Writes jprof-log and jprof-map into FOLDER; of more processes than one also
 * jprof-log-PID and jprof-map-PID for each further one, and jprof-tree.
 *
 * CODE is a text that says what there is to sample; numbers are hex:
 *     module START END OFFSET BIAS KEYS   a line of each map; KEYS as they are
 *     swap START END OFFSET BIAS KEYS     those that take turns in one range
 *     anon START END                      memory of a JIT's
 *     line EVENT KEYS                     a line of each map as it is
 *     code START SIZE                     a function, whose addresses are drawn
 *
 * KEYs (see `keys` below): samples of each process, stacks to draw them from
 * (each comes at least once where there are enough samples), frames of a stack
 * (low to high), spread: levels in which the stacks part from each other,
 * threads and processes, zipf=1: the n-th stack comes 1/n as often, sites:
 * different addresses, swaps: how often what is in the swapped range changes.
 * Runs in: tests, bench. */
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jp_map.h"
#include "draw.h"
#include "modellog.h"

/* As the library's (preload/sig/log): */
#define CHUNK_LARGEST 32768U
#define TABLE 1024U
#define PROBES 8U
#define CHAIN_MAX 24U
#define SHARED_MIN 4U

#define DEPTH_MAX 256U

/* A stack of a kit's chunk. */
struct entry {
    uint32_t stack; /* its index + 1 */
    uint16_t ref;   /* its record's offset / 8 */
    uint16_t epoch; /* the chunk that it is in */
};

/* What a thread writes with. */
struct kit {
    uint8_t *chunk;
    uint32_t size, used, next_size;
    uint64_t offset;
    uint32_t tid, chain, last_depth;
    uint16_t epoch, last_ref;
    struct entry table[TABLE];
    uint64_t last[DEPTH_MAX];
};

_Noreturn void fail(const char *what)
{
    fprintf(stderr, "modellog: %s\n", what);
    exit(2);
}

static void *room_for(size_t count, size_t size)
{
    void *room = calloc(count ? count : 1, size);

    if (!room)
        fail("no memory");
    return room;
}

/* The same for the same number (the end of MurmurHash3). */
static uint64_t mix(uint64_t number)
{
    number = (number ^ number >> 33) * 0xff51afd7ed558ccdULL;
    number = (number ^ number >> 33) * 0xc4ceb9fe1a85ec53ULL;
    return number ^ number >> 33;
}

/* The frames of a stack, leaf first; returns how many.  Stacks are paths in a
 * tree: at a level below `spread`, those whose indices begin alike are in the
 * same function. */
static uint32_t make_stack(const struct maker *maker, uint32_t index,
                           uint64_t *frames)
{
    const struct keys *keys = &maker->keys;
    uint32_t depth = (uint32_t)(keys->low + mix(index + keys->seed) %
                                                (keys->high - keys->low + 1));

    for (uint32_t level = 0; level < depth; level++) {
        uint64_t shift = level < keys->spread
                             ? maker->bits - maker->bits * level / keys->spread
                             : 0;
        uint64_t site = mix((uint64_t)level << 32 | index >> shift);

        /* Leaves are different where nothing else is. */
        if (level == depth - 1)
            site += index;
        frames[depth - 1 - level] =
            maker->sites[site % keys->sites] + slide_of(maker);
    }
    return depth;
}

static void flush_chunk(struct maker *maker, struct kit *kit)
{
    if (kit->size && pwrite(maker->fd, kit->chunk, kit->size,
                            (off_t)kit->offset) != (ssize_t)kit->size)
        fail("cannot write the log");
    kit->size = 0;
}

static void begin_chunk(struct maker *maker, struct kit *kit)
{
    struct jp_chunk_header head = {.magic = JP_CHUNK_MAGIC,
                                   .seq = ++maker->seq,
                                   .offset = maker->next,
                                   .opened_ns = maker->now_ns,
                                   .pid = pid_of(maker),
                                   .tid = kit->tid,
                                   .run = 1};

    flush_chunk(maker, kit);
    head.size = kit->size = kit->next_size;
    kit->offset = maker->next;
    maker->next += kit->size;
    memset(kit->chunk, 0, kit->size);
    memcpy(kit->chunk, &head, sizeof head);
    kit->used = sizeof head;
    if (kit->next_size < CHUNK_LARGEST)
        kit->next_size *= 2;
    kit->last_ref = 0;
    kit->last_depth = kit->chain = 0;
    if (++kit->epoch == 0) {
        memset(kit->table, 0, sizeof kit->table);
        kit->epoch = 1;
    }
}

/* The place for a stack among its chunk's, and whether it is there. */
static struct entry *find_entry(struct kit *kit, uint32_t index, int *found)
{
    const uint64_t hash = mix(index);

    *found = 0;
    for (uint32_t i = 0; i < PROBES; i++) {
        struct entry *entry = &kit->table[(hash + i) % TABLE];

        if (entry->epoch != kit->epoch)
            return entry;
        *found = entry->stack == index + 1;
        if (*found)
            return entry;
    }
    return &kit->table[hash % TABLE];
}

static uint16_t put_stack(struct kit *kit, const uint64_t *frames,
                          uint32_t depth)
{
    uint32_t shared = 0,
             limit = depth < kit->last_depth ? depth : kit->last_depth;
    struct jp_stack_record record = {.head = {JP_RECORD_STACK, 0, 0}};
    uint16_t ref = (uint16_t)(kit->used / 8);

    if (kit->last_ref && kit->chain < CHAIN_MAX)
        while (shared < limit && frames[depth - 1 - shared] ==
                                     kit->last[kit->last_depth - 1 - shared])
            shared++;
    if (shared < SHARED_MIN)
        shared = 0;
    record.count = (uint16_t)(depth - shared);
    record.shared = (uint16_t)shared;
    record.base = shared ? kit->last_ref : 0;
    record.head.words = (uint16_t)(2 + record.count);
    memcpy(kit->chunk + kit->used, &record, sizeof record);
    memcpy(kit->chunk + kit->used + sizeof record, frames,
           record.count * sizeof *frames);
    kit->used += record.head.words * 8U;
    memcpy(kit->last, frames, depth * sizeof *frames);
    kit->last_depth = depth;
    kit->last_ref = ref;
    kit->chain = shared ? kit->chain + 1 : 0;
    return ref;
}

static void put_sample(struct maker *maker, struct kit *kit, uint32_t index)
{
    struct jp_sample_record sample = {
        .head = {JP_RECORD_SAMPLE, JP_SAMPLE_INFO(JP_EVENT_CPU, JP_REASON_ROOT),
                 sizeof sample / 8},
        .tid = kit->tid,
        .time_ns = maker->now_ns};
    uint64_t frames[DEPTH_MAX],
        weight = PERIOD_NS + draw_below(&maker->random, JITTER_NS);
    uint32_t depth = 0, need = sizeof sample;
    int found = 0;
    struct entry *entry = find_entry(kit, index, &found);

    if (!found) {
        depth = make_stack(maker, index, frames);
        need += (uint32_t)sizeof(struct jp_stack_record) + depth * 8;
    }
    if (kit->used + need > kit->size) {
        begin_chunk(maker, kit);
        if (found)
            depth = make_stack(maker, index, frames);
        entry = find_entry(kit, index, &found);
    }
    if (!found)
        *entry = (struct entry){index + 1, put_stack(kit, frames, depth),
                                kit->epoch};
    sample.weight_stack = JP_SAMPLE_PACK(weight, entry->ref);
    memcpy(kit->chunk + kit->used, &sample, sizeof sample);
    kit->used += sizeof sample;
    maker->cpu_ns += weight;
}

/* The stack of the sample with this number: each of them once, then as they
 * are drawn. */
static uint32_t pick(struct maker *maker, uint64_t number)
{
    const uint64_t stacks = maker->keys.stacks;

    if (number >= stacks && !maker->keys.zipf)
        return draw_below(&maker->random, (uint32_t)stacks);
    if (number >= stacks)
        number = (uint64_t)exp(draw_below(&maker->random, UINT32_MAX) /
                               (double)UINT32_MAX * log((double)stacks)) -
                 1;
    /* By a prime, so that neighbours here are none in the tree. */
    return (uint32_t)(number * 2654435761U % stacks);
}

static void put_samples(struct maker *maker)
{
    const struct keys *keys = &maker->keys;

    for (uint32_t i = 0; i < keys->threads; i++) {
        struct kit *kit = &maker->kits[i];

        kit->tid = pid_of(maker) + i;
        kit->size = kit->used = 0;
        kit->next_size = JP_CHUNK_MIN;
    }
    for (uint64_t i = 0; i < keys->samples; i++) {
        maker->now_ns += PERIOD_NS / keys->threads;
        put_sample(maker, &maker->kits[i % keys->threads], pick(maker, i));
    }
    for (uint32_t i = 0; i < keys->threads; i++)
        flush_chunk(maker, &maker->kits[i]);
}

static void put_header(struct maker *maker)
{
    struct jp_log_header head = {.byte_order = JP_LOG_BYTE_ORDER,
                                 .version = JP_LOG_VERSION,
                                 .header_size = JP_LOG_HEADER_SIZE,
                                 .machine = 62,
                                 .address_size = 8,
                                 .page_size = 4096,
                                 .pid = pid_of(maker),
                                 .proc_pid = pid_of(maker),
                                 .start_ticks = 100 + maker->process,
                                 .mono_ns = BEGIN_NS,
                                 .real_ns = REAL_NS,
                                 .boot_ns = BEGIN_NS,
                                 .period_ns = PERIOD_NS,
                                 .clock = JP_CLOCK_PERF,
                                 .walker = JP_WALKER_AUTO,
                                 .depth = 1024,
                                 .flags = "JP_START JP_PERIOD=0.001",
                                 .owner_pid = pid_of(maker),
                                 .owner_ticks = 100 + maker->process,
                                 .cpu_ns = maker->cpu_ns,
                                 .cpu_read_ns = maker->now_ns,
                                 .root_pid = PID,
                                 .tree_name = "jprof-tree",
                                 .owner_ended = 1,
                                 .cpu_ended = 1};
    char path[4096];

    memcpy(head.magic, JP_LOG_MAGIC, sizeof head.magic);
    path_of(maker, "jprof-map", path, sizeof path);
    snprintf(head.map_name, sizeof head.map_name, "%s", strrchr(path, '/') + 1);
    snprintf(head.exe, sizeof head.exe, "%s", exe_of(maker));
    if (pwrite(maker->fd, &head, sizeof head, 0) != sizeof head)
        fail("cannot write the log");
}

static void make_process(struct maker *maker)
{
    char path[4096];

    path_of(maker, "jprof-log", path, sizeof path);
    maker->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (maker->fd < 0)
        fail(path);
    maker->next = JP_LOG_HEADER_SIZE;
    maker->seq = maker->cpu_ns = 0;
    maker->now_ns = BEGIN_NS;
    put_samples(maker);
    put_header(maker);
    put_map(maker);
    if (close(maker->fd))
        fail("cannot write the log");
}

/* A line of the tree's file for each child, and the launcher's. */
static void make_processes(struct maker *maker)
{
    uint64_t cpu_ns = 0;
    char path[4096];
    FILE *tree;

    if (maker->keys.processes == 1) {
        make_process(maker);
        return;
    }
    snprintf(path, sizeof path, "%s/jprof-tree", maker->folder);
    tree = fopen(path, "wb");
    if (!tree)
        fail(path);
    for (; maker->process < maker->keys.processes; maker->process++) {
        make_process(maker);
        cpu_ns += maker->cpu_ns;
        put_child(maker, tree);
    }
    put_run(maker, cpu_ns, tree);
    if (fclose(tree))
        fail("cannot write the tree's file");
}

static void add(struct list *list, const char *line)
{
    struct mapping *item;
    int length = 0;

    list->items = realloc(list->items, (list->count + 1) * sizeof *list->items);
    if (!list->items)
        fail("no memory");
    item = &list->items[list->count++];
    *item = (struct mapping){0};
    sscanf(line, "%" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %n",
           &item->start, &item->end, &item->offset, &item->bias, &length);
    item->keys = strdup(line + length);
    if (!item->keys)
        fail("no memory");
}

static void read_code(struct maker *maker, const char *path)
{
    const struct {
        const char *word;
        struct list *list;
    } kinds[] = {{"module", &maker->modules},
                 {"swap", &maker->swaps},
                 {"anon", &maker->anon},
                 {"line", &maker->lines},
                 {"code", &maker->code}};
    char line[JP_MAP_LINE_MAX];
    FILE *text = fopen(path, "rb");

    if (!text)
        fail(path);
    while (fgets(line, sizeof line, text)) {
        char *blank = strchr(line, ' ');

        line[strcspn(line, "\n")] = '\0';
        if (!blank)
            fail("a line of the code has one word only");
        *blank = '\0';
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (strcmp(line, kinds[i].word) == 0)
                add(kinds[i].list, blank + 1);
    }
    fclose(text);
    if (maker->code.count == 0)
        fail("there is no code to sample");
}

static void take_key(struct keys *keys, const char *text)
{
    const struct {
        const char *word;
        uint64_t *number;
    } known[] = {{"samples", &keys->samples}, {"stacks", &keys->stacks},
                 {"low", &keys->low},         {"high", &keys->high},
                 {"spread", &keys->spread},   {"threads", &keys->threads},
                 {"zipf", &keys->zipf},       {"processes", &keys->processes},
                 {"sites", &keys->sites},     {"swaps", &keys->swaps},
                 {"seed", &keys->seed}};
    const char *equals = strchr(text, '=');

    for (size_t i = 0; equals && i < sizeof known / sizeof *known; i++)
        if (strncmp(known[i].word, text, (size_t)(equals - text)) == 0 &&
            known[i].word[equals - text] == '\0') {
            *known[i].number = strtoull(equals + 1, NULL, 10);
            return;
        }
    fail(text);
}

static void prepare(struct maker *maker)
{
    const struct keys *keys = &maker->keys;

    if (!keys->samples || !keys->stacks || keys->stacks > UINT32_MAX / 2 ||
        !keys->sites || !keys->threads || !keys->processes || !keys->low ||
        keys->low > keys->high || keys->high > DEPTH_MAX)
        fail("a number that makes no profile");
    maker->random = (keys->seed + 1) * 0x9e3779b97f4a7c15ULL;
    while (1ULL << maker->bits < keys->stacks)
        maker->bits++;
    maker->sites = room_for(keys->sites, sizeof *maker->sites);
    for (uint64_t i = 0; i < keys->sites; i++) {
        const struct mapping *code = &maker->code.items[draw_below(
            &maker->random, (uint32_t)maker->code.count)];

        /* Behind the function's first byte: all are return addresses. */
        maker->sites[i] =
            code->start + 1 +
            (code->end > 1 ? draw_below(&maker->random, (uint32_t)code->end)
                           : 0);
    }
    maker->kits = room_for(keys->threads, sizeof *maker->kits);
    for (uint64_t i = 0; i < keys->threads; i++)
        maker->kits[i].chunk = room_for(1, CHUNK_LARGEST);
}

int main(int argc, char **argv)
{
    static struct maker maker = {.keys = {.samples = 1000000,
                                          .stacks = 20,
                                          .low = 25,
                                          .high = 25,
                                          .spread = 5,
                                          .threads = 1,
                                          .processes = 1,
                                          .sites = 65536}};

    if (argc < 3)
        fail("usage: modellog FOLDER CODE [KEY=NUMBER]...");
    maker.folder = argv[1];
    for (int i = 3; i < argc; i++)
        take_key(&maker.keys, argv[i]);
    read_code(&maker, argv[2]);
    prepare(&maker);
    make_processes(&maker);
    return 0;
}
