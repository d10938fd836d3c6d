#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the product at random, one line at a time, and counts what the unit tests notice.

Places are drawn from all code that runs on the host (userspace/, jvmagent/, the headers of bpf/): operators,
constants, conditions, swapped arguments, removed statements. What does not compile is drawn again. A
change that no test can notice because it changes nothing may be explained in scripts/mutate-equivalent.txt.
`make check-random-mutants`.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import sys
import tempfile
import threading
import time

from mutation import equivalents, places
from mutation.bench import Bench, applied
from mutation.root import RootTests
from mutation.tree import ROOT, Broken, copy_tree

PRODUCT = ("bpf/**/*.h", "userspace/**/*.[ch]", "jvmagent/*.[ch]")
CAUGHT, NO_END, EXPLAINED, SURVIVED, INVALID = "caught", "no end", "explained", "SURVIVED", "invalid"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", help="of the draw; without one, a new one that is printed")
    parser.add_argument("--number", type=int, default=300, metavar="N", help="of changes that compile (300)")
    parser.add_argument("--under", default="", metavar="PATHS", help="only files that begin with one of PATHS")
    parser.add_argument("--at-least", type=float, default=90, metavar="PERCENT", help="fail below this share (90)")
    parser.add_argument("--root", default="", metavar="FILES", help="show survivors to these files of tests/root")
    parser.add_argument("-j", type=int, default=1, dest="jobs", metavar="N", help="so many at a time (1)")
    return parser.parse_args()


def product(bench, under):
    """The files that may be broken, and how many are not compiled for the host."""
    names = sorted(str(p.relative_to(ROOT)) for pattern in PRODUCT for p in ROOT.glob(pattern))
    names = [n for n in names if n.startswith(tuple(under.split()) or "")]
    kept = [n for n in names if n.startswith("jvmagent/") or bench.is_compiled(n)]
    return {n: (ROOT / n).read_text(encoding="utf-8") for n in kept}, len(names) - len(kept)


def noticed(by):
    """BY a test and what failed in it. A test that did not end says less than an assertion: it may be the machine."""
    test, failed = by
    return NO_END if failed == ["no end"] else CAUGHT, f"{test}: {failed[0]}"


class Run:
    """One draw: what became of each change."""
    def __init__(self, bench, options, top):
        self.bench, self.top, self.explained = bench, top, equivalents.read()
        self.own = threading.local()
        self.root = RootTests(bench, options.root.split()) if options.root else None
        self.results = collections.Counter()
        self.by_folder = collections.defaultdict(collections.Counter)
        self.survivors = []

    def tree(self):
        if not hasattr(self.own, "tree"):
            self.own.tree = pathlib.Path(tempfile.mkdtemp(dir=self.top))
            copy_tree(self.own.tree)
        return self.own.tree

    def judge(self, change):
        """(what became of it, a word to that, seconds)"""
        begin, tree, undo = time.monotonic(), self.tree(), None
        try:
            undo = applied(tree, change)
            caught = self.bench.caught_by(tree, change)
        except Broken:
            return INVALID, "", time.monotonic() - begin
        finally:
            if undo:
                undo()
        result, word = noticed(caught) if caught else (SURVIVED, self.why(change))
        if not caught and equivalents.key(change) in self.explained:
            result, word = EXPLAINED, self.explained[equivalents.key(change)]
        return result, word, time.monotonic() - begin

    def try_root(self, change):
        undo = applied(self.tree(), change)
        try:
            return self.root.caught_by(self.tree(), change)
        finally:
            undo()

    def why(self, change):
        tests = self.bench.tests_for(change)
        return f"run by {len(tests)} tests" if tests else "no test runs it"

    def note(self, change, result, word, seconds):
        if result == SURVIVED and self.root:
            caught = self.try_root(change)
            result, word = noticed(caught) if caught else (result, word)
        self.results[result] += 1
        if result == INVALID:
            return
        self.by_folder["/".join(change.file.split("/")[:-1])][result] += 1
        if result == SURVIVED:
            self.survivors.append(change)
        print(f"{result:<9} {change.file}:{change.number} {change.how} ({word}; {seconds:.1f} s)\n"
              f"\t- {change.old.strip()}\n\t+ {change.new.strip()}", flush=True)

    def done(self):
        return sum(n for result, n in self.results.items() if result != INVALID)


def share(results):
    tried = sum(n for result, n in results.items() if result != INVALID)
    return 100 * (tried - results[SURVIVED]) / tried if tried else 0


def summary(run):
    print(f"{'':<24}{'tried':>7}{'caught':>8}{'no end':>8}{'explained':>11}{'survived':>10}{'share':>8}")
    for name, results in [*sorted(run.by_folder.items()), ("all", run.results)]:
        tried = sum(n for result, n in results.items() if result != INVALID)
        print(f"{name:<24}{tried:>7}{results[CAUGHT]:>8}{results[NO_END]:>8}{results[EXPLAINED]:>11}"
              f"{results[SURVIVED]:>10}{share(results):>7.1f}%")


def run_all(run, drawn, number, jobs):
    """Judge what was drawn, in its order, until NUMBER of them have compiled."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        changes = iter(drawn)
        waiting = collections.deque()
        while run.done() < number:
            while len(waiting) < jobs and (change := next(changes, None)):
                waiting.append((change, pool.submit(run.judge, change)))
            if not waiting:
                return
            change, future = waiting.popleft()
            run.note(change, *future.result())


def main():
    options = arguments()
    # Without the libraries no test links, and all of them would be left out.
    if "LDLIBS" not in os.environ:
        raise SystemExit("mutate.py: run `make check-random-mutants`, which says the compiler and libraries")
    seed = options.seed or str(random.randrange(10 ** 6))
    bench = Bench(options.jobs)
    files, not_compiled = product(bench, options.under)
    drawn, left = places.draw(files, seed)
    stale = list(equivalents.stale())
    print(f"seed {seed}: {len(drawn)} lines of {len(files)} files can be broken; {not_compiled} headers are only of "
          "the BPF programs")
    print(f"left out by rule: {', '.join(f'{n} {rule}' for rule, n in left.most_common())}")
    unfit = [f"{test}: {name}" for test, names in bench.unfit.items() for name in sorted(names)]
    print(f"{len(bench.tests)} unit tests; without a mutant {len(unfit)} of their functions fail in this build and do "
          f"not count{': ' if unfit else ''}{', '.join(unfit)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="hostprof-mutate-") as top:
        run = Run(bench, options, pathlib.Path(top))
        begin = time.monotonic()
        run_all(run, drawn, options.number, options.jobs)
    summary(run)
    for text in stale:
        print(f"mutate-equivalent.txt explains what is no longer there: {text}")
    print(f"seed {seed}: {share(run.results):.1f} % of {run.done()} caught or explained, "
          f"{run.results[INVALID]} more did not compile, in {time.monotonic() - begin:.0f} s")
    return 1 if stale or not run.done() or share(run.results) < options.at_least else 0


sys.exit(main())
