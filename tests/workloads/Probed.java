// SPDX-License-Identifier: Apache-2.0
/**
 * usage: Probed TURNS
 * Says "ready", and when a line comes on standard input the thread "probed-worker" runs Probed.run >
 * outer > ask > Runtime.totalMemory TURNS times, which is native and ends in libjvm's JVM_TotalMemory.
 * Says "done", and ends with its input.
 */
public final class Probed implements Runnable {
    static volatile long sink;
    final int turns;

    Probed(int turns) {
        this.turns = turns;
    }

    static long ask() {
        return Runtime.getRuntime().totalMemory() + 1;
    }

    static long outer(int i) {
        return ask() + i;
    }

    /** In which unwind tables can be made. */
    static void pause() {
        try {
            Thread.sleep(500);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void run() {
        for (int i = 0; i < turns; i++) {
            sink += outer(i);
            if (i == 0) {
                pause();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Thread worker = new Thread(new Probed(Integer.parseInt(args[0])), "probed-worker");
        System.out.println("ready");
        System.in.read();
        worker.start();
        worker.join();
        System.out.println("done");
        while (System.in.read() >= 0) {
        }
    }
}
