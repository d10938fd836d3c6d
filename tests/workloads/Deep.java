// SPDX-License-Identifier: Apache-2.0
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntUnaryOperator;
import java.util.zip.CRC32;

/**
 * usage: Deep CHAINS FRAMES [LEAF-US]
 * One thread, "deep", goes down chains of FRAMES method calls in turn, each of which is a class of its own (the
 * same file, loaded anew), and works LEAF-US microseconds (200) at its end: in loops, array copies, checksums,
 * map look-ups. Every second class is a Deep$Even, which -XX:CompileCommand=exclude,Deep$Even::applyAsInt
 * leaves to the interpreter. Prints "ready" once all is warm; ends with its input.
 */
public final class Deep implements Runnable {
    static final int WARM_UP_CALLS = Integer.getInteger("deep.warmup", 20000);

    /** Goes on with what is next; the switch keeps compilers from guessing who that is. */
    public static class Odd implements IntUnaryOperator {
        public IntUnaryOperator next;

        @Override
        public int applyAsInt(int x) { return next.applyAsInt(x + 1) + 1; }
    }

    public static class Even implements IntUnaryOperator {
        public IntUnaryOperator next;

        @Override
        public int applyAsInt(int x) { return next.applyAsInt(x + 2) + 1; }
    }

    /** Loads Odd and Even anew; all else is its parent's. */
    static final class Fresh extends ClassLoader {
        Fresh() { super(Deep.class.getClassLoader()); }

        IntUnaryOperator make(String name, IntUnaryOperator next) throws Exception {
            try (InputStream in = Deep.class.getResourceAsStream("/" + name + ".class")) {
                byte[] bytes = readAll(in);
                Class<?> made = defineClass(name, bytes, 0, bytes.length);
                Object link = made.getDeclaredConstructor().newInstance();
                made.getField("next").set(link, next);
                return (IntUnaryOperator) link;
            }
        }

        static byte[] readAll(InputStream in) throws IOException {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            byte[] buffer = new byte[4096];
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                out.write(buffer, 0, n);
            }
            return out.toByteArray();
        }
    }

    static volatile long sink;
    static volatile boolean stop;
    static volatile long leafNs;
    static final byte[] FROM = new byte[2000], TO = new byte[2000];
    static final Map<Integer, Integer> MAP = new HashMap<>();

    static int busy(int x) {
        int sum = x;
        for (int i = 0; i < 500; i++) {
            sum = sum * 31 + i;
        }
        return sum;
    }

    static long workOnce(int x) {
        CRC32 crc = new CRC32();
        System.arraycopy(FROM, x & 63, TO, 0, 1900);
        crc.update(TO, 0, 1000);
        MAP.merge(x & 255, 1, Integer::sum);
        return crc.getValue() + busy(x);
    }

    static int leaf(int x) {
        long until = System.nanoTime() + leafNs;
        do {
            sink += workOnce(x++);
        } while (System.nanoTime() < until);
        return x;
    }

    private final IntUnaryOperator[] chains;

    Deep(IntUnaryOperator[] chains) { this.chains = chains; }

    @Override
    public void run() {
        while (!stop) {
            for (IntUnaryOperator chain : chains) {
                sink += chain.applyAsInt(1);
            }
        }
    }

    static IntUnaryOperator makeChain(int frames) throws Exception {
        IntUnaryOperator next = Deep::leaf;
        for (int i = 0; i < frames; i++) {
            next = new Fresh().make(i % 2 == 0 ? "Deep$Odd" : "Deep$Even", next);
        }
        return next;
    }

    public static void main(String[] args) throws Exception {
        IntUnaryOperator[] chains = new IntUnaryOperator[Integer.parseInt(args[0])];
        long leafUs = args.length > 2 ? Long.parseLong(args[2]) : 200;
        for (int i = 0; i < chains.length; i++) {
            chains[i] = makeChain(Integer.parseInt(args[1]));
        }
        Thread thread = new Thread(new Deep(chains), "deep");
        thread.setDaemon(true);
        for (int i = 0; i < WARM_UP_CALLS; i++) {
            sink += chains[i % chains.length].applyAsInt(1);
        }
        leafNs = leafUs * 1000;
        thread.start();
        Thread.sleep(1500);
        System.out.println("ready");
        while (System.in.read() >= 0) {
            continue;
        }
        stop = true;
    }
}
