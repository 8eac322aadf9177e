/* SPDX-License-Identifier: MIT
 *
 * Short forms of names, as compilers and runtimes write them, and of what is
 * no name.
 * Runs in: tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "symbol/names/short.h"

#define HOSTILE 300000U /* bytes */
#define DOTS "<\xe2\x80\xa6>"

struct example {
    const char *name, *form; /* form NULL: the name itself */
};

static const struct example cplusplus[] = {
    {"f(int)", "f"},
    {"f()", "f"},
    {"int N::f<int, char>(char const*) const", "N::f" DOTS},
    {"std::vector<int, std::allocator<int> >::push_back(int&&)",
     "std::vector" DOTS "::push_back"},
    {"std::function<void (int)>::operator()(int) const",
     "std::function" DOTS "::operator()"},
    {"f<(1>2), (3<4), (8>>1)>(int)", "f" DOTS},
    {"f<&A::operator< >(int)", "f" DOTS},
    {"f<>()", "f<>"},
    {"f[abi:cxx11]<int>(int)", "f[abi:cxx11]" DOTS},
    {"f(int) [clone .part.0] [clone .cold]", "f"},
    {"f(int)@plt", "f@plt"},
    {"f<int>@plt", "f" DOTS "@plt"},
    {"A::f(int) const &", "A::f"},
    {"A::f() volatile &&", "A::f"},
    {"decltype ({parm#1}+{parm#2}) add<int, int>(int, int)", "add" DOTS},
    {"non-virtual thunk to A::f()", "A::f"},
    {"vtable for A<int>", "vtable for A" DOTS},
    {"guard variable for f(int)::x", "guard variable for f::x"},
    {"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
    {"void (anonymous namespace)::f<int>(int)",
     "(anonymous namespace)::f" DOTS},
    {"(anonymous namespace)", NULL},
    {"N::(anonymous namespace)", NULL},
    /* Operators. */
    {"A::operator()(int) const", "A::operator()"},
    {"void A::operator()<int>(int) const", "A::operator()" DOTS},
    {"operator<(A const&, A const&)", "operator<"},
    {"bool operator< <int>(A<int> const&, A<int> const&)", "operator< " DOTS},
    {"std::ostream& std::operator<< <std::char_traits<char> >(int)",
     "std::operator<< " DOTS},
    {"A operator+<int>(A, A)", "operator+" DOTS},
    {"A::operator->() const", "A::operator->"},
    {"A::operator<=>(A const&) const", "A::operator<=>"},
    {"A::operator[](int)", "A::operator[]"},
    {"A::operator bool() const", "A::operator bool"},
    {"A<int>::operator std::vector<int>() const",
     "A" DOTS "::operator std::vector" DOTS},
    {"operator new(unsigned long)", "operator new"},
    {"operator()", NULL},
    {"int my_operator<int>(int)", "my_operator" DOTS},
    /* Functions in functions. */
    {"f(int)::{lambda(int)#1}::operator()(int) const",
     "f::{lambda(int)#1}::operator()"},
    {"A::f() const::{lambda(B<int>)#2}::operator()(B<int>) const",
     "A::f::{lambda(B" DOTS ")#2}::operator()"},
    {"A::f() const &::L::g(int)", "A::f::L::g"},
    {"f(int)::{lambda(int)#1}", "f::{lambda(int)#1}"},
    {"A::operator()(int)::L::g()::M::h()", "A::operator()::L::g::M::h"},
    {"f<int>(A<int>)::L::g() const", "f" DOTS "::L::g"},
    {"f()::L::g(int)", "f::L::g"},
    /* Pointers to functions. */
    {"void (*f(int))(char)", "f"},
    {"void (*N::f<int>(int, void (*)(int)))(int)", "N::f" DOTS},
    {"int (&f())[3]", NULL},
    {"void (*f)(char)", "(*f)"},
};

static const struct example others[] = {
    {"main", NULL},
    {"", NULL},
    /* Rust */
    {"<T as core::fmt::Debug>::fmt", NULL},
    {"<alloc::vec::Vec<u8> as core::fmt::Debug>::fmt",
     "<alloc::vec::Vec" DOTS " as core::fmt::Debug>::fmt"},
    {"<<T as A>::B as C<u8>>::f", "<<T as A>::B as C" DOTS ">::f"},
    {"core::ptr::drop_in_place::<alloc::string::String>",
     "core::ptr::drop_in_place::" DOTS},
    {"<fn(i32) -> i32 as core::ops::FnOnce<(i32,)>>::call_once",
     "<fn(i32) -> i32 as core::ops::FnOnce" DOTS ">::call_once"},
    {"a::b::{closure#0}", NULL},
    /* Runtimes */
    {"fib (/srv/zoo/fib.js:3:13)", "fib (fib.js:3:13)"},
    {"(anonymous) (/srv/zoo/fib.js:3:13)", "(anonymous) (fib.js:3:13)"},
    {"f (node:internal/x:3:13)", "f (x:3:13)"},
    {"f (/srv/a b/fib.js)", NULL},
    {"f (fib.js:3:13)", NULL},
    {"f (/)", NULL},
    {"eval (<anonymous>:1:1)", NULL},
    {"f.<locals>.<lambda> (/x/y.py)", "f.<locals>.<lambda> (y.py)"},
    {"void Main.<init>(int)", "Main.<init>"},
    {"int Main.fib(int)", "Main.fib"},
    {"main.(*T).Method", NULL},
    {"\xc3\xa9<int>(\xc3\xa9)", "\xc3\xa9" DOTS},
    /* No names */
    {"<", NULL},
    {">", NULL},
    {"f(int", NULL},
    {"int)", NULL},
    {"f<int", NULL},
    {"()", NULL},
    {"<int>", NULL},
    {"operator", NULL},
    {"operator<", NULL},
    {"operator(", NULL},
    {"a ]) const", NULL},
    {"f([)", "f"},
    {"f(<>)", "f"},
    {" (a)", NULL},
    {"(a)", NULL},
    {") const [b]", NULL},
    {"@plt", NULL},
    {")@plt", NULL},
};

static void check(const struct example *examples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct example *one = &examples[i];
        char *form = jr_short_name(one->name);

        assert_string_equal(form, one->form ? one->form : one->name);
        free(form);
    }
}

