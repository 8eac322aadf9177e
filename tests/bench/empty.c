/* SPDX-License-Identifier: MIT
 *
 * A shared object that does nothing: what preloading itself costs.
 * Runs in: `make bench`. */
int jp_bench_empty(void);

int jp_bench_empty(void)
{
    return 0;
}
