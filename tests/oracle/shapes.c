/* SPDX-License-Identifier: MIT
 *
 * Code whose frames are hard to find, of every kind once a round: calls
 * through pointers, tail calls, alloca, realigned stacks, large frames,
 * longjmp, handlers of signals, callbacks from the C library, calls that do
 * not come back at a function's end.
 *     shapes [SECONDS=1]
 * Runs in: tests (built in several ways, for the oracle). */
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <regex.h>
#include <search.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#define KEEP __attribute__((noinline))

static volatile uint64_t sink;
static jmp_buf back;

KEEP static uint64_t bottom(uint64_t a)
{
    uint64_t room[4] = {a, a * 3, a ^ 5, 7}; /* below sp, in a leaf */
    for (unsigned i = 0; i < 4; i++)
        sink += room[(i + a) & 3];
    return sink;
}

KEEP static uint64_t tail_end(uint64_t a)
{
    return bottom(a) + bottom(a + 1);
}

KEEP static uint64_t tail(uint64_t a)
{
    sink += a;
    return a & 1 ? tail_end(a) : bottom(a);
}

KEEP static uint64_t with_alloca(size_t size)
{
    volatile char *room = alloca(size);
    room[0] = (char)size;
    sink += tail(size) + (uint64_t)room[0];
    room[size - 1] = 1;
    return sink;
}

KEEP static uint64_t realigned(size_t size)
{
    _Alignas(64) volatile char aligned[64];
    volatile char *room = alloca(size);
    aligned[3] = room[1] = (char)size;
    sink += with_alloca(size) + (uint64_t)aligned[3];
    return sink;
}

KEEP static uint64_t large(unsigned a)
{
    volatile char room[20000];
    room[a % sizeof(room)] = 1;
    sink += bottom(a) + (uint64_t)room[0];
    return sink;
}

KEEP static uint64_t many(uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                          uint64_t e, uint64_t f, uint64_t g, uint64_t h)
{
    uint64_t x = bottom(a) * b, y = bottom(c) * d, z = bottom(e) * f;
    return x + y * bottom(g) + z * bottom(h) + a + b + c + d + e + f + g + h;
}

KEEP static uint64_t variadic(int count, ...)
{
    va_list list;
    uint64_t sum = 0;
    va_start(list, count);
    while (count-- > 0)
        sum += va_arg(list, uint64_t) + (uint64_t)va_arg(list, double);
    va_end(list);
    return sum + bottom(sum);
}

KEEP static uint64_t recursion(unsigned depth)
{
    return depth == 0 ? bottom(1) : recursion(depth - 1) * 3 + depth;
}

__attribute__((noreturn, noinline)) static void leave(int value)
{
    sink += bottom((uint64_t)value);
    longjmp(back, value);
}

/* Its last instruction is a call: the return address is the next function's
 * first byte. */
KEEP static void gone(int value)
{
    if (value != 0)
        leave(value);
    sink++;
}

KEEP static void jumps(void)
{
    if (setjmp(back) == 0)
        gone(1);
}

static int order(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    sink += bottom((uint64_t)x);
    return (x > y) - (x < y);
}

KEEP static void sorts(void)
{
    int numbers[60];
    for (int i = 0; i < 60; i++)
        numbers[i] = i * 7919 % 61;
    qsort(numbers, 60, sizeof(numbers[0]), order);
    int key = 7;
    sink += bsearch(&key, numbers, 60, sizeof(numbers[0]), order) != NULL;
}

static void handler(int number)
{
    sink += recursion((unsigned)number);
}

KEEP static void signals(void)
{
    raise(SIGUSR1);
    raise(SIGWINCH); /* on the alternate stack */
}

static void visit(const void *node, VISIT which, int depth)
{
    sink += (uint64_t)which + (uint64_t)depth + bottom((uint64_t)node);
}

/* The C library from many sides. */
KEEP static void library(unsigned turn)
{
    char text[256];
    wchar_t wide[64];
    regex_t expression;
    void *root = NULL;
    int keys[20];
    double value = strtod("2.718281828e10", NULL) / (turn + 1);
    snprintf(text, sizeof(text), "%s %d %.17g %Lf %ls", "x", (int)turn, value,
             (long double)value, L"wide");
    sink += strlen(text) + mbstowcs(wide, text, 60);
    if (regcomp(&expression, "(x|y)+ [0-9]*\\.?", REG_EXTENDED) == 0) {
        sink += (uint64_t)regexec(&expression, text, 0, NULL, 0);
        regfree(&expression);
    }
    for (int i = 0; i < 20; i++) {
        keys[i] = i * 7 % 20;
        tsearch(&keys[i], &root, order);
    }
    twalk(root, visit);
    for (int i = 0; i < 20; i++)
        tdelete(&keys[i], &root, order);
    char *more = malloc(2000 + turn % 30000), *copy = strdup(text);
    time_t now = (time_t)turn * 100000;
    struct tm broken;
    strftime(text, sizeof(text), "%A %d %B %Y %T", localtime_r(&now, &broken));
    qsort(copy, strlen(copy), 1, (int (*)(const void *, const void *))strcmp);
    free(more);
    free(copy);
}

static uint64_t (*volatile pointer)(uint64_t) = tail;

KEEP static void everything(unsigned turn)
{
    sink += pointer(turn);
    sink += realigned(40 + turn % 500);
    sink += large(turn);
    sink += many(1, turn, 3, 4, 5, 6, 7, 8);
    sink += variadic(3, (uint64_t)1, 2.0, (uint64_t)3, 4.0, (uint64_t)5, 6.0);
    sink += recursion(turn % 40);
    jumps();
    sorts();
    signals();
    library(turn);
}

static double seconds = 1;

static void *rounds(void *data)
{
    struct timespec now = {0, 0};
    for (unsigned turn = 0;
         (double)now.tv_sec + (double)now.tv_nsec / 1e9 < seconds; turn++) {
        if (data == NULL)
            everything(turn);
        else
            library(turn);
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static char alternate[1 << 17];
    struct timespec now;
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
    struct sigaction action = {.sa_handler = handler};
    pthread_t thread;
    clock_gettime(CLOCK_MONOTONIC, &now);
    seconds = (double)now.tv_sec + (double)now.tv_nsec / 1e9 +
              (argc > 1 ? atof(argv[1]) : 1);
    sigaction(SIGUSR1, &action, NULL);
    sigaltstack(&stack, NULL);
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGWINCH, &action, NULL);
    pthread_create(&thread, NULL, rounds, alternate);
    rounds(NULL);
    pthread_join(thread, NULL);
    return 0;
}
