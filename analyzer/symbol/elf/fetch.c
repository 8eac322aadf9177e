/* SPDX-License-Identifier: MIT
 *
 * Runs debuginfod-find(1), one question after the other: what its library does
 * with threads and TLS stays out of this process, and it can be ended at any
 * time.
 * Runs in: analyzer. */
#include "fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/mem.h"

#define CLIENT "debuginfod-find"
#define MOST_MS 30000U /* for all questions of a report */
#define SHOW_MS 100
#define ANSWER_MAX 8192U

extern char **environ;

/* What debuginfod-find is run with, and the name that is shown meanwhile. */
struct question {
    const char *kind, *digits, *file; /* file: NULL: of no source */
    const char *name;
};

/* What the client says on one of its two outputs. */
struct said {
    int from; /* -1: it has ended */
    size_t used;
    char text[ANSWER_MAX + 1];
};

/* The environment, but for the language of errors and for what would have the
 * client write progress of its own.  The strings are the environment's. */
static char **client_environment(void)
{
    static const char *const dropped[] = {
        "LC_ALL=", "DEBUGINFOD_PROGRESS=", "DEBUGINFOD_VERBOSE="};
    size_t count = 0, kept = 0;
    char **made;

    while (environ && environ[count])
        count++;
    made = jr_alloc(count + 2, sizeof *made);
    for (size_t i = 0; i < count; i++) {
        int drop = 0;

        for (size_t j = 0; j < sizeof dropped / sizeof *dropped; j++)
            drop |= strncmp(environ[i], dropped[j], strlen(dropped[j])) == 0;
        if (!drop)
            made[kept++] = environ[i];
    }
    made[kept] = (char *)"LC_ALL=C";
    return made;
}

/* Starts the client; returns its pid, or -1 with errno. */
static pid_t start(const struct question *question, int out, int errors)
{
    const char *argv[] = {CLIENT, question->kind, question->digits,
                          question->file, NULL};
    posix_spawn_file_actions_t actions;
    char **made = client_environment();
    pid_t pid = -1;
    int error = posix_spawn_file_actions_init(&actions);

    if (error == 0) {
        if ((error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null",
                                                      O_RDONLY, 0)) == 0 &&
            (error = posix_spawn_file_actions_adddup2(&actions, out, 1)) == 0 &&
            (error = posix_spawn_file_actions_adddup2(&actions, errors, 2)) ==
                0)
            error = posix_spawnp(&pid, CLIENT, &actions, NULL,
                                 (char *const *)argv, made);
        posix_spawn_file_actions_destroy(&actions);
    }
    free(made);
    errno = error;
    return error ? -1 : pid;
}

/* Takes what is there; what is too long is passed over. */
static void take(struct said *said)
{
    char rest[512];
    ssize_t got;

    if (said->used < ANSWER_MAX)
        got =
            read(said->from, said->text + said->used, ANSWER_MAX - said->used);
    else
        got = read(said->from, rest, sizeof rest);
    if (got < 0 && errno == EINTR)
        return;
    if (got <= 0)
        said->from = -1;
    else if (said->used < ANSWER_MAX)
        said->used += (size_t)got;
}

/* Reads both to their ends; returns 0, or -1 when the time is over. */
static int listen_to(struct jr_fetch *fetch, const char *name,
                     struct said said[2])
{
    const uint64_t begin = jr_now_ms(), before = fetch->used_ms;

    while (said[0].from >= 0 || said[1].from >= 0) {
        struct pollfd waits[2] = {{said[0].from, POLLIN, 0},
                                  {said[1].from, POLLIN, 0}};

        if (poll(waits, 2, SHOW_MS) > 0)
            for (int i = 0; i < 2; i++)
                if (waits[i].revents)
                    take(&said[i]);
        fetch->used_ms = before + (jr_now_ms() - begin);
        if (fetch->show)
            fetch->show(fetch->data, name, fetch->used_ms, MOST_MS);
        if (fetch->used_ms >= MOST_MS)
            return -1;
    }
    return 0;
}

static int end_of(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What the answer means; NULL: no file. */
static char *judge(struct jr_fetch *fetch, int status, struct said said[2])
{
    char *line = said[0].text, *errors = said[1].text;

    line[strcspn(line, "\n")] = '\0';
    errors[strcspn(errors, "\n")] = '\0';
    if (status == 0 && line[0] == '/') {
        fetch->fetched++;
        return jr_strdup(line);
    }
    /* The server answered that it has no such file: errno ENOENT. */
    if (strstr(errors, strerrordesc_np(ENOENT)))
        return NULL;
    jr_say("debuginfod: %s; nothing more is asked for",
           *errors ? errors : "its client failed without a word");
    fetch->has_ended = 1;
    return NULL;
}

static char *ask(struct jr_fetch *fetch, const struct question *question)
{
    struct said *said = jr_alloc(2, sizeof *said);
    int out[2], errors[2] = {-1, -1}, heard;
    char *path = NULL;
    pid_t pid = -1;

    if (pipe2(out, O_CLOEXEC) != 0)
        out[0] = out[1] = -1;
    else if (pipe2(errors, O_CLOEXEC) == 0)
        pid = start(question, out[1], errors[1]);
    close(out[1]);
    close(errors[1]);
    if (pid < 0) {
        jr_say(CLIENT ": %s; --debuginfod needs it (Debian's package "
                      "debuginfod)",
               strerror(errno));
        fetch->has_ended = 1;
    } else {
        said[0].from = out[0];
        said[1].from = errors[0];
        heard = listen_to(fetch, question->name, said);
        if (heard != 0) {
            kill(pid, SIGTERM);
            fetch->has_ended = 1;
            jr_say("debuginfod: no answer within %u s; nothing more is asked "
                   "for",
                   MOST_MS / 1000);
        }
        path = heard == 0 ? judge(fetch, end_of(pid), said) : NULL;
        if (heard != 0)
            (void)end_of(pid);
    }
    close(out[0]);
    close(errors[0]);
    free(said);
    return path;
}

static char *fetch_file(struct jr_fetch *fetch, const struct question *question)
{
    const char *urls = getenv("DEBUGINFOD_URLS");
    char *path;

    if (fetch->has_ended)
        return NULL;
    if (!urls || !urls[strspn(urls, " ")]) {
        jr_say("--debuginfod: DEBUGINFOD_URLS names no server");
        fetch->has_ended = 1;
        return NULL;
    }
    path = ask(fetch, question);
    if (fetch->show)
        fetch->show(fetch->data, NULL, fetch->used_ms, MOST_MS);
    return path;
}

char *jr_fetch_debug(struct jr_fetch *fetch, const char *digits,
                     const char *name)
{
    const struct question question = {"debuginfo", digits, NULL, name};

    return fetch_file(fetch, &question);
}

char *jr_fetch_source(struct jr_fetch *fetch, const char *digits,
                      const char *file)
{
    const char *slash = strrchr(file, '/');
    const struct question question = {"source", digits, file,
                                      slash ? slash + 1 : file};

    return fetch_file(fetch, &question);
}
