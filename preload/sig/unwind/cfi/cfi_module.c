/* SPDX-License-Identifier: MIT
 *
 * The table of modules whose call-frame information is in use.
 * Runs in: handler, any thread. */
#include "cfi_module.h"

#include <elf.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "cfi_image.h"
#include "sig/arch/arch.h"
#include "sig/code/maps.h"
#include "sig/os/own.h"
#include "sig/os/sys.h"

#define MODULES_MAX 1024U
#define HEADERS_MAX 64U          /* program headers looked at */
#define IMAGE_MAX (512ULL << 20) /* address space reserved for a segment */
#define BLOCK JP_CFI_BLOCK

enum state {
    EMPTY = 0,
    MAKING, /* a thread fills it */
    LIVE,
    GONE,    /* nobody may take it any more, but some may still read it */
    CLEARING /* a thread unmaps it */
};

struct jp_cfi_module {
    _Atomic uint32_t state;
    _Atomic uint32_t users; /* threads that may be reading its image */
    _Atomic uint32_t epoch; /* jp_maps_epoch_sig when its range was compared */
    _Atomic uint32_t kept;  /* a forked child has the copy, too */
    struct jp_maps_range range;
    struct jp_cfi_image image; /* size 0: the module has no information */
    uint64_t shift;            /* the range is so far from its place in the
                                    file's own image: V8 maps its builtins a
                                    second time */
    uint64_t memory;           /* bytes mapped at image.filled */
};

static struct jp_cfi_module modules[MODULES_MAX];
static _Atomic uint32_t modules_used;

/* What a module's program headers say. */
struct layout {
    uint64_t bias;       /* to add to the file's addresses: in the
                                  range that was asked for */
    uint64_t own_bias;   /* in the image that begins at its base */
    uint64_t frames;     /* of .eh_frame_hdr, 0: none */
    uint64_t start, end; /* the loaded segment that it is in */
};

static int read_header_sig(uint64_t at, unsigned index, Elf64_Phdr *header)
{
    return jp_self_read_sig(at + index * sizeof(*header), header,
                            sizeof(*header)) == sizeof(*header);
}

/* Reads the program headers of the module that a range is of.  Returns 0,
 * -ENOENT when there is no information, -EAGAIN when the headers cannot be
 * read. */
static int read_layout_sig(const struct jp_maps_range *range,
                           struct layout *layout)
{
    Elf64_Ehdr elf;
    Elf64_Phdr header;
    int biased = 0, owned = 0;
    if (range->base == 0)
        return -ENOENT;
    if (jp_self_read_sig(range->base, &elf, sizeof(elf)) != sizeof(elf))
        return -EAGAIN;
    if (memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 ||
        elf.e_ident[EI_CLASS] != ELFCLASS64 ||
        elf.e_machine != JP_ARCH_MACHINE || elf.e_phentsize != sizeof(header) ||
        elf.e_phnum > HEADERS_MAX)
        return -ENOENT;
    const uint64_t headers = range->base + elf.e_phoff;
    for (unsigned i = 0; i < elf.e_phnum; i++) {
        if (!read_header_sig(headers, i, &header))
            return -EAGAIN;
        if (header.p_type == PT_GNU_EH_FRAME)
            layout->frames = header.p_vaddr;
        /* Data may begin in the file's first page, too, behind the code. */
        if (header.p_type == PT_LOAD && header.p_offset < 4096 && !owned) {
            layout->own_bias = range->base - header.p_vaddr + header.p_offset;
            owned = 1;
        }
        if (header.p_type == PT_LOAD && !biased &&
            range->offset >= (header.p_offset & ~4095ULL) &&
            range->offset < header.p_offset + header.p_filesz &&
            (header.p_flags & PF_X) != 0) {
            layout->bias =
                range->start - range->offset + header.p_offset - header.p_vaddr;
            biased = 1;
        }
    }
    if (layout->frames == 0 || !biased)
        return -ENOENT;
    for (unsigned i = 0; i < elf.e_phnum; i++) {
        if (!read_header_sig(headers, i, &header))
            return -EAGAIN;
        if (header.p_type == PT_LOAD && layout->frames >= header.p_vaddr &&
            layout->frames - header.p_vaddr < header.p_filesz) {
            layout->start = header.p_vaddr;
            layout->end = header.p_vaddr + header.p_filesz;
        }
    }
    return layout->end != 0 ? 0 : -ENOENT;
}

/* Reserves memory for the copy of a module's information; nothing is copied
 * yet.  Returns 0 or -EAGAIN. */
static int make_image_sig(struct jp_cfi_module *module)
{
    struct layout layout = {0, 0, 0, 0, 0};
    struct jp_cfi_image *image = &module->image;
    memset(image, 0, sizeof(*image));
    atomic_store(&module->kept, 0);
    int error = read_layout_sig(&module->range, &layout);
    if (error != 0)
        return error == -ENOENT ? 0 : error;
    const uint64_t size = layout.end - layout.start;
    if (size > IMAGE_MAX)
        return 0;
    const uint64_t blocks = (size + BLOCK - 1) / BLOCK;
    uint64_t flags = (blocks + 4095) & ~4095ULL;
    uint8_t *memory = jp_sys_memory_sig(flags + blocks * BLOCK, JP_FORK_DROP);
    /* RLIMIT_AS leaves no room: the frame pointer has to do. */
    if (memory == NULL)
        return 0;
    image->filled = (_Atomic uint8_t *)memory;
    image->data = memory + flags;
    image->size = size;
    image->address = layout.start + layout.own_bias;
    image->header = layout.frames - layout.start;
    module->shift = layout.bias - layout.own_bias;
    module->memory = flags + blocks * BLOCK;
    return 0;
}

