// SPDX-License-Identifier: Apache-2.0

/** libspine.so, whose C functions have odd frames and no frame pointers. */
final class Native {
    private Native() {
    }

    static void load(String path) {
        System.load(path);
    }

    /** spine_outer → spine_inner → next.step(path, depth). */
    static native long call(Step next, Path path, int depth);

    /** Works in libc at the end of two C functions. */
    static native long work(int rounds);

    /** CPU time of this thread, in nanoseconds. */
    static native long clock();

    /** From now on a signal interrupts this thread every so many microseconds. */
    static native void interrupt(int everyMicroseconds);
}
