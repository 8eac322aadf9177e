/* SPDX-License-Identifier: MIT
 *
 * The DWARF of the module's file, or of its debug file.
 * Runs in: analyzer. */
#include "dwarffile.h"

#include <inttypes.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/file.h"
#include "packed.h"

/* The file that libdwfl has read symbols from, which is the debug file where
 * the program has none, before it reads DWARF there; or NULL. */
static Elf *symbols_file(Dwfl_Module *module)
{
    Elf *elf = NULL;
    GElf_Addr value;
    GElf_Sym symbol;

    if (dwfl_module_getsymtab(module) < 1 ||
        !dwfl_module_getsym_info(module, 0, &symbol, &value, NULL, &elf, NULL))
        return NULL;
    return elf;
}

/* Opens a debug file once more of which libdw could not unpack what zstd has
 * packed: where the program has symbols itself, libdwfl does not let anybody at
 * the debug file between opening it and reading its DWARF. */
static Dwarf *open_packed(const char *path, struct jr_dwarf_file *file)
{
    struct stat info;
    const char *why;

    file->fd = path ? jr_file_open(path, &info, &why) : -1;
    if (file->fd < 0)
        return NULL;
    file->elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
    if (!file->elf || jr_packed_dwarf_excess(file->elf))
        return NULL;
    jr_sections_unpack(file->elf, path, &file->unpacked);
    return file->unpacked.count ? dwarf_begin_elf(file->elf, DWARF_C_READ, NULL)
                                : NULL;
}

int jr_dwarf_file_open(Dwfl_Module *module, Elf *elf, const char *path,
                       const struct jr_debug_folders *folders,
                       struct jr_dwarf_file *file)
{
    const uint64_t excess = jr_packed_dwarf_excess(elf);
    const char *main_file, *debug_file = NULL;
    Dwarf_Addr bias = 0, elf_bias;
    Elf *other;

    *file = (struct jr_dwarf_file){.alternate.fd = -1, .fd = -1};
    if (excess) {
        jr_say("%s: its DWARF is not read, for it would unpack to %" PRIu64
               " bytes",
               path, excess);
        return -1;
    }
    jr_sections_unpack(elf, path, &file->unpacked);
    other = symbols_file(module);
    if (other && other != elf)
        jr_sections_unpack(other, path, &file->unpacked);
    file->debug = dwfl_module_getdwarf(module, &bias);
    dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &main_file,
                     &debug_file);
    dwfl_module_getelf(module, &elf_bias);
    if (!file->debug) {
        /* A debug file is where its program is. */
        bias = elf_bias;
        file->debug = open_packed(debug_file, file);
    }
    file->path = debug_file ? debug_file : path;
    file->bias = bias - elf_bias;
    if (file->debug)
        jr_texts_end(&file->texts, file->debug, file->unpacked.items,
                     file->unpacked.count);
    if (!file->debug || jr_altfile_open(folders, file->debug, file->path,
                                        &file->alternate) != 0)
        return -1;
    return 0;
}

void jr_dwarf_file_close(struct jr_dwarf_file *file)
{
    if (file->elf && file->debug)
        dwarf_end(file->debug);
    elf_end(file->elf);
    if (file->fd >= 0)
        close(file->fd);
    jr_altfile_close(&file->alternate);
    jr_sections_free(&file->unpacked);
    jr_texts_free(&file->texts);
}
