/* SPDX-License-Identifier: MIT
 *
 * Says of each symbol on stdin, NAME@VERSION or NAME@@VERSION, which object's
 * dlvsym finds; after the second kind, whether dlsym finds the same.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <dlfcn.h>
#include <string.h>

int main(void)
{
    char symbol[128];
    while (scanf("%127s", symbol) == 1) {
        char name[128];
        Dl_info info = {NULL, NULL, NULL, NULL};
        strcpy(name, symbol);
        char *at = strchr(name, '@');
        if (at == NULL)
            return 64;
        const int is_default = at[1] == '@';
        *at = '\0';
        void *found = dlvsym(RTLD_DEFAULT, name, at + 1 + is_default);
        if (found == NULL || dladdr(found, &info) == 0)
            return 3;
        const char *slash = strrchr(info.dli_fname, '/');
        printf("%s %s%s\n", symbol, slash != NULL ? slash + 1 : info.dli_fname,
               is_default && dlsym(RTLD_DEFAULT, name) != found
                   ? ", by dlsym another"
                   : "");
    }
    return 0;
}
