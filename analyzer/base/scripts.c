/* SPDX-License-Identifier: MIT
 *
 * Functions of scripts, and the lines of places in them.
 * Runs in: analyzer. */
#include "scripts.h"

#include <stdlib.h>

#include "base/mem.h"

#define LINES_MOST (64U << 20) /* bytes of all tables of a map */

/* Finds the index of the function with the number, or JR_NO_ITEM. */
static uint32_t find(const struct jr_scripts *scripts, uint32_t id)
{
    const uint32_t hash = jr_hash(id, 0);
    size_t at = hash;
    uint32_t index;

    while ((index = jr_index_next(&scripts->by_id, hash, &at)) != JR_NO_ITEM)
        if (scripts->items[index].id == id)
            break;
    return index;
}

/* The function with the number, which is added when it is new. */
static struct jr_script_function *function_of(struct jr_scripts *scripts,
                                              uint32_t id)
{
    uint32_t at = find(scripts, id);

    if (at == JR_NO_ITEM) {
        at = (uint32_t)scripts->count;
        jr_index_add(&scripts->by_id, jr_hash(id, 0), at);
        *JR_PUSH(scripts->items, scripts->count, scripts->room) =
            (struct jr_script_function){.id = id};
    }
    return &scripts->items[at];
}

void jr_scripts_add_lines(struct jr_scripts *scripts, uint32_t id,
                          const char *text, size_t size)
{
    struct jr_script_function *function = function_of(scripts, id);

    if (scripts->bytes + size + 1 > LINES_MOST)
        return;
    scripts->bytes += size + 1;
    if (function->nlines > 0)
        *JR_PUSH(function->lines, function->nlines, function->lines_room) = ',';
    for (size_t i = 0; i < size; i++)
        *JR_PUSH(function->lines, function->nlines, function->lines_room) =
            text[i];
}

void jr_scripts_add(struct jr_scripts *scripts, uint32_t id,
                    uint32_t first_line, char *name, char *file)
{
    struct jr_script_function *function = function_of(scripts, id);

    if (function->name) {
        free(name);
        free(file);
        return;
    }
    function->name = name ? name : jr_strdup("");
    function->file = file ? file : jr_strdup("");
    function->first_line = first_line;
}

void jr_scripts_free(struct jr_scripts *scripts)
{
    for (size_t i = 0; i < scripts->count; i++) {
        free(scripts->items[i].name);
        free(scripts->items[i].file);
        free(scripts->items[i].lines);
    }
    free(scripts->items);
    jr_index_free(&scripts->by_id);
    *scripts = (struct jr_scripts){0};
}

const struct jr_script_function *
jr_scripts_find(const struct jr_scripts *scripts, uint32_t id)
{
    const uint32_t at = find(scripts, id);

    return at == JR_NO_ITEM ? NULL : &scripts->items[at];
}

/* Reads digits; returns how many there were. */
static size_t take_digits(const char *text, size_t size, uint64_t *number)
{
    size_t used = 0;

    *number = 0;
    while (used < size && used < 9 && text[used] >= '0' && text[used] <= '9')
        *number = *number * 10 + (uint64_t)(text[used++] - '0');
    return used;
}

uint32_t jr_script_line(const struct jr_script_function *function, uint32_t at)
{
    int64_t line = function->first_line, result = 0;
    uint64_t end = 0, bytes, delta;
    size_t i = 0;

    while (i < function->nlines) {
        i += take_digits(function->lines + i, function->nlines - i, &bytes);
        if (i == function->nlines)
            break;
        const char sign = function->lines[i++];
        i += take_digits(function->lines + i, function->nlines - i, &delta);
        if (sign == '+')
            line += (int64_t)delta;
        else if (sign == '-')
            line -= (int64_t)delta;
        else if (sign != '?')
            break;
        result = sign == '?' ? 0 : line;
        end += bytes;
        if (at < end)
            break;
        i++; /* the comma */
    }
    return result > 0 && result <= INT32_MAX ? (uint32_t)result : 0;
}
