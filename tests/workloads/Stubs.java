// SPDX-License-Identifier: Apache-2.0
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.zip.Adler32;
import java.util.zip.CRC32;
import javax.crypto.Cipher;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * usage: Stubs SECONDS
 * Works in stubs of the JVM, which compiled methods call without a frame between: each method is for the stub of its
 * name. Prints "ready" when all are compiled.
 */
public final class Stubs {
    interface Shape {
        int area(int n);
    }

    static class Square implements Shape {
        public int area(int n) {
            return n * 4;
        }

        int sides(int n) {
            return n + 4;
        }
    }

    static class Triangle extends Square {
        @Override
        public int area(int n) {
            return n * 3;
        }

        @Override
        int sides(int n) {
            return n + 3;
        }
    }

    static class Hexagon extends Square {
        @Override
        public int area(int n) {
            return n * 6;
        }

        @Override
        int sides(int n) {
            return n + 6;
        }
    }

    static class Circle implements Shape {
        public int area(int n) {
            return n ^ 5;
        }
    }

    static final Shape[] SHAPES = { new Square(), new Triangle(), new Hexagon(), new Circle() };
    static final Square[] SQUARES = { new Square(), new Triangle(), new Hexagon() };
    static final byte[] BYTES = "What is copied, summed and enciphered, again and again. "
            .getBytes(StandardCharsets.US_ASCII);
    static final byte[] FROM = new byte[8192];
    static final byte[] TO = new byte[8192];
    static final byte[] TEXT = new byte[11000];
    static final long[] LONGS = new long[2048];
    static volatile double sink;

    static double sin(int n) {
        double sum = 0;
        for (int i = 0; i < n; i++) {
            sum += Math.sin(i * 0.37 + sum);
        }
        return sum;
    }

    static double pow(int n) {
        double sum = 1;
        for (int i = 0; i < n; i++) {
            sum = Math.pow(1.0001 + sum * 1e-9, i * 0.01);
        }
        return sum;
    }

    static double copy(int n) {
        for (int i = 0; i < n; i++) {
            System.arraycopy(FROM, 0, TO, 0, 8000 + i % 100);
        }
        return TO[17];
    }

    /** To a place within what is copied: from its end on. */
    static double move(int n) {
        for (int i = 0; i < n; i++) {
            System.arraycopy(LONGS, 0, LONGS, 8, 2000 + i % 30);
        }
        return LONGS[17];
    }

    static double crc(int n) {
        CRC32 crc = new CRC32();
        for (int i = 0; i < n; i++) {
            crc.update(FROM, 0, FROM.length);
        }
        return crc.getValue();
    }

    static double adler(int n) {
        Adler32 adler = new Adler32();
        for (int i = 0; i < n; i++) {
            adler.update(FROM, 0, FROM.length);
        }
        return adler.getValue();
    }

    static double sha(int n) throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (int i = 0; i < n; i++) {
            digest.update(FROM);
        }
        return digest.digest()[0];
    }

    static double aes(int n) throws Exception {
        Cipher cipher = Cipher.getInstance("AES/CBC/NoPadding");
        cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(BYTES, 0, 16, "AES"), new IvParameterSpec(BYTES, 16, 16));
        for (int i = 0; i < n; i++) {
            cipher.update(FROM, 0, FROM.length, TO);
        }
        return TO[99];
    }

    static double base64(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += Base64.getEncoder().encode(FROM, TEXT);
        }
        return sum;
    }

    static double vtable(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += SQUARES[i % 3].sides(sum);
        }
        return sum;
    }

    static double itable(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += SHAPES[i & 3].area(sum);
        }
        return sum;
    }

    static void round() throws Exception {
        sink = sin(60_000);
        sink = pow(30_000);
        sink = copy(8_000);
        sink = move(4_000);
        sink = crc(3_000);
        sink = adler(2_000);
        sink = sha(150);
        sink = aes(400);
        sink = base64(1_500);
        sink = vtable(250_000);
        sink = itable(400_000);
    }

    /** Calls are what gets a method compiled; a round has few of them. */
    static void callOften(int times) throws Exception {
        for (int k = 0; k < times; k++) {
            sink = sin(3) + pow(3) + copy(3) + move(3) + crc(3) + adler(3) + sha(3) + aes(3) + base64(3)
                    + vtable(3) + itable(3);
        }
    }

    /** Rounds until the JVM has compiled nothing for a second. */
    static void roundsUntilCompiled() throws Exception {
        CompilationMXBean compilation = ManagementFactory.getCompilationMXBean();
        long took = -1;
        long since = System.nanoTime();
        while (took != compilation.getTotalCompilationTime() || System.nanoTime() - since < 1_000_000_000L) {
            if (took != compilation.getTotalCompilationTime()) {
                took = compilation.getTotalCompilationTime();
                since = System.nanoTime();
            }
            round();
        }
    }

    public static void main(String[] args) throws Exception {
        long until = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        callOften(6_000);
        roundsUntilCompiled();
        System.out.println("ready");
        while (System.nanoTime() < until) {
            round();
        }
    }
}
