/* SPDX-License-Identifier: MIT
 *
 * Layout of the log (jprof-log): what libjprof.so writes and jprof-report
 * reads.  doc/FORMAT.md explains it in words; the assertions at the end of
 * this file fix every size and offset.
 * Runs in: everywhere (types and constants only).
 *
 * All integers are in the byte order of the machine that wrote the log.  All
 * times are nanoseconds of CLOCK_MONOTONIC unless said otherwise. */
#ifndef JP_LOG_H
#define JP_LOG_H

#include <stddef.h>
#include <stdint.h>

#define JP_LOG_MAGIC "JPROFLOG" /* 8 bytes, no NUL */
#define JP_LOG_BYTE_ORDER 0x01020304U
#define JP_LOG_VERSION 3
#define JP_LOG_VERSION_OLD                                                     \
    1 /* the first that is still read: 1 has no `run`,
                                no `base`; 1 and 2 have no AGAIN records */
#define JP_LOG_HEADER_SIZE 4096
#define JP_LOG_ALIGN 4096 /* headers and chunks start on multiples */

#define JP_CHUNK_MAGIC 0x4b43504aU /* "JPCK" on a little-endian machine */
#define JP_CHUNK_MIN 4096U
#define JP_CHUNK_MAX 65536U
#define JP_CHUNK_HEADER_SIZE 64

/* The clocks that interrupt the threads.  A clock's number in the log is its
 * line here, so new ones go to the end.  Then come its name for JP_CLOCK ("":
 * it cannot be chosen), its word in the summary, and its description for
 * people. */
#define JP_CLOCKS(X)                                                           \
    X(NONE, "auto", "none", "no timer, raised signals only")                   \
    X(THREAD_CPU, "timer", "thread-cpu", "CPU time, a timer per thread")       \
    X(MONOTONIC, "", "monotonic", "real time, a timer per thread")             \
    X(RTC, "", "rtc", "real time, /dev/rtc")                                   \
    X(PERF, "perf", "perf", "CPU time, the perf clock per thread")             \
    X(ITIMER, "itimer", "itimer", "CPU time, one timer for the process")       \
    X(HRTIMER, "hrtimer", "hrtimer",                                           \
      "CPU time, a high-resolution timer per thread")

#define JP_CLOCK_ID(id, name, word, text) JP_CLOCK_##id,
enum jp_clock { JP_CLOCKS(JP_CLOCK_ID) JP_CLOCK_COUNT };

/* Which walker collected the stacks. */
enum jp_walker {
    JP_WALKER_FP = 0,    /* frame pointers */
    JP_WALKER_LIBUNWIND, /* libunwind's unw_step */
    JP_WALKER_CFI,       /* call-frame information only */
    JP_WALKER_AUTO,      /* call-frame information where code has it, frame
                               pointers where it has none (JIT code) */
    JP_WALKER_COUNT
};

/* What a sample stands for. */
enum jp_event {
    JP_EVENT_CPU = 0,      /* weight is CPU time of the thread */
    JP_EVENT_WALL_RUNNING, /* real time, the thread was on the CPU */
    JP_EVENT_WALL_BLOCKED, /* real time, the thread was waiting */
    JP_EVENT_RAISED,       /* a signal from outside; weight is one period */
    JP_EVENT_WALL_READY,   /* real time, the thread waited for a CPU */
    JP_EVENT_COUNT
};

/* A thread's time from its last sample to its end is in another sample of that
 * stack, with the same time, or with one so much later where the thread is
 * known to have waited elsewhere since. */
#define JP_REST_GUESSED_NS 1000U

/* A tick of a log's start_ticks, in ns of the boot clock: USER_HZ is 100 on all
 * machines that jprof knows (proc(5), starttime). */
#define JP_LOG_TICK_NS 10000000U

