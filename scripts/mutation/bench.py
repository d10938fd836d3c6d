# SPDX-License-Identifier: Apache-2.0
"""A build of the library and of all unit tests in which one source can be replaced in a second.

The library is a shared object here, so that a mutant costs one compilation and one link whatever the
number of tests. It is built with gcov: a mutant is shown to those tests only that run its line.
"""
import concurrent.futures
import functools
import itertools
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import time

from .tree import BUILD, CC, FLAGS, LDLIBS, ROOT, Broken, read_rule, run_test

HOME = BUILD / "mutate"
LIBRARY = HOME / "libmutated.so"
# What `CI=true make` refuses is no mutant: it is drawn again. But && and || without parentheses are one.
STRICT = ["-Wall", "-Wextra", "-Werror", "-Wno-parentheses"]
# A header of fakes has more than each test of the agent needs.
STRICT_TEST = [*STRICT, "-Wno-unused-function"]
# A child that leaves by _exit() has run its lines, too.
COVERAGE_H = """#include <unistd.h>
extern void __gcov_dump(void);
#define _exit(code) (__gcov_dump(), (_exit)(code))
"""
# gcov-io.h: what stands before the records, and the tags of a function and of its arc counters.
GCDA_HEADER, GCDA_COUNTERS = 16, 0x01a10000


def run(argv, cwd):
    done = subprocess.run([str(a) for a in argv], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False)
    if done.returncode:
        raise Broken(done.stdout[-3000:])


def flags(more):
    """Those of a tree; -w would silence what is an error here."""
    return [flag for flag in FLAGS if flag != "-w" or "-Werror" not in more]


def compile_object(cwd, source, target, *more):
    target.parent.mkdir(parents=True, exist_ok=True)
    # The table of commands is in main.c; a test has a main() of its own.
    run([*CC, *more, *flags(more), "-fPIC", "-MMD", "-Dmain=hostprof_main", "-c", source, "-o", target], cwd)


def link_library(target, objects):
    run([*CC, "-shared", "--coverage", f"-Wl,-soname,{LIBRARY.name}", "-o", target, *objects, *LDLIBS], ROOT)


