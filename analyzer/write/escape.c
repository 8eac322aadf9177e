/* SPDX-License-Identifier: MIT
 *
 * Escaping of untrusted text, a table of replacements a format.
 * Runs in: analyzer. */
#include "escape.h"

#define REPLACEMENT 0xfffdU
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

static int is_unfit(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || /* controls */
           (c >= 0xd800 && c < 0xe000) ||         /* surrogates */
           c == 0x200e || c == 0x200f || c == 0x061c ||
           c == 0x2028 || c == 0x2029 ||
           (c >= 0x202a && c <= 0x202e) ||        /* direction */
           (c >= 0x2066 && c <= 0x2069) ||
           (c >= 0xfdd0 && c <= 0xfdef) || (c & 0xfffe) == 0xfffe ||
           c > 0x10ffff;
}

/* Bytes that follow a lead byte; -1: it is none. */
static int following(unsigned char lead)
{
    if (lead < 0x80)
        return 0;
    if (lead >= 0xc2 && lead < 0xe0)
        return 1;
    if (lead >= 0xe0 && lead < 0xf0)
        return 2;
    return lead >= 0xf0 && lead < 0xf5 ? 3 : -1;
}

uint32_t jr_utf8_next(const char **text)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    const unsigned char *at = (const unsigned char *)*text;
    int more = following(*at);
    uint32_t c = more <= 0 ? *at : *at & (0x3fU >> more);

    (*text)++;
    if (more < 0)
        return REPLACEMENT;
    for (int i = 1; i <= more; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return REPLACEMENT;
        c = c << 6 | (at[i] & 0x3f);
    }
    if (c < least[more])
        return REPLACEMENT;
    *text += more;
    return is_unfit(c) ? REPLACEMENT : c;
}

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
        } else if (jr_utf8_next(&text) == REPLACEMENT) {
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
