/* SPDX-License-Identifier: MIT
 *
 * Decodes UTF-8 that may be anything.
 * Runs in: analyzer, launcher. */
#include "utf8.h"

static int is_unfit(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || /* controls */
           (c >= 0xd800 && c < 0xe000) ||         /* surrogates */
           c == 0x200e || c == 0x200f || c == 0x061c || c == 0x2028 ||
           c == 0x2029 || (c >= 0x202a && c <= 0x202e) || /* direction */
           (c >= 0x2066 && c <= 0x2069) || (c >= 0xfdd0 && c <= 0xfdef) ||
           (c & 0xfffe) == 0xfffe || c > 0x10ffff;
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
        return JR_UTF8_UNFIT;
    for (int i = 1; i <= more; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return JR_UTF8_UNFIT;
        c = c << 6 | (at[i] & 0x3f);
    }
    if (c < least[more])
        return JR_UTF8_UNFIT;
    *text += more;
    return is_unfit(c) ? JR_UTF8_UNFIT : c;
}

void jr_utf8_blank(char *text)
{
    const char *from = text;

    while (*from != '\0') {
        const char *start = from;

        if (jr_utf8_next(&from) == JR_UTF8_UNFIT)
            *text++ = '?';
        else
            while (start < from)
                *text++ = *start++;
    }
    *text = '\0';
}

size_t jr_utf8_cut(const char *text, size_t most)
{
    while (most > 0 && ((unsigned char)text[most] & 0xc0) == 0x80)
        most--;
    return most;
}
