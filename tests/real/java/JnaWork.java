// SPDX-License-Identifier: Apache-2.0
import com.sun.jna.Callback;
import com.sun.jna.Library;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.util.Random;

/** Threads that let the C library sort, which asks Java how two numbers compare: libffi's closures. Argument: seconds. */
public class JnaWork {
	static final int THREADS = 2, NUMBERS = 500;

	public interface C extends Library {
		interface Compare extends Callback {
			int compare(Pointer left, Pointer right);
		}

		void qsort(Pointer base, long count, long size, Compare compare);

		long strlen(String text);
	}

	static final C LIBC = Native.load("c", C.class);

	public static void main(String[] args) throws Exception {
		long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
		Thread[] threads = new Thread[THREADS];

		for (int i = 0; i < THREADS; i++) {
			threads[i] = new Thread(() -> work(end), "sort-" + i);
			threads[i].start();
		}
		System.out.println("ready");
		for (Thread thread : threads)
			thread.join();
	}

	static void work(long end) {
		Random random = new Random(1);
		C.Compare compare = JnaWork::compare;

		try (Memory memory = new Memory(4L * NUMBERS)) {
			while (System.nanoTime() < end) {
				for (int i = 0; i < NUMBERS; i++)
					memory.setInt(4L * i, random.nextInt());
				LIBC.qsort(memory, NUMBERS, 4, compare);
				if (LIBC.strlen("number " + memory.getInt(0)) < 8)
					throw new IllegalStateException("a short text");
			}
		}
	}

	static int compare(Pointer left, Pointer right) {
		return Integer.compare(left.getInt(0), right.getInt(0));
	}
}
