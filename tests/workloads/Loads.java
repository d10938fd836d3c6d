// SPDX-License-Identifier: Apache-2.0
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.function.IntUnaryOperator;

/**
 * Classes that get loaded: Loads COPIES. "ready"; it begins when it reads a line: in byName() two of its own and some of the JDK's, in
 * byLambda() hidden ones, in byLoader() one and the same class by COPIES loaders of its own. "done"; it ends when it reads another line.
 */
public class Loads {
	static final String[] NAMES = {
		"java.util.zip.CRC32C", "java.util.concurrent.Exchanger", "java.text.ChoiceFormat",
		"java.util.concurrent.Phaser", "java.net.CookieManager", "java.math.MathContext",
		"java.util.StringJoiner", "java.util.concurrent.StampedLock", "java.util.concurrent.locks.StampedLock",
	};
	static volatile Object sink;

	static class First {
	}

	static class Second extends First {
	}

	/** What is loaded again and again. */
	public static class Copy {
	}

	static class Loader extends ClassLoader {
		final byte[] bytes;

		Loader(byte[] bytes) {
			super(Loads.class.getClassLoader());
			this.bytes = bytes;
		}

		Class<?> load() {
			return defineClass("Loads$Copy", bytes, 0, bytes.length);
		}
	}

	static byte[] read(String name) throws IOException {
		ByteArrayOutputStream out = new ByteArrayOutputStream();

		try (InputStream in = Loads.class.getResourceAsStream(name)) {
			byte[] buffer = new byte[4096];

			for (int n = in.read(buffer); n > 0; n = in.read(buffer))
				out.write(buffer, 0, n);
		}
		return out.toByteArray();
	}

	static void byName() {
		sink = new Second();
		for (String name : NAMES) {
			try {
				sink = Class.forName(name);
			} catch (ClassNotFoundException e) {
				sink = e;
			}
		}
	}

	static void byLambda(int n) {
		IntUnaryOperator plus = i -> i + n, times = i -> i * n, both = i -> plus.applyAsInt(times.applyAsInt(i));

		sink = both.applyAsInt(n);
	}

	static void byLoader(byte[] bytes, int copies) {
		for (int i = 0; i < copies; i++)
			sink = new Loader(bytes).load();
	}

	public static void main(String[] args) throws Exception {
		byte[] bytes = read("Loads$Copy.class");

		new Loader(bytes);
		System.out.println("ready");
		System.in.read();
		byName();
		byLambda(args.length);
		byLoader(bytes, Integer.parseInt(args[0]));
		System.out.println("done");
		System.in.read();
		System.exit(0);
	}
}
