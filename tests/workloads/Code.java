// SPDX-License-Identifier: Apache-2.0
/**
 * usage: Code
 * Makes all kinds of code blobs: interpreted, C1 and C2 methods, OSR, vtable and itable stubs, native
 * wrappers, a deoptimised method. Says "ready", then waits for a line; starts a virtual thread (where
 * there are some), says "virtual", and waits for another line.
 */
public final class Code {
    interface Shape {
        int area(int x);
    }

    static class Square implements Shape {
        public int area(int x) {
            return x * x;
        }
    }

    static final class Half extends Square {
        @Override
        public int area(int x) {
            return x * x / 2;
        }
    }

    static final class Strip implements Shape {
        public int area(int x) {
            return x;
        }
    }

    static final class Ring implements Shape {
        public int area(int x) {
            return 3 * x;
        }
    }

    static int sum(Shape[] shapes, int rounds) {
        int sum = 0;
        for (int i = 0; i < rounds; i++) {
            sum += shapes[i % shapes.length].area(i) + Math.abs((int) (Math.sin(i) * 10));
        }
        return sum;
    }

    static long work() {
        Shape[] one = {new Square()};
        Shape[] all = {new Square(), new Half(), new Strip(), new Ring()};
        long sum = 0;
        for (int i = 0; i < 40; i++) {
            sum += sum(one, 10000);
        }
        for (int i = 0; i < 40; i++) {
            sum += sum(all, 10000);
            sum += new String(new char[100 + i]).hashCode() ^ Thread.currentThread().hashCode();
        }
        return sum;
    }

    private static void startVirtual() throws Exception {
        Runnable nap = new Runnable() {
            public void run() {
                try {
                    Thread.sleep(20);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        };
        try {
            Thread thread = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
                .invoke(null, nap);
            thread.join();
        } catch (NoSuchMethodException e) {
            /* Before JDK 21. */
        }
    }

    public static void main(String[] args) throws Exception {
        System.out.println(work());
        System.out.println("ready");
        System.in.read();
        startVirtual();
        System.out.println("virtual");
        System.in.read();
    }
}
