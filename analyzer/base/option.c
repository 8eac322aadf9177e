/* SPDX-License-Identifier: MIT
 *
 * Reads the options of a command line by the rows of tables.
 * Runs in: analyzer. */
#include "option.h"

#include <stdlib.h>
#include <string.h>

#include "diag.h"
#include "mem.h"

#define HELP_COLUMN 23
#define HELP_WIDTH 80

struct found_option {
    const struct jr_option *row; /* NULL: no table has it */
    char *target;
};

/* The row with this letter (not 0), or this word of `length` bytes. */
static struct found_option find(const struct jr_option_table *tables,
                                size_t ntables, char letter, const char *word,
                                size_t length)
{
    for (size_t i = 0; i < ntables; i++)
        for (size_t j = 0; j < tables[i].count; j++) {
            const struct jr_option *row = &tables[i].rows[j];

            if (letter ? row->letter == letter
                       : row->word && word && strlen(row->word) == length &&
                             memcmp(row->word, word, length) == 0)
                return (struct found_option){row, tables[i].target};
        }
    return (struct found_option){NULL, NULL};
}

/* Says which words an option takes: "a, b or c". */
static void say_choices(const struct jr_option *row, const char *name,
                        const char *value)
{
    const char *const *choices = row->choices;
    char *list = jr_strdup("");

    for (size_t i = 0; choices[i]; i++) {
        char *longer = jr_printf("%s%s%s", list,
                                 i == 0           ? ""
                                 : choices[i + 1] ? ", "
                                                  : " or ",
                                 choices[i]);

        free(list);
        list = longer;
    }
    if (row->joined)
        jr_say("%s: must be %s=%s", name, row->word, list);
    else
        jr_say("%s %s: must be %s", name, value, list);
    free(list);
}

static int choose(uint8_t *number, const struct jr_option *row,
                  const char *name, const char *value)
{
    for (uint8_t i = 0; row->choices[i]; i++)
        if (value && strcmp(value, row->choices[i]) == 0) {
            *number = i;
            return 0;
        }
    say_choices(row, name, value);
    return -1;
}

/* Writes an option, with its value or NULL, into its target. */
static int apply(const struct found_option *option, const char *name,
                 const char *value)
{
    const struct jr_option *row = option->row;
    void *at = option->target + row->offset;

    switch (row->kind) {
    case JR_OPTION_FLAG:
        *(uint8_t *)at = 1;
        return 0;
    case JR_OPTION_ACTION:
        row->act(option->target);
        return 0;
    case JR_OPTION_TEXT:
        *(const char **)at = value;
        return 0;
    case JR_OPTION_LIST:
        *JR_PUSH(*(const char ***)at, *(size_t *)(option->target + row->count),
                 *(size_t *)(option->target + row->room)) = value;
        return 0;
    case JR_OPTION_CHOICE:
        return choose(at, row, name, value);
    case JR_OPTION_VALUE:
        return row->take(option->target, name, value);
    }
    return -1;
}

/* The value of an option: the text joined to it, else the next word. */
static const char *value_of(struct jr_command_line *line, const char *name,
                            const char *joined)
{
    if (joined)
        return joined;
    if (!*line->words)
        jr_say("%s needs a value", name);
    return *line->words ? *line->words++ : NULL;
}

static int read_word(struct jr_command_line *line, const char *text,
                     const struct jr_option_table *tables, size_t ntables)
{
    const size_t length = strcspn(text, "=");
    const struct found_option option = find(tables, ntables, 0, text, length);
    const char *joined = text[length] ? text + length + 1 : NULL;
    const char *value;

    if (!option.row) {
        jr_say("unknown option %s", text);
        return -1;
    }
    if (!option.row->value && joined) {
        jr_say("%s takes no value", option.row->word);
        return -1;
    }
    if (!option.row->value)
        return apply(&option, option.row->word, NULL);
    if (option.row->joined)
        return apply(&option, text, joined ? joined : "");
    value = value_of(line, option.row->word, joined);
    return value ? apply(&option, option.row->word, value) : -1;
}

/* Reads a group of letters; the last one may have a value. */
static int read_letters(struct jr_command_line *line, const char *text,
                        const struct jr_option_table *tables, size_t ntables)
{
    for (const char *at = text + 1; *at; at++) {
        const struct found_option option = find(tables, ntables, *at, NULL, 0);
        const char name[3] = {'-', *at, '\0'};
        const char *value;

        if (!option.row) {
            jr_say("unknown option %s", text[2] ? text : name);
            return -1;
        }
        if (option.row->value) {
            value = value_of(line, name, at[1] ? at + 1 : NULL);
            return value ? apply(&option, name, value) : -1;
        }
        if (apply(&option, name, NULL) != 0)
            return -1;
    }
    return 0;
}

enum jr_word jr_option_next(struct jr_command_line *line,
                            const struct jr_option_table *tables,
                            size_t ntables)
{
    const char *text;
    int result;

    if (!line->no_options && *line->words && strcmp(*line->words, "--") == 0) {
        line->no_options = 1;
        line->words++;
    }
    if (!*line->words)
        return JR_WORD_END;
    text = *line->words++;
    if (line->no_options || text[0] != '-' || text[1] == '\0') {
        line->operand = text;
        return JR_WORD_OPERAND;
    }
    result = text[1] == '-' ? read_word(line, text, tables, ntables)
                            : read_letters(line, text, tables, ntables);
    return result == 0 ? JR_WORD_OPTION : JR_WORD_WRONG;
}

/* Prints the text in lines that begin at HELP_COLUMN; the cursor is there. */
static void print_lines(FILE *out, const char *text)
{
    while (strlen(text) > HELP_WIDTH - HELP_COLUMN) {
        int length = HELP_WIDTH - HELP_COLUMN;

        while (length > 0 && text[length] != ' ')
            length--;
        if (length == 0)
            break;
        fprintf(out, "%.*s\n%*s", length, text, HELP_COLUMN, "");
        text += length + 1;
    }
    fprintf(out, "%s\n", text);
}

void jr_option_help(FILE *out, const struct jr_option *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct jr_option *row = &rows[i];
        char text[64];
        int used = 0;

        if (!row->help)
            continue;
        if (row->letter)
            used = snprintf(text, sizeof(text), "-%c%s", row->letter,
                            row->word ? ", " : "");
        snprintf(text + used, sizeof(text) - (size_t)used, "%s%s%s",
                 row->word ? row->word : "",
                 row->value ? (row->word ? "=" : " ") : "",
                 row->value ? row->value : "");
        fprintf(out, "  %-*s ", HELP_COLUMN - 3, text);
        print_lines(out, row->help);
    }
}
