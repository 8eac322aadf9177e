/* SPDX-License-Identifier: MIT
 *
 * Names of JIT code in JavaScript engines.  All become `f (file:line:col)`,
 * where f may be "(anonymous)".
 * Runs in: analyzer. */
#include "jit_name_js.h"

#include <string.h>

static const char anonymous[] = "(anonymous)";

/* Length of the text before a `:line:column` at the end, or the `:line` that V8
 * writes up to Node 18; or 0. */
static size_t before_position(struct jr_slice text)
{
    size_t column = jr_slice_find_last(text, ':');
    size_t line;

    if (column == text.length ||
        !jr_slice_is_number(jr_slice_skip(text, column + 1)))
        return 0;
    line = jr_slice_find_last(jr_slice_head(text, column), ':');
    if (line == column ||
        !jr_slice_is_number(
            jr_slice_head(jr_slice_skip(text, line + 1), column - line - 1)))
        return column;
    return line;
}

/* Where the blank between function and file is: both may have blanks of their
 * own, so the file begins with the first word that looks like a path or URL,
 * else with the last word.  text.length: there is none. */
static size_t find_source(struct jr_slice text)
{
    static const char *const starts[] = {
        " /",       " node:",       " file:", " http",
        " webpack", " evalmachine", " wasm:", " data:"};
    size_t position = before_position(text);
    size_t first = text.length;

    if (position == 0)
        return text.length;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        size_t at = jr_slice_find_text(text, starts[i]);

        if (at < first)
            first = at;
    }
    if (first < text.length)
        return first;
    first = jr_slice_find_last(jr_slice_head(text, position), ' ');
    return first < position ? first : text.length;
}

static void add_function(struct jr_jit_name *name, struct jr_slice function)
{
    if (function.length == 0)
        jr_name_add_text(name, anonymous);
    else
        jr_name_add(name, function);
}

/* `*f /x.js:1:2`; a prime after the mark says that the code was made for one
 * context, an `o` before it (from V8 15 on) that it is entered in a loop. */
int jr_name_v8(struct jr_slice rest, struct jr_jit_name *name)
{
    static const struct {
        char mark;
        const char *tier;
    } tiers[] = {{'~', "Ignition"},
                 {'^', "Sparkplug"},
                 {'+', "Maglev"},
                 {'*', "TurboFan"}};
    size_t source;

    name->tier = NULL;
    if (jr_slice_starts(rest, "o+") || jr_slice_starts(rest, "o*"))
        rest = jr_slice_skip(rest, 1);
    for (size_t i = 0; i < sizeof tiers / sizeof *tiers && rest.length; i++)
        if (rest.text[0] == tiers[i].mark)
            name->tier = tiers[i].tier;
    if (!name->tier)
        return 0;
    rest = jr_slice_skip(rest, 1);
    if (jr_slice_starts(rest, "'"))
        rest = jr_slice_skip(rest, 1);
    source = find_source(rest);
    add_function(name, jr_slice_head(rest, source));
    if (source == rest.length)
        return 1;
    jr_name_add_text(name, " (");
    jr_name_add(name, jr_slice_skip(rest, source + 1));
    jr_name_add_text(name, ")");
    return 1;
}

/* `f-INDEX-liftoff`, f may be empty. */
int jr_name_v8_wasm(struct jr_slice rest, struct jr_jit_name *name)
{
    static const struct {
        const char *end, *tier;
    } tiers[] = {{"-liftoff", "Liftoff"}, {"-turbofan", "TurboFan"}};
    struct jr_slice function;
    size_t dash;

    name->tier = NULL;
    for (size_t i = 0; i < sizeof tiers / sizeof *tiers && !name->tier; i++)
        if (jr_slice_ends(rest, tiers[i].end)) {
            name->tier = tiers[i].tier;
            rest.length -= strlen(tiers[i].end);
        }
    dash = jr_slice_find_last(rest, '-');
    if (!name->tier || dash == rest.length ||
        !jr_slice_is_number(jr_slice_skip(rest, dash + 1)))
        return 0;
    function = jr_slice_head(rest, dash);
    if (jr_slice_starts(function, "wasm-function[")) {
        jr_name_add(name, function);
        return 1;
    }
    add_function(name, function);
    jr_name_add_text(name, " (wasm-function[");
    jr_name_add(name, jr_slice_skip(rest, dash + 1));
    jr_name_add_text(name, "])");
    return 1;
}

/* The value of `count` hexadecimal digits; UINT32_MAX: they are none. */
static unsigned hex_value(struct jr_slice text, size_t from, size_t count)
{
    unsigned value = 0;

    if (from + count > text.length)
        return ~0U;
    for (size_t i = from; i < from + count; i++) {
        char c = text.text[i];
        int lower = c | 0x20;

        if (c >= '0' && c <= '9')
            value = value << 4 | (unsigned)(c - '0');
        else if (lower >= 'a' && lower <= 'f')
            value = value << 4 | (unsigned)(lower - 'a' + 10);
        else
            return ~0U;
    }
    return value;
}

static void add_utf8(struct jr_jit_name *name, unsigned c)
{
    char bytes[4];
    size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

    if (length == 1) {
        bytes[0] = (char)c;
    } else {
        for (size_t i = length; i-- > 1; c >>= 6)
            bytes[i] = (char)(0x80 | (c & 0x3f));
        bytes[0] = (char)(0xf00U >> length | c);
    }
    jr_name_add(name, (struct jr_slice){bytes, length});
}

