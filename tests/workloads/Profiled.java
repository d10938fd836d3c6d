// SPDX-License-Identifier: Apache-2.0
import java.util.function.LongUnaryOperator;

/**
 * usage: Profiled SECONDS
 * What a profiler's command line is tried on. The thread "hot-worker" runs Thread.run >
 * Profiled$Hot.run > LOOP, where it burns three quarters of its rounds in Profiled$Hot.heavy and one
 * quarter in light, which it calls through a lambda. The main thread allocates byte[] of 1,000 and
 * String in Profiled.fill, a few megabytes each second, and keeps every tenth array of the last
 * thousand. Prints "ready" when it runs.
 */
public final class Profiled {
    static volatile long sink;
    static volatile boolean stop;
    static final byte[][] KEPT = new byte[1000][];

    static final class Hot implements Runnable {
        static long loop(int n) {
            long x = n;
            for (int i = 0; i < n; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
            return x;
        }

        static long heavy(int rounds) {
            return loop(3 * rounds);
        }

        static long light(long rounds) {
            return loop((int) rounds);
        }

        @Override
        public void run() {
            LongUnaryOperator throughLambda = n -> light(n);
            while (!stop) {
                sink += heavy(200_000);
                sink += throughLambda.applyAsLong(200_000);
            }
        }
    }

    static void fill(int round) {
        for (int i = 0; i < 1000; i++) {
            byte[] made = new byte[1000];
            if (i % 10 == 0) {
                KEPT[i] = made;
            }
            sink += new String(new char[] {(char) i, (char) round}).length();
        }
    }

    public static void main(String[] args) throws Exception {
        Thread hot = new Thread(new Hot(), "hot-worker");
        long until = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        hot.start();
        System.out.println("ready");
        System.out.flush();
        for (int round = 0; System.nanoTime() < until; round++) {
            fill(round);
            Thread.sleep(10);
        }
        stop = true;
        hot.join();
    }
}