static void test_cplusplus(void **state)
{
    (void)state;
    check(cplusplus, sizeof cplusplus / sizeof *cplusplus);
}

static void test_others(void **state)
{
    (void)state;
    check(others, sizeof others / sizeof *others);
}

/* The parts of one name after those of another, in the same memory. */
static void test_parts(void **state)
{
    struct jr_short found = {0};

    (void)state;
    jr_short_find(&found, "A<int>::f(B<char>)");
    assert_int_equal(found.ncuts, 2);
    assert_int_equal(found.cuts[0].from, 2);
    assert_int_equal(found.cuts[0].to, 5);
    assert_true(found.cuts[0].dots);
    assert_int_equal(found.cuts[1].from, 9);
    assert_int_equal(found.cuts[1].to, 18);
    assert_false(found.cuts[1].dots);
    jr_short_find(&found, "f");
    assert_int_equal(found.ncuts, 0);
    jr_short_find(&found, "int f(int)");
    assert_int_equal(found.ncuts, 2);
    assert_int_equal(found.cuts[0].from, 0);
    assert_int_equal(found.cuts[0].to, 4);
    jr_short_free(&found);
}

/* Long names of nothing but brackets: each is paired once. */
static void test_hostile(void **state)
{
    static const char *const pieces[] = {
        "<",        "(",         ">",      ")",       "<(",   "a<",
        "a<b>(",    "operator<", " const", " [a]",    "->",   "(<)",
        "[({<>})]", "operator ", "a(*",    "))(",     " &",   "/",
        "f() ",     "<>)",       "a<b",    "(*f(a))", "@plt", " (a/",
        "\xff<",    "{lambda("};
    struct jr_short found = {0};
    char *name = jr_alloc(HOSTILE + 1, 1);

    (void)state;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        for (int closed = 0; closed < 2; closed++) {
            const size_t size = strlen(pieces[i]);

            for (size_t at = 0; at < HOSTILE; at++)
                name[at] = pieces[i][at % size];
            memcpy(name, "f()", 3);
            if (closed)
                memcpy(name + HOSTILE - 3, "x()", 3);
            jr_short_find(&found, name);
            for (size_t at = 0; at < found.ncuts; at++) {
                assert_true(found.cuts[at].from < found.cuts[at].to);
                assert_true(found.cuts[at].to <= HOSTILE);
                assert_true(at == 0 ||
                            found.cuts[at].from > found.cuts[at - 1].to);
            }
        }
    jr_short_free(&found);
    free(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cplusplus),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_hostile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
