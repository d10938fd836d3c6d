// SPDX-License-Identifier: Apache-2.0
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * usage: Shares SECONDS
 * The main thread burns 70, 20 and 10 % of its CPU in seventy, twenty and ten, until it has had so
 * many seconds of CPU. It measures with its own thread CPU clock what it really spent in each, and
 * prints that at the end.
 */
public final class Shares {
    static volatile long sink;

    static long loop(int n) {
        long x = n;
        for (int i = 0; i < n; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    static void seventy() {
        sink += loop(7_000_000);
    }

    static void twenty() {
        sink += loop(2_000_000);
    }

    static void ten() {
        sink += loop(1_000_000);
    }

    public static void main(String[] args) {
        ThreadMXBean bean = ManagementFactory.getThreadMXBean();
        long until = (long) (Double.parseDouble(args[0]) * 1e9);
        long[] spent = new long[3];
        System.out.println("ready");
        while (bean.getCurrentThreadCpuTime() < until) {
            long t0 = bean.getCurrentThreadCpuTime();
            seventy();
            long t1 = bean.getCurrentThreadCpuTime();
            twenty();
            long t2 = bean.getCurrentThreadCpuTime();
            ten();
            long t3 = bean.getCurrentThreadCpuTime();
            spent[0] += t1 - t0;
            spent[1] += t2 - t1;
            spent[2] += t3 - t2;
        }
        System.out.println("spent " + spent[0] + " " + spent[1] + " " + spent[2]);
    }
}
