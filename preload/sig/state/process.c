/* SPDX-License-Identifier: MIT
 *
 * The process's shared state, its counters and the line on stderr.
 * Runs in: handler, any thread. */
#include "process.h"

#include <errno.h>
#include <stddef.h>

#include "sig/os/sys.h"
#include "sig/os/text.h"

struct jp_config jp_config;
struct jp_owner *jp_owner;
const struct jp_clock_kind jp_clock_none;
struct jp_process jp_process = {.clock = &jp_clock_none};

static uint64_t counters_before_log[JP_COUNT_COUNT];
static uint64_t *_Atomic counters = counters_before_log;

void jp_count_sig(unsigned counter, uint64_t amount)
{
    uint64_t *array = atomic_load(&counters);
    __atomic_fetch_add(&array[counter], amount, __ATOMIC_RELAXED);
}

void jp_counters_use_sig(uint64_t *array)
{
    if (array == NULL) {
        atomic_store(&counters, counters_before_log);
        for (unsigned i = 0; i < JP_COUNT_COUNT; i++)
            counters_before_log[i] = 0;
        return;
    }
    atomic_store(&counters, array);
    for (unsigned i = 0; i < JP_COUNT_COUNT; i++) {
        uint64_t before =
            __atomic_exchange_n(&counters_before_log[i], 0, __ATOMIC_RELAXED);
        __atomic_fetch_add(&array[i], before, __ATOMIC_RELAXED);
    }
}

const char *jp_error_text_sig(int error)
{
    static const struct {
        int error;
        const char *text;
    } texts[] = {
        {EACCES, "permission denied"},
        {EAGAIN, "out of resources (see ulimit -i)"},
        {EDQUOT, "disk quota exceeded"},
        {EEXIST, "the file exists"},
        {EFBIG, "file size limit reached"},
        {EINVAL, "invalid argument"},
        {EIO, "input/output error"},
        {ELOOP, "it is a symbolic link"},
        {EMFILE, "too many open files"},
        {ENAMETOOLONG, "file name too long"},
        {ENOENT, "no such file or directory"},
        {ENOMEM, "out of memory"},
        {ENOSPC, "no space left"},
        {ENOTDIR, "not a directory"},
        {EPERM, "operation not permitted"},
        {ESTALE, "it was removed or replaced"},
        {EROFS, "read-only file system"},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (texts[i].error == error)
            return texts[i].text;
    }
    return NULL;
}

void jp_complain_sig(const char *a, const char *b, int error)
{
    char buffer[512];
    struct jp_text text;
    jp_text_init_sig(&text, buffer, sizeof(buffer) - 1);
    jp_text_add_sig(&text, "jprof: ");
    jp_text_add_sig(&text, a);
    if (b != NULL)
        jp_text_add_sig(&text, b);
    if (error != 0) {
        const char *known = jp_error_text_sig(error);
        jp_text_add_sig(&text, ": ");
        jp_text_add_sig(&text, known != NULL ? known : "error ");
        if (known == NULL)
            jp_text_decimal_sig(&text, (uint64_t)error);
    }
    /* A folder's name must not steer the terminal. */
    for (size_t i = 0; i < text.length; i++) {
        if (buffer[i] < ' ' || buffer[i] > '~')
            buffer[i] = '?';
    }
    buffer[text.length] = '\n';
    jp_sys_write_sig(2, buffer, text.length + 1);
}
