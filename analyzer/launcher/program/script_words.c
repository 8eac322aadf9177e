/* SPDX-License-Identifier: MIT
 *
 * Words of shell scripts.
 * Runs in: launcher. */
#include "script_words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define DEPTH_MAX 5      /* of variables in variables */
#define LOOKUPS_MAX 200U /* of variables in a script */
#define VALUE_MAX ((size_t)1024)

size_t jl_script_name_length(const char *text, size_t length)
{
    size_t name = 0;

    while (name < length &&
           (isalpha((unsigned char)text[name]) || text[name] == '_' ||
            (name && isdigit((unsigned char)text[name]))))
        name++;
    return name;
}

/* How many bytes from an opening parenthesis, brace, quote or backquote up to
 * and with the one that closes it; all that is left if none does. */
static size_t group_length(const char *text, size_t length)
{
    const char open = text[0];
    const char close = open == '(' ? ')' : open == '{' ? '}' : open;
    size_t i = 1, depth = 1;

    for (; i < length && text[i]; i++) {
        if (text[i] == '\\' && open != '\'' && i + 1 < length)
            i++;
        else if (text[i] == close && --depth == 0)
            return i + 1;
        else if (text[i] == open && open != close)
            depth++;
    }
    return i;
}

/* How many bytes of `text` are one part of a word: a quoted string, a
 * substitution, an escaped byte, or a byte. */
static size_t part_length(const char *text, size_t length)
{
    if (text[0] == '\\' && length > 1)
        return 2;
    if (text[0] == '$' && length > 1 && strchr("({", text[1]))
        return 1 + group_length(text + 1, length - 1);
    if (strchr("'\"`", text[0]))
        return group_length(text, length);
    return 1;
}

static size_t word_length(const char *text)
{
    const size_t left = strlen(text);
    size_t length = 0;

    while (length < left && !strchr(" \t\r\n;&|", text[length])) {
        /* NAME=(...), bash's array */
        if (text[length] == '(' && length && text[length - 1] == '=')
            length += group_length(text + length, left - length);
        else
            length += part_length(text + length, left - length);
    }
    return length;
}

const char *jl_script_command(const char *text, struct jl_span *words,
                              size_t *count)
{
    const char *line;

    *count = 0;
    text += strspn(text, " \t\r\n;&|()");
    if (!*text)
        return NULL;
    line = text + strcspn(text, "\n");
    while (*text && !strchr("\n;&|", *text)) {
        size_t length;

        text += strspn(text, " \t\r");
        if (*text == '#')
            text += strcspn(text, "\n");
        length = word_length(text);
        if (length && *count < JL_SCRIPT_WORDS)
            words[(*count)++] = (struct jl_span){text, length};
        text += length;
    }
    return text < line ? text : line;
}

static void add(struct jl_values *values, char *text)
{
    int known = strlen(text) > VALUE_MAX || strchr(text, '\n') ||
                values->count == JL_SCRIPT_VALUES;

    for (size_t i = 0; i < values->count && !known; i++)
        known = strcmp(values->texts[i], text) == 0;
    if (known)
        free(text);
    else
        values->texts[values->count++] = text;
}

static void free_values(struct jl_values *values)
{
    for (size_t i = 0; i < values->count; i++)
        free(values->texts[i]);
    values->count = 0;
}

static void expand(struct jl_script *script, const struct jl_span *word,
                   int depth, struct jl_values *values);

/* Adds the values that one text assigns to a name: NAME=WORD, or the first
 * element of NAME=(WORD ...). */
static void add_assigned(struct jl_script *script, const char *text,
                         const struct jl_span *name, int depth,
                         struct jl_values *values)
{
    for (const char *at = text;
         (at = memmem(at, strlen(at), name->text, name->length)) != NULL;
         at += name->length) {
        const char *value = at + name->length;
        size_t end;
        struct jl_span word;

        if (*value != '=' || value[1] == '=' ||
            (at > text && !strchr(" \t\n;&|({\"", at[-1])))
            continue;
        value++;
        if (*value == '(')
            value += 1 + strspn(value + 1, " \t\n");
        /* (A value on one line, or to the end of an eval's word.) */
        word = (struct jl_span){value, word_length(value)};
        end = strcspn(value, at > text && at[-1] == '"' ? "\n\"" : "\n");
        word.length = word.length < end ? word.length : end;
        if (word.length && value[-1] != '=' && value[word.length - 1] == ')')
            word.length--;
        expand(script, &word, depth, values);
    }
}

/* Adds the values of `set -- WORD ...`, the first of the arguments. */
static void add_arguments(struct jl_script *script, int depth,
                          struct jl_values *values)
{
    const char *text = script->texts[0];

    while ((text = strstr(text, "set -- ")) != NULL) {
        struct jl_span word;

        text += strlen("set -- ");
        word = (struct jl_span){text, word_length(text)};
        /* (`set -- "$@" WORD` appends.) */
        if (strncmp(text, "\"$@\"", 4) != 0)
            expand(script, &word, depth, values);
    }
}

