// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * usage: Generations
 * Sixty threads wait until a line comes on standard input: then they end, after one collection and
 * before the next, and sixty new ones take their place. Prints "ready" when they have. Ends with
 * its input.
 */
public final class Generations {
    static volatile int generation;

    static void waitForTheNext() {
        int own = generation;
        while (own == generation) {
            try {
                Thread.sleep(5);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    static Thread[] start() {
        Thread[] threads = new Thread[60];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(Generations::waitForTheNext, "generation-" + generation);
            threads[i].setDaemon(true);
            threads[i].start();
        }
        return threads;
    }

    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        Thread[] threads = start();
        System.out.println("ready 0");
        while (lines.readLine() != null) {
            System.gc();
            generation++;
            for (Thread thread : threads) {
                thread.join();
            }
            threads = start();
            System.gc();
            System.out.println("ready " + generation);
        }
    }
}
