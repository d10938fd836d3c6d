// SPDX-License-Identifier: Apache-2.0
import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * usage: Bench [THREADS [DEPTH]]
 * CPU-bound work below DEPTH recursive calls in every thread. Prints "ready" after warming up, then
 * "ops N cpu_ns M" (both since the start) for every line on standard input; ends with its input.
 */
public final class Bench implements Runnable {
    private static final int WARM_UP_MS = 4000;
    private static final int KEYS = 512;

    private static volatile boolean stop;
    static volatile long sink;
    private static final AtomicLong ops = new AtomicLong();

    private final int depth;

    private Bench(int depth) {
        this.depth = depth;
    }

    private static int mix(int x) {
        x ^= x << 13;
        x ^= x >>> 17;
        return x ^ x << 5;
    }

    /** Allocates, hashes, compares strings: what ordinary code spends its time with. */
    private static long unit(Map<String, Integer> map, int seed) {
        long sum = 0;
        int x = seed | 1;
        for (int i = 0; i < KEYS; i++) {
            x = mix(x);
            String key = Integer.toString(x & 4 * KEYS - 1);
            Integer old = map.get(key);
            map.put(key, old == null ? i : old + 1);
            sum += key.length();
        }
        return sum;
    }

    private long descend(int level, Map<String, Integer> map) {
        if (level > 0) {
            return descend(level - 1, map) + 1;
        }
        long sum = 0;
        for (int i = 0; i < 100 && !stop; i++) {
            sum += unit(map, i);
            ops.incrementAndGet();
        }
        return sum;
    }

    @Override
    public void run() {
        Map<String, Integer> map = new HashMap<>();
        while (!stop) {
            sink += descend(depth, map);
        }
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        int threads = args.length > 0 ? Integer.parseInt(args[0]) : 1;
        int depth = args.length > 1 ? Integer.parseInt(args[1]) : 60;
        OperatingSystemMXBean system =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(new Bench(depth), "bench-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        Thread.sleep(WARM_UP_MS);
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) {
            System.out.println("ops " + ops.get() + " cpu_ns " + system.getProcessCpuTime());
        }
        stop = true;
    }
}
