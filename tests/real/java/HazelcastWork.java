// SPDX-License-Identifier: Apache-2.0
import com.hazelcast.config.Config;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.map.IMap;

/** Threads that change a map's entries, each in a partition's own thread, to which they hand over. Argument: seconds. */
public class HazelcastWork {
	static final int THREADS = 4, KEYS = 1000;

	public static void main(String[] args) throws Exception {
		Config config = new Config();
		config.setProperty("hazelcast.phone.home.enabled", "false");
		config.setProperty("hazelcast.socket.bind.any", "false");
		config.getNetworkConfig().setPublicAddress("127.0.0.1");
		config.getNetworkConfig().getInterfaces().setEnabled(true).addInterface("127.0.0.1");
		config.getNetworkConfig().getJoin().getAutoDetectionConfig().setEnabled(false);
		config.getNetworkConfig().getJoin().getMulticastConfig().setEnabled(false);
		HazelcastInstance instance = Hazelcast.newHazelcastInstance(config);
		IMap<Integer, Long> map = instance.getMap("map");
		long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
		Thread[] threads = new Thread[THREADS];

		for (int i = 0; i < THREADS; i++) {
			int first = i;
			threads[i] = new Thread(() -> work(map, first, end), "work-" + i);
			threads[i].start();
		}
		System.out.println("ready");
		for (Thread thread : threads)
			thread.join();
		instance.shutdown();
	}

	static void work(IMap<Integer, Long> map, int key, long end) {
		while (System.nanoTime() < end) {
			map.put(key % KEYS, 1L + map.getOrDefault(key % KEYS, 0L));
			key += 7;
		}
	}
}
