#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where a chunk of a recording ends, nothing else ends: names and sums are those of one chunk."""
from hp import *

HZ = 997
SECONDS = 6


def chunks_in(path):
    with open(path, "rb") as file:
        data = file.read()
    count = at = 0
    while at < len(data):
        expect_equal(data[at:at + 4], b"FLR\0", "magic")
        at += int.from_bytes(data[at + 8:at + 16], "big")
        count += 1
    return count


def per_pid(path, *args):
    sums = collections.Counter()
    for line in collapsed(path, *args):
        sums[int(line.process.rpartition("-")[2])] += line.count
    return sums


def expect_books_agree(path, stats):
    """The figures per process come from no table of any chunk."""
    books = collections.Counter()
    for row in stats["processes"]:
        if row["samples"]:
            books[row["pid"]] += row["samples"]
    expect_equal(per_pid(path), books, "samples by pid")
    expect_equal(sum(books.values()), stats["samples"], "samples")


def expect_native(lines):
    wanted = ["main", "level_one", "level_two", "level_three"]
    good = [line for line in lines if [f for f in line.frames if f in wanted] == wanted]
    expect(total(lines) > HZ, f"only {total(lines)} samples of the burner")
    expect(total(good) >= 0.98 * total(lines), "native stacks that are not the program's")


def expect_java(lines):
    below = [line for line in lines if "Shares.main" in line.frames]
    named = [line for line in below if any(f"Shares.{name}" in line.frames
                                           for name in ("seventy", "twenty", "ten"))]
    expect(total(below) > HZ, f"only {total(below)} samples below Shares.main")
    expect(total(named) >= 0.98 * total(below), "Java stacks that are not the program's")


def expect_same_shares(one, other, names):
    """Two recordings of the same seconds; 5 σ of the smaller."""
    for name in names:
        p, q = share(one, name), share(other, name)
        slack = 5 * (max(p, q) / min(total(one), total(other))) ** 0.5 + 0.01
        print(f"# {name}: {p:.3f} in one chunk, {q:.3f} in many")
        expect(abs(p - q) < slack, f"{name}: {p:.3f} in one chunk, {q:.3f} in many")


@test
def names_and_sums():
    need_root()
    burner, jvm = native("burn", 60, 1), java(17, "Shares", 60)
    args = ["-F", HZ, "-d", SECONDS, "-p", f"{burner.pid},{jvm.pid}"]
    one = temp_path("whole.jfr")
    whole = start([HOSTPROF, "record", "-o", one, *args], stderr=subprocess.DEVNULL)
    path, stats = stats_of("--chunk-time", "1s", *args)
    whole.finish()
    expect_equal(chunks_in(one), 1, "chunks by default")
    expect(chunks_in(path) >= SECONDS / 2 - 1, f"only {chunks_in(path)} chunks of a second")
    expect_books_agree(path, stats)
    many = collapsed(path)
    expect_native(of_pid(many, burner.pid))
    expect_java(of_pid(many, jvm.pid))
    expect_same_shares(of_pid(collapsed(one), burner.pid), of_pid(many, burner.pid),
                       ["main", "level_three"])
    expect_same_shares(of_pid(collapsed(one), jvm.pid), of_pid(many, jvm.pid),
                       ["Shares.main", "Shares.seventy", "Shares.twenty", "Shares.ten"])


@test
def the_jdks_tool_reads_them():
    need_root()
    path, stats = stats_of("--chunk-time", "1s", "-F", HZ, "--", os.path.join(WORKLOADS, "burn"), 4)
    out = jfr_tool(17, "summary", path).out
    expect_match(rf"Chunks: {chunks_in(path)}$", out, "summary")
    expect_match(rf"jdk\.ExecutionSample\s+{stats['samples']}\s", out, "summary")


main()
