// SPDX-License-Identifier: Apache-2.0
import java.util.Random;

/**
 * usage: Dispatch SECONDS
 * Two methods that call others of many classes: byInterface() those of Face, byClass() those of Base, each object as often as its
 * row of SHARES says (of 16), in an order that nothing foresees. No class is frequent enough to be inlined. Prints "ready" when
 * both are compiled.
 */
public final class Dispatch {
    interface Face {
        int turn(int n);
    }

    static final class FaceOne implements Face {
        public int turn(int n) {
            return n + 1;
        }
    }

    static final class FaceTwo implements Face {
        public int turn(int n) {
            return n ^ 2;
        }
    }

    static final class FaceThree implements Face {
        public int turn(int n) {
            return n + 3;
        }
    }

    static final class FaceFour implements Face {
        public int turn(int n) {
            return n ^ 4;
        }
    }

    abstract static class Base {
        abstract int move(int n);
    }

    static final class BaseOne extends Base {
        int move(int n) {
            return n + 1;
        }
    }

    static final class BaseTwo extends Base {
        int move(int n) {
            return n ^ 2;
        }
    }

    static final class BaseThree extends Base {
        int move(int n) {
            return n + 3;
        }
    }

    static final class BaseFour extends Base {
        int move(int n) {
            return n ^ 4;
        }
    }

    static final int[] SHARES = { 8, 4, 3, 1 };
    static final Face[] FACES = { new FaceOne(), new FaceTwo(), new FaceThree(), new FaceFour() };
    static final Base[] BASES = { new BaseOne(), new BaseTwo(), new BaseThree(), new BaseFour() };
    static volatile int sink;

    static int byInterface(Face[] faces, int n) {
        int sum = n;
        for (Face face : faces) {
            sum = face.turn(sum);
        }
        return sum;
    }

    static int byClass(Base[] bases, int n) {
        int sum = n;
        for (Base base : bases) {
            sum = base.move(sum);
        }
        return sum;
    }

    /** Which of four comes next, by their shares. */
    static int next(Random random) {
        int left = random.nextInt(16);
        int at = 0;
        while (left >= SHARES[at]) {
            left -= SHARES[at++];
        }
        return at;
    }

    public static void main(String[] args) {
        Random random = new Random(1);
        Face[] faces = new Face[4096];
        Base[] bases = new Base[4096];
        for (int i = 0; i < faces.length; i++) {
            faces[i] = FACES[next(random)];
            bases[i] = BASES[next(random)];
        }
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        int rounds = 0;
        int sum = 0;
        while (System.nanoTime() < end) {
            for (int i = 0; i < 64; i++) {
                sum = byClass(bases, byInterface(faces, sum));
            }
            sink = sum;
            if (++rounds == 400) {
                System.out.println("ready");
            }
        }
    }
}
