// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that know who wakes them: Wakers MS. As in wakers.c: round N of a kind is waited for in evenWait() or oddWait() of its class, and given in
 * evenGive() or oddGive() by another thread, "g-KIND" for "w-KIND". "ready"; it begins when it reads a line, and ends after MS: "done". It exits when it reads another line.
 */
public class Wakers {
	static final int PAUSE_MS = 5;
	static volatile boolean ends;

	static abstract class Pair {
		int round, given;
		Thread waiter;

		abstract void evenWait() throws Exception;
		abstract void oddWait() throws Exception;
		abstract void evenGive();
		abstract void oddGive();

		void waitRounds() throws Exception {
			for (round = 1; !ends; round++) {
				if (round % 2 == 0)
					evenWait();
				else
					oddWait();
			}
		}

		void giveRounds() throws Exception {
			boolean last = false;

			for (given = 1; !last; given++) {
				last = ends;
				Thread.sleep(PAUSE_MS);
				if (given % 2 == 0)
					evenGive();
				else
					oddGive();
			}
		}
	}

	static class Notify extends Pair {
		int word;

		synchronized void await() throws Exception {
			while (word < round)
				wait();
		}

		synchronized void signal() {
			word = given;
			notify();
		}

		void evenWait() throws Exception { await(); }
		void oddWait() throws Exception { await(); }
		void evenGive() { signal(); }
		void oddGive() { signal(); }
	}

	static class Unpark extends Pair {
		volatile int word;

		void await() {
			while (word < round)
				LockSupport.park(this);
		}

		void signal() {
			word = given;
			LockSupport.unpark(waiter);
		}

		void evenWait() { await(); }
		void oddWait() { await(); }
		void evenGive() { signal(); }
		void oddGive() { signal(); }
	}

	static class Waiter extends Thread {
		final Pair pair;

		Waiter(String kind, Pair pair) {
			super("w-" + kind);
			this.pair = pair;
		}

		public void run() {
			try {
				pair.waitRounds();
			} catch (Exception e) {
				throw new RuntimeException(e);
			}
		}
	}

	static class Giver extends Thread {
		final Pair pair;

		Giver(String kind, Pair pair) {
			super("g-" + kind);
			this.pair = pair;
		}

		public void run() {
			try {
				pair.giveRounds();
			} catch (Exception e) {
				throw new RuntimeException(e);
			}
		}
	}

	public static void main(String[] args) throws Exception {
		String[] kinds = { "notify", "unpark" };
		Pair[] pairs = { new Notify(), new Unpark() };

		System.out.println("ready");
		System.in.read();
		for (int i = 0; i < kinds.length; i++) {
			pairs[i].waiter = new Waiter(kinds[i], pairs[i]);
			pairs[i].waiter.start();
			new Giver(kinds[i], pairs[i]).start();
		}
		Thread.sleep(Integer.parseInt(args[0]));
		ends = true;
		for (Pair pair : pairs)
			pair.waiter.join();
		System.out.println("done");
		System.in.read();
	}
}
