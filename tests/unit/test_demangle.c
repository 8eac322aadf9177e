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

#define TAIL 12 /* bytes behind a name that was cut: "...#0123abcd" */

static void finds_parts_of_functions(void **state)
{
    static const struct {
        const char *symbol, *function;
    } cases[] = {
        {"foo.cold", "foo"},
        {"foo.cold.0", "foo"},
        {"foo.cold.0/1", "foo"},
        {"foo.org.0", "foo"},
        {"foo.org.0/1", "foo"},
        {"www.jprof.org", "www.jprof.org"},
        {"foo.org.1", "foo.org.1"},
        {"foo.part.0.cold", "foo"},
        {"foo.constprop.0.isra.12", "foo"},
        {"_Z3fooi.isra.0.cold.0", "_Z3fooi"},
        {"a.b.cold", "a.b"},
        /* other functions of the name, and names that look like parts */
        {"foo.lto_priv.0", "foo.lto_priv.0"},
        {"foo.llvm.123", "foo.llvm.123"},
        {"foo.partly", "foo.partly"},
        {"foo.cold.", "foo.cold."},
        {"foo.cold.x", "foo.cold.x"},
        {"foo/1", "foo/1"},
        {"camlA.cold_12", "camlA.cold_12"},
        {".cold", ".cold"},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t length = strlen(cases[i].symbol);

        if (jr_symbol_part(cases[i].symbol, length) !=
            strlen(cases[i].function))
            fail_msg("%s", cases[i].symbol);
        /* the end counts, not a NUL */
        assert_int_equal(jr_symbol_part("f.colder", 6), 1);
    }
}

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
        /* Of Free Pascal 3.2.2. */
        {"P$P_$$_OUTER$LONGINT$SHORTSTRING$$QWORD",
         "P.OUTER(LONGINT, SHORTSTRING)"},
        {"P$P$_$OUTER$LONGINT$SHORTSTRING$$QWORD_$$_INNER$LONGINT$$QWORD",
         "P.OUTER.INNER(LONGINT)"},
        {"P$P$_$TWORKER_$__$$_SPIN$LONGINT$$QWORD", "P.TWORKER.SPIN(LONGINT)"},
        {"SYSTEM_$$_MOVE$formal$formal$INT64",
         "SYSTEM.MOVE(formal, formal, INT64)"},
        {"SYSTEM$_$TOBJECT_$__$$_CREATE$$TOBJECT", "SYSTEM.TOBJECT.CREATE"},
        {"CTHREADS_$$_init$", "CTHREADS.init"},
        {"SI_C_$$_MAIN_STUB", "SI_C.MAIN_STUB"},
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
        /* Of programs of GDC 12, OCaml 4.13 and GHC 9.0. */
        {"_D4work6Circle4areaMFiZd", "work.Circle.area(int)"},
        {"_D4work__T6MatrixTdZQk3sumMFNaNbNiNfZd",
         "work.Matrix!(double).Matrix.sum()"},
        {"_D4work4spinFmZm.isra.0", "work.spin(ulong) [clone .isra.0]"},
        {"_DTi16_D4work6Circle4areaMFiZd",
         "non-virtual thunk to work.Circle.area(int)"},
        {"_D3std9algorithm9iteration__T9MapResultS4work4mainFZ9__lambda1TSQCk5"
         "range__T4iotaTiTiZQkFiiZ6ResultZQCt8popFrontMFNaNbNiNfZv",
         "std.algorithm.iteration.MapResult!(work.main().__lambda1, "
         "std.range.iota!(int, int).iota(int, int).Result)."
         "MapResult.popFront()"},
        {"camlB__$2b$2b$2b_98", "B.+++_98"},
        {"camlB__insert_84", "B.insert_84"},
        {"Main_zdwzdsgo8_info", "Main.$w$sgo8"},
        {"Main_zlzpzg_info", "Main.<+>"},
        {"ZCMain_main_info", ":Main.main"},
        {"DataziSet_fold_info", "Data.Set.fold"},
        {"Utils_zdwgo_info", "Utils.$wgo"},
        {"ghczmprim_GHCziTuple_Z3T_con_info", "ghc-prim:GHC.Tuple.(,,)"},
        {"ghczmprim_GHCziPrim_Z2H_info", "ghc-prim:GHC.Prim.(#,#)"},
        {"base_GHCziShow_zdfShowZLz2cUZRzuzdsgo1_info",
         "base:GHC.Show.$fShow(,)_$sgo1"},
        {"base_GHCziConcziSync_ThreadRunning_con_info",
         "base:GHC.Conc.Sync.ThreadRunning"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *name = jr_demangle(cases[i].symbol, JR_OCAML | JR_HASKELL);

        assert_non_null(name);
        assert_string_equal(name, cases[i].name);
        free(name);
    }
}

