// SPDX-License-Identifier: Apache-2.0
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/**
 * usage: AllocSites SECONDS SAMPLES INTERVAL
 * Seven threads allocate, once a line has come on standard input, for SECONDS: six of them one class each, one three
 * classes in random order. Of each class as much as gives SAMPLES per second to a sampler of INTERVAL bytes. All
 * allocate by Thread.run > AllocSites.run > slice > some > work > the site's method > one or two methods that are
 * small enough to be inlined into it, the last of which has the `new`. All sites are compiled before it prints
 * "ready". At the end there is "CLASS SIZE COUNT" for each class; sizes are the JVM's own account of its threads.
 */
public final class AllocSites implements Runnable {
    /** 24 bytes: a header of 12, an int, a long. */
    static final class Small {
        int a;
        long b;
    }

    static final String[] NAMES = {"AllocSites$Small", "java.lang.String", "byte[]", "java.lang.String[]", "int[]",
                                   "long[]", "float[]", "char[]", "double[]"};
    static final int LARGE = 5, MIXED = 6, SITES = 9;
    static final int SLICE_MS = 5;
    static final String TEXT = "text";
    static final int WARM_UP_SLICES = 400;
    static final int WARM_UP_CALLS = 40000;
    static final int WARM_UP_EACH = 40;

    static volatile Object sink;
    static volatile boolean begun;
    static final long[] sizes = new long[SITES];
    static final double[] rates = new double[SITES];
    static final long[] counts = new long[SITES];
    static int seconds;
    static double samples;
    static double interval;

    final int site;
    long seed = 88172645463325252L;
    volatile boolean warm;

    AllocSites(int site) {
        this.site = site;
    }

    static Object newSmall() {
        return makeSmall();
    }

    static Object makeSmall() {
        return new Small();
    }

    static Object newText() {
        return new String(TEXT);
    }

    static Object newBytes() {
        return new byte[1000];
    }

    static Object newTexts() {
        return makeTexts(100);
    }

    static Object makeTexts(int length) {
        return new String[length];
    }

    static Object newInts() {
        return new int[16384];
    }

    static Object newLongs() {
        return new long[(2 << 20) / 8 - 2];
    }

    static Object newFloats() {
        return new float[22];
    }

    static Object newChars() {
        return new char[5000];
    }

    static Object newDoubles() {
        return new double[8000];
    }

    static void small(long n) {
        for (long i = 0; i < n; i++) {
            sink = newSmall();
        }
    }

    static void text(long n) {
        for (long i = 0; i < n; i++) {
            sink = newText();
        }
    }

    static void bytes(long n) {
        for (long i = 0; i < n; i++) {
            sink = newBytes();
        }
    }

    static void texts(long n) {
        for (long i = 0; i < n; i++) {
            sink = newTexts();
        }
    }

    static void ints(long n) {
        for (long i = 0; i < n; i++) {
            sink = newInts();
        }
    }

    static void longs(long n) {
        for (long i = 0; i < n; i++) {
            sink = newLongs();
        }
    }

    static void floats(long n) {
        for (long i = 0; i < n; i++) {
            sink = newFloats();
        }
    }

    static void chars(long n) {
        for (long i = 0; i < n; i++) {
            sink = newChars();
        }
    }

    static void doubles(long n) {
        for (long i = 0; i < n; i++) {
            sink = newDoubles();
        }
    }

    static void work(int site, long n) {
        switch (site) {
        case 0: small(n); break;
        case 1: text(n); break;
        case 2: bytes(n); break;
        case 3: texts(n); break;
        case 4: ints(n); break;
        case 5: longs(n); break;
        case 6: floats(n); break;
        case 7: chars(n); break;
        default: doubles(n); break;
        }
    }

    /** 0 to 1, by xorshift64*. */
    double fraction() {
        seed ^= seed << 13;
        seed ^= seed >>> 7;
        seed ^= seed << 17;
        return (seed * 0x2545F4914F6CDD1DL >>> 11) / 9007199254740992.0;
    }

    /** Objects per second of a class. */
    static double rate(int site) {
        return samples / -Math.expm1(-sizes[site] / interval);
    }

