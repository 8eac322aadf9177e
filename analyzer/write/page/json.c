/* SPDX-License-Identifier: MIT
 *
 * Writes untrusted text as strings of JSON.
 * Runs in: analyzer. */
#include "json.h"

#include <string.h>

#include "base/utf8.h"
#include "pack.h"

static void put_character(FILE *out, const char **text)
{
    const char *from = *text;
    uint32_t code = jr_utf8_next(text);

    if (code == JR_UTF8_UNFIT)
        fputs("\\ufffd", out);
    else if (code == '"' || code == '\\' || code == '<')
        fprintf(out, "\\u%04x", (unsigned)code);
    else
        fwrite(from, 1, (size_t)(*text - from), out);
}

void jr_page_json(FILE *out, const char *text, size_t most)
{
    const char *at = text;

    fputc('"', out);
    while (*at != '\0' && (size_t)(at - text) < most) {
        const char *from = at;

        while (*at >= 0x20 && *at < 0x7f && *at != '"' && *at != '\\' &&
               *at != '<' && (size_t)(at - text) < most)
            at++;
        fwrite(from, 1, (size_t)(at - from), out);
        if (*at != '\0' && (size_t)(at - text) < most)
            put_character(out, &at);
    }
    fputs(*at == '\0' ? "\"" : "\xe2\x80\xa6\"", out);
}
