/* SPDX-License-Identifier: MIT
 *
 * A program with run-time generated code and jitdumps:
 *     dumper CPU_SECONDS KIND:PATH...
 * For each PATH it puts a function into executable memory, describes it as
 * `dumped_N` in a jitdump there (maps the file executable as a marker and
 * writes a LOAD record), and divides the time among the functions.  KIND:
 *     plain    written at once; at the end another record, then unmapped
 *     late     mapped while empty, written after half of the time
 *     brief    mapped after half of the time, and unmapped soon after
 *     unlink   removed as soon as it is mapped
 *     removed  removed after half of the time
 *     replaced another file is put in its place after half of the time
 *     swapped  plain, in the other byte order
 *     map      a perf map instead
 *     remap    a perf map, replaced by another after half of the time
 * In PATH a `%p` is the pid in /proc/self, which is the one of an outer pid
 * namespace where /proc is.  What a dump held at the end is written to
 * PATH.all, but for those of perf maps.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* void code(uint64_t turns): counts down, with a frame pointer. */
#if defined(__x86_64__)
static const uint8_t code[] = {0x55,             /* push %rbp */
                               0x48, 0x89, 0xe5, /* mov %rsp,%rbp */
                               0x48, 0x89, 0xf9, /* mov %rdi,%rcx */
                               0x48, 0xff, 0xc9, /* dec %rcx */
                               0x75, 0xfb,       /* jne to the dec */
                               0x5d,             /* pop %rbp */
                               0xc3};            /* ret */
#define MACHINE 62
#elif defined(__aarch64__)
static const uint32_t code[] = {0xa9bf7bfd,  /* stp x29,x30,[sp,#-16]! */
                                0x910003fd,  /* mov x29,sp */
                                0xf1000400,  /* subs x0,x0,#1 */
                                0x54ffffe1,  /* b.ne to the subs */
                                0xa8c17bfd,  /* ldp x29,x30,[sp],#16 */
                                0xd65f03c0}; /* ret */
#define MACHINE 183
#endif

#define APART 8192
#define FILES_MAX 40
#define SOON 0.05 /* seconds of CPU time */

static struct file {
    const char *kind;
    char path[512];
    int fd, swapped;
    void *marker;
    char *memory;
    char all[4096];
    size_t length;
} files[FILES_MAX];

static void put(struct file *file, const void *data, size_t size)
{
    if (write(file->fd, data, size) != (ssize_t)size)
        die(file->path);
    memcpy(file->all + file->length, data, size);
    file->length += size;
}

static void number(struct file *file, uint64_t value, size_t size)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < size; i++)
        bytes[file->swapped ? size - 1 - i : i] = (uint8_t)(value >> 8 * i);
    put(file, bytes, size);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void header(struct file *file)
{
    number(file, 0x4a695444, 4);
    number(file, 1, 4);
    number(file, 40, 4);
    number(file, MACHINE, 4);
    number(file, 0, 4);
    number(file, (uint64_t)getpid(), 4);
    number(file, now_ns(), 8);
    number(file, 0, 8);
}

static void load(struct file *file, const char *name, const char *at)
{
    size_t total = 16 + 40 + strlen(name) + 1 + sizeof(code);
    number(file, 0, 4);
    number(file, total, 4);
    number(file, now_ns(), 8);
    number(file, (uint64_t)getpid(), 4);
    number(file, (uint64_t)getpid(), 4);
    number(file, (uint64_t)at, 8);
    number(file, (uint64_t)at, 8);
    number(file, sizeof(code), 8);
    number(file, 1, 8);
    put(file, name, strlen(name) + 1);
    put(file, code, sizeof(code));
}

static void describe(struct file *file)
{
    char name[32];
    snprintf(name, sizeof(name), "dumped_%d", (int)(file - files));
    header(file);
    load(file, name, file->memory);
}

static int is(const struct file *file, const char *kind)
{
    return strcmp(file->kind, kind) == 0;
}

static int is_map(const struct file *file)
{
    return is(file, "map") || is(file, "remap");
}

