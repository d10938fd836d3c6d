// SPDX-License-Identifier: Apache-2.0
/**
 * usage: AllocMix THREADS MEGABYTES
 * Each thread allocates MEGABYTES of objects of six sizes in random order, once a line has come on standard
 * input: the classes have the same share of the bytes, the largest half of it. Prints "ready", and for each class
 * "CLASS SIZE COUNT" at the end.
 */
public final class AllocMix implements Runnable {
    /** 24 bytes: a header of 12, an int, a long. */
    static final class Small {
        int a;
        long b;
    }

    static final String[] NAMES = {"AllocMix$Small", "long[]", "int[]", "java.lang.String[]", "byte[]", "double[]"};
    /** With class pointers compressed, as in heaps below 32 GB. */
    static final int[] SIZES = {24, 104, 1016, 10016, 65552, 2000016};
    static final double[] SHARES = {1, 1, 1, 1, 1, 0.5};
    static final int SCALE_BITS = 52;

    static volatile Object sink;
    static volatile boolean begun;

    final long[] counts = new long[SIZES.length];
    final long[] limits = new long[SIZES.length];
    final long bytes;
    long seed;

    AllocMix(long seed, long bytes) {
        this.seed = seed;
        this.bytes = bytes;
        double sum = 0;
        for (int i = 0; i < SIZES.length; i++) {
            sum += SHARES[i] / SIZES[i];
        }
        double at = 0;
        for (int i = 0; i < SIZES.length; i++) {
            at += SHARES[i] / SIZES[i] / sum;
            limits[i] = (long) (at * (1L << SCALE_BITS));
        }
        limits[SIZES.length - 1] = 1L << SCALE_BITS;
    }

    static Object make(int kind) {
        switch (kind) {
        case 0: return new Small();
        case 1: return new long[11];
        case 2: return new int[250];
        case 3: return new String[2500];
        case 4: return new byte[65536];
        default: return new double[250000];
        }
    }

    /** By xorshift64*. */
    int choose() {
        int kind = 0;

        seed ^= seed << 13;
        seed ^= seed >>> 7;
        seed ^= seed << 17;
        long at = seed * 0x2545F4914F6CDD1DL >>> 64 - SCALE_BITS;
        while (at >= limits[kind]) {
            kind++;
        }
        return kind;
    }

    @Override
    public void run() {
        long done = 0;

        while (!begun) {
            Thread.yield();
        }
        while (done < bytes) {
            int kind = choose();

            sink = make(kind);
            counts[kind]++;
            done += SIZES[kind];
        }
    }

    public static void main(String[] args) throws Exception {
        AllocMix[] mixes = new AllocMix[Integer.parseInt(args[0])];
        Thread[] threads = new Thread[mixes.length];

        for (int i = 0; i < mixes.length; i++) {
            mixes[i] = new AllocMix(88172645463325252L + 7919 * i, Long.parseLong(args[1]) << 20);
            threads[i] = new Thread(mixes[i], "mixes-" + i);
            threads[i].start();
        }
        System.out.println("ready");
        System.in.read();
        begun = true;
        for (Thread thread : threads) {
            thread.join();
        }
        for (int kind = 0; kind < SIZES.length; kind++) {
            long count = 0;

            for (AllocMix mix : mixes) {
                count += mix.counts[kind];
            }
            System.out.println(NAMES[kind] + " " + SIZES[kind] + " " + count);
        }
        System.out.println("done");
        System.in.read();
    }
}
