// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;

/**
 * Kept SHARE MEGABYTES: at each line on standard input it allocates so many megabytes of arrays, of which it keeps
 * the share, then garbage until all of it has been looked at, and prints how many bytes it keeps.
 */
class Kept {
	/** Arrays of 1,000 bytes take 1,016: 16 of header, a multiple of 8. */
	private static final int LENGTH = 1000, BYTES = 1016, BATCH = 50;
	private static final long GARBAGE = 256L << 20;
	private static final List<byte[]> kept = new ArrayList<>();
	private static volatile byte[] last;

	private static byte[] leak() {
		return new byte[LENGTH];
	}

	/** Dropped before the next one is made: else the last collection, which that may cause, would find it alive. */
	private static void drop() {
		last = null;
		last = new byte[LENGTH];
	}

	private static double due;

	/** Called often, so that it is compiled as a whole. */
	private static void allocate(double share, int count) {
		for (int n = count; n > 0; n--) {
			due += share;
			if (due >= 1) {
				kept.add(leak());
				due--;
			} else {
				drop();
			}
		}
	}

	private static void collect(int count) {
		for (int n = count; n > 0; n--)
			drop();
	}

	public static void main(String[] args) throws java.io.IOException, InterruptedException {
		double share = Double.parseDouble(args[0]);
		long bytes = Long.parseLong(args[1]) << 20;

		kept.add(leak());
		kept.clear();
		System.out.println("ready");
		while (System.in.read() == '\n') {
			for (long n = bytes / BYTES / BATCH; n > 0; n--) {
				allocate(share, BATCH);
				Thread.sleep(2); // no faster than samples may come
			}
			for (long n = GARBAGE / BYTES / BATCH; n > 0; n--)
				collect(BATCH);
			last = null;
			System.out.println("kept " + (long)kept.size() * BYTES + " bytes");
		}
	}
}
