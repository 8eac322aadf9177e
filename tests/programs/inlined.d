// SPDX-License-Identifier: MIT
// Functions that are inlined into one another, three deep.  Runs in: tests.
module inlined;

pragma(inline, true) uint innermost(uint x)
{
    uint sum = x;
    foreach (i; 0 .. 50)
        sum += (x ^ i) * 2654435761U >> 5;
    return sum;
}
pragma(inline, true) uint middle(uint x)
{
    return innermost(x) + innermost(x + 7);
}
pragma(inline, true) uint outermost(uint x)
{
    return middle(x) ^ middle(x >> 3);
}
extern (C) uint turn(uint from, uint to)
{
    uint sum = 0;
    foreach (x; from .. to)
        sum += outermost(x);
    return sum;
}
