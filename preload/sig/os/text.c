/* SPDX-License-Identifier: MIT
 *
 * Text without stdio.
 * Runs in: handler, any thread. */
#include "text.h"

void jp_text_init_sig(struct jp_text *text, char *buffer, size_t size)
{
    text->data = buffer;
    text->size = size;
    text->length = 0;
    text->cut = 0;
    buffer[0] = '\0';
}

void jp_text_char_sig(struct jp_text *text, char c)
{
    if (text->length + 1 >= text->size) {
        text->cut = 1;
        return;
    }
    text->data[text->length++] = c;
    text->data[text->length] = '\0';
}

void jp_text_bytes_sig(struct jp_text *text, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        jp_text_char_sig(text, bytes[i]);
}

void jp_text_add_sig(struct jp_text *text, const char *string)
{
    jp_text_bytes_sig(text, string, jp_text_length_sig(string));
}

static void number_sig(struct jp_text *text, uint64_t number, unsigned base)
{
    char digits[20];
    unsigned count = 0;
    do {
        digits[count++] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number != 0);
    while (count > 0)
        jp_text_char_sig(text, digits[--count]);
}

void jp_text_decimal_sig(struct jp_text *text, uint64_t number)
{
    number_sig(text, number, 10);
}

void jp_text_hex_sig(struct jp_text *text, uint64_t number)
{
    number_sig(text, number, 16);
}

void jp_text_value_sig(struct jp_text *text, const char *bytes, size_t count)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < count; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c >= '!' && c <= '~' && c != '%') {
            jp_text_char_sig(text, (char)c);
            continue;
        }
        if (text->length + 3 >= text->size) {
            text->cut = 1;
            return;
        }
        jp_text_char_sig(text, '%');
        jp_text_char_sig(text, hex[c >> 4]);
        jp_text_char_sig(text, hex[c & 15]);
    }
}

void jp_text_trim_sig(struct jp_text *text, size_t length)
{
    text->length = length;
    text->data[length] = '\0';
}

uint64_t jp_text_number_sig(const char **at, const char *end, unsigned base)
{
    uint64_t number = 0;
    for (; *at < end; (*at)++) {
        char c = **at;
        unsigned digit;
        if (c >= '0' && c <= '9')
            digit = (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (unsigned)(c - 'a') + 10;
        else
            break;
        if (digit >= base)
            break;
        number = number * base + digit;
    }
    return number;
}

size_t jp_text_length_sig(const char *string)
{
    size_t length = 0;
    while (string[length] != '\0')
        length++;
    return length;
}
