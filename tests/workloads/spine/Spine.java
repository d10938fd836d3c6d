// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;

/**
 * usage: Spine SECONDS LIBRARY [signal=MICROSECONDS] PATH...
 * The thread "spine" runs the paths in turns of a millisecond; see Path for what a path is. Prints
 * "ready" after two rounds of all and ends when the seconds are over.
 */
public final class Spine extends Thread {
    private static final long TURN_NS = 1_000_000;
    static volatile boolean stop;

    /** For a link that cannot hand them on otherwise. */
    public Path path;
    public int depth;
    private final List<Path> paths;
    private final int interruptEvery;

    private Spine(List<Path> paths, int interruptEvery) {
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
            for (int i = 0; i < paths.size(); i++) {
                Path current = paths.get(i);
                long until = System.nanoTime() + TURN_NS;
                do {
                    current.sink += current.steps[0].step(current, 0);
                } while (System.nanoTime() < until && !stop);
            }
            if (round == 2) {
                System.out.println("ready");
                System.out.flush();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Native.load(args[1]);
        List<Path> paths = new ArrayList<>();
        int interruptEvery = 0;
        for (int i = 2; i < args.length; i++) {
            if (args[i].startsWith("signal=")) {
                interruptEvery = Integer.parseInt(args[i].substring(7));
            } else {
                paths.add(new Path(args[i]));
            }
        }
        Spine spine = new Spine(paths, interruptEvery);
        spine.start();
        spine.join((long) (Double.parseDouble(args[0]) * 1000));
        stop = true;
        spine.join();
    }
}
