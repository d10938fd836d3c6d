// SPDX-License-Identifier: Apache-2.0
import java.net.URL;
import java.net.URLClassLoader;

/**
 * usage: Crowd00 MILLISECONDS
 * For so long main, run, a, b, c, leaf call each other and compute, each a part; every 250 ms in a class that is loaded anew and the
 * one before dropped, so that code comes and goes. Tests copy the class file under other numbers, so that every JVM of a crowd has names of its own.
 */
public final class Crowd00 implements Runnable {
    private static final long EPOCH_NS = 250_000_000;
    private static final int TURNS = 2000;

    static volatile long sink;

    private static long burn(long x) {
        for (int i = 0; i < TURNS; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        return x;
    }

    private static long leaf(long x) {
        return burn(x) ^ x;
    }

    private static long c(long x) {
        return leaf(burn(x)) + 1;
    }

    private static long b(long x) {
        return c(burn(x)) + 2;
    }

    private static long a(long x) {
        return b(burn(x)) + 3;
    }

    @Override
    public void run() {
        long end = System.nanoTime() + EPOCH_NS;
        while (System.nanoTime() < end) {
            sink += a(sink);
        }
    }

    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        URL[] here = { Crowd00.class.getProtectionDomain().getCodeSource().getLocation() };
        while (System.nanoTime() < end) {
            try (URLClassLoader loader = new URLClassLoader(here, null)) {
                ((Runnable) loader.loadClass(Crowd00.class.getName()).getDeclaredConstructor().newInstance()).run();
            }
            System.gc();
        }
    }
}
