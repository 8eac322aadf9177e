/* SPDX-License-Identifier: MIT
 *
 * Runs curl with a configuration that nobody else can read, and judges what
 * the server answers.
 * Runs in: launcher. */
#include "curl.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "launcher/base/say.h"
#include "launcher/os/place.h"
#include "launcher/os/spawn.h"

#define CONFIG_FD 3
#define CONNECT_SECONDS 10
#define TOTAL_SECONDS 60
#define TOKEN_MAX 8192
#define MARK "jprof-status " /* before the status, on curl's stderr */

extern char **environ;

char *jl_curl_find(void)
{
    char *path = jl_find_command("curl");

    if (!path || access(path, X_OK) != 0)
        jl_fail(JR_FAILED, "curl, which sends profiles, is not here: "
                           "install the package curl");
    return path;
}

/* What the statuses of servers mean (RFC 9110, 15); else by hundreds. */
static const struct {
    int status;
    enum jl_fate fate;
    const char *text;
} statuses[] = {
    {400, JL_REFUSED, "the server takes the profile for malformed"},
    {401, JL_NEVER, "the server wants to know who sends: use --token-file"},
    {403, JL_NEVER, "the server does not permit it: is the token right?"},
    {404, JL_NEVER, "the server has no such path: is the URL right, and --to?"},
    {405, JL_NEVER,
     "the server takes no profiles at this path: is the URL "
     "right, and --to?"},
    {407, JL_NEVER, "a proxy wants to know who sends: use --curl-config"},
    {408, JL_LATER, "the server did not wait for the profile"},
    {413, JL_REFUSED,
     "the profile is larger than the server or a proxy before "
     "it takes: raise its limit to 6 MiB"},
    {415, JL_NEVER, "the server takes no such type: is --to right?"},
    {422, JL_REFUSED, "the server takes the profile or a label for invalid"},
    {429, JL_LATER, "the server has too much to do"},
};

static void judge(int status, struct jl_answer *answer)
{
    const char *text = "the server failed";

    answer->fate = JL_LATER;
    if (status >= 200 && status < 300) {
        answer->fate = JL_SENT;
    } else if (status >= 300 && status < 400) {
        answer->fate = JL_NEVER;
        text = "the server is elsewhere now; redirections are not followed";
    } else if (status >= 400 && status < 500) {
        answer->fate = JL_REFUSED;
        text = "the server refuses the profile";
    }
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == status) {
            answer->fate = statuses[i].fate;
            text = statuses[i].text;
        }
    if (answer->fate != JL_SENT)
        snprintf(answer->text, sizeof answer->text, "%s (%d)", text, status);
}

/* A line of a configuration file of curl's (curl(1), --config): in quotation
 * marks, where a backslash is before those and itself. */
static void put_option(FILE *out, const char *name, const char *first,
                       const char *second)
{
    fprintf(out, "%s = \"", name);
    for (const char *at = first; *at; at++)
        fprintf(out, strchr("\"\\", *at) ? "\\%c" : "%c", *at);
    for (const char *at = second; *at; at++)
        fprintf(out, strchr("\"\\", *at) ? "\\%c" : "%c", *at);
    fputs("\"\n", out);
}

/* The token in the file, allocated; its first line.  NULL: said why. */
static char *read_token(const char *path, struct jl_answer *answer)
{
    const char *why = NULL;
    struct jr_bytes bytes = {0};
    char *token;
    size_t length;

    if (jr_file_read(path, TOKEN_MAX, &bytes, &why) != 0) {
        snprintf(answer->text, sizeof answer->text, "%s: %s", path, why);
        return NULL;
    }
    token = (char *)bytes.data;
    length = strcspn(token, "\r\n");
    token[length] = '\0';
    for (size_t i = 0; i < length; i++)
        if (token[i] <= ' ' || token[i] > '~')
            length = 0;
    if (length > 0)
        return token;
    snprintf(answer->text, sizeof answer->text,
             "%s: its first line is no token", path);
    free(token);
    return NULL;
}

/* Writes the configuration to a file without a name; -1: said why.  `silent` is
 * last: curl says nothing after it of options that it does not know. */
static int make_config(const struct jl_destination *to,
                       const struct jl_spooled *spooled,
                       struct jl_answer *answer)
{
    char *token = NULL;
    int fd, copy;
    FILE *out;

    if (to->token_file && !(token = read_token(to->token_file, answer)))
        return -1;
    fd = memfd_create("jprof-curl", MFD_CLOEXEC);
    copy = fd < 0 ? -1 : dup(fd);
    out = copy < 0 ? NULL : fdopen(copy, "w");
    if (!out)
        jl_fail(JR_FAILED, "memfd_create: %s", strerror(errno));
    put_option(out, "url", to->url, spooled->path);
    put_option(out, "header", "Content-Type: ", spooled->type);
    if (token)
        put_option(out, "header", "Authorization: Bearer ", token);
    if (to->tenant)
        put_option(out, "header", "X-Scope-OrgID: ", to->tenant);
    fprintf(out,
            "header = \"Expect:\"\ndata-binary = \"@-\"\nshow-error\n"
            "no-buffer\ngloboff\nproto = \"=http,https\"\n"
            "user-agent = \"jprof\"\nconnect-timeout = %d\nmax-time = %d\n"
            "write-out = \"%%{stderr}" MARK "%%{http_code}\\n\"\nsilent\n",
            CONNECT_SECONDS, TOTAL_SECONDS);
    if (fclose(out) != 0)
        jl_fail(JR_FAILED, "curl's configuration: %s", strerror(errno));
    if (token)
        explicit_bzero(token, strlen(token));
    free(token);
    return fd;
}

