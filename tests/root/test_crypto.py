#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The JVM's stubs of cryptography, which move the stack pointer and use every register: each algorithm of the JDK in a thread of its
own. HOSTPROF_CRYPTO=all records it with the processor's features switched, too, for HOSTPROF_SECONDS (20) each."""
import collections

from hp import *
import gates
from jvm_frames import STARTS, is_java, name_of

ALL = os.environ.get("HOSTPROF_CRYPTO") == "all"
SECONDS = int(os.environ.get("HOSTPROF_SECONDS", "20")) if ALL else 2
# What runs below Crypto.turns, from the thread's start.
WAY = ["java.lang.Thread.run", "Crypto.run", "Crypto.turns"]
NAMELESS = re.compile(r"\[(?:JIT|anon|unknown|evicted|interpreted|native frames skipped)\]|Interpreter")
# Keys of the others take long to make.
SERVICES = [] if ALL else ["MessageDigest", "Mac", "Cipher"]
OPTIONS = {"": []}
if ALL:
    OPTIONS.update({f"UseAVX={level}": [f"-XX:UseAVX={level}"] for level in range(4)})
    OPTIONS.update({"no SHA": ["-XX:-UseSHA"], "no SHA, no AVX": ["-XX:-UseSHA", "-XX:UseAVX=0"],
                    "no SHA, AVX": ["-XX:-UseSHA", "-XX:UseAVX=1"], "no AES": ["-XX:+UnlockDiagnosticVMOptions", "-XX:-UseAES", "-XX:-UseAESIntrinsics"]})
Cell = collections.namedtuple("Cell", "version name process")


def crypto(version, name):
    argv = [os.path.join(jdk(version), "bin", "java"), "-Xmx256m", *OPTIONS[name], "-cp", WORKLOADS, "Crypto", *SERVICES]
    return Cell(version, name, start(argv, stderr=subprocess.DEVNULL))


def why_bad(frames):
    """Of a stack of a thread that runs operations, root first; "": it is whole."""
    user = [frame for frame in frames if not frame.endswith("_[k]")]
    names = [name_of(frame) for frame in user]
    if names[0].startswith("[unwind"):
        return names[0]
    if not re.fullmatch(STARTS, names[0]):
        return f"root {names[0]}"
    java = [name for name, frame in zip(names, user) if is_java(frame)]
    if [name for name in java if name in WAY or name.startswith("java.lang.Thread.run")][-2:] != WAY[1:]:
        return f"without {'; '.join(WAY)}"
    # A frame that deoptimisation is making is known, and counted by others.
    nameless = [name for at, name in enumerate(names) if NAMELESS.fullmatch(name) and "DeoptimizationBlob" not in names[at + 1:at + 2]]
    return f"nameless {nameless[0]}" if nameless else ""


def leaves_of(lines):
    """{stub: {the frame above it: samples}}"""
    stubs = collections.defaultdict(collections.Counter)
    for line in lines:
        user = [frame for frame in line.frames if not frame.endswith("_[k]")]
        if len(user) > 1 and not is_java(user[-1]) and is_java(user[-2]):
            stubs[name_of(user[-1])][name_of(user[-2])] += line.count
    return stubs


def judge(cell, lines):
    mine = [line for line in of_pid(lines, cell.process.pid) if "Crypto.turns" in ";".join(line.frames) or
            re.match(r"\[(?:MessageDigest|Mac|Cipher|Signature|KeyAgreement) ", line.thread)]
    bad, examples = collections.Counter(), {}
    for line in mine:
        why = why_bad(line.frames)
        if why:
            bad[why] += line.count
            examples.setdefault(why, line)
    samples, wrong = total(mine), sum(bad.values())
    print(f"# JDK {cell.version} {cell.name}: {samples} samples, {wrong} bad: {dict(bad.most_common(8))}", flush=True)
    for why, line in list(examples.items())[:6]:
        print(f"#   {why}: {line.thread} {';'.join(line.frames)[-600:]}")
    if ALL:
        for stub, above in sorted(leaves_of(mine).items(), key=lambda row: -sum(row[1].values()))[:40]:
            print(f"#     {sum(above.values())} {stub} below {dict(above.most_common(5))}")
    return samples, wrong


def quality_figures(stats):
    """What says why names or frames may be missing."""
    return {"wall": stats["wall"], **{row["name"]: row["value"] for row in stats["counters"] if row["name"].startswith(("limits.", "wall.", "memory."))}}


def check_all(name):
    need_root()
    cells = [crypto(version, name) for version in (17, 25)]
    for cell in cells:
        cell.process.wait_text("ready", 60)
    time.sleep(5 if ALL else 1)
    stats = temp_path("stats.json")
    path = record("-F", 997, "--agent=never", "-d", SECONDS * len(cells), *[part for cell in cells for part in ("-p", cell.process.pid)],
                  "--stats", stats, timeout=SECONDS * len(cells) + 90)
    lines = collapsed(path, "--annotate", "-t")
    # So many threads that want to run must not make it longer than it was asked to be.
    most = 1.5 * 997 * os.cpu_count() * SECONDS * len(cells)
    expect(total(lines) < most, f"{total(lines)} samples: it ended late")
    sums = [judge(cell, lines) for cell in cells]
    if any(wrong for _, wrong in sums):
        print(f"# {quality_figures(read_json(stats))}", flush=True)
    for cell in cells:
        cell.process.stop()
    for cell, (samples, wrong) in zip(cells, sums):
        expect(samples > 300 * SECONDS, f"{cell.version} {cell.name}: only {samples} samples")
        expect(wrong <= gates.most_bad(samples), f"JDK {cell.version} {cell.name}: {wrong} of {samples} are not whole")


def register(name):
    def check():
        check_all(name)
    check.__name__ = "crypto" + re.sub(r"\W+", "_", "_" + name if name else "")
    test(check)


for each in OPTIONS:
    register(each)

main()
