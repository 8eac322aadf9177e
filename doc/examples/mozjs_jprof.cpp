/* SPDX-License-Identifier: MIT
 *
 * An embedder of SpiderMonkey whose scripts steer their own profile:
 *     c++ mozjs_jprof.cpp -o shell $(pkg-config --cflags --libs mozjs-102)
 *     ./shell script.js
 * The functions are global and have the names of the original jprof.  Each
 * returns true if it was done; false, for example, where libjprof.so is not
 * preloaded. */
#include <dlfcn.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include <js/CompilationAndEvaluation.h>
#include <js/Conversions.h>
#include <js/Initialization.h>
#include <js/SourceText.h>
#include <jsapi.h>

template <typename Function> static Function find(const char *name)
{
    return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

static bool command(const char *name, JSContext *, const JS::CallArgs &args)
{
    auto function = find<int (*)()>(name);
    args.rval().setBoolean(function && function() == 0);
    return true;
}

static bool mark(const char *name, JSContext *context, const JS::CallArgs &args)
{
    auto function = find<int (*)(const char *)>(name);
    JS::RootedString string(context, JS::ToString(context, args.get(0)));
    if (!string)
        return false;
    JS::UniqueChars text = JS_EncodeStringToUTF8(context, string);
    if (!text)
        return false;
    args.rval().setBoolean(function && function(text.get()) == 0);
    return true;
}

#define NATIVE(script, call, library)                                          \
    static bool script(JSContext *context, unsigned count, JS::Value *values)  \
    {                                                                          \
        return call(library, context, JS::CallArgsFromVp(count, values));      \
    }

NATIVE(JProfStartProfiling, command, "jprof_start")
NATIVE(JProfStopProfiling, command, "jprof_pause")
NATIVE(JProfClearCircular, command, "jprof_clear")
NATIVE(JProfSaveCircular, command, "jprof_save")
NATIVE(JProfMark, mark, "jprof_mark")
NATIVE(JProfSpanBegin, mark, "jprof_span_begin")
NATIVE(JProfSpanEnd, mark, "jprof_span_end")

static bool print(JSContext *context, unsigned count, JS::Value *values)
{
    JS::CallArgs args = JS::CallArgsFromVp(count, values);
    JS::RootedString string(context, JS::ToString(context, args.get(0)));
    JS::UniqueChars text =
        string ? JS_EncodeStringToUTF8(context, string) : nullptr;
    if (!text)
        return false;
    std::puts(text.get());
    args.rval().setUndefined();
    return true;
}

static bool run(JSContext *context, const char *path)
{
    static const JSClass global_class = {"global", JSCLASS_GLOBAL_FLAGS,
                                         &JS::DefaultGlobalClassOps};
    static const JSFunctionSpec functions[] = {
        JS_FN("JProfStartProfiling", JProfStartProfiling, 0, 0),
        JS_FN("JProfStopProfiling", JProfStopProfiling, 0, 0),
        JS_FN("JProfClearCircular", JProfClearCircular, 0, 0),
        JS_FN("JProfSaveCircular", JProfSaveCircular, 0, 0),
        JS_FN("JProfMark", JProfMark, 1, 0),
        JS_FN("JProfSpanBegin", JProfSpanBegin, 1, 0),
        JS_FN("JProfSpanEnd", JProfSpanEnd, 1, 0),
        JS_FN("print", print, 1, 0),
        JS_FS_END};
    JS::RealmOptions realm;
    JS::RootedObject global(context,
                            JS_NewGlobalObject(context, &global_class, nullptr,
                                               JS::FireOnNewGlobalHook, realm));
    if (!global)
        return false;
    JSAutoRealm inside(context, global);
    std::ifstream file(path);
    std::string text((std::istreambuf_iterator<char>(file)), {});
    JS::SourceText<mozilla::Utf8Unit> source;
    JS::CompileOptions options(context);
    JS::RootedValue result(context);
    options.setFileAndLine(path, 1);
    return file && JS_DefineFunctions(context, global, functions) &&
           source.init(context, text.data(), text.size(),
                       JS::SourceOwnership::Borrowed) &&
           JS::Evaluate(context, options, source, &result);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s script.js\n", argv[0]);
        return 64;
    }
    if (!JS_Init())
        return 1;
    JSContext *context = JS_NewContext(JS::DefaultHeapMaxBytes);
    bool done =
        context && JS::InitSelfHostedCode(context) && run(context, argv[1]);
    if (!done)
        std::fprintf(stderr, "%s: the script failed\n", argv[1]);
    if (context)
        JS_DestroyContext(context);
    JS_ShutDown();
    return done ? 0 : 1;
}