/* Why the walk of a stack ended. */
enum jp_reason {
    JP_REASON_ROOT = 0, /* the thread's outermost frame was reached */
    JP_REASON_DEPTH,    /* deeper than the limit: truncated */
    JP_REASON_BAD_FP,   /* the frame pointer led nowhere plausible */
    JP_REASON_NO_RULE,  /* no unwinding rule for a code address */
    JP_REASON_BOUNDS,   /* a frame lies outside the stack */
    JP_REASON_NO_STACK, /* the stack of this thread could not be found */
    JP_REASON_WALKER,   /* libunwind could not go on */
    JP_REASON_FIBER,    /* complete: the outermost frame of a stack that the
                           program made and that leads to no other; or
                           the thread's, without the callers that the
                           language has on a stack of its own */
    JP_REASON_COUNT
};

/* Counters in the header, by index.  All count events of the whole process
 * since profiling was first started in it. */
enum jp_counter {
    JP_COUNT_LOST_STALE = 0,  /* timer signals whose thread had ended */
    JP_COUNT_LOST_REENTRANT,  /* signals inside the handler itself */
    JP_COUNT_LOST_RESERVED,   /* never counted; the place is kept */
    JP_COUNT_LOST_NO_LOG,     /* samples after the log could not be made */
    JP_COUNT_LOST_NO_SPACE,   /* samples for which no chunk could be had */
    JP_COUNT_LOST_NO_MEMORY,  /* samples for which no buffer could be had */
    JP_COUNT_LOST_NO_SLOT,    /* signals in threads for which the table of
                                 threads had no record left */
    JP_COUNT_LOST_NS,         /* weight of all lost samples, ns */
    JP_COUNT_NO_TIMER,        /* threads whose timer the kernel refused */
    JP_COUNT_MAP_LOST,        /* map events that could not be written */
    JP_COUNT_RING_REUSED,     /* chunks of a ring that were overwritten */
    JP_COUNT_MAPS_SCANS,      /* scans of /proc/self/maps (not a loss) */
    JP_COUNT_RULE_HITS,       /* frames whose unwinding rule was cached, */
    JP_COUNT_RULE_MISSES,     /* and rules that had to be made (no losses) */
    JP_COUNT_NO_PERF,         /* threads whose perf clock was refused */
    JP_COUNT_NO_WAKER,        /* real time: threads that are sampled at the full
                                 rate while they wait, since the kernel refused
                                 the timer that tells when they run again */
    JP_COUNT_LOWERED,         /* samples taken at a lower rate than was asked
                                 for, to bound the handler's time, */
    JP_COUNT_LOWERED_NS,      /* and their weight, ns (no losses) */
    JP_COUNT_NO_TIMER_FILTER, /* threads whose timer a seccomp filter of the
                                 program forbids, which was there before them */
    JP_COUNT_NO_PERF_FILTER,  /* the same for the perf clock */
    JP_COUNT_LOOKING_NS,      /* real time: CPU time that jprof's signals took
                                 in waiting threads, ns (no loss) */
    JP_COUNT_LOST_MARKS,      /* marks of the program's that found no place in
                                 the log (no lost samples) */
    JP_COUNT_EDGES_NS,        /* CPU time of threads before their clocks began
                                 and after these ended, ns (no loss) */
    JP_COUNT_UNSEEN,          /* threads to which no signal came while they
                                 ran, of their own clock or their process's: one
                                 sample has their CPU time, at the function that
                                 they began with */
    JP_COUNT_MAKING_NS,       /* clocks of CPU time: what jprof itself used to
                                 make the log and threads' first samples, ns;
                                 no sample stands for it (no loss) */
    JP_COUNT_KERNEL_NS,       /* CPU time of threads that run kernel code alone
                                 and cannot be sampled, ns (no loss) */
    JP_COUNT_COUNT
};

/* Why a process's profile ended before the process did. */
enum jp_off {
    JP_OFF_NONE = 0,
    JP_OFF_FILTER, /* a seccomp filter behind which it cannot go on */
    /* It executed a program that cannot write to the log's folder: */
    JP_OFF_READONLY,     /* which is read-only (EROFS), */
    JP_OFF_OUT_OF_SIGHT, /* which is not there (ENOENT), */
    JP_OFF_FORBIDDEN,    /* or not permitted to it */
    JP_OFF_COUNT
};

