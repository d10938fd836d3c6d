#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs beside others.
"""Programs without symbols: one box for each function, as its call frame information bounds it. readelf is the judge."""
import shutil

from fde_table import function_at
from pprof_file import leaves
from hp import *

NAMELESS = re.compile(r"\[([^\[\]]+)\+0x([0-9a-f]+)\]")
PYTHON = """
import json, time
end = time.time() + 4
while time.time() < end:
    rows = [{"n": i, "text": str(i) * 3} for i in range(2000)]
    rows.sort(key=lambda row: row["text"])
    json.loads(json.dumps(rows))
"""


def text_file(megabytes):
    """Something that takes its time to be compressed."""
    path = temp_path("text")
    with open(path, "w", encoding="ascii") as file:
        for i in range(megabytes * 16000):
            print(f"{i * 7919 % 65537} lines of {i * i % 1000003:x} words and {i % 97} more", file=file)
    return path


def programs():
    yield "gzip", ["gzip", "-9", "-k", "-f", text_file(16)]
    yield "xz", ["xz", "-9", "-k", "-f", "-T1", text_file(4)]
    yield "python3", ["/usr/bin/python3", "-S", "-c", PYTHON]
    yield "openssl", ["openssl", "speed", "-seconds", "1", "rsa2048", "ecdsap256"]


def recorded(argv):
    """The leaves, by pprof, of a program recorded alone: (path, address, name, samples), the kernel's left out."""
    path = record("-F", 997, "--", *argv, timeout=120)
    profile = temp_path("x.pb.gz")
    hostprof("report", path, "-o", profile, "--all-user")
    return leaves(profile)


def judge(program, found):
    """Each name is that of its function; returns (names, functions and addresses without one, addresses)."""
    names, places, addresses, wrong = set(), set(), set(), []
    for path, address, name, samples in found:
        match = NAMELESS.fullmatch(name)
        if not match or not os.path.isfile(path):
            continue
        start = function_at(path, address)
        names.add(name)
        places.add((path, address if start is None else start))
        addresses.add((path, address))
        if match.group(1) != os.path.basename(path) or int(match.group(2), 16) != (address if start is None else start):
            wrong.append(f"{name} at {address:#x}, where the function at {start or 0:#x} is ({samples} samples)")
    expect(not wrong, f"{program}: {len(wrong)} of {len(addresses)} addresses have another name: {wrong[:3]}")
    return len(names), len(places), len(addresses)


@test
def one_box_for_each_function():
    """Debian's programs, which are stripped; names that a debug file gives are no matter here."""
    need_root()
    judged = 0
    for program, argv in programs():
        if not shutil.which(argv[0]):
            print(f"# no {program}", flush=True)
            continue
        found = recorded(argv)
        names, places, addresses = judge(program, found)
        print(f"# {program}: {sum(row[3] for row in found)} samples, {addresses} addresses without a symbol, {places} functions, "
              f"{names} names", flush=True)
        expect(places * 0.9 <= names <= places * 1.1, f"{program}: {names} names for {places} functions")
        judged += addresses
    expect(judged > 100, f"only {judged} addresses were judged: are these programs stripped?")


def boxes(path, process):
    """{frame: samples} of the leaves of one program."""
    leaf = collections.Counter()
    for line in collapsed(path, "--all-user"):
        if line.process.startswith(process + "-"):
            leaf[line.frames[-1]] += line.count
    return leaf


def symbols(path):
    """{address: name} of its functions."""
    rows = run(["nm", path], code=0).out.splitlines()
    return {int(row.split()[0], 16): row.split()[2] for row in rows if re.match(r"[0-9a-f]+ [tT] ", row)}


@test
def a_stripped_pair():
    """The same program with and without symbols: the same boxes, one to one, also of what the compiler has put apart."""
    need_root()
    whole, bare = os.path.join(WORKLOADS, "parts"), temp_path("bare")
    if not shutil.which("strip"):
        skip("no strip")
    run(["strip", "-o", bare, whole], code=0)
    named = boxes(record("-F", 997, "--", whole, 6), "parts")
    nameless = boxes(record("-F", 997, "--", bare, 6), "bare")
    known, by_symbol = symbols(whole), collections.Counter()
    for frame, count in nameless.items():
        match = NAMELESS.fullmatch(frame)
        by_symbol[known.get(int(match.group(2), 16), frame) if match and match.group(1) == "bare" else frame] += count
    wanted = {name for name in known.values() if re.fullmatch(r"part_\d\d(\.cold)?", name)}
    print(f"# {sum(named.values())} and {sum(nameless.values())} samples, {len(wanted)} parts", flush=True)
    expect_equal(len(wanted), 80, "parts of the program")
    for title, found in (("with symbols", named), ("stripped", by_symbol)):
        expect_equal({name for name in found if name.startswith("part_")}, wanted, f"boxes {title}")
        rest = sum(count for name, count in found.items() if name not in wanted)
        expect(rest < 0.02 * sum(found.values()), f"{title}: {rest} samples are in no part")


@test
def the_exact_address_stays():
    """One function, one name, and as many locations as it was met at."""
    need_root()
    bare = temp_path("bare")
    if not shutil.which("strip"):
        skip("no strip")
    run(["strip", "-o", bare, os.path.join(WORKLOADS, "parts")], code=0)
    by_name = collections.defaultdict(set)
    for path, address, name, _ in recorded([bare, 3]):
        if path == bare:
            by_name[name].add(address)
    expect(len(by_name) >= 80, f"{len(by_name)} names")
    expect(sum(map(len, by_name.values())) > 2 * len(by_name), "addresses are lost")


main(lanes=2)
