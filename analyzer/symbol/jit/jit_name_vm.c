/* SPDX-License-Identifier: MIT
 *
 * Names of JIT code in Java, .NET, Python, PHP, Erlang and Wasmtime, and of
 * mangled symbols.
 * Runs in: analyzer. */
#include "jit_name_vm.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "symbol/names/demangle.h"

/* A byte of a Java name: all but what has a meaning in a descriptor, blanks
 * and controls; what is beyond ASCII belongs to a letter. */
static int is_java(unsigned char c)
{
    return c > ' ' && c != 0x7f && !strchr(";:()[],<>\"'", c);
}

/* A class name, with slashes or dots between its parts. */
static int add_class(struct jr_jit_name *name, struct jr_slice class)
{
    if (class.length == 0)
        return 0;
    for (size_t i = 0; i < class.length; i++) {
        char c = class.text[i];

        if (!is_java((unsigned char)c))
            return 0;
        jr_name_add(name,
                    (struct jr_slice){c == '/' ? "." : &class.text[i], 1});
    }
    return 1;
}

static const char *basic_type(char c)
{
    static const struct {
        char letter;
        const char *word;
    } types[] = {{'B', "byte"},  {'C', "char"},    {'D', "double"},
                 {'F', "float"}, {'I', "int"},     {'J', "long"},
                 {'S', "short"}, {'Z', "boolean"}, {'V', "void"}};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].letter == c)
            return types[i].word;
    return NULL;
}

/* One type of a descriptor (JVM specification, 4.3.2) from *text on, which
 * moves behind it.  Nothing is added when `name` is NULL. */
static int take_type(struct jr_slice *text, struct jr_jit_name *name)
{
    size_t depth = 0, end;
    int fine = 1;

    while (depth < text->length && text->text[depth] == '[')
        depth++;
    *text = jr_slice_skip(*text, depth);
    if (depth > 255 || text->length == 0)
        return 0;
    if (text->text[0] == 'L') {
        end = jr_slice_find(*text, ';');
        if (end == text->length)
            return 0;
        if (name)
            fine = add_class(name,
                             jr_slice_head(jr_slice_skip(*text, 1), end - 1));
        *text = jr_slice_skip(*text, end + 1);
    } else {
        const char *word = basic_type(text->text[0]);

        if (!word)
            return 0;
        if (name)
            jr_name_add_text(name, word);
        *text = jr_slice_skip(*text, 1);
    }
    for (size_t i = 0; i < depth && name; i++)
        jr_name_add_text(name, "[]");
    return fine;
}

/* `(descriptors)return type`, the latter left out of the name. */
static int add_signature(struct jr_jit_name *name, struct jr_slice signature)
{
    int first = 1;

    signature = jr_slice_skip(signature, 1);
    jr_name_add_text(name, "(");
    while (signature.length && signature.text[0] != ')') {
        if (!first)
            jr_name_add_text(name, ", ");
        first = 0;
        if (!take_type(&signature, name))
            return 0;
    }
    if (signature.length == 0)
        return 0;
    jr_name_add_text(name, ")");
    signature = jr_slice_skip(signature, 1);
    return signature.length == 0 ||
           (take_type(&signature, NULL) && signature.length == 0);
}

/* A type as source code has it, or a list of them. */
static int are_types(struct jr_slice text, int several)
{
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.text[i];

        if (!is_java(c) && !strchr("[]", c) && !(several && strchr(", ", c)))
            return 0;
    }
    return text.length > 0 || several;
}

/* `(...)`: descriptors, or types as source code has them. */
static int add_parameters(struct jr_jit_name *name, struct jr_slice text)
{
    size_t length = name->length;

    if (add_signature(name, text))
        return 1;
    name->length = length;
    if (!jr_slice_ends(text, ")") ||
        !are_types(jr_slice_head(jr_slice_skip(text, 1), text.length - 2), 1))
        return 0;
    jr_name_add(name, text);
    return 1;
}