static void write_map(const struct file *file, const char *path)
{
    FILE *map = fopen(path, "w");
    if (map == NULL)
        die(path);
    fprintf(map, "%lx %zx dumped_%d\n", (long)file->memory, sizeof(code),
            (int)(file - files));
    fclose(map);
}

static void make(struct file *file)
{
    if (is_map(file)) {
        write_map(file, file->path);
        return;
    }
    file->swapped = is(file, "swapped");
    file->fd = open(file->path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (file->fd < 0)
        die(file->path);
    file->marker =
        mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file->fd, 0);
    if (file->marker == MAP_FAILED)
        die("mmap");
    if (is(file, "unlink"))
        unlink(file->path);
    if (!is(file, "late"))
        describe(file);
}

static void begin(struct file *file)
{
    if (!is(file, "brief"))
        make(file);
}

static void replace(const struct file *file)
{
    char path[600];
    snprintf(path, sizeof(path), "%s.new", file->path);
    if (is_map(file)) {
        write_map(file, path);
    } else {
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        if (fd < 0 || write(fd, "another\n", 8) != 8 || close(fd) != 0)
            die(path);
    }
    if (rename(path, file->path) != 0)
        die(path);
}

static void half(struct file *file)
{
    if (is(file, "brief"))
        make(file);
    else if (is(file, "late"))
        describe(file);
    else if (is(file, "removed"))
        unlink(file->path);
    else if (is(file, "replaced") || is(file, "remap"))
        replace(file);
}

static void soon_after(struct file *file)
{
    if (is(file, "brief"))
        munmap(file->marker, 4096);
}

/* As a runtime at its own end, before the process's destructors. */
static void end(struct file *file)
{
    char path[600];
    if (is_map(file))
        return;
    load(file, "never_run", file->memory + APART / 2);
    if (!is(file, "brief"))
        munmap(file->marker, 4096);
    close(file->fd);
    snprintf(path, sizeof(path), "%s.all", file->path);
    file->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file->fd < 0 ||
        write(file->fd, file->all, file->length) != (ssize_t)file->length)
        die(path);
    close(file->fd);
}

NOINLINE void run_code(int count, double until);

void run_code(int count, double until)
{
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < until) {
        for (int i = 0; i < count; i++) {
            void (*function)(uint64_t);
            *(void **)&function = files[i].memory;
            function(1000000);
        }
    }
    BARRIER();
}

static void parse(struct file *file, char *word)
{
    char *colon = strchr(word, ':'), *mark, link[32] = "";
    if (colon == NULL)
        die(word);
    *colon++ = '\0';
    file->kind = word;
    mark = strstr(colon, "%p");
    if (mark != NULL) {
        if (readlink("/proc/self", link, sizeof(link) - 1) < 0)
            die("/proc/self");
        *mark = '\0';
        mark += 2;
    }
    snprintf(file->path, sizeof(file->path), "%s%s%s", colon, link,
             mark != NULL ? mark : "");
}

int main(int argc, char **argv)
{
    const double seconds = argument(argc, argv, 1, 1);
    const int count = argc - 2 < FILES_MAX ? argc - 2 : FILES_MAX;
    char *memory = mmap(NULL, FILES_MAX * APART, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        die("mmap");
    for (int i = 0; i < count; i++) {
        files[i].memory = memory + (size_t)i * APART;
        memcpy(files[i].memory, code, sizeof(code));
    }
    if (mprotect(memory, FILES_MAX * APART, PROT_READ | PROT_EXEC) != 0)
        die("mprotect");
    __builtin___clear_cache(memory, memory + FILES_MAX * APART);
    for (int i = 0; i < count; i++) {
        parse(&files[i], argv[i + 2]);
        begin(&files[i]);
    }
    printf("pid %d\n", (int)getpid());
    fflush(stdout);
    run_code(count, seconds / 2);
    for (int i = 0; i < count; i++)
        half(&files[i]);
    run_code(count, seconds / 2 + SOON);
    for (int i = 0; i < count; i++)
        soon_after(&files[i]);
    run_code(count, seconds);
    for (int i = 0; i < count; i++)
        end(&files[i]);
    return 0;
}
