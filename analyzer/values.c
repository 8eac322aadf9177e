/* SPDX-License-Identifier: MIT
 *
 * Reads the values of options.
 * Runs in: analyzer. */
#include "values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/mem.h"

#define NS 1000000000

int jr_value_number(const char *name, const char *value, uint64_t least,
                    uint64_t *number)
{
    char *end;
    unsigned long long parsed;

    errno = 0;
    parsed = strtoull(value, &end, 10);
    if (*value < '0' || *value > '9' || *end != '\0' || errno != 0) {
        jr_say("%s %s: not a number", name, value);
        return -1;
    }
    if (parsed < least) {
        jr_say("%s %s: must be at least %llu", name, value,
               (unsigned long long)least);
        return -1;
    }
    *number = parsed;
    return 0;
}

/* Seconds, "12" or "0.25", as nanoseconds; digits behind the ninth of the
 * fraction do not count. */
static int read_seconds(const char *name, const char *value, uint64_t *ns)
{
    static const char digits[] = "0123456789";
    const size_t whole = strspn(value, digits);
    const char *point = value + whole;
    const size_t part = *point == '.' ? strspn(point + 1, digits) : 0;
    const char *end = point + (*point == '.') + part;
    uint64_t unit = NS, fraction = 0, sum;

    if (whole + part == 0 || *end != '\0') {
        jr_say("%s %s: not a number of seconds", name, value);
        return -1;
    }
    for (const char *at = point + 1; at < end && unit > 1; at++) {
        unit /= 10;
        fraction += (uint64_t)(*at - '0') * unit;
    }
    errno = 0;
    sum = whole ? strtoull(value, NULL, 10) : 0;
    if (errno != 0 || __builtin_mul_overflow(sum, (uint64_t)NS, &sum) ||
        __builtin_add_overflow(sum, fraction, &sum)) {
        jr_say("%s %s: too long a time", name, value);
        return -1;
    }
    *ns = sum;
    return 0;
}

int jr_value_moment(const char *name, const char *value, uint64_t *ns,
                    unsigned *clocks)
{
    const int is_other = *value == '@';

    *clocks |= 1U << is_other;
    return read_seconds(name, value + is_other, ns);
}

char *jr_value_folders(const char *list, struct jr_debug_folders *folders)
{
    char *own = jr_strdup(list ? list : ""), *next = own, *folder;

    while ((folder = strsep(&next, ":")))
        if (*folder)
            *JR_PUSH(folders->items, folders->count, folders->room) = folder;
    return own;
}

/* A number above 0 from *at on, which is set behind it; 0: there is none. */
static double positive(const char **at)
{
    char *end;
    double value;

    if (**at < '0' || **at > '9')
        return 0;
    value = strtod(*at, &end);
    *at = end;
    return value > 0 && value < 1e300 ? value : 0;
}

int jr_value_units(const char *name, const char *value, double *first,
                   double *second)
{
    const char *at = value;

    *first = *second = positive(&at);
    if (*at == ',') {
        at++;
        *second = positive(&at);
    }
    if (*at == '\0' && *first > 0 && *second > 0)
        return 0;
    jr_say("%s %s: must be N or N,M: units of work, numbers above 0", name,
           value);
    return -1;
}
