/* SPDX-License-Identifier: MIT
 *
 * C++ that throws through frames with destructors, and libstdc++ from many
 * sides.
 *     shapes_cc [SECONDS=1]
 * Runs in: tests (built in several ways, for the oracle). */
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <iomanip>
#include <locale>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#define KEEP __attribute__((noinline))

static volatile unsigned long sink;

struct base {
    virtual ~base()
    {
    }
    virtual unsigned long value(unsigned) const = 0;
};
struct left : virtual base {
    unsigned long value(unsigned n) const override
    {
        return sink + n;
    }
};
struct right : virtual base {
    unsigned long other = 3;
};
struct both : left, right {
    KEEP ~both() override
    {
        sink = sink + other;
    }
    /* By way of a thunk: base is virtual. */
    KEEP unsigned long value(unsigned n) const override
    {
        return left::value(n) * 3;
    }
};

KEEP static void thrower(int depth)
{
    std::string local(20, char('a' + depth % 26));
    if (depth == 0)
        throw std::runtime_error(local);
    thrower(depth - 1);
    sink = sink + local.size();
}

KEEP static void filter(int depth)
{
    try {
        thrower(depth);
    } catch (const std::logic_error &) {
        sink = sink + 1;
    }
}

KEEP static void catcher(int depth)
{
    try {
        try {
            filter(depth);
        } catch (const std::exception &error) {
            sink = sink + static_cast<unsigned long>(error.what()[0]);
            throw;
        }
    } catch (...) {
        sink = sink + 1;
    }
}

KEEP static void library(unsigned turn)
{
    std::ostringstream text;
    text << std::setw(9) << turn << ' ' << std::fixed << turn / 7.0 << ' '
         << std::hex << turn << std::boolalpha << true;
    std::istringstream input(text.str());
    double number = 0;
    std::string word;
    input >> word >> number;
    std::map<std::string, std::vector<int>> tree;
    std::unordered_map<int, std::string> table;
    for (int i = 0; i < 30; i++) {
        tree[std::to_string(i * 7919 % 31)].push_back(i);
        table.emplace(i, word);
    }
    std::vector<std::string> names;
    for (const auto &entry : tree)
        names.push_back(entry.first);
    std::sort(names.begin(), names.end(),
              [](const std::string &a, const std::string &b) {
                  sink = sink + 1;
                  return a.size() != b.size() ? a.size() < b.size() : a > b;
              });
    std::function<unsigned long(unsigned)> call = [&](unsigned n) {
        return names.size() + n;
    };
    std::unique_ptr<base> object(new both);
    sink = sink + call(turn) + object->value(turn) +
           static_cast<unsigned long>(number);
    static const std::regex pattern("([a-z]+)([0-9]*)x?");
    std::smatch match;
    std::string subject = "abc" + std::to_string(turn) + "x";
    sink = sink + std::regex_match(subject, match, pattern);
    try {
        sink = sink + std::stoul("none") + names.at(100).size();
    } catch (const std::exception &) {
    }
}

static double now()
{
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return double(time.tv_sec) + double(time.tv_nsec) / 1e9;
}

static void rounds(double end)
{
    for (unsigned turn = 0; now() < end; turn++) {
        catcher(static_cast<int>(turn % 20));
        library(turn);
    }
}

int main(int argc, char **argv)
{
    const double end = now() + (argc > 1 ? std::atof(argv[1]) : 1);
    std::thread other(rounds, end);
    rounds(end);
    other.join();
    return 0;
}
