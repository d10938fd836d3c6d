// SPDX-License-Identifier: Apache-2.0
/**
 * usage: Allocations MEGABYTES [SECONDS]
 * Each thread allocates objects of one class, MEGABYTES in all, once a line has come on standard input; with
 * SECONDS all go on for so long instead. Thread.run > Allocations.run > Allocations.work > the
 * site's method > a method that is small enough to be inlined into it, which has the `new`. Prints "ready",
 * and for each class "CLASS SIZE COUNT" at the end.
 */
public final class Allocations implements Runnable {
    /** 24 bytes: a header of 12, an int, a long. */
    static final class Small {
        int a;
        long b;
    }

    static final String TEXT = "text";
    static volatile Object sink;
    static volatile boolean begun;
    static long deadline;

    final int site;
    final int size;
    final String name;
    long count;

    Allocations(int site, int size, String name) {
        this.site = site;
        this.size = size;
        this.name = name;
    }

    static Object newSmall() {
        return new Small();
    }

    static Object newText() {
        return new String(TEXT);
    }

    static Object newBytes(int length) {
        return new byte[length];
    }

    static Object newTexts(int length) {
        return new String[length];
    }

    static Object newLongs(int length) {
        return new long[length];
    }

    static void small(long n) {
        for (long i = 0; i < n; i++) {
            sink = newSmall();
        }
    }

    static void text(long n) {
        for (long i = 0; i < n; i++) {
            sink = newText();
        }
    }

    static void bytes(long n) {
        for (long i = 0; i < n; i++) {
            sink = newBytes(1000);
        }
    }

    static void texts(long n) {
        for (long i = 0; i < n; i++) {
            sink = newTexts(100);
        }
    }

    static void longs(long n) {
        for (long i = 0; i < n; i++) {
            sink = newLongs((2 << 20) / 8 - 2);
        }
    }

    void work(long n) {
        switch (site) {
        case 0: small(n); break;
        case 1: text(n); break;
        case 2: bytes(n); break;
        case 3: texts(n); break;
        default: longs(n); break;
        }
    }

    @Override
    public void run() {
        long all = count;
        long part = Math.max(1, all / 100);

        while (!begun) {
            Thread.yield();
        }
        count = 0;
        while (deadline > 0 ? System.nanoTime() < deadline : count < all) {
            long n = deadline > 0 ? part : Math.min(part, all - count);

            work(n);
            count += n;
        }
    }

    public static void main(String[] args) throws Exception {
        long megabytes = Long.parseLong(args[0]);
        Allocations[] sites = {
            new Allocations(0, 24, "Allocations$Small"), new Allocations(1, 24, "java.lang.String"),
            new Allocations(2, 1016, "byte[]"), new Allocations(3, 416, "java.lang.String[]"),
            new Allocations(4, 2 << 20, "long[]"),
        };
        Thread[] threads = new Thread[sites.length];

        for (int i = 0; i < sites.length; i++) {
            sites[i].count = Math.max(1, (megabytes << 20) / sites[i].size);
            threads[i] = new Thread(sites[i], "allocates-" + i);
            threads[i].start();
        }
        System.out.println("ready");
        System.in.read();
        if (args.length > 1) {
            deadline = System.nanoTime() + Long.parseLong(args[1]) * 1000000000L;
        }
        begun = true;
        for (int i = 0; i < sites.length; i++) {
            threads[i].join();
            System.out.println(sites[i].name + " " + sites[i].size + " " + sites[i].count);
        }
        System.out.println("done");
        System.in.read();
    }
}