/* What an escape at `at` stands for, and its length; 0: it is left as it is.
 * SpiderMonkey writes text beyond ASCII as \xF6, \u65E5 or two of those. */
static size_t read_escape(struct jr_slice text, size_t at, unsigned *c)
{
    unsigned low;

    if (at + 1 >= text.length || text.text[at] != '\\' ||
        (at > 0 && text.text[at - 1] == '\\'))
        return 0;
    if (text.text[at + 1] == 'x') {
        *c = hex_value(text, at + 2, 2);
        return *c != ~0U && *c >= 0xa0 ? 4 : 0;
    }
    if (text.text[at + 1] != 'u')
        return 0;
    *c = hex_value(text, at + 2, 4);
    if (*c == ~0U || *c < 0xa0 || (*c >= 0xdc00 && *c < 0xe000))
        return 0;
    if (*c < 0xd800 || *c >= 0xe000)
        return 6;
    low = hex_value(text, at + 8, 4);
    if (at + 12 > text.length || text.text[at + 6] != '\\' ||
        text.text[at + 7] != 'u' || low < 0xdc00 || low >= 0xe000)
        return 0;
    *c = 0x10000 + ((*c - 0xd800) << 10) + (low - 0xdc00);
    return 12;
}

static void add_unescaped(struct jr_jit_name *name, struct jr_slice text)
{
    size_t from = 0, at = 0;

    while (at < text.length) {
        unsigned c;
        size_t length = read_escape(text, at, &c);

        if (length == 0) {
            at++;
            continue;
        }
        jr_name_add(name, jr_slice_head(jr_slice_skip(text, from), at - from));
        add_utf8(name, c);
        at += length;
        from = at;
    }
    jr_name_add(name, jr_slice_skip(text, from));
}

/* `f (file:line:column)`; `*` is a function without a name, or a script. */
int jr_name_spidermonkey(struct jr_slice rest, struct jr_jit_name *name)
{
    struct jr_slice inside = rest;

    if (!jr_slice_ends(rest, ")") || rest.length < 2)
        return 0;
    inside.length--;
    if (jr_slice_find_text(rest, " (") == rest.length ||
        before_position(inside) == 0)
        return 0;
    if (jr_slice_starts(rest, "* (")) {
        jr_name_add_text(name, anonymous);
        rest = jr_slice_skip(rest, 1);
    } else if (jr_slice_starts(rest, " (")) {
        jr_name_add_text(name, anonymous);
    }
    add_unescaped(name, rest);
    return 1;
}

/* `Kind : f (file:line:column)`: a slice of f's code. */
int jr_name_ion_ic(struct jr_slice rest, struct jr_jit_name *name)
{
    size_t colon = jr_slice_find_text(rest, " : ");

    if (colon == rest.length)
        return 0;
    return jr_name_spidermonkey(jr_slice_skip(rest, colon + 3), name);
}

/* `MODULE: Function f [baseline] (WASM:N)`, or with what the trampoline is
 * for in place of the tier. */
int jr_name_spidermonkey_wasm(struct jr_slice rest, struct jr_jit_name *name)
{
    static const char word[] = ": Function ";
    size_t at = jr_slice_find_text(rest, word);
    struct jr_slice module = jr_slice_head(rest, at), function;
    size_t end;

    if (at == rest.length)
        return 0;
    function = jr_slice_skip(rest, at + strlen(word));
    end = jr_slice_find_text(function, " (WASM:");
    function = jr_slice_head(function, end);
    if (jr_slice_ends(function, " [baseline]")) {
        name->tier = "wasm baseline";
        function.length -= strlen(" [baseline]");
    } else if (jr_slice_ends(function, " [optimized]")) {
        name->tier = "wasm optimized";
        function.length -= strlen(" [optimized]");
    } else if (!name->tier) {
        return 0;
    }
    if (function.length == 0)
        return 0;
    add_unescaped(name, function);
    jr_name_add_text(name, " (");
    add_unescaped(name, module);
    jr_name_add_text(name, ")");
    return 1;
}

static int is_text(struct jr_slice slice, const char *text)
{
    return slice.length == strlen(text) && jr_slice_starts(slice, text);
}

/* The stubs that bear nothing but their name. */
int jr_name_spidermonkey_stub(struct jr_slice rest, struct jr_jit_name *name)
{
    static const char *const stubs[] = {
        "DebugTrapHandler",    "StringConcatStub",   "RegExpMatcherStub",
        "RegExpExecMatchStub", "RegExpExecTestStub", "RegExpSearcherStub",
        "RegExpTesterStub"};

    for (size_t i = 0; i < sizeof stubs / sizeof *stubs; i++) {
        if (is_text(rest, stubs[i]))
            return jr_name_plain(rest, name);
    }
    return 0;
}

/* The code of an expression has no other name. */
int jr_name_spidermonkey_regexp(struct jr_slice rest, struct jr_jit_name *name)
{
    return is_text(rest, "RegExp") && jr_name_plain(rest, name);
}

/* `f#HASH`; the hash tells functions of one name apart. */
int jr_name_jsc(struct jr_slice rest, struct jr_jit_name *name)
{
    if (jr_slice_starts(rest, "#"))
        jr_name_add_text(name, anonymous);
    jr_name_add(name, rest);
    return 1;
}
