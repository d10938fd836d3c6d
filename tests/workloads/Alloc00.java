// SPDX-License-Identifier: Apache-2.0
/**
 * usage: Alloc00 SECONDS
 * Allocates 100 MB a second of Alloc00 in Alloc00.make00, from another thread for each half. Tests copy the
 * class file under other numbers, so that every JVM of a crowd allocates a class that no other one has.
 */
public final class Alloc00 implements Runnable {
    private static final int BYTES = 112;
    private static final int THREADS = 2;
    private static final int SLICES = 50;
    private static final int PER_SLICE = 100_000_000 / SLICES / THREADS / BYTES;

    static volatile Alloc00 sink;

    // with its header of 12 or 16 bytes 112, whether references are compressed or not
    long a, b, c, d, e, f, g, h, i, j, k, l;

    private static void make00() {
        for (int n = 0; n < PER_SLICE; n++) {
            sink = new Alloc00();
        }
    }

    @Override
    public void run() {
        long next = System.nanoTime();
        try {
            while (true) {
                make00();
                next += 1_000_000_000L / SLICES;
                long rest = (next - System.nanoTime()) / 1_000_000;
                if (rest > 0) {
                    Thread.sleep(rest);
                }
            }
        } catch (InterruptedException gone) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        for (int n = 0; n < THREADS; n++) {
            Thread thread = new Thread(new Alloc00(), "maker-" + n);
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("ready");
        System.out.flush();
        Thread.sleep((long) (Double.parseDouble(args[0]) * 1000));
    }
}
