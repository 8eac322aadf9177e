/* SPDX-License-Identifier: MIT
 *
 * A program with run-time generated code and a perf map:
 *     jitter [CPU_SECONDS=1] [shared|memfd|sysv|deleted|dual|fork|daemon]
 * Maps executable memory, its own or as the second word says (dual: a memfd,
 * once to write and once to run), puts two small functions with frame pointers
 * in it, writes /tmp/perf-PID.map as runtimes do, and spends three quarters of
 * the time in the first function, whose name has what breaks HTML, and one in
 * the second, by turns that differ in length: on some machine equal ones would
 * last as long as a sampling period does.  Prints `pid PID`.  With `fork` it
 * forks then, writes into the map that other code lies there by now, and the
 * child runs what there was.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* void code(uint64_t turns): counts down, with a frame pointer. */
#if defined(__x86_64__)
static const uint8_t code[] = {0x55,             /* push %rbp */
                               0x48, 0x89, 0xe5, /* mov %rsp,%rbp */
                               0x48, 0x89, 0xf9, /* mov %rdi,%rcx */
                               0x48, 0xff, 0xc9, /* dec %rcx */
                               0x75, 0xfb,       /* jne to the dec */
                               0x5d,             /* pop %rbp */
                               0xc3};            /* ret */
#elif defined(__aarch64__)
static const uint32_t code[] = {0xa9bf7bfd,  /* stp x29,x30,[sp,#-16]! */
                                0x910003fd,  /* mov x29,sp */
                                0xf1000400,  /* subs x0,x0,#1 */
                                0x54ffffe1,  /* b.ne to the subs */
                                0xa8c17bfd,  /* ldp x29,x30,[sp],#16 */
                                0xd65f03c0}; /* ret */
#endif

#define APART 256

NOINLINE void run_code(void (*first)(uint64_t), void (*second)(uint64_t),
                       double seconds);

void run_code(void (*first)(uint64_t), void (*second)(uint64_t), double seconds)
{
    uint32_t number = 1;

    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < seconds) {
        number = number * 1103515245 + 12345; /* as C's example of rand() */
        uint64_t turns = 500000 + (number >> 12);
        first(3 * turns);
        second(turns);
    }
    BARRIER();
}

/* Other names, at the same addresses. */
static void write_more(const char *memory)
{
    char path[64];
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
    FILE *map = fopen(path, "a");
    if (map == NULL)
        die(path);
    fprintf(map, "%lx %x of_the_parent_alone\n", (long)memory, 2 * APART);
    fclose(map);
}

static void write_map(const char *memory)
{
    char path[64];
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
    FILE *map = fopen(path, "w");
    if (map == NULL)
        die(path);
    fprintf(map, "%lx %zx JS:*</script>&\"hot\" loop.js:1\n", (long)memory,
            sizeof(code));
    fprintf(map, "0x%lx %zx jit_second\n", (long)(memory + APART),
            sizeof(code));
    fclose(map);
}

/* Memory to write code to, as `way` says; *fd is its file, or -1. */
static char *map_memory(const char *way, int *fd)
{
    char name[] = "/tmp/jitter-XXXXXX";
    int shared = *way && strcmp(way, "fork") != 0 && strcmp(way, "daemon") != 0
                     ? MAP_SHARED
                     : MAP_PRIVATE;
    *fd = -1;
    if (strcmp(way, "sysv") == 0) {
        int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0700);
        char *memory = id < 0 ? MAP_FAILED : shmat(id, NULL, SHM_EXEC);
        shmctl(id, IPC_RMID, NULL);
        return memory;
    }
    if (strcmp(way, "memfd") == 0 || strcmp(way, "dual") == 0)
        *fd = memfd_create("code", MFD_CLOEXEC);
    else if (strcmp(way, "deleted") == 0)
        *fd = mkstemp(name);
    if (*fd >= 0 && (ftruncate(*fd, 4096) != 0 ||
                     (strcmp(way, "deleted") == 0 && unlink(name) != 0)))
        return MAP_FAILED;
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                *fd < 0 ? shared | MAP_ANONYMOUS : shared, *fd, 0);
}

/* Goes on in a child's child, as daemons do, after the first process has
 * removed its map.  Returns whether this is that process. */
static int become_daemon(void)
{
    char path[64];
    struct stat info;
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
    pid_t child = fork();
    if (child < 0)
        die("fork");
    if (child > 0)
        return waitpid(child, NULL, 0) == child && unlink(path) == 0 ? 0 : -1;
    child = fork();
    if (child != 0)
        _exit(child < 0);
    while (stat(path, &info) == 0)
        usleep(1000);
    return 1;
}

int main(int argc, char **argv)
{
    void (*first)(uint64_t), (*second)(uint64_t);
    const char *way = argc > 2 ? argv[2] : "";
    int fd;
    char *memory = map_memory(way, &fd);
    if (memory == MAP_FAILED)
        die("mmap");
    memcpy(memory, code, sizeof(code));
    memcpy(memory + APART, code, sizeof(code));
    if (strcmp(way, "dual") == 0)
        memory = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
    else if (mprotect(memory, 4096, PROT_READ | PROT_EXEC) != 0)
        die("mprotect");
    if (memory == MAP_FAILED)
        die("mmap");
    __builtin___clear_cache(memory, memory + 4096);
    write_map(memory);
    *(void **)&first = memory;
    *(void **)&second = memory + APART;
    printf("pid %d\n", (int)getpid());
    fflush(stdout);
    run_code(first, second, argument(argc, argv, 1, 1));
    if (strcmp(way, "daemon") == 0) {
        const int is_daemon = become_daemon();
        if (is_daemon > 0)
            run_code(first, second, cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + 0.6);
        return is_daemon < 0;
    }
    if (strcmp(way, "fork") == 0) {
        pid_t child = fork();
        if (child < 0)
            die("fork");
        if (child > 0)
            write_more(memory);
        run_code(first, second, cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + 0.6);
        return child > 0 && waitpid(child, NULL, 0) != child;
    }
    return 0;
}
