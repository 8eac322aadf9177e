/* SPDX-License-Identifier: MIT
 *
 * A handler of the signals that end a program.
 * Runs in: analyzer. */
#include "ends.h"

#include <signal.h>
#include <stddef.h>

#define UNDOS 2

static const int ends[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGXCPU, SIGXFSZ};
static jr_undo_fn *volatile undos[UNDOS];

static void undo_and_end(int signal)
{
    for (size_t i = 0; i < UNDOS; i++)
        if (undos[i])
            undos[i]();
    /* SA_RESETHAND: this time it ends the program. */
    (void)raise(signal);
}

static void catch_ends(void)
{
    struct sigaction old,
        catch = {.sa_handler = undo_and_end, .sa_flags = SA_RESETHAND};

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            (void)sigaction(ends[i], &catch, NULL);
}

void jr_ends_add(jr_undo_fn *undo)
{
    for (size_t i = 0; i < UNDOS; i++)
        if (!undos[i] || undos[i] == undo) {
            undos[i] = undo;
            break;
        }
    catch_ends();
}
