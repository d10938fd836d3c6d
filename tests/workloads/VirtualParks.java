// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Virtual threads that park, and leave their carriers meanwhile: VirtualParks ROUNDS CROWD, JDK 21 on. Each kind has a thread of its name,
 * which does so ROUNDS times in a method of its own and measures each time; "sleep" and "yield" wait for no object. Beside them are CROWD
 * threads, which all park ROUNDS times. "ready"; it begins when it reads a line. A line for each: KIND PARKS NANOSECONDS. "done". Then
 * it stays until it reads a line.
 */
public class VirtualParks {
	static final long PAUSE_NS = 12 * 1000000L;
	static final int YIELDS = 50;

	/** The classes of what is parked for. */
	static class Gate {
	}

	static class Fence {
	}

	static final Gate gate = new Gate();
	static final Fence fence = new Fence();
	static final ReentrantLock lock = new ReentrantLock();
	static final ReentrantLock table = new ReentrantLock();
	static final Condition served = table.newCondition();
	static int rounds;

	static class Told {
		final AtomicLong parks = new AtomicLong(), ns = new AtomicLong();

		/* From BEGIN on it has parked. */
		void add(long begin) {
			ns.addAndGet(System.nanoTime() - begin);
			parks.incrementAndGet();
		}
	}

	interface Step {
		void run(Told told) throws Exception;
	}

	/* Somebody else has it, until this one has waited for a while. */
	static void takeLock(Told told) throws Exception {
		Thread self = Thread.currentThread();
		Thread holder;
		boolean[] held = new boolean[1];

		holder = VirtualThreads.start("holder", () -> holdLock(self, held));
		synchronized (held) {
			while (!held[0])
				held.wait();
		}
		long begin = System.nanoTime();
		lock.lock();
		told.add(begin);
		lock.unlock();
		holder.join();
	}

	static void holdLock(Thread waits, boolean[] held) {
		lock.lock();
		try {
			synchronized (held) {
				held[0] = true;
				held.notify();
			}
			while (!lock.hasQueuedThread(waits))
				Thread.sleep(1);
			Thread.sleep(PAUSE_NS / 1000000);
		} catch (InterruptedException e) {
			throw new RuntimeException(e);
		} finally {
			lock.unlock();
		}
	}

	static void awaitCondition(Told told) throws Exception {
		table.lock();
		long begin = System.nanoTime();
		served.awaitNanos(PAUSE_NS);
		told.add(begin);
		table.unlock();
	}

	static void parkForGate(Told told) {
		long begin = System.nanoTime();

		LockSupport.parkNanos(gate, PAUSE_NS);
		told.add(begin);
	}

	/* A hundred of them stay below the 2,000 a second of which all are told. */
	static void parkInCrowd(Told told) {
		long begin = System.nanoTime();

		LockSupport.parkNanos(fence, 6 * PAUSE_NS);
		told.add(begin);
	}

	static void sleepAWhile(Told told) throws Exception {
		long begin = System.nanoTime();

		Thread.sleep(PAUSE_NS / 1000000);
		told.add(begin);
	}

	static void yieldOften(Told told) {
		long begin = System.nanoTime();

		for (int i = 0; i < YIELDS; i++)
			Thread.yield();
		told.add(begin);
	}

	static Thread start(String name, Told told, Step step) throws Exception {
		return VirtualThreads.start(name, () -> repeat(told, step));
	}

	static void repeat(Told told, Step step) {
		try {
			for (int i = 0; i < rounds; i++)
				step.run(told);
		} catch (Exception e) {
			throw new RuntimeException(e);
		}
	}

	static void runAll(int crowd, boolean tells) throws Exception {
		String[] names = { "lock", "condition", "blocker", "sleep", "yield", "crowd" };
		Step[] steps = { VirtualParks::takeLock, VirtualParks::awaitCondition, VirtualParks::parkForGate, VirtualParks::sleepAWhile,
				 VirtualParks::yieldOften, VirtualParks::parkInCrowd };
		Told[] told = new Told[names.length];
		Thread[] threads = new Thread[names.length - 1 + crowd];

		for (int i = 0; i < names.length; i++)
			told[i] = new Told();
		for (int i = 0; i < threads.length; i++) {
			int kind = Math.min(i, names.length - 1);

			threads[i] = start(names[kind], told[kind], steps[kind]);
		}
		for (Thread thread : threads)
			thread.join();
		for (int i = 0; tells && i < names.length; i++)
			System.out.println(names[i] + " " + told[i].parks + " " + told[i].ns);
	}

	public static void main(String[] args) throws Exception {
		/* What is done for the first time takes long. */
		rounds = 5;
		runAll(5, false);
		rounds = Integer.parseInt(args[0]);
		System.out.println("ready");
		System.in.read();
		runAll(Integer.parseInt(args[1]), true);
		System.out.println("done");
		System.in.read();
		System.exit(0);
	}
}
