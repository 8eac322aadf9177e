/* SPDX-License-Identifier: MIT
 *
 * Computes beside threads of the kernel's: io_uring's polling thread, and a
 * worker that clears memory (IOSQE_ASYNC gives an entry to a worker).  Writes
 * the CPU time of all threads but its own, in ns.
 * Arguments: seconds, and "killed" to die of SIGKILL instead of ending.  Exit
 * status 77: the kernel has no io_uring, or does not permit it.
 *
 * Runs in: tests. */
#include <linux/io_uring.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS 1000000000ULL
#define MEMORY ((size_t)64 << 20)

static uint64_t now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * NS + (uint64_t)time.tv_nsec;
}

struct ring {
    int fd;
    uint32_t *tail, *mask, *array;
    struct io_uring_sqe *entries;
};

static int make(struct ring *ring, uint32_t flags)
{
    struct io_uring_params params = {.flags = flags, .sq_thread_idle = 60000};
    ring->fd = (int)syscall(SYS_io_uring_setup, 8, &params);
    if (ring->fd < 0)
        return -1;
    char *base =
        mmap(NULL, params.sq_off.array + params.sq_entries * 4,
             PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQ_RING);
    ring->entries =
        mmap(NULL, params.sq_entries * sizeof(*ring->entries),
             PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQES);
    ring->tail = (uint32_t *)(base + params.sq_off.tail);
    ring->mask = (uint32_t *)(base + params.sq_off.ring_mask);
    ring->array = (uint32_t *)(base + params.sq_off.array);
    return base == MAP_FAILED || ring->entries == MAP_FAILED ? -1 : 0;
}

static void submit(struct ring *ring, const struct io_uring_sqe *entry,
                   uint32_t flags)
{
    const uint32_t tail = *ring->tail, at = tail & *ring->mask;
    ring->entries[at] = *entry;
    ring->array[at] = at;
    __atomic_store_n(ring->tail, tail + 1, __ATOMIC_RELEASE);
    syscall(SYS_io_uring_enter, ring->fd, 1, 1, flags, NULL, 0);
}

/* Has a worker bring in the pages of a mapping. */
static void populate(struct ring *ring)
{
    void *memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const struct io_uring_sqe entry = {.opcode = IORING_OP_MADVISE,
                                       .flags = IOSQE_ASYNC,
                                       .addr = (uintptr_t)memory,
                                       .len = MEMORY,
                                       .fadvise_advice =
                                           23 /* MADV_POPULATE_WRITE */};
    submit(ring, &entry, IORING_ENTER_GETEVENTS);
    munmap(memory, MEMORY);
}

int main(int argc, char **argv)
{
    const uint64_t most = (uint64_t)(atof(argv[1]) * (double)NS);
    struct ring polled, worked;
    volatile unsigned long n = 0;
    if (make(&polled, IORING_SETUP_SQPOLL) != 0 || make(&worked, 0) != 0)
        return 77;
    /* The polling thread sleeps until the first entry. */
    submit(&polled, &(struct io_uring_sqe){.opcode = IORING_OP_NOP},
           IORING_ENTER_SQ_WAKEUP);
    for (int i = 0; i < 4; i++)
        populate(&worked);
    while (now(CLOCK_PROCESS_CPUTIME_ID) < 2 * most ||
           now(CLOCK_THREAD_CPUTIME_ID) < most)
        for (int i = 0; i < 100000; i++)
            n++;
    printf("%llu\n", (unsigned long long)(now(CLOCK_PROCESS_CPUTIME_ID) -
                                          now(CLOCK_THREAD_CPUTIME_ID)));
    fflush(stdout);
    if (argc > 2)
        raise(SIGKILL);
    return 0;
}
