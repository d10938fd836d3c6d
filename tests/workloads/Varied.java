// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * usage: Varied [PAIRS]
 * What services do, all at once: in each pair one thread hands tasks to the other through a short queue, for which both park, and the
 * other works on them, allocates, enters a monitor that all want, and now and then takes memory outside the heap and sleeps.
 * Prints "ready" after warming up, then "ops N" since the start for every line on standard input; ends with its input.
 */
public final class Varied {
	private static final int WARM_UP_MS = 4000;
	private static final int KEYS = 128;
	private static final AtomicLong ops = new AtomicLong();
	private static final Map<String, Integer> shared = new HashMap<>();
	static volatile Object sink;

	private static void start(String name, Runnable work) {
		Thread thread = new Thread(work, name);

		thread.setDaemon(true);
		thread.start();
	}

	/* Some 10 us of hashing, and 10 kB. */
	private static int work(int seed) {
		Map<String, Integer> map = new HashMap<>();
		int x = seed | 1;

		for (int i = 0; i < KEYS; i++) {
			x ^= x << 13;
			x ^= x >>> 17;
			x ^= x << 5;
			map.merge(Integer.toString(x & KEYS - 1), 1, Integer::sum);
		}
		return map.size();
	}

	private static void note(int size) {
		synchronized (shared) {
			shared.merge(Integer.toString(size), 1, Integer::sum);
		}
	}

	private static void serve(ArrayBlockingQueue<Integer> tasks) {
		try {
			for (long n = 0;; n++) {
				note(work(tasks.take()));
				if (n % 1000 == 0)
					sink = ByteBuffer.allocateDirect(16384);
				if (n % 1000 == 500)
					Thread.sleep(1);
				ops.incrementAndGet();
			}
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	private static void ask(ArrayBlockingQueue<Integer> tasks) {
		try {
			for (int n = 0;; n++)
				tasks.put(n);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	public static void main(String[] args) throws IOException, InterruptedException {
		int pairs = args.length > 0 ? Integer.parseInt(args[0]) : 2;

		for (int i = 0; i < pairs; i++) {
			ArrayBlockingQueue<Integer> tasks = new ArrayBlockingQueue<>(16);

			start("server-" + i, () -> serve(tasks));
			start("client-" + i, () -> ask(tasks));
		}
		Thread.sleep(WARM_UP_MS);
		System.out.println("ready");
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		while (in.readLine() != null)
			System.out.println("ops " + ops.get());
	}
}
