/* SPDX-License-Identifier: MIT
 *
 * Finds the runs and chunks of a log, page by page.
 * Runs in: analyzer. */
#include "log.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/search.h"
#include "chunk.h"
#include "jp_machine.h"
#include "names.h"

#define PROGRESS_BYTES 1000000U /* between two words of how far reading is */
#define WINDOW ((size_t)4 * JP_CHUNK_MAX) /* bytes of the file held at a time */

/* A window of the log's bytes. */
struct source {
    const struct jr_log_bytes *bytes;
    uint8_t *window;
    uint64_t window_at;
    size_t window_size;
};

struct reader {
    struct source source;
    struct jr_log *log;
    struct jr_diag *diag;
    struct jr_chunk_reader chunk;
    uint64_t *early; /* offsets of chunks before the header of their run */
    size_t nearly, early_room;
    int skipping; /* the chunks that follow belong to a run that cannot be
                     read */
    int orphans;  /* chunks before any header were reported */
};

/* The page at `offset`, or the first one behind it that is in no hole: a hole
 * has neither headers nor chunks. */
static uint64_t skip_hole(const struct source *source, uint64_t offset)
{
    uint64_t data;

    if (source->bytes->data ||
        (offset >= source->window_at &&
         offset < source->window_at + source->window_size))
        return offset;
    data = jr_file_data(source->bytes->fd, offset, source->bytes->size);
    if (data < source->bytes->size)
        data -= data % JP_LOG_ALIGN;
    return data > offset ? data : offset;
}

/* How many bytes to read at `offset`: those up to the next hole, and at least
 * the `wanted` ones. */
static size_t window_for(const struct source *source, uint64_t offset,
                         size_t wanted)
{
    off_t hole = lseek(source->bytes->fd, (off_t)offset, SEEK_HOLE);
    uint64_t data = hole < 0 ? WINDOW : (uint64_t)hole - offset;

    if (data < wanted)
        data = wanted;
    return data < WINDOW ? (size_t)data : WINDOW;
}

/* Points *at to the bytes at `offset`; returns how many of the `wanted` (at
 * most JP_CHUNK_MAX) there are. */
static size_t peek(struct source *source, uint64_t offset, size_t wanted,
                   const uint8_t **at)
{
    uint64_t left =
        offset < source->bytes->size ? source->bytes->size - offset : 0;

    if (wanted > left)
        wanted = (size_t)left;
    if (source->bytes->data) {
        *at = source->bytes->data + (wanted ? offset : 0);
        return wanted;
    }
    if (offset < source->window_at ||
        offset + wanted > source->window_at + source->window_size) {
        source->window_at = offset;
        source->window_size =
            jr_file_pread(source->bytes->fd, source->window,
                          window_for(source, offset, wanted), offset);
        if (wanted > source->window_size)
            wanted = source->window_size;
    }
    *at = source->window + (offset - source->window_at);
    return wanted;
}

static void add_run(struct reader *reader, const struct jp_log_header *header,
                    uint64_t offset)
{
    struct jr_log *log = reader->log;
    struct jr_run *run = JR_PUSH(log->runs, log->nruns, log->runs_room);

    memset(run, 0, sizeof *run);
    run->header = *header;
    run->offset = offset;
    run->base = log->nruns - 1;
    jr_header_close(&run->header);
    for (int i = JP_COUNT_LOST_STALE; i <= JP_COUNT_LOST_NO_SLOT; i++) {
        if (__builtin_add_overflow(run->lost, header->counters[i], &run->lost))
            run->lost = UINT64_MAX;
    }
    jr_stacks_init(&run->stacks);
    if (JP_MACHINE_ELF && header->machine != JP_MACHINE_ELF)
        jr_say("%s: written on another kind of machine (ELF machine %u)",
               log->path, header->machine);
}

/* Reads the header at `offset`; returns how far to go on. */
static size_t read_header(struct reader *reader, uint64_t offset)
{
    struct jp_log_header header;
    const uint8_t *at;
    const char *why;
    size_t got = peek(&reader->source, offset, sizeof header, &at);

    reader->skipping = 1;
    if (got < sizeof header) {
        jr_warn(reader->diag, reader->log->path, offset,
                "the file ends inside this header; nothing read from here on");
        return JP_LOG_ALIGN;
    }
    memcpy(&header, at, sizeof header);
    why = jr_header_refuse(&header);
    if (why) {
        jr_warn(reader->diag, reader->log->path, offset,
                "%s; this run cannot be read", why);
        return JP_LOG_ALIGN;
    }
    reader->skipping = 0;
    add_run(reader, &header, offset);
    return JP_LOG_HEADER_SIZE;
}

