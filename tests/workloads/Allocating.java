// SPDX-License-Identifier: Apache-2.0
import com.sun.management.ThreadMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * usage: Allocating [THREADS [MB]]
 * Each thread allocates MB megabytes (1,000) per second of CPU time, of objects as programs have them, and works
 * with them for the rest. How much work that takes it finds out before it prints "ready"; then "ops N bytes M" (since
 * the start) for every line on standard input. Ends with its input.
 */
public final class Allocating implements Runnable {
    private static final int WARM_UP_MS = 3000;
    private static final int TRIES = 12;
    private static final long TRY_NS = 250_000_000L;

    private static volatile boolean stop;
    private static volatile int spins = 1000;
    static volatile Object sink;
    private static final AtomicLong ops = new AtomicLong();

    private static final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private static final class Node {
        final Node next;
        final long value;

        Node(Node next, long value) {
            this.next = next;
            this.value = value;
        }
    }

    private static Node nodes(int count) {
        Node first = null;
        for (int i = 0; i < count; i++) {
            first = new Node(first, i);
        }
        return first;
    }

    private static List<String> names(int count) {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            names.add("name " + i);
        }
        return names;
    }

    private static long work(int count) {
        long x = count | 1;
        for (int i = 0; i < count; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    /** Some 40 kB, of a hundred objects of 24 bytes to 16 kB. */
    private static long unit() {
        sink = nodes(64);
        sink = names(16);
        sink = new byte[1000];
        sink = new int[4000];
        sink = new byte[16000];
        return work(spins);
    }

    @Override
    public void run() {
        long sum = 0;
        while (!stop) {
            sum += unit();
            ops.incrementAndGet();
        }
        sink = sum;
    }

    /** Bytes per second of CPU time of this thread. */
    private static double rate() {
        long id = Thread.currentThread().getId();
        long bytes = threads.getThreadAllocatedBytes(id);
        long cpu = threads.getCurrentThreadCpuTime();
        long end = cpu + TRY_NS;
        long sum = 0;
        while (threads.getCurrentThreadCpuTime() < end) {
            for (int i = 0; i < 50; i++) {
                sum += unit();
            }
        }
        sink = sum;
        return (threads.getThreadAllocatedBytes(id) - bytes) * 1e9 / (threads.getCurrentThreadCpuTime() - cpu);
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        int count = args.length > 0 ? Integer.parseInt(args[0]) : 1;
        double wanted = (args.length > 1 ? Integer.parseInt(args[1]) : 1000) * 1e6;
        for (int i = 0; i < TRIES; i++) {
            spins = (int) Math.max(1, Math.min(spins * rate() / wanted, 1e7));
        }
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(new Allocating(), "allocating-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        Thread.sleep(WARM_UP_MS);
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) {
            long done = ops.get();
            System.out.println("ops " + done + " spins " + spins);
        }
        stop = true;
    }
}
