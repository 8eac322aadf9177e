/* SPDX-License-Identifier: MIT
 *
 * Reading the text of JPROF_FLAGS into a struct jp_config.
 * Runs in: constructor, tests. */
#include "flags.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>

#include "jp_log.h"
#include "sig/os/text.h"

#define SEPARATORS " \t\r\n,;"

/* A flag's value: `length` bytes, not NUL-terminated. */
struct value {
    const char *text;
    size_t length;
};

/* Sets a flag's value.  Returns what is wrong with it, or NULL. */
typedef const char *set_function(struct jp_config *config, struct value value);

/* Reads `digits[.digits]` as a number in units of 1e-9.  Returns 0 when it is
 * not such a number, or too large. */
static int parse_nano(struct value value, uint64_t *nano)
{
    uint64_t whole = 0, part = 0, scale = 1000000000ULL;
    size_t i = 0, digits = 0;
    for (; i < value.length && value.text[i] >= '0' && value.text[i] <= '9';
         i++, digits++) {
        whole = whole * 10 + (uint64_t)(value.text[i] - '0');
        if (whole > UINT32_MAX)
            return 0;
    }
    if (i < value.length && value.text[i] == '.')
        i++;
    for (; i < value.length && value.text[i] >= '0' && value.text[i] <= '9';
         i++, digits++) {
        scale /= 10;
        part += scale * (uint64_t)(value.text[i] - '0');
    }
    *nano = whole * 1000000000ULL + part;
    return digits > 0 && i == value.length;
}

/* Reads `digits[k|M|G]`.  Returns 0 when it is not such a number, or too
 * large. */
static int parse_size(struct value value, uint64_t *size)
{
    uint64_t number = 0;
    size_t i = 0;
    for (; i < value.length && value.text[i] >= '0' && value.text[i] <= '9';
         i++) {
        if (number > UINT64_MAX / 10 - 1)
            return 0;
        number = number * 10 + (uint64_t)(value.text[i] - '0');
    }
    if (i == 0 || value.length - i > 1)
        return 0;
    unsigned shift = 0;
    if (i < value.length) {
        switch (value.text[i]) {
        case 'k':
        case 'K':
            shift = 10;
            break;
        case 'M':
            shift = 20;
            break;
        case 'G':
            shift = 30;
            break;
        default:
            return 0;
        }
    }
    if (number > UINT64_MAX >> shift)
        return 0;
    *size = number << shift;
    return 1;
}

static const char *set_start(struct jp_config *config, struct value value)
{
    (void)value;
    config->wanted = 1;
    return NULL;
}

static const char *set_defer(struct jp_config *config, struct value value)
{
    (void)value;
    config->wanted = 1;
    config->deferred = 1;
    return NULL;
}

static const char *set_first(struct jp_config *config, struct value value)
{
    uint64_t nano;
    if (!parse_nano(value, &nano))
        return "is no number of seconds; flag ignored";
    config->first_ns = nano;
    return NULL;
}

static const char *set_period(struct jp_config *config, struct value value)
{
    uint64_t nano;
    if (!parse_nano(value, &nano) || nano == 0)
        return "is no number of seconds above 0; flag ignored";
    config->period_ns = nano;
    if (nano < JP_PERIOD_MIN_NS) {
        config->period_ns = JP_PERIOD_MIN_NS;
        return "is under 0.0001 s; raised to 0.0001";
    }
    if (nano > JP_PERIOD_MAX_NS) {
        config->period_ns = JP_PERIOD_MAX_NS;
        return "is over an hour; lowered to 3600";
    }
    return NULL;
}

static const char *set_realtime(struct jp_config *config, struct value value)
{
    (void)value;
    config->realtime = 1;
    return NULL;
}

static const char *set_rtc(struct jp_config *config, struct value value)
{
    uint64_t hz;
    config->rtc_hz = JP_RTC_HZ_DEFAULT;
    if (!parse_size(value, &hz) || hz < JP_RTC_HZ_MIN || hz > JP_RTC_HZ_MAX ||
        (hz & (hz - 1)) != 0)
        return "is no power of two from 2 to 8192; 2048 is used";
    config->rtc_hz = (uint32_t)hz;
    return NULL;
}

static const char *set_circular(struct jp_config *config, struct value value)
{
    uint64_t size;
    if (!parse_size(value, &size))
        return "is no number of bytes (k, M and G may follow); flag ignored";
    config->ring_bytes = size;
    if (size < JP_CIRCULAR_MIN) {
        config->ring_bytes = JP_CIRCULAR_DEFAULT;
        return "is under 1000 bytes; 10000 is used";
    }
    if (size > JP_CIRCULAR_MAX) {
        config->ring_bytes = JP_CIRCULAR_MAX;
        return "is over 1024G; lowered to it";
    }
    return NULL;
}