#define JP_LOG_OPTION_CIRCULAR 0x1U /* chunks are reused: ring_bytes */
#define JP_LOG_OPTION_APPEND 0x2U   /* JP_APPEND was given */
#define JP_LOG_OPTION_REALTIME 0x4U /* JP_REALTIME was given */
#define JP_LOG_OPTION_RTC 0x8U      /* JP_RTC_HZ was given */

/* The header of a run, at a multiple of JP_LOG_ALIGN.  With JP_APPEND a file
 * has several runs. */
struct jp_log_header {
    char magic[8];         /* JP_LOG_MAGIC */
    uint32_t byte_order;   /* JP_LOG_BYTE_ORDER as the writer stores it */
    uint16_t version;      /* JP_LOG_VERSION */
    uint16_t header_size;  /* JP_LOG_HEADER_SIZE */
    uint16_t machine;      /* ELF e_machine of the program */
    uint8_t address_size;  /* bytes of a code address: 8 */
    uint8_t build_id_size; /* bytes used in build_id, 0 when unknown */
    uint32_t page_size;    /* bytes */
    uint32_t pid;          /* getpid() of the program */
    uint32_t proc_pid;     /* its pid as /proc names it, 0 when unknown */
    uint64_t start_ticks;  /* field 22 of /proc/self/stat */
    uint64_t mono_ns;      /* the three clocks, read together */
    uint64_t real_ns;
    uint64_t boot_ns;
    uint64_t period_ns;    /* asked for */
    uint32_t clock;        /* enum jp_clock */
    uint32_t walker;       /* enum jp_walker */
    uint32_t options;      /* JP_LOG_OPTION_* */
    uint32_t depth;        /* most frames in a stack */
    uint64_t ring_bytes;   /* JP_CIRCULAR, 0 without */
    uint64_t cleared_ns;   /* samples before this time do not count */
    uint8_t build_id[32];  /* of the executable */
    uint8_t boot_id[16];   /* /proc/sys/kernel/random/boot_id, or zeros */
    uint64_t counters[64]; /* enum jp_counter; the rest is zero */
    char map_name[256];    /* file name of the map, in the log's folder */
    char exe[1024];        /* path of the executable, NUL-terminated */
    char flags[1024];      /* JPROF_FLAGS, NUL-terminated, cut if longer */
    /* owner_*, in a file's first header: the process that writes to the file
     * now, with JP_APPEND another one than the first run's. */
    uint32_t owner_pid;     /* its proc_pid */
    uint32_t reserved_pid;  /* zero */
    uint64_t owner_ticks;   /* its start_ticks */
    uint64_t cpu_ns;        /* CPU time of the process, */
    uint64_t children_ns;   /* and of the children that it waited for, */
    uint64_t cpu_read_ns;   /* both as of this time */
    uint64_t cpu_before_ns; /* CPU time when its profile could begin */
    uint32_t root_pid;      /* of the tree's first process */
    uint32_t off;           /* enum jp_off */
    char tree_name[256];    /* file name of the tree's file, beside the log */
    uint32_t owner_space;   /* inode of its pid namespace, 0 when unknown */
    uint32_t owner_time_space; /* inode of its time namespace, likewise */
    uint32_t owner_inner;      /* its pid in its pid namespace */
    uint32_t owner_ended;      /* not 0: it will not write to the file again */
    uint32_t cpu_ended;        /* not 0: cpu_ns was read at the profile's end */
    uint32_t root_space;       /* of root_pid: inode of its pid namespace, */
    uint64_t root_ticks;       /* and its start_ticks; 0: unknown */
    uint64_t last_area;        /* in the file's first header: where the last
                                  shared area of programs that were executed out
                                  of the folder's sight begins; 0: none */
    uint8_t reserved[752];     /* zero */
    uint64_t base_run;         /* in a run in another process's log: the offset,
                                 plus 1, of the header of the run that it
                                 branched off from; else 0 */
    uint64_t forked_ns;        /* when it did: what that run's map says about
                                 code until then holds for this run, too */
    uint8_t reserved_end[8];   /* zero */
};

