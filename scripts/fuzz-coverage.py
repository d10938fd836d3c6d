#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make fuzz-coverage: what the fuzzers' corpora reach of the code that is linked into them.

usage: fuzz-coverage.py [FOLDER…]

Each fuzzer of $BUILD is run once over what scripts/fuzz.sh would begin with. Printed for each file of FOLDERs
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


def run_all(room):
    """Each over what there is for it: their profiles."""
    subprocess.run([os.path.join(root, "scripts", "fuzz.sh")], check=True, stdout=subprocess.DEVNULL,
                   env=dict(os.environ, BUILD=build, FUZZ_SECONDS="0", LLVM_PROFILE_FILE=os.path.join(room, "%p.profraw")))
    return glob.glob(os.path.join(room, "*.profraw"))


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
        merged = os.path.join(room, "all.profdata")
        subprocess.run(["llvm-profdata", "merge", "-o", merged, *run_all(room)], check=True)
        objects = [word for name in fuzzers() for word in ("-object", os.path.join(build, "fuzzers", "fuzz_" + name))]
        text = subprocess.run(["llvm-cov", "export", "-format=lcov", "-instr-profile", merged, *objects], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    print_report(read_lcov(text), sys.argv[1:] or FOLDERS)


main()
