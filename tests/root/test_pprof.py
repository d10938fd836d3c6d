#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs beside others.
"""The pprof view as `go tool pprof` reads it: no warnings, names, inlining, labels, comments."""
import shutil

from hp import *


def pprof(profile, *options):
    """Standard output of go tool pprof; it must have nothing to say on stderr."""
    go = shutil.which("go") or "/usr/local/go/bin/go"
    if not os.access(go, os.X_OK):
        skip("no go for `go tool pprof`")
    result = run([go, "tool", "pprof", *options, profile], timeout=120, code=0)
    expect_equal(result.err, "", f"stderr of pprof {' '.join(options)}")
    return result.out


def as_pprof(path, *options):
    profile = temp_path("x.pb.gz")
    hostprof("report", path, "-o", profile, *options)
    return profile


def build_id(path):
    text = run(["readelf", "-n", path], code=0).out
    return expect_match(r"Build ID: ([0-9a-f]+)", text, "readelf -n").group(1)


def samples_of(raw):
    """(values, labels) of every sample of `-raw`; labels is a list of (key, value)."""
    samples = []
    for row in raw.split("Samples:")[1].split("Locations\n")[0].splitlines()[2:]:
        values = re.match(r"\s+(\d+)\s+(\d+):", row)
        if values:
            samples.append(((int(values.group(1)), int(values.group(2))), []))
        else:
            samples[-1][1].extend(re.findall(r"(\w+):\[(.*?)\](?= |$)", row))
    return samples


@test
def native_program():
    need_root()
    burn = native("burn", 30, 2)
    path = record("-F", 499, "-d", 3, "-p", burn.pid)
    profile = as_pprof(path)
    raw = pprof(profile, "-raw")
    expect_in("samples/count cpu/nanoseconds[dflt]", raw, "-raw")
    expect_match(rf"burn {build_id(burn.argv[0])} \[FN\]", raw, "mapping of burn")
    top = pprof(profile, "-top")
    expect_match(r"(100|9\d(\.\d+)?)%\s+level_three$", top, "-top")
    expect_match(rf"pid: Total .*\n.*100%\): {burn.pid}\b", pprof(profile, "-tags"), "-tags")
    traces = pprof(profile, "-traces", "-tagroot=comm,pid")
    expect_match(rf"level_one\n(.*\n)*?\s+{burn.pid}\n\s+burn\n", traces, "-tagroot")
    expect_match(r"^complete stacks: \d+\.\d\d % \(\d+ of \d+ samples\)$",
                 pprof(profile, "-comments"), "comments")


@test
def labels_are_unique_and_sums_equal():
    """Per process and thread the sums are those of the collapsed stacks, in both units."""
    need_root()
    native("burn", 30, 2)
    path = record("-F", 997, "-d", 3)
    samples = samples_of(pprof(as_pprof(path), "-raw"))
    for unit, options in enumerate(([], ["--total"])):
        came, wanted = {}, {}
        for values, labels in samples:
            names = [key for key, _ in labels]
            expect_equal(len(names), len(set(names)), f"number of labels {names}")
            fields = dict(labels)
            key = (f"{fields['comm']}-{fields['pid']}", fields["tid"])
            came[key] = came.get(key, 0) + values[unit]
        for line in collapsed(path, "-t", *options):
            key = (line.process, re.search(r"tid=(\d+)", line.thread).group(1))
            wanted[key] = wanted.get(key, 0) + line.count
        expect_equal(came, wanted, f"sums by thread {options}")


@test
def inlined_java_methods():
    need_root()
    chain = java(17, "Chain", 600)
    hostprof("attach", chain.pid)
    path = record("-F", 499, "-d", 4, "-p", chain.pid)
    profile = as_pprof(path)
    top = pprof(profile, "-top")
    expect_match(r"Chain\.mix \(inline\)", top, "-top")
    expect_match(r"java\.lang\.Thread\.run$", top, "-top")
    raw = pprof(profile, "-raw")
    expect_match(r"\[JIT\].*\[FN\]\[FL\]\[LN\]\[IN\]", raw, "mapping of Java code")
    expect_match(r"0x[0-9a-f]+ M=\d+ Chain\.mix Chain\.java:\d+:0 s=0\(Chain\.mix\(\S+\n"
                 r"\s+Chain\.step Chain\.java:\d+:0 s=0\(Chain\.step\(\S+\n"
                 r"\s+Chain\.burn Chain\.java:\d+:0 s=0\(Chain\.burn\(\S+\n", raw, "one location of inlined methods")
    expect_in("chain-worker", pprof(profile, "-tags"), "-tags")


@test
def views_of_one_side():
    need_root()
    burn = native("burn", 30)
    path = record("-F", 499, "-d", 2)
    user = pprof(as_pprof(path, "--all-user"), "-top", "-nodecount=100000")
    expect_in("level_three", user, "--all-user")
    kernel = pprof(as_pprof(path, "--all-kernel"), "-top", "-nodecount=100000")
    expect_not_in("level_three", kernel, "--all-kernel")
    expect(burn.running(), "burn ended")


main()
