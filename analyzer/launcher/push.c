/* SPDX-License-Identifier: MIT
 *
 * Sends profiles to Pyroscope or Parca, once.
 * Runs in: launcher. */
#include "push.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launcher/base/destination.h"
#include "launcher/base/options.h"
#include "launcher/base/say.h"
#include "launcher/os/place.h"
#include "launcher/push/flush.h"
#include "launcher/push/parts.h"

#define TRIES 5
#define NS 1000000000ULL
#define OLD_NS (3600 * NS) /* Pyroscope, reject_older_than: its default */

const struct jl_help jl_push_help = {
    .usage = "jprof push [--to=pyroscope|parca] [--label=K=V...] URL "
             "[DIR|LOG...]\n",
    .text = "push sends a profile to a server, and what was not sent before:\n",
    .options = jl_destination_help,
};

struct words {
    struct jl_destination to;
    const char *url;
    char **operands; /* NULL at the end */
    size_t count, room;
};

static void parse(char **argv, struct words *words)
{
    struct jr_command_line line = {.words = argv};
    const struct jr_option_table table = jl_destination_options(&words->to);
    enum jr_word word;

    jl_destination_init(&words->to);
    while ((word = jl_option_next(&jl_push_help, &line, &table, 1)) !=
           JR_WORD_END) {
        if (word == JR_WORD_OPTION)
            continue;
        if (!words->url)
            words->url = line.operand;
        else
            *JR_PUSH(words->operands, words->count, words->room) =
                line.words[-1];
    }
    *JR_PUSH(words->operands, words->count, words->room) = NULL;
    words->count--;
    if (!words->url)
        jl_usage("push: to which URL?");
    jl_destination_check(&words->to, words->url);
}

static void say_age(const struct words *words, const struct jl_parts *parts)
{
    const uint64_t now_ns = jr_now_ns(CLOCK_REALTIME);

    if (words->to.server == JL_PYROSCOPE && parts->messages > 0 &&
        parts->until_ns < now_ns && now_ns - parts->until_ns > OLD_NS)
        jr_say("the profile ended %.1f hours ago; Pyroscope, as it is "
               "delivered, does not keep what is older than one",
               (double)(now_ns - parts->until_ns) / 3600e9);
}

static void say_result(const struct words *words, const struct jl_parts *parts,
                       const struct jl_spool *spool,
                       const struct jl_flush *flush)
{
    if (flush->left > 0)
        jr_say("%s: %s; messages that wait in %s for the next jprof push to "
               "this URL: %zu",
               words->to.url, flush->last.text, spool->folder.shown,
               flush->left);
    if (spool->dropped > 0)
        jr_say("messages, the oldest, that had to make room (--spool-size) and "
               "are lost: %zu",
               spool->dropped);
    jr_say("sent %zu of %zu messages (%" PRIu64 " bytes) to %s: %.3f s of CPU "
           "time, %.3f s of real time",
           flush->sent, flush->sent + flush->refused + flush->left,
           flush->bytes, words->to.url, (double)parts->cpu_ns / 1e9,
           (double)parts->wall_ns / 1e9);
}

int jl_push(char **argv)
{
    struct words words = {0};
    struct jl_parts parts = {0};
    struct jl_spool spool;
    struct jl_flush flush;
    char *curl, *reporter;
    int status = JR_COMPLETE;

    parse(argv + 1, &words);
    curl = jl_curl_find();
    reporter = jl_find_reporter();
    jl_spool_open(&spool, &words.to);
    if (words.count > 0)
        status = jl_parts_make(&parts, reporter, -1, NULL, words.operands, 0,
                               &words.to, &spool);
    if (status != JR_COMPLETE && status != JR_PARTIAL)
        jr_say("the profile could not be read to its end: what was read is "
               "sent");
    else if (words.count > 0 && parts.messages + parts.lost == 0)
        jr_say("there is no sample in the profile to send");
    if (parts.cut_ns > 0)
        jr_say("the rings of the profile have lost its first %.3f s",
               (double)parts.cut_ns / 1e9);
    say_age(&words, &parts);
    jl_flush_spool(&flush, curl, &words.to, &spool, TRIES);
    say_result(&words, &parts, &spool, &flush);
    if (status == JR_COMPLETE && (flush.left > 0 || flush.refused > 0 ||
                                  spool.dropped > 0 || parts.lost > 0))
        status = JR_PARTIAL;
    jl_spool_close(&spool);
    jl_destination_free(&words.to);
    free(words.operands);
    free(reporter);
    free(curl);
    return status;
}