/* `method` or `method(parameters)`; <init> and <clinit> are methods too. */
static int add_method(struct jr_jit_name *name, struct jr_slice method)
{
    size_t end = jr_slice_find(method, '(');
    struct jr_slice word = jr_slice_head(method, end);

    if (word.length == 0)
        return 0;
    for (size_t i = 0; i < word.length; i++) {
        char c = word.text[i];
        int bracket = (c == '<' && i == 0) || (c == '>' && i + 1 == end);

        if (!is_java((unsigned char)c) && !bracket)
            return 0;
    }
    jr_name_add(name, word);
    return end == method.length ||
           add_parameters(name, jr_slice_skip(method, end));
}

/* `Lpkg/Cls;method(sig)V`, as perf's JVMTI agent writes; `Lpkg/Cls;::method`
 * with or without a signature, as others do; `pkg.Cls::method(sig)`. */
int jr_name_java_class(struct jr_slice rest, struct jr_jit_name *name)
{
    size_t colons = jr_slice_find_text(rest, "::");
    size_t end = jr_slice_find(rest, ';');
    struct jr_slice class, method;

    if (jr_slice_starts(rest, "L") && end + 1 < rest.length &&
        jr_slice_find(rest, '(') > end) {
        class = jr_slice_head(jr_slice_skip(rest, 1), end - 1);
        method = jr_slice_skip(rest, end + 1);
        if (jr_slice_starts(method, "::"))
            method = jr_slice_skip(method, 2);
        else if (jr_slice_find(method, '(') == method.length)
            return 0;
    } else if (colons < rest.length) {
        class = jr_slice_head(rest, colons);
        method = jr_slice_skip(rest, colons + 2);
        /* `a::b` and `a::b(int)` may be C++: a package or a descriptor. */
        if (jr_slice_find(class, '.') == class.length &&
            jr_slice_find(class, '/') == class.length &&
            jr_slice_find(method, ';') == method.length)
            return 0;
    } else {
        return 0;
    }
    if (!add_class(name, class))
        return 0;
    jr_name_add_text(name, ".");
    return add_method(name, method);
}

/* `type pkg.Cls.method(type, type)`, as HotSpot's perf map has it: the type
 * that is returned is left out. */
int jr_name_java_type(struct jr_slice rest, struct jr_jit_name *name)
{
    size_t paren = jr_slice_find(rest, '(');
    size_t blank = jr_slice_find(rest, ' ');
    struct jr_slice path, types;
    size_t dot;

    if (paren == rest.length || blank >= paren || !jr_slice_ends(rest, ")") ||
        !are_types(jr_slice_head(rest, blank), 0))
        return 0;
    path = jr_slice_head(jr_slice_skip(rest, blank + 1), paren - blank - 1);
    types =
        jr_slice_head(jr_slice_skip(rest, paren + 1), rest.length - paren - 2);
    dot = jr_slice_find_last(path, '.');
    if (dot == path.length || !are_types(types, 1) ||
        !add_class(name, jr_slice_head(path, dot)))
        return 0;
    jr_name_add_text(name, ".");
    if (!add_method(name, jr_slice_skip(path, dot + 1)))
        return 0;
    jr_name_add(name, jr_slice_skip(rest, paren));
    return 1;
}

/* `type [Assembly] Class::Method(types)[Tier]`. */
int jr_name_dotnet(struct jr_slice rest, struct jr_jit_name *name)
{
    static const char *const tiers[] = {"PreJIT",
                                        "ReadyToRun",
                                        "MinOptJitted",
                                        "Optimized",
                                        "QuickJitted",
                                        "Tier0",
                                        "OptimizedTier1",
                                        "OptimizedTier1OSR",
                                        "InstrumentedTier0",
                                        "InstrumentedTier1",
                                        "Instrumented"};
    size_t open = jr_slice_find_last(rest, '['), assembly;
    struct jr_slice tier;

    if (open == rest.length || !jr_slice_ends(rest, "]"))
        return 0;
    tier = jr_slice_head(jr_slice_skip(rest, open + 1), rest.length - open - 2);
    for (size_t i = 0; i < sizeof tiers / sizeof *tiers; i++)
        if (tier.length == strlen(tiers[i]) && jr_slice_ends(tier, tiers[i]))
            name->tier = tiers[i];
    if (!name->tier)
        return 0;
    rest = jr_slice_head(rest, open);
    assembly = jr_slice_find_text(rest, "] ");
    if (assembly < jr_slice_find(rest, '('))
        rest = jr_slice_skip(rest, assembly + 2);
    jr_name_add(name, rest);
    return 1;
}

