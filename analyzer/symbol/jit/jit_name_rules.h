/* SPDX-License-Identifier: MIT
 *
 * What the rules for names of JIT code share; a new runtime needs a row in
 * the table of jit_names.c and, if no reader fits, one more of these.
 * Runs in: analyzer. */
#ifndef JR_JIT_NAME_RULES_H
#define JR_JIT_NAME_RULES_H

#include <stddef.h>

#include "jit_names.h"

/* Text with a length: names hold no NUL, but are cut at many places. */
struct jr_piece {
    const char *at;
    size_t length;
};

/* Writes what `rest`, the raw name behind the rule's prefix, calls the
 * function to the empty *name, and may set name->tier.  Returns 0 when it is
 * not of the rule's form: the next rule is tried. */
typedef int jr_take_name_fn(struct jr_piece rest, struct jr_jit_name *name);

/* jit_name_js.c: V8, SpiderMonkey, JavaScriptCore. */
jr_take_name_fn jr_name_v8, jr_name_v8_wasm, jr_name_spidermonkey,
    jr_name_ion_ic, jr_name_spidermonkey_wasm, jr_name_spidermonkey_stub,
    jr_name_spidermonkey_regexp, jr_name_jsc;
/* jit_name_vm.c: Java, .NET, Python, PHP, Erlang, WebAssembly,
 * mangled symbols. */
jr_take_name_fn jr_name_java_class, jr_name_java_type, jr_name_dotnet,
    jr_name_python, jr_name_php_trace, jr_name_erlang, jr_name_erlang_part,
    jr_name_wasmtime, jr_name_mangled;
/* jit_pieces.c: the rest as it is. */
jr_take_name_fn jr_name_plain;

/* Append to a name. */
void jr_name_add(struct jr_jit_name *name, struct jr_piece piece);
void jr_name_add_text(struct jr_jit_name *name, const char *text);

/* The place of `c`, of `text`, or its last one; piece.length: not there. */
size_t jr_piece_find(struct jr_piece piece, char c);
size_t jr_piece_find_text(struct jr_piece piece, const char *text);
size_t jr_piece_find_last(struct jr_piece piece, char c);

int jr_piece_starts(struct jr_piece piece, const char *text);
int jr_piece_ends(struct jr_piece piece, const char *text);
/* The piece without its first `count` bytes; its first `count` bytes. */
struct jr_piece jr_piece_skip(struct jr_piece piece, size_t count);
struct jr_piece jr_piece_head(struct jr_piece piece, size_t count);
/* One digit at least, and nothing else. */
int jr_piece_is_number(struct jr_piece piece);

#endif
