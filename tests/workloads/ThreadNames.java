// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;

/**
 * usage: ThreadNames SECONDS [moves]
 * Threads whose names tell them apart only behind what the kernel has room for. Each runs a method that says what its name
 * is: steady0() to steady3(); selfEven() and selfOdd(), between which a thread renames itself; othersEven() and othersOdd(),
 * which another one tells it to change to just after it has renamed it; brief() of threads that live for some milliseconds, whose tids
 * and names are printed ("brief TID NAME"). Prints "ready" when all of them run,
 * and "done" after SECONDS. With "moves" there are many strings of the same length, and collections that compact the heap all the time.
 */
public final class ThreadNames {
    static final String COMMON = "a-common-prefix-that-is-longer-than-the-kernel-has-room-for-";
    static volatile long sink;
    static volatile boolean odd;

    static void spin(int milliseconds) {
        long until = System.nanoTime() + milliseconds * 1_000_000L;
        long sum = 0;
        while (System.nanoTime() < until) {
            for (int i = 0; i < 1000; i++) {
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

    static void steady0() {
        spin(4);
    }

    static void steady1() {
        spin(4);
    }

    static void steady2() {
        spin(4);
    }

    static void steady3() {
        spin(4);
    }

    static void steady(int which) {
        while (true) {
            switch (which) {
                case 0: steady0(); break;
                case 1: steady1(); break;
                case 2: steady2(); break;
                default: steady3(); break;
            }
            pause(20);
        }
    }

    static void selfEven() {
        spin(120);
    }

    static void selfOdd() {
        spin(120);
    }

    static void renamesItself() {
        while (true) {
            Thread.currentThread().setName(COMMON + "self-even");
            selfEven();
            Thread.currentThread().setName(COMMON + "self-odd");
            selfOdd();
            pause(20);
        }
    }

    static void othersEven() {
        spin(4);
    }

    static void othersOdd() {
        spin(4);
    }

    static void isRenamed() {
        while (true) {
            if (odd) {
                othersOdd();
            } else {
                othersEven();
            }
            pause(4);
        }
    }

    static void brief() {
        spin(12);
        pause(20);
        spin(12);
    }

    static void tell() {
        try {
            String tid = Files.readSymbolicLink(Paths.get("/proc/thread-self")).getFileName().toString();
            System.out.println("brief " + tid + " " + Thread.currentThread().getName());
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        brief();
    }

    static void moves() {
        String[] strings = new String[40_000];
        for (int round = 0;; round++) {
            for (int i = round % 3; i < strings.length; i += 3) {
                strings[i] = COMMON + "wrong-" + i % 10;
            }
            System.gc();
            pause(20);
        }
    }

    static Thread start(String name, Runnable work) {
        Thread thread = new Thread(work, COMMON + name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    public static void main(String[] args) {
        for (int i = 0; i < 4; i++) {
            int which = i;
            start("steady-" + i, () -> steady(which));
        }
        start("self-even", ThreadNames::renamesItself);
        Thread renamed = start("others-even", ThreadNames::isRenamed);
        if (args.length > 1) {
            start("moves", ThreadNames::moves);
        }
        System.out.println("ready");
        long until = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        for (int i = 1; System.nanoTime() < until; i++) {
            start("brief-" + i, ThreadNames::tell);
            pause(100);
            if (i % 20 == 0) {
                renamed.setName(COMMON + (odd ? "others-even" : "others-odd"));
                odd = !odd;
            }
        }
        System.out.println("done");
        pause(3_600_000);
    }
}
