/* SPDX-License-Identifier: MIT
 *
 * ELF files: binaries compiled here, as they are, stripped, with a separate
 * debug file and with a compressed symbol table; and libc.
 * Runs in: unit tests. */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "symbol/elf/elf.h"
#include "base/rankset.h"

static const char source[] =
    "#include <unistd.h>\n"
    "__attribute__((noinline)) static int hidden(int x)\n"
    "{ return x * 3 + getpid(); }\n"
    "__attribute__((noinline)) int visible(int x)\n"
    "{ return hidden(x) + 1; }\n"
    "int _alias(int x) __attribute__((alias(\"visible\")));\n"
    "int weak_alias(int x) __attribute__((weak, alias(\"visible\")));\n"
    "__asm__(\".text\\n.balign 64\\n.type bare,@function\\nbare:\\n\"\n"
    "        \"nop\\nnop\\nnop\\nnop\\n.type next,@function\\nnext:\\n\"\n"
    "        \"nop\\n.size next,1\\n.skip 31,0x90\\n"
    ".type piece,@object\\npiece:\\n.skip 8\\n.size piece,8\\n"
    ".type sized,@function\\nsized:\\n.skip 4\\n.globl inside\\n"
    "inside:\\n.skip 4\\n.size sized,8\\n"
    ".globl label\\nlabel:\\n.skip 8\\nplace:\\n.skip 8\\n\");\n"
    "int main(void) { return visible(getpid()); }\n";

static char folder[] = "/tmp/jprof-test-XXXXXX";
static struct jr_debug_folders folders;

/* Runs a shell command in the folder; its parts are joined. */
static void run(const char *command)
{
    char *line;

    assert_true(asprintf(&line, "cd %s && %s", folder, command) > 0);
    if (system(line) != 0)
        fail_msg("failed: %s", line);
    free(line);
}

static int set_up(void **state)
{
    FILE *file;
    char path[64];

    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/a.c", folder);
    file = fopen(path, "w");
    if (!file || fputs(source, file) < 0 || fclose(file))
        return -1;
    run("cc -O1 -g -Wl,--build-id -fPIE -pie -rdynamic -o pie a.c && "
        "cc -O1 -g -fno-pie -no-pie -o fixed a.c && "
        "cp pie stripped && strip stripped && "
        "cc -O1 -g -Wl,--build-id=none -fPIE -pie -o linked a.c && "
        "objcopy --only-keep-debug linked linked.debug && strip linked && "
        "objcopy --add-gnu-debuglink=linked.debug linked && "
        "cp pie mini && strip mini");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    run("rm -rf \"$PWD\"");
    return 0;
}

static struct jr_elf *open_elf(const char *name)
{
    char path[128];
    struct jr_elf *elf;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    elf = jr_elf_open(open(path, O_RDONLY | O_CLOEXEC), path, &folders);
    assert_non_null(elf);
    return elf;
}

/* Where nm says that a symbol of the file is. */
static uint64_t address_of(const char *file, const char *symbol)
{
    char *line, word[64];
    FILE *pipe;

    assert_true(
        asprintf(&line, "nm %s/%s | grep ' %s$'", folder, file, symbol) > 0);
    pipe = popen(line, "r");
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%63s", word), 1);
    pclose(pipe);
    free(line);
    return strtoull(word, NULL, 16);
}

static void expect(struct jr_elf *elf, struct jr_strings *strings,
                   uint64_t address, const char *name)
{
    const struct jr_name *found = jr_elf_name(elf, strings, address);

    if (!name) {
        assert_null(found);
        return;
    }
    assert_non_null(found);
    assert_string_equal(found->name, name);
    assert_true(found->start <= address && address < found->end);
}

static void check_all_names(const char *file, const char *symbols_in)
{
    struct jr_strings *strings = jr_strings_new();
    struct jr_elf *elf = open_elf(file);
    uint64_t visible = address_of(symbols_in, "visible");
    uint64_t bare = address_of(symbols_in, "bare");

    expect(elf, strings, address_of(symbols_in, "main"), "main");
    expect(elf, strings, address_of(symbols_in, "hidden"), "hidden");
    /* Of its names, the one without underscore that is not weak. */
    expect(elf, strings, visible, "visible");
    /* Without a size: to the next symbol.  With one: no further. */
    expect(elf, strings, bare + 3, "bare");
    expect(elf, strings, bare + 4, "next");
    expect(elf, strings, bare + 5, NULL);
    /* Of other types: an object with a size, and a global label outside of
     * functions. */
    expect(elf, strings, address_of(symbols_in, "piece") + 7, "piece");
    expect(elf, strings, address_of(symbols_in, "inside"), "sized");
    expect(elf, strings, address_of(symbols_in, "place"), "label");
    expect(elf, strings, 1, NULL);
    jr_elf_free(elf);
    jr_strings_free(strings);
}

