#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the product one line at a time; a unit test must notice each. `make check-mutants`.

A mutant (scripts/mutants/) is an exact piece of text, its replacement, and the tests that are for that
behaviour. It is put into a copy of the sources; the library's sources that see it are compiled
beside the test and take the place of their parts of libhostprof.a, so that one mutant costs a
second. A source of the agent is seen by the tests that include it. A test may be a script, which is run in
the copy. A piece that is not there exactly once, a mutant that does not compile, or one that no test
notices fails the run; so does a test that fails without any mutant.

    scripts/check-mutants.py [NAME…]      only these mutants or areas; --list shows them
    scripts/check-mutants.py --texts      only whether every piece is there; `make lint` asks
"""
import collections
import concurrent.futures
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

from mutants import AREAS, MUTANTS
from mutation.tree import BUILD, CC, FLAGS, LDLIBS, ROOT, Broken, copy_tree, read_rule, run_test


def dependencies():
    """Library source -> the files that it sees, by the compiler's .d files."""
    seen = {}
    for path in (BUILD / "obj" / "userspace").rglob("*.d"):
        names = read_rule(path)
        source = next((n for n in names if n.endswith(".c")), None)
        if source and (ROOT / source).exists():
            seen[source] = names
    return seen


SEEN_BY = dependencies()


def affected(name):
    """The library's sources that must be compiled again; the BPF program's skeleton sees none."""
    if name.endswith((".js", ".css", ".html")):
        return ["userspace/output/html/embedded.c"]
    return sorted(source for source, names in SEEN_BY.items() if name in names)


def place_of(tree, mutant):
    """The file that the mutant breaks, and its text."""
    path = tree / mutant.file
    if not path.exists():
        raise Broken(f"there is no {mutant.file}")
    text = path.read_text(encoding="utf-8")
    count = text.count(mutant.old)
    if count != 1:
        raise Broken(f"{mutant.old!r} is {count} times in {mutant.file}")
    return path, text


def put_in(tree, mutant):
    path, text = place_of(tree, mutant)
    path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    return path, text


def check_texts(mutants):
    """The number of mutants that do not apply, or whose name is another's."""
    bad = 0
    for name, count in collections.Counter(mutant.name for mutant in mutants).items():
        if count > 1:
            print(f"BROKEN {name}: {count} mutants have this name")
            bad += 1
    for mutant in mutants:
        try:
            place_of(ROOT, mutant)
        except Broken as error:
            print(f"BROKEN {mutant.name}: {error}")
            bad += 1
    return bad


def link(tree, test, program, *more):
    """Compile a test against the library; the compiler's output."""
    argv = [*CC, *FLAGS, "-o", program, *ROOT.glob(f"tests/unit/*/{test}.c"), *more, BUILD / "libhostprof.a", *LDLIBS,
            "-lcmocka"]
    done = subprocess.run([str(a) for a in argv], cwd=tree, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise Broken(f"{test} does not compile:\n{done.stdout[-3000:]}")
    return done.stdout


@functools.lru_cache(maxsize=None)
def linked_parts(test):
    """Names of the library's sources that end up in a test, if any: no others need be compiled for it."""
    trace = link(ROOT, test, "/dev/null", "-Wl,-t,-t")
    parts = set(re.findall(r"libhostprof\.a\)?\(?(\w+)\.o", trace))
    if not trace.strip():
        raise Broken(f"the linker does not say which parts of the library {test} has")
    return parts


def compile_test(tree, test, mutant):
    program = tree / test
    sources = [s for s in affected(mutant.file) if pathlib.Path(s).stem in linked_parts(test)]
    link(tree, test, program, *sources)
    return program


def is_script(test):
    return "/" in test


def command_of(tree, test, program):
    """How a test is run: a script from its tree, a unit test as it was built."""
    return [sys.executable, "-B", str(tree / test)] if is_script(test) else [str(program)]


def caught_by(tree, mutant):
    """(test, what failed in it) of the first test that notices the mutant, or None."""
    path, text = put_in(tree, mutant)
    try:
        for test in mutant.tests:
            program = None if is_script(test) else compile_test(tree, test, mutant)
            failed = run_test(command_of(tree, test, program), tree)
            if failed:
                return test, failed
        return None
    finally:
        path.write_text(text, encoding="utf-8")


def check(tree, mutant):
    """One row of the table: (good, text)."""
    try:
        caught = caught_by(tree, mutant)
    except Broken as error:
        return False, f"BROKEN {mutant.name}: {error}"
    if not caught:
        return False, f"SURVIVED {mutant.name}: {', '.join(mutant.tests)} did not notice"
    more = f" and {len(caught[1]) - 1} more" if len(caught[1]) > 1 else ""
    return True, f"caught {mutant.name:<44} {caught[0]}: {caught[1][0]}{more}"


def check_unbroken(mutants):
    """The tests as they are built pass."""
    bad = 0
    for test in sorted({test for mutant in mutants for test in mutant.tests}):
        failed = run_test(command_of(ROOT, test, BUILD / "tests" / test), ROOT)
        if failed:
            print(f"FAILED {test} without a mutant: {', '.join(failed)}")
            bad += 1
    return bad


def check_all(mutants, top):
    """Run the mutants, each worker in a copy of its own; the number that is not caught."""
    own, bad = threading.local(), 0

    def work(mutant):
        if not hasattr(own, "tree"):
            own.tree = pathlib.Path(tempfile.mkdtemp(dir=top))
            copy_tree(own.tree)
        return check(own.tree, mutant)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for good, text in pool.map(work, mutants):
            print(text, flush=True)
            bad += not good
    return bad


def main():
    names = sys.argv[1:]
    if names == ["--list"]:
        for area, mutants in AREAS.items():
            print("\n".join([f"{area}:"] + [f"\t{mutant.name}" for mutant in mutants]))
        return 0
    if names == ["--texts"]:
        return 1 if check_texts(MUTANTS) else 0
    unknown = set(names) - {mutant.name for mutant in MUTANTS} - set(AREAS)
    if unknown:
        print(f"no such mutant: {', '.join(sorted(unknown))}; --list shows them")
        return 2
    mutants = [m for area, those in AREAS.items() for m in those
               if not names or area in names or m.name in names]
    begin = time.monotonic()
    if check_texts(mutants) or check_unbroken(mutants):
        return 1
    with tempfile.TemporaryDirectory(prefix="hostprof-mutants-") as top:
        bad = check_all(mutants, top)
    print(f"{len(mutants) - bad} of {len(mutants)} mutants caught in {time.monotonic() - begin:.0f} s")
    return 1 if bad or not mutants else 0


sys.exit(main())
