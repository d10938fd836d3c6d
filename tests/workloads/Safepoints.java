// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;

/**
 * Safepoints of several kinds: Safepoints ROUNDS. "ready"; it begins when it reads a line: in each round it makes garbage and
 * small objects that live for some rounds, in every eighth it asks for all threads' stacks, in the middle for a collection. "done";
 * it stands still then and exits when it reads another line.
 */
public class Safepoints {
	static final int KEPT = 40, SMALL = 10000;
	static volatile Object sink;

	static void round(List<byte[][]> kept) {
		byte[][] few = new byte[SMALL][];

		for (int i = 0; i < 4000; i++)
			sink = new byte[4096];
		for (int i = 0; i < SMALL; i++)
			few[i] = new byte[48];
		kept.add(few);
		if (kept.size() > KEPT)
			kept.remove(0);
	}

	public static void main(String[] args) throws Exception {
		int rounds = Integer.parseInt(args[0]);
		List<byte[][]> kept = new ArrayList<>();

		round(kept);
		System.out.println("ready");
		System.in.read();
		for (int i = 0; i < rounds; i++) {
			round(kept);
			if (i % 8 == 0)
				sink = Thread.getAllStackTraces();
			if (i == rounds / 2)
				System.gc();
		}
		/* Room enough that no collector goes on. */
		kept.clear();
		sink = null;
		System.gc();
		System.out.println("done");
		System.in.read();
	}
}
