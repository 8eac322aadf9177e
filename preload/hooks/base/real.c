/* SPDX-License-Identifier: MIT
 *
 * Looking up the C library's functions behind the stubs.  dlsym writes
 * thread-local memory and may allocate, but a stub may be called in a child
 * that has no thread-local memory.  So the symbol tables of the loaded objects
 * are read here (System V gABI, "Dynamic Section"; DT_GNU_HASH as glibc reads
 * it; versions: Linux Standard Base, "Symbol Versioning").
 * Runs in: any thread, whatever its thread pointer is. */
#include "real.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#include "glibc.h"
#include "sig/state/process.h"

_Static_assert(offsetof(struct jp_owner, pid) == 0, "the gate reads it");
_Static_assert(offsetof(struct jp_entry_stub, real) == 0,
               "the gate jumps there");
_Static_assert(offsetof(struct jp_entry_stub, hook) == 8,
               "the gate jumps there");

/* The code of the gate, and of jp_entry_stub_seek. */
__asm__(JP_ARCH_GATE);

/* Stands in for a function that no library has: fails as a system call that
 * is not implemented does. */
static long missing(void)
{
    errno = ENOSYS;
    return -1;
}

/* The linker's bounds of the section that the stubs are in. */
extern struct jp_entry_stub __start_jp_entry_stubs[] JP_HIDDEN;
extern struct jp_entry_stub __stop_jp_entry_stubs[] JP_HIDDEN;

/* What a stub wants: a name of `length` characters, and the name of a version,
 * or NULL for the default one. */
struct wanted {
    const char *name, *version;
    size_t length;
};

/* The tables of one object that names are looked up in. */
struct tables {
    const char *soname, *strings;
    const ElfW(Sym) * symbols;
    const ElfW(Half) * versions;
    const ElfW(Verdef) * definitions; /* of versions */
    const uint32_t *hash;
};

#define VERSION_HIDDEN 0x8000U /* not the default one of its name */
#define VERSION_FIRST 2U       /* below: no version */

static struct wanted wanted_of(const struct jp_entry_stub *stub)
{
    const char *at = strchr(stub->name, '@');
    if (at == NULL)
        return (struct wanted){stub->name, NULL, strlen(stub->name)};
    return (struct wanted){stub->name, at + 1, (size_t)(at - stub->name)};
}

/* The address in an entry of the dynamic section.  The loader relocates it in
 * place, unless it cannot write to the section. */
static const void *pointer(const struct link_map *object,
                           const ElfW(Dyn) * entry)
{
    return (const void *)(entry->d_un.d_ptr < object->l_addr
                              ? entry->d_un.d_ptr + object->l_addr
                              : entry->d_un.d_ptr);
}

static struct tables tables_of(const struct link_map *object)
{
    struct tables tables = {NULL, NULL, NULL, NULL, NULL, NULL};
    size_t soname = SIZE_MAX;
    for (const ElfW(Dyn) *at = object->l_ld; at->d_tag != DT_NULL; at++) {
        if (at->d_tag == DT_STRTAB)
            tables.strings = pointer(object, at);
        else if (at->d_tag == DT_SYMTAB)
            tables.symbols = pointer(object, at);
        else if (at->d_tag == DT_VERSYM)
            tables.versions = pointer(object, at);
        else if (at->d_tag == DT_VERDEF)
            tables.definitions = pointer(object, at);
        else if (at->d_tag == DT_GNU_HASH)
            tables.hash = pointer(object, at);
        else if (at->d_tag == DT_SONAME)
            soname = at->d_un.d_val;
    }
    if (tables.strings != NULL && soname != SIZE_MAX)
        tables.soname = tables.strings + soname;
    return tables;
}

/* Whether a symbol's version is the one of this name. */
static int has_version(const struct tables *tables, unsigned index,
                       const char *version)
{
    const ElfW(Verdef) *at = tables->definitions;
    while (at != NULL && at->vd_ndx != index)
        at = at->vd_next != 0
                 ? (const ElfW(Verdef) *)((const char *)at + at->vd_next)
                 : NULL;
    if (at == NULL)
        return 0;
    const ElfW(Verdaux) *own =
        (const ElfW(Verdaux) *)((const char *)at + at->vd_aux);
    return strcmp(tables->strings + own->vda_name, version) == 0;
}

/* Whether a symbol is the one that dlsym or dlvsym would choose: of this name,
 * with no version, or with the one that is wanted or the default one.  A
 * function that is chosen at run time (STT_GNU_IFUNC) is left to dlsym. */
static int is_wanted(const struct tables *tables, uint32_t index,
                     const struct wanted *wanted)
{
    const ElfW(Sym) *symbol = &tables->symbols[index];
    const char *name = tables->strings + symbol->st_name;
    const unsigned type = ELF64_ST_TYPE(symbol->st_info);
    const unsigned version =
        tables->versions != NULL ? tables->versions[index] : 0;
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_value == 0 ||
        (type != STT_FUNC && type != STT_NOTYPE) ||
        strncmp(name, wanted->name, wanted->length) != 0 ||
        name[wanted->length] != '\0')
        return 0;
    if ((version & ~VERSION_HIDDEN) < VERSION_FIRST)
        return 1;
    return wanted->version == NULL
               ? (version & VERSION_HIDDEN) == 0
               : has_version(tables, version & ~VERSION_HIDDEN,
                             wanted->version);
}

