/* SPDX-License-Identifier: MIT
 *
 * The folders that a profile of the user's own names.
 * Runs in: analyzer. */
#ifndef JR_RECORDED_H
#define JR_RECORDED_H

#include "model/model.h"

#define JR_RECORDED_MAX 64

struct jr_recorded {
    char *folders[JR_RECORDED_MAX];
    size_t count;
};

/* Finds the working directories of the model's processes and the folders of
 * their programs, where logs and maps are files of the user's that nobody else
 * may write to, and the logs say that they were written on this machine since
 * it was started: a boot id is 122 random bits, so a profile that came from
 * elsewhere cannot have it.  Of others there are none. */
void jr_recorded_find(const struct jr_model *model, const char *const *logs,
                      size_t nlogs, struct jr_recorded *recorded);
void jr_recorded_free(struct jr_recorded *recorded);

#endif
