/* SPDX-License-Identifier: MIT
 *
 * Threads that throw exceptions, load and unload libraries, allocate and map,
 * while the first thread sends them SIGPROF, so often each:
 *     storm SWAP_A SWAP_B [SIGNALS=1000]
 * Prints `loaded N caught N`.
 * Runs in: tests. */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <csignal>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

static std::atomic<bool> over;
static std::atomic<unsigned long> loaded, caught;

__attribute__((noinline)) static void thrower(int depth)
{
    std::string local(20, char('a' + depth % 26));
    if (depth == 0)
        throw std::runtime_error(local);
    thrower(depth - 1);
    caught += local.empty();
}

static void throwing()
{
    while (!over) {
        try {
            thrower(15);
        } catch (const std::exception &) {
            caught++;
        }
    }
}

static void called_back(void *data)
{
    std::vector<int> *numbers = static_cast<std::vector<int> *>(data);
    for (int i = 0; i < 200; i++)
        numbers->push_back(i);
}

static void loading(const char *const *paths)
{
    for (unsigned i = 0; !over; i++) {
        std::vector<int> numbers;
        void *library = dlopen(paths[i % 2], RTLD_NOW);
        if (library == nullptr) {
            std::fprintf(stderr, "%s\n", dlerror());
            std::exit(2);
        }
        void (*hold)(void (*)(void *), void *);
        *reinterpret_cast<void **>(&hold) = dlsym(library, "swap_hold");
        hold(called_back, &numbers);
        dlclose(library);
        loaded++;
    }
}

static void allocating()
{
    void *pieces[64] = {};
    for (unsigned i = 0; !over; i++) {
        std::free(pieces[i % 64]);
        pieces[i % 64] = std::malloc(16 + i * 37 % 5000);
        if (i % 64 == 0)
            munmap(mmap(nullptr, 8192, PROT_READ | PROT_EXEC,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                   8192);
    }
    for (void *piece : pieces)
        std::free(piece);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const long signals = argc > 3 ? std::atol(argv[3]) : 1000;
    const char *const *paths = argv + 1;
    std::vector<std::thread> threads;
    threads.emplace_back(throwing);
    threads.emplace_back(loading, paths);
    threads.emplace_back(allocating);
    threads.emplace_back(throwing);
    for (long i = 0; i < signals; i++) {
        for (std::thread &thread : threads)
            pthread_kill(thread.native_handle(), SIGPROF);
        usleep(20);
    }
    over = true;
    for (std::thread &thread : threads)
        thread.join();
    std::printf("loaded %lu caught %lu\n", loaded.load(), caught.load());
    return 0;
}
