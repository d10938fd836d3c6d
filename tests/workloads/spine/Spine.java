// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Arrays;

/**
 * usage: Spine SECONDS LIBRARY [signal=MICROSECONDS] PATH...
 * The thread "spine" runs the paths in turns of a millisecond; see Path for what a path is. After two
 * rounds of all "ready" is printed, by the main thread: nothing but paths is in spine's stack. For each
 * line of its input it prints "spent", the CPU time of spine, and that of each path's leaf, in nanoseconds
 * (what a leaf does not measure is 0), and the number of this answer. Ends when the seconds are over.
 */
public final class Spine extends Thread {
    private static final long TURN_NS = 1_000_000;
    static volatile boolean stop;
    static volatile boolean warm;

    /** For a link that cannot hand them on otherwise. */
    public Path path;
    public int depth;
    private final Path[] paths;
    private final int interruptEvery;
    private volatile long spentNs;
    private int answers;

    private Spine(Path[] paths, int interruptEvery) {
        super("spine");
        this.paths = paths;
        this.interruptEvery = interruptEvery;
    }

    @Override
    public void run() {
        if (interruptEvery > 0) {
            Native.interrupt(interruptEvery);
        }
        for (int round = 0; !stop; round++) {
            for (int i = 0; i < paths.length; i++) {
                Path current = paths[i];
                long until = System.nanoTime() + TURN_NS;
                do {
                    current.sink += current.steps[0].step(current, 0);
                } while (System.nanoTime() < until && !stop);
                spentNs = Native.clock();
            }
            warm |= round == 2;
        }
    }

    private void tell() {
        StringBuilder line = new StringBuilder("spent ").append(spentNs);
        for (Path one : paths) {
            line.append(' ').append(one.leafNs);
        }
        System.out.println(line.append(" answer ").append(++answers));
        System.out.flush();
    }

    private void tellWhenAsked() {
        try {
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
            while (in.readLine() != null) {
                tell();
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        Native.load(args[1]);
        int first = args[2].startsWith("signal=") ? 3 : 2;
        int interruptEvery = first == 3 ? Integer.parseInt(args[2].substring(7)) : 0;
        Path[] paths = Arrays.stream(args, first, args.length).map(Path::new)
            .toArray(Path[]::new);
        Spine spine = new Spine(paths, interruptEvery);
        spine.start();
        long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        while (!warm && System.nanoTime() < end) {
            Thread.sleep(5);
        }
        System.out.println("ready");
        System.out.flush();
        Thread teller = new Thread(spine::tellWhenAsked, "teller");
        teller.setDaemon(true);
        teller.start();
        spine.join(Math.max(1, (end - System.nanoTime()) / 1_000_000));
        stop = true;
        spine.join();
    }
}