def compile_test(cwd, test, target, library, *more):
    """A test against the shared library; LD_LIBRARY_PATH says which one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    run([*CC, *flags(more), "-MMD", *more, "-o", target, *ROOT.glob(f"tests/unit/*/{test}.c"), library, *LDLIBS, "-lcmocka"], cwd)


def is_fresh(target, rule):
    """Is TARGET younger than all that its .d file names?"""
    if not target.exists() or not rule.exists():
        return False
    made = target.stat().st_mtime
    return all((ROOT / name).exists() and (ROOT / name).stat().st_mtime <= made for name in read_rule(rule))


def has_run(path):
    """Does a .gcda file hold a counter that is not 0? Counters that are all 0 have a negative length."""
    data, at = path.read_bytes(), GCDA_HEADER
    while at + 8 <= len(data):
        tag, length = struct.unpack_from("<Ii", data, at)
        if tag == GCDA_COUNTERS and length > 0:
            return True
        at += 8 + max(length, 0)
    return False


def read_gcov(paths):
    """{file: {line: did it run}} of .gcda files."""
    lines = {}
    for some in (paths[i:i + 50] for i in range(0, len(paths), 50)):
        done = subprocess.run(["gcov", "--json-format", "--stdout", *map(str, some)], cwd=ROOT, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for unit, file in ((unit, file) for text in done.stdout.splitlines() if text.startswith("{")
                           for unit in [json.loads(text)] for file in unit["files"]):
            those = lines.setdefault(os.path.normpath(file["file"]), {})
            for line in file["lines"]:
                those[line["line_number"]] = those.get(line["line_number"], False) or line["count"] > 0
    return lines


def is_linked(test, target, counted):
    """False: the Makefile links this test with files of tests/tools, too."""
    try:
        compile_test(ROOT, test, target, LIBRARY, *counted)
    except Broken as error:
        if "undefined reference" not in str(error):
            raise
        return False
    return True


class Bench:
    def __init__(self, jobs):
        self.jobs = jobs
        self.sources = sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("userspace/**/*.c"))
        self.tests = sorted(p.stem for p in ROOT.glob("tests/unit/*/test_*.c"))
        self.build()
        self.seen = {s: read_rule(self.object(s).with_suffix(".d")) for s in self.sources}
        self.test_seen = {t: read_rule(self.program(t).with_name(f"{t}.d")) for t in self.tests}
        self.cover()

    def object(self, source):
        return HOME / "obj" / pathlib.Path(source).with_suffix(".o")

    def program(self, test):
        return HOME / "tests" / test

    def build(self):
        said = HOME / "flags"
        if said.exists() and said.read_text(encoding="utf-8") != " ".join(FLAGS):
            shutil.rmtree(HOME)
        HOME.mkdir(parents=True, exist_ok=True)
        said.write_text(" ".join(FLAGS), encoding="utf-8")
        coverage = HOME / "coverage.h"
        if not coverage.exists() or coverage.read_text(encoding="utf-8") != COVERAGE_H:
            coverage.write_text(COVERAGE_H, encoding="utf-8")
        counted = ["--coverage", "-include", coverage]
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            objects = [(s, self.object(s)) for s in self.sources]
            stale = [(s, o) for s, o in objects if not is_fresh(o, o.with_suffix(".d"))]
            list(pool.map(lambda p: compile_object(ROOT, p[0], p[1], *counted), stale))
            if stale or not LIBRARY.exists():
                link_library(LIBRARY, [o for _, o in objects])
            tests = [(t, self.program(t)) for t in self.tests]
            stale = [(t, p) for t, p in tests if not is_fresh(p, p.with_name(f"{p.name}.d"))]
            linked = list(pool.map(lambda p: is_linked(p[0], p[1], counted), stale))
        more = {t for (t, _), good in zip(stale, linked) if not good}
        if more:
            print(f"linked with more than the library, and shown no change: {', '.join(sorted(more))}", flush=True)
            self.tests = [t for t in self.tests if t not in more]

    def cover(self):
        """
        Which lines each test runs, how long it takes, and what fails in it here without a mutant (of a
        program of its own that is only half as large as `make check`'s, say). Kept beside the test.
        """
        self.lines, self.known, self.seconds, self.unfit = {}, {}, {}, {}
        for test in self.tests:
            kept = self.program(test).with_suffix(".lines")
            made = max(self.program(test).stat().st_mtime, LIBRARY.stat().st_mtime)
            if not kept.exists() or kept.stat().st_mtime < made:
                kept.write_text(json.dumps(self.cover_one(test)), encoding="utf-8")
            covered = json.loads(kept.read_text(encoding="utf-8"))
            self.seconds[test], self.unfit[test] = covered["seconds"], set(covered["failed"])
            self.lines[test] = {name: frozenset(those) for name, those in covered["ran"].items()}
            for name, those in covered["known"].items():
                self.known.setdefault(name, set()).update(those)

    def cover_one(self, test):
        for path in HOME.rglob("*.gcda"):
            path.unlink()
        begin = time.monotonic()
        failed = run_test([str(self.program(test))], ROOT, 120, LD_LIBRARY_PATH=str(HOME))
        seconds = time.monotonic() - begin
        if failed and not all(re.fullmatch("[a-z]\\w+", name) for name in failed):
            raise SystemExit(f"FAILED {test} without a mutant: {', '.join(failed)}")
        lines = read_gcov([p for p in HOME.rglob("*.gcda") if has_run(p)])
        product = {n: those for n, those in lines.items() if n.startswith(("bpf/", "userspace/", "jvmagent/"))}
        return {"seconds": round(seconds, 2), "failed": failed, "known": {n: sorted(t) for n, t in product.items()},
                "ran": {n: sorted(at for at, ran in t.items() if ran) for n, t in product.items()}}

    def is_compiled(self, name):
        """Is this file of the product in anything that runs on the host?"""
        return any(name in names for names in itertools.chain(self.seen.values(), self.test_seen.values()))

    @functools.lru_cache(maxsize=None)
    def places_of_macro(self, name):
        """Where a macro is used, through other macros, too: [(file, line number)]."""
        word, found = re.compile(rf"\b{name}\b"), []
        for path in sorted(p for d in ("bpf", "userspace", "jvmagent") for p in (ROOT / d).rglob("*.[ch]")):
            for at, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
                other = re.match(r"#\s*define\s+(\w+)", line)
                if not word.search(line) or (other and other.group(1) == name):
                    continue
                found += self.places_of_macro(other.group(1)) if other else [(str(path.relative_to(ROOT)), at)]
        return found

    @functools.lru_cache(maxsize=None)
    def text_of(self, name):
        return (ROOT / name).read_text(encoding="utf-8").split("\n")

    def ran_by(self, name, number):
        """
        The tests that run this line. A line without code of its own belongs to the one above; one outside of
        functions (a table) to the file; of what gcov does not know at all nobody knows who runs it.
        """
        known = self.known.get(name)
        if not known:
            return []
        text = self.text_of(name)
        while number not in known and number > 1:
            number -= 1
            if text[number - 1].startswith("}"):
                number = 1
        if number not in known:
            return [t for t in self.tests if self.lines[t].get(name)]
        return [t for t in self.tests if number in self.lines[t].get(name, ())]

    def places_of(self, change):
        """[(file, line number)] whose code the change is."""
        macro = re.match(r"#\s*define\s+(\w+)", change.old)
        return self.places_of_macro(macro.group(1)) if macro else [(change.file, change.number)]

    def tests_for(self, change):
        tests = {t for name, number in self.places_of(change) for t in self.ran_by(name, number)}
        stem = pathlib.Path(change.file).stem
        return sorted(tests, key=lambda t: (t != f"test_{stem}", self.seconds[t]))

    def compile_mutant(self, tree, change):
        """The library with the change, made in TREE; the objects of the others are taken as they are."""
        made = {}
        for source in (s for s, names in self.seen.items() if change.file in names):
            made[source] = tree / "obj" / pathlib.Path(source).with_suffix(".o")
            compile_object(tree, source, made[source], *STRICT)
        link_library(tree / LIBRARY.name, [made.get(s, self.object(s)) for s in self.sources])
        return bool(made)

    def caught_by(self, tree, change):
        """(test, what failed) of the first test that notices; None. Broken: it does not compile."""
        in_library, tests = self.compile_mutant(tree, change), self.tests_for(change)
        seen_by = [t for t in self.tests if change.file in self.test_seen[t]]
        if not in_library and not tests and seen_by:
            compile_test(tree, seen_by[0], tree / seen_by[0], tree / LIBRARY.name, *STRICT_TEST)
        for test in tests:
            program = self.program(test)
            if test in seen_by:
                program = tree / test
                compile_test(tree, test, program, tree / LIBRARY.name, *STRICT_TEST)
            # What gcov counts goes where nobody reads it; if it could not be written, stderr would say so.
            failed = run_test([str(program)], tree, 6 + 8 * self.seconds[test], LD_LIBRARY_PATH=str(tree),
                              GCOV_PREFIX=str(tree / "gcda"))
            failed = [name for name in failed if name not in self.unfit[test]]
            if failed:
                return test, failed
        return None


def applied(tree, change):
    """Put the change into TREE; returns what undoes it."""
    path = tree / change.file
    kept = path.read_text(encoding="utf-8")
    lines = kept.split("\n")
    if lines[change.number - 1] != change.old:
        raise Broken(f"{change.file}:{change.number} is not {change.old!r}")
    lines[change.number - 1] = change.new
    path.write_text("\n".join(lines), encoding="utf-8")
    return lambda: path.write_text(kept, encoding="utf-8")


