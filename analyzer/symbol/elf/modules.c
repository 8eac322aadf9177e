/* SPDX-License-Identifier: MIT
 *
 * Opens the files that a map names and turns their code into frames.
 * Runs in: analyzer. */
#include "modules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "debugfile.h"
#include "read/names.h"
#include "symbol/names/demangle.h"
#include "vdso.h"

#define VDSO "[vdso]"

const struct jr_segments *jr_module_segments(const struct jr_module *module)
{
    if (module->archived)
        return module->archived->usable ? &module->archived->segments : NULL;
    return module->elf ? jr_elf_segments(module->elf) : NULL;
}

static const char *intern(struct jr_symbols *symbols, char *text)
{
    const char *kept = jr_strings_add(symbols->strings, text, strlen(text));

    free(text);
    return kept;
}

/* Makes the key by which one state of a file is told from another. */
static const char *key_of(struct jr_symbols *symbols,
                          const struct jr_mapping *mapping)
{
    char id[2 * sizeof mapping->build_id + 1] = "";

    for (size_t i = 0; i < mapping->build_id_size; i++) {
        id[2 * i] = "0123456789abcdef"[mapping->build_id[i] >> 4];
        id[2 * i + 1] = "0123456789abcdef"[mapping->build_id[i] & 15];
        id[2 * i + 2] = '\0';
    }
    return intern(symbols,
                  jr_printf("%s %" PRIu64 " %" PRIu64 " %s", id, mapping->inode,
                            mapping->mtime_ns, mapping->path));
}

static int same_id(const struct jr_elf *elf, const struct jr_mapping *mapping)
{
    const uint8_t *id;
    size_t size = jr_elf_build_id(elf, &id);

    return size == mapping->build_id_size &&
           !memcmp(id, mapping->build_id, size);
}

/* Whether this is the file that the program had: by build-id where the map has
 * one, else by what it says of inode and time. */
static int same_file(const struct jr_elf *elf, const struct stat *info,
                     const struct jr_mapping *mapping)
{
    uint64_t mtime = (uint64_t)info->st_mtim.tv_sec * 1000000000 +
                     (uint64_t)info->st_mtim.tv_nsec;

    if (mapping->build_id_size)
        return same_id(elf, mapping);
    if (mapping->mtime_ns && mapping->mtime_ns != mtime)
        return 0;
    return !mapping->inode || mapping->inode == info->st_ino;
}

/* Opens the same file from another folder, or its debug file, where the file
 * itself cannot be used. */
static struct jr_elf *open_elsewhere(const struct jr_symbols *symbols,
                                     const struct jr_mapping *mapping)
{
    const struct jr_debug_folders *folders = &symbols->options.folders;
    struct jr_elf *elf = NULL;
    char *path;
    int fd = jr_debugfile_binary(folders, mapping->path, mapping->build_id,
                                 mapping->build_id_size, &path);

    if (fd < 0)
        fd = jr_debugfile_by_id(folders, mapping->path, mapping->build_id,
                                mapping->build_id_size, &path);
    if (fd >= 0)
        elf = jr_elf_open(fd, path, folders);
    free(path);
    return elf;
}

static struct jr_elf *open_vdso(const struct jr_symbols *symbols,
                                const struct jr_mapping *mapping)
{
    int fd = jr_vdso_open();
    struct jr_elf *elf =
        fd < 0 ? NULL : jr_elf_open(fd, VDSO, &symbols->options.folders);

    if (elf && (mapping->build_id_size == 0 || !same_id(elf, mapping))) {
        jr_elf_free(elf);
        elf = NULL;
    }
    if (!elf)
        jr_say(VDSO " is not known to be that of this kernel; its functions "
                    "stay unnamed");
    return elf;
}

/* Opens the file that the launcher kept beside the log as it might be removed
 * (launcher/folder/modules.c); map_path: the map's. */
