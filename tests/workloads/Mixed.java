// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.locks.LockSupport;

/**
 * A JVM that does a little of everything, and knows how much: Mixed SECONDS. "ready"; it begins when it reads a line. Each kind has a thread
 * of its name. For each a line, "KIND NUMBER AMOUNT": nanoseconds of waits, bytes. "done". Then it stays until it reads a line.
 */
public class Mixed {
	static final long PAUSE_NS = 15000000;
	static volatile long end;
	static volatile Object sink;
	static volatile double result;

	static class Gate {
	}

	static class Spot {
	}

	static final Gate gate = new Gate();
	static final Spot spot = new Spot();
	static volatile boolean held, passed;

	abstract static class Worker extends Thread {
		long number, amount;

		Worker(String name) {
			super(name);
		}

		abstract void step() throws Exception;

		public void run() {
			try {
				while (System.nanoTime() < end)
					step();
			} catch (Exception e) {
				throw new RuntimeException(e);
			}
		}
	}

	static void nap() throws Exception {
		Thread.sleep(PAUSE_NS / 1000000);
	}

	static class Burner extends Worker {
		Burner() {
			super("burner");
		}

		void step() throws Exception {
			double sum = 0;

			for (int i = 1; i < 200000; i++)
				sum += 1.0 / i;
			result = sum;
			number++;
			nap();
		}
	}

	static class Allocator extends Worker {
		Allocator() {
			super("allocator");
		}

		void step() throws Exception {
			for (int i = 0; i < 64; i++)
				sink = new byte[16368];
			number += 64;
			amount += 64 * 16384;
			nap();
		}
	}

	/* The holder has the gate already, and for a pause yet. */
	static class Waiter extends Worker {
		Waiter() {
			super("waiter");
		}

		void step() throws Exception {
			if (!held) {
				Thread.sleep(1);
				return;
			}
			amount -= System.nanoTime();
			synchronized (gate) {
				amount += System.nanoTime();
			}
			number++;
			passed = true;
		}
	}

	static class Holder extends Worker {
		final Thread waiter;

		Holder(Thread waiter) {
			super("holder");
			this.waiter = waiter;
			setDaemon(true);
		}

		void step() throws Exception {
			passed = false;
			synchronized (gate) {
				held = true;
				while (waiter.getState() != Thread.State.BLOCKED && waiter.isAlive())
					Thread.sleep(1);
				nap();
				held = false;
			}
			while (!passed && waiter.isAlive())
				Thread.sleep(1);
		}
	}

	static class Parker extends Worker {
		Parker() {
			super("parker");
		}

		void step() {
			amount -= System.nanoTime();
			LockSupport.parkNanos(spot, PAUSE_NS);
			amount += System.nanoTime();
			number++;
		}
	}

	static class Sleeper extends Worker {
		Sleeper() {
			super("sleeper");
		}

		void step() throws Exception {
			amount -= System.nanoTime();
			nap();
			amount += System.nanoTime();
			number++;
		}
	}

	public static void main(String[] args) throws Exception {
		Waiter waiter = new Waiter();
		Worker[] workers = { new Burner(), new Allocator(), waiter, new Parker(), new Sleeper() };

		System.out.println("ready");
		System.in.read();
		end = System.nanoTime() + Integer.parseInt(args[0]) * 1000000000L;
		for (Worker worker : workers)
			worker.start();
		new Holder(waiter).start();
		for (Worker worker : workers) {
			worker.join();
			System.out.println(worker.getName() + " " + worker.number + " " + worker.amount);
		}
		System.out.println("done");
		System.in.read();
		System.exit(0);
	}
}
