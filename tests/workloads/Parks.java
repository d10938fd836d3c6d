// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that park, as often as they say: Parks ROUNDS. Each kind has a thread, which does so ROUNDS times in a method of its name
 * and measures each time. "ready"; it begins when it reads a line. A line for each: KIND PARKS NANOSECONDS LONGEST, the longest one of them. "done". Then it stays until it
 * reads a line.
 */
public class Parks {
	static final int PAUSE_MS = 12;
	static final long PAUSE_NS = PAUSE_MS * 1000000L;
	static int rounds;

	/** The classes of what is parked for. */
	static class Gate {
		volatile boolean open;
	}

	static final Gate gate = new Gate();
	static final ReentrantLock lock = new ReentrantLock();
	static final ReentrantLock table = new ReentrantLock();
	static final Condition served = table.newCondition();
	static volatile boolean held;
	static volatile int passed, taken;

	static class Job extends Thread {
		long parks, ns, longest;

		Job(String name) {
			super(name);
		}

		void parkedSince(long begin) {
			long length = System.nanoTime() - begin;

			parks++;
			ns += length;
			longest = Math.max(longest, length);
		}

		/* Each is a wait of its own, whatever comes between. */
		void step() throws Exception {
			switch (getName()) {
			case "lock": takeLock(this); break;
			case "condition": awaitCondition(this); break;
			case "blocker": parkForGate(this); break;
			case "nothing": parkForNothing(this); break;
			case "short": parkShortly(this); break;
			default: throw new IllegalStateException();
			}
		}

		public void run() {
			try {
				for (int i = 0; i < rounds; i++)
					step();
			} catch (Exception e) {
				throw new RuntimeException(e);
			}
		}
	}

	/* The partner has it for a time yet. */
	static void takeLock(Job job) throws Exception {
		int before = passed;

		while (!held)
			Thread.sleep(1);
		long begin = System.nanoTime();
		lock.lock();
		job.parkedSince(begin);
		taken++;
		lock.unlock();
		while (passed == before)
			Thread.sleep(1);
	}

	static void awaitCondition(Job job) throws Exception {
		table.lock();
		long begin = System.nanoTime();
		served.awaitNanos(PAUSE_NS);
		job.parkedSince(begin);
		table.unlock();
	}

	static void parkForGate(Job job) throws Exception {
		long begin = System.nanoTime();

		LockSupport.parkNanos(gate, PAUSE_NS);
		job.parkedSince(begin);
	}

	static void parkForNothing(Job job) throws Exception {
		long begin = System.nanoTime();

		LockSupport.parkNanos(PAUSE_NS);
		job.parkedSince(begin);
	}

	/* It has been unparked before: it returns at once. */
	static void parkShortly(Job job) throws Exception {
		for (int i = 0; i < 100; i++) {
			LockSupport.unpark(job);
			LockSupport.park(gate);
		}
		Thread.sleep(PAUSE_MS);
	}

	/* Whoever wants it has begun to wait before the time begins, however late it comes. */
	static void holdLock() throws Exception {
		int before = taken;

		lock.lock();
		held = true;
		while (takes.getState() != Thread.State.WAITING)
			Thread.sleep(1);
		Thread.sleep(PAUSE_MS);
		held = false;
		lock.unlock();
		/* Or it would be too late, and park once more. */
		while (taken == before)
			Thread.sleep(1);
		passed++;
	}

	static final Job takes = new Job("lock");

	static class Holder extends Thread {
		Holder() {
			super("holder");
			setDaemon(true);
		}

		public void run() {
			try {
				while (true)
					holdLock();
			} catch (Exception e) {
				throw new RuntimeException(e);
			}
		}
	}

	public static void main(String[] args) throws Exception {
		Job[] jobs = { takes, new Job("condition"), new Job("blocker"), new Job("nothing"), new Job("short") };

		rounds = Integer.parseInt(args[0]);
		/* What is done for the first time takes long. */
		for (int i = 0; i < 5; i++) {
			awaitCondition(new Job(""));
			parkForGate(new Job(""));
			parkForNothing(new Job(""));
		}
		System.out.println("ready");
		System.in.read();
		new Holder().start();
		for (Job job : jobs)
			job.start();
		for (Job job : jobs) {
			while (job.isAlive())
				Thread.sleep(5);
			System.out.println(job.getName() + " " + job.parks + " " + job.ns + " " + job.longest);
		}
		System.out.println("done");
		System.in.read();
		System.exit(0);
	}
}
