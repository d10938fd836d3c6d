// SPDX-License-Identifier: Apache-2.0
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;

/** The same, called through vtable stubs. */
abstract class Link implements Step {
    @Override
    public abstract long step(Path path, int depth);
}

interface Op {
    long apply(Path path, int depth);
}

/** Thrown by leaves and caught by those links that are made for it. */
final class Thrown extends RuntimeException {
    private static final long serialVersionUID = 1;
    int levels;

    Thrown(boolean withTrace) {
        super("thrown", null, false, withTrace);
    }
}

/**
 * What one stack is made of: one letter per link, the last is a leaf. Each letter is a class of its
 * own, and no call site sees less than three of them in turn: no compiler inlines one into another,
 * so that each is a frame of its own. spine_cases.py knows the frames of each letter.
 */
public final class Path {
    static final Method STEP = findMethod();
    static final MethodHandle[] HANDLES = {findHandle(), findHandle(), findHandle()};

    public final Step[] steps;
    final Link[] links;
    long sink;
    int round;
    int turn;
    /** Time of the leaf, in nanoseconds. */
    volatile long leafNs;
    private int random = 1;
    private long clockNs = Long.MAX_VALUE;
    private long usualNs;
    private boolean isLong;

    Path(String letters) {
        steps = new Step[letters.length()];
        links = new Link[letters.length()];
        for (int i = 0; i < letters.length(); i++) {
            char letter = letters.charAt(i);
            links[i] = Character.isUpperCase(letter) ? Links.of(letter) : Leaves.of(letter);
            steps[i] = links[i];
        }
    }

    /** Some work for a frame: its pc is not always at a call. */
    long mix(long x) {
        x ^= sink;
        x ^= x << 13;
        x ^= x >>> 7;
        return x ^ x << 17;
    }

    /** One call of so many is measured, at random: the clock must not be what the profile shows. */
    private static final int EVERY = 32;
    /** Of long work there are few calls: for one in 32 chance alone would say a tenth too much, or too little. */
    private static final int EVERY_LONG = 4;
    /** What takes so many times as long as others of its kind was interrupted. */
    private static final int INTERRUPTED = 3;

    /** From here on the thread's own clock is asked: a busy machine runs others meanwhile. */
    private static final long LONG_NS = 50_000;

    /**
     * At the beginning of a leaf's work; what it gives is for end(). Of short work the clock is not that
     * of the thread: code that is interpreted is slower for microseconds after a system call.
     */
    long begin() {
        random ^= random << 13;
        random ^= random >>> 17;
        random ^= random << 5;
        boolean isNowLong = usualNs > LONG_NS;
        if ((random & (isNowLong ? EVERY_LONG : EVERY) - 1) != 0) {
            return 0;
        }
        isLong = isNowLong;
        if (isLong) {
            return Native.clock();
        }
        long before = System.nanoTime();
        long begin = System.nanoTime();
        /* The least that it took: it may have been interrupted just there. */
        if (begin - before < clockNs) {
            clockNs = begin - before;
        }
        return begin;
    }

    /** At its end: all but what the clock itself took counts, so that less is said rather than more. */
    void end(long begin) {
        if (begin != 0) {
            long took = isLong ? Native.clock() - begin : System.nanoTime() - begin - clockNs;
            if (took < 1) {
                took = 1;
            }
            if (usualNs == 0) {
                usualNs = took; // nobody knows yet whether it was interrupted
                return;
            }
            usualNs = took < usualNs / 2 ? took : usualNs + (Math.min(took, 2 * usualNs) - usualNs) / 16;
            leafNs += (took > INTERRUPTED * usualNs ? usualNs : took) * (isLong ? EVERY_LONG : EVERY);
        }
    }

    private static Method findMethod() {
        try {
            return Step.class.getMethod("step", Path.class, int.class);
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException(e);
        }
    }

    private static MethodHandle findHandle() {
        try {
            return MethodHandles.lookup().findVirtual(Step.class, "step",
                MethodType.methodType(long.class, Path.class, int.class));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
