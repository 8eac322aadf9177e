/* SPDX-License-Identifier: MIT
 *
 * Measures the time from posix_spawn to the end of a program under several
 * environments, in an order of chance, and prints the median of each in ns.
 * Runs in: `make bench`.
 *
 * spawn ROUNDS PROGRAM NAME [VAR=VALUE...] -- NAME [VAR=VALUE...] -- ... */
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define VARIANTS_MAX 16

struct variant {
    const char *name;
    char **env; /* the tail of argv, cut at "--" */
    uint64_t *times;
};

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* Returns the time of one run in ns; exits if it cannot be run. */
static uint64_t run_once(char *program, char **env)
{
    char *args[] = {program, NULL};
    uint64_t start = now_ns();
    pid_t pid;
    int status;

    if (posix_spawn(&pid, program, NULL, NULL, args, env) != 0 ||
        waitpid(pid, &status, 0) != pid || status != 0) {
        fprintf(stderr, "spawn: %s failed\n", program);
        exit(1);
    }
    return now_ns() - start;
}

/* Splits the arguments at "--"; returns the number of variants, 0 if there
 * are none or too many. */
static int read_variants(char **argv, struct variant *variants)
{
    int count = 0;

    while (*argv != NULL && count < VARIANTS_MAX) {
        variants[count].name = *argv++;
        variants[count++].env = argv;
        while (*argv != NULL && strcmp(*argv, "--") != 0)
            argv++;
        if (*argv != NULL)
            *argv++ = NULL;
    }
    return *argv == NULL ? count : 0;
}

/* Runs every variant once in an order of chance: what ran before leaves the
 * caches in a state that must not always be the same variant's luck. */
static void run_round(char *program, struct variant *variants, int count,
                      int round)
{
    int order[VARIANTS_MAX];

    for (int v = 0; v < count; v++) {
        int other = rand() % (v + 1);

        order[v] = order[other];
        order[other] = v;
    }
    for (int v = 0; v < count; v++) {
        struct variant *variant = &variants[order[v]];

        variant->times[round] = run_once(program, variant->env);
    }
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    struct variant variants[VARIANTS_MAX];
    int rounds = argc > 3 ? atoi(argv[1]) : 0;
    int count = rounds > 0 ? read_variants(argv + 3, variants) : 0;

    if (count == 0) {
        fprintf(stderr, "usage: spawn ROUNDS PROGRAM NAME [VAR=VALUE...] "
                        "-- NAME...\n");
        return 64;
    }
    for (int v = 0; v < count; v++) {
        variants[v].times = calloc((size_t)rounds, sizeof(uint64_t));
        if (variants[v].times == NULL)
            return 1;
    }
    for (int i = 0; i < rounds; i++)
        run_round(argv[2], variants, count, i);
    for (int v = 0; v < count; v++) {
        qsort(variants[v].times, (size_t)rounds, sizeof(uint64_t), compare);
        printf("%s %llu\n", variants[v].name,
               (unsigned long long)variants[v].times[rounds / 2]);
        free(variants[v].times);
    }
    return 0;
}
