/* SPDX-License-Identifier: MIT
 *
 * The storm: exceptions, libraries that come and go, memory.
 * Runs in: tests. */
#include "storm.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <sys/mman.h>

__attribute__((noinline)) static unsigned thrower(int depth, char letter)
{
    std::string local(20, char(letter + depth % 3));
    if (depth == 0)
        throw std::runtime_error(std::string(30, letter));
    return thrower(depth - 1, letter) + unsigned(local.size());
}

static void throws(struct storm_activity *self)
{
    for (int i = 0; i < 50; i++) {
        const char letter = char('a' + i % 20);
        bool caught = false;
        try {
            thrower(i % 40, letter);
        } catch (const std::exception &error) {
            caught = error.what() == std::string(30, letter);
        }
        STORM_CHECK(self, caught);
    }
}

static void called_back(void *data)
{
    std::vector<int> *numbers = static_cast<std::vector<int> *>(data);
    for (int i = 0; i < 200; i++)
        numbers->push_back(i);
    try {
        thrower(3, 'c');
    } catch (const std::exception &) {
        numbers->push_back(-1);
    }
}

static void libraries(struct storm_activity *self)
{
    std::vector<int> numbers;
    void *library = dlopen(storm_libraries[self->rounds % 2], RTLD_NOW);
    STORM_CHECK(self, library != nullptr);
    if (library == nullptr)
        return;
    void (*hold)(void (*)(void *), void *) = nullptr;
    *reinterpret_cast<void **>(&hold) = dlsym(library, "swap_hold");
    STORM_CHECK(self, hold != nullptr);
    if (hold != nullptr)
        hold(called_back, &numbers);
    STORM_CHECK(self, numbers.size() == 201 && numbers.back() == -1);
    STORM_CHECK(self, dlclose(library) == 0);
}

static void memory(struct storm_activity *self)
{
    static unsigned char *pieces[64];
    static size_t sizes[64];
    for (unsigned i = 0; i < 64; i++) {
        unsigned char *piece = pieces[i];
        if (piece != nullptr)
            STORM_CHECK(self, piece[0] == i && piece[sizes[i] - 1] == i);
        sizes[i] = 16 + (i * 37 + self->rounds * 101) % 20000;
        pieces[i] = piece =
            static_cast<unsigned char *>(std::realloc(piece, sizes[i]));
        std::memset(piece, int(i), sizes[i]);
    }
    void *code = mmap(nullptr, 65536, PROT_READ | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    STORM_CHECK(self, code != MAP_FAILED && munmap(code, 65536) == 0);
}

extern "C" {
struct storm_activity storm_loads[] = {
    {"throws", throws, 200, 0, 0},
    {"libraries", libraries, 100, 0, 0},
    {"memory", memory, 200, 0, 0},
    {nullptr, nullptr, 0, 0, 0},
};
}
