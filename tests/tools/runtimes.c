/* SPDX-License-Identifier: MIT
 *
 * The launcher's table of runtimes as JSON, for the tests that walk it.
 * Runs in: tests. */
#include <stdio.h>

#include "launcher/runtimes/runtimes.h"

static const char *const refusals[] = {
    [JL_PASSES_OVER] = "passes over",
    [JL_TELLS_VERSION] = "tells version",
    [JL_ENDS] = "ends",
    [JL_LACKS_WORD] = "lacks word",
};

/* No text of the table needs more than quotes. */
static void put_list(const char *key, const char *const *words, size_t most)
{
    printf("\"%s\": [", key);
    for (size_t i = 0; i < most && words[i]; i++)
        printf("%s\"%s\"", i ? ", " : "", words[i]);
    printf("]");
}

static void put_request(const char *key, const struct jl_setup *request)
{
    printf(", \"%s\": {\"makes\": %u, \"from\": [%u, %u], \"settings\": [", key,
           request->files, request->from.major, request->from.minor);
    for (size_t i = 0; i < JL_SETTINGS && request->settings[i].variable; i++) {
        const struct jl_setting *setting = &request->settings[i];

        printf("%s{\"variable\": \"%s\", \"separator\": \"%.1s\", ",
               i ? ", " : "", setting->variable, &setting->separator);
        put_list("words", setting->words, JL_WORDS);
        printf("}");
    }
    printf("]}");
}

int main(void)
{
    printf("[");
    for (size_t i = 0; i < jl_runtimes_count; i++) {
        const struct jl_runtime *row = &jl_runtimes[i];

        printf("%s{\"name\": \"%s\", \"programs\": \"%s\", \"refusal\": \"%s\"",
               i ? ",\n" : "", row->name, row->programs,
               refusals[row->refusal]);
        put_request("map", &row->map);
        put_request("dump", &row->dump);
        printf(", ");
        put_list("trial", row->trial, 4);
        printf(", ");
        put_list("agents", row->agents, 5);
        printf(", \"read\": [[%u, %u], [%u, %u]]", row->read.from.major,
               row->read.from.minor, row->read.until.major,
               row->read.until.minor);
        if (row->version.name)
            printf(", \"printed\": \"%s\", \"argument\": \"%s\"",
                   row->version.printed, row->version.argument);
        if (row->mark)
            printf(", \"mark\": \"%s\"", row->mark);
        printf("}");
    }
    printf("]\n");
    return 0;
}
