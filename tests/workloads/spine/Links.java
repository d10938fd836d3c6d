// SPDX-License-Identifier: Apache-2.0
import java.lang.reflect.InvocationTargetException;

/** The links of a path, by letter. */
final class Links {
    static final long LOOP_NS = 20_000_000;
    /** Until the program is warm: no loop is compiled before all of its receivers were seen. */
    static final long SHORT_LOOP_NS = 20_000;
    /** What Again changes in a class file. */
    static final int CONSTANT = 0x53504e45;

    static final Op[] LAMBDAS = {
        (path, depth) -> path.steps[depth].step(path, depth) + 1,
        (path, depth) -> path.steps[depth].step(path, depth) + 2,
        (path, depth) -> path.steps[depth].step(path, depth) + 3,
        (path, depth) -> path.steps[depth].step(path, depth) + 5,
    };

    private Links() {
    }

    static Link of(char letter) {
        switch (letter) {
        case 'A': return new A();
        case 'B': return new B();
        case 'C': return new C();
        case 'D': return new D();
        case 'E': return new E();
        case 'F': return new F();
        case 'G': return new G();
        case 'H': return new H();
        case 'J': return new Jni();
        case 'K': return new ClassInit();
        case 'L': return new Lambda();
        case 'M': return new Handle();
        case 'O': return new Loop();
        case 'R': return new Reflect();
        case 'X': return new Catch();
        case 'Y': return new Locked();
        default: throw new IllegalArgumentException("no link " + letter);
        }
    }

    static final class A extends Link {
        @Override
        public long step(Path path, int depth) {
            long x = path.mix(depth);
            return path.steps[depth + 1].step(path, depth + 1) * 31 + x + CONSTANT;
        }
    }

    static final class B extends Link {
        @Override
        public long step(Path path, int depth) {
            long x = path.mix(depth);
            long y = path.mix(x);
            long z = path.mix(y);
            return path.steps[depth + 1].step(path, depth + 1) + x * y ^ z + CONSTANT;
        }
    }

    static final class C extends Link {
        @Override
        public long step(Path path, int depth) {
            double d = depth * 0.5;
            double e = d * path.round + CONSTANT;
            return (long) (path.steps[depth + 1].step(path, depth + 1) * d + e) + path.mix(depth);
        }
    }

    static final class D extends Link {
        @Override
        public long step(Path path, int depth) {
            return path.steps[depth + 1].step(path, depth + 1) + CONSTANT;
        }
    }

    static final class E extends Link {
        @Override
        public long step(Path path, int depth) {
            long x = path.mix(depth);
            return path.links[depth + 1].step(path, depth + 1) * 31 + x;
        }
    }

    static final class F extends Link {
        private long seen;

        @Override
        public long step(Path path, int depth) {
            long x = path.links[depth + 1].step(path, depth + 1);
            seen += x;
            return x + seen;
        }
    }

    static final class G extends Link {
        @Override
        public long step(Path path, int depth) {
            long sum = 0;
            for (int i = 0; i < 4; i++) {
                sum += path.mix(i);
            }
            return sum + path.links[depth + 1].step(path, depth + 1);
        }
    }

    static final class H extends Link {
        @Override
        public long step(Path path, int depth) {
            return path.links[depth + 1].step(path, depth + 1);
        }
    }

    static final class Locked extends Link {
        @Override
        public synchronized long step(Path path, int depth) {
            return path.steps[depth + 1].step(path, depth + 1) + path.mix(depth);
        }
    }

    static final class Lambda extends Link {
        @Override
        public long step(Path path, int depth) {
            return LAMBDAS[path.turn++ & 3].apply(path, depth + 1) + depth;
        }
    }

    static final class Reflect extends Link {
        @Override
        public long step(Path path, int depth) {
            try {
                return (Long) Path.STEP.invoke(path.links[depth + 1], path, depth + 1);
            } catch (InvocationTargetException e) {
                if (e.getCause() instanceof Thrown) {
                    throw (Thrown) e.getCause();
                }
                throw new IllegalStateException(e);
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static final class Handle extends Link {
        @Override
        public long step(Path path, int depth) {
            try {
                return (long) Path.HANDLES[depth % 3].invokeExact(path.steps[depth + 1], path,
                    depth + 1);
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static final class Catch extends Link {
        @Override
        public long step(Path path, int depth) {
            try {
                return path.steps[depth + 1].step(path, depth + 1) + depth;
            } catch (Thrown e) {
                if (e.levels-- > 0) {
                    throw e;
                }
                return path.mix(depth);
            }
        }
    }

    /** Stays: the call is in a loop that was compiled while it ran. */
    static final class Loop extends Link {
        @Override
        public long step(Path path, int depth) {
            long until = System.nanoTime() + (Spine.warm ? LOOP_NS : SHORT_LOOP_NS);
            long sum = 0;
            do {
                for (int i = 0; i < 8; i++) {
                    sum += path.steps[depth + 1].step(path, depth + 1) + path.mix(i);
                }
            } while (System.nanoTime() < until && !Spine.stop);
            return sum;
        }
    }

    static final class Jni extends Link {
        @Override
        public long step(Path path, int depth) {
            return Native.call(path.steps[depth + 1], path, depth + 1) + 1;
        }
    }

    /** Goes on in the initializer of a class that is loaded for it. */
    static final class ClassInit extends Link {
        @Override
        public long step(Path path, int depth) {
            Spine spine = (Spine) Thread.currentThread();
            spine.path = path;
            spine.depth = depth + 1;
            try {
                Class.forName("Initialized", true, new Loading.Preset());
            } catch (ClassNotFoundException e) {
                throw new IllegalStateException(e);
            }
            return spine.depth;
        }
    }
}
