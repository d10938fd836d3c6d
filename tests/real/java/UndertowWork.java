// SPDX-License-Identifier: Apache-2.0
import io.undertow.Undertow;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.handlers.BlockingHandler;
import java.util.HashMap;
import java.util.Map;

/** A server each of whose requests throws exceptions, of its own and of the JVM's, and catches them some calls above. Argument: port. */
public class UndertowWork {
	static final int DEEP = 12;

	public static void main(String[] args) {
		Undertow.builder()
			.addHttpListener(Integer.parseInt(args[0]), "127.0.0.1")
			.setHandler(new BlockingHandler(UndertowWork::work))
			.build()
			.start();
		System.out.println("ready");
	}

	static void work(HttpServerExchange exchange) {
		Map<String, Integer> seen = new HashMap<>();

		for (int i = 0; i < 40; i++)
			seen.merge(outcome(i), 1, Integer::sum);
		exchange.getResponseSender().send(seen.toString());
	}

	static String outcome(int number) {
		try {
			return "sum " + deeper(number, DEEP) % 3;
		} catch (IllegalStateException | ArithmeticException | NullPointerException | ArrayIndexOutOfBoundsException thrown) {
			return thrown.getClass().getSimpleName();
		}
	}

	static int deeper(int number, int deep) {
		if (deep == 0)
			return fail(number);
		try {
			return deeper(number, deep - 1) + deep;
		} finally {
			touched += deep;
		}
	}

	static int touched;

	static int fail(int number) {
		int[] few = new int[3];
		Object none = number % 5 == 2 ? null : few;

		if (number % 5 == 0)
			throw new IllegalStateException("number " + number);
		few[number % 5 == 4 ? 7 : 1] = none.hashCode();
		return few[1] / (number % 5 == 1 ? 0 : 3);
	}
}
