# SPDX-License-Identifier: Apache-2.0
"""A Java program of virtual threads that knows its frames; virtual_judge.py judges its carriers' stacks.

Every virtual thread runs Task.run > deepN > s(N-1) > ... > s0 > leaf, where s(k) is the method s0
to s6 by k modulo 7. Some pause at the leaf in one way or another, some on the way back at every level,
some never; some throw, from the leaf to deepN. In some, level 4 goes through a synchronized block, or level 3 through C.
"""
import os
import random

from random_sources import indented, mixing

CYCLE = 7
DEPTHS = (5, 12, 23, 40, 64, 100)
NAMES = [*(("int", name) for name in ("depth", "how", "n", "v0", "v1", "v2")), ("double", "v3")]

JAVA = """package made;

import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

public final class Virtual {
	static final int NEVER = 0, YIELD = 1, SLEEP = 2, PARK = 3, LOCK = 4, SYNC = 5, NATIVE = 6;
	static final int BACK = 7, THROW = 8, WAYS = 9;
	static final RuntimeException THROWN = new RuntimeException(null, null, false, false) { };
	static final int ROUNDS = Integer.getInteger("rounds", 4000);
	static final int[] DEPTHS = { %(depths)s };
	static final ReentrantLock LOCKED = new ReentrantLock();
	static final Object[] MONITORS = new Object[64];
	static volatile boolean stop;
	static volatile double sink;

	static native int down(int depth, int how, int n);

	/** Every other half second belongs to those that never pause; else one kind starves the other. */
	static boolean nobodyPauses() {
		return (System.nanoTime() >> 29 & 1) == 0;
	}

	static void pause(int how) {
		if (how == YIELD || how == NATIVE || how == THROW) {
			Thread.yield();
		} else if (how == SLEEP || how == SYNC) {
			LockSupport.parkNanos(1000000);
		} else if (how == PARK) {
			LockSupport.parkNanos(100000);
		} else if (how == LOCK) {
			LOCKED.lock();
			try {
				Thread.yield();
			} finally {
				LOCKED.unlock();
			}
		}
	}

%(methods)s
	/** So that collectors move what is in the heap: some collections a second, each fifth a whole one. */
	static void allocate() {
		Object[] kept = new Object[256];
		for (int k = 1; !stop; k++) {
			kept[k & 255] = new byte[4096];
			if ((k & 63) == 0) {
				LockSupport.parkNanos(1000000);
			}
			if ((k & 0x3fff) == 0) {
				System.gc();
			}
		}
	}

	public static void main(String[] args) throws Exception {
		System.load(args[0]);
		if (Boolean.getBoolean("allocating")) {
			new Thread(Virtual::allocate).start();
		}
		java.util.Arrays.setAll(MONITORS, k -> new Object());
		for (int k = 0; k < 48; k++) {
			Thread.ofVirtual().start(new Task(DEPTHS[k %% DEPTHS.length], 1 + k %% (WAYS - 1), 1 << 30));
		}
		Thread.sleep(1000);
		System.out.println("ready");
		long end = System.nanoTime() + Long.parseLong(args[1]) * 1000000000L;
		while (System.nanoTime() < end) {
			for (int depth : nobodyPauses() ? DEPTHS : new int[0]) {
				Thread.ofVirtual().start(new Task(depth, NEVER, 10));
			}
			for (boolean before = nobodyPauses(); before == nobodyPauses();) {
				Thread.sleep(5);
			}
		}
		stop = true;
		System.out.println("done");
		System.exit(0);
	}
}

final class Task implements Runnable {
	final int depth, how, rounds;

	Task(int depth, int how, int rounds) {
		this.depth = depth;
		this.how = how;
		this.rounds = rounds;
	}

	@Override
	public void run() {
%(locals)s		for (n = 0; n < rounds && !Virtual.stop; n++) {
			while (how != Virtual.NEVER && Virtual.nobodyPauses() && !Virtual.stop) {
				LockSupport.parkNanos(50000000);
			}
%(mixing)s			switch (depth) {
%(cases)s			}
			if (how != Virtual.NEVER) {
				Thread.yield();
			}
%(mixing)s		}
		Virtual.sink = v0 + v1 + v2 + v3;
		// A thread that never paused has no frame in the heap; so another one goes on for it.
		if (Virtual.nobodyPauses() && !Virtual.stop) {
			Thread.ofVirtual().start(this);
		}
	}
}
"""

