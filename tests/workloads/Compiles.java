// SPDX-License-Identifier: Apache-2.0
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * usage: Compiles SECONDS
 * Loads the class Large again and again, each time by a new class loader, and runs it until its methods are compiled: a JVM
 * whose compilers are always at work, at large methods that are known.
 */
public final class Compiles {
    /** What compilers unroll, split and vectorize, over and over. */
    public static final class Large implements Runnable {
        static volatile int sink;

        static int first(int[] a, int[] b, int n) {
            return wide(a, b, n) + wide(b, a, n + 1) + wide(a, b, n + 2) + wide(b, a, n + 3);
        }

        static int second(int[] a, int[] b, int n) {
            return wide(a, b, n) ^ wide(b, a, n + 1) ^ deep(a, b, n + 2) ^ deep(b, a, n + 3);
        }

        static int wide(int[] a, int[] b, int n) {
            int sum = n;
            for (int i = 0; i < a.length; i++) {
                a[i] = a[i] * 3 + b[i] + n;
            }
            for (int i = 1; i < b.length; i++) {
                b[i] = (b[i] ^ a[i - 1]) + n;
            }
            for (int i = 0; i + 2 < a.length; i++) {
                sum += n > 3 ? a[i] + b[i + 2] : a[i + 2] - b[i];
            }
            return sum;
        }

        static int deep(int[] a, int[] b, int n) {
            int sum = n;
            for (int i = 0; i < 4; i++) {
                for (int j = 0; j < b.length; j++) {
                    for (int k = j; k < j + 2 && k < a.length; k++) {
                        sum += (a[k] & b[j]) + (i > 2 ? n : sum);
                    }
                }
            }
            return sum;
        }

        @Override
        public void run() {
            int[] a = new int[24];
            int[] b = new int[24];
            for (int i = 0; i < 6000; i++) {
                sink = first(a, b, i) + second(b, a, i);
            }
        }
    }

    static final class Loader extends ClassLoader {
        private final byte[] bytes;

        Loader(byte[] bytes) {
            super(Compiles.class.getClassLoader());
            this.bytes = bytes;
        }

        Runnable make() throws ReflectiveOperationException {
            Class<?> made = defineClass("Compiles$Large", bytes, 0, bytes.length);
            return (Runnable) made.getDeclaredConstructor().newInstance();
        }
    }

    static byte[] bytesOf(String name) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] piece = new byte[4096];
        try (InputStream in = Compiles.class.getResourceAsStream(name)) {
            for (int len = in.read(piece); len > 0; len = in.read(piece)) {
                out.write(piece, 0, len);
            }
        }
        return out.toByteArray();
    }

    public static void main(String[] args) throws Exception {
        byte[] bytes = bytesOf("Compiles$Large.class");
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        System.out.println("ready");
        while (System.nanoTime() < end) {
            new Loader(bytes).make().run();
        }
    }
}
