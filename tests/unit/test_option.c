/* SPDX-License-Identifier: MIT
 *
 * Reads options by their rows, and prints their help.
 * Runs in: tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/option.h"

struct target {
    uint8_t flag, choice;
    const char *text;
    const char **list;
    size_t count, room;
    int acted;
    char taken[64]; /* the last option with JR_VALUE, as "NAME VALUE" */
};

static const char *const choices[] = {"one", "two", "three", NULL};

static void act(void *target)
{
    ((struct target *)target)->acted++;
}

static int take(void *target, const char *name, const char *value)
{
    snprintf(((struct target *)target)->taken, 64, "%s %s", name, value);
    return strcmp(value, "bad") == 0 ? -1 : 0;
}

static const struct jr_option rows[] = {
    {'f', "--flag", NULL, JR_FLAG(struct target, flag), .help = "a flag"},
    {'a', NULL, NULL, JR_ACTION(act), .help = "acts"},
    {'t', "--text", "TEXT", JR_TEXT(struct target, text),
     .help = "words that reach the last column of the line as xxxxxxxxx"},
    {0, "--list", "ITEM", JR_LIST(struct target, list, count, room),
     .help = "words that are too long for the first line of the help, so that "
             "the last ones are in the next"},
    {0, "--choice", "WORD", JR_CHOICE(struct target, choice, choices),
     .help = "a choice"},
    {0, "--joined", "WORD", JR_VALUE(take), .joined = 1, .help = "joined"},
    {'n', NULL, "N", JR_VALUE(take)},
};

#define NROWS (sizeof rows / sizeof *rows)

static char words[256], *argv[32];

/* Starts to read a command line given as words between blanks. */
static struct jr_command_line start(const char *line)
{
    size_t count = 0;

    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
        argv[count++] = word;
    argv[count] = NULL;
    return (struct jr_command_line){.words = argv};
}

/* Reads all options; returns what ended that. */
static enum jr_word read_options(const char *text, struct target *target)
{
    struct jr_command_line line = start(text);
    const struct jr_option_table table = {rows, NROWS, target};
    enum jr_word word;

    free(target->list);
    *target = (struct target){0};
    do
        word = jr_option_next(&line, &table, 1);
    while (word == JR_WORD_OPTION);
    return word;
}

static void test_each_kind(void **state)
{
    struct target target = {0};

    (void)state;
    assert_int_equal(read_options("--flag -a -aa --text=x=y --list one "
                                  "--list=two --choice three --joined=v",
                                  &target),
                     JR_WORD_END);
    assert_int_equal(target.flag, 1);
    assert_int_equal(target.acted, 3);
    assert_string_equal(target.text, "x=y");
    assert_int_equal(target.count, 2);
    assert_string_equal(target.list[0], "one");
    assert_string_equal(target.list[1], "two");
    assert_int_equal(target.choice, 2);
    assert_string_equal(target.taken, "--joined=v v");
    assert_int_equal(read_options("-fat text -n5", &target), JR_WORD_END);
    assert_int_equal(target.flag + target.acted, 2);
    assert_string_equal(target.text, "text");
    assert_string_equal(target.taken, "-n 5");
    assert_int_equal(read_options("-tfa", &target), JR_WORD_END);
    assert_string_equal(target.text, "fa");
    assert_int_equal(target.flag, 0);
    /* A joined value is not looked for in the next word. */
    assert_int_equal(read_options("--joined x", &target), JR_WORD_OPERAND);
    assert_string_equal(target.taken, "--joined ");
    free(target.list);
}

static void test_wrong(void **state)
{
    struct target target = {0};

    (void)state;
    assert_int_equal(read_options("--fla", &target), JR_WORD_WRONG);
    assert_int_equal(read_options("--flags", &target), JR_WORD_WRONG);
    assert_int_equal(read_options("-fx", &target), JR_WORD_WRONG);
    assert_int_equal(read_options("--flag=1", &target), JR_WORD_WRONG);
    assert_int_equal(read_options("--text", &target), JR_WORD_WRONG);
    assert_int_equal(read_options("-t", &target), JR_WORD_WRONG);
    assert_int_equal(read_options("--choice=four", &target), JR_WORD_WRONG);
    assert_int_equal(read_options("--choice=", &target), JR_WORD_WRONG);
    assert_int_equal(read_options("-n bad -f", &target), JR_WORD_WRONG);
    assert_int_equal(target.flag, 0);
    free(target.list);
}

static void test_operands(void **state)
{
    struct target one = {0}, two = {0};
    const struct jr_option_table tables[] = {{rows, 1, &one},
                                             {rows, NROWS, &two}};
    struct jr_command_line line = start("a -f - -a -- -f --");

    (void)state;
    assert_int_equal(jr_option_next(&line, tables, 2), JR_WORD_OPERAND);
    assert_string_equal(line.operand, "a");
    assert_int_equal(jr_option_next(&line, tables, 2), JR_WORD_OPTION);
    assert_int_equal(jr_option_next(&line, tables, 2), JR_WORD_OPERAND);
    assert_string_equal(line.operand, "-");
    assert_int_equal(jr_option_next(&line, tables, 2), JR_WORD_OPTION);
    assert_int_equal(jr_option_next(&line, tables, 2), JR_WORD_OPERAND);
    assert_string_equal(line.operand, "-f");
    assert_int_equal(jr_option_next(&line, tables, 2), JR_WORD_OPERAND);
    assert_string_equal(line.operand, "--");
    assert_int_equal(jr_option_next(&line, tables, 2), JR_WORD_END);
    /* Of two tables with an option, the first counts. */
    assert_int_equal(one.flag, 1);
    assert_int_equal(two.flag, 0);
    assert_int_equal(two.acted, 1);
}

static void test_help(void **state)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    jr_option_help(out, rows, 4);
    jr_option_help(out, rows + NROWS - 1, 1); /* has none */
    fclose(out);
    assert_string_equal(
        text,
        "  -f, --flag           a flag\n"
        "  -a                   acts\n"
        "  -t, --text=TEXT      words that reach the last column of the line "
        "as xxxxxxxxx\n"
        "  --list=ITEM          words that are too long for the first line of "
        "the help,\n"
        "                       so that the last ones are in the next\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind), cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_operands), cmocka_unit_test(test_help)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