/* Starts a chunk.  Records follow at JP_CHUNK_HEADER_SIZE. */
struct jp_chunk_header {
    uint32_t magic;     /* JP_CHUNK_MAGIC, stored last */
    uint32_t size;      /* bytes with this header, multiple of 4096 */
    uint64_t seq;       /* 1, 2, 3... in order of allocation */
    uint64_t offset;    /* of this chunk in the file */
    uint64_t opened_ns; /* when it was allocated */
    uint32_t pid;       /* of the process that writes it */
    uint32_t tid;       /* of the thread that allocated it */
    uint64_t run;       /* offset of its run's header, plus 1; 0: the last
                           header before it (version 1) */
    uint8_t reserved[16];
};

/* Every record starts with this word, which is stored last, with release
 * order: a record whose word is zero was never finished, and ends the chunk. */
struct jp_record {
    uint8_t type;   /* enum jp_record_type */
    uint8_t info;   /* by type */
    uint16_t words; /* size of the record in units of 8 bytes */
};

enum jp_record_type {
    JP_RECORD_STACK = 1,
    JP_RECORD_SAMPLE = 2,
    JP_RECORD_TEXT = 3,
    JP_RECORD_MARK = 4,
    JP_RECORD_AGAIN = 5
};

/* What the program says of a moment (include/jprof.h). */
enum jp_mark_kind {
    JP_MARK_POINT = 0,  /* jprof_mark */
    JP_MARK_SPAN_BEGIN, /* jprof_span_begin */
    JP_MARK_SPAN_END,   /* jprof_span_end */
    JP_MARK_KIND_COUNT
};

#define JP_MARK_NAME_MAX 255 /* bytes of a name; longer ones are cut */

/* A distinct stack of this chunk.  The whole stack, leaf first, consists of
 * the `count` frames that follow, and then of the last `shared` frames of the
 * whole stack of the record at `base`.  A frame is a code address: first the
 * interrupted one, then return addresses, which readers look up minus one.  An
 * address above a signal's frame, which is no return address, is stored plus
 * one. */
struct jp_stack_record {
    struct jp_record head; /* info: 0; words: 2 + count */
    uint16_t count;        /* frames in this record */
    uint16_t shared;       /* root-most frames taken from base */
    uint16_t base;         /* offset in the chunk / 8 of an earlier STACK
                                 record, 0 when shared is 0 */
    uint16_t gap;          /* frames were left out before the frame with
                                 this index (leaf = 0); 0: none were */
    uint32_t reserved;
    uint64_t frames[];
};

/* One sample. */
struct jp_sample_record {
    struct jp_record head; /* info: event | reason << 4; words: 3 */
    uint32_t tid;
    uint64_t time_ns;
    uint64_t weight_stack; /* low 48 bits: weight in ns; high 16: offset in
                                 the chunk / 8 of its STACK record, 0: none */
};

/* One sample of a thread whose stack is that of an earlier one of its own in
 * the chunk. */
struct jp_again_record {
    struct jp_record head; /* info: event | reason << 4; words: 2 */
    uint16_t sample;       /* offset in the chunk / 8 of that SAMPLE record */
    uint8_t time_high, weight_high; /* bits 32 to 39 of: */
    uint32_t time;                  /* ns since the chunk's opened_ns, */
    uint32_t weight;                /* and the weight in ns */
};

#define JP_AGAIN_MAX ((1ULL << 40) - 1)

/* A line of the map that could not be written there. */
struct jp_text_record {
    struct jp_record head; /* info: 0 */
    uint32_t length;       /* bytes of text; what follows is zero */
    char text[];           /* without a newline */
};

