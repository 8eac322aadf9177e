/* SPDX-License-Identifier: MIT
 *
 * Escaping of untrusted text, a table of replacements a format.
 * Runs in: analyzer. */
#include "escape.h"

#include "../base/utf8.h"

#define REPLACEMENT_UTF8 "\xef\xbf\xbd"

/* What stands for an ASCII character; NULL: itself. */
struct escapes {
    const char *of[128];
};

static const struct escapes html = {.of = {['&'] = "&amp;",
                                           ['<'] = "&lt;",
                                           ['>'] = "&gt;",
                                           ['"'] = "&quot;",
                                           ['\''] = "&#39;"}};
static const struct escapes plain = {.of = {['\t'] = " "}};
static const struct escapes collapsed = {
    .of = {[';'] = ":", ['\n'] = " ", ['\r'] = " ", ['\t'] = " "}};

static const struct escapes json = {
    .of = {['"'] = "\\\"", ['\\'] = "\\\\", ['\t'] = " "}};
static const struct escapes json_lines = {.of = {['"'] = "\\\"",
                                                 ['\\'] = "\\\\",
                                                 ['\t'] = "\\t",
                                                 ['\n'] = "\\n",
                                                 ['\r'] = "\\r"}};

static int is_plain(const struct escapes *escapes, unsigned char c)
{
    return c >= 0x20 && c < 0x7f && escapes->of[c] == NULL;
}

static void put(FILE *out, const char *text, const struct escapes *escapes)
{
    while (*text != '\0') {
        const char *from = text;
        unsigned char first;

        while (is_plain(escapes, (unsigned char)*text))
            text++;
        if (text > from)
            fwrite(from, 1, (size_t)(text - from), out);
        first = (unsigned char)*text;
        if (first == '\0')
            return;
        from = text;
        if (first < 0x80 && escapes->of[first] != NULL) {
            fputs(escapes->of[first], out);
            text++;
        } else if (jr_utf8_next(&text) == JR_UTF8_UNFIT) {
            fputs(REPLACEMENT_UTF8, out);
        } else {
            fwrite(from, 1, (size_t)(text - from), out);
        }
    }
}

void jr_put_html(FILE *out, const char *text)
{
    put(out, text, &html);
}

void jr_put_text(FILE *out, const char *text)
{
    put(out, text, &plain);
}

void jr_put_collapsed(FILE *out, const char *text)
{
    put(out, text, &collapsed);
}

void jr_put_json(FILE *out, const char *text)
{
    put(out, text, &json);
}

void jr_put_json_lines(FILE *out, const char *text)
{
    put(out, text, &json_lines);
}
