// SPDX-License-Identifier: Apache-2.0
import java.lang.invoke.ConstantCallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32;

/**
 * usage: Steps LIBRARY [virtual]
 * One thread, "steps", runs every kind of Java frame there is, in short pieces: it is meant to be
 * walked at every instruction. Its stack is always Thread.run > Steps.run > Steps.outer (3 times) >
 * Steps.through > C > Steps.back > Steps.work > what the piece calls. With "virtual" it is a virtual
 * thread that yields between pieces, and between them and their return. Prints "ready" once all of it
 * has been compiled; ends when its input does.
 */
public final class Steps implements Runnable {
    static final int KINDS = 20;
    static final int WARM_UP_ROUNDS = Integer.getInteger("steps.warmup", 30000);

    interface Shape { long area(long x); }
    static final class Disk implements Shape { public long area(long x) { return tiny(x) + 1; } }
    static final class Cube implements Shape { public long area(long x) { return tiny(x) + 2; } }
    static final class Cone implements Shape { public long area(long x) { return tiny(x) + 3; } }
    static final class Ring implements Shape { public long area(long x) { return tiny(x) + 4; } }

    abstract static class Node { abstract long visit(long x); }
    static final class Leaf extends Node { long visit(long x) { return tiny(x) ^ 1; } }
    static final class Twig extends Node { long visit(long x) { return tiny(x) ^ 2; } }
    static final class Root extends Node { long visit(long x) { return tiny(x) ^ 3; } }
    static final class Bark extends Node { long visit(long x) { return tiny(x) ^ 4; } }

    static final Shape[] SHAPES = {new Disk(), new Cube(), new Cone(), new Ring()};
    static final Node[] NODES = {new Leaf(), new Twig(), new Root(), new Bark()};
    static final byte[] FROM = new byte[700], TO = new byte[700];
    static final long[] LONGS = new long[80];
    static final Object[] OBJECTS = new Object[20];
    static final String TEXT = "the quick brown fox jumps over the lazy dog again";

    static volatile long sink;
    static volatile Object kept;
    static volatile boolean stop;
    static long rounds;
    static boolean isVirtual;

    static native long through(int kind, long x);
    static native long inC(long x);
    static native long manyInC(long a, double b, long c, Object d, int e, long f, float g, long h, long i);

    // --- deoptimisation: the call site's target changes below compiled frames that rely on it ---

    static long oneTarget(long x) { return x + 1; }
    static long otherTarget(long x) { return x + 2; }

    static final MethodHandle ONE = handle("oneTarget"), OTHER = handle("otherTarget");
    static final MutableCallSite SITE = new MutableCallSite(ONE);
    static final MethodHandle INVOKER = SITE.dynamicInvoker();
    static final MethodHandle FIXED = new ConstantCallSite(handle("tiny")).dynamicInvoker();
    static int targets;

