// SPDX-License-Identifier: Apache-2.0
/**
 * usage: Named00 SECONDS
 * Burns CPU in Named00.spin00. Tests copy the class file under other numbers, so that every JVM of
 * a crowd has names that no other one has.
 */
public final class Named00 {
    static volatile long sink;

    static void spin00() {
        long x = sink;
        for (int i = 0; i < 100_000; i++) {
            x = x * 6364136223846793005L + i;
        }
        sink = x;
    }

    public static void main(String[] args) throws Exception {
        long until = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        System.out.println("ready");
        System.out.flush();
        while (System.nanoTime() < until) {
            long slice = System.nanoTime() + 20_000_000L;
            while (System.nanoTime() < slice) {
                spin00();
            }
            Thread.sleep(20);
        }
    }
}