static void names_functions_of_a_pie(void **state)
{
    (void)state;
    check_all_names("pie", "pie");
}

static void names_functions_of_a_fixed_program(void **state)
{
    (void)state;
    check_all_names("fixed", "fixed");
}

static void follows_the_debug_link(void **state)
{
    (void)state;
    check_all_names("linked", "linked.debug");
    run("mkdir .debug && mv linked.debug .debug/");
    check_all_names("linked", ".debug/linked.debug");
}

static void checks_the_sum_of_the_debug_link(void **state)
{
    struct jr_strings *strings = jr_strings_new();
    uint64_t address = address_of(".debug/linked.debug", "hidden");
    struct jr_elf *elf;

    (void)state;
    run("printf x >> .debug/linked.debug");
    elf = open_elf("linked");
    expect(elf, strings, address, NULL);
    jr_elf_free(elf);
    jr_strings_free(strings);
}

static void falls_back_on_dynamic_symbols(void **state)
{
    struct jr_strings *strings = jr_strings_new();
    struct jr_elf *elf = open_elf("stripped");
    uint64_t hidden = address_of("pie", "hidden");
    const struct jr_fde *fde;

    (void)state;
    expect(elf, strings, address_of("pie", "visible"), "visible");
    expect(elf, strings, hidden, NULL);
    /* Its unwinding entry still tells where it starts and ends. */
    fde = jr_elf_fde(elf, hidden + 1);
    assert_non_null(fde);
    assert_int_equal(fde->start, hidden);
    assert_true(fde->end > hidden + 1);
    assert_null(jr_elf_fde(elf, 1));
    jr_elf_free(elf);
    jr_strings_free(strings);
}

static void reads_compressed_symbols(void **state)
{
    struct jr_strings *strings = jr_strings_new();
    struct jr_elf *elf;

    (void)state;
    if (system("command -v xz >/dev/null") != 0)
        skip();
    run("objcopy -S --keep-symbol=hidden pie mini.debug && "
        "objcopy --only-keep-debug --keep-symbol=hidden pie mini.full && "
        "objcopy --strip-debug mini.full mini.debug && xz -k mini.debug && "
        "objcopy --add-section .gnu_debugdata=mini.debug.xz mini");
    elf = open_elf("mini");
    expect(elf, strings, address_of("pie", "hidden"), "hidden");
    expect(elf, strings, address_of("pie", "visible"), "visible");
    jr_elf_free(elf);
    jr_strings_free(strings);
}

static void names_the_stubs_of_the_plt(void **state)
{
    static const char *const files[] = {"pie", "fixed", "stripped"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct jr_strings *strings = jr_strings_new();
        struct jr_elf *elf = open_elf(files[i]);
        char *line, word[64] = "";
        FILE *pipe;

        /* objdump names the stubs by itself. */
        assert_true(asprintf(&line, "objdump -d %s/%s | grep '<getpid@plt>:'",
                             folder, files[i]) > 0);
        pipe = popen(line, "r");
        assert_non_null(pipe);
        assert_int_equal(fscanf(pipe, "%63s", word), 1);
        pclose(pipe);
        free(line);
        expect(elf, strings, strtoull(word, NULL, 16) + 6, "getpid@plt");
        jr_elf_free(elf);
        jr_strings_free(strings);
    }
}

static void finds_addresses_with_and_without_bias(void **state)
{
    struct jr_elf *elf = open_elf("pie");
    struct jr_mapping mapping = {
        .start = 0x555500001000, .end = 0x555500002000, .offset = 0x1000};
    uint64_t address = 0;

    (void)state;
    /* The code of a small PIE lies at the offset of its address. */
    assert_int_equal(jr_elf_address(elf, &mapping, 0x555500001010, &address),
                     0);
    assert_int_equal(address, 0x1010);
    mapping.offset = 1ULL << 40;
    assert_int_equal(jr_elf_address(elf, &mapping, 0x555500001010, &address),
                     -1);
    mapping.has_bias = 1;
    mapping.bias = 0x555500000000;
    assert_int_equal(jr_elf_address(elf, &mapping, 0x555500001010, &address),
                     0);
    assert_int_equal(address, 0x1010);
    jr_elf_free(elf);
}

