/* SPDX-License-Identifier: MIT
 *
 * Recognising CPython and its version in a mapped file.
 * Runs in: handler, any thread. */
#include "python_version.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "image.h"
#include "jp_map.h"
#include "names.h"
#include "sig/code/procmaps.h"
#include "sig/files/mapfile.h"
#include "sig/os/sys.h"
#include "sig/os/text.h"

#define FIRST 8U /* the minor version of the table's first row */
static const struct jp_python_layout layouts[] = {
#include "python_layouts.h"
};
#define LAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

struct jp_python jp_python;

const struct jp_python_layout *jp_python_layout_sig(uint32_t minor)
{
    return minor - FIRST < LAYOUTS ? &layouts[minor - FIRST] : NULL;
}

/* The version as PY_VERSION_HEX has it; of those before 3.11, which export no
 * such word, the minor version alone, by functions that came with it (What's
 * New in Python 3.8, 3.9 and 3.10, "New Features" of the C API); 0: older. */
static uint32_t version_sig(const struct jp_image *image)
{
    static const char *const added[] = {"PyCode_NewWithPosOnlyArgs",
                                        "PyFrame_GetCode",
                                        "PyModule_AddObjectRef"};
    const uint64_t at = jp_image_find_sig(image, "Py_Version", NULL);
    uint64_t value;
    if (at != 0 && jp_image_read_sig(at, &value, sizeof(value)))
        return (uint32_t)value;
    uint32_t minor = 0;
    for (uint32_t i = 0; i < sizeof(added) / sizeof(added[0]); i++) {
        if (jp_image_find_sig(image, added[i], NULL) != 0)
            minor = FIRST + i;
    }
    return minor != 0 ? 0x03000000U | minor << 16 : 0;
}

/* Whether a type object is one, of a build whose objects have no further
 * fields in front (Py_TRACE_REFS, free threading): its own type is
 * PyType_Type, whose type is itself. */
static int is_type_sig(uint64_t type)
{
    uint64_t head[2], meta[2];
    return jp_image_read_sig(type, head, sizeof(head)) &&
           jp_image_read_sig(head[1], meta, sizeof(meta)) && meta[1] == head[1];
}

/* Compares the layout with the runtime's own description, which 3.13 and later
 * have (_Py_DebugOffsets in pycore_runtime.h).  Its words are a cookie, the
 * version, free_threaded, two of the runtime, the interpreters' offset, two of
 * an interpreter, and the offsets of its `next` and its threads. */
static int agrees_sig(const struct jp_python *python, uint32_t version)
{
    uint64_t words[10];
    if (python->minor < 13)
        return 1;
    return jp_image_read_sig(python->runtime, words, sizeof(words)) &&
           memcmp(words, "xdebugpy", 8) == 0 && (uint32_t)words[1] == version &&
           words[2] == 0 && words[5] == python->layout->interpreters &&
           words[8] == python->layout->interpreter_next &&
           words[9] == python->layout->threads;
}

/* Writes which version it is, and whether its functions are read. */
static void tell_sig(uint32_t version, int known)
{
    static char buffer[JP_MAPFILE_SHORT]; /* one scan at a time */
    struct jp_text text;
    jp_text_init_sig(&text, buffer, sizeof(buffer));
    jp_mapfile_line_sig(&text, jp_sys_clock_sig(CLOCK_MONOTONIC),
                        JP_MAP_RUNTIME);
    jp_mapfile_string_sig(&text, "name", "CPython");
    if (version != 0) {
        jp_mapfile_key_sig(&text, "version");
        jp_text_decimal_sig(&text, version >> 24);
        jp_text_char_sig(&text, '.');
        jp_text_decimal_sig(&text, version >> 16 & 0xff);
        if ((version & 0xffff) != 0) {
            jp_text_char_sig(&text, '.');
            jp_text_decimal_sig(&text, version >> 8 & 0xff);
        }
    }
    jp_mapfile_decimal_sig(&text, "known", (uint64_t)known);
    jp_mapfile_append_sig(&text);
}

void jp_python_recognise_sig(const struct jp_image *image,
                             const struct jp_vma *vma)
{
    struct jp_python python = {.low = vma->start, .high = vma->end};
    uint64_t size = 0;
    python.runtime = jp_image_find_sig(image, "_PyRuntime", NULL);
    python.code_type = jp_image_find_sig(image, "PyCode_Type", NULL);
    python.text_type = jp_image_find_sig(image, "PyUnicode_Type", NULL);
    python.runs_low =
        jp_image_find_sig(image, "_PyEval_EvalFrameDefault", &size);
    python.runs_high = python.runs_low + size;
    if (python.runtime == 0 || python.code_type == 0 || python.text_type == 0 ||
        python.runs_low == 0)
        return;
    const uint32_t version = version_sig(image);
    python.minor = version >> 16 & 0xff;
    python.layout = jp_python_layout_sig(python.minor);
    const int known = version >> 24 == 3 && python.layout != NULL &&
                      is_type_sig(python.code_type) &&
                      agrees_sig(&python, version) &&
                      jp_script_names_init_sig() == 0;
    tell_sig(version, known);
    /* (A process has one interpreter; a scan may find it again.) */
    if (!known || jp_python.high != 0)
        return;
    const uint64_t high = python.high;
    python.high = python.low;
    jp_python = python;
    atomic_thread_fence(memory_order_release);
    jp_python.high = high;
}

int jp_python_has_code_sig(uint64_t address)
{
    return address - jp_python.low < jp_python.high - jp_python.low;
}

int jp_python_runs_sig(uint64_t address)
{
    return jp_python.minor < 10 && address - jp_python.runs_low <
                                       jp_python.runs_high - jp_python.runs_low;
}
