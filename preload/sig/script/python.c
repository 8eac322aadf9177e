/* SPDX-License-Identifier: MIT
 *
 * Reading CPython's frames, of 3.8 to 3.13, with the global lock and without
 * Py_DEBUG.  This file checks all that it reads: a PyCodeObject by its type, a
 * frame by its code and, from 3.11 on, by its instruction, a group of frames by
 * its end.  It leaves out a frame that fails, with all that this leads to.
 * Runs in: handler. */
#include "python.h"

#include <string.h>

#include "names.h"
#include "python_lines.h"
#include "python_version.h"
#include "scratch.h"

/* Fields that no version has elsewhere (Include/object.h, unicodeobject.h,
 * bytesobject.h; ob_refcnt, ob_type, ob_size). */
#define TYPE 8U
#define SIZE 16U
#define TEXT_HASH 24U
#define TEXT_STATE 32U
#define BYTES_DATA 32U

#define INTERPRETERS 64U            /* looked at for a thread, */
#define THREADS 4096U               /* and threads of all of them */
#define STEPS (2 * JP_SCRIPT_ITEMS) /* through chains that may be circular */
/* Bytes that are read of a PyCodeObject. */
#define CODE_BYTES (jp_python.minor < 11 ? 144U : 192U)
#define TABLE_MOST 65536U
#define RECORD 1024U /* bytes of PyThreadState, rather more */
#define GENERATOR 1U /* `owner` of a generator's frame, */
#define SHIM                                                                   \
    3U /* `owner` of the frame that marks a call from C, 3.13:
                   FRAME_OWNED_BY_CSTACK (pycore_frame.h) */

static uint64_t u64_of(const uint64_t *words, uint32_t offset)
{
    return words[offset / 8];
}

static int32_t i32_of(const uint64_t *words, uint32_t offset)
{
    return (int32_t)(words[offset / 8] >> offset % 8 * 8);
}

static uint8_t u8_of(const uint64_t *words, uint32_t offset)
{
    return (uint8_t)(words[offset / 8] >> offset % 8 * 8);
}

/* Whether the interpreter's record of a thread is the calling thread's. */
static int is_current_sig(struct jp_script *script, uint64_t thread)
{
    return jp_script_load_sig(script, thread + jp_python.layout->thread_id) ==
           script->self;
}

/* Finds the interpreter's record of the calling thread; 0: it has none.  Other
 * threads may change the list meanwhile. */
static uint64_t thread_sig(struct jp_script *script)
{
    const struct jp_python_layout *of = jp_python.layout;
    uint64_t thread = script->thread;
    script->thread = 0;
    if (thread != 0 && is_current_sig(script, thread))
        return script->thread = thread;
    uint64_t interpreter =
        jp_script_load_sig(script, jp_python.runtime + of->interpreters);
    unsigned threads = 0;
    for (unsigned i = 0; interpreter != 0 && i < INTERPRETERS; i++) {
        thread = jp_script_load_sig(script, interpreter + of->threads);
        for (; thread != 0 && threads < THREADS; threads++) {
            if (is_current_sig(script, thread))
                return script->thread = thread;
            thread = jp_script_load_sig(script, thread + of->thread_next);
            jp_script_make_room_sig(script);
        }
        interpreter =
            jp_script_load_sig(script, interpreter + of->interpreter_next);
    }
    return 0;
}

static size_t put_utf8_sig(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xe0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 63));
        to[2] = (char)(0x80 | (c & 63));
        return 3;
    }
    to[0] = (char)(0xf0 | (c >> 18 & 7));
    to[1] = (char)(0x80 | (c >> 12 & 63));
    to[2] = (char)(0x80 | (c >> 6 & 63));
    to[3] = (char)(0x80 | (c & 63));
    return 4;
}

/* Copies a str object, cut to `room` bytes, as UTF-8.  Returns 0 when it is no
 * str, or of a form that no name has. */
static int text_sig(struct jp_script *script, uint64_t object, char *to,
                    size_t room)
{
    const struct jp_python_layout *of = jp_python.layout;
    const uint64_t *head = jp_script_block_sig(script, object, 40);
    if (head == NULL || u64_of(head, TYPE) != jp_python.text_type)
        return 0;
    const uint64_t length = u64_of(head, SIZE);
    const uint32_t state = (uint32_t)u64_of(head, TEXT_STATE);
    const uint32_t kind = state >> 2 & 7; /* bytes of a character */
    const int is_compact = (state >> 5 & 1) != 0;
    const int is_ascii = (state >> 6 & 1) != 0;
    if (!is_compact || (kind != 1 && kind != 2 && kind != 4) || length == 0)
        return 0;
    uint32_t count = JP_SCRIPT_COPY / 4;
    if (is_ascii && count < JP_SCRIPT_COPY && kind == 1)
        count = JP_SCRIPT_COPY;
    if (length < count)
        count = (uint32_t)length;
    const uint8_t *from = jp_script_bytes_sig(
        script, object + (is_ascii ? of->text_ascii : of->text_other),
        count * kind);
    size_t used = 0;
    if (from == NULL)
        return 0;
    for (uint32_t i = 0; i < count && used + 4 < room; i++) {
        uint32_t c = 0;
        memcpy(&c, from + i * kind, kind);
        used += put_utf8_sig(to + used, c);
    }
    to[used] = '\0';
    return 1;
}

