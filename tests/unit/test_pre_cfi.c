/* SPDX-License-Identifier: MIT
 *
 * Call-frame information: the rules for the code of real libraries, worked
 * out with made-up registers and memory, must give what libdw's description of
 * the same frame gives; damaged information must do no harm.
 * Runs in: tests. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../preload/sig/unwind/cfi/cfi_run.h"

struct file {
    uint8_t *bytes;
    size_t size;
    int fd;
    Elf *elf;
    Dwarf_CFI *cfi;
    struct jp_cfi_image image;
    unsigned compared, bad, signals, roots, jumps, computed;
};

/* Opens a file and finds its .eh_frame_hdr the way the library does. */
static int open_file(const char *path, struct file *file)
{
    struct stat info;
    memset(file, 0, sizeof(*file));
    file->fd = open(path, O_RDONLY);
    if (file->fd < 0 || fstat(file->fd, &info) != 0)
        return -1;
    file->size = (size_t)info.st_size;
    file->bytes = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, file->fd, 0);
    const Elf64_Ehdr *elf = (const Elf64_Ehdr *)file->bytes;
    const Elf64_Phdr *headers =
        (const Elf64_Phdr *)(file->bytes + elf->e_phoff);
    uint64_t frames = 0;
    for (unsigned i = 0; i < elf->e_phnum; i++) {
        if (headers[i].p_type == PT_GNU_EH_FRAME)
            frames = headers[i].p_vaddr;
    }
    for (unsigned i = 0; i < elf->e_phnum; i++) {
        if (headers[i].p_type != PT_LOAD || frames < headers[i].p_vaddr ||
            frames - headers[i].p_vaddr >= headers[i].p_filesz)
            continue;
        file->image.address = headers[i].p_vaddr;
        file->image.size = headers[i].p_filesz;
        file->image.data = file->bytes + headers[i].p_offset;
        file->image.header = frames - headers[i].p_vaddr;
    }
    elf_version(EV_CURRENT);
    file->elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
    file->cfi = dwarf_getcfi_elf(file->elf);
    return frames != 0 && file->cfi != NULL ? 0 : -1;
}

static void close_file(struct file *file)
{
    dwarf_cfi_end(file->cfi);
    elf_end(file->elf);
    munmap(file->bytes, file->size);
    close(file->fd);
}

/* Made-up registers and memory, the same for both sides. */
static uint64_t register_value(unsigned number, uint64_t pc)
{
    return number == JP_ARCH_PC ? pc : 0x7f0000000000ULL + number * 0x100010;
}

static uint64_t memory_value(uint64_t address)
{
    return (address * 0x9e3779b97f4a7c15ULL) & 0x7ffffffffff8ULL;
}

/* Evaluates the operations that libdw returns. */
static uint64_t evaluate(const Dwarf_Op *ops, size_t count, uint64_t cfa,
                         uint64_t pc)
{
    uint64_t stack[32];
    unsigned depth = 0;
    for (size_t i = 0; i < count; i++) {
        const Dwarf_Op *op = &ops[i];
        const unsigned atom = op->atom;
        if (atom == DW_OP_call_frame_cfa) {
            stack[depth++] = cfa;
        } else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
            stack[depth++] =
                register_value(atom - DW_OP_breg0, pc) + op->number;
        } else if (atom == DW_OP_bregx) {
            stack[depth++] =
                register_value((unsigned)op->number, pc) + op->number2;
        } else if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
            stack[depth++] = atom - DW_OP_lit0;
        } else if (atom == DW_OP_plus_uconst) {
            stack[depth - 1] += op->number;
        } else if (atom == DW_OP_deref) {
            stack[depth - 1] = memory_value(stack[depth - 1]);
        } else if (atom >= DW_OP_const1u && atom <= DW_OP_consts) {
            stack[depth++] = op->number;
        } else {
            assert_true(depth >= 2);
            uint64_t b = stack[--depth], *a = &stack[depth - 1];
            if (atom == DW_OP_and)
                *a &= b;
            else if (atom == DW_OP_plus)
                *a += b;
            else if (atom == DW_OP_minus)
                *a -= b;
            else if (atom == DW_OP_shl)
                *a <<= b;
            else if (atom == DW_OP_mul)
                *a *= b;
            else if (atom == DW_OP_ge)
                *a = (int64_t)*a >= (int64_t)b;
            else
                fail_msg("operation %#x", atom);
        }
    }
    /* The address of a register that is saved begins with the CFA, which it
     * need not use. */
    assert_true(depth == 1 || (depth == 2 && stack[0] == cfa));
    return stack[depth - 1];
}

