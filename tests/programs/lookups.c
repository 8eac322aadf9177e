/* SPDX-License-Identifier: MIT
 *
 * Looks names up by modules of the C library's name service switch, which it
 * loads by itself when they are first asked:
 *     lookups
 * Reads lines from stdin: `users MODULE MS` and `hosts MODULE MS` look up a
 * name that takes the module MS milliseconds; each line is answered by one.
 * `forget MODULE MODULE MS` looks users up by the one, has the C library drop
 * its modules, which it does once, looks them up by the other, and ends.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <netdb.h>
#include <nss.h>
#include <pwd.h>
#include <string.h>

/* Frees what the C library keeps, its modules too (for memory checkers). */
void __libc_freeres(void);

NOINLINE int by_jptesta(const char *database, const char *name);
NOINLINE int by_jptestb(const char *database, const char *name);

/* Whether nothing was found. */
static int look_up(const char *database, const char *name)
{
    if (strcmp(database, "hosts") == 0)
        return gethostbyname2(name, 2) == NULL;
    return getpwnam(name) == NULL;
}

/* One function a module, so that stacks say which was asked. */
int by_jptesta(const char *database, const char *name)
{
    int result = look_up(database, name) + 1;
    BARRIER();
    return result;
}

int by_jptestb(const char *database, const char *name)
{
    int result = look_up(database, name) + 2;
    BARRIER();
    return result;
}

static int ask(const char *database, const char *module, const char *name)
{
    if (__nss_configure_lookup(
            strcmp(database, "users") == 0 ? "passwd" : database, module) != 0)
        die("__nss_configure_lookup");
    return strcmp(module, "jptesta") == 0 ? by_jptesta(database, name)
                                          : by_jptestb(database, name);
}

int main(void)
{
    char line[256];
    while (fgets(line, sizeof(line), stdin) != NULL) {
        char *words[16], *more = NULL;
        int count = 0;
        for (char *word = strtok_r(line, " \n", &more);
             word != NULL && count < 16; word = strtok_r(NULL, " \n", &more))
            words[count++] = word;
        if (count < 3 || (strcmp(words[0], "forget") == 0 && count < 4))
            return 64;
        if (strcmp(words[0], "forget") != 0) {
            printf("%d\n", ask(words[0], words[1], words[2]));
        } else {
            ask("users", words[1], words[3]);
            __libc_freeres();
            ask("users", words[2], words[3]);
            return 0; /* its streams are gone as well */
        }
        fflush(stdout);
    }
    return 0;
}
