/* SPDX-License-Identifier: MIT
 *
 * C++ without frame pointers: threads that throw and catch exceptions through
 * a recursion, for as many CPU seconds each:
 *     throws [THREADS=2] [SECONDS=0.5]
 * Runs in: tests. */
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static double cpu_seconds()
{
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) + double(now.tv_nsec) / 1e9;
}

static volatile unsigned long caught;

__attribute__((noinline)) static void thrower(int depth)
{
    std::string local(20, char('a' + depth % 26));
    if (depth == 0)
        throw std::runtime_error(local);
    thrower(depth - 1);
    caught = caught + local.size();
}

__attribute__((noinline)) static void catcher()
{
    try {
        thrower(20);
    } catch (const std::exception &error) {
        caught = caught + error.what()[0];
    }
}

static void rounds(double seconds)
{
    while (cpu_seconds() < seconds)
        catcher();
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? std::atoi(argv[1]) : 2;
    const double seconds = argc > 2 ? std::atof(argv[2]) : 0.5;
    std::vector<std::thread> threads;
    for (int i = 0; i < count; i++)
        threads.emplace_back(rounds, seconds);
    for (std::thread &thread : threads)
        thread.join();
    return 0;
}