static struct jr_elf *open_kept(const struct jr_symbols *symbols,
                                const struct jr_mapping *mapping,
                                const char *map_path)
{
    char *name = jr_module_name(mapping->build_id, mapping->build_id_size,
                                mapping->inode, mapping->mtime_ns);
    char *path = jr_printf("%.*s%s", (int)(jr_base_name(map_path) - map_path),
                           map_path, name);
    struct jr_elf *elf = NULL;
    struct stat info;
    const char *why;
    int fd = jr_file_open(path, &info, &why);

    if (fd >= 0)
        elf = jr_elf_open(fd, path, &symbols->options.folders);
    if (elf && mapping->build_id_size && !same_id(elf, mapping)) {
        jr_elf_free(elf);
        elf = NULL;
    }
    free(path);
    free(name);
    return elf;
}

/* Whether the file begins as Windows programs do (PE/COFF, "MS-DOS stub"). */
static int is_windows(const char *path)
{
    struct stat info;
    const char *why;
    char magic[2] = "";
    const int fd = jr_file_open(path, &info, &why);

    if (fd < 0)
        return 0;
    jr_file_pread(fd, magic, sizeof magic, 0);
    close(fd);
    return magic[0] == 'M' && magic[1] == 'Z';
}

/* Says why a module's functions stay unnamed; of Windows programs, of which a
 * process of Wine's has dozens, with the first one. */
static void say_unnamed(struct jr_symbols *symbols, const char *path,
                        const char *why)
{
    if (!is_windows(path)) {
        jr_say("%s: %s; its functions stay unnamed", path, why);
        return;
    }
    if (!symbols->has_windows)
        jr_say("%s: is a Windows program; its functions, and those of other "
               "Windows programs, stay unnamed",
               path);
    symbols->has_windows = 1;
}

/* Sets *changed when the file at the path is another one. */
static struct jr_elf *open_file(struct jr_symbols *symbols,
                                const struct jr_mapping *mapping,
                                const char *map_path, uint8_t *changed)
{
    struct stat info;
    struct jr_elf *elf = NULL;
    const char *why;
    int is_other;
    int fd = jr_file_open(mapping->path, &info, &why);

    if (fd >= 0) {
        elf = jr_elf_open(fd, mapping->path, &symbols->options.folders);
        why = "is no ELF file";
    }
    if (elf && same_file(elf, &info, mapping))
        return elf;
    if (elf) {
        jr_elf_free(elf);
        why = "has changed since the profile was taken";
    }
    is_other = elf != NULL;
    if (mapping->deleted)
        why = "was removed while the program ran (as root, jprof run keeps "
              "such files)";
    elf = map_path ? open_kept(symbols, mapping, map_path) : NULL;
    if (elf)
        return elf;
    *changed = (uint8_t)is_other;
    elf = open_elsewhere(symbols, mapping);
    if (!elf)
        say_unnamed(symbols, mapping->path, why);
    return elf;
}

/* Whether another machine has another file of this name, by their build-ids.
 * (On one machine a program that was built again goes on under its name.) */
static int differs_elsewhere(const struct jr_symbols *symbols,
                             const struct jr_module *module)
{
    for (const struct jr_module *other = symbols->modules;
         other && module->id_size; other = other->next) {
        if (other->boot && module->boot && other->boot != module->boot &&
            other->id_size && other->base == module->base &&
            (other->id_size != module->id_size ||
             memcmp(other->id, module->id, module->id_size) != 0))
            return 1;
    }
    return 0;
}

/* What a new module is called: "app", or "app [0123abcd]". */
static const char *name_of(struct jr_symbols *symbols,
                           const struct jr_module *module)
{
    uint32_t begin = 0;

    /* The kernel's own images ([vdso]) are told by name alone. */
    if (module->base[0] == '[' || !differs_elsewhere(symbols, module))
        return module->base;
    for (size_t i = 0; i < module->id_size && i < sizeof begin; i++)
        begin = begin << 8 | module->id[i];
    return intern(symbols,
                  jr_printf("%s [%08" PRIx32 "]", module->base, begin));
}