static uint64_t rule_cfa(const struct jp_cfi_rule *rule, uint64_t pc)
{
    uint64_t base = register_value(rule->base, pc);
    if (rule->kind == JP_CFI_REGISTER)
        return base + (uint64_t)(int64_t)rule->offset;
    return memory_value(base + (uint64_t)(int64_t)JP_CFI_AT(rule->offset)) +
           (uint64_t)(int64_t)JP_CFI_ADD(rule->offset);
}

/* The caller's value of a register as libdw has it; *lost: undefined. */
static uint64_t expected(Dwarf_Frame *frame, unsigned number, uint64_t cfa,
                         uint64_t pc, int *lost)
{
    Dwarf_Op memory[3], *ops;
    size_t count;
    *lost = 0;
    assert_int_equal(
        dwarf_frame_register(frame, (int)number, memory, &ops, &count), 0);
    if (count == 0) {
        *lost = ops == memory;
        return register_value(number, pc);
    }
    if (count == 1 && ops[0].atom == DW_OP_regx)
        return register_value((unsigned)ops[0].number, pc);
    return memory_value(evaluate(ops, count, cfa, pc));
}

static void compare_register(Dwarf_Frame *frame, unsigned number, uint64_t cfa,
                             uint64_t pc, uint64_t got)
{
    int lost;
    uint64_t want = expected(frame, number, cfa, pc, &lost);
    if (!lost && want != got)
        fail_msg("pc %#lx: register %u is %#lx, libdw says %#lx",
                 (unsigned long)pc, number, (unsigned long)got,
                 (unsigned long)want);
}

static void compare_saved(const struct jp_cfi_rule *rule, Dwarf_Frame *frame,
                          uint64_t cfa, uint64_t pc)
{
    static const uint8_t saved[] = JP_ARCH_SAVED;
    uint64_t from = (rule->flags & JP_CFI_FP_BASED) != 0
                        ? register_value(JP_ARCH_FP, pc)
                        : cfa;
    for (unsigned i = 0; i < JP_ARCH_SAVED_COUNT; i++) {
        if (rule->saved[i] != 0)
            compare_register(
                frame, saved[i], cfa, pc,
                memory_value(from + (uint64_t)(rule->saved[i] * 8)));
    }
    compare_register(
        frame, JP_ARCH_FP, cfa, pc,
        (rule->flags & JP_CFI_FP_SAVED) != 0
            ? memory_value(from + (uint64_t)((int64_t)rule->fp * 8))
            : register_value(JP_ARCH_FP, pc));
}

static int read_value(void *data, uint64_t address, uint64_t *word)
{
    (void)data;
    *word = memory_value(address);
    return 1;
}

/* What is worked out at the frame itself. */
static void compare_computed(struct file *file, Dwarf_Frame *frame, uint64_t pc)
{
    static const uint8_t saved[] = JP_ARCH_SAVED;
    uint64_t registers[JP_ARCH_REGISTERS], rows[JP_CFI_ROWS];
    struct jp_cfi_values values = {.registers = registers,
                                   .read_sig = read_value};
    Dwarf_Op *ops;
    size_t count;
    for (unsigned i = 0; i < JP_ARCH_REGISTERS; i++)
        registers[i] = register_value(i, pc);
    assert_int_equal(jp_cfi_compute_sig(&file->image, pc, rows, &values), 0);
    assert_int_equal(dwarf_frame_cfa(frame, &ops, &count), 0);
    const uint64_t cfa = evaluate(ops, count, 0, pc);
    assert_int_equal(values.sp, cfa);
    compare_register(frame, JP_ARCH_RA, cfa, pc, values.ra);
    compare_register(frame, JP_ARCH_FP, cfa, pc, values.fp);
    for (unsigned i = 0; i < JP_ARCH_SAVED_COUNT; i++)
        compare_register(frame, saved[i], cfa, pc, values.saved[i]);
}

