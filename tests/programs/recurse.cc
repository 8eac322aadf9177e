/* SPDX-License-Identifier: MIT
 *
 * Three threads, one with recursion, one with templates, one that waits;
 * a test gives one function a name that no format may trip over.
 *     recurse [ROUNDS]
 * Runs in: tests. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <thread>
#include <unistd.h>
#include <vector>

static volatile long sink;

/* The test gives it another name. */
extern "C" __attribute__((noinline)) long hostile(long n);
extern "C" long hostile(long n)
{
    long sum = 0;

    for (long i = 0; i < n; i++)
        sum += i * sink % 7;
    return sum;
}

__attribute__((noinline)) static long fib(int n)
{
    long left, right;

    if (n < 2)
        return n;
    left = fib(n - 1);
    right = fib(n - 2);
    return left + right;
}

template <class T> __attribute__((noinline)) static T churn(std::vector<T> &v)
{
    T sum = 0;

    std::sort(v.begin(), v.end());
    for (auto &item : v) {
        sum += item;
        item = (T)(((long)item * 7919 + 13) % 100003);
    }
    return sum;
}

static void work(int rounds)
{
    std::vector<long> whole(20000, 3);
    std::vector<int> half(20000, 5);

    pthread_setname_np(pthread_self(), "w\"o;r\\k<b>");
    for (int i = 0; i < rounds * 20; i++)
        sink = sink + churn(whole) + churn(half) + hostile(300000);
}

static void wait_long(int rounds)
{
    pthread_setname_np(pthread_self(), "waiter");
    for (int i = 0; i < rounds; i++)
        usleep(50000);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 3;
    std::thread worker(work, rounds), waiter(wait_long, rounds);

    for (int i = 0; i < rounds; i++)
        sink = sink + fib(35);
    worker.join();
    waiter.join();
    printf("done\n");
    return 0;
}
