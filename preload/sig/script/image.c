/* SPDX-License-Identifier: MIT
 *
 * Looking up exported symbols of a mapped ELF file.
 * Runs in: handler, any thread. */
#include "image.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "sig/code/module.h"

#define HEADERS_MAX 32U /* program headers looked at */
#define ENTRIES_MAX 64U /* entries of the dynamic section looked at */
#define CHAIN_MAX 4096U /* symbols of one bucket looked at */
#define NAME_MAX_BYTES 64U

/* Work space of the one thread that looks (the handler's stack is small). */
static union {
    Elf64_Phdr headers[HEADERS_MAX];
    Elf64_Dyn entries[ENTRIES_MAX];
} space;

int jp_image_read_sig(uint64_t address, void *to, size_t size)
{
    return jp_module_read_sig(address, to, size) == (long)size;
}

/* Finds the dynamic section by the program headers, and the bias. */
static uint64_t dynamic_sig(struct jp_image *image, uint64_t base)
{
    Elf64_Ehdr elf;
    uint64_t dynamic = 0;
    int has_bias = 0;
    if (!jp_image_read_sig(base, &elf, sizeof(elf)) ||
        memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 ||
        elf.e_ident[EI_CLASS] != ELFCLASS64 ||
        elf.e_phentsize != sizeof(Elf64_Phdr) || elf.e_phnum > HEADERS_MAX ||
        !jp_image_read_sig(base + elf.e_phoff, space.headers,
                           elf.e_phnum * sizeof(Elf64_Phdr)))
        return 0;
    for (unsigned i = 0; i < elf.e_phnum; i++) {
        const Elf64_Phdr *header = &space.headers[i];
        if (header->p_type == PT_LOAD && header->p_offset == 0) {
            image->bias = base - header->p_vaddr;
            has_bias = 1;
        }
        if (header->p_type == PT_DYNAMIC)
            dynamic = header->p_vaddr;
    }
    return has_bias && dynamic != 0 ? image->bias + dynamic : 0;
}

/* An address of the dynamic section, to which glibc's loader has added the bias
 * on most machines (elf_get_dynamic_info in its elf/get-dynamic-info.h). */
static uint64_t relocated_sig(const struct jp_image *image, uint64_t address)
{
    return address < image->bias ? image->bias + address : address;
}

int jp_image_open_sig(struct jp_image *image, uint64_t base)
{
    uint32_t words[4]; /* of the hash table (glibc, elf/dl-lookup.c) */
    *image = (struct jp_image){0};
    const uint64_t dynamic = dynamic_sig(image, base);
    if (dynamic == 0)
        return -ENOENT;
    const long got =
        jp_module_read_sig(dynamic, space.entries, sizeof(space.entries));
    for (size_t i = 0; got > 0 && i < (size_t)got / sizeof(Elf64_Dyn) &&
                       space.entries[i].d_tag != DT_NULL;
         i++) {
        const uint64_t value =
            relocated_sig(image, space.entries[i].d_un.d_ptr);
        if (space.entries[i].d_tag == DT_SYMTAB)
            image->symbols = value;
        else if (space.entries[i].d_tag == DT_STRTAB)
            image->strings = value;
        else if (space.entries[i].d_tag == DT_GNU_HASH)
            image->hash = value;
    }
    if (image->symbols == 0 || image->strings == 0 || image->hash == 0 ||
        !jp_image_read_sig(image->hash, words, sizeof(words)))
        return -ENOENT;
    image->buckets = words[0];
    image->offset = words[1];
    image->blooms = words[2];
    image->shift = words[3];
    return image->buckets != 0 && image->blooms != 0 && image->shift < 32
               ? 0
               : -ENOENT;
}

/* The hash of a name in such a table (glibc, elf/dl-new-hash.h). */
static uint32_t hash_sig(const char *name)
{
    uint32_t hash = 5381;
    for (; *name != '\0'; name++)
        hash = hash * 33 + (uint8_t)*name;
    return hash;
}

/* Whether the bloom filter lets a name with this hash be there. */
static int may_be_sig(const struct jp_image *image, uint32_t hash)
{
    uint64_t bits;
    return jp_image_read_sig(image->hash + 16 +
                                 hash / 64 % image->blooms * 8ULL,
                             &bits, sizeof(bits)) &&
           (bits >> hash % 64 & bits >> (hash >> image->shift) % 64 & 1) != 0;
}

/* Whether the symbol is defined and has this name. */
static int is_named_sig(const struct jp_image *image, const Elf64_Sym *symbol,
                        const char *name, size_t length)
{
    char text[NAME_MAX_BYTES];
    return symbol->st_shndx != SHN_UNDEF && length < sizeof(text) &&
           jp_image_read_sig(image->strings + symbol->st_name, text,
                             length + 1) &&
           memcmp(text, name, length + 1) == 0;
}

uint64_t jp_image_find_sig(const struct jp_image *image, const char *name,
                           uint64_t *size)
{
    const uint32_t hash = hash_sig(name);
    const uint64_t buckets = image->hash + 16 + image->blooms * 8ULL;
    const uint64_t chains = buckets + image->buckets * 4ULL;
    uint32_t index, chain = 0;
    Elf64_Sym symbol;
    if (!may_be_sig(image, hash) ||
        !jp_image_read_sig(buckets + hash % image->buckets * 4ULL, &index,
                           sizeof(index)) ||
        index < image->offset)
        return 0;
    for (unsigned i = 0; i < CHAIN_MAX && (chain & 1) == 0; i++, index++) {
        if (!jp_image_read_sig(chains + (index - image->offset) * 4ULL, &chain,
                               sizeof(chain)))
            return 0;
        if ((chain | 1) != (hash | 1) ||
            !jp_image_read_sig(image->symbols + index * sizeof(symbol), &symbol,
                               sizeof(symbol)) ||
            !is_named_sig(image, &symbol, name, strlen(name)))
            continue;
        if (size != NULL)
            *size = symbol.st_size;
        return image->bias + symbol.st_value;
    }
    return 0;
}
