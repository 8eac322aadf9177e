/* SPDX-License-Identifier: MIT
 *
 * The interpreters that are known, and what is asked of each.
 * Runs in: handler, any thread. */
#include "script.h"

#include <stddef.h>

#include "image.h"
#include "names.h"
#include "python.h"
#include "python_version.h"
#include "scratch.h"
#include "sig/code/procmaps.h"
#include "sig/files/mapfile.h"
#include "sig/os/sys.h"
#include "sig/state/buffer.h"
#include "sig/state/config.h"

static const struct interpreter {
    void (*recognise_sig)(const struct jp_image *image,
                          const struct jp_vma *vma);
    int (*has_code_sig)(uint64_t address);
    int (*runs_sig)(uint64_t address);
    enum jp_script_step (*read_sig)(struct jp_script *script);
} interpreters[] = {
    {jp_python_recognise_sig, jp_python_has_code_sig, jp_python_runs_sig,
     jp_python_read_sig},
};
#define INTERPRETERS (sizeof(interpreters) / sizeof(interpreters[0]))

/* An address that is no further below a frame's sp is on the same stack, and
 * in none of that frame's callers. */
#define SAME_STACK (64ULL << 20)

/* pthread_self() less the thread pointer: not 0 on machines where the C library
 * keeps a thread's structure below the thread pointer. */
static uint64_t self_offset;

void jp_script_init(uint64_t self)
{
    self_offset = self - (uint64_t)__builtin_thread_pointer();
}

void jp_script_mapped_sig(const struct jp_vma *vma, uint64_t base)
{
    struct jp_image image;
    if (base == 0 || jp_image_open_sig(&image, base) != 0)
        return;
    for (size_t i = 0; i < INTERPRETERS; i++)
        interpreters[i].recognise_sig(&image, vma);
}

/* The interpreter whose code is on the stack; NULL: none. */
static const struct interpreter *on_stack_sig(const struct jp_buffer *buffer)
{
    for (size_t i = 0; i < INTERPRETERS; i++) {
        for (uint32_t k = 0; k < buffer->depth; k++) {
            if (interpreters[i].has_code_sig(buffer->frames[k]))
                return &interpreters[i];
        }
    }
    return NULL;
}

int jp_script_begin_sig(struct jp_buffer *buffer, int direct)
{
    if (on_stack_sig(buffer) == NULL || !jp_mapfile_ready_sig())
        return 0;
    if (buffer->script == NULL)
        buffer->script =
            jp_sys_memory_sig(sizeof(*buffer->script), JP_FORK_DROP);
    struct jp_script *script = buffer->script;
    if (script == NULL)
        return 0;
    script->direct = (uint32_t)direct;
    script->self = (uint64_t)__builtin_thread_pointer() + self_offset;
    script->started = script->count = script->group = script->steps = 0;
    script->fresh.id = 0;
    if (!direct)
        jp_script_refresh_sig(script);
    return 1;
}

enum jp_script_step jp_script_read_sig(struct jp_buffer *buffer)
{
    return on_stack_sig(buffer)->read_sig(buffer->script);
}

void jp_script_name_sig(struct jp_script *script)
{
    jp_script_put_name_sig(script);
}

/* Whether the native frame `index` holds the address: its part of the stack is
 * from its sp to its caller's. */
static int holds_sig(const struct jp_buffer *buffer, uint32_t index,
                     uint64_t address)
{
    const uint32_t next = index + 1;
    return buffer->sps[index] <= address && next < buffer->depth &&
           next != buffer->gap && address < buffer->sps[next];
}

/* 3.8 and 3.9 of CPython: marks items by the sp of the native frames that run
 * them, counted from the root. */
static void mark_calls_sig(struct jp_buffer *buffer,
                           const struct interpreter *by)
{
    struct jp_script *script = buffer->script;
    uint32_t item = script->count;
    for (uint32_t i = buffer->depth; i-- > 0 && item > 0;) {
        if (by->runs_sig(buffer->frames[i]))
            script->items[--item].mark = buffer->sps[i];
    }
}

