// SPDX-License-Identifier: Apache-2.0
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.function.LongUnaryOperator;

/**
 * usage: Churn SECONDS
 * Keeps an agent busy: every round loads the same class through a new class loader, lets a new
 * thread "churn-thread-with-a-long-name-N" run it until it is compiled, and drops all of it. Prints
 * "ready" after the first round and "rounds N" at its end.
 */
public final class Churn {
    static volatile long sink;

    static LongUnaryOperator fresh(URL[] path) throws Exception {
        ClassLoader loader = new URLClassLoader(path, null);
        return (LongUnaryOperator) Class.forName("EpochBody", true, loader)
                .getDeclaredConstructor().newInstance();
    }

    static void round(URL[] path, int n) throws Exception {
        LongUnaryOperator body = fresh(path);
        Thread thread = new Thread(() -> {
            for (int i = 0; i < 300; i++) {
                sink = body.applyAsLong(sink);
            }
        }, "churn-thread-with-a-long-name-" + n);
        thread.start();
        thread.join();
    }

    public static void main(String[] args) throws Exception {
        String home = Churn.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        URL[] path = { new File(home).toURI().toURL() };
        long until = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        int n = 0;
        do {
            round(path, n);
            if (n++ == 0) {
                System.out.println("ready");
            }
            if (n % 5 == 0) {
                System.gc();
            }
        } while (System.nanoTime() < until);
        System.out.println("rounds " + n);
    }
}
