# SPDX-License-Identifier: Apache-2.0
"""Survivors of the unit tests in a hostprof that records: root tests that run the line, the quickest first.

hostprof is a small program here that loads the library beside it, so that a mutant is put in by a copy.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import time

from .bench import HOME, LIBRARY, compile_object, has_run, link_library, read_gcov, run
from .tree import BUILD, CC, FLAGS, LDLIBS, ROOT, run_test

SECONDS = 300
MAIN = "userspace/cmd/main.c"
BPF_USER = "userspace/capture/bpf_session.c"


def names_in(file):
    path = ROOT / "tests" / "root" / file
    done = subprocess.run([sys.executable, "-B", path, "--list"], check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.split()


def made(tree, source):
    return tree / "obj" / pathlib.Path(source).with_suffix(".o")


class RootTests:
    def __init__(self, bench, files):
        self.bench, self.home = bench, HOME / "root"
        self.tests = [(file, name) for file in files for name in names_in(file)]
        self.home.mkdir(exist_ok=True)
        if not (self.home / "workloads").exists():
            (self.home / "workloads").symlink_to(BUILD / "workloads")
        self.put_in(ROOT, LIBRARY, BUILD / "libhostprof-agent.so")
        self.covered = {test: self.cover(test) for test in self.tests}

    def put_in(self, tree, library, agent):
        run([*CC, *FLAGS, "-o", self.home / "hostprof", MAIN, library, "-Wl,-rpath,$ORIGIN", *LDLIBS], tree)
        shutil.copy2(library, self.home / LIBRARY.name)
        shutil.copy2(agent, self.home / "libhostprof-agent.so")

    def run(self, test, seconds, **environment):
        file, name = test
        argv = [sys.executable, "-B", str(ROOT / "tests" / "root" / file), name]
        # In a pid namespace of its own hostprof would not know the pids that the kernel gives it.
        return run_test(argv, ROOT, seconds, contained=False, HOSTPROF_BUILD=str(self.home), **environment)

    def cover(self, test):
        """Which lines a test runs, and how long it takes; kept. None: it does not pass without a mutant."""
        kept = self.home / f"{test[0]}-{test[1]}.lines"
        if not kept.exists() or kept.stat().st_mtime < LIBRARY.stat().st_mtime:
            for path in HOME.rglob("*.gcda"):
                path.unlink()
            begin = time.monotonic()
            failed = self.run(test, SECONDS)
            lines = read_gcov([p for p in HOME.rglob("*.gcda") if has_run(p)])
            ran = {n: sorted(at for at, done in t.items() if done) for n, t in lines.items()}
            kept.write_text(json.dumps([failed, round(time.monotonic() - begin, 1), ran]), encoding="utf-8")
            print(f"{'FAILED without a mutant' if failed else 'covered'}: {' '.join(test)} "
                  f"({time.monotonic() - begin:.0f} s)", flush=True)
        failed, seconds, ran = json.loads(kept.read_text(encoding="utf-8"))
        return None if failed else (seconds, {name: set(lines) for name, lines in ran.items()})

    def tests_for(self, change):
        """What runs in the kernel or in a JVM is not counted: then all tests are asked."""
        places = self.bench.places_of(change)
        blind = change.file.startswith(("bpf/", "jvmagent/"))
        those = [(c[0], test) for test, c in self.covered.items()
                 if c and (blind or any(at in c[1].get(name, ()) for name, at in places))]
        return [test for _, test in sorted(those)]

    def compile_agent(self, tree):
        sources = sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("jvmagent/*.c"))
        for source in sources:
            compile_object(tree, source, made(tree, source))
        run([*CC, "-shared", "-o", tree / "libhostprof-agent.so",
             *(f"-Wl,--version-script={p}" for p in ROOT.glob("jvmagent/*.map")),
             *(made(tree, s) for s in sources), "-lpthread"], tree)
        return tree / "libhostprof-agent.so"

    def compile_bpf(self, tree, change):
        """The library with the BPF program of TREE in place of ours."""
        shutil.copy2(ROOT / "Makefile", tree / "Makefile")
        run(["make", "-s", "build/gen/hostprof.skel.h"], tree)
        changed = {s for s, names in self.bench.seen.items() if change.file in names} | {BPF_USER}
        compile_object(tree, BPF_USER, made(tree, BPF_USER), f"-I{tree}/build/gen")
        link_library(tree / LIBRARY.name, [made(tree, s) if s in changed else self.bench.object(s)
                                           for s in self.bench.sources])
        return tree / LIBRARY.name

    def caught_by(self, tree, change):
        """TREE has the change."""
        tests = self.tests_for(change)
        if not tests:
            return None
        agent = self.compile_agent(tree) if change.file.startswith("jvmagent/") else BUILD / "libhostprof-agent.so"
        self.bench.compile_mutant(tree, change)
        library = self.compile_bpf(tree, change) if change.file.startswith("bpf/") else tree / LIBRARY.name
        self.put_in(tree, library, agent)
        for test in tests:
            failed = self.run(test, 30 + 4 * self.covered[test][0], GCOV_PREFIX=str(tree / "gcda"))
            if failed:
                return " ".join(test), failed
        return None
