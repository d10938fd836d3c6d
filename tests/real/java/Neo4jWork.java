// SPDX-License-Identifier: Apache-2.0
import java.nio.file.Path;
import java.util.Map;
import org.neo4j.dbms.api.DatabaseManagementService;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.graphdb.GraphDatabaseService;
import org.neo4j.graphdb.Transaction;

/** A graph of people who know each other, asked for friends of friends while it grows. Arguments: directory, seconds. */
public class Neo4jWork {
	static final int THREADS = 2, PEOPLE = 2000;

	public static void main(String[] args) throws Exception {
		DatabaseManagementService service = new DatabaseManagementServiceBuilder(Path.of(args[0])).build();
		GraphDatabaseService graph = service.database("neo4j");
		long end = System.nanoTime() + Long.parseLong(args[1]) * 1_000_000_000L;
		Thread[] threads = new Thread[THREADS];

		ask(graph, "UNWIND range(0, $n - 1) AS i CREATE (:Person {id: i, name: 'p' + i})", Map.of("n", PEOPLE));
		ask(graph, "CREATE INDEX FOR (p:Person) ON (p.id)", Map.of());
		for (int i = 0; i < THREADS; i++) {
			int first = i;
			threads[i] = new Thread(() -> work(graph, first, end), "asks-" + i);
			threads[i].start();
		}
		System.out.println("ready");
		for (Thread thread : threads)
			thread.join();
		service.shutdown();
	}

	static void work(GraphDatabaseService graph, int number, long end) {
		while (System.nanoTime() < end) {
			number = (number * 31 + 7) % PEOPLE;
			ask(graph, "MATCH (a:Person {id: $a}), (b:Person) WHERE b.id % 97 = $m CREATE (a)-[:KNOWS]->(b)",
				Map.of("a", number, "m", number % 97));
			ask(graph, "MATCH (a:Person {id: $a})-[:KNOWS]->()-[:KNOWS]->(c) RETURN c.name, count(*) AS n ORDER BY n DESC LIMIT 5",
				Map.of("a", number));
		}
	}

	static void ask(GraphDatabaseService graph, String query, Map<String, Object> parameters) {
		try (Transaction transaction = graph.beginTx()) {
			transaction.execute(query, parameters).resultAsString();
			transaction.commit();
		}
	}
}
