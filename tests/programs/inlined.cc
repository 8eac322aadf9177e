// SPDX-License-Identifier: MIT
//
// Inlined calls, three deep and in themselves: a chain of functions, a lambda,
// a template, an operator that the library's sort calls, and a rarely run path:
//     inlined SECONDS
// Runs in: tests, compiled there with many options (test_native_names.py).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

struct Pair {
    unsigned key, value;
    bool operator<(const Pair &other) const
    {
        return key < other.key || (key == other.key && value < other.value);
    }
};

static volatile unsigned sink;

static inline __attribute__((always_inline)) unsigned innermost(unsigned x)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < 40; i++)
        sum += (x ^ i) * 2654435761U >> 3;
    return sum;
}

static inline __attribute__((always_inline)) unsigned middle(unsigned x)
{
    return innermost(x) + 1;
}

template <typename Value>
static inline __attribute__((always_inline)) Value outermost(Value x)
{
    return middle(x) ^ middle(x + 1);
}

__attribute__((cold, noinline)) static void rare(unsigned x)
{
    std::printf("rare %u\n", x);
}

namespace room
{
class Work
{
  public:
    __attribute__((noinline)) unsigned run(std::vector<Pair> &pairs)
    {
        unsigned sum = 0;
        auto add = [&sum](unsigned x) { sum += outermost(x); };
        for (auto &pair : pairs)
            add(pair.key);
        std::sort(pairs.begin(), pairs.end());
        if (sum == 12345)
            rare(sum);
        return sum;
    }
};
} // namespace room

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? std::atof(argv[1]) : 0.01;
    std::vector<Pair> pairs;
    room::Work work;

    while ((double)std::clock() / CLOCKS_PER_SEC < seconds) {
        pairs.clear();
        for (unsigned i = 0; i < 5000; i++)
            pairs.push_back({i * 2654435761U % 1000, i});
        sink = work.run(pairs);
    }
    return 0;
}
