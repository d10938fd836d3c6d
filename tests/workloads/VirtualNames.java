// SPDX-License-Identifier: Apache-2.0
import java.lang.reflect.Method;

/**
 * usage: VirtualNames SECONDS [moves]
 * Virtual threads that come and go (JDK 21 and later). Each runs a chain of 40 calls of zero() and one(), outermost first,
 * whose names are the bits of its own number, down to even() or odd(). Of three threads two have a name, PREFIX, the number and "-even" or
 * "-odd", of which they change the end as they enter such a chain; the third one has none. They give their carrier away and go to sleep in the last call, and on their way
 * back. Prints "ready" when they run, and "done" after SECONDS. With "moves" there are many strings like their names, and collections that compact the heap.
 */
public final class VirtualNames implements Runnable {
    static final String PREFIX = "a-request-whose-name-is-longer-than-the-kernel-has-room-for-";
    static final int DEPTH = 40;
    static final int AT_ONCE = 6;
    static final int ROUNDS = 6;
    static volatile long sink;
    static volatile boolean ended;

    static void spin(int microseconds) {
        long until = System.nanoTime() + microseconds * 1000L;
        long sum = 0;
        while (System.nanoTime() < until) {
            for (int i = 0; i < 200; i++) {
                sum += sum ^ i;
            }
        }
        sink += sum;
    }

    static void pause(int milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static int work() {
        for (int i = 0; i < 3; i++) {
            spin(2000);
            Thread.yield();
            spin(1000);
            pause(1);
        }
        return 1;
    }

    static int even() {
        return work() + 1;
    }

    static int odd() {
        return work() + 2;
    }

    static int next(int level, long code, int round) {
        if (level == DEPTH) {
            return round % 2 == 0 ? even() : odd();
        }
        return (code >> level & 1) == 0 ? zero(level, code, round) : one(level, code, round);
    }

    /** On the way back its callers' frames are still in the heap. */
    static void back(int level) {
        if (level % 8 == 5) {
            Thread.yield();
            spin(100);
        }
    }

    static int zero(int level, long code, int round) {
        int sum = next(level + 1, code, round);
        back(level);
        return sum + 1;
    }

    static int one(int level, long code, int round) {
        int sum = next(level + 1, code, round);
        back(level);
        return sum + 2;
    }

    static boolean hasName(long id) {
        return id % 3 != 0;
    }

    @Override
    public void run() {
        Thread self = Thread.currentThread();
        long id = self.getId();
        for (int round = 0; round < ROUNDS && !ended; round++) {
            if (hasName(id)) {
                self.setName(PREFIX + id + (round % 2 == 0 ? "-even" : "-odd"));
            }
            sink += next(0, id, round);
        }
        if (!ended) {
            start();
        }
    }

    static void start() {
        try {
            Method method = Thread.class.getMethod("startVirtualThread", Runnable.class);
            method.invoke(null, new VirtualNames());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static void moves() {
        String[] strings = new String[40_000];
        for (int round = 0; !ended; round++) {
            for (int i = round % 3; i < strings.length; i += 3) {
                strings[i] = PREFIX + i % 100 + "-wrong";
            }
            System.gc();
            pause(20);
        }
    }

    public static void main(String[] args) {
        for (int i = 0; i < AT_ONCE; i++) {
            start();
        }
        if (args.length > 1) {
            Thread mover = new Thread(VirtualNames::moves, "moves");
            mover.setDaemon(true);
            mover.start();
        }
        pause(300);
        System.out.println("ready");
        pause((int) (Double.parseDouble(args[0]) * 1000));
        ended = true;
        System.out.println("done");
        pause(3_600_000);
    }
}
