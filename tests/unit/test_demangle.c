/* SPDX-License-Identifier: MIT
 *
 * Demangling: C++, both of Rust's schemes, clones, hostile symbols.
 * Runs in: unit tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/names/demangle.h"

static void names_functions_as_written(void **state)
{
    static const struct {
        const char *symbol, *name;
    } cases[] = {
        {"_Z3fooi", "foo(int)"},
        {"_ZN2ns1C3barERKSs", "ns::C::bar(std::string const&)"},
        {"_ZNK1AixEi", "A::operator[](int) const"},
        {"_Z3fooi.cold", "foo(int) [clone .cold]"},
        {"_Z3fooi.constprop.0.isra.0",
         "foo(int) [clone .constprop.0] [clone .isra.0]"},
        {"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
        {"_RNvC6_123foo3bar", "123foo::bar"},
        {"_RNvNtNtCs1234_7mycrate3foo3bar3baz", "mycrate::foo::bar::baz"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *name = jr_demangle(cases[i].symbol);

        assert_non_null(name);
        assert_string_equal(name, cases[i].name);
        free(name);
    }
}

static void leaves_other_symbols_alone(void **state)
{
    static const char *const symbols[] = {
        "main",
        "",
        "_",
        "_Z",
        "_R",
        "_Zx",
        "_start",
        "fib.part.0",
        "__libc_start_main",
        "_ZN3fooE3barQQ",
    };

    (void)state;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        assert_null(jr_demangle(symbols[i]));
}

/* Each parameter's type holds the one before twice: names of 2^n letters. */
static void bounds_names_that_double(void **state)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char symbol[1024] = "_Z1f1AIiiE", *name;

    (void)state;
    for (size_t i = 0; i < 3; i++)
        sprintf(symbol + strlen(symbol), "S_IS%c_S%c_E", digits[i], digits[i]);
    name = jr_demangle(symbol);
    assert_non_null(name);
    free(name);
    for (size_t i = 3; i < 24; i++)
        sprintf(symbol + strlen(symbol), "S_IS%c_S%c_E", digits[i], digits[i]);
    assert_null(jr_demangle(symbol));
}

static void bounds_depth_and_length(void **state)
{
    char symbol[JR_DEMANGLE_IN_MAX + 8];
    char *name;

    (void)state;
    memset(symbol, 'P', sizeof symbol);
    memcpy(symbol, "_Z1f", 4);
    symbol[JR_DEMANGLE_IN_MAX] = '\0';
    symbol[JR_DEMANGLE_IN_MAX - 1] = 'i';
    name = jr_demangle(symbol);
    if (name)
        assert_true(strlen(name) <= JR_DEMANGLE_OUT_MAX);
    free(name);
    symbol[JR_DEMANGLE_IN_MAX] = 'i';
    symbol[JR_DEMANGLE_IN_MAX + 1] = '\0';
    assert_null(jr_demangle(symbol));
    memset(symbol, 'N', sizeof symbol);
    memcpy(symbol, "_RNv", 4);
    symbol[JR_DEMANGLE_IN_MAX] = '\0';
    free(jr_demangle(symbol));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_functions_as_written),
        cmocka_unit_test(leaves_other_symbols_alone),
        cmocka_unit_test(bounds_names_that_double),
        cmocka_unit_test(bounds_depth_and_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
