/* SPDX-License-Identifier: MIT
 *
 * A thread's work space for reading the frames of scripts, and its access to
 * the program's memory.
 * Runs in: handler. */
#ifndef JP_SCRATCH_H
#define JP_SCRATCH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "jp_map.h"
#include "jp_script.h"
#include "step.h"

#define JP_SCRIPT_ITEMS 8192U  /* frames read of one stack */
#define JP_SCRIPT_NAME_MAX 512 /* bytes of a name, with its NUL, */
#define JP_SCRIPT_FILE_MAX 1024
#define JP_SCRIPT_LINES_MAX 4000 /* and of a part of its table of lines */
#define JP_SCRIPT_COPY 1024U     /* bytes copied of an object at a time */
#define JP_SCRIPT_COPIES 512U    /* objects copied of a stack at a time */
#define JP_SCRIPT_SLOTS 1024U    /* of a table of these; a power of two */

struct jp_buffer;

/* A script's frame. */
struct jp_script_item {
    uint64_t frame; /* JP_SCRIPT_FRAME */
    uint64_t mark;  /* an address in the native frame that runs it; 0: in that
                       which runs the next item */
};

/* A function that has no number yet. */
struct jp_script_fresh {
    uint64_t object, key; /* as in the table of names */
    uint32_t id;          /* once it has one */
    uint32_t first_line;
    char name[JP_SCRIPT_NAME_MAX], file[JP_SCRIPT_FILE_MAX];
    char lines[JP_SCRIPT_LINES_MAX]; /* a part of the table of lines */
    uint64_t table;                  /* the unread part of the table */
    uint32_t unread; /* bytes of it behind that; 0: the last part */
    int32_t delta;   /* lines that the next range is further */
};

/* A checked copy of memory. */
struct jp_script_copy {
    uint64_t address;
    uint32_t size;
    uint64_t words[26];
};

struct jp_script {
    uint32_t direct;  /* memory is read without a check */
    uint32_t started; /* reading has started */
    uint64_t self;    /* the calling thread, as pthread_self() names it */
    uint64_t thread; /* the interpreter's record of the thread, as last found */
    uint64_t frame, chain; /* where reading goes on; interpreter's own use */
    uint32_t group;        /* the first item of the group that is being read */
    uint32_t count;
    uint32_t steps; /* frames and marks looked at, of this stack */
    struct jp_script_item items[JP_SCRIPT_ITEMS];
    uint64_t marks[JP_SCRIPT_ITEMS];
    struct jp_script_fresh fresh;
    char line[JP_MAP_LINE_MAX];
    uint8_t bytes[JP_SCRIPT_COPY];
    /* With copies: those of this stack, found by their addresses. */
    uint32_t copied;
    uint16_t slots[JP_SCRIPT_SLOTS]; /* index plus one; 0: none */
    struct jp_script_copy copies[JP_SCRIPT_COPIES];
    struct iovec to[JP_SCRIPT_COPIES], from[JP_SCRIPT_COPIES];
};

/* Begins a stack that is read by copies: makes those of the last stack again,
 * with one system call, as most objects on it are the same. */
void jp_script_refresh_sig(struct jp_script *script);

/* Makes room for the copies of one more frame: what the two functions below
 * returned before does not hold any more. */
void jp_script_make_room_sig(struct jp_script *script);

/* `size` bytes of the program's memory at an aligned address, at most those of
 * a copy: the memory itself, or a checked copy that stays until
 * jp_script_make_room_sig.  NULL when it cannot be read. */
const uint64_t *jp_script_block_sig(struct jp_script *script, uint64_t address,
                                    uint32_t size);

/* The word at an aligned address; 0 when it cannot be read. */
uint64_t jp_script_load_sig(struct jp_script *script, uint64_t address);

/* Copies `size` bytes, at most JP_SCRIPT_COPY, at any address to script->bytes.
 * Returns NULL when they cannot all be read. */
const uint8_t *jp_script_bytes_sig(struct jp_script *script, uint64_t address,
                                   uint32_t size);

/* Adds a frame; returns 0 when there is no room. */
int jp_script_add_sig(struct jp_script *script, uint32_t id, uint64_t at,
                      uint64_t mark);

#endif
