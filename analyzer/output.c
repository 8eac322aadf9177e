/* SPDX-License-Identifier: MIT
 *
 * Opens, writes and closes the file of a report, and sees to it that what was
 * written is there.
 * Runs in: analyzer. */
#include "output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"

char *jr_output_name(const char *log, const char *dir, const char *extension)
{
    const char *slash = strrchr(log, '/');
    const char *name = slash ? slash + 1 : log;

    if (dir == NULL)
        return jr_printf("%s%s", log, extension);
    return jr_printf("%s%s%s%s", dir,
                     *dir && dir[strlen(dir) - 1] == '/' ? "" : "/", name,
                     extension);
}

int jr_output_write(const struct jr_report *report,
                    const struct jr_format *format, const char *path)
{
    FILE *out = path ? fopen(path, "we") : stdout;
    int bad;

    if (out == NULL) {
        jr_say("%s: %s; no report written", path, strerror(errno));
        return -1;
    }
    errno = 0;
    format->write(report, out);
    bad = fflush(out) != 0 || ferror(out);
    if (out != stdout)
        bad |= fclose(out) != 0;
    if (!bad)
        return 0;
    jr_say("%s: %s; the report is not complete", path ? path : "stdout",
           errno ? strerror(errno) : "write error");
    if (path != NULL)
        unlink(path);
    return -1;
}
