// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * usage: VirtualPairs [PAIRS]
 * Pairs of virtual threads, JDK 21 on, of which one always parks, for an object, until the other has worked for some microseconds and lets it go
 * on: as often as it can be. Prints "ready" after warming up, then "ops N", how often that was since the start, for every line on standard
 * input; ends with its input.
 */
public final class VirtualPairs {
	private static final int WARM_UP_MS = 4000;
	private static final int WORK = 1500;
	private static final AtomicLong ops = new AtomicLong();
	static volatile long sink;

	/** What is handed over. */
	static final class Baton {
		volatile int turn;
		volatile Thread[] players = new Thread[2];
	}

	private static long work(long seed) {
		long x = seed | 1;

		for (int i = 0; i < WORK; i++) {
			x ^= x << 13;
			x ^= x >>> 7;
			x ^= x << 17;
		}
		return x;
	}

	private static void play(Baton baton, int self) {
		while (baton.players[1 - self] == null)
			Thread.yield();
		for (long n = 0;; n++) {
			while (baton.turn != self)
				LockSupport.park(baton);
			sink = work(n);
			ops.incrementAndGet();
			baton.turn = 1 - self;
			LockSupport.unpark(baton.players[1 - self]);
		}
	}

	private static void start(int pair) throws Exception {
		Baton baton = new Baton();
		Thread[] players = new Thread[2];

		for (int self = 0; self < 2; self++) {
			int number = self;

			players[self] = VirtualThreads.start("pair-" + pair + "-" + self, () -> play(baton, number));
		}
		baton.players = players;
	}

	public static void main(String[] args) throws Exception {
		int pairs = args.length > 0 ? Integer.parseInt(args[0]) : 4;

		for (int i = 0; i < pairs; i++)
			start(i);
		Thread.sleep(WARM_UP_MS);
		System.out.println("ready");
		answer();
	}

	private static void answer() throws IOException {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));

		while (in.readLine() != null)
			System.out.println("ops " + ops.get());
	}
}