/* What an archive says of the file; nothing at its path is looked at. */
static void take_archived(const struct jr_symbols *symbols,
                          struct jr_module *module)
{
    module->archived = jr_archived_module(symbols->archived, module->key);
    if (module->archived)
        module->changed = module->archived->changed;
    if (!module->archived || !module->archived->usable)
        jr_say("%s: the archive has no names of it; its functions stay unnamed",
               module->path);
}

struct jr_module *jr_modules_get(struct jr_symbols *symbols,
                                 const struct jr_mapping *mapping,
                                 const struct jr_map *map)
{
    const char *key = key_of(symbols, mapping);
    const char *slash = strrchr(mapping->path, '/');
    const char *base = slash ? slash + 1 : mapping->path;
    struct jr_module *module;

    for (module = symbols->modules; module; module = module->next) {
        if (module->key == key && module->packed == map->packed)
            return module;
    }
    if (!*base)
        base = "?";
    module = jr_alloc(1, sizeof *module);
    module->key = key;
    module->records = symbols->options.record_code;
    module->path =
        jr_strings_add(symbols->strings, mapping->path, strlen(mapping->path));
    module->base = jr_strings_add(symbols->strings, base, strlen(base));
    module->boot = map->boot;
    module->packed = map->packed;
    module->id_size = mapping->build_id_size;
    memcpy(module->id, mapping->build_id, sizeof module->id);
    module->name = name_of(symbols, module);
    if (module->packed)
        take_archived(symbols, module);
    else if (!strcmp(mapping->path, VDSO))
        module->elf = open_vdso(symbols, mapping);
    else if (mapping->path[0] == '/')
        module->elf = open_file(symbols, mapping, map->path, &module->changed);
    symbols->changed += module->changed;
    module->next = symbols->modules;
    symbols->modules = module;
    return module;
}

/* A symbol as it is shown: demangled, without a version (name@@VERSION) and
 * without the mark of a part of a function, which begins at `length`. */
static const char *shown_name(struct jr_symbols *symbols,
                              const struct jr_module *module,
                              const char *symbol, size_t length)
{
    const char *at = strchr(symbol, '@');
    int is_stub = at && !strcmp(at, "@plt");
    char *bare, *name;

    if (length == 0)
        return jr_strings_add(symbols->strings, symbol, strlen(symbol));
    bare = jr_strndup(symbol, length);
    name = jr_demangle(bare, jr_elf_languages(module->elf));
    if (!name)
        name = bare;
    else
        free(bare);
    if (is_stub) {
        bare = jr_printf("%s@plt", name);
        free(name);
        name = bare;
    }
    return intern(symbols, name);
}

/* The frame of code without a name, in its FDE or, NULL, anywhere else. */
static const struct jr_frame *unnamed_frame(struct jr_symbols *symbols,
                                            const struct jr_module *module,
                                            const struct jr_fde *fde)
{
    char *text = fde ? jr_printf("%s+0x%" PRIx64, module->name, fde->start)
                 : module->name[0] == '[' ? jr_strdup(module->name)
                                          : jr_printf("[%s]", module->name);
    const char *name = intern(symbols, text);

    return jr_strings_frame(symbols->strings, JR_FRAME_UNNAMED, name,
                            module->name);
}

static struct jr_frames one_frame(const struct jr_frame *frame)
{
    return (struct jr_frames){frame, 1};
}

/* The frame of a symbol, which stays beside its shown form. */
static const struct jr_frame *named_frame(struct jr_symbols *symbols,
                                          const struct jr_module *module,
                                          const char *symbol)
{
    const size_t length = strcspn(symbol, "@");
    const size_t part = jr_symbol_part(symbol, length);
    struct jr_frame frame = {
        .name = shown_name(symbols, module, symbol, part),
        .tier = jr_strings_part(symbols->strings, symbol, length),
        .module = module->name,
        .kind = JR_FRAME_NATIVE};

    /* A version or "@plt" is no part of it. */
    if (length > 0 && (strncmp(frame.name, symbol, length) != 0 ||
                       (frame.name[length] && frame.name[length] != '@')))
        frame.raw = jr_strings_add(symbols->strings, symbol, length);
    return jr_strings_frame_of(symbols->strings, &frame);
}

