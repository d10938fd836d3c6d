# SPDX-License-Identifier: Apache-2.0
"""A Java program with a JNI library, made at random, that knows the exact frames of its stacks.

Each of its threads runs paths in turn. A path is a chain of functions: methods in Java, native
methods in C, C functions below those, and Java methods that C calls back. Every function calls the
next one of the path and stays on the stack, so that the frames of a path are the list of its
functions; at its end a leaf in Java or C spins. The thread's own CPU clock says what each path
took. What is decided here is written as source code by random_sources.py;
random_judge.py knows from it which stacks there can be.
"""
import collections
import random

JAVA, NATIVE, C = "java", "native", "c"
TYPES = ("int", "long", "double")
WORKERS = 2
# Physical frames of the longest path; hostprof keeps 2048.
MAX_FRAMES = 1700
# What lies between C and the Java method that it calls: jni_*, JavaCalls::call*, the call stub.
CALL_BACK_FRAMES = 5

Path = collections.namedtuple("Path", "number weight functions extras")


class Function:
    """One function of the program, and the functions that it may call."""

    def __init__(self, number, kind, worker, rng, leaf=False):
        self.kind, self.leaf, self.rng = kind, leaf, rng
        self.class_name = f"T{worker}"
        self.name = f"{'leaf' if leaf else kind}{number}"
        self.symbol = f"made{worker}_{self.name}"  # in C
        self.params = rng.choices(TYPES, k=rng.choice((0, 1, 2, 5, 9, 14)))
        self.result = rng.choice(TYPES + ("void",))
        self.static = kind == C or rng.random() < 0.5
        self.synchronized = kind != C and not leaf and rng.random() < 0.1
        self.locals = rng.choices(TYPES, k=rng.choice((3, 4, 7, 12, 25, 44)))
        self.callees = []

    @property
    def frames(self):
        """Names of its frames, root first."""
        method = f"made.{self.class_name}.{self.name}"
        if self.kind == JAVA:
            return [method]
        return [method, f"Java_made_{self.class_name}_{self.name}"] if self.kind == NATIVE else \
            [self.symbol]

    def index_of(self, callee):
        """The number by which it knows a callee."""
        if callee not in self.callees:
            self.callees.append(callee)
        return self.callees.index(callee)


def calls_back(caller, callee):
    return caller.kind != JAVA and callee.kind != C


class Program:
    """SEED decides everything; DEEP: with two paths of hundreds of frames for each thread."""

    def __init__(self, seed, deep=True):
        self.rng, self.deep = random.Random(seed), deep
        self.functions, self.workers = [], []
        for worker in range(WORKERS):
            self.workers.append(self._make_paths(worker))

    def _new(self, kind, worker, leaf=False):
        self.functions.append(Function(len(self.functions), kind, worker, self.rng, leaf))
        return self.functions[-1]

    def _kind_after(self, kind, native_share):
        """C can be called from C only."""
        if self.rng.random() >= native_share:
            return JAVA
        return NATIVE if kind == JAVA else self.rng.choice((NATIVE, C, C, C))

    def _make_paths(self, worker):
        """Some of functions of their own, one deep and one very deep recursion in a pool."""
        rng = self.rng
        chains = [self._distinct_chain(worker, rng.randint(5, 40)) for _ in range(3)]
        if self.deep:
            chains += [self._pooled_chain(worker, rng.randint(60, 300), 0.5),
                       self._pooled_chain(worker, rng.randint(600, 900), 0.15)]
        paths = []
        for number, chain in enumerate(chains):
            steps = [caller.index_of(callee) for caller, callee in zip(chain, chain[1:])]
            paths.append(Path(number, rng.uniform(1, 10), chain, steps))
        return paths

    def _leaf(self, worker, last):
        kind = self.rng.choice((JAVA, C)) if last.kind != JAVA else self.rng.choice((JAVA, NATIVE))
        return self._new(kind, worker, leaf=True)

    def _distinct_chain(self, worker, depth):
        chain = [self._new(JAVA, worker)]
        share = self.rng.choice((0.1, 0.5, 0.9))
        while len(chain) < depth - 1:
            chain.append(self._new(self._kind_after(chain[-1].kind, share), worker))
        return chain + [self._leaf(worker, chain[-1])]

    def _pooled_chain(self, worker, depth, native_share):
        """A random walk; each function has few callees, so that they meet again."""
        rng = self.rng
        pool = [self._new(JAVA, worker) for _ in range(6)]
        pool += [self._new(kind, worker) for kind in (NATIVE, NATIVE, C, C)]
        chain, frames = [self._new(JAVA, worker)], 0
        while len(chain) < depth - 1 and frames < MAX_FRAMES:
            kind = self._kind_after(chain[-1].kind, native_share)
            chain.append(rng.choice([function for function in pool if function.kind == kind]))
            frames += len(chain[-1].frames) + CALL_BACK_FRAMES * calls_back(*chain[-2:])
        return chain + [self._leaf(worker, chain[-1])]