/* `qualified name:file`; the name has no colon. */
int jr_name_python(struct jr_slice rest, struct jr_jit_name *name)
{
    size_t colon = jr_slice_find(rest, ':');

    if (colon == 0 || colon + 1 >= rest.length)
        return 0;
    jr_name_add(name, jr_slice_head(rest, colon));
    jr_name_add_text(name, " (");
    jr_name_add(name, jr_slice_skip(rest, colon + 1));
    jr_name_add_text(name, ")");
    return 1;
}

/* `NUMBER$function$line`. */
int jr_name_php_trace(struct jr_slice rest, struct jr_jit_name *name)
{
    size_t dollar = jr_slice_find(rest, '$');
    struct jr_slice function;
    size_t line;

    if (!jr_slice_is_number(jr_slice_head(rest, dollar)) ||
        dollar == rest.length)
        return 0;
    function = jr_slice_skip(rest, dollar + 1);
    line = jr_slice_find_last(function, '$');
    if (line < function.length &&
        jr_slice_is_number(jr_slice_skip(function, line + 1)))
        function = jr_slice_head(function, line);
    jr_name_add(name, function);
    return 1;
}

/* `module:function/arity`; a `-CodeInfoPrologue` or the like may follow. */
int jr_name_erlang(struct jr_slice rest, struct jr_jit_name *name)
{
    size_t colon = jr_slice_find(rest, ':');
    size_t slash = jr_slice_find_last(rest, '/');
    struct jr_slice arity;

    if (colon == 0 || colon == rest.length || slash == rest.length ||
        slash < colon)
        return 0;
    arity = jr_slice_skip(rest, slash + 1);
    arity = jr_slice_head(arity, jr_slice_find(arity, '-'));
    if (!jr_slice_is_number(arity))
        return 0;
    jr_name_add(name, jr_slice_head(rest, slash + 1 + arity.length));
    return 1;
}

/* A dump has the names without the `$`; what is left to do is where a part of a
 * function's code has a name of its own, `zoo:fib/1-CodeInfoPrologue`. */
int jr_name_erlang_part(struct jr_slice rest, struct jr_jit_name *name)
{
    size_t part = jr_slice_find_text(rest, "-CodeInfo");

    return part < rest.length &&
           jr_name_erlang(jr_slice_head(rest, part), name);
}

/* `N]::function[M]::name`.  Without a name it is readable as it is. */
int jr_name_wasmtime(struct jr_slice rest, struct jr_jit_name *name)
{
    static const char word[] = "]::function[";
    size_t module = jr_slice_find_text(rest, word), end;
    struct jr_slice index, function;

    if (!jr_slice_is_number(jr_slice_head(rest, module)) ||
        module == rest.length)
        return 0;
    index = jr_slice_skip(rest, module + strlen(word));
    end = jr_slice_find_text(index, "]::");
    if (!jr_slice_is_number(jr_slice_head(index, end)) ||
        end + 3 >= index.length)
        return 0;
    function = jr_slice_skip(index, end + 3);
    jr_name_add(name, function);
    jr_name_add_text(name, " (wasm[");
    jr_name_add(name, jr_slice_head(rest, module));
    jr_name_add_text(name, "]::function[");
    jr_name_add(name, jr_slice_head(index, end));
    jr_name_add_text(name, "])");
    return 1;
}

/* A C++ or Rust symbol, as compilers built on LLVM leave it. */
int jr_name_mangled(struct jr_slice rest, struct jr_jit_name *name)
{
    char *symbol, *readable;

    if (rest.length > JR_DEMANGLE_IN_MAX)
        return 0;
    symbol = jr_strndup(rest.text, rest.length);
    readable = jr_demangle(symbol, 0);
    if (readable)
        jr_name_add_text(name, readable);
    free(readable);
    free(symbol);
    return readable != NULL;
}
