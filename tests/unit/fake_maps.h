/* SPDX-License-Identifier: MIT
 *
 * A list of mappings that the library reads instead of its process's, and the
 * lines that it would write to the map; who reads it, and how, is counted.
 * Runs in: tests; included once in an executable, after fake_kernel.h. */
#ifndef JP_TEST_FAKE_MAPS_H
#define JP_TEST_FAKE_MAPS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../preload/sig/code/module.h"
#include "../../preload/sig/code/procmaps.h"

#define MS 1000000ULL
#define RX (JP_PROT_READ | JP_PROT_EXEC)
#define RW (JP_PROT_READ | JP_PROT_WRITE)
#define PAGE 0x1000ULL
#define NO_QUERY (-ENOTTY) /* of a kernel before 6.11 */

static struct jp_vma memory[8];
static unsigned mappings, next;
static int has_map;      /* the file */
static uint64_t scan_ns; /* what reading all takes, */
static uint64_t mark_ns; /* and comparing */
static int mark_error;
static uint64_t change; /* of files, as the mark tells it */
static unsigned scans, marks, queries, yields;
static char lines[1024]; /* of the map, `+PAGES@MS ` and `-PAGES@MS ` */
static void (*meanwhile)(void);

FAKE(int, jp_procmaps_open_sig, (struct jp_procmaps * reader))
{
    (void)reader;
    scans++;
    next = 0;
    return 0;
}

FAKE(void, jp_procmaps_close_sig, (struct jp_procmaps * reader))
{
    (void)reader;
    fake.now_ns += scan_ns;
}

FAKE(int, jp_procmaps_next_sig,
     (struct jp_procmaps * reader, struct jp_vma *vma))
{
    void (*event)(void) = meanwhile;
    (void)reader;
    meanwhile = NULL;
    if (event != NULL)
        event();
    if (next == mappings)
        return 0;
    *vma = memory[next++];
    return 1;
}

FAKE(int, jp_procmaps_query_sig, (uint64_t address, struct jp_vma *vma))
{
    queries++;
    if (mark_error != 0)
        return mark_error;
    for (unsigned i = 0; i < mappings; i++) {
        if (address >= memory[i].start && address < memory[i].end) {
            *vma = memory[i];
            vma->path = NULL;
            vma->path_length = 0;
            return 0;
        }
    }
    return -ENOENT;
}

FAKE(int, jp_procmaps_mark_sig, (uint32_t most, uint64_t *mark))
{
    (void)most;
    marks++;
    fake.now_ns += mark_ns;
    *mark = change;
    return mark_error;
}

FAKE(int, jp_mapfile_ready_sig, (void))
{
    return has_map;
}

FAKE(int, jp_mapfile_open_sig, (void))
{
    return -1;
}

static void line(char sign, uint64_t start, uint64_t end, uint64_t time_ns)
{
    const size_t length = strlen(lines);
    snprintf(lines + length, sizeof(lines) - length, "%c%x-%x@%u ", sign,
             (unsigned)(start / PAGE), (unsigned)(end / PAGE),
             (unsigned)(time_ns / MS));
}

FAKE(void, jp_module_put_sig,
     (int fd, const struct jp_vma *vma, uint64_t base, struct jp_text *text))
{
    (void)fd, (void)base;
    text->data[text->length] = '\0';
    line('+', vma->start, vma->end, strtoull(text->data, NULL, 10));
}

FAKE(void, jp_module_gone_sig,
     (int fd, uint64_t time_ns, uint64_t start, uint64_t end))
{
    (void)fd;
    line('-', start, end, time_ns);
}

static int answers(long number, const long a[5], long *result)
{
    (void)a;
    *result = 0;
    yields += number == SYS_sched_yield;
    return number == SYS_sched_yield;
}

/* A mapping of a file (inode 0: of none). */
static void map(uint64_t start, uint64_t end, uint32_t prot, uint64_t inode)
{
    static char path[] = "/lib/library.so", none[] = "";
    memory[mappings++] =
        (struct jp_vma){.start = start * PAGE,
                        .end = end * PAGE,
                        .prot = prot,
                        .inode = inode,
                        .path = inode != 0 ? path : none,
                        .path_length = inode != 0 ? sizeof(path) - 1 : 0};
    change++;
}

static void unmap(unsigned index)
{
    mappings--;
    for (unsigned i = index; i < mappings; i++)
        memory[i] = memory[i + 1];
    change++;
}

#endif