static const char *set_append(struct jp_config *config, struct value value)
{
    (void)value;
    config->append = 1;
    return NULL;
}

static const char *set_no_args(struct jp_config *config, struct value value)
{
    (void)value;
    config->no_args = 1;
    return NULL;
}

static const char *set_filename(struct jp_config *config, struct value value)
{
    if (value.length == 0 || value.length >= sizeof(config->filename))
        return "is no file name of up to 1023 bytes; flag ignored";
    memcpy(config->filename, value.text, value.length);
    config->filename[value.length] = '\0';
    config->folder_inode = 0; /* was another name's */
    return NULL;
}

/* Takes what comes before the first colon, or all, off `rest`. */
static struct value part_of(struct value *rest)
{
    const char *colon = memchr(rest->text, ':', rest->length);
    const struct value part = {rest->text, colon != NULL
                                               ? (size_t)(colon - rest->text)
                                               : rest->length};
    const size_t past = part.length + (colon != NULL);
    *rest = (struct value){rest->text + past, rest->length - past};
    return part;
}

/* Reads `device:inode[:path]`. */
static const char *set_folder(struct jp_config *config, struct value value)
{
    const struct value device = part_of(&value), inode = part_of(&value);
    uint64_t first, second;
    if (!parse_size(device, &first) || !parse_size(inode, &second) ||
        (value.length > 0 && value.text[0] != '/') ||
        value.length >= sizeof(config->folder))
        return "is no device:inode of a folder; flag ignored";
    config->folder_device = first;
    config->folder_inode = second;
    memcpy(config->folder, value.text, value.length);
    config->folder[value.length] = '\0';
    return NULL;
}

static int equal(struct value value, const char *word)
{
    return strlen(word) == value.length &&
           memcmp(value.text, word, value.length) == 0;
}

static const char *set_stack(struct jp_config *config, struct value value)
{
    if (equal(value, "auto"))
        config->walker = JP_WALKER_AUTO;
    else if (equal(value, "fp"))
        config->walker = JP_WALKER_FP;
    else if (equal(value, "cfi"))
        config->walker = JP_WALKER_CFI;
    else if (equal(value, "libunwind"))
        config->walker = JP_WALKER_LIBUNWIND;
    else
        return "is none of auto, fp, cfi and libunwind; auto is used";
    return NULL;
}

/* What is wrong with a clock that is none of these. */
static const char *say_clocks(const char *const names[JP_CLOCK_COUNT])
{
    static char message[128];
    struct jp_text text;
    jp_text_init_sig(&text, message, sizeof(message));
    jp_text_add_sig(&text, "is none of");
    for (uint32_t i = 0; i < JP_CLOCK_COUNT; i++) {
        if (names[i][0] == '\0')
            continue;
        jp_text_char_sig(&text, ' ');
        jp_text_add_sig(&text, names[i]);
        jp_text_char_sig(&text, ',');
    }
    jp_text_trim_sig(&text, text.length - 1);
    jp_text_add_sig(&text, "; auto is used");
    return message;
}

static const char *set_clock(struct jp_config *config, struct value value)
{
#define CLOCK(id, name, word, text) name,
    static const char *const names[] = {JP_CLOCKS(CLOCK)};
    for (uint32_t i = 0; i < JP_CLOCK_COUNT; i++) {
        if (names[i][0] != '\0' && equal(value, names[i])) {
            config->clock = i;
            return NULL;
        }
    }
    return say_clocks(names);
}

static const char *set_depth(struct jp_config *config, struct value value)
{
    uint64_t depth;
    if (!parse_size(value, &depth) || depth < JP_DEPTH_MIN ||
        depth > JP_DEPTH_MAX)
        return "is no number of frames from 2 to 4096; flag ignored";
    config->depth = (uint32_t)depth;
    return NULL;
}

static const struct {
    const char *name;
    int number;
} signal_names[] = {
    {"NONE", 0},       {"HUP", SIGHUP},       {"INT", SIGINT},
    {"QUIT", SIGQUIT}, {"USR1", SIGUSR1},     {"USR2", SIGUSR2},
    {"PIPE", SIGPIPE}, {"ALRM", SIGALRM},     {"TERM", SIGTERM},
    {"CHLD", SIGCHLD}, {"CONT", SIGCONT},     {"TSTP", SIGTSTP},
    {"TTIN", SIGTTIN}, {"TTOU", SIGTTOU},     {"URG", SIGURG},
    {"XCPU", SIGXCPU}, {"VTALRM", SIGVTALRM}, {"WINCH", SIGWINCH},
    {"IO", SIGIO},     {"PWR", SIGPWR},
};

/* Reads a signal: USR1, SIGUSR1 or 10; NONE for no signal.  SIGKILL and
 * SIGSTOP cannot be caught; the signals of faults and of the clock are used
 * otherwise. */
