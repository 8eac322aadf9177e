/* SPDX-License-Identifier: MIT
 *
 * Options of a command line as rows of a table.
 * Runs in: analyzer. */
#ifndef JR_OPTION_H
#define JR_OPTION_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum jr_option_kind {
    JR_OPTION_FLAG,   /* sets a uint8_t to 1; the only kinds without a value */
    JR_OPTION_ACTION, /* are this one and the next: calls row.act */
    JR_OPTION_TEXT,   /* sets a const char * */
    JR_OPTION_LIST,   /* adds to an array of const char * */
    JR_OPTION_CHOICE, /* sets a uint8_t to the number of the word */
    JR_OPTION_VALUE   /* calls row.take */
};

/* Writes what an option without a value stands for into the target. */
typedef void jr_act_fn(void *target);

/* Takes the value of the option `name` into the target.  Returns 0, or -1 after
 * saying on stderr what is wrong with it. */
typedef int jr_take_fn(void *target, const char *name, const char *value);

struct jr_option {
    char letter;       /* 0: none */
    const char *word;  /* with its dashes; NULL: none */
    const char *value; /* the value's name in the help; NULL: no value */
    enum jr_option_kind kind;
    size_t offset;      /* of the variable in the target; LIST: of the */
    size_t count, room; /* array, its size_t count and size_t room */
    const char *const *choices; /* CHOICE: ends with a NULL */
    union {
        jr_act_fn *act;
        jr_take_fn *take;
    };
    uint8_t joined;   /* a word's value stands behind its "=" only, and is ""
                       without one; messages name the option as it was given */
    const char *help; /* without line breaks; NULL: the help's usage has it */
};

/* The parts of a row between value and help, by kind; `type` is the target. */
#define JR_FLAG(type, field)                                                   \
    .kind = JR_OPTION_FLAG,                                                    \
    .offset = offsetof(type, field) + JR_MUST_BE(type, field, uint8_t)
#define JR_TEXT(type, field)                                                   \
    .kind = JR_OPTION_TEXT,                                                    \
    .offset = offsetof(type, field) + JR_MUST_BE(type, field, const char *)
#define JR_LIST(type, field, number, room_field)                               \
    .kind = JR_OPTION_LIST,                                                    \
    .offset = offsetof(type, field) + JR_MUST_BE(type, field, const char **),  \
    .count = offsetof(type, number), .room = offsetof(type, room_field)
#define JR_CHOICE(type, field, words)                                          \
    .kind = JR_OPTION_CHOICE, .choices = words,                                \
    .offset = offsetof(type, field) + JR_MUST_BE(type, field, uint8_t)
#define JR_ACTION(function) .kind = JR_OPTION_ACTION, .act = function
#define JR_VALUE(function) .kind = JR_OPTION_VALUE, .take = function

/* 0; does not compile unless the field has that type. */
#define JR_MUST_BE(type, field, wanted)                                        \
    (0 * sizeof(char[__builtin_types_compatible_p(                             \
                         __typeof__(((type *)0)->field), wanted)               \
                         ? 1                                                   \
                         : -1]))

/* Options of one target. */
struct jr_option_table {
    const struct jr_option *rows;
    size_t count;
    void *target;
};

/* A command line that is read; starts with {words, NULL}. */
struct jr_command_line {
    char **words;        /* the rest, up to a NULL */
    const char *operand; /* the last word that is no option */
    uint8_t no_options;  /* "--" has been read */
};

enum jr_word { JR_WORD_END, JR_WORD_OPTION, JR_WORD_OPERAND, JR_WORD_WRONG };

/* Reads the next option with its value into its target, or the next operand.
 * A value stands behind a word's "=", or joined to a letter, or is the next
 * argument; letters may stand in one group: -vt, -s5, -e name.  Says on stderr
 * what is wrong. */
enum jr_word jr_option_next(struct jr_command_line *line,
                            const struct jr_option_table *tables,
                            size_t ntables);

/* Prints a line for each option of the table, or several. */
void jr_option_help(FILE *out, const struct jr_option *rows, size_t count);

#endif