    static MethodHandle handle(String name) {
        try {
            return MethodHandles.lookup().findStatic(Steps.class, name, MethodType.methodType(long.class, long.class));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static final Method REFLECTED;

    static {
        try {
            REFLECTED = Steps.class.getDeclaredMethod("tiny", long.class);
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException(e);
        }
    }

    static void changeTarget() {
        SITE.setTarget((targets++ & 1) == 0 ? OTHER : ONE);
        MutableCallSite.syncAll(new MutableCallSite[] {SITE});
    }

    static long deopt(int depth, long x) throws Throwable {
        if (depth == 0) {
            if ((rounds & 63) == 0) {
                changeTarget();
            }
            return x;
        }
        long below = deopt(depth - 1, x + 1);
        return (long) INVOKER.invokeExact(below) + 1;
    }

    // --- leaves ---------------------------------------------------------------------------------

    static long tiny(long x) { return x ^ x << 3; }
    static long tinyTwo(long x) { return tiny(x) + tiny(x + 1); }
    static double floats(double x, float y) { return x * 1.5 + y; }

    static long wide(long a, long b, long c, long d, long e, long f, long g, long h, double i, Object o) {
        return a + b * 3 + c + d + e + f + g + h + (long) i + (o == null ? 1 : 0);
    }

    static long big(long x) {
        long a = x, b = x + 1, c = x + 2, d = x + 3, e = x + 4, f = x + 5, g = x + 6, h = x + 7;
        for (int i = 0; i < 3; i++) {
            a += tiny(b); b += tiny(c); c += tiny(d); d += tiny(e);
            e += tiny(f); f += tiny(g); g += tiny(h); h += tiny(a);
        }
        return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
    }

    static synchronized long locked(long x) { return x + 1; }

    static long thrower(long x) {
        if ((x & 1) >= 0) {
            throw new IllegalStateException("x", null) {
                @Override
                public synchronized Throwable fillInStackTrace() { return this; }
            };
        }
        return x;
    }

    static long catcher(long x) {
        try {
            return thrower(x) + 1;
        } catch (IllegalStateException e) {
            return x + 2;
        }
    }

    static long nullCatcher(long[] array) {
        try {
            return array[3];
        } catch (NullPointerException e) {
            return 7;
        }
    }

    static long copies(int n) {
        System.arraycopy(FROM, 1, TO, 0, 600 + n % 90);
        System.arraycopy(FROM, 0, FROM, 3, 100 + n % 90);
        Arrays.fill(LONGS, n);
        Object[] more = Arrays.copyOf(OBJECTS, 12);
        System.arraycopy(more, 0, OBJECTS, 2, 10);
        return TO[n % 90];
    }

    static long strings(int n) {
        String s = new StringBuilder(TEXT).append(n).append('x').toString();
        return s.indexOf("lazy") + s.compareTo(TEXT) + s.hashCode() + (s.equals(TEXT) ? 1 : 0);
    }

    static long sums(int n) {
        CRC32 crc = new CRC32();
        crc.update(FROM, 0, 300 + n % 90);
        return crc.getValue();
    }

    static long maths(double x) {
        return (long) (Math.sin(x) + Math.log(x + 2) + Math.pow(x, 1.7) + Math.exp(0.3));
    }

    static long sorts(int n) {
        int[] array = new int[90];
        for (int i = 0; i < array.length; i++) {
            array[i] = i * 7919 + n & 1023;
        }
        Arrays.sort(array);
        return array[3];
    }

    static long lambdas(long x) {
        Runnable r = () -> sink = x;
        r.run();
        return sink;
    }

    static long switches(int n) {
        switch (n & 7) {
        case 0: return tiny(n);
        case 1: return tinyTwo(n);
        case 2: return (long) floats(n, 2f);
        case 3: return n % 7 + n / 3;
        case 4: return (long) n << 33 | n;
        case 5: return Long.bitCount(n) + Integer.numberOfLeadingZeros(n);
        case 6: return TEXT.charAt(n % 20);
        default: return n * 5L;
        }
    }

    // --- the spine ------------------------------------------------------------------------------

    static long pieces(int kind, long x) throws Throwable {
        long sum = 0;
        switch (kind) {
        case 0: for (int i = 0; i < 8; i++) { sum += tinyTwo(x + i); } break;
        case 1: for (int i = 0; i < 8; i++) { sum += SHAPES[i & 3].area(x); } break;
        case 2: for (int i = 0; i < 8; i++) { sum += NODES[i & 3].visit(x); } break;
        case 3: sum = copies((int) x & 1023); break;
        case 4: sum = sums((int) x & 1023); break;
        case 5: sum = maths(x & 1023); break;
        case 6: sum = strings((int) x & 7); break;
        case 7: sum = catcher(x) + nullCatcher((x & 3) == 0 ? null : LONGS); break;
        case 8: sum = inC(x); break;
        case 9: sum = manyInC(x, 2, 3, TEXT, 5, 6, 7f, 8, 9); break;
        case 10: kept = new byte[200 + ((int) x & 63)]; kept = new Object[3][2]; break;
        case 11: sum = locked(x); synchronized (TEXT) { sum += tiny(x); } break;
        case 12: sum = lambdas(x); break;
        case 13: sum = (long) FIXED.invokeExact(x); break;
        case 14: sum = (Long) REFLECTED.invoke(null, x); break;
        case 15: sum = wide(x, 2, 3, 4, 5, 6, 7, 8, 9.0, TEXT); break;
        case 16: sum = sorts((int) x & 63); break;
        case 17: sum = deopt(5, x); break;
        case 18: sum = big(x); break;
        default: for (int i = 0; i < 8; i++) { sum += switches(i + (int) x & 1023); } break;
        }
        return sum;
    }

    static void yieldNow() {
        if (isVirtual) {
            Thread.yield();
        }
    }

    static long work(int kind, long x) throws Throwable {
        return pieces(kind, x) + 1;
    }

    /** Called from C. */
    static long back(int kind, long x) throws Throwable {
        return work(kind, x) + 1;
    }

    /** With a virtual thread C would pin it: all else is the same. */
    static long yielding(int kind, long x) throws Throwable {
        long sum = work(kind, x);
        yieldNow();
        return sum + work(kind, x + 1) + 1;
    }

    static long outer(int depth, int kind, long x) throws Throwable {
        if (depth > 0) {
            return outer(depth - 1, kind, x) + 1;
        }
        return isVirtual ? yielding(kind, x) : through(kind, x);
    }

    static long round(long x) throws Throwable {
        long sum = 0;
        for (int kind = 0; kind < KINDS; kind++) {
            sum += outer(2, kind, x);
        }
        return sum;
    }

    @Override
    public void run() {
        try {
            while (!stop) {
                sink += round(rounds++);
                if (rounds == WARM_UP_ROUNDS) {
                    System.out.println("ready");
                    System.out.flush();
                }
            }
        } catch (Throwable e) {
            e.printStackTrace();
            System.exit(1);
        }
    }

    static Thread startVirtual(Runnable body) throws ReflectiveOperationException {
        return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        isVirtual = args.length > 1 && args[1].equals("virtual");
        if (isVirtual) {
            startVirtual(new Steps());
        } else {
            Thread thread = new Thread(new Steps(), "steps");
            thread.setDaemon(true);
            thread.start();
        }
        while (System.in.read() >= 0) {
            continue;
        }
        stop = true;
    }
}
