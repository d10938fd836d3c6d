// SPDX-License-Identifier: Apache-2.0

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;

/**
 * usage: NativeMemory TURNS
 * Says "ready", and when a line comes on standard input a thread takes TURNS buffers of 100,008 bytes in direct(), and as many
 * pieces of 50,008 bytes in unsafe(), all outside the heap. Says "done", and ends with its input.
 */
public final class NativeMemory implements Runnable {
    static final ByteBuffer[] KEPT = new ByteBuffer[100];
    final int turns;
    final Object unsafe;
    final Method allocate;
    final Method free;

    NativeMemory(int turns) throws Exception {
        Class<?> type = Class.forName("sun.misc.Unsafe");
        Field field = type.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        this.turns = turns;
        unsafe = field.get(null);
        allocate = type.getMethod("allocateMemory", long.class);
        free = type.getMethod("freeMemory", long.class);
    }

    static void direct(int turn) {
        KEPT[turn % KEPT.length] = ByteBuffer.allocateDirect(100008);
    }

    void unsafe() throws Exception {
        free.invoke(unsafe, allocate.invoke(unsafe, 50008L));
    }

    @Override
    public void run() {
        try {
            for (int turn = 0; turn < turns; turn++) {
                direct(turn);
                unsafe();
                // Unwind tables are made meanwhile; reflection makes itself an accessor at the 16th call.
                if (turn == 0 || turn == 20) {
                    Thread.sleep(turn == 0 ? 700 : 300);
                }
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        NativeMemory memory = new NativeMemory(Integer.parseInt(args[0]));
        Thread worker = new Thread(memory, "taker");
        System.out.println("ready");
        System.in.read();
        worker.start();
        worker.join();
        System.out.println("done");
        while (System.in.read() >= 0) {
            // until it ends
        }
    }
}
