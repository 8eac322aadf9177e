/* SPDX-License-Identifier: MIT
 *
 * Names and limits that the library, jprof-report, the launcher and the tests
 * share.
 * Runs in: everywhere (constants only). */
#ifndef JP_LIMITS_H
#define JP_LIMITS_H

#define JP_VERSION "0.1.0"

/* Environment. */
#define JP_ENV_FLAGS "JPROF_FLAGS"
/* Set by a process tree's first process for those that it makes:
 * `PID.NAMESPACE:FOLDER`, its pid, the inode of its pid namespace, and its
 * working directory, so that a chdir does not scatter the tree's logs.  A
 * process with another pid or namespace is a child. */
#define JP_ENV_CHILD "JPROF_ISCHILD"

/* File names, as in the original. */
#define JP_LOG_NAME "jprof-log"
#define JP_MAP_NAME "jprof-map"
#define JP_TREE_NAME "jprof-tree"

/* Flags. */
/* Set by the launcher behind JP_FILENAME: `JP_FOLDER_ID=DEVICE:INODE[:PATH]`,
 * in decimal, of the folder that the name is in, and another path to it, with
 * %XX as in JP_FILENAME, for processes that may not go the first.  Nothing is
 * written to another folder. */
#define JP_FLAG_FOLDER "JP_FOLDER_ID"
#define JP_PERIOD_DEFAULT_NS 50000000ULL /* 0.050 s, as in the original */
#define JP_PERIOD_MIN_NS 100000ULL       /* 0.0001 s */
#define JP_PERIOD_MAX_NS 3600000000000ULL
#define JP_RTC_HZ_MIN 2
#define JP_RTC_HZ_MAX 8192
#define JP_RTC_HZ_DEFAULT 2048
#define JP_CIRCULAR_MIN 1000ULL      /* for less, the default is used */
#define JP_CIRCULAR_DEFAULT 10000ULL /* as in the original */
#define JP_CIRCULAR_MAX (1ULL << 40)

/* Frames that are kept of a stack (JP_DEPTH), and at which every walk ends. */
#define JP_DEPTH_DEFAULT 1024
#define JP_DEPTH_MIN 2
#define JP_DEPTH_MAX 4096
#define JP_WALK_MAX 65536

/* Control commands, sent as sigqueue(PID, SIGPROF, value).  The upper bits
 * mark a value as jprof's ("jp", then 0x0c for control). */
#define JP_CONTROL_MAGIC 0x6a700c00
#define JP_CONTROL_MASK 0x7fffff00
enum jp_control {
    JP_CONTROL_START = 1,
    JP_CONTROL_PAUSE = 2,
    JP_CONTROL_CLEAR = 3,
    JP_CONTROL_SAVE = 4
};

/* Bytes that are copied of a JIT file which cannot be linked. */
#define JP_SAVE_MAX (16ULL << 20)

/* Bytes of JIT code that are kept for a process. */
#define JP_CODE_MAX (4ULL << 20)

#endif
