/* SPDX-License-Identifier: MIT
 *
 * Numbers of several distributions, from 64 random bits.
 * Runs in: handler. */
#include "random.h"

/* splitmix64's finalizer, by the name that it has in the literature. */
uint64_t jp_random_hash_sig(uint64_t value)
{
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ value >> 27) * 0x94d049bb133111ebULL;
    return value ^ value >> 31;
}

/* -ln of a random u = m / 2^32 with 0 < m <= 2^32, by the series ln f = 2 (s +
 * s^3/3 + s^5/5 + ...) with s = (f - 1) / (f + 1), in 2^-16ths: the error is
 * below 2e-4. */
uint64_t jp_random_exponential_sig(uint64_t random, uint64_t mean)
{
    const uint64_t ln2 = 45426, one = 1 << 16;
    const uint64_t m = (jp_random_below_sig(random, UINT64_MAX) >> 32) + 1;
    const unsigned top = 63 - (unsigned)__builtin_clzll(m);
    /* u = f / 2^(32 - top), with f from 1 to 2 */
    const uint64_t f = (m << 16) >> top;
    const uint64_t s = ((f - one) << 16) / (f + one);
    const uint64_t cube = s * s * s >> 32;
    const uint64_t fifth = cube * s * s >> 32;
    const uint64_t ln = 2 * (s + cube / 3 + fifth / 5);
    const uint64_t result =
        ((32 - top) * ln2 > ln ? (32 - top) * ln2 - ln : 0) * mean >> 16;
    return result > 0 ? result : 1;
}
