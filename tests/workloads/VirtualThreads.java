// SPDX-License-Identifier: Apache-2.0
import java.lang.reflect.Method;

/** Virtual threads of JDK 21 on, for programs that Java 8 compiles, which knows none. */
final class VirtualThreads {
	private VirtualThreads() {
	}

	static Thread start(String name, Runnable task) throws Exception {
		Class<?> builders = Class.forName("java.lang.Thread$Builder$OfVirtual");
		Method start = Class.forName("java.lang.Thread$Builder").getMethod("start", Runnable.class);
		Object builder = Thread.class.getMethod("ofVirtual").invoke(null);

		builder = builders.getMethod("name", String.class).invoke(builder, name);
		return (Thread)start.invoke(builder, task);
	}
}
