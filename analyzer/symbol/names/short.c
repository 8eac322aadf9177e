/* SPDX-License-Identifier: MIT
 *
 * Finds what a name's short form leaves out.  Brackets are paired first, in one
 * pass: those of operators, as in "operator<", and of arrows are none, and what
 * has no partner is a character like others.
 * Runs in: analyzer. */
#include "short.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define NONE UINT32_MAX
#define LENGTH_MOST (UINT32_MAX - 1)
#define OPERATOR "operator"
#define PLT "@plt"
#define ELLIPSIS "\xe2\x80\xa6"

static const char openers[] = "(<[{", closers[] = ")>]}";

/* A name that is looked at. */
struct name {
    struct jr_short *found;
    const char *text;
    uint32_t length;
    uint32_t counts[sizeof openers - 1]; /* of open brackets, by kind */
};

/* What is left of a name: [from, to). */
struct rest {
    uint32_t from, to;
};

static int is_of_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           (unsigned char)c >= 0x80;
}

static int starts(const char *text, size_t length, const char *with)
{
    const size_t size = strlen(with);

    return length >= size && memcmp(text, with, size) == 0;
}

/* The length of "operator" at `at` with the signs behind it; 0: there is no
 * such word. */
static uint32_t operator_at(const struct name *name, uint32_t at)
{
    static const char *const brackets[] = {
        "()", "[]", "<=>", "<<=", ">>=", "->*", "->",
        "<<", ">>", "<=",  ">=",  "<",   ">"};
    const uint32_t word = sizeof OPERATOR - 1, end = at + word;
    uint32_t signs = end;

    if (name->text[at] != 'o' ||
        !starts(name->text + at, name->length - at, OPERATOR) ||
        (at > 0 && is_of_word(name->text[at - 1])) ||
        (end < name->length && is_of_word(name->text[end])))
        return 0;
    for (size_t i = 0; i < sizeof brackets / sizeof *brackets; i++)
        if (starts(name->text + end, name->length - end, brackets[i]))
            return word + (uint32_t)strlen(brackets[i]);
    while (signs < name->length && signs < end + 2 &&
           strchr("+-*/%^&|~!=,", name->text[signs]))
        signs++;
    return signs - at;
}

static size_t kind_of(const char *brackets, char c)
{
    const char *at = c ? strchr(brackets, c) : NULL;

    return at ? (size_t)(at - brackets) : sizeof openers - 1;
}

static void open_bracket(struct name *name, uint32_t at, size_t kind)
{
    struct jr_short *found = name->found;

    *JR_PUSH(found->open, found->nopen, found->open_room) = at;
    name->counts[kind]++;
}

/* Pairs a bracket with the last open one of its kind.  Those that are open
 * above that have no partner, like the sign in "(a < b)"; but a ">" goes with
 * the last open bracket or is a sign itself. */
static void close_bracket(struct name *name, uint32_t at, size_t kind)
{
    struct jr_short *found = name->found;
    uint32_t opener;

    if (found->nopen == 0 || name->counts[kind] == 0 ||
        (closers[kind] == '>' &&
         name->text[found->open[found->nopen - 1]] != '<'))
        return;
    do {
        opener = found->open[--found->nopen];
        name->counts[kind_of(openers, name->text[opener])]--;
    } while (name->text[opener] != openers[kind]);
    found->mates[opener] = at;
    found->mates[at] = opener;
}

static void pair_brackets(struct name *name)
{
    struct jr_short *found = name->found;
    const char *text = name->text;

    if (!found->mates || name->length > found->nmates) {
        found->mates =
            jr_realloc(found->mates, name->length, sizeof *found->mates);
        found->nmates = name->length;
    }
    memset(found->mates, 0xff, name->length * sizeof *found->mates);
    found->nopen = 0;
    for (uint32_t at = 0; at < name->length; at++) {
        const uint32_t sign = operator_at(name, at);
        const size_t opens = kind_of(openers, text[at]);
        const size_t closes = kind_of(closers, text[at]);

        if (sign > 0)
            at += sign - 1;
        else if (text[at] == '-' && at + 1 < name->length &&
                 text[at + 1] == '>')
            at++;
        else if (opens < sizeof openers - 1)
            open_bracket(name, at, opens);
        else if (closes < sizeof openers - 1)
            close_bracket(name, at, closes);
    }
}

