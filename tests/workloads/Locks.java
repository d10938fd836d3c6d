// SPDX-License-Identifier: Apache-2.0
/**
 * Threads that wait for monitors, as often as they say: Locks ROUNDS. Each kind has a thread, which waits ROUNDS times in
 * a method of its name and measures each time. "ready"; it begins when it reads a line. A line for each: KIND WAITS NANOSECONDS.
 * "done". Then it stays until it reads a line.
 */
public class Locks {
	static final int PAUSE_MS = 12;
	static int rounds;

	/** The classes of what is waited for. */
	static class Gate {
		volatile boolean held;
		volatile int passed;
	}

	static class Alarm {
	}

	static class Box {
		volatile boolean full;
		volatile boolean waited;
	}

	static class Quiet {
		int count;
	}

	static final Gate gate = new Gate();
	static final Alarm alarm = new Alarm();
	static final Box box = new Box();
	static final Quiet quiet = new Quiet();

	static class Job extends Thread {
		long waits, ns;

		Job(String name) {
			super(name);
		}

		/* Each is a wait of its own, whatever comes between. */
		void step() throws Exception {
			switch (getName()) {
			case "enter": enterGate(this); break;
			case "timed": waitForAlarm(this); break;
			case "notified": waitForBox(this); break;
			case "free": enterQuiet(this); break;
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
	static void enterGate(Job job) throws Exception {
		int passed = gate.passed;

		while (!gate.held)
			Thread.sleep(1);
		job.ns -= System.nanoTime();
		passGate(job);
		while (gate.passed == passed)
			Thread.sleep(1);
	}

	static void passGate(Job job) {
		synchronized (gate) {
			job.ns += System.nanoTime();
			job.waits++;
		}
	}

	static void waitForAlarm(Job job) throws Exception {
		synchronized (alarm) {
			job.ns -= System.nanoTime();
			alarm.wait(PAUSE_MS);
			job.ns += System.nanoTime();
			job.waits++;
		}
	}

	static void waitForBox(Job job) throws Exception {
		synchronized (box) {
			box.waited = true;
			while (!box.full) {
				job.ns -= System.nanoTime();
				box.wait();
				job.ns += System.nanoTime();
				job.waits++;
			}
			box.full = false;
		}
	}

	/* Nobody else wants it. */
	static void enterQuiet(Job job) throws Exception {
		for (int i = 0; i < 1000; i++)
			synchronized (quiet) {
				quiet.count++;
			}
		Thread.sleep(PAUSE_MS);
	}

	/* Whoever wants it has begun to wait before the time begins, however late it comes. */
	static void holdGate() throws Exception {
		synchronized (gate) {
			gate.held = true;
			while (enters.getState() != Thread.State.BLOCKED)
				Thread.sleep(1);
			Thread.sleep(PAUSE_MS);
			gate.held = false;
		}
		gate.passed++;
		Thread.sleep(2);
	}

	static void fillBox() throws Exception {
		while (!box.waited)
			Thread.sleep(1);
		Thread.sleep(PAUSE_MS);
		synchronized (box) {
			box.waited = false;
			box.full = true;
			box.notifyAll();
		}
	}

	static final Job enters = new Job("enter");

	static class Partner extends Thread {
		Partner(String name) {
			super(name);
			setDaemon(true);
		}

		public void run() {
			try {
				while (true)
					if (getName().equals("holder"))
						holdGate();
					else
						fillBox();
			} catch (Exception e) {
				throw new RuntimeException(e);
			}
		}
	}

	public static void main(String[] args) throws Exception {
		Job[] jobs = { enters, new Job("timed"), new Job("notified"), new Job("free") };

		rounds = Integer.parseInt(args[0]);
		System.out.println("ready");
		System.in.read();
		new Partner("holder").start();
		new Partner("filler").start();
		for (Job job : jobs)
			job.start();
		for (Job job : jobs) {
			while (job.isAlive())
				Thread.sleep(5);
			System.out.println(job.getName() + " " + job.waits + " " + job.ns);
		}
		System.out.println("done");
		System.in.read();
		System.exit(0);
	}
}
