/* SPDX-License-Identifier: MIT
 *
 * Masks what should not be read by everybody who reads a report.
 * Runs in: analyzer. */
#include "secret.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"

#define MASK "***"

static int shown;

void jr_secrets_show(void)
{
    shown = 1;
}

/* Words that mark an option or a variable as secret wherever they stand in its
 * name. */
static const char *const words[] = {
    "password",   "passwd",        "passphrase", "passwort",    "secret",
    "token",      "credential",    "api-key",    "api_key",     "apikey",
    "access-key", "access_key",    "accesskey",  "private-key", "private_key",
    "auth-key",   "authorization",
};

/* Words that name a secret only as the last part of a name: --pass,
 * MYSQL_PWD. */
static const char *const last_words[] = {"pass", "pwd", "auth", "pw"};

static int ends_secret(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof last_words / sizeof *last_words; i++) {
        const size_t size = strlen(last_words[i]);

        if (length >= size &&
            strncasecmp(name + length - size, last_words[i], size) == 0 &&
            (length == size || strchr("-_", name[length - size - 1])))
            return 1;
    }
    return 0;
}

/* Whether the text begins with the word, in capitals or not.  Nearly none has
 * even its first letter: 0x20 is what small ones have more than capitals. */
static int begins_with(const char *text, const char *word, size_t size)
{
    return (*text | 0x20) == *word && strncasecmp(text, word, size) == 0;
}

static int is_secret(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t size = strlen(words[i]);

        for (size_t at = 0; at + size <= length; at++)
            if (begins_with(name + at, words[i], size))
                return 1;
    }
    return ends_secret(name, length);
}

/* Whether the word is an option whose value is the next one. */
static int awaits_value(const char *word, size_t size)
{
    return size > 1 && word[0] == '-' && !memchr(word, '=', size) &&
           is_secret(word, size);
}

/* Where the value of a secret starts, behind NAME= or, of a header, NAME: as in
 * "Authorization: Bearer x", or behind an option, at the start or further on
 * ("host=h;password=x", "A=1 TOKEN=x ls", "login --password x"); NULL:
 * nowhere. */
static const char *find_secret(const char *arg, size_t size)
{
    const char *end = arg + size, *name = arg, *setting = arg, *word = arg;

    for (const char *at = arg; at < end; at++) {
        if (*at == ' ' || *at == '\t' || *at == '\n') {
            if (awaits_value(word, (size_t)(at - word)))
                return at + 1;
            word = at + 1;
        }
        if (*at == '=') {
            if (is_secret(setting, (size_t)(at - setting)))
                return at + 1;
            setting = name = at + 1;
        } else if (*at == ':') {
            if (memchr(name, '/', (size_t)(at - name)) == NULL &&
                is_secret(name, (size_t)(at - name)))
                return at + 1;
            name = at + 1;
        }
    }
    return NULL;
}

/* Where the part of an address before its '@' ends: the last one before the
 * first slash or, where a password has a slash itself, behind that.  A number
 * before the slash is a port.  NULL: it has no such part. */
static const char *find_host(const char *start, const char *end)
{
    const char *slash = memchr(start, '/', (size_t)(end - start));
    const char *colon, *host;

    host = memrchr(start, '@', (size_t)((slash ? slash : end) - start));
    if (host || !slash)
        return host;
    colon = memchr(start, ':', (size_t)(slash - start));
    if (!colon || colon + 1 + strspn(colon + 1, "0123456789") >= slash)
        return NULL;
    for (host = slash; host < end && *host != '@' && *host != ' '; host++)
        ;
    return host < end && *host == '@' ? host : NULL;
}

/* Where the password of an address starts, scheme://user:x@host, and in
 * *length how long it is; NULL: nowhere. */
static const char *find_password(const char *arg, size_t size, size_t *length)
{
    const char *end = arg + size, *at = arg;

    while ((at = memmem(at, (size_t)(end - at), "://", 3))) {
        const char *start = at + 3, *host = find_host(start, end);
        const char *colon =
            host ? memchr(start, ':', (size_t)(host - start)) : NULL;

        if (colon) {
            *length = (size_t)(host - colon) - 1;
            return colon + 1;
        }
        at = start;
    }
    return NULL;
}

/* Whether the argument behind such an option is its value: "-v" and "--to" are
 * options of their own. */
static int may_be_value(const char *arg, size_t size)
{
    return size > 0 && (arg[0] != '-' || (size > 2 && arg[1] != '-'));
}

static char *put(char *to, const char *bytes, size_t size)
{
    memcpy(to, bytes, size);
    return to + size;
}

/* Writes a mask for a value, if it is not empty; returns behind it. */
static char *put_mask(char *to, size_t length)
{
    return length > 0 ? put(to, MASK, strlen(MASK)) : to;
}

/* Writes one argument; returns behind it.  A secret is one to the end. */
static char *put_arg(char *to, const char *arg, size_t size, int is_value)
{
    const char *end = arg + size, *secret, *value;
    size_t length;

    if (shown)
        return put(to, arg, size);
    if (is_value && may_be_value(arg, size))
        return put_mask(to, size);
    secret = find_secret(arg, size);
    while ((value = find_password(arg, (size_t)(end - arg), &length)) &&
           (!secret || value < secret)) {
        to = put_mask(put(to, arg, (size_t)(value - arg)), length);
        arg = value + length;
        if (secret && secret < arg)
            secret = find_secret(arg, (size_t)(end - arg));
    }
    if (!secret)
        return put(to, arg, (size_t)(end - arg));
    to = put(to, arg, (size_t)(secret - arg));
    return put_mask(to, (size_t)(end - secret));
}

char *jr_join_args(const char *bytes, size_t size)
{
    /* In the worst case each byte becomes a mask and a blank. */
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
