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

static void take_server(struct jl_destination *to, const char *value)
{
    if (strcmp(value, "pyroscope") == 0)
        to->server = JL_PYROSCOPE;
    else if (strcmp(value, "parca") == 0)
        to->server = JL_PARCA;
    else
        jl_usage("--to=%s: must be pyroscope or parca", value);
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

static void take_label(struct jl_destination *to, const char *value)
{
    size_t key = strspn(value, LETTERS "0123456789.");

    if (key == 0 || value[key] != '=' || key > LABEL_MAX ||
        (*value >= '0' && *value <= '9') || *value == '.' ||
        strncmp(value, "__", 2) == 0)
        jl_usage("--label %s: must be KEY=VALUE, the key of letters, digits, _ "
                 "and . with a letter or one _ first",
                 value);
    if (!is_plain(value + key + 1))
        jl_usage("--label %s: its value must be UTF-8 text of 1 to %d bytes "
                 "without {}=,\"\\ and control characters",
                 value, VALUE_MAX);
    for (size_t i = 0; i < to->nlabels; i++)
        if (strlen(to->labels[i].key) == key &&
            strncmp(to->labels[i].key, value, key) == 0)
            jl_usage("--label %s: there is such a label already", value);
    if (to->nlabels == LABELS_MAX)
        jl_usage("--label %s: servers take no more than %d labels", value,
                 LABELS_MAX);
    *JR_PUSH(to->labels, to->nlabels, to->labels_room) =
        (struct jl_label){jr_strndup(value, key), jr_strdup(value + key + 1)};
}

static void take_name(struct jl_destination *to, const char *value)
{
    if (!is_plain(value))
        jl_usage("--name %s: must be UTF-8 text of 1 to %d bytes without "
                 "{}=,\"\\ and control characters",
                 value, VALUE_MAX);
    to->name = value;
}

static void take_tenant(struct jl_destination *to, const char *value)
{
    if (!is_plain(value))
        jl_usage("--tenant %s: must be plain text", value);
    to->tenant = value;
}

static void take_token(struct jl_destination *to, const char *value)
{
    to->token_file = value;
}

static void take_config(struct jl_destination *to, const char *value)
{
    to->config = value;
}

static void take_spool(struct jl_destination *to, const char *value)
{
    if (*value == '\0')
        jl_usage("--spool: must name a folder");
    to->spool = value;
}

static void take_spool_size(struct jl_destination *to, const char *value)
{
    to->spool_bytes = jl_size(value);
    if (to->spool_bytes < SPOOL_LEAST)
        jl_usage("--spool-size=%s: must be a size of at least %dM", value,
                 (int)(SPOOL_LEAST >> 20));
}

static const struct {
    const char *name;
    void (*take)(struct jl_destination *to, const char *value);
} table[] = {
    {"--to", take_server},        {"--label", take_label},
    {"--name", take_name},        {"--tenant", take_tenant},
    {"--token-file", take_token}, {"--curl-config", take_config},
    {"--spool", take_spool},      {"--spool-size", take_spool_size},
};

int jl_destination_take(struct jl_destination *to, char ***words)
{
    const char *word = **words;
    const size_t length = strcspn(word, "=");

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strlen(table[i].name) != length ||
            memcmp(table[i].name, word, length) != 0)
            continue;
        if (word[length] == '\0' && !(*words)[1])
            jl_usage("%s needs a value", word);
        table[i].take(to, word[length] ? word + length + 1 : *++*words);
        return 1;
    }
    return 0;
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
