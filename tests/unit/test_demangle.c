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
        /* Of V8 11; not known to libiberty 2.40. */
        {"_ZN2v88internal11StringShape33DispatchToSpecificTypeWithoutCastIZNS1_"
         "22DispatchToSpecificTypeIZNKS0_6String7GetImplEiNS0_16PtrComprCageBas"
         "eERKNS0_31SharedStringAccessGuardIfNeededEE19StringGetDispatchertJRiR"
         "S5_S8_EEET0_S4_DpOT1_E17CastingDispatchertJRS4_SA_SB_S8_EEESC_SF_",
         "v8::internal::StringShape::DispatchToSpecificTypeWithoutCast"
         "<\xe2\x80\xa6>"},
        {"_ZNK12_GLOBAL__N_11C1fIJQQ",
         "(anonymous namespace)::C::f<\xe2\x80\xa6>"},
        {"_D3std5stdio7writelnFZv", "std.stdio.writeln()"},
        {"_Dmain", "D main"},
        {"camlStdlib__List__map_312", "Stdlib.List.map_312"},
        {"camlStdlib.List.map_312", "Stdlib.List.map_312"},
        {"camlMine__$2b$2e_7", "Mine.+._7"},
        {"base_GHCziBase_map_info", "base:GHC.Base.map"},
        {"ghczmprim_GHCziTypes_ZC_info", "ghc-prim:GHC.Types.:"},
        {"main_Main_zdwgo_info", "main:Main.$wgo"},
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
        "_ZN3foo9barIJQQ",
        "_ZN99999999999999999999fooIJQQ",
        "_ZNIJQQ",
        "_ZN3foo",
        "_Dx",
        "caml_alloc",
        "caml",
        "get_Video_info",
        "_info",
        "base_GHCzkBase_map_info",
        "base_GHCz_map_info",
        "gtk_tree_info",
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
    name = jr_demangle(symbol);
    assert_non_null(name);
    assert_int_equal(strlen(name), JR_DEMANGLE_OUT_MAX + 3);
    assert_string_equal(name + JR_DEMANGLE_OUT_MAX, "\xe2\x80\xa6");
    free(name);
}

/* libiberty alone leaves what is longer than 1,024 letters. */
static void reads_long_symbols(void **state)
{
    char symbol[JR_DEMANGLE_IN_MAX + 1] = "_Z1f", *name;

    (void)state;
    while (strlen(symbol) < 3500)
        strcat(symbol, "9Something");
    name = jr_demangle(symbol);
    assert_non_null(name);
    assert_int_equal(strncmp(name, "f(Something, Something, ", 24), 0);
    free(name);
}

static void bounds_names_of_d(void **state)
{
    char symbol[256] = "_D1f", *name;

    (void)state;
    for (size_t i = 0; i < 40; i++)
        strcat(symbol, "Qb");
    name = jr_demangle(symbol);
    assert_null(name);
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
        cmocka_unit_test(reads_long_symbols),
        cmocka_unit_test(bounds_names_of_d),
        cmocka_unit_test(bounds_depth_and_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
