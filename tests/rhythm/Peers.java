// SPDX-License-Identifier: MIT
/* Two functions that get 85 and 15% of the CPU time, in beats:
 *     java Peers SECONDS BEATS_A_SECOND
 * without waits where BEATS_A_SECOND is 0.  Prints the CPU time of each in ms.
 * Runs in: tests. */
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

public class Peers {
    static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    static volatile long sink;

    static long turn(long count) {
        long value = count | 1;
        for (long i = 0; i < count; i++)
            value = value * 6364136223846793005L + 1442695040888963407L;
        return value;
    }

    static void first(int rounds) {
        long sum = 0;
        for (int i = 0; i < 85 * rounds; i++)
            sum += turn(2000 + i);
        sink = sum;
    }

    static void second(int rounds) {
        long sum = 0;
        for (int i = 0; i < 15 * rounds; i++)
            sum += turn(2000 + i);
        sink = sum;
    }

    public static void main(String[] words) throws InterruptedException {
        final double seconds = Double.parseDouble(words[0]);
        final double hertz = Double.parseDouble(words[1]);
        final long distance = hertz > 0 ? (long) (1e9 / hertz) : 0;
        final long end = System.nanoTime() + (long) (seconds * 1e9);
        long next = System.nanoTime();
        long[] used = new long[2];
        while (System.nanoTime() < end) {
            final long begin = threads.getCurrentThreadCpuTime();
            first(40);
            final long middle = threads.getCurrentThreadCpuTime();
            second(40);
            used[0] += middle - begin;
            used[1] += threads.getCurrentThreadCpuTime() - middle;
            next += distance;
            final long left = next - System.nanoTime();
            if (left > 0)
                Thread.sleep(left / 1000000, (int) (left % 1000000));
            else
                next = System.nanoTime();
        }
        System.out.printf("first %.3f%nsecond %.3f%n", used[0] / 1e6,
                          used[1] / 1e6);
    }
}
