/* SPDX-License-Identifier: MIT
 *
 * Free Pascal's symbols (compiler/symdef.pas, make_mangledname; the dollar for
 * the dots in them): UNIT_$$_ROUTINE$ARGUMENTS$$RESULT, with the classes or
 * routines around it, UNIT$_$CLASS_$__$$_METHOD.  A program is the unit P$NAME.
 * Runs in: analyzer. */
#include "demangle_pascal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define ROUTINE "_$$_" /* in front of a routine */
#define SCOPE "$_$"    /* in front of what is around it */
#define INSIDE "_$_"   /* between classes, and behind the last */

struct piece {
    const char *text;
    size_t length;
};

static int is_letter(char byte)
{
    return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
           (byte >= '0' && byte <= '9') || byte == '_';
}

/* Returns the last place of `mark` in the text; NULL: it is not there. */
static const char *find_last(const char *text, const char *mark)
{
    const char *found = strstr(text, mark), *last = NULL;

    for (; found; found = strstr(found + 1, mark))
        last = found;
    return last;
}

/* Takes letters off the piece: a name. */
static struct piece take_name(struct piece *rest)
{
    struct piece name = {rest->text, 0};

    while (name.length < rest->length && is_letter(name.text[name.length]))
        name.length++;
    rest->text += name.length;
    rest->length -= name.length;
    return name;
}

static char *join(char *name, const char *between, struct piece piece)
{
    char *joined = jr_printf("%s%s%.*s", name ? name : "", between,
                             (int)piece.length, piece.text);

    free(name);
    return joined;
}

static int begins(struct piece piece, const char *mark)
{
    return piece.length >= strlen(mark) &&
           memcmp(piece.text, mark, strlen(mark)) == 0;
}

/* Reads what is around the routine: the unit, then classes or routines, whose
 * arguments are left out.  NULL: it is something else. */
static char *read_scope(struct piece scope)
{
    struct piece name;
    char *shown;

    if (begins(scope, "P$")) {
        scope.text += 2;
        scope.length -= 2;
    }
    name = take_name(&scope);
    if (name.length == 0)
        return NULL;
    shown = join(NULL, "", name);
    while (scope.length > 0) {
        if (begins(scope, SCOPE)) {
            scope.text += strlen(SCOPE);
            scope.length -= strlen(SCOPE);
            name = take_name(&scope);
            /* "TWORKER_$_" ends in the mark behind a class. */
            if (name.length > 1 && begins(scope, "$_") &&
                name.text[name.length - 1] == '_')
                name.length--;
            if (name.length > 0)
                shown = join(shown, ".", name);
        } else {
            scope.text++;
            scope.length--;
        }
    }
    return shown;
}

/* Writes the arguments in parentheses: words behind dollars, up to the result,
 * which two dollars precede. */
static char *add_arguments(char *shown, struct piece rest)
{
    const char *between = "(";

    while (rest.length > 1 && rest.text[0] == '$' && rest.text[1] != '$') {
        struct piece name;

        rest.text++;
        rest.length--;
        name = take_name(&rest);
        if (name.length == 0)
            break;
        shown = join(shown, between, name);
        between = ", ";
    }
    return join(shown, *between == '(' ? "" : ")", (struct piece){"", 0});
}

char *jr_demangle_pascal(const char *symbol)
{
    const char *mark = find_last(symbol, ROUTINE);
    struct piece rest, name;
    char *shown;

    if (!mark || mark == symbol)
        return NULL;
    rest =
        (struct piece){mark + strlen(ROUTINE), strlen(mark + strlen(ROUTINE))};
    name = take_name(&rest);
    if (name.length == 0 || (rest.length > 0 && *rest.text != '$'))
        return NULL;
    shown = read_scope((struct piece){symbol, (size_t)(mark - symbol)});
    if (!shown)
        return NULL;
    return add_arguments(join(shown, ".", name), rest);
}