static void compare_at(struct file *file, uint64_t pc)
{
    struct jp_cfi_rule rule;
    uint64_t rows[JP_CFI_ROWS];
    Dwarf_Frame *frame;
    Dwarf_Op *ops;
    size_t count;
    int lost;
    assert_int_equal(jp_cfi_rule_sig(&file->image, pc, rows, &rule), 0);
    if (dwarf_cfi_addrframe(file->cfi, pc, &frame) != 0)
        return;
    file->compared++;
    file->bad += rule.kind == JP_CFI_BAD;
    file->signals += (rule.flags & JP_CFI_EXACT) != 0;
    file->roots += rule.kind == JP_CFI_ROOT;
    file->jumps += rule.kind == JP_CFI_JUMP;
    file->computed += rule.kind == JP_CFI_COMPUTED;
    /* The code alone, not the CIE, tells that a frame is the kernel's. */
    assert_int_not_equal(rule.kind, JP_CFI_SIGNAL);
    if ((rule.flags & JP_CFI_EXACT) != 0) {
        _Bool is_signal;
        assert_int_not_equal(dwarf_frame_info(frame, NULL, NULL, &is_signal),
                             -1);
        assert_true(is_signal);
    }
    if (rule.kind == JP_CFI_ROOT) {
        expected(frame, JP_ARCH_RA, 0, pc, &lost);
        assert_true(lost);
    } else if (rule.kind == JP_CFI_JUMP) {
        compare_register(frame, JP_ARCH_SP, 0, pc,
                         register_value(rule.base, pc));
        compare_register(frame, JP_ARCH_FP, 0, pc,
                         register_value((unsigned)rule.fp, pc));
        compare_register(frame, JP_ARCH_RA, 0, pc,
                         register_value((unsigned)rule.ra, pc));
    } else if (rule.kind == JP_CFI_COMPUTED) {
        compare_computed(file, frame, pc);
    } else if (rule.kind != JP_CFI_BAD) {
        assert_int_not_equal(rule.kind, JP_CFI_NONE);
        assert_int_equal(dwarf_frame_cfa(frame, &ops, &count), 0);
        uint64_t cfa = rule_cfa(&rule, pc);
        if (evaluate(ops, count, 0, pc) != cfa)
            fail_msg("pc %#lx: wrong CFA", (unsigned long)pc);
        compare_register(
            frame, JP_ARCH_RA, cfa, pc,
            (rule.flags & JP_CFI_RA_REGISTER) != 0
                ? register_value((unsigned)rule.ra, pc)
                : memory_value(cfa + (uint64_t)((int64_t)rule.ra * 8)));
        compare_saved(&rule, frame, cfa, pc);
    }
    free(frame);
}

/* Every entry of the table, at its begin, its end, and pcs in between. */
static void compare_file(struct file *file)
{
    const uint8_t *header = file->image.data + file->image.header;
    uint32_t count;
    memcpy(&count, header + 8, 4);
    for (uint32_t i = 0; i < count; i++) {
        struct jp_cfi_fde fde;
        int32_t distance;
        memcpy(&distance, header + 12 + i * 8, 4);
        uint64_t begin = file->image.address + file->image.header +
                         (uint64_t)(int64_t)distance;
        assert_int_equal(jp_cfi_find_sig(&file->image, begin, &fde), 0);
        assert_int_equal(fde.begin, begin);
        uint64_t step = (fde.end - begin) / 16 + 1;
        for (uint64_t pc = begin; pc < fde.end; pc += step)
            compare_at(file, pc);
        if (fde.end > begin)
            compare_at(file, fde.end - 1);
        for (uint64_t pc = begin; pc < fde.end && pc < begin + 24; pc++)
            compare_at(file, pc);
    }
    print_message("%u pcs compared, %u without a rule, %u in signal frames, "
                  "%u at roots, %u before a jump, %u worked out\n",
                  file->compared, file->bad, file->signals, file->roots,
                  file->jumps, file->computed);
}

static void test_libc(void **state)
{
    struct file file;
    Dl_info info;
    (void)state;
    assert_true(dladdr((void *)(uintptr_t)getpid, &info) != 0);
    assert_int_equal(open_file(info.dli_fname, &file), 0);
    compare_file(&file);
    assert_true(file.compared > 50000);
    assert_int_equal(file.bad, 0);
    assert_true(file.signals > 0 && file.roots > 0);
    /* longjmp describes the frame that it goes to by three registers. */
    assert_true(file.jumps > 0);
    close_file(&file);
}

