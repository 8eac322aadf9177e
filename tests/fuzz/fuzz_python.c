/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: CPython's structures in a memory image.  An input is a version,
 * then pairs of an offset and a value that take the place of words of an image
 * that is whole: a thread with frames, their functions, texts and tables of
 * lines (or the image's bytes).
 * Runs in: fuzz tests. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "../../preload/sig/script/names.h"
#include "../../preload/sig/script/python.h"
#include "../../preload/sig/script/python_version.h"
#include "../../preload/sig/script/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
long __wrap_jp_module_read_sig(uint64_t address, void *to, size_t size);
long __wrap_jp_sys_gather_sig(const struct iovec *to, const struct iovec *from,
                              uint32_t count);
void __wrap_jp_mapfile_append_sig(void *text);
uint32_t __wrap_jp_script_number_sig(uint64_t object, uint64_t key, int *full);

#define ADDRESS 0x10000000ULL
#define BYTES 32768U
#define FRAMES 6U

static uint64_t image[BYTES / 8];
static struct jp_script script;

/* The functions that this input has met: those of others would not be described
 * again. */
#define MET 64U
static uint64_t met[MET][2];
static uint32_t met_count;

long __wrap_jp_module_read_sig(uint64_t address, void *to, size_t size)
{
    if (address < ADDRESS || size > BYTES || address - ADDRESS > BYTES - size)
        return -14;
    memcpy(to, (const uint8_t *)image + (address - ADDRESS), size);
    return (long)size;
}

long __wrap_jp_sys_gather_sig(const struct iovec *to, const struct iovec *from,
                              uint32_t count)
{
    long sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (to[i].iov_len != from[i].iov_len)
            abort();
        if (__wrap_jp_module_read_sig((uint64_t)from[i].iov_base,
                                      to[i].iov_base, to[i].iov_len) < 0)
            break;
        sum += (long)to[i].iov_len;
    }
    return sum;
}

void __wrap_jp_mapfile_append_sig(void *text)
{
    (void)text;
}

uint32_t __wrap_jp_script_number_sig(uint64_t object, uint64_t key, int *full)
{
    *full = met_count == MET;
    for (uint32_t i = 0; i < met_count; i++) {
        if (met[i][0] == object && met[i][1] == key)
            return i + 1;
    }
    return 0;
}

static void put(uint64_t at, uint64_t value)
{
    memcpy((uint8_t *)image + at, &value, sizeof(value));
}

/* Offsets of the image's parts. */
enum {
    RUNTIME = 0,
    TYPES = 1024,
    INTERPRETER = 8192,
    THREAD = 16384,
    CFRAMES = 17408,
    OBJECTS = 18432,
    OBJECT = 1024
};

/* Makes a frame with a function of its own, called by the one behind it. */
static void put_frame(const struct jp_python_layout *of, uint32_t index)
{
    const uint64_t at = OBJECTS + index * OBJECT, code = at + 128;
    const uint64_t text = at + 512, table = at + 640;
    const uint64_t back = index + 1 < FRAMES ? ADDRESS + at + OBJECT : 0;
    put(at + of->frame_code, ADDRESS + code);
    put(at + of->frame_back, back);
    put(at + of->frame_instruction,
        of->code_bytes != 0 ? ADDRESS + code + of->code_bytes + 8 : 4);
    if (of->frame_owner != 0)
        ((uint8_t *)image)[at + of->frame_owner] =
            jp_python.minor == 11 ? index % 2 : index % 2 * 3;
    put(code + 8, jp_python.code_type);
    put(code + 16, 64);
    put(code + of->code_name, ADDRESS + text);
    put(code + of->code_file, ADDRESS + text);
    put(code + of->code_lines, ADDRESS + table);
    put(text + 8, jp_python.text_type);
    put(text + 16, 8);
    put(text + 32, 1 << 2 | 1 << 5 | 1 << 6);
    put(text + of->text_ascii, 0x6e6f6974636e7566ULL);
    put(table + 16, 24);
    for (unsigned i = 0; i < 3; i++)
        put(table + 32 + 8 * i, 0x02fe01d801d80110ULL);
}

static void make(const struct jp_python_layout *of)
{
    memset(image, 0, sizeof(image));
    put(RUNTIME + of->interpreters, ADDRESS + INTERPRETER);
    put(INTERPRETER + of->threads, ADDRESS + THREAD);
    put(THREAD + of->thread_id, script.self);
    if (of->thread_frame != 0)
        put(THREAD + of->thread_frame, ADDRESS + OBJECTS);
    if (of->thread_cframe != 0)
        put(THREAD + of->thread_cframe, ADDRESS + CFRAMES);
    for (unsigned i = 0; i < 3; i++) {
        put(CFRAMES + i * 64 + of->cframe_previous,
            i < 2 ? ADDRESS + CFRAMES + (i + 1) * 64 : ADDRESS + THREAD + 64);
        put(CFRAMES + i * 64 + of->cframe_frame,
            ADDRESS + OBJECTS + 2 * i * OBJECT);
    }
    for (uint32_t i = 0; i < FRAMES; i++)
        put_frame(of, i);
}

/* Reads a stack, giving names, as the handler does. */
static void read_stack(void)
{
    script.started = script.count = script.group = script.steps = 0;
    script.fresh.id = met_count = 0;
    jp_script_refresh_sig(&script);
    for (unsigned i = 0; i < 4096; i++) {
        if (jp_python_read_sig(&script) == JP_SCRIPT_DONE)
            break;
        if (memchr(script.fresh.name, 0, sizeof(script.fresh.name)) == NULL ||
            memchr(script.fresh.file, 0, sizeof(script.fresh.file)) == NULL ||
            memchr(script.fresh.lines, 0, sizeof(script.fresh.lines)) == NULL)
            abort();
        jp_script_put_name_sig(&script);
        if (script.fresh.unread == 0 && met_count < MET) {
            met[met_count][0] = script.fresh.object;
            met[met_count++][1] = script.fresh.key;
        }
    }
    if (script.count > JP_SCRIPT_ITEMS || script.group > JP_SCRIPT_ITEMS)
        abort();
    for (uint32_t i = 0; i < script.count; i++) {
        if (JP_SCRIPT_TAG_OF(script.items[i].frame) != JP_SCRIPT_TAG ||
            JP_SCRIPT_AT(script.items[i].frame) > JP_SCRIPT_AT_MAX)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || jp_script_names_init_sig() != 0)
        return 0;
    script.self = 0x7f0012345678ULL;
    script.thread = 0;
    jp_python = (struct jp_python){.runtime = ADDRESS + RUNTIME,
                                   .code_type = ADDRESS + TYPES,
                                   .text_type = ADDRESS + TYPES + 64};
    jp_python.minor = 8 + data[0] % 6U;
    jp_python.layout = jp_python_layout_sig(jp_python.minor);
    make(jp_python.layout);
    read_stack();
    if (script.count < FRAMES / 2)
        abort(); /* the whole image has frames */
    data++;
    size--;
    if (size > 4096)
        memcpy(image, data, size < BYTES ? size : BYTES);
    for (; size >= 10; data += 10, size -= 10) {
        uint16_t at;
        uint64_t value;
        memcpy(&at, data, sizeof(at));
        memcpy(&value, data + 2, sizeof(value));
        /* Most are pointers into the image, or nearly one. */
        if (value % 4 != 0)
            value = ADDRESS + value % BYTES / 8 * 8;
        put(at % (BYTES - 8), value);
    }
    read_stack();
    read_stack();
    return 0;
}