    /** What this thread allocates in a second. */
    double bytesPerSecond() {
        double bytes = 0;
        for (int i = site; i < (site == MIXED ? SITES : site + 1); i++) {
            bytes += rate(i) * sizes[i];
        }
        return bytes;
    }

    /** Which of the mixed classes is next. */
    int choose() {
        double sum = 0;
        for (int i = MIXED; i < SITES; i++) {
            sum += rates[i];
        }
        double at = fraction() * sum;
        for (int i = MIXED; i < SITES - 1; i++) {
            at -= rates[i];
            if (at < 0) {
                return i;
            }
        }
        return SITES - 1;
    }

    /** What one object takes, by what the JVM says that this thread allocated. */
    static long sizeOf(int site) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long id = Thread.currentThread().getId();
        int n = site == LARGE ? 10 : 1000;
        threads.getThreadAllocatedBytes(id);
        long before = threads.getThreadAllocatedBytes(id);
        work(site, n);
        return (threads.getThreadAllocatedBytes(id) - before + n / 2) / n & ~7L;
    }

    /** Some objects; how many bytes they are. */
    long some(long[] into) {
        if (site != MIXED) {
            long n = Math.max(1, Math.min(64, 65536 / sizes[site]));
            work(site, n);
            into[site] += n;
            return n * sizes[site];
        }
        int which = choose();
        work(which, 1);
        into[which]++;
        return sizes[which];
    }

    @Override
    public void run() {
        long[] own = new long[SITES];
        double due = bytesPerSecond() / 1000 * SLICE_MS, done = 0;
        warmUp();
        for (int i = 0; i < WARM_UP_SLICES; i++) {
            slice(new long[SITES], due);
        }
        warm = true;
        while (!begun) {
            pause(1);
        }
        long end = System.nanoTime() + seconds * 1000000000L;
        long next = System.nanoTime();
        while (next < end) {
            done += slice(own, due - done) - due;
            // What it comes too late for is left out: hostprof's budget of samples holds for each moment.
            next = Math.max(next + SLICE_MS * 1000000L, System.nanoTime() - SLICE_MS * 1000000L);
            pause((int) Math.max(0, (next - System.nanoTime()) / 1000000));
        }
        synchronized (counts) {
            for (int i = 0; i < SITES; i++) {
                counts[i] += own[i];
            }
        }
    }

    /** To the last tier: what C1 made of it allocates outside of AllocTracer's sight in JDK 8 (FastTLABRefill). */
    void warmUp() {
        for (int i = site; i < (site == MIXED ? SITES : site + 1); i++) {
            for (int n = 0; n < WARM_UP_CALLS; n++) {
                work(i, n % WARM_UP_EACH == 0 ? 1 : 0);
            }
        }
    }

    long slice(long[] into, double bytes) {
        long done = 0;
        while (done < bytes) {
            done += some(into);
        }
        return done;
    }

    static void pause(int ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException gone) {
            throw new IllegalStateException(gone);
        }
    }

    public static void main(String[] args) throws Exception {
        seconds = Integer.parseInt(args[0]);
        samples = Double.parseDouble(args[1]);
        interval = Double.parseDouble(args[2]);
        Thread[] threads = new Thread[MIXED + 1];
        AllocSites[] sites = new AllocSites[threads.length];
        for (int i = 0; i < SITES; i++) {
            sizeOf(i); // the counter's own objects are not counted the second time
            sizes[i] = sizeOf(i);
            rates[i] = rate(i);
        }
        for (int i = 0; i < threads.length; i++) {
            sites[i] = new AllocSites(i);
            threads[i] = new Thread(sites[i], "allocates-" + i);
            threads[i].start();
        }
        for (AllocSites site : sites) {
            while (!site.warm) {
                pause(1);
            }
        }
        pause(1000);
        System.out.println("ready");
        System.in.read();
        begun = true;
        for (Thread thread : threads) {
            thread.join();
        }
        for (int i = 0; i < SITES; i++) {
            System.out.println(NAMES[i] + " " + sizes[i] + " " + counts[i]);
        }
        System.out.println("done");
        System.in.read();
    }
}
