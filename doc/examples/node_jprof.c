/* SPDX-License-Identifier: MIT
 *
 * An addon for Node by which a script steers its own profile:
 *     cc -shared -fPIC -I/usr/include/node -o jprof.node node_jprof.c
 *     const jprof = require('./jprof.node');
 *     jprof.JProfStartProfiling();
 * Each function returns true if it was done; false, for example, where
 * libjprof.so is not preloaded.  Works in workers, too. */
#define _GNU_SOURCE
#define NAPI_VERSION 8
#include <dlfcn.h>
#include <node_api.h>
#include <stddef.h>

static napi_value to_bool(napi_env env, int done)
{
    napi_value result;

    return napi_get_boolean(env, done != 0, &result) == napi_ok ? result : NULL;
}

/* One of jprof_start and its siblings: its name is the function's data. */
static napi_value command(napi_env env, napi_callback_info info)
{
    int (*function)(void) = NULL;
    void *name = NULL;

    if (napi_get_cb_info(env, info, NULL, NULL, NULL, &name) == napi_ok)
        *(void **)&function = dlsym(RTLD_DEFAULT, name);
    return to_bool(env, function && function() == 0);
}

/* One of jprof_mark and its siblings, with the script's text. */
static napi_value mark(napi_env env, napi_callback_info info)
{
    int (*function)(const char *) = NULL;
    char text[256]; /* jprof keeps no more of a name */
    size_t count = 1;
    napi_value argument;
    void *name = NULL;

    if (napi_get_cb_info(env, info, &count, &argument, NULL, &name) !=
            napi_ok ||
        count < 1 ||
        napi_get_value_string_utf8(env, argument, text, sizeof(text), NULL) !=
            napi_ok) {
        napi_throw_type_error(env, NULL, "a mark needs a name");
        return NULL;
    }
    *(void **)&function = dlsym(RTLD_DEFAULT, name);
    return to_bool(env, function && function(text) == 0);
}

NAPI_MODULE_INIT()
{
    static const struct {
        const char *script;
        const char *library;
        napi_callback call;
    } functions[] = {
        {"JProfStartProfiling", "jprof_start", command},
        {"JProfStopProfiling", "jprof_pause", command},
        {"JProfClearCircular", "jprof_clear", command},
        {"JProfSaveCircular", "jprof_save", command},
        {"JProfMark", "jprof_mark", mark},
        {"JProfSpanBegin", "jprof_span_begin", mark},
        {"JProfSpanEnd", "jprof_span_end", mark},
    };

    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
        napi_value function;

        if (napi_create_function(
                env, functions[i].script, NAPI_AUTO_LENGTH, functions[i].call,
                (void *)functions[i].library, &function) != napi_ok ||
            napi_set_named_property(env, exports, functions[i].script,
                                    function) != napi_ok)
            return NULL;
    }
    return exports;
}