static void add_variable(struct jl_script *script, const struct jl_span *name,
                         int depth, struct jl_values *values)
{
    char *text;
    const char *given;

    if (name->length == 0 || depth >= DEPTH_MAX ||
        script->lookups++ >= LOOKUPS_MAX)
        return;
    if (name->length == 1 && strchr("@*", name->text[0])) {
        add_arguments(script, depth, values);
        return;
    }
    for (size_t i = 0; i < script->count; i++)
        add_assigned(script, script->texts[i], name, depth, values);
    text = jr_printf("%.*s", (int)name->length, name->text);
    given = jl_env_get(script->env, text);
    free(text);
    if (given)
        add(values, jr_strdup(given));
}

/* ${...}: NAME, NAME[@], or NAME with an operator; of :- and - the word behind
 * it is a value, too. */
static void add_braced(struct jl_script *script, const struct jl_span *inner,
                       int depth, struct jl_values *values)
{
    size_t length = jl_script_name_length(inner->text, inner->length);
    struct jl_span name = {inner->text, length}, other = {NULL, 0};
    const char *dash;

    if (length == 0 && inner->length && strchr("@*", inner->text[0]))
        name.length = 1;
    if (inner->length && inner->text[0] == '0') {
        add(values, jr_strdup(inner->length > 1 && inner->text[1] == '%'
                                  ? script->folder
                                  : script->path));
        return;
    }
    add_variable(script, &name, depth, values);
    dash = inner->text + name.length;
    if (name.length + 1 < inner->length && strchr(":-=", *dash)) {
        dash += *dash == ':' ? 2 : 1;
        other = (struct jl_span){dash,
                                 (size_t)(inner->text + inner->length - dash)};
        expand(script, &other, depth + 1, values);
    }
}

static void add_substituted(struct jl_script *script,
                            const struct jl_span *inner, int depth,
                            struct jl_values *values)
{
    char *text = jr_printf("%.*s", (int)inner->length, inner->text);
    size_t end = strlen(text), begin;

    if (strstr(text, "dirname") || strstr(text, "pwd")) {
        add(values, jr_strdup(script->folder));
    } else {
        while (end && strchr(" \t\n", text[end - 1]))
            end--;
        for (begin = end; begin && !strchr(" \t\n", text[begin - 1]); begin--)
            ;
        expand(script, &(struct jl_span){text + begin, end - begin}, depth + 1,
               values);
    }
    free(text);
}

/* The values of a part that begins with $ or a backquote. */
static void add_part(struct jl_script *script, const struct jl_span *part,
                     int depth, struct jl_values *values)
{
    const char *text = part->text;
    struct jl_span inner = {text + 2, part->length > 2 ? part->length - 3 : 0};

    if (text[0] == '`') {
        inner =
            (struct jl_span){text + 1, part->length > 1 ? part->length - 2 : 0};
        add_substituted(script, &inner, depth, values);
    } else if (part->length > 1 && text[1] == '{') {
        add_braced(script, &inner, depth, values);
    } else if (part->length > 1 && text[1] == '(') {
        add_substituted(script, &inner, depth, values);
    } else if (part->length > 1) {
        inner = (struct jl_span){text + 1, part->length - 1};
        add_braced(script, &inner, depth, values);
    }
}

/* Appends each of `more` to each of `values`.  An empty list stays empty. */
static void append(struct jl_values *values, struct jl_values *more)
{
    struct jl_values all = {.count = 0};

    if (more->count == 0)
        return;
    for (size_t i = 0; i < values->count; i++)
        for (size_t j = 0; j < more->count; j++)
            add(&all, jr_printf("%s%s", values->texts[i], more->texts[j]));
    free_values(values);
    free_values(more);
    *values = all;
}

/* The length of a substitution at the beginning, $NAME too. */
static size_t substitution_length(const char *text, size_t length)
{
    size_t name;

    if (text[0] == '`' || (length > 1 && strchr("({", text[1])))
        return part_length(text, length);
    name = jl_script_name_length(text + 1, length - 1);
    return 1 +
           (name ? name : length > 1 && strchr("@*0123456789#?!$-", text[1]));
}

/* Adds the values of a word whose quotes are dropped.  A single quote stays
 * within double ones; that is no program's name. */
static void expand(struct jl_script *script, const struct jl_span *word,
                   int depth, struct jl_values *values)
{
    struct jl_values whole = {.count = 0};
    size_t step;

    if (depth >= DEPTH_MAX)
        return;
    add(&whole, jr_strdup(""));
    for (size_t i = 0; i < word->length; i += step) {
        const char *text = word->text + i;
        struct jl_values more = {.count = 0};

        step = 1;
        if (strchr("$`", *text)) {
            step = substitution_length(text, word->length - i);
            add_part(script, &(struct jl_span){text, step}, depth + 1, &more);
        } else if (*text == '\\' && i + 1 < word->length) {
            step = 2;
            if (text[1] != '"')
                add(&more, jr_printf("%c", text[1]));
        } else if (!strchr("\"'", *text)) {
            step = strcspn(text, "\"'\\$`");
            step = step < word->length - i ? step : word->length - i;
            add(&more, jr_printf("%.*s", (int)step, text));
        }
        append(&whole, &more);
    }
    for (size_t i = 0; i < whole.count; i++)
        add(values, whole.texts[i]);
}

void jl_script_values(struct jl_script *script, const struct jl_span *word,
                      struct jl_values *values)
{
    expand(script, word, 0, values);
}