/* Unmaps the copy of a module that has GONE, if nobody reads it any more. */
static void clear_sig(struct jp_cfi_module *module)
{
    uint32_t gone = GONE;
    if (atomic_load(&module->users) != 0 ||
        !atomic_compare_exchange_strong(&module->state, &gone, CLEARING))
        return;
    /* A thread that comes now sees that the module is not LIVE, and reads
     * nothing of it. */
    if (atomic_load(&module->users) != 0) {
        atomic_store(&module->state, GONE);
        return;
    }
    if (module->image.filled != NULL)
        jp_sys_unmap_sig((void *)(uintptr_t)module->image.filled,
                         module->memory);
    memset(&module->image, 0, sizeof(module->image));
    atomic_store(&module->state, EMPTY);
}

/* Whether a module is still the one that the table of ranges has at its
 * place. */
static int still_there_sig(struct jp_cfi_module *module, uint32_t epoch)
{
    struct jp_maps_range range;
    uint32_t live = LIVE;
    if (atomic_load(&module->epoch) == epoch)
        return 1;
    if (jp_maps_find_sig(module->range.start, &range) == 0 &&
        jp_ranges_same_sig(&range, &module->range) &&
        range.base == module->range.base &&
        jp_cfi_same_bytes_sig(&module->image)) {
        atomic_store(&module->epoch, epoch);
        return 1;
    }
    atomic_compare_exchange_strong(&module->state, &live, GONE);
    return 0;
}

/* Holds the module around pc; NULL when it is not in the table of modules. */
static struct jp_cfi_module *find_sig(uint64_t pc, uint32_t epoch)
{
    const uint32_t used = atomic_load(&modules_used);
    for (uint32_t i = 0; i < used; i++) {
        struct jp_cfi_module *module = &modules[i];
        if (atomic_load(&module->state) == GONE)
            clear_sig(module);
        /* The range may change until the module is held, and is checked again
         * then. */
        if (atomic_load(&module->state) != LIVE ||
            pc < __atomic_load_n(&module->range.start, __ATOMIC_RELAXED) ||
            pc >= __atomic_load_n(&module->range.end, __ATOMIC_RELAXED))
            continue;
        atomic_fetch_add(&module->users, 1);
        if (atomic_load(&module->state) == LIVE && pc >= module->range.start &&
            pc < module->range.end && still_there_sig(module, epoch))
            return module;
        atomic_fetch_sub(&module->users, 1);
    }
    return NULL;
}

/* Takes an empty place of the table for this thread to fill; NULL when there is
 * none. */
static struct jp_cfi_module *claim_sig(void)
{
    for (uint32_t i = 0; i < MODULES_MAX; i++) {
        uint32_t empty = EMPTY, used = atomic_load(&modules_used);
        if (!atomic_compare_exchange_strong(&modules[i].state, &empty, MAKING))
            continue;
        while (used < i + 1 &&
               !atomic_compare_exchange_weak(&modules_used, &used, i + 1))
            ;
        return &modules[i];
    }
    return NULL;
}

/* Makes the module around pc and holds it.  Two threads may make the same
 * module at once; both can be used.  Returns as jp_cfi_module_take_sig. */
static int make_sig(uint64_t pc, uint32_t epoch, struct jp_cfi_module **result)
{
    struct jp_maps_range range;
    int error = jp_maps_find_sig(pc, &range);
    if (error != 0)
        return error == -ENOENT ? -ESRCH : error;
    if (range.base == 0)
        return -ENOENT;
    struct jp_cfi_module *module = claim_sig();
    if (module == NULL)
        return -EAGAIN;
    module->range.offset = range.offset;
    module->range.inode = range.inode;
    module->range.device = range.device;
    module->range.base = range.base;
    __atomic_store_n(&module->range.start, range.start, __ATOMIC_RELAXED);
    __atomic_store_n(&module->range.end, range.end, __ATOMIC_RELAXED);
    atomic_store(&module->epoch, epoch);
    error = make_image_sig(module);
    if (error != 0) {
        atomic_store(&module->state, EMPTY);
        return error;
    }
    atomic_fetch_add(&module->users, 1);
    atomic_store(&module->state, LIVE);
    *result = module;
    return 0;
}

int jp_cfi_module_take_sig(uint64_t *pc, uint32_t epoch,
                           struct jp_cfi_module **module,
                           const struct jp_cfi_image **image)
{
    *module = find_sig(*pc, epoch);
    if (*module == NULL) {
        int error = make_sig(*pc, epoch, module);
        if (error != 0)
            return error;
    }
    *image = &(*module)->image;
    *pc -= (*module)->shift;
    if ((*image)->size != 0)
        return 0;
    jp_cfi_module_give_sig(*module);
    return -ENOENT;
}

void jp_cfi_module_give_sig(struct jp_cfi_module *module)
{
    atomic_fetch_sub(&module->users, 1);
}

int jp_cfi_module_keep_sig(struct jp_cfi_module *module)
{
    if (atomic_load(&module->kept))
        return 0;
    /* Another thread may fork at any moment: first the memory, then the word
     * that it is there. */
    if (jp_sys_sig(SYS_madvise, (long)(uintptr_t)module->image.filled,
                   (long)module->memory, MADV_DOFORK, 0, 0) == 0)
        atomic_store(&module->kept, 1);
    return 1;
}

void jp_cfi_modules_reset_sig(void)
{
    const uint32_t used = atomic_load(&modules_used);
    for (uint32_t i = 0; i < used; i++) {
        struct jp_cfi_module *module = &modules[i];
        atomic_store(&module->users, 0);
        if (atomic_load(&module->kept) && atomic_load(&module->state) == LIVE)
            continue;
        memset(&module->image, 0, sizeof(module->image));
        atomic_store(&module->state, EMPTY);
    }
}
