/* SPDX-License-Identifier: MIT
 *
 * A shared object of which there are two, alike but for the size of a frame:
 * the code has the same length, the way to its caller differs.  Built without
 * frame pointers.
 * Runs in: tests. */
#define NOINLINE __attribute__((noinline))

NOINLINE void swap_hold(void (*callback)(void *), void *data);

NOINLINE void swap_hold(void (*callback)(void *), void *data)
{
    volatile char room[ROOM];
    room[0] = 1;
    callback(data);
    room[ROOM - 1] = room[0];
}