static const char *set_signal(uint8_t *signal, struct value value)
{
    static const char wrong[] = "is no signal that can be used for that; flag "
                                "ignored";
    uint64_t number;
    if (value.length > 3 && memcmp(value.text, "SIG", 3) == 0) {
        value.text += 3;
        value.length -= 3;
    }
    for (size_t i = 0; i < sizeof(signal_names) / sizeof(signal_names[0]);
         i++) {
        if (equal(value, signal_names[i].name)) {
            *signal = (uint8_t)signal_names[i].number;
            return NULL;
        }
    }
    if (!parse_size(value, &number))
        return wrong;
    /* Real-time signals below 35 are glibc's; SIGRTMAX is the spare signal. */
    if (number >= 35 && number < 64) {
        *signal = (uint8_t)number;
        return NULL;
    }
    for (size_t i = 0; i < sizeof(signal_names) / sizeof(signal_names[0]);
         i++) {
        if (number == (uint64_t)signal_names[i].number) {
            *signal = (uint8_t)number;
            return NULL;
        }
    }
    return wrong;
}

static const char *set_pause_signal(struct jp_config *config,
                                    struct value value)
{
    return set_signal(&config->pause_signal, value);
}

static const char *set_clear_signal(struct jp_config *config,
                                    struct value value)
{
    return set_signal(&config->clear_signal, value);
}

static const char *set_save_signal(struct jp_config *config, struct value value)
{
    return set_signal(&config->save_signal, value);
}

static const char *set_start_signal(struct jp_config *config,
                                    struct value value)
{
    return set_signal(&config->start_signal, value);
}

static const struct flag {
    const char *name;
    int has_value;
    set_function *set;
} flags[] = {
    {"JP_START", 0, set_start},
    {"JP_DEFER", 0, set_defer},
    {"JP_FIRST", 1, set_first},
    {"JP_PERIOD", 1, set_period},
    {"JP_REALTIME", 0, set_realtime},
    {"JP_RTC_HZ", 1, set_rtc},
    {"JP_CIRCULAR", 1, set_circular},
    {"JP_APPEND", 0, set_append},
    {"JP_FILENAME", 1, set_filename},
    {"JP_STACK", 1, set_stack},
    {"JP_DEPTH", 1, set_depth},
    {"JP_CLOCK", 1, set_clock},
    {"JP_NO_ARGS", 0, set_no_args},
    {JP_FLAG_FOLDER, 1, set_folder},
    {"JP_PAUSE_SIGNAL", 1, set_pause_signal},
    {"JP_CLEAR_SIGNAL", 1, set_clear_signal},
    {"JP_SAVE_SIGNAL", 1, set_save_signal},
    {"JP_START_SIGNAL", 1, set_start_signal},
};

static const char *set_flag(struct jp_config *config, struct value word)
{
    const char *sign = memchr(word.text, '=', word.length);
    struct value name = word, value = {word.text + word.length, 0};
    if (sign != NULL) {
        name.length = (size_t)(sign - word.text);
        value.text = sign + 1;
        value.length = word.length - name.length - 1;
    }
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (!equal(name, flags[i].name))
            continue;
        if (sign == NULL && flags[i].has_value)
            return "needs a value; flag ignored";
        if (sign != NULL && !flags[i].has_value)
            return "takes no value; flag ignored";
        return flags[i].set(config, value);
    }
    return "is no flag of jprof; flag ignored";
}

static void set_defaults(struct jp_config *config)
{
    memset(config, 0, sizeof(*config));
    config->period_ns = JP_PERIOD_DEFAULT_NS;
    config->walker = JP_WALKER_AUTO;
    config->depth = JP_DEPTH_DEFAULT;
    config->pause_signal = SIGUSR1;
    config->clear_signal = SIGUSR2;
}

void jp_flags_parse(const char *text, struct jp_config *config,
                    jp_flags_complaint *complain, void *data)
{
    set_defaults(config);
    if (text == NULL)
        return;
    size_t length = strlen(text);
    if (length >= sizeof(config->flags))
        length = sizeof(config->flags) - 1;
    memcpy(config->flags, text, length);
    while (*text != '\0') {
        text += strspn(text, SEPARATORS);
        struct value word = {text, strcspn(text, SEPARATORS)};
        if (word.length == 0)
            break;
        const char *wrong = set_flag(config, word);
        if (wrong != NULL)
            complain(data, word.text, word.length, wrong);
        text += word.length;
    }
    if (config->rtc_hz != 0)
        config->period_ns = 1000000000ULL / config->rtc_hz;
    if (config->clock != JP_CLOCK_NONE &&
        (config->rtc_hz != 0 || config->realtime))
        complain(data, "JP_CLOCK", strlen("JP_CLOCK"),
                 "is for CPU time; flag ignored");
}