static uint32_t hash_of(const struct wanted *wanted)
{
    uint32_t hash = 5381;
    for (size_t i = 0; i < wanted->length; i++)
        hash = hash * 33 + (uint8_t)wanted->name[i];
    return hash;
}

/* The index of the symbol that is wanted in an object; 0: it has none. */
static uint32_t look_up(const struct tables *tables,
                        const struct wanted *wanted)
{
    const uint32_t hash = hash_of(wanted);
    const uint32_t buckets = tables->hash[0], first = tables->hash[1];
    const uint32_t words = tables->hash[2];
    const uint32_t *bucket =
        tables->hash + 4 + words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chain = bucket + buckets;
    uint32_t index = buckets != 0 ? bucket[hash % buckets] : 0;
    if (index < first || index == 0)
        return 0;
    for (;; index++) {
        const uint32_t entry = chain[index - first];
        if ((entry | 1) == (hash | 1) && is_wanted(tables, index, wanted))
            return index;
        if ((entry & 1) != 0)
            return 0;
    }
}

/* The list of loaded objects in the order in which names are searched, which
 * the loader keeps for debuggers (the executable's DT_DEBUG); NULL: unknown. */
static const struct link_map *loaded(void)
{
    const ElfW(Phdr) *headers = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    const size_t count = headers != NULL ? getauxval(AT_PHNUM) : 0;
    ElfW(Addr) bias = 0, dynamic = 0;
    for (size_t i = 0; i < count; i++) {
        if (headers[i].p_type == PT_PHDR)
            bias = (ElfW(Addr))headers - headers[i].p_vaddr;
        if (headers[i].p_type == PT_DYNAMIC)
            dynamic = headers[i].p_vaddr;
    }
    if (dynamic == 0)
        return NULL;
    const ElfW(Dyn) *at = (const ElfW(Dyn) *)(bias + dynamic);
    for (; at->d_tag != DT_NULL; at++) {
        if (at->d_tag == DT_DEBUG && at->d_un.d_ptr != 0)
            return ((const struct r_debug *)at->d_un.d_ptr)->r_map;
    }
    return NULL;
}

/* Looks a name up in the objects behind this library, up to the C library;
 * those after it may be closed at any time.  NULL: none has it. */
static void *find_behind(const struct wanted *wanted)
{
    const struct link_map *object = loaded();
    const ElfW(Addr) vdso = getauxval(AT_SYSINFO_EHDR);
    while (object != NULL && object->l_ld != _DYNAMIC)
        object = object->l_next;
    if (object == NULL)
        return NULL;
    while ((object = object->l_next) != NULL) {
        const struct tables tables = tables_of(object);
        if (object->l_addr == vdso || tables.hash == NULL ||
            tables.symbols == NULL || tables.strings == NULL)
            continue;
        const uint32_t index = look_up(&tables, wanted);
        if (index != 0)
            return (void *)(object->l_addr + tables.symbols[index].st_value);
        if (tables.soname != NULL && strcmp(tables.soname, "libc.so.6") == 0)
            return NULL;
    }
    return NULL;
}

/* The loader's own answer; `handle` as dlsym's.  NULL: there is none. */
static void *ask_loader(void *handle, const struct wanted *wanted)
{
    char name[64];
    if (wanted->version == NULL)
        return dlsym(handle, wanted->name);
    if (wanted->length >= sizeof(name) || dlvsym == NULL)
        return NULL;
    memcpy(name, wanted->name, wanted->length);
    name[wanted->length] = '\0';
    return dlvsym(handle, name, wanted->version);
}

void *jp_real_of_libc(const char *name)
{
    const struct wanted wanted = {name, NULL, strlen(name)};
    const struct link_map *object = loaded();
    for (; object != NULL; object = object->l_next) {
        const struct tables tables = tables_of(object);
        if (tables.soname == NULL || strcmp(tables.soname, "libc.so.6") != 0)
            continue;
        const int complete = tables.hash != NULL && tables.symbols != NULL &&
                             tables.strings != NULL;
        const uint32_t index = complete ? look_up(&tables, &wanted) : 0;
        return index != 0
                   ? (void *)(object->l_addr + tables.symbols[index].st_value)
                   : NULL;
    }
    return NULL;
}

static void *find(const struct jp_entry_stub *stub)
{
    const struct wanted wanted = wanted_of(stub);
    void *function = find_behind(&wanted);
    if (function == NULL)
        function = stub->instead;
    if (function == NULL)
        function = ask_loader(RTLD_NEXT, &wanted);
    if (function != NULL)
        return function;
    /* If the C library itself was preloaded first, it is before this
     * library. */
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    return libc != NULL ? ask_loader(libc, &wanted) : NULL;
}

void jp_real_all(void)
{
    for (struct jp_entry_stub *stub = __start_jp_entry_stubs;
         stub != __stop_jp_entry_stubs; stub++) {
        void *function = NULL;
        if (stub->real == (const void *)jp_entry_stub_seek)
            function = find(stub);
        if (function != NULL)
            stub->real = function;
    }
}

void *jp_real(struct jp_entry_stub *stub)
{
    void *function = find(stub);
    if (function == NULL) {
        jp_complain_sig("the C library has no ", stub->name, 0);
        *(long (**)(void)) & function = missing;
    }
    stub->real = function;
    return function;
}
