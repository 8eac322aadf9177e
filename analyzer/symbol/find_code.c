/* SPDX-License-Identifier: MIT
 *
 * Pieces of code, be they of a file or made at run time: where they begin and
 * end, their bytes and their lines.
 * Runs in: analyzer. */
#include "find_code.h"

#include <stddef.h>

#include "base/search.h"
#include "jp_script.h"
#include "symbol.h"
#include "symbol/elf/module_code.h"
#include "symbol/elf/modules.h"

int jr_code_find(struct jr_space *space, uint64_t address, uint64_t time_ns,
                 struct jr_code_piece *piece, uint64_t *at)
{
    struct jr_hit hit;

    jr_space_find(space, address, time_ns, 0, &hit);
    *piece = (struct jr_code_piece){.until_ns = UINT64_MAX};
    *at = address;
    if (hit.mapping) {
        piece->module = jr_space_module(space, hit.mapping, &piece->symbols);
        jr_module_extent(piece->symbols, piece->module, hit.mapping, at,
                         &piece->start, &piece->end);
        piece->machine = jr_module_machine(piece->module);
        return 0;
    }
    if (hit.frames[0].kind == JR_FRAME_SCRIPT) {
        piece->script = space;
        piece->start = JP_SCRIPT_FRAME(JP_SCRIPT_ID(address), 0);
        piece->end = JP_SCRIPT_FRAME(JP_SCRIPT_ID(address), JP_SCRIPT_AT_MAX);
        return 0;
    }
    if (hit.frames[0].kind != JR_FRAME_JIT ||
        jr_jit_code_find(space, address, time_ns, &piece->jit) != 0)
        return -1;
    piece->start = piece->jit.start;
    piece->end = piece->jit.end;
    piece->loaded_ns = piece->jit.loaded_ns;
    piece->until_ns = piece->jit.until_ns;
    piece->machine = piece->jit.machine;
    return 0;
}

size_t jr_code_bytes(const struct jr_code_piece *piece, uint8_t *into,
                     size_t room)
{
    if (piece->script)
        return 0;
    if (room > piece->end - piece->start)
        room = (size_t)(piece->end - piece->start);
    return piece->module
               ? jr_module_bytes(piece->module, piece->start, into, room)
               : jr_jit_code_bytes(&piece->jit, into, room);
}

/* The entry of the line table that an address is under, or NULL. */
static const struct jr_jit_source_line *line_at(const struct jr_jit_code *code,
                                                uint64_t address)
{
    const size_t from =
        JR_FIRST_NOT(code->nlines, i, code->lines[i].address <= address);

    return from > 0 ? &code->lines[from - 1] : NULL;
}

struct jr_frames jr_code_frames(const struct jr_code_piece *piece, uint64_t at,
                                struct jr_frame *room)
{
    const struct jr_jit_source_line *line;
    struct jr_hit hit;

    if (piece->module)
        return jr_module_at(piece->symbols, piece->module, at);
    if (piece->script) {
        jr_space_find(piece->script, at, 0, 0, &hit);
        *room = hit.frames[0];
        return (struct jr_frames){room, room->line != 0};
    }
    line = line_at(&piece->jit, at);
    if (!line || line->line == 0)
        return (struct jr_frames){NULL, 0};
    *room = (struct jr_frame){
        .file = line->file,
        .line = line->line,
        .column = line->discriminator <= INT32_MAX ? line->discriminator : 0,
        .kind = JR_FRAME_JIT};
    return (struct jr_frames){room, 1};
}

const char *jr_code_module(const struct jr_code_piece *piece)
{
    return piece->module ? piece->module->name : NULL;
}

int jr_code_is_script(const struct jr_code_piece *piece)
{
    return piece->script != NULL;
}

int jr_code_has_file(const struct jr_code_piece *piece)
{
    return piece->module && jr_module_segments(piece->module);
}