/* Finds the native frame that runs the group of items from `first` on.  The
 * group's last item has the mark.  Searches from the frame `from` on.  Returns
 * the buffer's depth if the walk has not met that frame. */
static uint32_t runner_sig(const struct jp_buffer *buffer, uint32_t first,
                           uint32_t from)
{
    const struct jp_script *script = buffer->script;
    uint64_t mark = 0;
    for (uint32_t i = first; i < script->count && mark == 0; i++)
        mark = script->items[i].mark;
    for (uint32_t i = from; mark != 0 && i < buffer->depth; i++) {
        if (holds_sig(buffer, i, mark))
            return i;
        if (buffer->sps[i] - mark < SAME_STACK && buffer->sps[i] > mark)
            break;
    }
    return buffer->depth;
}

/* A stack that is being put together.  Of one that is too deep, frames in the
 * middle are left out. */
struct output {
    uint64_t *frames;
    uint32_t total, head, tail_from; /* frames [head, tail_from) are left out */
    uint32_t at, used;
};

static void put_sig(struct output *output, uint64_t frame, uint64_t exact)
{
    const uint32_t at = output->at++;
    if (at >= output->head && at < output->tail_from)
        return;
    /* Readers look up all frames but the first minus one. */
    output->frames[output->used++] = frame + (at != 0 ? exact : 0);
}

/* Puts the native frame `index`; runner: it runs the items before it. */
static void put_native_sig(struct output *output,
                           const struct jp_buffer *buffer, uint32_t index,
                           int runner)
{
    uint64_t frame = buffer->frames[index];
    if (runner)
        frame |= JP_SCRIPT_RUNNER << 48;
    put_sig(output, frame, index == 0);
}

void jp_script_merge_sig(struct jp_buffer *buffer)
{
    struct jp_script *script = buffer->script;
    const uint32_t depth = buffer->depth, limit = jp_config.depth;
    struct output output = {.total = depth + script->count};
    if (script->count == 0)
        return;
    mark_calls_sig(buffer, on_stack_sig(buffer));
    /* Each item's place, in front of a native frame, comes to where its mark
     * was; the frames before the output is written are still needed. */
    uint32_t item = 0, from = 0;
    while (item < script->count) {
        uint32_t next = item;
        while (next < script->count && script->items[next].mark == 0)
            next++;
        const uint32_t runner = runner_sig(buffer, item, from);
        next = next < script->count ? next + 1 : script->count;
        for (; item < next; item++)
            script->marks[item] = runner;
        from = runner < depth ? runner + 1 : from;
    }
    /* A group whose native frame is unknown stands with the one behind it, the
     * last one at the interpreter's next code. */
    uint32_t behind = from;
    while (behind < depth &&
           !on_stack_sig(buffer)->has_code_sig(buffer->frames[behind]))
        behind++;
    for (uint32_t i = script->count; i-- > 0;) {
        script->items[i].mark = script->marks[i] < depth;
        behind = script->marks[i] < depth ? (uint32_t)script->marks[i] : behind;
        script->marks[i] = behind;
    }
    output.head = output.tail_from = output.total;
    if (output.total > limit) {
        output.head = limit / 2;
        output.tail_from = output.total - (limit - limit / 2);
    }
    output.frames = buffer->sps;
    item = 0;
    for (uint32_t i = 0; i <= depth; i++) {
        int runner = 0;
        for (; item < script->count && script->marks[item] <= i; item++) {
            put_sig(&output, script->items[item].frame, 1);
            runner = script->items[item].mark != 0;
        }
        if (i < depth)
            put_native_sig(&output, buffer, i, runner);
    }
    buffer->sps = buffer->frames;
    buffer->frames = output.frames;
    buffer->depth = output.used;
    if (output.total > limit)
        buffer->gap = output.head;
}
