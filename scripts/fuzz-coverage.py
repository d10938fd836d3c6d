#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make fuzz-coverage: what the fuzzers' corpora reach of the code that is linked into them.

usage: fuzz-coverage.py [FOLDER…]

Each fuzzer of $BUILD is run over its committed corpus and what was kept of earlier runs (tests/fuzz/found). Printed for each file of FOLDERs
(those whose bytes are others') are lines reached and the functions that none reached. A function that is reached by no fuzzer is not
fuzzed, however many hours they run.
"""
import collections
import glob
import os
import subprocess
import sys
import tempfile

FOLDERS = ["userspace/elf", "userspace/jvm", "userspace/recording", "userspace/process", "userspace/capture/rings",
           "userspace/symbolize", "userspace/unwind", "userspace/wall", "bpf"]

root = os.path.realpath(os.path.join(os.path.dirname(__file__), ".."))
build = os.path.realpath(os.environ.get("BUILD", os.path.join(root, "build", "fuzz-coverage")))


def fuzzers():
    sources = sorted(glob.glob(os.path.join(root, "tests", "fuzz", "fuzz_*.c")))
    return [os.path.basename(source)[len("fuzz_"):-len(".c")] for source in sources]


def run(name, room):
    """One fuzzer over what there is for it: its profile."""
    found, profile = os.path.join(room, name), os.path.join(room, name + ".profraw")
    os.mkdir(found)
    archive = os.path.join(root, "tests", "fuzz", "found", name + ".tar.xz")
    if os.path.exists(archive):
        subprocess.run(["tar", "-C", found, "-xf", archive], check=True)
    seeds = [path for path in (found, os.path.join(root, "tests", "fuzz", "corpus", name)) if os.path.isdir(path)]
    with open(os.path.join(room, name + ".log"), "wb") as log:
        subprocess.run([os.path.join(build, "fuzzers", "fuzz_" + name), "-runs=0", "-rss_limit_mb=2048", *seeds], check=True,
                       env=dict(os.environ, LLVM_PROFILE_FILE=profile), stdout=log, stderr=log)
    return profile


class File:
    def __init__(self):
        self.lines = {}
        self.functions = {}


def read_lcov(text):
    """What llvm-cov tells of each file: a line, a function counts as reached when any fuzzer has."""
    files = collections.defaultdict(File)
    file = None
    for row in text.splitlines():
        kind, _, rest = row.partition(":")
        if kind == "SF":
            file = files[os.path.relpath(rest, root)]
        elif kind == "DA":
            line, count = rest.split(",")[:2]
            file.lines[line] = max(file.lines.get(line, 0), int(count))
        elif kind == "FNDA":
            count, name = rest.split(",", 1)
            name = name.rsplit(":", 1)[-1]
            file.functions[name] = max(file.functions.get(name, 0), int(count))
    return files


def print_report(files, folders):
    reached = there = 0
    for path in sorted(files):
        if not path.startswith(tuple(folder + "/" for folder in folders)):
            continue
        file = files[path]
        hit = sum(count > 0 for count in file.lines.values())
        reached += hit
        there += len(file.lines)
        missed = [name for name, count in file.functions.items() if not count]
        print(f"{hit:5} of {len(file.lines):5} {path}" + (": " if missed else "") + " ".join(missed))
    print(f"{reached} of {there} lines ({100 * reached / max(there, 1):.1f} %)")


def main():
    with tempfile.TemporaryDirectory() as room:
        profiles = [run(name, room) for name in fuzzers()]
        merged = os.path.join(room, "all.profdata")
        subprocess.run(["llvm-profdata", "merge", "-o", merged, *profiles], check=True)
        objects = [word for name in fuzzers() for word in ("-object", os.path.join(build, "fuzzers", "fuzz_" + name))]
        text = subprocess.run(["llvm-cov", "export", "-format=lcov", "-instr-profile", merged, *objects], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    print_report(read_lcov(text), sys.argv[1:] or FOLDERS)


main()
