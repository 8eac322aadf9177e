/* SPDX-License-Identifier: MIT
 *
 * Puts what a runtime is asked into the environment.  No option may keep a
 * program from starting: what the runtime refuses is left out.
 * Runs in: launcher. */
#include "ask.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "launcher/base/say.h"
#include "launcher/folder/keep.h"
#include "launcher/os/place.h"
#include "launcher/os/spawn.h"
#include "exclude.h"
#include "recognise.h"
#include "version.h"

#define TRIAL_SECONDS 20
#define PIECE ((size_t)1 << 20) /* of a file that is searched */

/* Everything that the functions below need to know of the program and the
 * runtime. */
struct asking {
    const struct jl_options *options;
    const struct jl_folder *folder;
    const struct jl_runtime *runtime;
    struct jl_setup setup;
    const char *path; /* of the program */
    char *file;       /* of the runtime, without links */
    char *agent;      /* %A; NULL */
    struct jl_env *env;
    char *added; /* ` NAME=VALUE` for each variable, "" */
};

/* Which versions do what is requested, in words; allocated. */
static char *who_does(struct jl_version from)
{
    return from.major
               ? jr_printf("version %u.%u and later do", from.major, from.minor)
               : jr_strdup("some builds do");
}

/* Whether the library reads the functions of this version itself. */
static int is_read(const struct jl_runtime *runtime, struct jl_version version)
{
    return runtime->read.from.major &&
           jl_version_is_from(version, runtime->read.from) &&
           !jl_version_is_from(version, runtime->read.until);
}

/* Whether the file has the word in it.  What a script leads to is not known:
 * it may. */
static int has_mark(const char *path, const char *mark)
{
    size_t length = strlen(mark), kept = 0, got;
    char *bytes = jr_alloc(PIECE + length, 1);
    uint64_t offset = 0;
    struct stat info;
    const char *why;
    int fd = jr_file_open(path, &info, &why), found = 0;

    while (fd >= 0 && !found &&
           (got = jr_file_pread(fd, bytes + kept, PIECE, offset)) > 0) {
        found = (offset == 0 && got > 1 && memcmp(bytes, "#!", 2) == 0) ||
                memmem(bytes, kept + got, mark, length) != NULL;
        offset += got;
        got += kept;
        kept = got < length ? got : length - 1;
        memmove(bytes, bytes + got - kept, kept);
    }
    if (fd >= 0)
        close(fd);
    free(bytes);
    return found;
}

/* The files of a pattern; one without a folder is beside the program. */
static void expand(const struct asking *asking, const char *pattern,
                   glob_t *files)
{
    char *beside = NULL;

    if (pattern[0] != '/') {
        beside = jr_printf("%.*s/%s",
                           (int)(jr_base_name(asking->file) - asking->file) - 1,
                           asking->file, pattern);
        pattern = beside;
    }
    if (glob(pattern, 0, NULL, files) != 0)
        files->gl_pathc = 0;
    free(beside);
}

static int is_marked(const struct asking *asking)
{
    const struct jl_runtime *runtime = asking->runtime;
    int found = has_mark(asking->file, runtime->mark);

    for (size_t i = 0; i < 4 && runtime->marked[i] && !found; i++) {
        glob_t files = {0};

        expand(asking, runtime->marked[i], &files);
        for (size_t j = 0; j < files.gl_pathc && !found; j++)
            found = has_mark(files.gl_pathv[j], runtime->mark);
        globfree(&files);
    }
    return found;
}

static char *find_agent(const struct jl_runtime *runtime)
{
    char *agent = NULL;

    for (size_t i = 0; i < 5 && runtime->agents[i] && !agent; i++) {
        glob_t files = {0};

        if (glob(runtime->agents[i], 0, NULL, &files) == 0)
            agent = jr_strdup(files.gl_pathv[0]);
        globfree(&files);
    }
    return agent;
}

/* Chooses what the runtime is asked for: what the user wished, as far as the
 * runtime can. NULL: nothing; *note says why, unless nothing needs to be
 * asked. */
static const struct jl_setup *choose(struct asking *asking, char **note)
{
    const struct jl_runtime *runtime = asking->runtime;
    const struct jl_setup *wanted = &runtime->map;
    struct jl_version version;
    int can = 1;
    char *who;

    if (asking->options->jit == JL_JIT_DUMP)
        wanted = &runtime->dump;
    if (runtime->agents[0] && !(asking->agent = find_agent(runtime)))
        wanted = &runtime->map;
    if (runtime->refusal == JL_TELLS_VERSION) {
        version = jl_version_learn(runtime, asking->file, asking->env);
        if (asking->options->jit == JL_JIT_MAP && is_read(runtime, version))
            return NULL;
        if (!jl_version_is_from(version, wanted->from))
            wanted = &runtime->map;
        can = jl_version_is_from(version, wanted->from);
    } else if (runtime->refusal == JL_LACKS_WORD) {
        can = is_marked(asking);
    }
    if (can)
        return wanted;
    who =
        who_does(runtime->read.from.major ? runtime->read.from : wanted->from);
    *note = jr_printf("this %s does not tell of its %s; %s", runtime->name,
                      runtime->nameless ? runtime->nameless : "JIT code", who);
    free(who);
    return NULL;
}

