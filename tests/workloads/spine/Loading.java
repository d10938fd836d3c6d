// SPDX-License-Identifier: Apache-2.0
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;

/** Classes that are loaded while a path runs. */
final class Loading extends ClassLoader {
    private static final byte[] LOADED = read("Loaded.class");
    private static final byte[] INITIALIZED = read("Initialized.class");

    private Loading() {
        super(Loading.class.getClassLoader());
    }

    private Class<?> define(byte[] code) {
        return defineClass(null, code, 0, code.length);
    }

    /** A new class of "Loaded", and an object of it. */
    static long anew() {
        try {
            return new Loading().define(LOADED).getDeclaredConstructor().newInstance().hashCode();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Knows one class before anybody asks for it, so that finding it calls nobody. */
    static final class Preset extends ClassLoader {
        Preset() {
            super(Loading.class.getClassLoader());
            defineClass(null, INITIALIZED, 0, INITIALIZED.length);
        }
    }

    static byte[] read(String name) {
        try (InputStream in = Loading.class.getResourceAsStream(name)) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            for (int b = in.read(); b >= 0; b = in.read()) {
                out.write(b);
            }
            return out.toByteArray();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
