// SPDX-License-Identifier: Apache-2.0
import java.util.function.LongUnaryOperator;

/**
 * usage: Inlined SECONDS ROUNDS
 * The thread "inlined-worker" goes PATHS ways of small methods, which compilers inline into one another (the test
 * forbids it for leaf0, leaf1, …), each to a leaf of its own, where nearly all of its time goes. When a leaf is first
 * reached it asks the JVM for the way to it. Prints "path N CLASS.METHOD:LINE …" for each, innermost first, then
 * "ready" after ROUNDS: the compilers had their time.
 */
public final class Inlined implements Runnable {
    static final int PATHS = 8;
    static final String[] told = new String[PATHS];
    static volatile long sink;
    static volatile boolean stop;
    static volatile int rounds;

    interface Shape {
        long enter(long x);
    }

    static final class Square implements Shape {
        @Override
        public long enter(long x) {
            return side(x) + 1;
        }

        private long side(long x) {
            return leaf2(x ^ 5);
        }
    }

    static final class Refused extends RuntimeException {
        Refused() {
            super(null, null, false, false);
        }
    }

    static final Shape shape = new Square();
    static final Refused refused = new Refused();
    static final LongUnaryOperator lambda = x -> leaf6(x + 2) * 3;

    static void tell(int path) {
        StringBuilder text = new StringBuilder("path " + path);
        StackTraceElement[] frames = new Throwable().getStackTrace();
        for (int i = 2; i < frames.length; i++) {
            text.append(' ').append(frames[i].getClassName()).append('.').append(frames[i].getMethodName())
                .append(':').append(frames[i].getLineNumber());
        }
        told[path] = text.toString();
    }

    static long burn0(long x, int i) {
        x ^= x << 13;
        x ^= x >>> 7;
        return (x ^ x << 17) + i;
    }

    static long leaf0(long x) {
        if (told[0] == null) {
            tell(0);
        }
        for (int i = 0; i < 10000; i++) {
            x = burn0(x, i);
        }
        return x;
    }

    static long leaf1(long x) {
        if (told[1] == null) {
            tell(1);
        }
        for (int i = 0; i < 10000; i++) {
            x = burn0(x, i);
        }
        return x;
    }

    static long leaf2(long x) {
        if (told[2] == null) {
            tell(2);
        }
        for (int i = 0; i < 10000; i++) {
            x = burn0(x, i);
        }
        return x;
    }

    static long leaf3(long x) {
        if (told[3] == null) {
            tell(3);
        }
        for (int i = 0; i < 10000; i++) {
            x = burn0(x, i);
        }
        return x;
    }

    static long leaf4(long x) {
        if (told[4] == null) {
            tell(4);
        }
        for (int i = 0; i < 10000; i++) {
            x = burn0(x, i);
        }
        return x;
    }

    static long leaf5(long x) {
        if (told[5] == null) {
            tell(5);
        }
        for (int i = 0; i < 10000; i++) {
            x = burn0(x, i);
        }
        return x;
    }

    static long leaf6(long x) {
        if (told[6] == null) {
            tell(6);
        }
        for (int i = 0; i < 10000; i++) {
            x = burn0(x, i);
        }
        return x;
    }

    static long leaf7(long x) {
        if (told[7] == null) {
            tell(7);
        }
        for (int i = 0; i < 10000; i++) {
            x = burn0(x, i);
        }
        return x;
    }

    static long straight(long x) {
        return leaf0(x + 1);
    }

    static long deep1(long x) {
        return deep2(x) + 1;
    }

    static long deep2(long x) {
        long y = x * 3;
        return deep3(y) + y;
    }

    static long deep3(long x) {
        return
            deep4(x - 1);
    }

    static long deep4(long x) {
        x += 7;
        x = deep5(x);
        return x;
    }

    static long deep5(long x) {
        return leaf1(x);
    }

    static long again(int n, long x) {
        if (n == 0) {
            return leaf3(x);
        }
        return again(n - 1, x + n) + 1;
    }

    static long pick(boolean first, long x) {
        if (first) {
            return leaf4(x);
        }
        return leaf5(x);
    }

    static long refuse(long x) {
        if (x != 0) {
            throw refused;
        }
        return x;
    }

    static long caught(long x) {
        try {
            return refuse(x | 1);
        } catch (Refused e) {
            return leaf7(x);
        }
    }

    static long round(long x) {
        x = straight(x);
        x = deep1(x);
        x = shape.enter(x);
        x = again(2, x);
        x = pick(true, x);
        x += 1;
        x = pick(false, x);
        x = lambda.applyAsLong(x);
        return caught(x);
    }

    @Override
    public void run() {
        long x = 88172645463325252L;
        while (!stop) {
            x = round(x);
            rounds++;
        }
        sink = x;
    }

    public static void main(String[] args) throws InterruptedException {
        Thread worker = new Thread(new Inlined(), "inlined-worker");
        worker.start();
        while (rounds < Integer.parseInt(args[1])) {
            Thread.sleep(10);
        }
        for (String way : told) {
            System.out.println(way);
        }
        System.out.println("ready");
        Thread.sleep(1000L * Integer.parseInt(args[0]));
        stop = true;
        worker.join();
    }
}
