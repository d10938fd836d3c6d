// SPDX-License-Identifier: Apache-2.0

/**
 * Virtual threads that wait for a monitor, one after the other: VirtualLocks ROUNDS, JDK 21 on. "ready"; it begins when it reads a line. Each has the
 * name "request N", waits once, in passGate(), for what the main thread has, and measures that. "enter WAITS NANOSECONDS", "done".
 * Then it stays until it reads a line.
 */
public class VirtualLocks {
	static final int PAUSE_MS = 12;

	/** The class of what is waited for. */
	static class Gate {
	}

	static final Gate gate = new Gate();
	static long waits, ns;

	static void enterGate() {
		long begin = System.nanoTime();

		passGate(begin);
	}

	static void passGate(long begin) {
		synchronized (gate) {
			ns += System.nanoTime() - begin;
			waits++;
		}
	}

	static void waitOnce(int round) throws Exception {
		Thread request;

		synchronized (gate) {
			request = VirtualThreads.start("request " + round, VirtualLocks::enterGate);
			while (request.getState() != Thread.State.BLOCKED)
				Thread.sleep(1);
			Thread.sleep(PAUSE_MS);
		}
		request.join();
	}

	public static void main(String[] args) throws Exception {
		int rounds = Integer.parseInt(args[0]);

		System.out.println("ready");
		System.in.read();
		for (int i = 0; i < rounds; i++)
			waitOnce(i);
		System.out.println("enter " + waits + " " + ns);
		System.out.println("done");
		System.in.read();
	}
}
