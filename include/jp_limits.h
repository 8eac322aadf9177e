/* SPDX-License-Identifier: MIT
 *
 * Names and limits that both programs, the launcher and the tests rely on.
 * Runs in: everywhere (constants only). */
#ifndef JP_LIMITS_H
#define JP_LIMITS_H

#define JP_VERSION "0.1.0"

/* Environment. */
#define JP_ENV_FLAGS "JPROF_FLAGS"
/* Set by the first process for those it makes: `PID:FOLDER`, its pid and its
 * working directory, so that a chdir does not scatter the logs of a process
 * tree.  Any value marks a child, but for the program with that pid. */
#define JP_ENV_CHILD "JPROF_ISCHILD"

/* File names, as in the original. */
#define JP_LOG_NAME "jprof-log"
#define JP_MAP_NAME "jprof-map"
#define JP_TREE_NAME "jprof-tree"

/* Flags. */
/* The launcher's: `JP_FOLDER_ID=DEVICE:INODE`, in decimal, behind JP_FILENAME:
 * the folder that this name is in.  Nothing is written to another one. */
#define JP_FLAG_FOLDER "JP_FOLDER_ID"
#define JP_PERIOD_DEFAULT_NS 50000000ULL /* 0.050 s, as in the original */
#define JP_PERIOD_MIN_NS 100000ULL       /* 0.0001 s */
#define JP_PERIOD_MAX_NS 3600000000000ULL
#define JP_RTC_HZ_MIN 2
#define JP_RTC_HZ_MAX 8192
#define JP_RTC_HZ_DEFAULT 2048
#define JP_CIRCULAR_MIN 1000ULL      /* below it: */
#define JP_CIRCULAR_DEFAULT 10000ULL /* as in the original */
#define JP_CIRCULAR_MAX (1ULL << 40)

/* Stacks: frames kept of one (JP_DEPTH), and frames looked at in one walk. */
#define JP_DEPTH_DEFAULT 1024
#define JP_DEPTH_MIN 2
#define JP_DEPTH_MAX 4096
#define JP_WALK_MAX 65536

/* Control commands: sigqueue(PID, SIGPROF, value).  The upper bits say that
 * the value is jprof's own ("jp", then 0x0c for control). */
#define JP_CONTROL_MAGIC 0x6a700c00
#define JP_CONTROL_MASK 0x7fffff00
enum jp_control {
    JP_CONTROL_START = 1,
    JP_CONTROL_PAUSE = 2,
    JP_CONTROL_CLEAR = 3,
    JP_CONTROL_SAVE = 4
};

/* JIT files are copied up to this size where they cannot be linked. */
#define JP_SAVE_MAX (16ULL << 20)

/* Bytes of JIT code that are kept of one process. */
#define JP_CODE_MAX (4ULL << 20)

#endif