NATIVE_SOURCE = """#include <jni.h>

JNIEXPORT jint JNICALL Java_made_Virtual_down(JNIEnv *env, jclass self, jint depth, jint how,
					      jint n)
{
	char odd[251 + (depth & 7)];
	jmethodID next = (*env)->GetStaticMethodID(env, self, "called2", "(III)I");

	__asm__ volatile("" : : "r"(&odd[0]) : "memory");
	return next ? (*env)->CallStaticIntMethod(env, self, next, depth, how, n) + odd[0] * 0 : 0;
}
"""


def method(rng, name, body, count=16):
    """A method that is too large to be inlined."""
    rows = ["int v0 = depth * 31, v1 = how + 7, v2 = n;", "double v3 = n;", *mixing_of(rng, count),
            *body, *mixing_of(rng, count), "return v0 + v1 + v2 + (int) v3;"]
    return f"\tstatic int {name}(int depth, int how, int n) {{\n{indented(rows, 2)}\t}}\n"


def mixing_of(rng, count):
    """Statements over the variables; parameters are read only."""
    return [row for row in mixing(rng, NAMES, 3 * count) if row.startswith("v")][:count]


def step(rng, number, kind="s"):
    """s(number): its level is its depth. Other kinds are called by one method only."""
    below = f"s{(number - 1) % CYCLE}(depth - 1, how, n)"
    other = {0: "depth == 0 ? leaf(0, how, n) : ", 3: "depth == 3 && how == NATIVE ? down(2, how, n) : ",
             4: "depth == 4 && how == SYNC ? locked(3, how, n) : "}.get(number, "")
    # The yield: frames above it, in the heap, come back one after the other.
    return method(rng, f"{kind}{number}", [f"v0 += {other}{below};",
                                      "if (how == BACK && (n + depth) % 3 == 0) {",
                                      "\tThread.yield();", "}"])


def methods(rng):
    text = [step(rng, number) for number in range(CYCLE)]
    # So that locked() or down() cannot be missing unseen.
    text += [step(rng, 3, "locked"), step(rng, 2, "called")]
    text += [method(rng, f"deep{depth}",
                    ["try {", f"\tv0 += s{(depth - 1) % CYCLE}({depth - 1}, how, n);",
                     "} catch (RuntimeException thrown) {", "\tv1++;", "}"])
             for depth in DEPTHS]
    text.append(method(rng, "locked", ["int own = System.identityHashCode(Thread.currentThread()) & 63;",
                                       "synchronized (MONITORS[own]) {", "\tv0 += locked3(3, how, n);",
                                       "}"]))
    # Each of these needs the one before, so that no compiler takes them out of the loop.
    spin = ["for (int turn = 0; turn < 8; turn++) {", "\tfor (int k = 0; k < ROUNDS; k++) {",
            *["\t\tv0 = v0 * 31 + (v1 ^ k);", "\t\tv1 ^= v0 >>> 3;", "\t\tv2 += v1 * 7 ^ v0;",
              "\t\tv3 = v3 * 0.5 + v2;"] * 4, "\t}", "\tpause(how);", "}",
            # Through frames that are in the heap.
            "if (how == THROW && n != -1) {", "\tthrow THROWN;", "}"]
    return "\n".join([*text, method(rng, "leaf", spin, 8)])


def write_sources(directory):
    rng = random.Random(1)
    os.makedirs(os.path.join(directory, "made"), exist_ok=True)
    cases = "".join(f"\t\t\tcase {depth}:\n\t\t\t\tv0 += Virtual.deep{depth}({depth}, how, n);\n"
                    "\t\t\t\tbreak;\n" for depth in DEPTHS)
    text = JAVA % {"depths": ", ".join(map(str, DEPTHS)), "methods": methods(rng), "cases": cases,
                   "locals": indented(["int n = 0, v0 = depth, v1 = how, v2 = 5;", "double v3 = 1;"], 2),
                   "mixing": indented(mixing_of(rng, 14), 3)}
    with open(os.path.join(directory, "made", "Virtual.java"), "w", encoding="ascii") as file:
        file.write(text)
    with open(os.path.join(directory, "virtual.c"), "w", encoding="ascii") as file:
        file.write(NATIVE_SOURCE)
