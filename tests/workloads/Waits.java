// SPDX-License-Identifier: Apache-2.0
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that wait for what is known: Waits MS. Each kind has a thread, which waits in KIND() again and again and measures
 * how long it lives, and how long of that it runs. "ready"; it begins when it reads a line, and ends after MS, with a line for each: KIND WAITS
 * NANOSECONDS LIFE, how long it did not run, and how long it has lived. "done".
 */
public class Waits {
	static final int PAUSE_MS = 15;
	static volatile boolean ends;
	static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

	/** How long this thread has not run; beyond a constant. */
	static long idle() {
		return System.nanoTime() - threads.getCurrentThreadCpuTime();
	}

	interface Wait {
		void run() throws Exception;
	}

	static class Job extends Thread {
		final Wait wait;
		long waits, ns, life;

		Job(String name, Wait wait) {
			super(name);
			this.wait = wait;
		}

		public void run() {
			long born = System.nanoTime(), from = idle();

			try {
				while (!ends) {
					wait.run();
					waits++;
				}
				ns = idle() - from;
				life = System.nanoTime() - born;
			} catch (Exception e) {
				throw new RuntimeException(e);
			}
		}
	}

	/** What others do, so that the jobs have something to wait for. */
	static void partner(Wait step) {
		Thread thread = new Thread(() -> {
			try {
				while (!ends)
					step.run();
			} catch (Exception e) {
				throw new RuntimeException(e);
			}
		}, "partner");
		thread.setDaemon(true);
		thread.start();
	}

	static void sleep() throws Exception {
		Thread.sleep(PAUSE_MS);
	}

	static void park() {
		LockSupport.parkNanos(PAUSE_MS * 1000000L);
	}

	static final Object waited = new Object();

	static void objectWait() throws Exception {
		synchronized (waited) {
			waited.wait(PAUSE_MS);
		}
	}

	/* The partner has the monitor, but for a moment. */
	static final Object monitor = new Object();
	static volatile boolean isHeld;
	static int entered;

	static void hold() throws Exception {
		synchronized (monitor) {
			isHeld = true;
			Thread.sleep(PAUSE_MS);
			isHeld = false;
		}
		Thread.sleep(2);
	}

	static void enter() {
		synchronized (monitor) {
			entered++;
		}
	}

	static void monitorEnter() throws Exception {
		while (!isHeld && !ends)
			LockSupport.parkNanos(1000000);
		enter();
	}

	/* A lock of java.util.concurrent parks. */
	static final ReentrantLock lock = new ReentrantLock();

	static void holdLock() throws Exception {
		lock.lock();
		Thread.sleep(PAUSE_MS);
		lock.unlock();
		Thread.sleep(2);
	}

	static void lockEnter() {
		while (!lock.isLocked() && !ends)
			LockSupport.parkNanos(1000000);
		lock.lock();
		lock.unlock();
	}

	static DataInputStream in;
	static DataOutputStream out;

	static void connect() throws Exception {
		try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			Socket from = new Socket(server.getInetAddress(), server.getLocalPort());

			out = new DataOutputStream(from.getOutputStream());
			in = new DataInputStream(server.accept().getInputStream());
		}
	}

	static void socketRead() throws Exception {
		in.readByte();
	}

	static void send() throws Exception {
		Thread.sleep(PAUSE_MS);
		out.writeByte(1);
	}

	public static void main(String[] args) throws Exception {
		Job[] jobs = {
			new Job("sleep", Waits::sleep),
			new Job("park", Waits::park),
			new Job("objectWait", Waits::objectWait),
			new Job("monitorEnter", Waits::monitorEnter),
			new Job("lockEnter", Waits::lockEnter),
			new Job("socketRead", Waits::socketRead),
		};

		connect();
		partner(Waits::hold);
		partner(Waits::holdLock);
		partner(Waits::send);
		/* What is done for the first time loads what it needs, from a disk perhaps. */
		for (Job job : jobs)
			job.wait.run();
		idle();
		System.out.println("ready");
		System.in.read();
		for (Job job : jobs)
			job.start();
		Thread.sleep(Long.parseLong(args[0]));
		ends = true;
		for (Job job : jobs) {
			job.join(1000);
			System.out.println(job.getName() + " " + job.waits + " " + job.ns + " " + job.life);
		}
		System.out.println("done");
		System.in.read();
		System.exit(0);
	}
}
