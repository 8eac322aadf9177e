/* SPDX-License-Identifier: MIT
 *
 * JSON (RFC 8259), a value after the other.
 * Runs in: analyzer. */
#include "json_writer.h"

#include "write/escape.h"

#define DIGITS 20 /* of the largest number */

static void put_comma(struct jr_json *json)
{
    if (json->more)
        putc_unlocked(',', json->out);
    json->more = 1;
}

void jr_json_open(struct jr_json *json, char bracket)
{
    put_comma(json);
    putc_unlocked(bracket, json->out);
    json->more = 0;
}

void jr_json_close(struct jr_json *json, char bracket)
{
    putc_unlocked(bracket, json->out);
    json->more = 1;
}

void jr_json_key(struct jr_json *json, const char *key)
{
    put_comma(json);
    fprintf(json->out, "\"%s\":", key);
    json->more = 0;
}

void jr_json_string(struct jr_json *json, const char *text)
{
    if (text == NULL) {
        jr_json_word(json, "null");
        return;
    }
    put_comma(json);
    putc_unlocked('"', json->out);
    jr_put_json(json->out, text);
    putc_unlocked('"', json->out);
}

void jr_json_lines(struct jr_json *json, const char *text)
{
    put_comma(json);
    putc_unlocked('"', json->out);
    jr_put_json_lines(json->out, text);
    putc_unlocked('"', json->out);
}

void jr_json_word(struct jr_json *json, const char *word)
{
    put_comma(json);
    fputs(word, json->out);
}

static void put_number(FILE *out, uint64_t number)
{
    char digits[DIGITS], *at = digits + DIGITS;

    do
        *--at = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    while (at < digits + DIGITS)
        putc_unlocked(*at++, out);
}

void jr_json_uint(struct jr_json *json, uint64_t number)
{
    put_comma(json);
    put_number(json->out, number);
}

void jr_json_int(struct jr_json *json, int64_t number)
{
    put_comma(json);
    if (number < 0)
        putc_unlocked('-', json->out);
    put_number(json->out, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

void jr_json_ms(struct jr_json *json, uint64_t ns)
{
    const uint64_t us = ns / 1000 + (ns % 1000 >= 500);
    const int rest = (int)(us % 1000);

    jr_json_uint(json, us / 1000);
    if (rest == 0)
        return;
    putc_unlocked('.', json->out);
    putc_unlocked('0' + rest / 100, json->out);
    if (rest % 100 != 0)
        putc_unlocked('0' + rest / 10 % 10, json->out);
    if (rest % 10 != 0)
        putc_unlocked('0' + rest % 10, json->out);
}

void jr_json_key_string(struct jr_json *json, const char *key, const char *text)
{
    jr_json_key(json, key);
    jr_json_string(json, text);
}

void jr_json_key_uint(struct jr_json *json, const char *key, uint64_t number)
{
    jr_json_key(json, key);
    jr_json_uint(json, number);
}

void jr_json_key_word(struct jr_json *json, const char *key, const char *word)
{
    jr_json_key(json, key);
    jr_json_word(json, word);
}
