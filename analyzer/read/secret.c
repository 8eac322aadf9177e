/* SPDX-License-Identifier: MIT
 *
 * Masks what should not be read by everybody who reads a report.
 * Runs in: analyzer. */
#include "secret.h"

#include <string.h>
#include <strings.h>

#include "../base/mem.h"

#define MASK "***"

static int shown;

void jr_secrets_show(void)
{
    shown = 1;
}

/* Words in the name of an option or a variable whose value is nobody's
 * business. */
static const char *const words[] = {
    "password", "passwd",     "passphrase", "passwort",   "secret",
    "token",    "credential", "api-key",    "api_key",    "apikey",
    "access-key", "access_key", "accesskey", "private-key", "private_key",
    "auth-key", "authorization",
};

static int is_secret(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t size = strlen(words[i]);

        for (size_t at = 0; at + size <= length; at++)
            if (strncasecmp(name + at, words[i], size) == 0)
                return 1;
    }
    return 0;
}

/* Where in the argument the value starts that is to be masked, and in *length
 * how long it is; NULL: nowhere. */
static const char *find_value(const char *arg, size_t size, size_t *length)
{
    const char *sign = memchr(arg, '=', size);
    const char *colon = memchr(arg, ':', size), *at;

    if (sign && is_secret(arg, (size_t)(sign - arg))) {
        *length = size - (size_t)(sign + 1 - arg);
        return sign + 1;
    }
    /* Of a header: "Authorization: Bearer x". */
    if (colon && memchr(arg, '/', (size_t)(colon - arg)) == NULL &&
        is_secret(arg, (size_t)(colon - arg))) {
        *length = size - (size_t)(colon + 1 - arg);
        return colon + 1;
    }
    /* Of an address: scheme://user:x@host. */
    at = memmem(arg, size, "://", 3);
    if (at) {
        const char *start = at + 3, *host;
        size_t rest = size - (size_t)(start - arg);
        const char *slash = memchr(start, '/', rest);

        host = memchr(start, '@', slash ? (size_t)(slash - start) : rest);
        colon = host ? memchr(start, ':', (size_t)(host - start)) : NULL;
        if (colon) {
            *length = (size_t)(host - colon) - 1;
            return colon + 1;
        }
    }
    return NULL;
}

/* Whether the argument is an option whose value is the next one. */
static int awaits_value(const char *arg, size_t size)
{
    return size > 1 && arg[0] == '-' && !memchr(arg, '=', size) &&
           !memchr(arg, ' ', size) && is_secret(arg, size);
}

static char *put(char *to, const char *bytes, size_t size)
{
    memcpy(to, bytes, size);
    return to + size;
}

/* Writes one argument; returns behind it. */
static char *put_arg(char *to, const char *arg, size_t size, int is_value)
{
    const char *value;
    size_t length;

    if (shown)
        return put(to, arg, size);
    if (is_value && size > 0 && arg[0] != '-')
        return put(to, MASK, strlen(MASK));
    value = find_value(arg, size, &length);
    if (!value || length == 0)
        return put(to, arg, size);
    to = put(to, arg, (size_t)(value - arg));
    to = put(to, MASK, strlen(MASK));
    value += length;
    return put(to, value, size - (size_t)(value - arg));
}

char *jr_join_args(const char *bytes, size_t size)
{
    /* At worst each byte becomes a mask and a blank. */
    char *text = jr_alloc(size + 1, 1 + strlen(MASK)), *to = text;
    int is_value = 0;

    while (size > 0 && bytes[size - 1] == '\0')
        size--;
    for (size_t at = 0; at < size;) {
        const char *arg = bytes + at;
        const char *end = memchr(arg, '\0', size - at);
        size_t length = end ? (size_t)(end - arg) : size - at;

        if (at > 0)
            *to++ = ' ';
        to = put_arg(to, arg, length, is_value);
        is_value = awaits_value(arg, length);
        at += length + 1;
    }
    *to = '\0';
    return text;
}
