// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;

/**
 * usage: NamedThreads SECONDS
 * Threads with names that the kernel has no room for, among them some of other alphabets, one without a name and one that
 * another thread renames all the time, while objects are made and collected. Prints "ready" when all of them run.
 */
public final class NamedThreads {
    static final String[] NAMES = {
        "a-thread-with-quite-a-long-name-1", "a-thread-with-quite-a-long-name-2", "\u00fcn\u00efc\u00f6de-thread-\u00e4",
        "\u65e5\u672c\u8a9e\u306e\u30b9\u30ec\u30c3\u30c9\u540d-\ud83d\ude00", "short", "",
    };
    static volatile Object sink;

    static void idle() {
        try {
            Thread.sleep(3_600_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static Thread start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    static void churn() {
        List<byte[]> kept = new ArrayList<>();
        for (int i = 0;; i++) {
            kept.add(new byte[4096]);
            if (kept.size() > 2000) {
                kept.clear();
            }
            sink = new Object[100];
            if (i % 20000 == 0) {
                System.gc();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        for (String name : NAMES) {
            start(name, NamedThreads::idle);
        }
        Thread renamed = start("renamed-by-others", NamedThreads::idle);
        start("one-that-makes-garbage", NamedThreads::churn);
        System.out.println("ready");
        long until = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        for (int i = 0; System.nanoTime() < until; i++) {
            renamed.setName("renamed-by-others-now-it-is-" + (i % 2 == 0 ? "even" : "odd"));
            Thread.sleep(1);
        }
    }
}
