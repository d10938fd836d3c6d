// SPDX-License-Identifier: Apache-2.0
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/**
 * usage: Offsets
 * Says where the JVM keeps the fields of a virtual thread's stack chunks, "name=offset" (65535: there is no such
 * field), then "ready", and waits for a line. Wants --add-exports=java.base/jdk.internal.misc=ALL-UNNAMED.
 */
public final class Offsets {
    private Offsets() {
    }

    private static void print(Object unsafe, Method offset, String type, String... fields)
            throws ReflectiveOperationException {
        Class<?> of = Class.forName("jdk.internal.vm." + type);
        for (String field : fields) {
            try {
                System.out.println(field + "=" + offset.invoke(unsafe, of, field));
            } catch (InvocationTargetException e) {
                System.out.println(field + "=65535");
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Class<?> type = Class.forName("jdk.internal.misc.Unsafe");
        Object unsafe = type.getMethod("getUnsafe").invoke(null);
        Method offset = type.getMethod("objectFieldOffset", Class.class, String.class);
        print(unsafe, offset, "StackChunk", "parent", "size", "sp", "bottom", "argsize");
        print(unsafe, offset, "Continuation", "tail");
        System.out.println("ready");
        System.in.read();
    }
}