static void test_others(void **state)
{
    static const char *const names[] = {"libcrypto.so.3", "libstdc++.so.6",
                                        "ld-linux-x86-64.so.2", "libz.so.1",
                                        "libgmp.so.10"};
    struct file file;
    (void)state;
    assert_int_equal(open_file("/proc/self/exe", &file), 0);
    compare_file(&file);
    assert_int_equal(file.bad, 0);
    close_file(&file);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct jp_link_map {
            void *address;
            char *name;
        } * map;
        void *library = dlopen(names[i], RTLD_LAZY);
        if (library == NULL || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
            continue;
        print_message("%s: ", names[i]);
        assert_int_equal(open_file(map->name, &file), 0);
        compare_file(&file);
        assert_true(file.bad * 1000 <= file.compared);
        close_file(&file);
        dlclose(library);
    }
}

/* A copy of this program's information between pages that cannot be read. */
struct guarded {
    uint8_t *memory;
    size_t room; /* bytes between the guards */
    struct jp_cfi_image image;
    uint64_t pcs[64];
};

#define PAGE 4096UL

static void guard(const struct file *file, struct guarded *copy)
{
    const struct jp_cfi_image *image = &file->image;
    size_t size = image->size - image->header;
    copy->room = (size + PAGE - 1) & ~(PAGE - 1);
    copy->memory = mmap(NULL, copy->room + 2 * PAGE, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(copy->memory, MAP_FAILED);
    copy->memory += PAGE;
    assert_int_equal(mprotect(copy->memory, copy->room, PROT_READ | PROT_WRITE),
                     0);
    copy->image = (struct jp_cfi_image){
        .address = image->address + image->header, .size = size};
    for (unsigned i = 0; i < 64; i++) {
        const uint8_t *header = image->data + image->header;
        int32_t distance;
        uint32_t count;
        memcpy(&count, header + 8, 4);
        memcpy(&distance, header + 12 + i * (count - 1) / 63 * 8, 4);
        copy->pcs[i] = copy->image.address + (uint64_t)(int64_t)distance + 5;
    }
}

/* Cut so that the last byte is the last that can be read. */
static void cut(const struct file *file, struct guarded *copy, size_t size)
{
    copy->image.size = size;
    copy->image.data = copy->memory + copy->room - size;
    memcpy(copy->image.data, file->image.data + file->image.header, size);
}

static unsigned try_all(const struct guarded *copy, unsigned step)
{
    unsigned usable = 0;
    for (unsigned i = 0; i < 64; i += step) {
        struct jp_cfi_rule rule;
        uint64_t rows[JP_CFI_ROWS];
        assert_int_equal(
            jp_cfi_rule_sig(&copy->image, copy->pcs[i], rows, &rule), 0);
        assert_true(rule.kind <= JP_CFI_BAD);
        if (rule.kind == JP_CFI_REGISTER || rule.kind == JP_CFI_MEMORY) {
            assert_true(rule.base < JP_ARCH_REGISTERS);
            usable++;
        }
    }
    return usable;
}

static void test_cut_anywhere(void **state)
{
    struct file file;
    struct guarded copy;
    (void)state;
    assert_int_equal(open_file("/proc/self/exe", &file), 0);
    guard(&file, &copy);
    size_t whole = copy.image.size;
    cut(&file, &copy, whole);
    unsigned all = try_all(&copy, 1);
    assert_true(all > 48);
    for (size_t size = 24; size < whole; size++) {
        cut(&file, &copy, size);
        assert_true(try_all(&copy, 5) <= all);
    }
    cut(&file, &copy, 2048);
    assert_true(try_all(&copy, 1) < all);
    close_file(&file);
}

static void test_damage(void **state)
{
    struct file file;
    struct guarded copy;
    uint64_t seed = 1;
    (void)state;
    assert_int_equal(open_file("/proc/self/exe", &file), 0);
    guard(&file, &copy);
    cut(&file, &copy, copy.image.size);
    unsigned all = try_all(&copy, 1), least = all;
    for (unsigned round = 0; round < 20000; round++) {
        size_t places[4];
        for (unsigned i = 0; i < 4; i++) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            places[i] = (seed >> 33) % copy.image.size;
            copy.image.data[places[i]] ^= (uint8_t)(1 + (seed >> 24) % 255);
        }
        unsigned usable = try_all(&copy, 3);
        least = usable < least ? usable : least;
        for (unsigned i = 0; i < 4; i++)
            copy.image.data[places[i]] =
                file.image.data[file.image.header + places[i]];
    }
    assert_true(least < all / 6);
    assert_int_equal(try_all(&copy, 1), all);
    close_file(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_libc),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
