// SPDX-License-Identifier: Apache-2.0
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.util.TreeMap;

/** A server whose requests each run on a virtual thread, sleep, and are mounted again. Argument: port. */
public class HelidonWork {
	public static void main(String[] args) {
		WebServer.builder()
			.host("127.0.0.1")
			.port(Integer.parseInt(args[0]))
			.routing(routing -> routing.get("/work", HelidonWork::work))
			.build()
			.start();
		System.out.println("ready");
	}

	static void work(ServerRequest request, ServerResponse response) throws Exception {
		TreeMap<String, Integer> map = fill(200);
		Thread.sleep(5);
		response.send("sum " + sum(map));
	}

	static TreeMap<String, Integer> fill(int size) {
		TreeMap<String, Integer> map = new TreeMap<>();
		for (int i = 0; i < size; i++)
			map.merge("key" + (i * 31 % 97), i, Integer::sum);
		return map;
	}

	static long sum(TreeMap<String, Integer> map) {
		return map.values().stream().mapToLong(Integer::longValue).sum();
	}
}
