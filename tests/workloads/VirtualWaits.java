// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads that wait for what is known, beside the partners of Waits: VirtualWaits MS, JDK 21 on. Each kind has a thread, which waits in KIND() again and
 * again and measures each time; "busy" computes between its waits, "often" waits for a fraction of a millisecond at a time, "forever" parks once, "restless" for a millisecond at a time as long as the JVM lives, and three "eternal-N" have parked before "ready". It begins when it reads a
 * line, and ends after MS, with a line for each: KIND WAITS NANOSECONDS LIFE, how long it waited, and how long it has lived. Then "early PARK ENTER", when
 * (System.nanoTime()) one was back that has parked, and one that has waited for a monitor, since before "ready". "done". Then it stays until it reads a line.
 */
public class VirtualWaits {
	static volatile long sink;

	interface Wait {
		/** How long it has waited. */
		long run() throws Exception;
	}

	static class Job {
		final String name;
		final Wait wait;
		Thread thread;
		long waits, ns, life;

		Job(String name, Wait wait) {
			this.name = name;
			this.wait = wait;
		}

		void start() throws Exception {
			thread = VirtualThreads.start(name, this::live);
		}

		void live() {
			long born = System.nanoTime();

			try {
				while (!Waits.ends) {
					ns += wait.run();
					waits++;
				}
				life = System.nanoTime() - born;
			} catch (Exception e) {
				throw new RuntimeException(e);
			}
		}
	}

	static long sleep() throws Exception {
		long begin = System.nanoTime();

		Thread.sleep(Waits.PAUSE_MS);
		return System.nanoTime() - begin;
	}

	static long park() {
		long begin = System.nanoTime();

		LockSupport.parkNanos(Waits.PAUSE_MS * 1000000L);
		return System.nanoTime() - begin;
	}

	static final Object waited = new Object();

	static long objectWait() throws Exception {
		synchronized (waited) {
			long begin = System.nanoTime();

			waited.wait(Waits.PAUSE_MS);
			return System.nanoTime() - begin;
		}
	}

	static int entered;

	static void enter() {
		synchronized (Waits.monitor) {
			entered++;
		}
	}

	static long monitorEnter() throws Exception {
		long begin = System.nanoTime();

		while (!Waits.isHeld && !Waits.ends)
			LockSupport.parkNanos(1000000);
		enter();
		return System.nanoTime() - begin;
	}

	static long lockEnter() {
		long begin = System.nanoTime();

		while (!Waits.lock.isLocked() && !Waits.ends)
			LockSupport.parkNanos(1000000);
		Waits.lock.lock();
		Waits.lock.unlock();
		return System.nanoTime() - begin;
	}

	static long socketRead() throws Exception {
		long begin = System.nanoTime();

		Waits.in.readByte();
		return System.nanoTime() - begin;
	}

	static long compute(int rounds) {
		long sum = sink;

		for (int i = 0; i < rounds; i++)
			sum = sum * 31 + (i ^ sum >>> 7);
		return sum;
	}

	static long busy() throws Exception {
		sink = compute(2000000);
		return sleep();
	}

	static long often() {
		long begin = System.nanoTime();

		LockSupport.parkNanos(200000);
		return System.nanoTime() - begin;
	}

	static void forever() {
		while (true)
			LockSupport.park();
	}

	/** One that waits before "ready", and goes on when all others have ended. */
	static class Early {
		volatile boolean goes;
		volatile long ended;

		void earlyPark() {
			while (!goes)
				LockSupport.park();
			ended = System.nanoTime();
		}

		synchronized void earlyEnter() {
			ended = System.nanoTime();
		}
	}

	/** One that leaves its carrier and comes back to the JVM's end. */
	static void restless() {
		while (true)
			LockSupport.parkNanos(1000000);
	}

	static void runAll(Job[] jobs, long ms) throws Exception {
		Waits.ends = false;
		Waits.partner(Waits::hold);
		Waits.partner(Waits::holdLock);
		Waits.partner(Waits::send);
		for (Job job : jobs)
			job.start();
		Thread.sleep(ms);
		Waits.ends = true;
		/* The partner may have gone before its last byte was read. */
		Waits.out.writeByte(1);
		for (Job job : jobs)
			job.thread.join(1000);
	}

	static Job[] jobs() {
		return new Job[] {
			new Job("sleep", VirtualWaits::sleep),
			new Job("park", VirtualWaits::park),
			new Job("objectWait", VirtualWaits::objectWait),
			new Job("monitorEnter", VirtualWaits::monitorEnter),
			new Job("lockEnter", VirtualWaits::lockEnter),
			new Job("socketRead", VirtualWaits::socketRead),
			new Job("busy", VirtualWaits::busy),
			new Job("often", VirtualWaits::often),
		};
	}

	public static void main(String[] args) throws Exception {
		Job[] jobs = jobs();

		Waits.connect();
		/* What is done for the first time takes long. */
		runAll(jobs(), 500);
		Early parks = new Early(), enters = new Early();

		for (int i = 0; i < 3; i++)
			VirtualThreads.start("eternal-" + i, VirtualWaits::forever);
		Thread parked = VirtualThreads.start("earlyPark", parks::earlyPark), entered = parked;

		synchronized (enters) {
			/* Before that its carrier would wait with it, of which there may be but two. */
			if (Integer.parseInt(System.getProperty("java.specification.version")) >= 24)
				entered = VirtualThreads.start("earlyEnter", enters::earlyEnter);
			Thread.sleep(100);
			System.out.println("ready");
			System.in.read();
			VirtualThreads.start("forever", VirtualWaits::forever);
			VirtualThreads.start("restless", VirtualWaits::restless);
			runAll(jobs, Long.parseLong(args[0]));
		}
		parks.goes = true;
		LockSupport.unpark(parked);
		parked.join();
		entered.join();
		for (Job job : jobs)
			System.out.println(job.name + " " + job.waits + " " + job.ns + " " + job.life);
		System.out.println("early " + parks.ended + " " + enters.ended);
		System.out.println("done");
		System.in.read();
		System.exit(0);
	}
}