/* The frame of the function at an ELF address, by symbols and FDEs. */
static const struct jr_frame *function_frame(struct jr_symbols *symbols,
                                             struct jr_module *module,
                                             uint64_t place)
{
    struct jr_name *name = jr_elf_name(module->elf, symbols->strings, place);

    if (name) {
        if (!name->frame)
            name->frame = named_frame(symbols, module, name->name);
        return name->frame;
    }
    return unnamed_frame(symbols, module, jr_elf_fde(module->elf, place));
}

/* Completes what is known of a place, and keeps it.  `function`: what the frame
 * of the function itself takes its name from where that is a symbol, as DWARF
 * does not tell its clones (.cold, .isra); NULL: an archive has it, which says
 * all. */
static struct jr_frames keep_frames(struct jr_symbols *symbols,
                                    const struct jr_module *module,
                                    const struct jr_frame *function,
                                    struct jr_frames found)
{
    struct jr_frame *frames;

    if (symbols->options.no_inline) {
        found.items += found.count - 1;
        found.count = 1;
    }
    frames = jr_alloc(found.count, sizeof *frames);
    for (size_t i = 0; i < found.count; i++) {
        struct jr_frame frame = found.items[i];

        frame.module = module->name;
        if (function && i == found.count - 1 &&
            (!frame.name || function->kind == JR_FRAME_NATIVE)) {
            frame.name = function->name;
            frame.raw = function->raw;
            frame.tier = function->tier;
            frame.kind = function->kind;
        }
        frames[i] = *jr_strings_frame_of(symbols->strings, &frame);
    }
    return (struct jr_frames){frames, found.count};
}

/* The frames of an ELF address that has lines; of one that has none the frame
 * of its function, and count 0. */
static struct jr_frames find_place(struct jr_symbols *symbols,
                                   struct jr_module *module, uint64_t place)
{
    struct jr_frames found = {NULL, 0};

    if (module->archived)
        found.count = jr_archived_place(symbols->archived, module->archived,
                                        place, &found.items);
    else
        found.count =
            jr_elf_lines(module->elf, symbols->strings, place, &found.items);
    if (found.count == 0) {
        found.items = module->archived ? unnamed_frame(symbols, module, NULL)
                                       : function_frame(symbols, module, place);
        return found;
    }
    return keep_frames(
        symbols, module,
        module->archived ? NULL : function_frame(symbols, module, place),
        found);
}

struct jr_frames jr_module_known(const struct jr_module *module, size_t index)
{
    const struct jr_frames *found = &module->known[index].frames;

    return found->count ? *found : one_frame(found->items);
}

/* The frames of an ELF address. */
static struct jr_frames place_frames(struct jr_symbols *symbols,
                                     struct jr_module *module, uint64_t place)
{
    const uint32_t fresh = (uint32_t)module->nknown;
    const uint32_t index = jr_table_put(&module->by_place, place, 0, fresh);
    struct jr_frames found;

    if (index == fresh) {
        found = find_place(symbols, module, place);
        *JR_PUSH(module->known, module->nknown, module->known_room) =
            (struct jr_known){place, found};
    }
    return jr_module_known(module, index);
}

struct jr_frames jr_module_frames(struct jr_symbols *symbols,
                                  struct jr_module *module,
                                  const struct jr_mapping *mapping,
                                  uint64_t address)
{
    const struct jr_segments *segments = jr_module_segments(module);
    uint64_t place;

    if (!segments ||
        jr_segments_address(segments, mapping, address, &place) < 0)
        return one_frame(unnamed_frame(symbols, module, NULL));
    return place_frames(symbols, module, place);
}

struct jr_frames jr_module_at(struct jr_symbols *symbols,
                              struct jr_module *module, uint64_t elf_address)
{
    return jr_module_segments(module)
               ? place_frames(symbols, module, elf_address)
               : one_frame(unnamed_frame(symbols, module, NULL));
}
