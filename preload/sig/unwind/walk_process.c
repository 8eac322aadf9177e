/* SPDX-License-Identifier: MIT
 *
 * The process that the library is in, as walks see it: its memory, its table of
 * code, its mappings, and the call-frame information of its modules.
 * Runs in: handler. */
#include "walk_process.h"

#include "cfi/cfi_cache.h"
#include "sig/code/maps.h"
#include "sig/os/own.h"
#include "walk.h"

const struct jp_walk_process jp_walk_process = {
    .read_sig = jp_self_read_sig,
    .is_code_sig = jp_maps_executable_sig,
    .is_anonymous_sig = jp_maps_anonymous_sig,
    .find_code_sig = jp_maps_find_sig,
    .find_region_sig = jp_maps_region_sig,
    .work_out_sig = jp_cfi_work_out_sig,
};
