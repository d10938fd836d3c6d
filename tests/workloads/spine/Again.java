// SPDX-License-Identifier: Apache-2.0
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;

/**
 * A Java agent: makes the classes of the links anew, so that their compiled frames are deoptimised.
 * With the argument "old" the new class files differ in a constant: the methods on the stack are old
 * versions then, which no class knows any more.
 */
public final class Again implements ClassFileTransformer {
    /** The four bytes of 0x53504e45 in Links.class. */
    private static final byte[] CONSTANT = {0x53, 0x50, 0x4e, 0x45};
    private static Instrumentation instrumentation;
    private static int version;

    public static void premain(String argument, Instrumentation given) {
        instrumentation = given;
        if ("old".equals(argument)) {
            given.addTransformer(new Again(), true);
        }
    }

    static synchronized void retransform() {
        try {
            instrumentation.retransformClasses(Links.A.class, Links.B.class, Links.C.class,
                Links.D.class, Links.E.class, Links.G.class);
        } catch (UnmodifiableClassException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> before, ProtectionDomain domain,
                            byte[] code) {
        if (name == null || !name.startsWith("Links$")) {
            return null;
        }
        byte[] changed = code.clone();
        for (int i = 0; i + 4 <= changed.length; i++) {
            if (isConstant(changed, i)) {
                changed[i + 3] = (byte) ++version;
            }
        }
        return changed;
    }

    /** Its last byte may be one of an earlier version. */
    private static boolean isConstant(byte[] code, int at) {
        return code[at] == CONSTANT[0] && code[at + 1] == CONSTANT[1] && code[at + 2] == CONSTANT[2];
    }
}
