// SPDX-License-Identifier: Apache-2.0
import java.util.Random;

/**
 * usage: Garbage SECONDS
 * Two threads make garbage and keep some of it, so that the collector has work of every kind. Prints
 * "ready" at once.
 */
public final class Garbage extends Thread {
    private static volatile boolean stop;
    private final Object[] kept = new Object[20000];
    private long sum;

    private Garbage(String name) {
        super(name);
    }

    @Override
    public void run() {
        Random random = new Random(5);
        while (!stop) {
            Object[] node = {kept[random.nextInt(kept.length)], new byte[random.nextInt(300)]};
            Object[] older = (Object[]) node[0];
            if (older != null) {
                older[0] = null;
            }
            kept[random.nextInt(kept.length)] = node;
            sum += node.length;
        }
    }

    public static void main(String[] args) throws Exception {
        Garbage one = new Garbage("garbage");
        Garbage two = new Garbage("garbage");
        one.start();
        two.start();
        System.out.println("ready");
        System.out.flush();
        one.join((long) (Double.parseDouble(args[0]) * 1000));
        stop = true;
        one.join();
        two.join();
    }
}
