// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.locks.LockSupport;

/**
 * Threads whose life is longer than a recording: "parkedPark", "parkedWait" and "parkedSleep" are off the cpus all the
 * time, "equal0" to "equal2" compute for a while and sleep, "busy" computes, "short" sleeps shortly. Each is in a method
 * of its name. "ready"; it goes on until its input ends.
 */
public class Walls {
	static volatile long sink;

	static void compute(long ns) {
		long until = System.nanoTime() + ns;

		while (System.nanoTime() < until)
			sink++;
	}

	static void parkedPark() {
		while (true)
			LockSupport.park();
	}

	static synchronized void parkedWait() throws Exception {
		while (true)
			Walls.class.wait();
	}

	static void parkedSleep() throws Exception {
		while (true)
			Thread.sleep(3600_000);
	}

	static void equal() throws Exception {
		while (true) {
			compute(3_000_000);
			Thread.sleep(5);
		}
	}

	static void busy() {
		while (true)
			compute(1_000_000);
	}

	static void rest() throws Exception {
		while (true) {
			compute(50_000);
			Thread.sleep(0, 200_000);
		}
	}

	interface Job {
		void run() throws Exception;
	}

	static void start(String name, Job job) {
		Thread thread = new Thread(() -> {
			try {
				job.run();
			} catch (Exception e) {
				throw new RuntimeException(e);
			}
		}, name);

		thread.setDaemon(true);
		thread.start();
	}

	public static void main(String[] args) throws Exception {
		start("parkedPark", Walls::parkedPark);
		start("parkedWait", Walls::parkedWait);
		start("parkedSleep", Walls::parkedSleep);
		for (int i = 0; i < 3; i++)
			start("equal" + i, Walls::equal);
		start("busy", Walls::busy);
		start("short", Walls::rest);
		Thread.sleep(300);
		System.out.println("ready");
		while (System.in.read() >= 0)
			;
	}
}