static void names_functions_of_libc(void **state)
{
    struct jr_strings *strings = jr_strings_new();
    void *symbol = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    const struct jr_name *name;
    struct link_map *module;
    struct jr_elf *elf;
    Dl_info info;

    (void)state;
    assert_true(dladdr1(symbol, &info, (void **)&module, RTLD_DL_LINKMAP));
    elf = jr_elf_open(open(info.dli_fname, O_RDONLY | O_CLOEXEC),
                      info.dli_fname, &folders);
    assert_non_null(elf);
    name = jr_elf_name(elf, strings, (uintptr_t)symbol - module->l_addr + 1);
    assert_non_null(name);
    assert_string_equal(name->name, "gnu_get_libc_version");
    jr_elf_free(elf);
    jr_strings_free(strings);
}

static void refuses_what_is_no_elf_file(void **state)
{
    char path[128];

    (void)state;
    snprintf(path, sizeof path, "%s/a.c", folder);
    assert_null(jr_elf_open(open(path, O_RDONLY | O_CLOEXEC), path, &folders));
}

static void names_the_rest_of_a_nested_symbol(void **state)
{
    struct jr_candidates candidates = {0};
    struct jr_names names = {0};
    struct jr_fdes fdes = {0};
    static const struct {
        uint64_t start, end;
        const char *name;
    } wanted[] = {{0x10, 0x20, "outer"},
                  {0x20, 0x30, "inner"},
                  {0x30, 0x40, "outer"},
                  {0x50, 0x60, "last"}};

    (void)state;
    *JR_PUSH(candidates.items, candidates.count, candidates.room) =
        (struct jr_candidate){0x50,   0x100,      0x60,
                              "last", STB_GLOBAL, JR_IS_FUNCTION};
    *JR_PUSH(candidates.items, candidates.count, candidates.room) =
        (struct jr_candidate){0x20,    0x10,      0x60,
                              "inner", STB_LOCAL, JR_IS_FUNCTION};
    *JR_PUSH(candidates.items, candidates.count, candidates.room) =
        (struct jr_candidate){0x10,    0x30,       0x60,
                              "outer", STB_GLOBAL, JR_IS_FUNCTION};
    jr_names_choose(&candidates, &fdes, &names);
    assert_int_equal(names.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(names.items[i].start, wanted[i].start);
        assert_int_equal(names.items[i].end, wanted[i].end);
        assert_string_equal(names.items[i].name, wanted[i].name);
    }
    free(candidates.items);
    free(names.items);
}

/* Of one place a function is named before other code, and that before a label;
 * a label inside code of a name, or that begins before it, is none. */
static void chooses_by_kind(void **state)
{
    static const struct jr_candidate all[] = {
        {0x10, 0, 0x90, "label", STB_GLOBAL, JR_IS_LABEL},
        {0x10, 8, 0x90, "_piece", STB_LOCAL, JR_IS_PIECE},
        {0x20, 4, 0x90, "object", STB_GLOBAL, JR_IS_PIECE},
        {0x20, 4, 0x90, "_function", STB_LOCAL, JR_IS_FUNCTION},
        {0x30, 0, 0x90, "unsized", STB_LOCAL, JR_IS_FUNCTION},
        {0x38, 0, 0x90, "place", STB_GLOBAL, JR_IS_LABEL},
        {0x40, 8, 0x90, "last", STB_LOCAL, JR_IS_FUNCTION},
        {0x50, 0, 0x90, "described", STB_GLOBAL, JR_IS_LABEL},
        {0x58, 0, 0x90, "in it", STB_GLOBAL, JR_IS_LABEL},
        {0x70, 0, 0x90, "one", STB_GLOBAL, JR_IS_LABEL},
        {0x78, 0, 0x90, "two", STB_GLOBAL, JR_IS_LABEL},
    };
    static const struct jr_name wanted[] = {
        {0x10, 0x18, "_piece", NULL},    {0x20, 0x24, "_function", NULL},
        {0x30, 0x40, "unsized", NULL},   {0x40, 0x48, "last", NULL},
        {0x50, 0x60, "described", NULL}, {0x70, 0x78, "one", NULL},
        {0x78, 0x90, "two", NULL}};
    struct jr_fde described[] = {{0x50, 0x60}};
    const struct jr_fdes fdes = {described, 1, 1};
    struct jr_candidates candidates = {0};
    struct jr_names names = {0};

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        *JR_PUSH(candidates.items, candidates.count, candidates.room) = all[i];
    jr_names_choose(&candidates, &fdes, &names);
    assert_int_equal(names.count, sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < names.count; i++) {
        assert_string_equal(names.items[i].name, wanted[i].name);
        assert_int_equal(names.items[i].start, wanted[i].start);
        assert_int_equal(names.items[i].end, wanted[i].end);
    }
    free(candidates.items);
    free(names.items);
}