static void cut(struct name *name, uint32_t from, uint32_t to, int dots)
{
    struct jr_short *found = name->found;

    if (from < to)
        *JR_PUSH(found->cuts, found->ncuts, found->room) =
            (struct jr_cut){.from = from, .to = to, .dots = (uint8_t)dots};
}

static int ends(const struct name *name, struct rest rest, const char *with)
{
    const uint32_t size = (uint32_t)strlen(with);

    return rest.to - rest.from >= size &&
           memcmp(name->text + rest.to - size, with, size) == 0;
}

/* What may stand behind a list of arguments. */
static const char *const qualifiers[] = {" const", " volatile", " noexcept",
                                         " &&",    " &",        "&"};
#define QUALIFIERS (sizeof qualifiers / sizeof *qualifiers)

/* Goes back over what follows a list of arguments. */
static uint32_t behind_list(const struct name *name, struct rest rest)
{
    for (;;) {
        const uint32_t before = rest.to;
        uint32_t mate;

        for (size_t i = 0; i < QUALIFIERS; i++)
            if (ends(name, rest, qualifiers[i]))
                rest.to -= (uint32_t)strlen(qualifiers[i]);
        /* " [clone .cold]" */
        mate = ends(name, rest, "]") ? name->found->mates[rest.to - 1] : NONE;
        if (mate != NONE && mate > rest.from && name->text[mate - 1] == ' ')
            rest.to = mate - 1;
        if (rest.to == before)
            return before;
    }
}

/* Goes on over the same, at `at` behind a list: in "f() const::L::g()". */
static uint32_t over_qualifiers(const struct name *name, uint32_t at)
{
    size_t i = 0;

    while (i < QUALIFIERS) {
        if (starts(name->text + at, name->length - at, qualifiers[i])) {
            at += (uint32_t)strlen(qualifiers[i]);
            i = 0;
        } else {
            i++;
        }
    }
    return at;
}

/* Whether brackets behind this character are a list of arguments.  Behind a
 * blank is a place in a source file, behind a colon a namespace without a
 * name. */
static int is_list(char before)
{
    return !strchr(" :({", before);
}

/* Where the list of arguments begins with which the rest ends; NONE: there is
 * none. */
static uint32_t find_list(const struct name *name, struct rest rest)
{
    const uint32_t end = behind_list(name, rest);
    uint32_t mate;

    if (end == rest.from || name->text[end - 1] != ')')
        return NONE;
    mate = name->found->mates[end - 1];
    return mate == NONE || mate <= rest.from || !is_list(name->text[mate - 1])
               ? NONE
               : mate;
}

/* Where the name begins behind the type of its result, which names of templates
 * begin with. */
static uint32_t behind_type(const struct name *name, struct rest rest)
{
    uint32_t from = rest.from;

    for (uint32_t at = rest.from; at < rest.to; at++) {
        const uint32_t mate = name->found->mates[at];

        if (operator_at(name, at) > 0)
            break;
        if (mate != NONE && mate > at && mate < rest.to)
            at = name->text[mate] == ')' ? over_qualifiers(name, mate + 1) - 1
                                         : mate;
        else if (name->text[at] == ' ')
            from = at + 1;
    }
    return from < rest.to ? from : rest.from;
}

/* The end of the arguments at `at` of a function that others are in, as in
 * "f(int) const::{lambda()#1}::operator()"; 0: there are none. */
static uint32_t end_of_outer(const struct name *name, uint32_t at)
{
    const uint32_t mate = name->found->mates[at];
    uint32_t end;

    if (name->text[at] != '(' || at == 0 || mate == NONE ||
        !is_list(name->text[at - 1]))
        return 0;
    end = over_qualifiers(name, mate + 1);
    return starts(name->text + end, name->length - end, "::") ? end : 0;
}

/* Cuts template arguments and those of functions around.  The first stand
 * behind a word, a colon (Rust) or a bracket, or behind an operator, of
 * "operator< <int>" with a blank between. */
