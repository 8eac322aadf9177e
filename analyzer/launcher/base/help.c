/* SPDX-License-Identifier: MIT
 *
 * Prints the help of a command.
 * Runs in: launcher. */
#include "help.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

int jl_help_is(const char *option)
{
    return option &&
           (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0);
}

void jl_help_text(const struct jl_help *help)
{
    fputs(help->text, stdout);
    if (help->options)
        help->options();
}

void jl_help_flush(void)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        jl_fail(JR_FAILED, "stdout: %s", strerror(errno));
}

void jl_help_show(const struct jl_help *help)
{
    printf("Usage: %s\n", help->usage);
    jl_help_text(help);
    jl_help_flush();
    exit(JR_COMPLETE);
}