/* A symbol without a size and an FDE does not take in code that has one. */
static void ends_before_what_is_described(void **state)
{
    struct jr_fde described[] = {{0x18, 0x20}, {0x28, 0x38}};
    const struct jr_fdes fdes = {described, 2, 2};
    struct jr_candidates candidates = {0};
    struct jr_names names = {0};

    (void)state;
    *JR_PUSH(candidates.items, candidates.count, candidates.room) =
        (struct jr_candidate){0x10,      0,         0x60,
                              "without", STB_LOCAL, JR_IS_FUNCTION};
    *JR_PUSH(candidates.items, candidates.count, candidates.room) =
        (struct jr_candidate){0x28, 0, 0x60, "with", STB_LOCAL, JR_IS_FUNCTION};
    *JR_PUSH(candidates.items, candidates.count, candidates.room) =
        (struct jr_candidate){0x40, 0, 0x60, "last", STB_LOCAL, JR_IS_FUNCTION};
    jr_names_choose(&candidates, &fdes, &names);
    assert_int_equal(names.count, 3);
    assert_int_equal(names.items[0].end, 0x18);
    assert_int_equal(names.items[1].end, 0x38);
    assert_int_equal(names.items[2].end, 0x60);
    free(candidates.items);
    free(names.items);
}

/* Code without symbols behind GCC's own start-up code is not that. */
static void ends_the_start_up_code(void **state)
{
    struct jr_candidates candidates = {0};
    struct jr_names names = {0};
    struct jr_fdes fdes = {0};

    (void)state;
    *JR_PUSH(candidates.items, candidates.count, candidates.room) =
        (struct jr_candidate){0x10,          0,         0x60,
                              "frame_dummy", STB_LOCAL, JR_IS_FUNCTION};
    *JR_PUSH(candidates.items, candidates.count, candidates.room) =
        (struct jr_candidate){0x40, 0, 0x60, "last", STB_LOCAL, JR_IS_FUNCTION};
    jr_names_choose(&candidates, &fdes, &names);
    assert_int_equal(names.count, 2);
    assert_int_equal(names.items[0].end, 0x20);
    assert_int_equal(names.items[1].end, 0x60);
    free(candidates.items);
    free(names.items);
}

/* Against the slow way, over pseudo-random numbers. */
static void finds_ranks(void **state)
{
    struct jr_rankset set;
    uint8_t member[5000] = {0};
    uint32_t seed = 1;

    (void)state;
    jr_rankset_init(&set, 5000);
    for (uint32_t i = 0; i < 300; i++) {
        size_t number = ((seed = seed * 1103515245 + 12345) >> 3) % 5000;

        member[number] ^= 1;
        if (member[number])
            jr_rankset_add(&set, number);
        else
            jr_rankset_remove(&set, number);
    }
    for (size_t from = 0; from <= 5000; from++) {
        size_t next = from, before = from;

        while (next < 5000 && !member[next])
            next++;
        while (before > 0 && !member[before - 1])
            before--;
        assert_int_equal(jr_rankset_next(&set, from),
                         next < 5000 ? next : JR_RANK_NONE);
        assert_int_equal(jr_rankset_before(&set, from), before - 1);
    }
    jr_rankset_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_functions_of_a_pie),
        cmocka_unit_test(names_functions_of_a_fixed_program),
        cmocka_unit_test(follows_the_debug_link),
        cmocka_unit_test(checks_the_sum_of_the_debug_link),
        cmocka_unit_test(falls_back_on_dynamic_symbols),
        cmocka_unit_test(reads_compressed_symbols),
        cmocka_unit_test(names_the_stubs_of_the_plt),
        cmocka_unit_test(finds_addresses_with_and_without_bias),
        cmocka_unit_test(names_functions_of_libc),
        cmocka_unit_test(refuses_what_is_no_elf_file),
        cmocka_unit_test(names_the_rest_of_a_nested_symbol),
        cmocka_unit_test(chooses_by_kind),
        cmocka_unit_test(ends_before_what_is_described),
        cmocka_unit_test(ends_the_start_up_code),
        cmocka_unit_test(finds_ranks),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