/* The command that tells whether the runtime starts; NULL: it cannot be
 * tried.  Allocated. */
static char *trial_of(const struct asking *asking)
{
    const char *name = asking->runtime->trial[0];

    if (asking->runtime->refusal != JL_ENDS)
        return NULL;
    /* The program's own file is tried, not another one of that name in PATH. */
    if (strcmp(jr_base_name(asking->path), name) == 0)
        return jr_strdup(asking->path);
    if (strcmp(jr_base_name(asking->file), name) == 0)
        return jr_strdup(asking->file);
    return jl_find_in(jl_env_get(asking->env, "PATH"), name);
}

/* Whether the runtime starts with the environment as it is now; true if that
 * cannot be tried. */
static int starts(const struct asking *asking)
{
    char *path = trial_of(asking), *argv[5] = {NULL};
    struct jl_spawn spawn = {.path = path,
                             .argv = argv,
                             .env = asking->env->words,
                             .jit_files = asking->setup.files,
                             .seconds = TRIAL_SECONDS};
    int status;

    if (!path)
        return 1;
    for (size_t i = 0; i < 4; i++)
        argv[i] = (char *)asking->runtime->trial[i];
    status = jl_spawn(&spawn);
    /* The trial run wrote files about its code, too. */
    jl_keep_forget(asking->runtime, (uint32_t)spawn.pid);
    free(path);
    return status == 0;
}

/* One word with its %D, %L or %A; allocated. */
static char *word_of(const struct asking *asking, const char *word)
{
    const char *sign = strchr(word, '%'), *value = asking->agent;
    char *folder, *text;

    if (!sign)
        return jr_strdup(word);
    if (sign[1] == 'L')
        value = jl_jit_details[asking->options->detail];
    folder = jr_printf("%s/" JL_JIT_FOLDER, asking->folder->given);
    if (sign[1] == 'D') {
        value = folder;
        if (mkdirat(asking->folder->fd, JL_JIT_FOLDER, 0700) != 0 &&
            errno != EEXIST)
            jl_fail(JR_FAILED, "%s/" JL_JIT_FOLDER ": %s",
                    asking->folder->shown, strerror(errno));
    }
    text = jr_printf("%.*s%s%s", (int)(sign - word), word, value ? value : "",
                     sign + 2);
    free(folder);
    return text;
}

/* Whether `word` is in `list` already, or a relation of it is there: what the
 * user has switched off stays off. */
static int is_there(const char *list, const char *word)
{
    int is_switch = strncmp(word, "-XX:", 4) == 0 && word[4];

    return strstr(list, is_switch ? word + 5 : word) != NULL;
}

char *jl_append_words(const char *old, const struct jl_setting *setting,
                      size_t first, size_t behind)
{
    char *list = jr_strdup(old);

    for (size_t i = first; i < behind && setting->words[i]; i++) {
        char *longer;

        if (is_there(list, setting->words[i]))
            continue;
        longer = *list ? jr_printf("%s%c%s", list, setting->separator,
                                   setting->words[i])
                       : jr_strdup(setting->words[i]);
        free(list);
        list = longer;
    }
    return list;
}

/* Gives the variable a value; none where it had none. */
static void give(const struct asking *asking, const struct jl_setting *setting,
                 const char *value)
{
    jl_env_set(asking->env, setting->variable, *value ? value : NULL);
}

/* Where the runtime refuses some of the words, each is tried by itself.  Takes
 * `all`, the value with all of them; returns the one to use, allocated. */
static char *leave_out_refused(const struct asking *asking,
                               const struct jl_setting *setting,
                               const char *old, char *all)
{
    char *kept, *who;

    give(asking, setting, all);
    if (starts(asking))
        return all;
    give(asking, setting, old);
    if (!starts(asking)) /* does it start at all? */
        return all;
    kept = jr_strdup(old);
    for (size_t i = 0; i < JL_WORDS && setting->words[i]; i++) {
        char *more = jl_append_words(kept, setting, i, i + 1);

        give(asking, setting, more);
        if (strcmp(more, kept) != 0 && !starts(asking)) {
            who = who_does(asking->setup.from);
            jr_say("%s refuses %s: left out; %s not", asking->runtime->name,
                   setting->words[i], who);
            free(who);
            free(more);
            continue;
        }
        free(kept);
        kept = more;
    }
    give(asking, setting, kept);
    free(all);
    return kept;
}

