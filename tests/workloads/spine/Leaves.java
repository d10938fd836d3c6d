// SPDX-License-Identifier: Apache-2.0
import java.math.BigInteger;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/** The ends of a path, by letter: each works for some microseconds. */
final class Leaves {
    private Leaves() {
    }

    static Link of(char letter) {
        switch (letter) {
        case 'a': return new Allocate();
        case 'b': return new BigNumbers();
        case 'c': return new Checksum();
        case 'd': return new Deflate();
        case 'g': return new Digest();
        case 'j': return new InC();
        case 'k': return new Load();
        case 'm': return new Maths();
        case 'n': return new Nothing();
        case 'q': return new Retransform();
        case 's': return new Sort();
        case 't': return new Throw(true);
        case 'u': return new Throw(false);
        case 'v': return new Tiny();
        case 'y': return new Copy();
        default: throw new IllegalArgumentException("no leaf " + letter);
        }
    }

    static byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i * i >> 3);
        }
        return bytes;
    }

    static final class Nothing extends Link {
        @Override
        public long step(Path path, int depth) {
            return path.sink++;
        }
    }

    static final class Sort extends Link {
        private final int[] numbers = new int[120];

        @Override
        public long step(Path path, int depth) {
            long begin = path.begin();
            int x = path.round++;
            for (int i = 0; i < numbers.length; i++) {
                numbers[i] = x = x * 1103515245 + 12345;
            }
            Arrays.sort(numbers);
            path.end(begin);
            return numbers[3];
        }
    }

    static final class Checksum extends Link {
        private final byte[] data = bytes(3000);

        @Override
        public long step(Path path, int depth) {
            long begin = path.begin();
            CRC32 crc = new CRC32();
            crc.update(data, 0, data.length - (path.round++ & 63));
            path.end(begin);
            return crc.getValue();
        }
    }

    static final class Copy extends Link {
        private final byte[] from = bytes(4000);
        private final byte[] to = bytes(4000);
        private final Object[] things = new Object[200];
        private final Object[] others = new String[200];

        @Override
        public long step(Path path, int depth) {
            long begin = path.begin();
            int start = path.round++ & 31;
            System.arraycopy(from, start, to, 3, 3000);
            System.arraycopy(to, 0, to, start, 900);
            System.arraycopy(others, start, things, 0, 100);
            Arrays.fill(from, 0, 700, (byte) start);
            path.end(begin);
            return to[start] + things.length;
        }
    }

    static final class Deflate extends Link {
        private final Deflater deflater = new Deflater(1);
        private final Inflater inflater = new Inflater();
        private final byte[] data = bytes(300);
        private final byte[] room = new byte[600];

        @Override
        public long step(Path path, int depth) {
            long begin = path.begin();
            deflater.reset();
            deflater.setInput(data);
            deflater.finish();
            int count = deflater.deflate(room);
            inflater.reset();
            inflater.setInput(room, 0, count);
            try {
                return inflater.inflate(data);
            } catch (DataFormatException e) {
                throw new IllegalStateException(e);
            } finally {
                path.end(begin);
            }
        }
    }

    static final class Digest extends Link {
        private final MessageDigest digest;
        private final byte[] data = bytes(500);

        Digest() {
            try {
                digest = MessageDigest.getInstance("SHA-256");
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public long step(Path path, int depth) {
            long begin = path.begin();
            long first = digest.digest(data)[0];
            path.end(begin);
            return first;
        }
    }

    static final class BigNumbers extends Link {
        private final BigInteger a = new BigInteger(1, bytes(150));
        private final BigInteger b = new BigInteger(1, bytes(130));

        @Override
        public long step(Path path, int depth) {
            long begin = path.begin();
            long length = a.multiply(b).add(a.multiply(a)).bitLength();
            path.end(begin);
            return length;
        }
    }

    static final class Maths extends Link {
        @Override
        public long step(Path path, int depth) {
            long begin = path.begin();
            double x = (path.round++ & 1023) * 0.01;
            double sum = 0;
            for (int i = 0; i < 8; i++) {
                sum += Math.sin(x + i) * Math.exp(-x) + Math.pow(x, 1.7) + Math.log(x + i + 1)
                    + Math.tan(x) + Math.cos(sum);
            }
            long rounded = Math.round((sum * 1000) % 3.7);
            path.end(begin);
            return (long) sum + rounded;
        }
    }

    static final class Allocate extends Link {
        private final Map<Integer, String> map = new HashMap<>();

        @Override
        public long step(Path path, int depth) {
            long begin = path.begin();
            int key = path.round++;
            map.put(key & 127, "value " + key);
            String found = map.get(key * 7 & 127);
            byte[] room = new byte[100 + (key & 255)];
            long hash = found == null ? 0 : found.hashCode();
            path.end(begin);
            return room.length + hash;
        }
    }

    static final class InC extends Link {
        @Override
        public long step(Path path, int depth) {
            long begin = path.begin();
            long done = Native.work(1);
            path.end(begin);
            return done;
        }
    }

    /** Throws through as many of the links that catch as there are. */
    static final class Throw extends Link {
        private final boolean withTrace;
        private int levels;

        Throw(boolean withTrace) {
            this.withTrace = withTrace;
        }

        @Override
        public long step(Path path, int depth) {
            long begin = path.begin();
            Thrown thrown = new Thrown(withTrace);
            thrown.levels = levels++ % 3;
            path.end(begin);
            throw thrown;
        }
    }

    interface Getter {
        int get(int x);
    }

    static final class One implements Getter {
        @Override
        public int get(int x) {
            return x + 1;
        }
    }

    static final class Two implements Getter {
        private int field = 3;

        @Override
        public int get(int x) {
            return field ^= x;
        }
    }

    static final class Three implements Getter {
        @Override
        public int get(int x) {
            return 3;
        }
    }

    static final class Four implements Getter {
        @Override
        public int get(int x) {
            return x > 100 ? x >> 1 : -x;
        }
    }

    /** Methods that are hardly more than their entry and their return. */
    static final class Tiny extends Link {
        private final Getter[] getters = {new One(), new Two(), new Three(), new Four()};

        @Override
        public long step(Path path, int depth) {
            long begin = path.begin();
            int x = path.round++;
            for (int i = 0; i < 200; i++) {
                x = getters[i & 3].get(x) + getters[i + 1 & 3].get(x);
            }
            path.end(begin);
            return x;
        }
    }

    /** Loads a class, which is garbage at once. */
    static final class Load extends Link {
        @Override
        public long step(Path path, int depth) {
            long begin = Native.clock();
            long hash = Loading.anew();
            path.leafNs += Native.clock() - begin;
            return hash;
        }
    }

    /** With all of its path on the stack, makes old code of it and goes on for a while. */
    static final class Retransform extends Link {
        private static final long EVERY_NS = 60_000_000;
        private static final long WORK_NS = 20_000_000;
        private static long last;

        @Override
        public long step(Path path, int depth) {
            long now = System.nanoTime();
            if (now - last < EVERY_NS) {
                return path.mix(now);
            }
            long begin = Native.clock();
            Again.retransform();
            last = System.nanoTime();
            long sum = 0;
            do {
                sum += path.mix(sum);
            } while (System.nanoTime() - last < WORK_NS && !Spine.stop);
            path.leafNs += Native.clock() - begin;
            return sum;
        }
    }
}
