// SPDX-License-Identifier: Apache-2.0
/**
 * usage: Chain SECONDS [with-file [late]]
 * The thread "chain-worker" runs Thread.run > Chain.run > first > second > third > burn for the
 * whole time; mix and step are small enough that every compiler inlines them into burn. The thread
 * "file-worker" reads /dev/zero below Chain.readFile. "late-worker" begins when a line comes on
 * standard input and does the same work in lateBurn > lateStep > lateMix, which are compiled only
 * then. Prints "ready" when it runs, and the number of rounds at the end.
 */
public final class Chain implements Runnable {
    static volatile long sink;
    static volatile boolean stop;
    static long rounds;

    static long mix(long x) {
        x ^= x << 13;
        x ^= x >>> 7;
        return x ^ x << 17;
    }

    static long step(long x, int i) {
        return mix(x + i) * 31;
    }

    static long burn(long seed) {
        long x = seed;
        for (int i = 0; i < 20000; i++) {
            x = step(x, i);
        }
        return x;
    }

    static long third(long seed) {
        long sum = 0;
        for (int i = 0; i < 10; i++) {
            sum += burn(seed + i);
        }
        return sum;
    }

    static long second(long seed) {
        return third(seed) + 1;
    }

    static long first(long seed) {
        return second(seed) + 1;
    }

    static long lateMix(long x) {
        x ^= x << 13;
        x ^= x >>> 7;
        return x ^ x << 17;
    }

    static long lateStep(long x, int i) {
        return lateMix(x + i) * 31;
    }

    static long lateBurn(long seed) {
        long x = seed;
        for (int i = 0; i < 20000; i++) {
            x = lateStep(x, i);
        }
        return x;
    }

    static void late() {
        while (!stop) {
            sink += lateBurn(rounds);
        }
    }

    static void lateWhenAsked() {
        try {
            if (System.in.read() >= 0) {
                late();
            }
        } catch (java.io.IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void run() {
        while (!stop) {
            sink += first(rounds++);
        }
    }

    static void readFile() {
        byte[] buffer = new byte[65536];
        try (java.io.FileInputStream in = new java.io.FileInputStream("/dev/zero")) {
            while (!stop) {
                sink += in.read(buffer);
            }
        } catch (java.io.IOException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        Thread worker = new Thread(new Chain(), "chain-worker");
        Thread reader = new Thread(new Runnable() {
            @Override
            public void run() {
                readFile();
            }
        }, "file-worker");
        worker.start();
        if (args.length > 1) {
            reader.start();
        }
        if (args.length > 2) {
            Thread late = new Thread(new Runnable() {
                @Override
                public void run() {
                    lateWhenAsked();
                }
            }, "late-worker");
            late.setDaemon(true);
            late.start();
        }
        System.out.println("ready");
        System.out.flush();
        Thread.sleep((long) (Double.parseDouble(args[0]) * 1000));
        stop = true;
        worker.join();
        System.out.println("rounds " + rounds);
    }
}