/* The setting with its % replaced; its words are freed by free_setting. */
static struct jl_setting fill(const struct asking *asking,
                              const struct jl_setting *setting)
{
    struct jl_setting filled = *setting;

    for (size_t i = 0; i < JL_WORDS && setting->words[i]; i++)
        filled.words[i] = word_of(asking, setting->words[i]);
    return filled;
}

static void free_setting(struct jl_setting *setting)
{
    for (size_t i = 0; i < JL_WORDS && setting->words[i]; i++)
        free((char *)setting->words[i]);
}

/* Puts one setting into the environment, if it changes anything. */
static void set_one(struct asking *asking, const struct jl_setting *wanted)
{
    const char *value = jl_env_get(asking->env, wanted->variable);
    char *old = jr_strdup(value ? value : ""), *new, *added;
    struct jl_setting setting;

    if (!wanted->words[0] || (!wanted->separator && *old)) {
        free(old);
        return;
    }
    setting = fill(asking, wanted);
    new = wanted->separator ? jl_append_words(old, &setting, 0, JL_WORDS)
                            : jr_strdup(setting.words[0]);
    if (wanted->separator && strcmp(new, old) != 0)
        new = leave_out_refused(asking, &setting, old, new);
    if (strcmp(new, old) != 0) {
        give(asking, &setting, new);
        added = jr_printf("%s %s=%s", asking->added, setting.variable, new);
        free(asking->added);
        asking->added = added;
    }
    free_setting(&setting);
    free(new);
    free(old);
}

/* Whether the user's own arguments ask for such files, which then stay where
 * they are. */
static int wants_files(char *const *args)
{
    for (; *args; args++)
        if (strstr(*args, "perf") || strstr(*args, "PerfMap") ||
            strstr(*args, "jitmap"))
            return 1;
    return 0;
}

/* Leaves out what would change what the user runs.  Returns 0 where nothing is
 * left to ask; *note says why. */
static int leave_out_excluded(struct asking *asking, char **note)
{
    const struct jl_runtime *runtime = asking->runtime;
    char *const *args = asking->options->program + 1;
    struct jl_version version = {0};
    char *file = jl_excludes_by_version(runtime) ? trial_of(asking) : NULL;
    const char *why;

    if (file)
        version = jl_version_learn(runtime, file, asking->env);
    free(file);
    why = jl_exclude(&asking->setup, runtime, version, args, asking->env);
    if (!why)
        return 1;
    *note = jr_printf("%s was not asked for them: %s", runtime->name, why);
    return 0;
}

/* Makes all settings, and fills *request with what they ask for. */
static void ask_all(struct asking *asking, struct jl_request *request)
{
    const struct jl_runtime *runtime = asking->runtime;
    char *const *args = asking->options->program + 1;
    int own = runtime->own_litter && jl_is_used(runtime->own_litter, args,
                                                &asking->setup, asking->env);
    char *who;

    for (size_t i = 0; i < JL_SETTINGS && asking->setup.settings[i].variable;
         i++)
        set_one(asking, &asking->setup.settings[i]);
    if (!*asking->added)
        return;
    jr_say("%s: added to the environment:%s", runtime->name, asking->added);
    request->files = asking->setup.files;
    if (!wants_files(args))
        request->removed = request->files;
    request->removed_patterns = own ? NULL : runtime->litter;
    who = who_does(asking->setup.from);
    request->no_result = jr_printf(
        "%s was asked to write them, and did not; %s", runtime->name, who);
    free(who);
}

void jl_ask(struct jl_request *request, const struct jl_options *options,
            const struct jl_folder *folder, const char *path,
            struct jl_env *env)
{
    struct asking asking = {
        .options = options, .folder = folder, .path = path, .env = env};
    const struct jl_setup *chosen;

    *request = (struct jl_request){0};
    if (options->jit == JL_JIT_OFF)
        return;
    asking.runtime = jl_recognise(path, options->program, env, &asking.file);
    if (!asking.runtime)
        return;
    request->runtime = asking.runtime;
    asking.added = jr_strdup("");
    chosen = choose(&asking, &request->refusal);
    if (chosen) {
        asking.setup = *chosen;
        if (leave_out_excluded(&asking, &request->refusal))
            ask_all(&asking, request);
    }
    free(asking.added);
    free(asking.agent);
    free(asking.file);
}

void jl_request_free(struct jl_request *request)
{
    free(request->refusal);
    free(request->no_result);
    request->refusal = request->no_result = NULL;
}