/* Symbols of GNAT 12; C programs have names with two underscores, too. */
static void names_functions_of_ada(void **state)
{
    static const struct {
        const char *symbol, *name;
    } cases[] = {
        {"work__turn", "work.turn"},
        {"_ada_spin", "spin"},
        {"work__Oadd", "work.\"+\""},
        {"ada__exceptions__raise_exception", "ada.exceptions.raise_exception"},
        {"main", NULL},
        {"work__Turn", NULL},
        {"__gnat_malloc", NULL},
    };

    (void)state;
    assert_int_equal(jr_demangle_languages("adainit"), JR_ADA);
    assert_int_equal(jr_demangle_languages("adain"), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *name = jr_demangle(cases[i].symbol, JR_ADA);

        if (cases[i].name ? !name || strcmp(name, cases[i].name) != 0
                          : name != NULL)
            fail_msg("%s: %s", cases[i].symbol, name ? name : "(none)");
        free(name);
        assert_null(jr_demangle(cases[i].symbol, JR_OCAML | JR_HASKELL));
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
        "a_$$_",
        "$_$$_f",
        "a_$$_f.b",
        "__libc_start_main",
        "_ZN3fooE3barQQ",
        "_ZN3foo9barIJQQ",
        "_ZN99999999999999999999fooIJQQ",
        "_ZNIJQQ",
        "_ZN3foo",
        "_Dx",
        "_DTi16",
        "_DTi16_Dx",
        "_DTi1",
        "caml_alloc",
        "caml",
        "get_Video_info",
        "_info",
        "base_GHCzkBase_map_info",
        "base_GHCz_map_info",
        "gtk_tree_info",
        "base_GHCziTuple_Z65T_info",
        "base_GHCziTuple_Z3_info",
        "base_GHCziShow_z7U_info",
        "base_GHCziShow_z3bbU_info",
        "base_GHCziShow_z2_info",
        "Curl_size_info",
        "Main_info",
        "Xziget_size_info",
        "Main__info",
        "SSL_CTX_con_info",
        "_con_info",
        "stg_sel_11_upd_info",
        "caml_oldify_one",
        /* Go's are shown as they are. */
        "main.(*Matrix).Sum",
        "main.Mix[go.shape.uint64]",
        "main._Cfunc_spin_c.abi0",
    };

    (void)state;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        assert_null(jr_demangle(symbols[i], JR_OCAML | JR_HASKELL));
}

/* Each parameter's type holds the one before twice: names of 2^n letters. */
static void bounds_names_that_double(void **state)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char symbol[1024] = "_Z1f1AIiiE", *name;

    (void)state;
    for (size_t i = 0; i < 3; i++)
        sprintf(symbol + strlen(symbol), "S_IS%c_S%c_E", digits[i], digits[i]);
    name = jr_demangle(symbol, JR_OCAML | JR_HASKELL);
    assert_non_null(name);
    free(name);
    for (size_t i = 3; i < 24; i++)
        sprintf(symbol + strlen(symbol), "S_IS%c_S%c_E", digits[i], digits[i]);
    name = jr_demangle(symbol, JR_OCAML | JR_HASKELL);
    assert_non_null(name);
    assert_int_equal(strlen(name), JR_DEMANGLE_OUT_MAX + TAIL);
    assert_memory_equal(name + JR_DEMANGLE_OUT_MAX, "\xe2\x80\xa6#", 4);
    free(name);
}

/* libiberty alone leaves what is longer than 1,024 letters. */
static void reads_long_symbols(void **state)
{
    char symbol[JR_DEMANGLE_IN_MAX + 1] = "_Z1f", *name;

    (void)state;
    while (strlen(symbol) < 3500)
        strcat(symbol, "9Something");
    name = jr_demangle(symbol, JR_OCAML | JR_HASKELL);
    assert_non_null(name);
    assert_int_equal(strncmp(name, "f(Something, Something, ", 24), 0);
    free(name);
}

