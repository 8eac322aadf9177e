/* SPDX-License-Identifier: MIT
 *
 * Options about a server that profiles are sent to, and what names and labels
 * servers take.
 * Runs in: launcher. */
#include "destination.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "say.h"

#define SPOOL_BYTES (64ULL << 20)
#define SPOOL_LEAST (8ULL << 20) /* room for a message at least */
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define LABEL_MAX 63  /* bytes of a label's key, as in Kubernetes */
#define VALUE_MAX 255 /* and of its value */
#define LABELS_MAX                                                             \
    30 /* Pyroscope, pkg/validation: max_label_names_per_series */

void jl_destination_init(struct jl_destination *to)
{
    *to = (struct jl_destination){.spool_bytes = SPOOL_BYTES};
}

void jl_destination_free(struct jl_destination *to)
{
    for (size_t i = 0; i < to->nlabels; i++) {
        free(to->labels[i].key);
        free(to->labels[i].value);
    }
    free(to->labels);
    to->labels = NULL;
    to->nlabels = to->labels_room = 0;
}

uint64_t jl_size(const char *text)
{
    static const char units[] = "KMG";
    uint64_t size = 0;
    const char *unit;

    if (*text < '0' || *text > '9')
        return 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        if (size > UINT64_MAX >> 40)
            return 0;
        size = size * 10 + (uint64_t)(*text - '0');
    }
    if (*text == '\0')
        return size;
    unit = strchr(units, *text & ~0x20);
    return unit && text[1] == '\0' && size <= UINT32_MAX
               ? size << 10 * (unit - units + 1)
               : 0;
}

/* Whether the text is UTF-8 without control characters, and without those that
 * the servers' own syntax has. */
static int is_plain(const char *text)
{
    const char *at = text;

    while (*at)
        if (jr_utf8_next(&at) == JR_UTF8_UNFIT)
            return 0;
    return *text && text[strcspn(text, "{}=,\"\\")] == '\0' &&
           strlen(text) <= VALUE_MAX;
}

static int take_label(void *target, const char *name, const char *value)
{
    struct jl_destination *to = target;
    size_t key = strspn(value, LETTERS "0123456789.");

    if (key == 0 || value[key] != '=' || key > LABEL_MAX ||
        (*value >= '0' && *value <= '9') || *value == '.' ||
        strncmp(value, "__", 2) == 0)
        jl_usage("%s %s: must be KEY=VALUE, the key of letters, digits, _ "
                 "and . with a letter or one _ first",
                 name, value);
    if (!is_plain(value + key + 1))
        jl_usage("%s %s: its value must be UTF-8 text of 1 to %d bytes "
                 "without {}=,\"\\ and control characters",
                 name, value, VALUE_MAX);
    for (size_t i = 0; i < to->nlabels; i++)
        if (strlen(to->labels[i].key) == key &&
            strncmp(to->labels[i].key, value, key) == 0)
            jl_usage("%s %s: there is such a label already", name, value);
    if (to->nlabels == LABELS_MAX)
        jl_usage("%s %s: servers take no more than %d labels", name, value,
                 LABELS_MAX);
    *JR_PUSH(to->labels, to->nlabels, to->labels_room) =
        (struct jl_label){jr_strndup(value, key), jr_strdup(value + key + 1)};
    return 0;
}

static int take_name(void *target, const char *name, const char *value)
{
    struct jl_destination *to = target;
    if (!is_plain(value))
        jl_usage("%s %s: must be UTF-8 text of 1 to %d bytes without "
                 "{}=,\"\\ and control characters",
                 name, value, VALUE_MAX);
    to->name = value;
    return 0;
}

static int take_tenant(void *target, const char *name, const char *value)
{
    struct jl_destination *to = target;
    if (!is_plain(value))
        jl_usage("%s %s: must be plain text", name, value);
    to->tenant = value;
    return 0;
}

static int take_spool(void *target, const char *name, const char *value)
{
    struct jl_destination *to = target;
    if (*value == '\0')
        jl_usage("%s: must name a folder", name);
    to->spool = value;
    return 0;
}

static int take_spool_size(void *target, const char *name, const char *value)
{
    struct jl_destination *to = target;
    to->spool_bytes = jl_size(value);
    if (to->spool_bytes < SPOOL_LEAST)
        jl_usage("%s=%s: must be a size of at least %dM", name, value,
                 (int)(SPOOL_LEAST >> 20));
    return 0;
}

static const char *const servers[] = {
    [JL_PYROSCOPE] = "pyroscope", [JL_PARCA] = "parca", NULL};

/* The parts of rows below. */
#define TEXT(field) JR_TEXT(struct jl_destination, field)

static const struct jr_option rows[] = {
    {0, "--to", "KIND", JR_CHOICE(struct jl_destination, server, servers),
     .help = "pyroscope (the default) or parca"},
    {0, "--label", "KEY=VALUE", JR_VALUE(take_label), .help = "a label"},
    {0, "--name", "NAME", JR_VALUE(take_name),
     .help = "the name of the service (the program's)"},
    {0, "--token-file", "FILE", TEXT(token_file),
     .help = "send its first line as a bearer token"},
    {0, "--tenant", "NAME", JR_VALUE(take_tenant),
     .help = "sent as X-Scope-OrgID"},
    {0, "--curl-config", "FILE", TEXT(config),
     .help = "further options of curl: certificates, proxies"},
    {0, "--spool", "DIR", JR_VALUE(take_spool),
     .help = "keep there what is not sent yet"},
    {0, "--spool-size", "SIZE", JR_VALUE(take_spool_size),
     .help = "how much may wait there (64M)"},
};

#define NROWS (sizeof rows / sizeof *rows)

struct jr_option_table jl_destination_options(struct jl_destination *to)
{
    return (struct jr_option_table){rows, NROWS, to};
}

void jl_destination_help(void)
{
    jr_option_help(stdout, rows, NROWS);
}

void jl_destination_check(struct jl_destination *to, const char *url)
{
    const char *host = strncmp(url, "http://", 7) == 0    ? url + 7
                       : strncmp(url, "https://", 8) == 0 ? url + 8
                                                          : "";
    size_t length = strlen(url);

    if (host[strcspn(host, "/@")] == '@')
        jl_usage("the URL has a password or user in it, which others could "
                 "see: use --token-file or --curl-config");
    if (*host == '/' || *host == ':')
        host = "";
    for (const char *at = url; *at; at++)
        if (*at <= ' ' || *at > '~' || strchr("\"\\?#{}[]", *at))
            host = "";
    if (*host == '\0')
        jl_usage("%s: must be a URL as http://HOST:PORT or https://HOST, "
                 "without ? and #",
                 url);
    for (size_t i = 0; i < to->nlabels; i++)
        if (to->server == JL_PARCA && strchr(to->labels[i].key, '.'))
            jl_usage("--label %s: Parca takes no . in a label's name",
                     to->labels[i].key);
    while (length > 0 && url[length - 1] == '/')
        length--;
    to->url = jr_strndup(url, length);
}
