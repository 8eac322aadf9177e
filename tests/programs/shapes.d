// SPDX-License-Identifier: MIT
// A template's method, a virtual one and a plain function that compute.
// Runs in: tests.
module shapes;
import std.stdio;

struct Matrix(T)
{
    T[] cells;

    pragma(inline, false) T sum()
    {
        T all = 0;

        foreach (i; 0 .. cells.length)
            all += cells[i] * (i & 7);
        return all;
    }
}

class Shape
{
    abstract double area(int steps);
}

class Circle : Shape
{
    double radius = 2;

    pragma(inline, false) override double area(int steps)
    {
        double all = 0;

        foreach (i; 0 .. steps)
            all += radius * radius / (i + 1);
        return all;
    }
}

pragma(inline, false) ulong spin(ulong turns)
{
    ulong x = 1;

    foreach (i; 0 .. turns)
        x = x * 6364136223846793005UL + i;
    return x;
}

void main()
{
    auto matrix = Matrix!double(new double[100_000]);
    Shape circle = new Circle;
    double all = 0;
    ulong bits;

    matrix.cells[] = 1.0;
    foreach (turn; 0 .. 400)
    {
        all += matrix.sum() + circle.area(100_000);
        bits += spin(100_000);
    }
    writeln(all > 0, " ", bits & 1);
}