/* Fills script->fresh with a function's texts.  Returns 0 when it cannot. */
static int describe_sig(struct jp_script *script, uint64_t code, uint64_t key,
                        const uint64_t *words)
{
    const struct jp_python_layout *of = jp_python.layout;
    struct jp_script_fresh *fresh = &script->fresh;
    const uint64_t table = u64_of(words, of->code_lines);
    const int32_t line = i32_of(words, of->code_line);
    fresh->object = code;
    fresh->key = key;
    fresh->id = 0;
    fresh->delta = 0;
    fresh->first_line = line > 0 ? (uint32_t)line : 0;
    if (!text_sig(script, u64_of(words, of->code_name), fresh->name,
                  sizeof(fresh->name)) ||
        !text_sig(script, u64_of(words, of->code_file), fresh->file,
                  sizeof(fresh->file)))
        return 0;
    const uint64_t size = jp_script_load_sig(script, table + SIZE);
    fresh->table = table + BYTES_DATA;
    fresh->unread = size < TABLE_MOST ? (uint32_t)size : 0;
    jp_python_lines_sig(script, jp_python.minor);
    return 1;
}

/* Hashes the content of a PyCodeObject: another function's may come to its
 * address. */
static uint64_t key_sig(struct jp_script *script, const uint64_t *words)
{
    const struct jp_python_layout *of = jp_python.layout;
    const uint64_t name = u64_of(words, of->code_name);
    const uint64_t parts[] = {name, u64_of(words, of->code_file),
                              u64_of(words, of->code_lines),
                              (uint32_t)i32_of(words, of->code_line),
                              jp_script_load_sig(script, name + TEXT_HASH)};
    uint64_t key = 1;
    for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        key = (key ^ parts[i]) * 0x9e3779b97f4a7c15ULL;
        key ^= key >> 29;
    }
    return key | 1;
}

enum status { NO_CODE, NEEDS_NAME, KNOWN };

/* Finds the number of the function that a PyCodeObject describes. */
static enum status number_sig(struct jp_script *script, uint64_t code,
                              uint32_t *number)
{
    const uint64_t *words = jp_script_block_sig(script, code, CODE_BYTES);
    int full;
    if (words == NULL || u64_of(words, TYPE) != jp_python.code_type)
        return NO_CODE;
    const uint64_t key = key_sig(script, words);
    *number = jp_script_number_sig(code, key, &full);
    if (*number != 0 || full)
        return KNOWN;
    return describe_sig(script, code, key, words) ? NEEDS_NAME : NO_CODE;
}

/* Whether a frame of 3.12 or later has not started, or only cleans up behind a
 * constructor (_PyFrame_IsIncomplete in pycore_frame.h): sys._getframe does not
 * show it. */
static int is_incomplete_sig(struct jp_script *script, uint64_t code,
                             int64_t at, uint8_t owner)
{
    const uint64_t *words = jp_script_block_sig(script, code, CODE_BYTES);
    return jp_python.minor >= 12 && owner != GENERATOR && words != NULL &&
           at < (int64_t)i32_of(words, jp_python.layout->code_traceable) * 2;
}

/* Where a frame is in its function, in bytes of the bytecode; -1 when that
 * cannot be. */
static int64_t offset_sig(struct jp_script *script, const uint64_t *frame,
                          uint64_t code)
{
    const struct jp_python_layout *of = jp_python.layout;
    if (jp_python.minor < 11) {
        const int32_t last = i32_of(frame, of->frame_instruction);
        return last < 0 ? 0 : (int64_t)last * (jp_python.minor == 10 ? 2 : 1);
    }
    const int64_t at =
        (int64_t)(u64_of(frame, of->frame_instruction) - code - of->code_bytes);
    /* Before its first instruction, a frame of 3.11 and 3.12 points below
     * it. */
    const int64_t size = (int64_t)jp_script_load_sig(script, code + SIZE) * 2;
    return at < -2 || at >= size ? -1 : at < 0 ? 0 : at;
}

/* Adds the frame at script->frame.  Returns KNOWN, and *back is the frame that
 * called it. */
static enum status frame_sig(struct jp_script *script, uint64_t *back,
                             uint8_t *entry)
{
    const struct jp_python_layout *of = jp_python.layout;
    uint32_t number;
    if (++script->steps > STEPS)
        return NO_CODE;
    jp_script_make_room_sig(script);
    const uint64_t *frame = jp_script_block_sig(
        script, script->frame, jp_python.minor < 11 ? 112 : 80);
    if (frame == NULL)
        return NO_CODE;
    const uint64_t code = u64_of(frame, of->frame_code);
    *back = u64_of(frame, of->frame_back);
    *entry = jp_python.minor < 11 ? 0 : u8_of(frame, of->frame_owner);
    if (jp_python.minor >= 12 && *entry == SHIM)
        return KNOWN;
    const enum status status = number_sig(script, code, &number);
    if (status != KNOWN)
        return status;
    const int64_t at = offset_sig(script, frame, code);
    if (at >= 0 && is_incomplete_sig(script, code, at, *entry))
        return KNOWN;
    return at >= 0 && jp_script_add_sig(script, number, (uint64_t)at, 0)
               ? KNOWN
               : NO_CODE;
}

