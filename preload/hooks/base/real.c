/* SPDX-License-Identifier: MIT
 *
 * Looking up the C library's functions behind the doors.  dlsym writes
 * thread-local memory and may allocate, but a door may be called in a child
 * that has no thread-local memory.  So the symbol tables of the loaded objects
 * are read here (System V gABI, "Dynamic Section"; DT_GNU_HASH as glibc reads
 * it).
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

#include "sig/state/process.h"

_Static_assert(offsetof(struct jp_owner, pid) == 0, "the gate reads it");
_Static_assert(offsetof(struct jp_door, real) == 0, "the gate jumps there");
_Static_assert(offsetof(struct jp_door, hook) == 8, "the gate jumps there");

/* The code of the gate, and of jp_door_seek. */
__asm__(JP_ARCH_GATE);

/* Stands in for a function that no library has: fails as a system call that
 * is not implemented does. */
static long missing(void)
{
    errno = ENOSYS;
    return -1;
}

/* The linker's bounds of the section that the doors are in. */
extern struct jp_door __start_jp_doors[] JP_HIDDEN;
extern struct jp_door __stop_jp_doors[] JP_HIDDEN;

/* The tables of one object that names are looked up in. */
struct tables {
    const char *soname, *strings;
    const ElfW(Sym) * symbols;
    const ElfW(Half) * versions;
    const uint32_t *hash;
};

#define VERSION_HIDDEN 0x8000U /* not the default one of its name */
#define VERSION_FIRST 2U       /* below: no version */

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
    struct tables tables = {NULL, NULL, NULL, NULL, NULL};
    size_t soname = SIZE_MAX;
    for (const ElfW(Dyn) *at = object->l_ld; at->d_tag != DT_NULL; at++) {
        if (at->d_tag == DT_STRTAB)
            tables.strings = pointer(object, at);
        else if (at->d_tag == DT_SYMTAB)
            tables.symbols = pointer(object, at);
        else if (at->d_tag == DT_VERSYM)
            tables.versions = pointer(object, at);
        else if (at->d_tag == DT_GNU_HASH)
            tables.hash = pointer(object, at);
        else if (at->d_tag == DT_SONAME)
            soname = at->d_un.d_val;
    }
    if (tables.strings != NULL && soname != SIZE_MAX)
        tables.soname = tables.strings + soname;
    return tables;
}

/* Whether a symbol is the one that dlsym would choose: of this name, with no
 * version or the default one.  A function that is chosen at run time
 * (STT_GNU_IFUNC) is left to dlsym. */
static int is_wanted(const struct tables *tables, uint32_t index,
                     const char *name)
{
    const ElfW(Sym) *symbol = &tables->symbols[index];
    const unsigned type = ELF64_ST_TYPE(symbol->st_info);
    const unsigned version =
        tables->versions != NULL ? tables->versions[index] : 0;
    return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 &&
           (type == STT_FUNC || type == STT_NOTYPE) &&
           ((version & ~VERSION_HIDDEN) < VERSION_FIRST ||
            (version & VERSION_HIDDEN) == 0) &&
           strcmp(tables->strings + symbol->st_name, name) == 0;
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;
    for (; *name != '\0'; name++)
        hash = hash * 33 + (uint8_t)*name;
    return hash;
}

/* The index of the symbol of this name in an object; 0: it has none. */
static uint32_t look_up(const struct tables *tables, const char *name)
{
    const uint32_t hash = hash_of(name);
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
        if ((entry | 1) == (hash | 1) && is_wanted(tables, index, name))
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

/* Looks a name up in the objects behind this library, up to the C library, or
 * only in that; those after it may be closed at any time.  NULL: none has
 * it. */
static void *find_behind(const char *name, int only_libc)
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
        const int is_libc =
            tables.soname != NULL && strcmp(tables.soname, "libc.so.6") == 0;
        const uint32_t index =
            is_libc || !only_libc ? look_up(&tables, name) : 0;
        if (index != 0)
            return (void *)(object->l_addr + tables.symbols[index].st_value);
        if (is_libc)
            return NULL;
    }
    return NULL;
}

static void *find(const struct jp_door *door)
{
    void *function = find_behind(door->name, 0);
    if (function == NULL)
        function = door->instead;
    if (function == NULL)
        function = dlsym(RTLD_NEXT, door->name);
    if (function != NULL)
        return function;
    /* If the C library itself was preloaded first, it is before this
     * library. */
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    return libc != NULL ? dlsym(libc, door->name) : NULL;
}

void *jp_real_libc(const char *name)
{
    return find_behind(name, 1);
}

void jp_real_all(void)
{
    for (struct jp_door *door = __start_jp_doors; door != __stop_jp_doors;
         door++) {
        void *function = NULL;
        if (door->real == (const void *)jp_door_seek)
            function = find(door);
        if (function != NULL)
            door->real = function;
    }
}

void *jp_real(struct jp_door *door)
{
    void *function = find(door);
    if (function == NULL) {
        jp_complain_sig("the C library has no ", door->name, 0);
        *(long (**)(void)) & function = missing;
    }
    door->real = function;
    return function;
}
