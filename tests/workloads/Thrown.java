// SPDX-License-Identifier: Apache-2.0
/**
 * usage: Thrown SECONDS
 * Exceptions that compiled code throws through compiled code, in a thread named "thrower": run, outer, middle, inner, which throws every second
 * time; middle passes it on, outer catches it. With a debugger's agent HotSpot deoptimises each of these frames as it is unwound. Prints "ready", and "done" after SECONDS.
 */
public final class Thrown {
    static final class Stop extends RuntimeException {
        Stop() {
            super(null, null, false, false);
        }
    }

    static final Stop STOP = new Stop();
    static int sink;
    static volatile boolean ended;

    static int inner(int n) {
        if ((n & 1) == 0) {
            throw STOP;
        }
        return n + 1;
    }

    static int middle(int n) {
        try {
            return inner(n) + 1;
        } finally {
            sink++;
        }
    }

    static int outer(int n) {
        try {
            return middle(n) + 1;
        } catch (Stop e) {
            return sink;
        }
    }

    static void run() {
        for (int n = 0; !ended; n++) {
            sink += outer(n);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread thread = new Thread(Thrown::run, "thrower");
        thread.start();
        Thread.sleep(700);
        System.out.println("ready");
        Thread.sleep((long) (Double.parseDouble(args[0]) * 1000));
        ended = true;
        thread.join();
        System.out.println("done");
    }
}
