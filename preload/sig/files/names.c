/* SPDX-License-Identifier: MIT
 *
 * Thread names: a thread asks the kernel for its own; another thread's is read
 * from /proc/self/task/TID/comm.
 * Runs in: handler, any thread. */
#include "names.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "jp_map.h"
#include "mapfile.h"
#include "sig/os/sys.h"
#include "sig/os/text.h"
#include "sig/state/thread.h"

#define EVERY_NS 100000000U

/* Writes the thread's name if it is new. */
static void put_sig(struct jp_thread *thread, const char *name)
{
    char buffer[JP_MAPFILE_SHORT];
    struct jp_text text;
    if (!thread->name.unwritten &&
        strncmp(name, thread->name.text, sizeof(thread->name.text)) == 0)
        return;
    memcpy(thread->name.text, name, sizeof(thread->name.text));
    thread->name.text[sizeof(thread->name.text) - 1] = '\0';
    thread->name.unwritten = 0;
    jp_text_init_sig(&text, buffer, sizeof(buffer));
    jp_mapfile_line_sig(&text, jp_sys_clock_sig(CLOCK_MONOTONIC),
                        JP_MAP_THREAD);
    jp_mapfile_decimal_sig(&text, "tid", thread->tid);
    jp_mapfile_string_sig(&text, "name", thread->name.text);
    jp_mapfile_append_sig(&text);
}

/* Does the same, unless another thread does it for this one just now. */
static void write_sig(struct jp_thread *thread, const char *name)
{
    if (atomic_exchange(&thread->name.busy, 1) != 0)
        return;
    put_sig(thread, name);
    atomic_store(&thread->name.busy, 0);
}

void jp_names_follow_sig(struct jp_thread *thread, uint64_t now_ns)
{
    char name[sizeof(thread->name.text) + 1] = "";
    if ((!thread->name.unwritten &&
         now_ns - thread->name.looked_ns < EVERY_NS) ||
        !jp_mapfile_ready_sig())
        return;
    thread->name.looked_ns = now_ns;
    if (jp_sys_sig(SYS_prctl, PR_GET_NAME, (long)name, 0, 0, 0) == 0)
        write_sig(thread, name);
}

void jp_names_update_sig(struct jp_thread *thread)
{
    char path[48], name[sizeof(thread->name.text) + 1];
    struct jp_text text;
    jp_text_init_sig(&text, path, sizeof(path));
    jp_text_add_sig(&text, "/proc/self/task/");
    jp_text_decimal_sig(&text, thread->tid);
    jp_text_add_sig(&text, "/comm");
    int fd = jp_sys_open_sig(path, O_RDONLY, 0);
    if (fd < 0)
        return;
    long got = jp_sys_read_sig(fd, name, sizeof(thread->name.text));
    jp_sys_close_sig(fd);
    if (got <= 0)
        return;
    name[name[got - 1] == '\n' ? got - 1 : got] = '\0';
    write_sig(thread, name);
}

void jp_names_all_sig(void)
{
    uint32_t count = jp_threads_used_sig();
    for (uint32_t i = 0; i < count; i++) {
        struct jp_thread *thread = jp_thread_at_sig(i);
        if (atomic_load(&thread->state) >= JP_THREAD_IDLE &&
            thread->buffer != NULL)
            jp_names_update_sig(thread);
    }
}
