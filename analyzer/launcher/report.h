/* SPDX-License-Identifier: MIT
 *
 * Lets jprof-report make reports.
 * Runs in: launcher. */
#ifndef JL_REPORT_H
#define JL_REPORT_H

#include "launcher/base/help.h"
#include "launcher/folder/folder.h"

extern const struct jl_help jl_report_help; /* in that of all commands */

#define JL_REPORT_NAME "report.html"

/* Writes the report of the profile in the folder, into the folder, and says
 * where it is.  is_public: others may read it.  Returns whether the folder's
 * `shown` leads to it. */
int jl_report_write(const struct jl_folder *folder, const char *reporter,
                    int is_public);

/* How many logs are in the folder. */
size_t jl_report_logs(const struct jl_folder *folder);

/* `jprof report`: becomes jprof-report with these arguments, NULL-terminated,
 * words[0] being the command. */
_Noreturn void jl_report_again(char **words);

#endif
