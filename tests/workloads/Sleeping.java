// SPDX-License-Identifier: Apache-2.0
/**
 * usage: Sleeping TIMES
 * Says "ready", and when a line comes on standard input a thread sleeps TIMES times for a millisecond, in Sleeping.run > outer >
 * Thread.sleep. Says "done", and ends with its input.
 */
public final class Sleeping extends Thread {
    private final int times;

    Sleeping(int times) {
        this.times = times;
    }

    @Override
    public void run() {
        for (int i = 0; i < times; i++) {
            outer();
        }
    }

    static void outer() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        System.out.println("ready");
        System.in.read();
        Thread.sleep(300); // in which hostprof learns of the threads' code
        Sleeping thread = new Sleeping(Integer.parseInt(args[0]));
        thread.start();
        thread.join();
        System.out.println("done");
        while (System.in.read() >= 0) {
        }
    }
}
