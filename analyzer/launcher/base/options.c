/* SPDX-License-Identifier: MIT
 *
 * Reads the command line of `jprof run`: a table of options, each with its
 * handler.
 * Runs in: launcher. */
#include "options.h"

#include <string.h>

#include "jp_limits.h"
#include "say.h"

/* The CPU timers of the kernel run at its tick, 250 a second on Debian and
 * Ubuntu: a higher rate would ask for samples that do not come. */
#define PERIOD_NS 4000000ULL
#define MOST 1000000000000000000ULL /* 10^18 */
#define EVERY_NS 60000000000ULL
#define EVERY_LEAST_NS 1000000000ULL
#define EVERY_MOST_NS 3600000000000ULL
#define RING_BYTES (32ULL << 20)
#define RING_LEAST (1ULL << 20)

uint64_t jl_decimal(const char *text, unsigned digits)
{
    uint64_t number = 0;
    unsigned fraction = 0;
    int point = 0, any = 0;

    for (; *text; text++) {
        if (*text == '.' && !point) {
            point = 1;
            continue;
        }
        if (*text < '0' || *text > '9')
            return 0;
        any = 1;
        if (point && fraction == digits)
            continue; /* finer than a unit */
        fraction += (unsigned)point;
        number = number * 10 + (uint64_t)(*text - '0');
        if (number >= MOST)
            return 0;
    }
    for (; fraction < digits && number < MOST; fraction++)
        number *= 10;
    return any && number < MOST ? number : 0;
}

/* Takes `value`, "" for an option without one; `name` is as it was given. */
typedef void take_fn(struct jl_options *options, const char *name,
                     const char *value);

static void take_period(struct jl_options *options, const char *name,
                        const char *value)
{
    uint64_t units;

    if (options->rate_option && options->rate_option != name[1])
        jl_usage("-F and -p exclude each other");
    options->rate_option = name[1];
    if (name[1] == 'F') {
        units = jl_decimal(value, 3);
        units = units ? 1000000000000ULL / units : 0;
    } else {
        units = jl_decimal(value, 9);
    }
    if (units < JP_PERIOD_MIN_NS || units > JP_PERIOD_MAX_NS)
        jl_usage("%s %s: not a number that gives a period of 0.0001 to 3600 s",
                 name, value);
    options->period_ns = units;
}

static void take_out(struct jl_options *options, const char *name,
                     const char *value)
{
    (void)name;
    options->out = value;
}

static void take_wall(struct jl_options *options, const char *name,
                      const char *value)
{
    (void)name, (void)value;
    options->wall = 1;
}

static void take_public(struct jl_options *options, const char *name,
                        const char *value)
{
    (void)name, (void)value;
    options->is_public = 1;
}

static void take_no_args(struct jl_options *options, const char *name,
                         const char *value)
{
    (void)name, (void)value;
    options->no_args = 1;
}

static void take_jit(struct jl_options *options, const char *name,
                     const char *value)
{
    static const char *const kinds[] = {
        [JL_JIT_OFF] = "off", [JL_JIT_MAP] = "map", [JL_JIT_DUMP] = "dump"};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(value, kinds[i]) == 0) {
            options->jit = (uint8_t)i;
            return;
        }
    jl_usage("%s: must be --jit=off, map or dump", name);
}

static void take_detail(struct jl_options *options, const char *name,
                        const char *value)
{
    static const char *const kinds[] = {"func", "src", "ir"};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(value, kinds[i]) == 0) {
            options->detail = kinds[i];
            return;
        }
    jl_usage("%s: must be --jit-detail=func, src or ir", name);
}

static void take_push(struct jl_options *options, const char *name,
                      const char *value)
{
    (void)name;
    options->push = value;
}

static void take_every(struct jl_options *options, const char *name,
                       const char *value)
{
    options->every_ns = jl_decimal(value, 9);
    if (options->every_ns < EVERY_LEAST_NS || options->every_ns > EVERY_MOST_NS)
        jl_usage("%s: must be 1 to 3600 seconds", name);
}

static void take_ring(struct jl_options *options, const char *name,
                      const char *value)
{
    options->ring_bytes = jl_size(value);
    if (options->ring_bytes < RING_LEAST)
        jl_usage("%s: must be a size of at least %dM", name,
                 (int)(RING_LEAST >> 20));
}

/* A letter's value may be joined to it or be the next word; a long option's
 * follows a '='. */
static const struct option {
    const char *name;
    int has_value;
    take_fn *take;
} table[] = {
    {"-F", 1, take_period},       {"-p", 1, take_period},
    {"-o", 1, take_out},          {"--wall", 0, take_wall},
    {"--public", 0, take_public}, {"--no-args", 0, take_no_args},
    {"--jit", 1, take_jit},       {"--jit-detail", 1, take_detail},
    {"--push", 1, take_push},     {"--every", 1, take_every},
    {"--ring", 1, take_ring},
};

static const struct option *find(const char *word)
{
    size_t length = word[1] == '-' ? strcspn(word, "=") : 2;

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strlen(table[i].name) == length &&
            memcmp(table[i].name, word, length) == 0 &&
            (table[i].has_value || word[length] == '\0'))
            return &table[i];
    jl_usage("unknown option %s", word);
}

void jl_options_parse(char **words, struct jl_options *options)
{
    *options = (struct jl_options){.period_ns = PERIOD_NS,
                                   .jit = JL_JIT_MAP,
                                   .detail = "src",
                                   .every_ns = EVERY_NS,
                                   .ring_bytes = RING_BYTES};
    jl_destination_init(&options->to);
    for (; *words && (*words)[0] == '-'; words++) {
        const struct option *option;
        const char *word = *words, *value;

        if (strcmp(word, "--") == 0) {
            words++;
            break;
        }
        if (jl_destination_take(&options->to, &words))
            continue;
        option = find(word);
        value = word + strlen(option->name);
        if (word[1] == '-') {
            option->take(options, word, *value ? value + 1 : value);
            continue;
        }
        if (*value == '\0') {
            if (!words[1] || !*words[1])
                jl_usage("%s needs a value", word);
            value = *++words;
        }
        option->take(options, option->name, value);
    }
    if (!*words)
        jl_usage("no program given");
    options->program = words;
    if (options->push)
        jl_destination_check(&options->to, options->push);
}
