// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Methods that get compiled: Jitted. "ready"; it begins when it reads a line: methods of several shapes run until C1 and C2 have had
 * them, one of them is entered in its loop, some have long names. "done" when nothing is compiled any more, as far as it knows; it ends when it reads another line.
 */
public class Jitted {
	static final Pattern PATTERN = Pattern.compile("[0-9]+|v(a|b)*");
	static volatile long sink;

	static class ANameThatIsAsLongAsThoseOfGeneratedClassesOftenAreAndLongerYet {
		static long aMethodWithAParameterOfThat(ANameThatIsAsLongAsThoseOfGeneratedClassesOftenAreAndLongerYet a, String[][] b, int c) {
			return b.length + c * 31L;
		}
	}

	interface Shape {
		long area(int n);
	}

	static class Square implements Shape {
		public long area(int n) {
			return (long) n * n;
		}
	}

	static class Ring implements Shape {
		public long area(int n) {
			return 3L * n * n - (n >> 1);
		}
	}

	static long sum(Shape[] shapes, int n) {
		long sum = 0;

		for (Shape shape : shapes)
			sum += shape.area(n);
		return sum;
	}

	/* Called once, so that it is entered where it is. */
	static long endlessLoop() {
		long sum = 1;

		for (int i = 0; i < 20000000; i++)
			sum = sum * 31 + (sum >> 7) + i;
		return sum;
	}

	static long texts(int n) {
		StringBuilder text = new StringBuilder();

		for (int i = 0; i < 8; i++)
			text.append(n + i).append(',');
		return text.toString().hashCode();
	}

	static long tables(int n) {
		Map<Integer, String> table = new TreeMap<>();
		List<String> list = new ArrayList<>();

		for (int i = 0; i < 12; i++)
			table.put((n * 31 + i * 17) & 63, "v" + i);
		for (Map.Entry<Integer, String> entry : table.entrySet())
			list.add(entry.getValue() + entry.getKey());
		Collections.sort(list);
		return list.hashCode() + PATTERN.matcher(list.get(0)).replaceAll("x").length();
	}

	static void work() {
		Shape[] shapes = { new Square(), new Ring(), new Square() };
		String[][] rows = new String[3][];

		for (int i = 0; i < 60000; i++) {
			sink += sum(shapes, i);
			sink += texts(i);
			if (i % 16 == 0)
				sink += tables(i);
			sink += ANameThatIsAsLongAsThoseOfGeneratedClassesOftenAreAndLongerYet.aMethodWithAParameterOfThat(null, rows, i);
		}
		sink += endlessLoop();
	}

	public static void main(String[] args) throws Exception {
		System.out.println("ready");
		System.in.read();
		for (int i = 0; i < 6; i++)
			work();
		/* What is in the queues yet. */
		Thread.sleep(1500);
		System.out.println("done");
		System.in.read();
		System.exit(0);
	}
}
