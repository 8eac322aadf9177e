/* SPDX-License-Identifier: MIT
 *
 * Whether a debugger or a tracer is at the process.
 * Runs in: handler. */
#include "traced.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>

#include "sig/os/sys.h"

#define AGAIN_NS UINT64_C(1000000000)

static _Atomic uint64_t asked_ns;
static _Atomic int traced;

/* The field is the file's eighth (proc_pid_status(5)), behind a name of up to
 * 64 bytes and seven numbers. */
static int ask_sig(void)
{
    static const char field[] = "\nTracerPid:\t";
    char text[256];
    const int fd = jp_sys_open_sig("/proc/self/status", O_RDONLY, 0);
    if (fd < 0)
        return 0;
    const long got = jp_sys_read_sig(fd, text, sizeof(text));
    jp_sys_close_sig(fd);
    const long length = sizeof(field) - 1;
    for (long i = 0; i + length < got; i++) {
        if (memcmp(text + i, field, (size_t)length) == 0)
            return text[i + length] != '0';
    }
    return 0;
}

int jp_traced_sig(uint64_t now_ns)
{
    uint64_t last = atomic_load(&asked_ns);
    if (now_ns - last >= AGAIN_NS &&
        atomic_compare_exchange_strong(&asked_ns, &last, now_ns))
        atomic_store(&traced, ask_sig());
    return atomic_load(&traced);
}
