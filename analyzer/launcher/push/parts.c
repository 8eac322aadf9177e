/* SPDX-License-Identifier: MIT
 *
 * Reads the stream of jprof-report --format=push (jp_push.h).
 * Runs in: launcher. */
#include "parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "jp_push.h"
#include "launcher/base/say.h"
#include "launcher/os/spawn.h"

#define LINE_MAX_BYTES 4096
#define SIZE_MAX_BYTES (2 * (size_t)JP_PUSH_BYTES)

extern char **environ;

struct reading {
    FILE *in;
    struct jl_parts *parts;
    const struct jl_destination *to;
    struct jl_spool *spool;
    char program[LINE_MAX_BYTES];
};

static size_t count_of(char *const *words)
{
    size_t count = 0;

    while (words && words[count])
        count++;
    return count;
}

static char **arguments(char *const *options, char *const *operands)
{
    const size_t noptions = count_of(options), noperands = count_of(operands);
    char **argv = jr_alloc(noptions + noperands + 5, sizeof *argv), **at = argv;

    *at++ = (char *)"jprof-report";
    *at++ = (char *)"--profile";
    *at++ = (char *)"--merge";
    *at++ = (char *)"--format=push";
    for (size_t i = 0; i < noptions; i++)
        *at++ = options[i];
    for (size_t i = 0; i < noperands; i++)
        *at++ = operands[i];
    return argv;
}

static _Noreturn void run_reporter(const char *reporter, char *const *argv,
                                   int folder, int out, int quiet)
{
    int null = quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : STDERR_FILENO;

    jl_signals_restore();
    if (null >= 0 && (folder < 0 || fchdir(folder) == 0) && dup2(out, 1) >= 0 &&
        dup2(null, 2) >= 0)
        execve(reporter, argv, environ);
    _exit(JL_NOT_EXECUTABLE);
}

/* Takes a message, whose line was read; -1: it is not whole. */
static int take_message(struct reading *reading, const char *line)
{
    struct jl_part part = {0};
    struct jl_message message = {0};
    uint8_t *data;
    int end = 0;

    if (sscanf(line,
               JP_PUSH_MESSAGE " %7[a-z] %" SCNu64 " %" SCNu64 " %" SCNu64
                               " %" SCNu64 " %" SCNu64 " %zu%n",
               part.type, &part.from_ns, &part.until_ns, &part.stacks,
               &part.samples, &part.weight_ns, &part.size, &end) != 7 ||
        line[end] != '\0' || part.size == 0 || part.size > SIZE_MAX_BYTES)
        return -1;
    data = jr_alloc(part.size, 1);
    if (fread(data, 1, part.size, reading->in) != part.size) {
        free(data);
        return -1;
    }
    part.data = data;
    jl_message_make(&message, reading->to, reading->program, &part);
    if (jl_spool_put(reading->spool, reading->to->url, &message) == 0) {
        reading->parts->messages++;
        reading->parts->bytes += message.size;
        if (strcmp(part.type, "cpu") == 0)
            reading->parts->cpu_ns += part.weight_ns;
        else
            reading->parts->wall_ns += part.weight_ns;
        if (part.until_ns > reading->parts->until_ns)
            reading->parts->until_ns = part.until_ns;
    } else {
        reading->parts->lost++;
    }
    jl_message_free(&message);
    free(data);
    return 0;
}

/* Reads to the stream's end; -1: it is cut off. */
static int read_stream(struct reading *reading)
{
    char line[LINE_MAX_BYTES];

    while (fgets(line, sizeof line, reading->in)) {
        const size_t length = strcspn(line, "\n");

        if (line[length] != '\n')
            return -1;
        line[length] = '\0';
        if (strncmp(line, JP_PUSH_PROGRAM " ", sizeof JP_PUSH_PROGRAM) == 0)
            memcpy(reading->program, line + sizeof JP_PUSH_PROGRAM,
                   length + 1 - sizeof JP_PUSH_PROGRAM);
        else if (strncmp(line, JP_PUSH_CUT " ", sizeof JP_PUSH_CUT) == 0)
            reading->parts->cut_ns +=
                strtoull(line + sizeof JP_PUSH_CUT, NULL, 10);
        else if (strncmp(line, JP_PUSH_END " ", sizeof JP_PUSH_END) == 0)
            return 0;
        else if (take_message(reading, line) != 0)
            return -1;
    }
    return -1;
}

int jl_parts_make(struct jl_parts *parts, const char *reporter, int folder,
                  char *const *options, char *const *operands, int quiet,
                  const struct jl_destination *to, struct jl_spool *spool)
{
    struct reading reading = {.parts = parts, .to = to, .spool = spool};
    char **argv = arguments(options, operands);
    int ends[2], status = 0, whole;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) != 0)
        jl_fail(JR_FAILED, "pipe: %s", strerror(errno));
    pid = fork();
    if (pid == 0)
        run_reporter(reporter, argv, folder, ends[1], quiet);
    if (pid < 0)
        jl_fail(JR_FAILED, "fork: %s", strerror(errno));
    close(ends[1]);
    reading.in = fdopen(ends[0], "r");
    if (!reading.in)
        jr_no_memory();
    whole = read_stream(&reading) == 0;
    fclose(reading.in);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    free(argv);
    status = WIFEXITED(status) ? WEXITSTATUS(status) : JR_FAILED;
    return whole || (status != JR_COMPLETE && status != JR_PARTIAL) ? status
                                                                    : JR_FAILED;
}