/* Becomes curl, in a child. The body is read from stdin and the configuration
 * from CONFIG_FD; the user's ~/.curlrc is not read. */
static _Noreturn void run_curl(const char *curl,
                               const struct jl_destination *to, int body,
                               int config, const int *ends)
{
    char *own = jr_printf("/dev/fd/%d", CONFIG_FD);
    char *with[] = {(char *)"curl",
                    (char *)"-q",
                    (char *)"--config",
                    (char *)to->config,
                    (char *)"--config",
                    own,
                    NULL};
    char *without[] = {with[0], with[1], with[4], own, NULL};
    char **argv = to->config ? with : without;

    jl_signals_restore();
    if (dup2(body, 0) < 0 || dup2(ends[0], 1) < 0 || dup2(ends[1], 2) < 0)
        _exit(JL_NOT_EXECUTABLE);
    if (config == CONFIG_FD ? fcntl(config, F_SETFD, 0) != 0
                            : dup2(config, CONFIG_FD) < 0)
        _exit(JL_NOT_EXECUTABLE);
    execve(curl, argv, environ);
    _exit(JL_NOT_EXECUTABLE);
}

/* Reads the start of what comes, and drops the rest. */
static void drain(int fd, char *into, size_t size)
{
    size_t used = 0;
    char rest[4096];

    for (;;) {
        const size_t room = size - 1 - used;
        const ssize_t got =
            room ? read(fd, into + used, room) : read(fd, rest, sizeof rest);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        used += room ? (size_t)got : 0;
    }
    into[used] = '\0';
}

/* The first line of a text, without what is before a ": " of curl's own. */
static void add_line(struct jl_answer *answer, const char *before,
                     const char *line)
{
    const size_t used = strlen(answer->text);
    const size_t length = strcspn(line, "\r\n");

    if (length > 0)
        snprintf(answer->text + used, sizeof answer->text - used, "%s%.*s",
                 before, length > 200 ? 200 : (int)length, line);
}

/* Where a text stands in another for the last time, or NULL. */
static const char *last_of(const char *text, const char *wanted)
{
    const char *found = NULL;

    while ((text = strstr(text, wanted)))
        found = text++;
    return found;
}

/* The end of what curl printed on its stderr: with `verbose` in a user's
 * configuration, much stands before the status. */
static void read_errors(int fd, char *errors, size_t size)
{
    struct stat info;
    off_t from = 0;
    ssize_t got;

    if (fstat(fd, &info) == 0 && info.st_size > (off_t)size - 1)
        from = info.st_size - (off_t)size + 1;
    got = pread(fd, errors, size - 1, from);
    errors[got > 0 ? got : 0] = '\0';
}

/* Judges by what curl printed on its stderr and what the server said. */
static void judge_all(int status, const char *said, const char *errors,
                      struct jl_answer *answer)
{
    const char *mark = last_of(errors, MARK);
    const char *own = last_of(errors, "curl: (");
    const long http = mark ? strtol(mark + sizeof MARK - 1, NULL, 10) : 0;

    if (http > 0) {
        judge((int)http, answer);
        if (answer->fate != JL_SENT)
            add_line(answer, ": ", said);
        return;
    }
    /* curl(1), EXIT CODES: 2 and 3 are of options, 26 and 43 of its own;
     * 35, 51 to 60 and the like of certificates, where waiting helps little,
     * but may. */
    answer->fate = status == 2 || status == 3 || status == 26 || status == 37
                       ? JL_NEVER
                       : JL_LATER;
    add_line(answer, "", own ? own : errors);
    if (!*answer->text)
        snprintf(answer->text, sizeof answer->text, "curl ended with status %d",
                 status);
}

void jl_curl_send(const char *curl, const struct jl_destination *to,
                  const struct jl_spooled *spooled, struct jl_answer *answer)
{
    char said[512], errors[1024] = "";
    int pipe_ends[2], config, errors_fd, status = -1;
    pid_t pid;

    *answer = (struct jl_answer){.fate = JL_NEVER};
    config = make_config(to, spooled, answer);
    if (config < 0)
        return;
    errors_fd = memfd_create("jprof-curl-errors", MFD_CLOEXEC);
    if (errors_fd < 0 || pipe2(pipe_ends, O_CLOEXEC) != 0)
        jl_fail(JR_FAILED, "pipe: %s", strerror(errno));
    pid = fork();
    if (pid == 0)
        run_curl(curl, to, spooled->fd, config,
                 (int[2]){pipe_ends[1], errors_fd});
    if (pid < 0)
        jl_fail(JR_FAILED, "fork: %s", strerror(errno));
    close(pipe_ends[1]);
    drain(pipe_ends[0], said, sizeof said);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    read_errors(errors_fd, errors, sizeof errors);
    judge_all(WIFEXITED(status) ? WEXITSTATUS(status) : -1, said, errors,
              answer);
    close(pipe_ends[0]);
    close(errors_fd);
    close(config);
}
