/* SPDX-License-Identifier: MIT
 *
 * Messages from the spool to the server, with growing pauses while it is away.
 * Runs in: launcher. */
#include "flush.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/base/say.h"

#define PAUSE_MOST 30U /* seconds */

/* Tries one message until it is clear what becomes of it.  Returns 0 when it
 * was for somebody else. */
static int send_one(struct jl_flush *flush, const char *curl,
                    const struct jl_destination *to, struct jl_spool *spool,
                    const char *name, unsigned tries)
{
    unsigned pause = 1;

    for (;;) {
        struct jl_spooled spooled;
        struct stat info = {0};
        struct jl_answer answer;

        if (jl_spool_take(spool, name, to->url, &spooled) != 0)
            return 0;
        (void)fstat(spooled.fd, &info);
        jl_curl_send(curl, to, &spooled, &answer);
        jl_spool_release(spool, &spooled,
                         answer.fate == JL_SENT || answer.fate == JL_REFUSED);
        if (answer.fate == JL_SENT) {
            flush->sent++;
            flush->bytes += (uint64_t)info.st_size;
            return 1;
        }
        flush->last = answer;
        if (answer.fate != JL_LATER || --tries == 0)
            return 1;
        sleep(pause);
        pause = pause < PAUSE_MOST / 2 ? 2 * pause : PAUSE_MOST;
    }
}

void jl_flush_spool(struct jl_flush *flush, const char *curl,
                    const struct jl_destination *to, struct jl_spool *spool,
                    unsigned tries)
{
    size_t count;
    char **names = jl_spool_list(spool, &count);
    int goes_on = 1;

    *flush = (struct jl_flush){.last = {.fate = JL_SENT}};
    for (size_t i = 0; i < count; i++) {
        struct jl_spooled spooled;

        if (!goes_on) {
            if (jl_spool_take(spool, names[i], to->url, &spooled) == 0) {
                flush->left++;
                jl_spool_release(spool, &spooled, 0);
            }
            continue;
        }
        flush->last.fate = JL_SENT;
        if (!send_one(flush, curl, to, spool, names[i], tries))
            continue;
        if (flush->last.fate == JL_REFUSED) {
            flush->refused++;
            jr_say("a profile was not taken and is dropped: %s",
                   flush->last.text);
        } else if (flush->last.fate != JL_SENT) {
            flush->left++;
            goes_on = 0;
        }
    }
    jl_folder_free_list(names, count);
}
