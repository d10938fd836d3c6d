// SPDX-License-Identifier: Apache-2.0
/**
 * usage: Idle SECONDS
 * Does next to nothing and says so ten times a second, so that a test sees whether it lives.
 */
public final class Idle {
    public static void main(String[] args) throws Exception {
        long until = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        System.out.println("ready");
        for (int i = 0; System.nanoTime() < until; i++) {
            System.out.println("tick " + i);
            System.out.flush();
            Thread.sleep(100);
        }
    }
}