static void cut_templates(struct name *name, struct rest rest)
{
    uint32_t behind = NONE; /* an operator */

    for (uint32_t at = rest.from; at < rest.to; at++) {
        const char before = at > rest.from ? name->text[at - 1] : '(';
        const uint32_t mate = name->found->mates[at];
        const uint32_t sign = operator_at(name, at);
        uint32_t outer;

        if (sign > 0) {
            behind = at + sign;
            at = behind - 1;
            continue;
        }
        outer = end_of_outer(name, at);
        if (outer > 0 && outer < rest.to) {
            cut(name, at, outer, 0);
            at = outer - 1;
            continue;
        }
        if (name->text[at] != '<' || mate == NONE || mate >= rest.to ||
            mate < at)
            continue;
        if (is_of_word(before) || strchr(":)]}>", before) || at == behind ||
            (before == ' ' && at - 1 == behind)) {
            cut(name, at + 1, mate, 1);
            at = mate;
        }
    }
}

/* The function in a name of one that gives a pointer to a function, as in
 * "void (*f(int))(char)"; the rest as it was: it is no such name.  `list` is
 * where the last list begins. */
static struct rest without_pointer(const struct name *name, struct rest rest,
                                   uint32_t list)
{
    struct rest inner = {0, list - 1};
    uint32_t mate;

    if (name->text[list - 1] != ')')
        return rest;
    mate = name->found->mates[list - 1];
    inner.from = mate + 2;
    if (mate == NONE || mate < rest.from || inner.from >= inner.to ||
        (name->text[mate + 1] != '*' && name->text[mate + 1] != '&') ||
        find_list(name, inner) == NONE)
        return rest;
    return inner;
}

/* Of a place in a source file, with which a name ends, the folders. */
static struct rest find_folders(const struct name *name)
{
    const struct rest none = {name->length, name->length};
    const uint32_t last = name->length - 1;
    struct rest folders;
    uint32_t mate;

    if (name->text[last] != ')')
        return none;
    mate = name->found->mates[last];
    if (mate == NONE || mate == 0 || name->text[mate - 1] != ' ')
        return none;
    folders = (struct rest){mate + 1, mate + 1};
    for (uint32_t at = folders.from; at < last; at++) {
        if (name->text[at] == ' ' || name->text[at] == '(')
            return none;
        if (name->text[at] == '/' && at + 1 < last)
            folders.to = at + 1;
    }
    return folders;
}

static void find_cuts(struct name *name)
{
    const struct rest folders = find_folders(name);
    const int is_plt = ends(name, (struct rest){0, name->length}, PLT);
    struct rest rest = {0, name->length};
    uint32_t list;

    if (is_plt)
        rest.to -= sizeof PLT - 1;
    list = find_list(name, rest);
    if (list != NONE) {
        const struct rest inner = without_pointer(name, rest, list);

        if (inner.from != rest.from)
            list = find_list(name, inner);
        rest.from = behind_type(name, (struct rest){inner.from, list});
        cut(name, 0, rest.from, 0);
        cut_templates(name, (struct rest){rest.from, list});
        cut(name, list, rest.to, 0);
        return;
    }
    cut_templates(name, (struct rest){0, folders.from});
    cut(name, folders.from, folders.to, 0);
}

void jr_short_find(struct jr_short *found, const char *text)
{
    const size_t length = strlen(text);
    struct name name = {
        .found = found, .text = text, .length = (uint32_t)length};

    found->ncuts = 0;
    /* What has no such bracket is short. */
    if (length > LENGTH_MOST || (!strchr(text, '>') && !strchr(text, ')')))
        return;
    pair_brackets(&name);
    find_cuts(&name);
}

void jr_short_free(struct jr_short *found)
{
    free(found->cuts);
    free(found->mates);
    free(found->open);
    *found = (struct jr_short){0};
}

char *jr_short_name(const char *text)
{
    const size_t length = strlen(text);
    struct jr_short found = {0};
    size_t at = 0, used = 0;
    char *made;

    jr_short_find(&found, text);
    /* An ellipsis may be longer than what it stands for. */
    made = jr_alloc(length + found.ncuts * (sizeof ELLIPSIS - 1) + 1, 1);
    for (size_t i = 0; i <= found.ncuts; i++) {
        const size_t end = i < found.ncuts ? found.cuts[i].from : length;

        memcpy(made + used, text + at, end - at);
        used += end - at;
        if (i < found.ncuts) {
            at = found.cuts[i].to;
            if (found.cuts[i].dots) {
                memcpy(made + used, ELLIPSIS, sizeof ELLIPSIS - 1);
                used += sizeof ELLIPSIS - 1;
            }
        }
    }
    jr_short_free(&found);
    return made;
}