/* Ends the group that is being read: `mark` is in its native frame. */
static void end_group_sig(struct jp_script *script, uint64_t mark)
{
    if (script->count > script->group)
        script->items[script->count - 1].mark = mark;
    script->group = script->count;
}

/* Whether a CFrame is that in the thread's record, which runs nothing.  (In
 * 3.10 its `previous` may be anything.) */
static int is_root_sig(const struct jp_script *script, uint64_t cframe)
{
    return cframe - script->thread < RECORD;
}

/* 3.11 and 3.12: each call of the function that runs Python code has a
 * _PyCFrame, which leads to the frames that it runs; its last one leads to
 * those of the next call.  Before a call has set that, it leads anywhere. */
static enum jp_script_step by_cframes_sig(struct jp_script *script)
{
    const struct jp_python_layout *of = jp_python.layout;
    while (script->chain != 0 && ++script->steps <= STEPS) {
        const uint64_t *cframe = jp_script_block_sig(script, script->chain, 24);
        if (cframe == NULL)
            break;
        const uint64_t next = u64_of(cframe, of->cframe_previous);
        if (next == 0 || is_root_sig(script, script->chain))
            break;
        const uint64_t outer =
            jp_script_load_sig(script, next + of->cframe_frame);
        if (script->frame == 0)
            script->frame = u64_of(cframe, of->cframe_frame);
        uint64_t back = 0;
        uint8_t entry = 0;
        enum status status = NO_CODE;
        while (script->frame != 0 &&
               (status = frame_sig(script, &back, &entry)) == KNOWN) {
            script->frame = back;
            if (jp_python.minor == 11 ? entry != 0 : entry == SHIM)
                break;
            status = NO_CODE;
        }
        if (status == NEEDS_NAME)
            return JP_SCRIPT_NAME;
        if (status != KNOWN || back != outer)
            script->count = script->group;
        end_group_sig(script, script->chain);
        script->chain = next;
        script->frame = 0;
    }
    return JP_SCRIPT_DONE;
}

/* Other versions: the frames are one chain.  From 3.13 on, a frame on the C
 * stack ends a group. */
static enum jp_script_step by_frames_sig(struct jp_script *script)
{
    uint64_t back;
    uint8_t entry;
    while (script->frame != 0) {
        const enum status status = frame_sig(script, &back, &entry);
        if (status == NEEDS_NAME)
            return JP_SCRIPT_NAME;
        if (status != KNOWN)
            break;
        if (jp_python.minor >= 13 && entry == SHIM)
            end_group_sig(script, script->frame);
        script->frame = back;
    }
    /* No such frame ended the last group. */
    if (jp_python.minor >= 13)
        script->count = script->group;
    return JP_SCRIPT_DONE;
}

/* 3.10: each call has a CFrame and runs one frame, in the same order.  At its
 * begin and end a call has one of them alone, so they are counted from the
 * root. */
static void mark_cframes_sig(struct jp_script *script)
{
    const struct jp_python_layout *of = jp_python.layout;
    uint64_t cframe = script->chain, next;
    uint32_t count = 0;
    while (cframe != 0 && count < JP_SCRIPT_ITEMS) {
        next = jp_script_load_sig(script, cframe + of->cframe_previous);
        if (is_root_sig(script, cframe))
            break;
        script->marks[count++] = cframe;
        cframe = next;
    }
    for (uint32_t i = 1; i <= script->count && i <= count; i++)
        script->items[script->count - i].mark = script->marks[count - i];
}

static void begin_sig(struct jp_script *script)
{
    const struct jp_python_layout *of = jp_python.layout;
    script->started = 1;
    script->frame = script->chain = 0;
    const uint64_t thread = thread_sig(script);
    if (thread == 0)
        return;
    if (of->thread_cframe != 0)
        script->chain = jp_script_load_sig(script, thread + of->thread_cframe);
    if (of->thread_frame != 0)
        script->frame = jp_script_load_sig(script, thread + of->thread_frame);
}

enum jp_script_step jp_python_read_sig(struct jp_script *script)
{
    /* A further part of the lines of the function that was met last. */
    if (script->fresh.id != 0 && script->fresh.unread != 0) {
        jp_python_lines_sig(script, jp_python.minor);
        return JP_SCRIPT_NAME;
    }
    if (!script->started)
        begin_sig(script);
    if (jp_python.minor == 11 || jp_python.minor == 12)
        return by_cframes_sig(script);
    const enum jp_script_step step = by_frames_sig(script);
    if (step == JP_SCRIPT_DONE && jp_python.minor == 10)
        mark_cframes_sig(script);
    return step;
}
