// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.locks.LockSupport;

/**
 * A JVM that does one thing as often as it can, until it is ended: Storm KIND THREADS. "ready" when all have begun.
 *   allocations  small arrays
 *   parks        waits of a nanosecond
 *   monitors     all for the same one
 *   exceptions   with stacks, thrown and caught
 */
public class Storm {
	static volatile Object sink;
	static final Object gate = new Object();
	static int count;

	static void allocate() {
		for (;;)
			sink = new byte[64];
	}

	static void park() {
		for (;;)
			LockSupport.parkNanos(gate, 1);
	}

	static void enter() {
		for (;;)
			synchronized (gate) {
				count++;
				Thread.yield();
			}
	}

	static void throwOne() throws Exception {
		throw new Exception("again");
	}

	static void catchAll() {
		for (;;) {
			try {
				throwOne();
			} catch (Exception e) {
				sink = e;
			}
		}
	}

	static Runnable kind(String name) {
		switch (name) {
		case "allocations": return Storm::allocate;
		case "parks": return Storm::park;
		case "monitors": return Storm::enter;
		case "exceptions": return Storm::catchAll;
		default: throw new IllegalArgumentException(name);
		}
	}

	public static void main(String[] args) throws Exception {
		for (int i = 0; i < Integer.parseInt(args[1]); i++)
			new Thread(kind(args[0]), args[0]).start();
		System.out.println("ready");
	}
}