/* Of longer ones the names before a template's arguments are left. */
static void shortens_longer_symbols(void **state)
{
    char symbol[2 * JR_DEMANGLE_IN_MAX] = "_ZN4some4nameI", *name, *other;

    (void)state;
    while (strlen(symbol) < JR_DEMANGLE_IN_MAX + 100)
        strcat(symbol, "9Something");
    name = jr_demangle(symbol, 0);
    assert_memory_equal(name, "some::name\xe2\x80\xa6#", 14);
    symbol[strlen(symbol) - 1]++;
    other = jr_demangle(symbol, 0);
    assert_string_not_equal(name, other);
    free(other);
    free(name);
    memset(symbol, 'c', JR_DEMANGLE_IN_MAX + 1);
    symbol[JR_DEMANGLE_IN_MAX + 1] = '\0';
    name = jr_demangle(symbol, 0);
    assert_int_equal(strlen(name), JR_DEMANGLE_OUT_MAX + TAIL);
    free(name);
}

static void asks_for_the_language(void **state)
{
    char *name;

    (void)state;
    assert_null(jr_demangle("camlFoo__bar_12", 0));
    assert_null(jr_demangle("camlFoo__bar_12", JR_HASKELL));
    assert_null(jr_demangle("base_GHCziBase_map_info", JR_OCAML));
    name = jr_demangle("base_GHCziBase_map_info", JR_HASKELL);
    assert_string_equal(name, "base:GHC.Base.map");
    free(name);
    assert_int_equal(jr_demangle_languages("caml_call_gc"), JR_OCAML);
    assert_int_equal(jr_demangle_languages("hs_main"), JR_HASKELL);
    assert_int_equal(jr_demangle_languages("stg_upd_frame_info"), JR_HASKELL);
    assert_int_equal(jr_demangle_languages("camlFoo"), 0);
    assert_int_equal(jr_demangle_languages(""), 0);
}

/* Each parameter is a function of the one before, twice: 2^n letters. */
static void bounds_names_of_d(void **state)
{
    (void)state;
    for (size_t i = 4; i <= 60; i += 56) {
        char symbol[1024] = "_D1fFPFiiZi", *name;
        size_t start = strlen("_D1fF");

        for (size_t j = 0; j < i; j++) {
            const size_t next = strlen(symbol), back = next + 2 - start;

            /* "PF" and two references to what began at `start`; each two
             * digits, so that the second is three characters further on. */
            sprintf(symbol + next, "PFQ%c%cQ%c%cZi", 'A' + (int)(back / 26),
                    'a' + (int)(back % 26), 'A' + (int)((back + 3) / 26),
                    'a' + (int)((back + 3) % 26));
            start = next;
        }
        strcat(symbol, "Zv");
        name = jr_demangle(symbol, JR_OCAML | JR_HASKELL);
        if (i == 4)
            assert_non_null(name);
        else
            assert_null(name);
        free(name);
    }
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
    name = jr_demangle(symbol, JR_OCAML | JR_HASKELL);
    if (name)
        assert_true(strlen(name) <= JR_DEMANGLE_OUT_MAX);
    free(name);
    symbol[JR_DEMANGLE_IN_MAX] = 'i';
    symbol[JR_DEMANGLE_IN_MAX + 1] = '\0';
    name = jr_demangle(symbol, 0);
    assert_int_equal(strlen(name), JR_DEMANGLE_OUT_MAX + TAIL);
    assert_memory_equal(name, symbol, JR_DEMANGLE_OUT_MAX);
    free(name);
    memset(symbol, 'N', sizeof symbol);
    memcpy(symbol, "_RNv", 4);
    symbol[JR_DEMANGLE_IN_MAX] = '\0';
    free(jr_demangle(symbol, JR_OCAML | JR_HASKELL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_parts_of_functions),
        cmocka_unit_test(names_functions_as_written),
        cmocka_unit_test(names_functions_of_ada),
        cmocka_unit_test(leaves_other_symbols_alone),
        cmocka_unit_test(bounds_names_that_double),
        cmocka_unit_test(reads_long_symbols),
        cmocka_unit_test(shortens_longer_symbols),
        cmocka_unit_test(asks_for_the_language),
        cmocka_unit_test(bounds_names_of_d),
        cmocka_unit_test(bounds_depth_and_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