/* A mark: the program gave a moment a name. */
struct jp_mark_record {
    struct jp_record head; /* info: enum jp_mark_kind */
    uint32_t tid;          /* of the thread that gave it */
    uint64_t time_ns;
    uint32_t length; /* bytes of the name, 1 to JP_MARK_NAME_MAX; what follows
                          is zero */
    char name[];
};

#define JP_MARK_RECORD_SIZE offsetof(struct jp_mark_record, name)

#define JP_SAMPLE_EVENT(info) ((info)&0xf)
#define JP_SAMPLE_REASON(info) ((info) >> 4)
#define JP_SAMPLE_INFO(event, reason) ((uint8_t)((event) | (reason) << 4))
#define JP_SAMPLE_WEIGHT_MAX ((1ULL << 48) - 1)
#define JP_SAMPLE_WEIGHT(ws) ((ws)&JP_SAMPLE_WEIGHT_MAX)
#define JP_SAMPLE_STACK(ws) ((uint16_t)((ws) >> 48))
#define JP_SAMPLE_PACK(weight, stack) ((weight) | (uint64_t)(stack) << 48)

_Static_assert(sizeof(struct jp_log_header) == JP_LOG_HEADER_SIZE, "header");
_Static_assert(offsetof(struct jp_log_header, machine) == 16, "machine");
_Static_assert(offsetof(struct jp_log_header, pid) == 24, "pid");
_Static_assert(offsetof(struct jp_log_header, start_ticks) == 32, "start");
_Static_assert(offsetof(struct jp_log_header, mono_ns) == 40, "mono");
_Static_assert(offsetof(struct jp_log_header, period_ns) == 64, "period");
_Static_assert(offsetof(struct jp_log_header, clock) == 72, "clock");
_Static_assert(offsetof(struct jp_log_header, ring_bytes) == 88, "ring");
_Static_assert(offsetof(struct jp_log_header, build_id) == 104, "build-id");
_Static_assert(offsetof(struct jp_log_header, boot_id) == 136, "boot id");
_Static_assert(offsetof(struct jp_log_header, counters) == 152, "counters");
_Static_assert(offsetof(struct jp_log_header, map_name) == 664, "map name");
_Static_assert(offsetof(struct jp_log_header, exe) == 920, "exe");
_Static_assert(offsetof(struct jp_log_header, flags) == 1944, "flags");
_Static_assert(offsetof(struct jp_log_header, owner_pid) == 2968, "owner");
_Static_assert(offsetof(struct jp_log_header, owner_ticks) == 2976, "owner");
_Static_assert(offsetof(struct jp_log_header, cpu_ns) == 2984, "cpu");
_Static_assert(offsetof(struct jp_log_header, root_pid) == 3016, "root");
_Static_assert(offsetof(struct jp_log_header, tree_name) == 3024, "tree");
_Static_assert(offsetof(struct jp_log_header, owner_space) == 3280, "owner");
_Static_assert(offsetof(struct jp_log_header, root_space) == 3300, "root");
_Static_assert(offsetof(struct jp_log_header, base_run) == 4072, "base");
_Static_assert(JP_COUNT_COUNT <= 64, "counters");
_Static_assert(sizeof(struct jp_chunk_header) == JP_CHUNK_HEADER_SIZE,
               "chunk header");
_Static_assert(offsetof(struct jp_chunk_header, pid) == 32, "chunk pid");
_Static_assert(offsetof(struct jp_chunk_header, run) == 40, "chunk run");
_Static_assert(sizeof(struct jp_record) == 4, "record word");
_Static_assert(sizeof(struct jp_stack_record) == 16, "stack record");
_Static_assert(sizeof(struct jp_sample_record) == 24, "sample record");
_Static_assert(sizeof(struct jp_again_record) == 16, "again record");
_Static_assert(sizeof(struct jp_text_record) == 8, "text record");
_Static_assert(JP_MARK_RECORD_SIZE == 20, "mark record");

#endif
