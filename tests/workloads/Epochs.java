// SPDX-License-Identifier: Apache-2.0
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.function.LongUnaryOperator;

/**
 * usage: Epochs SECONDS
 * Every 250 ms a new hidden class Epoch_NNN (JDK 15+) does the burning and the one before becomes
 * garbage, so that its code is unloaded and its addresses are used again. Prints "epoch K FROM TO"
 * in System.nanoTime(), which is CLOCK_MONOTONIC.
 */
public final class Epochs {
    static volatile long sink;

    static byte[] template() throws Exception {
        try (InputStream in = Epochs.class.getResourceAsStream("EpochBody.class")) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            byte[] buffer = new byte[4096];
            for (int n; (n = in.read(buffer)) > 0;) {
                out.write(buffer, 0, n);
            }
            return out.toByteArray();
        }
    }

    /** The template under another name of the same length. */
    static byte[] renamed(byte[] template, String name) {
        byte[] from = "EpochBody".getBytes(StandardCharsets.US_ASCII);
        byte[] to = name.getBytes(StandardCharsets.US_ASCII);
        byte[] out = template.clone();
        for (int i = 0; i + from.length <= out.length; i++) {
            boolean same = true;
            for (int j = 0; j < from.length && same; j++) {
                same = template[i + j] == from[j];
            }
            if (same) {
                System.arraycopy(to, 0, out, i, to.length);
            }
        }
        return out;
    }

    static LongUnaryOperator define(byte[] bytes) throws Exception {
        Class<?> option = Class.forName("java.lang.invoke.MethodHandles$Lookup$ClassOption");
        Method define = MethodHandles.Lookup.class.getMethod("defineHiddenClass", byte[].class,
                boolean.class, Array.newInstance(option, 0).getClass());
        MethodHandles.Lookup lookup = (MethodHandles.Lookup) define.invoke(
                MethodHandles.lookup(), bytes, true, Array.newInstance(option, 0));
        return (LongUnaryOperator) lookup.lookupClass().getDeclaredConstructor().newInstance();
    }

    static void epoch(byte[] template, int k) throws Exception {
        byte[] renamed = renamed(template, String.format("Epoch_%03d", k % 1000));
        long from = System.nanoTime();
        LongUnaryOperator body = define(renamed); /* runs its constructor */
        long now = from;
        while (now - from < 240_000_000L) {
            sink = body.applyAsLong(sink);
            now = System.nanoTime();
        }
        System.out.println("epoch " + k + " " + from + " " + System.nanoTime());
    }

    public static void main(String[] args) throws Exception {
        byte[] template = template();
        long until = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        System.out.println("ready");
        for (int k = 0; System.nanoTime() < until; k++) {
            epoch(template, k);
            System.gc();
        }
    }
}
