// SPDX-License-Identifier: Apache-2.0
import java.util.Collections;
import java.util.List;
import java.util.function.LongUnaryOperator;

/**
 * usage: Overloads ROUNDS
 * The thread "overloads" goes one way after the other until it is ended. Each begins with a method whose name no other has,
 * and goes through methods of one name, which only their descriptors tell apart. Prints "ready" after ROUNDS.
 */
public final class Overloads implements Runnable {
    static final int TURNS = 3000;
    static volatile long sink;
    static volatile int rounds;

    long kept;

    Overloads(int seed) {
        kept = spin(seed, TURNS);
    }

    Overloads(String name, long... more) {
        kept = spin(name, TURNS) + more.length;
    }

    /** The end of every way but that of natives: six methods of one name. */
    static long spin(long x, int turns) {
        for (int i = 0; i < turns; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    static long spin(int x, int turns) {
        for (int i = 0; i < turns; i++) {
            x ^= x << 13;
            x ^= x >>> 17;
            x ^= x << 5;
        }
        return x;
    }

    static long spin(double x, int turns) {
        for (int i = 0; i < turns; i++) {
            x = x * 0.9999 + i;
        }
        return (long) x;
    }

    static long spin(Object x, int turns) {
        long hash = 17;
        for (int i = 0; i < turns; i++) {
            hash = hash * 31 + (hash >>> 9) + x.hashCode();
        }
        return hash;
    }

    static long spin(long[] x, int turns) {
        for (int i = 0; i < turns; i++) {
            x[i & 7] += x[i + 3 & 7] ^ i;
        }
        return x[0];
    }

    static long spin(byte[][] x, int turns) {
        for (int i = 0; i < turns; i++) {
            x[i & 1][i & 7] += (byte) (x[1][i + 3 & 7] ^ i);
        }
        return x[0][0];
    }

    // Static methods, of numbers.
    static long go(int x) {
        return spin(x, TURNS) + 1;
    }

    static long go(long x) {
        return spin(x, TURNS) + 2;
    }

    static long go(boolean x, char c, short s, byte b, float f) {
        return spin(f * b + s, TURNS) + c;
    }

    static void go(double x) {
        sink += spin(x, TURNS);
    }

    // Of objects, arrays and generics.
    static long go(String x) {
        return spin((Object) x, TURNS) + 3;
    }

    static <T extends Comparable<T>> long go(T x) {
        return spin((Object) x, TURNS) + 4;
    }

    static long go(List<String> x) {
        return spin((Object) x.get(0), TURNS) + 5;
    }

    static Object go(long[] x) {
        sink += spin(x, TURNS);
        return x;
    }

    static long go(byte[][] x, String... more) {
        return spin(x, TURNS) + more.length;
    }

    // Of an instance.
    long go(Overloads other) {
        return spin(other.kept, TURNS) + 6;
    }

    long go(Overloads other, int n) {
        return spin(n, TURNS) + other.kept;
    }

    /** One method in the source, two in the class: the compiler adds get(Object), which calls the other. */
    interface Source<T> {
        long get(T x);
    }

    static final class Texts implements Source<String> {
        @Override
        public long get(String x) {
            return spin((Object) x, TURNS);
        }
    }

    static final Source<String> source = new Texts();
    static final LongUnaryOperator lambda = x -> spin(x, TURNS) + 7;
    static final Overloads one = new Overloads(1);
    static final long[] longs = new long[8];
    static final byte[][] bytes = new byte[2][8];
    static final List<String> texts = Collections.singletonList("text");

    static void wayInt() {
        sink += go(1);
    }

    static void wayLong() {
        sink += go(2L);
    }

    static void wayMixed() {
        sink += go(true, 'c', (short) 3, (byte) 4, 5.0f);
    }

    static void wayDouble() {
        go(6.0);
    }

    static void wayString() {
        sink += go("text");
    }

    static void wayComparable() {
        sink += go(Integer.valueOf(77777));
    }

    static void wayList() {
        sink += go(texts);
    }

    static void wayArray() {
        sink += go(longs).hashCode();
    }

    static void wayArrays() {
        sink += go(bytes, "more");
    }

    static void wayInstance() {
        sink += one.go(one);
    }

    static void wayInstanceInt() {
        sink += one.go(one, 8);
    }

    static void wayConstructor() {
        sink += new Overloads(9).kept;
    }

    static void wayConstructorString() {
        sink += new Overloads("name", 1L, 2L).kept;
    }

    static void wayBridge() {
        sink += source.get("bridge");
    }

    static void wayLambda() {
        sink += lambda.applyAsLong(10);
    }

    /** Of a native method, which a Java method of its name calls. */
    static void wayNative() {
        for (int i = 0; i < 50; i++) {
            sink += new Throwable().hashCode();
        }
    }

    /** What is one box when descriptors are not told. */
    static void both() {
        sink += go(3) + go(4L);
    }

    @Override
    public void run() {
        for (;;) {
            both();
            wayInt();
            wayLong();
            wayMixed();
            wayDouble();
            wayString();
            wayComparable();
            wayList();
            wayArray();
            wayArrays();
            wayInstance();
            wayInstanceInt();
            wayConstructor();
            wayConstructorString();
            wayBridge();
            wayLambda();
            wayNative();
            rounds++;
        }
    }

    public static void main(String[] args) throws Exception {
        int wanted = Integer.parseInt(args[0]);
        Thread thread = new Thread(one, "overloads");
        thread.setDaemon(true);
        thread.start();
        while (rounds < wanted) {
            Thread.sleep(10);
        }
        System.out.println("ready");
        System.out.flush();
        Thread.sleep(600_000);
    }
}