/* Returns what is wrong with a chunk's header, or NULL. */
static const char *refuse_chunk(const struct jp_chunk_header *chunk,
                                const struct jr_run *run, uint64_t offset)
{
    if (chunk->size < JP_CHUNK_MIN || chunk->size > JP_CHUNK_MAX ||
        (chunk->size & (chunk->size - 1)) != 0)
        return "has a size that no chunk has";
    if (chunk->offset != offset)
        return "belongs to another place";
    if (chunk->pid != run->header.pid)
        return "belongs to another process";
    return NULL;
}

/* The index of the run that a chunk belongs to; nruns: it is not there.  Runs
 * are in order of their places in the file. */
static size_t run_of(const struct reader *reader,
                     const struct jp_chunk_header *chunk)
{
    const struct jr_log *log = reader->log;
    size_t low;

    if (chunk->run == 0)
        return reader->skipping || log->nruns == 0 ? log->nruns
                                                   : log->nruns - 1;
    low = JR_FIRST_NOT(log->nruns, i, log->runs[i].offset < chunk->run - 1);
    return low < log->nruns && log->runs[low].offset == chunk->run - 1
               ? low
               : log->nruns;
}

static void refuse(struct reader *reader, struct jr_run *run, uint64_t offset,
                   const char *why)
{
    run->bad_chunks++;
    jr_warn(reader->diag, reader->log->path, offset,
            "chunk %s; continuing at the next page", why);
}

/* Handles a chunk whose run is not known: it is kept for later or, with
 * `again`, given up, as all headers have been read by then. */
static void read_strange(struct reader *reader,
                         const struct jp_chunk_header *head, uint64_t offset,
                         int again)
{
    if (head->run != 0 && !again) {
        *JR_PUSH(reader->early, reader->nearly, reader->early_room) = offset;
    } else if (!reader->skipping && !reader->orphans) {
        reader->orphans = 1;
        jr_warn(reader->diag, reader->log->path, offset,
                "chunks without their log header; left out");
    }
}

/* Reads the chunk at `offset`; returns how far to go on. again: the chunk was
 * found before the header of its run. */
static size_t read_chunk(struct reader *reader, uint64_t offset, int again)
{
    struct jp_chunk_header head = {.run = 0};
    struct jr_run *run;
    const uint8_t *at;
    const char *why;
    size_t index, got = peek(&reader->source, offset, sizeof head, &at);

    memcpy(&head, at, got);
    index = run_of(reader, &head);
    if (index == reader->log->nruns) {
        read_strange(reader, &head, offset, again);
        return JP_LOG_ALIGN;
    }
    run = &reader->log->runs[index];
    run->seen_chunks++;
    if (got < sizeof head) {
        run->bad_chunks++;
        jr_warn(reader->diag, reader->log->path, offset,
                "the file ends inside the head of this chunk; left out");
        return JP_LOG_ALIGN;
    }
    why = refuse_chunk(&head, run, offset);
    if (why) {
        refuse(reader, run, offset, why);
        return JP_LOG_ALIGN;
    }
    if (run->oldest_ns == 0 || head.opened_ns < run->oldest_ns)
        run->oldest_ns = head.opened_ns;
    got = peek(&reader->source, offset, head.size, &at);
    jr_chunk_read(&reader->chunk, run, at, got, offset);
    return head.size;
}

/* Looks at the page at `offset`; returns how far to go on. */
static size_t read_page(struct reader *reader, uint64_t offset)
{
    const uint8_t *at;
    uint32_t magic = 0;
    size_t got = peek(&reader->source, offset, 8, &at);

    if (got == 8 && !memcmp(at, JP_LOG_MAGIC, 8))
        return read_header(reader, offset);
    if (got >= sizeof magic)
        memcpy(&magic, at, sizeof magic);
    return magic == JP_CHUNK_MAGIC ? read_chunk(reader, offset, 0)
                                   : JP_LOG_ALIGN;
}

/* A run that branched off from another takes from that one what its own header
 * lacks: its process could not look it up. */
static void join_base(struct jr_log *log, size_t index)
{
    struct jr_run *run = &log->runs[index];
    const struct jp_chunk_header wanted = {.run = run->header.base_run};
    const struct reader reader = {.log = log};
    size_t base = wanted.run ? run_of(&reader, &wanted) : log->nruns;

    if (base == log->nruns || base == index)
        return;
    run->base = base;
    if (run->header.exe[0] == '\0')
        memcpy(run->header.exe, log->runs[base].header.exe,
               sizeof run->header.exe);
    if (run->header.build_id_size == 0) {
        memcpy(run->header.build_id, log->runs[base].header.build_id,
               sizeof run->header.build_id);
        run->header.build_id_size = log->runs[base].header.build_id_size;
    }
}

#define MANY_SUMS 100000U /* fewer take at most some MiB, and are kept */

/* Gives up sums that are nearly as many as the samples: they would take more
 * memory than they save time. */
static void drop_sums(struct jr_run *run)
{
    if (run->sums.count > MANY_SUMS && run->sums.count > run->nsamples / 4 * 3)
        jr_sums_free(&run->sums);
}

static void finish(struct reader *reader)
{
    for (size_t i = 0; i < reader->nearly; i++)
        read_chunk(reader, reader->early[i], 1);
    for (size_t i = 0; i < reader->log->nruns; i++) {
        join_base(reader->log, i);
        jr_stacks_seal(&reader->log->runs[i].stacks);
        drop_sums(&reader->log->runs[i]);
    }
    jr_chunk_reader_end(&reader->chunk);
    free(reader->early);
}

/* Tells how far reading is, when that is much farther than it was last. */
static void tell(const struct reader *reader, uint64_t *told, uint64_t at)
{
    const struct jr_diag *diag = reader->diag;

    if (!diag->progress || at - *told < PROGRESS_BYTES)
        return;
    *told = at;
    diag->progress(diag->progress_data, at, reader->source.bytes->size);
}

static int read_all(struct reader *reader)
{
    uint64_t told = 0;
    unsigned before = reader->diag->warnings;

    jr_chunk_reader_begin(&reader->chunk, reader->log->path, reader->diag);
    for (uint64_t at = 0; at < reader->source.bytes->size;
         at = skip_hole(&reader->source, at)) {
        tell(reader, &told, at);
        at += read_page(reader, at);
    }
    finish(reader);
    if (reader->log->nruns)
        return 0;
    if (reader->diag->warnings == before)
        jr_warn(reader->diag, reader->log->path, JR_NO_OFFSET,
                reader->source.bytes->size ? "is not a jprof log" : "is empty");
    return -1;
}

int jr_log_parse(const uint8_t *data, size_t size, const char *path,
                 struct jr_log *log, struct jr_diag *diag)
{
    struct reader reader = {.log = log, .diag = diag};

    memset(log, 0, sizeof *log);
    log->path = jr_strdup(path);
    log->bytes = (struct jr_log_bytes){data ? data : (const uint8_t *)"",
                                       data ? size : 0, -1};
    reader.source.bytes = &log->bytes;
    return read_all(&reader);
}

int jr_log_read(const char *path, struct jr_log *log, struct jr_diag *diag)
{
    struct reader reader = {.log = log, .diag = diag};
    struct stat info;
    const char *why;
    int result;

    memset(log, 0, sizeof *log);
    log->path = jr_strdup(path);
    log->bytes.fd = jr_file_open(path, &info, &why);
    if (log->bytes.fd < 0) {
        jr_warn(diag, path, JR_NO_OFFSET, "%s", why);
        return -1;
    }
    jr_file_read_for(&info);
    log->bytes.size = (uint64_t)info.st_size;
    log->info = info;
    reader.source.bytes = &log->bytes;
    reader.source.window = jr_alloc(WINDOW, 1);
    result = read_all(&reader);
    free(reader.source.window);
    return result;
}

void jr_log_rest(struct jr_log *log)
{
    for (size_t i = 0; i < log->nruns; i++) {
        jr_stacks_free(&log->runs[i].stacks);
        jr_sums_free(&log->runs[i].sums);
    }
}

void jr_log_let_go(struct jr_log *log)
{
    if (!log->bytes.data && log->bytes.fd >= 0 && log->path)
        close(log->bytes.fd);
    log->bytes.fd = -1;
    log->is_let_go = 1;
}

int jr_log_take_up(struct jr_log *log)
{
    struct stat info;
    const char *why;

    if (log->bytes.data || log->bytes.fd >= 0 || log->info.st_ino == 0)
        return 0;
    log->bytes.fd = jr_file_open(log->path, &info, &why);
    if (log->bytes.fd >= 0 && !jr_is_same_file(&info, &log->info))
        jr_log_let_go(log);
    return log->bytes.fd >= 0 ? 0 : -1;
}

void jr_log_close(struct jr_log *log)
{
    jr_log_let_go(log);
    jr_log_rest(log);
    log->bytes = (struct jr_log_bytes){.fd = -1};
    for (size_t i = 0; i < log->nruns; i++) {
        struct jr_run *run = &log->runs[i];

        free(run->chunks);
        free(run->records);
        free(run->given);
        run->given = NULL;
        run->chunks = NULL;
        run->records = NULL;
        run->nchunks = run->nrecords = 0;
    }
}

static void free_run(struct jr_run *run)
{
    free(run->text);
    free(run->marks);
    free(run->mark_names);
}

void jr_log_free(struct jr_log *log)
{
    jr_log_close(log);
    for (size_t i = 0; i < log->nruns; i++)
        free_run(&log->runs[i]);
    free(log->runs);
    free(log->path);
    memset(log, 0, sizeof *log);
    log->bytes.fd = -1;
}
